"""A report in the forms that people really have says the same, or says that it does not; never another value."""

from __future__ import annotations

import functools
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.readers.awr_samples import STATSPACK, TEXT, html
from tests.readers.mangling import LESS, SAME, as_csv, as_markdown, copied, mailed, zipped
from tests.tiers import examples, thinned
from toolkit.errors import ToolkitError
from toolkit.readers.awr.blanks import tabs_again
from toolkit.readers.awr.pasted import read_pasted, with_tabs
from toolkit.readers.awr.report import Reading, Report, read_report, read_reports
from toolkit.readers.texts import from_base64, text_of, undone

AWR = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))
REAL = sorted([*AWR.glob("awr/*.html"), *AWR.glob("statspack/*.lst")])
real = pytest.mark.skipif(not REAL, reason="set DBATK_REALDATA to the folder of real reports")
SAMPLES = {"page": html(), "text": TEXT, "statspack": STATSPACK}
ASIDE = {"file", "format", "tables", "warnings"}


def values(document: dict[str, Any]) -> set[tuple[str, ...]]:
    """Return each fact and each row of a report with where it stands."""
    found: set[tuple[str, ...]] = set()

    def walk(place: tuple[str, ...], value: object) -> None:
        if isinstance(value, dict):
            for name, one in value.items():
                walk((*place, str(name)), one)
        elif isinstance(value, list):
            found.update((*place, json.dumps(one, sort_keys=True)) for one in value)
        elif place[0].startswith("init_parameters"):  # a value in several rows, of the container that is there
            found.update(("init_parameters", place[-1], part) for part in str(value).split(", "))
        elif value is not None:
            found.add((*place, json.dumps(value)))

    for name, value in document.items():
        if name not in ASIDE:
            walk((name,), value)
    return found


def alone(raw: bytes) -> Reading:
    (one,) = (one for one in read_reports(raw, "r") if not one.aside)
    return one


@functools.lru_cache(maxsize=4)
def as_it_was(text: str) -> tuple[Report, set[tuple[str, ...]]]:
    """Return a report and its values, read once for all ways that it goes."""
    plain = read_report(text.encode(), "r")
    return plain, values(plain.document())


def check_same(text: str, way: str) -> None:
    plain, was = as_it_was(text)
    sent = alone(SAME[way](text)).report
    assert sent is not None
    assert values(sent.document()) == was
    assert list(sent.faults) == list(plain.faults)


def check_not_another(text: str, way: str) -> None:
    plain, was = as_it_was(text)
    try:
        sent = alone(LESS[way](text)).report
    except ToolkitError as error:
        assert error.hint
        return
    assert sent is not None
    now = values(sent.document())
    if now != was:
        assert set(sent.warnings) - set(plain.warnings)
    if "took off" not in way:  # there a cell is lost that nothing tells of: the warnings must do
        # of a parameter that the report's own container sets and whose row is lost, what it inherits is left; of
        # one with a value for each instance another one's
        several = {one for one in now - was if one[0] == "init_parameters" and text.count(f">{one[1]}<") > 1}
        assert now - several <= was


@for_each("way", SAME)
@for_each("sample", SAMPLES)
def test_what_a_mail_does_to_a_report_is_undone(sample: str, way: str) -> None:
    if (sample, way) != ("page", "an empty line after each"):
        check_same(SAMPLES[sample], way)


@for_each("way", LESS)
def test_what_cannot_be_undone_is_said(way: str) -> None:
    check_not_another(html(), way)
    if not way.startswith(("copied", "in a note", "out of")):
        check_not_another(TEXT, way)


def failures(check: Callable[[str, str], None], file: Path, ways: Iterable[str]) -> dict[str, str]:
    """Return the ways of a file that a check does not hold for; what they have in common is made once."""
    text, failed = text_of(file.read_bytes()), {}
    for way in ways:
        try:
            check(text, way)
        except Exception as error:
            failed[way] = repr(error)
    return failed


@real
@pytest.mark.parametrize("file", thinned(REAL, 8), ids=lambda file: file.name[:24])
def test_a_real_report_that_was_sent_says_the_same_whichever_way(file: Path) -> None:
    assert failures(check_same, file, SAME) == {}


@real
@pytest.mark.parametrize("file", thinned(REAL, 8), ids=lambda file: file.name[:24])
def test_a_real_report_that_was_mangled_says_nothing_else_whichever_way(file: Path) -> None:
    pages_only = ("copied", "in a note", "out of") if file.suffix == ".lst" else ()
    assert failures(check_not_another, file, [way for way in LESS if not way.startswith(pages_only)]) == {}


def test_a_copied_page_is_read_by_its_tabs() -> None:
    report = read_report(copied(html()).encode(), "r")
    assert (report.facts["db_name"], report.facts["begin_snap_id"], report.facts["db_time_min"]) == (
        "ACME",
        7,
        1030.5,
    )
    events = report.sections["top_events"]
    assert isinstance(events, list)
    assert [event["waits"] for event in events] == [57000, None, 3]
    assert report.faults == []


def test_the_last_row_of_a_copied_part_is_kept_without_its_last_cell() -> None:
    """No line ends where a selection does; of a row with fewer cells nothing is known to be whole."""
    page = copied(html())
    lines = page[: page.index("log file sync")].split("\n")
    row = next(line for line in page.split("\n") if line.startswith("log file sync"))
    for end, waits in ((row, [57000]), (row[:-2], [57000]), (row.rpartition("\t")[0], [])):
        found = read_report("\n".join([*lines[:-1], end]).encode(), "r").sections.get("top_events")
        assert isinstance(found, list) and [event["waits"] for event in found] == waits
        assert all(event["wait_class"] is None for event in found)


@for_each("text", [
    as_markdown(html()), as_csv(html(), ","), as_csv(html(), ";"),
    "\n".join(f"{line};;;;;;;;" for line in as_csv(html(), ";").replace('""', "").splitlines()),
])  # fmt: skip
def test_a_page_in_a_note_or_a_spreadsheet_is_read_by_its_cells(text: str) -> None:
    report = read_report(text.encode(), "r")
    events = report.sections["top_events"]
    assert isinstance(events, list)
    assert (report.facts["db_name"], report.facts["begin_snap_id"]) == ("ACME", 7)
    assert [event["waits"] for event in events] == [57000, None, 3]
    assert report.faults == []


@for_each("name", ["xl/workbook.xml", "word/document.xml", "content.xml", "mimetype"])
def test_a_file_of_such_a_name_makes_no_document_of_an_archive(name: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "<beside/>" * 50)
        archive.writestr("awrrpt_1.html", html())
    assert alone(file.getvalue()).report.facts["db_name"] == "ACME"


@for_each(("mark", "member", "told"), [
    ("[Content_Types].xml", "xl/workbook.xml", "an Excel workbook"),
    ("[Content_Types].xml", "word/document.xml", "a Word document"),
    ("[Content_Types].xml", "ppt/presentation.xml", "a PowerPoint presentation"),
    ("mimetype", "content.xml", "an OpenDocument file"),
])  # fmt: skip
def test_a_document_of_an_office_program_is_named_not_its_members(mark: str, member: str, told: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(mark, "<Types/>" * 50)
        archive.writestr(member, "WORKLOAD REPOSITORY report for " * 20)
    with pytest.raises(ToolkitError, match=told) as caught:
        read_reports(file.getvalue(), "r.xlsx")
    assert "copied into it" in (caught.value.hint or "")


@for_each("line", [
    "{}x", "{}|{}x", "|---|{}x", "|---{}x", "| --- |{}---{}x", "---|---{}x", "{}- {}-",
])  # fmt: skip
def test_a_line_of_blanks_costs_no_more_than_its_length(line: str) -> None:
    """Work by the square of its length would not end here."""
    text = "| Name | Value |\n|---|---:|\n" * 3 + line.replace("{}", " " * 500_000)
    assert with_tabs(text).startswith("Name\tValue\nName\tValue\n")


def test_a_printed_report_is_to_be_replaced_not_unpacked() -> None:
    with pytest.raises(ToolkitError, match="it is a PDF") as caught:
        read_report(b"%PDF-1.7\n" + b"stream " * 50, "r.pdf")
    assert caught.value.hint == "give the file that was printed"


_LISTS = """<h3>Wait Event Histogram</h3><ul><li>Units: s is second</li><li>Ordered by Event</li></ul>
<table><tr><th></th><th>&#160;</th><th colspan="3">% of Total Waits</th></tr>
<tr><th>Event</th><th>Total Waits</th><th>&lt;8us</th><th>&lt;16us</th><th>&gt;=16us</th></tr>
<tr><td>widget wait</td><td>18</td><td>25.0</td><td>&#160;</td><td>75.0</td></tr></table>
<h3>Latch Sleep Breakdown</h3><ul><li>ordered by misses desc</li></ul>
<table><tr><th>Latch Name</th><th>Get Requests</th><th>Misses</th><th>Sleeps</th><th>Spin Gets</th></tr>
<tr><td>widget latch</td><td>8,637</td><td>4,621</td><td>4,422</td><td>253</td></tr></table>
<h3>PGA Aggr Target Stats</h3>
<table><tr><th></th><th>PGA Aggr Target(M)</th><th>Auto PGA Target(M)</th><th>PGA Mem Alloc(M)</th>
<th>W/A PGA Used(M)</th><th>%PGA W/A Mem</th><th>%Auto W/A Mem</th><th>%Man W/A Mem</th>
<th>Global Mem Bound(K)</th></tr><tr><td>B</td><td>3,182</td><td>1,914</td><td>1,531.57</td><td>0.00</td>
<td>0.00</td><td>0.00</td><td>0.00</td><td>325,830</td></tr></table>"""


def test_lists_with_blank_headings_and_notes_above_them_are_read_from_a_copy() -> None:
    page = html(extra=_LISTS)
    whole, copy = (read_report(text.encode(), "r").document() for text in (page, copied(page)))
    for name in ("wait_event_histogram", "latch_sleeps"):
        assert whole[name] and copy[name] == whole[name], name
    targets = [[row for table in one["tables"] for row in table["rows"] if row[0] == "B"] for one in (whole, copy)]
    assert targets[0] and targets[0] == targets[1]
    assert not [one for one in copy["warnings"] if "under each heading" in one]


def test_a_row_with_a_cell_too_many_moves_no_headings() -> None:
    """A note in Markdown keeps the blank heading; the row of the elapsed time has one more cell than headings."""
    page = html()
    lines = as_markdown(page).split("\n")
    wider = "\n".join(f"{line}| \xa0" if line.startswith(("Elapsed:|", "DB Time:|")) else line for line in lines)
    assert wider != "\n".join(lines)
    whole, note = (read_report(text.encode(), "r").document() for text in (page, wider))
    for name in ("begin_sessions", "end_sessions", "begin_snap_id"):
        assert note[name] == whole[name] is not None


def test_the_load_profile_is_read_from_a_copy_without_empty_cells() -> None:
    page = html()
    whole, copy = (read_report(text.encode(), "r").document() for text in (page, copied(page, "   ", empty=False)))
    assert whole["load_profile_per_sec"] and copy["load_profile_per_sec"] == whole["load_profile_per_sec"]
    assert copy["begin_snap_id"] == whole["begin_snap_id"]


def _events(text: str) -> tuple[list[object], list[str]]:
    report = read_report(text.encode(), "r")
    events = report.sections["top_events"]
    assert isinstance(events, list)
    return [event["waits"] for event in events], report.warnings


def test_a_row_without_its_empty_cells_is_read_where_its_cells_have_one_way_to_stand() -> None:
    """`DB CPU` has neither waits, nor an average, nor a class, and nothing in the copy says so."""
    waits, warnings = _events(copied(html(), "   ", empty=False))
    assert waits == [57000, None, 3]
    assert [one for one in warnings if "unmarked empty cells: read by the form of the others" in one]


def test_a_row_whose_cells_may_stand_in_two_ways_is_counted_and_left_out() -> None:
    """An event of no known form: which of its numbers is missing cannot be told."""
    copy = copied(html(), "   ", empty=False)
    row = next(line for line in copy.split("\n") if line.startswith("DB CPU"))
    waits, warnings = _events(copy.replace(row, row + "   1"))
    assert waits == [57000, 3]
    assert [one for one in warnings if "1 row has no cell under each heading, and cannot be read" in one]


def test_blanks_of_one_width_are_tabs_again_and_wider_ones_empty_cells() -> None:
    page = html(extra=_LISTS)
    whole, copy = (read_report(text.encode(), "r").document() for text in (page, copied(page, "    ")))
    assert whole["wait_event_histogram"] and copy["wait_event_histogram"] == whole["wait_event_histogram"]


def test_blanks_that_may_stand_for_two_numbers_of_cells_give_no_value() -> None:
    row = "widget wait{}18" + "  7" * 3
    lines = [row.format("  "), *[row.format("    ")] * 30, row.format("     "), row.format(" " * 12)]
    last = tabs_again("\n".join(lines)).split("\n")[-1]
    assert last.split("\t")[0] == "widget wait\x0218"


def test_the_shares_of_the_time_model_tell_which_of_them_a_row_has() -> None:
    table = (
        "Time Model Statistics\nStatistic Name   Time (s)   % of DB Time   % of Total CPU Time\n"
        "DB CPU   60.00   50.00   80.00\nsql execute elapsed time   90.00   75.00\n"
        "background cpu time   15.00   20.00\nDB time   120.00\nparse time elapsed   0.00   0.00\n"
    )
    rows = [row for one in read_pasted(table).tables for row in one.rows]
    assert rows == [
        ("DB CPU", "60.00", "50.00", "80.00"),
        ("sql execute elapsed time", "90.00", "75.00", ""),
        ("DB time", "120.00", "", ""),
    ]


@pytest.mark.parametrize(("end", "kept"), [("", True), ("\tvalue too long", False)])
def test_tabs_taken_off_the_end_of_a_row_are_empty_cells(end: str, kept: bool) -> None:
    heads = "init.ora Parameters\nParameter Name\tBegin value\tEnd value (if different)\n"
    rows = "processes\t300\t400\n" * 5 + f"db_name\tACME{end}{end}\n"
    (table,) = read_pasted(heads + rows).tables
    assert (("db_name", "ACME", "") in table.rows) is kept


def test_headings_of_a_copied_list_may_begin_with_a_number() -> None:
    heads = "Tablespace\tReads\tAv Rds/s\tAv Rd(ms)\t1-bk Rds/s\tWrites\n"
    (table,) = read_pasted(f"Tablespace IO Stats\n{heads}" + "USERS\t7\t0\t0.50\t0\t61\n" * 5).tables
    assert (table.columns[4], len(table.rows)) == ("1-bk Rds/s", 5)


@pytest.mark.parametrize("printed", [
    " DB Name      DB Id        Unique Name     Role\nORCL          1651735733 orcl            PRIMARY\n",
    "DB Name DB Id      Unique Name Role\nORCL    1651735733 orcl        PRIMARY\n",
], ids=["w3m", "html2text"])  # fmt: skip
def test_a_page_printed_as_text_is_refused_with_what_to_do(printed: str) -> None:
    body = "\n".join(f"User calls{one}:     25.2     90.8" for one in range(6))
    with pytest.raises(ToolkitError, match="printed as text") as caught:
        read_report(f"WORKLOAD REPOSITORY report for\n\n{printed}\nReport Summary\n{body}\n".encode(), "r")
    assert "Ctrl+S" in (caught.value.hint or "")


def test_single_blanks_between_cells_are_refused_with_what_to_do() -> None:
    with pytest.raises(ToolkitError, match="single blanks stand between its cells") as caught:
        read_report(copied(html(), " ", empty=False).encode(), "r")
    assert "Ctrl+S" in (caught.value.hint or "")


@for_each(("text", "at"), [
    (html(), "1.5K"), (html().replace("</td>", "</TD>"), "26.32ms"), (TEXT, "57,000 "), (STATSPACK, "57,000 "),
])  # fmt: skip
def test_of_a_value_in_which_a_file_is_cut_off_nothing_is_read(text: str, at: str) -> None:
    whole, place = read_report(text.encode(), "r").sections["top_events"], text.index(at) + 2
    report = read_report(text[:place].encode(), "r")
    events = report.sections["top_events"]
    assert "the report is cut off: its end is not there" in report.faults
    assert isinstance(events, list) and isinstance(whole, list)
    for event, one in zip(events, whole, strict=False):
        assert {name: value for name, value in event.items() if value is not None}.items() <= one.items()


@for_each("pair", [(html(), html()), (TEXT, TEXT), (html(), TEXT), (STATSPACK, TEXT)])
def test_two_reports_in_one_file_are_two(pair: tuple[str, str]) -> None:
    read = read_reports("\n".join(pair).encode(), "both.txt")
    assert [one.name for one in read] == ["both.txt#1", "both.txt#2"]
    for one, text in zip(read, pair, strict=True):
        assert one.report is not None
        assert values(one.report.document()) == values(read_report(text.encode(), "r").document())
    with pytest.raises(ToolkitError, match="holds 2 reports"):
        read_report("\n".join(pair).encode(), "both.txt")


def test_an_archive_names_its_members_and_passes_over_what_is_no_report() -> None:
    found = read_reports(zipped(html(), "only words " * 20, TEXT), "a.zip")
    assert [one.name for one in found] == [f"a.zip#{n} (reports/{n}.html)" for n in (1, 2, 3)]
    assert [one.report is not None for one in found] == [True, False, True]
    assert [one.aside for one in found] == [False, True, False]


def test_a_mail_of_words_alone_is_no_report() -> None:
    with pytest.raises(ToolkitError, match="no AWR or Statspack data"):
        read_report(mailed("Where is the report? " * 20, "7bit"), "m.eml")


@pytest.mark.full
def test_a_zip_that_unpacks_to_more_than_200_mb_is_refused() -> None:
    with pytest.raises(ToolkitError, match="200 MB"):
        read_reports(zipped(" " * 150_000_000, " " * 60_000_000), "b.zip")


@for_each(("head", "told"), [
    ("~~BEGIN-OS-INFORMATION~~\nSTAT_NAME  STAT_VALUE\n", "an extract of AWR-Miner"),
    ("SQL Monitoring Report\n\nSQL Text\n------\nselect 1\n", "a SQL Monitor report"),
    ("<?xml version='1.0'?>\n<sql_monitor_report version='4.0'>\n", "a SQL Monitor report"),
    ("Recovery Manager: Release 19.0.0.0.0 - Production\n", "the output of RMAN"),
    ("allocated channel: c1\nchannel c1: SID=7 device type=DISK\n", "the output of RMAN"),
    ("TKPROF: Release 19.0.0.0.0 - Development\n", "the output of tkprof"),
    ("STATSPACK SQL report for Old Hash Value: 1 Module:\n", "of a single statement"),
    ("          ADDM Report for Analysis 'X'\n", "an ADDM report"),
])  # fmt: skip
def test_what_is_no_report_is_named_for_what_it_is_in_any_form(head: str, told: str) -> None:
    text = head + "words of it\n" * 60
    for raw in (text.encode(), SAME["quoted"](text), SAME["base64"](text), SAME["an attachment"](text)):
        with pytest.raises(ToolkitError, match=told):
            read_report(raw, "r")


@real
@pytest.mark.parametrize(("files", "told"), [
    ("awrminer/*", "AWR-Miner"), ("sqlmon/*.txt", "SQL Monitor"), ("sqlmon/*.html", "SQL Monitor"),
    ("ash/*", "ASH"), ("timing/*TKPROF*", "no AWR or Statspack data|tkprof"),
])  # fmt: skip
def test_real_files_of_other_kinds_are_named(files: str, told: str) -> None:
    for file in AWR.glob(files):
        with pytest.raises(ToolkitError, match=told):
            read_report(file.read_bytes(), file.name)


@examples(200)
@given(
    st.sampled_from([html(), TEXT, STATSPACK]),
    st.lists(st.sampled_from(sorted(SAME)), max_size=2),
    st.floats(0, 1),
)
def test_a_report_cut_on_its_way_is_never_another(text: str, ways: list[str], share: float) -> None:
    plain = values(read_report(text.encode(), "r").document())
    raw = text.encode()
    for way in ways:
        raw = SAME[way](text_of(raw)) if not raw.startswith((b"PK", b"\x1f\x8b")) else raw
    try:
        found = read_reports(raw[: int(len(raw) * share)], "r")
    except ToolkitError:
        return
    for one in found:
        if one.report is not None and not one.report.faults:
            assert values(one.report.document()) <= plain


@examples(300)
@given(st.text(alphabet=">=\n 3D20AFabc\t<-", max_size=400))
def test_any_text_comes_through(text: str) -> None:
    assert isinstance(undone(text), str)


def damaged_archives() -> dict[str, bytes]:
    """Return archives that somebody damaged or made up, each of which a library stumbles over in its own way."""
    negative = io.BytesIO()
    with tarfile.open(fileobj=negative, mode="w") as archive:
        member = tarfile.TarInfo("report.html")
        archive.addfile(member, io.BytesIO())
    header = bytearray(negative.getvalue()[:512])
    header[124:136] = b"\xff" * 11 + b"\x00"
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("report.html", html())
    lzma = bytearray(packed.getvalue())
    lzma[60:90] = b"\xff" * 30
    named = packed.getvalue().replace(b"report.html", b"\xff\xfe\xfdort.html")
    return {"tar of negative size": bytes(header) + b"\0" * 1024, "damaged lzma": bytes(lzma), "odd name": named}


@pytest.mark.thin(2)
@pytest.mark.parametrize("packed", [False, True])
def test_an_archive_of_too_many_files_is_refused_rather_than_read_in_part(packed: bool) -> None:
    made = io.BytesIO()
    if packed:
        with zipfile.ZipFile(made, "w") as archive:
            for number in range(10_001):
                archive.writestr(f"{number}.txt", "")
    else:
        with tarfile.open(fileobj=made, mode="w") as tape:
            for number in range(10_001):
                tape.addfile(tarfile.TarInfo(f"{number}.txt"), io.BytesIO())
    with pytest.raises(ToolkitError, match="more than 10,000 files"):
        read_reports(made.getvalue(), "a.zip")


@pytest.mark.parametrize("name", damaged_archives())
def test_a_damaged_archive_is_refused_or_read_without_a_traceback(name: str) -> None:
    try:
        read_reports(damaged_archives()[name], "a.zip")
    except ToolkitError as error:
        assert error.code == "TK-0113"


def test_a_long_text_of_letters_and_blank_lines_is_no_base64_at_once() -> None:
    text = ("A" * 300 + "\n" * 20_000) * 4 + "!"
    assert from_base64(text) is None


@pytest.mark.full
@pytest.mark.parametrize("head", [
    "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\n\n",
    "MIME-Version: 1.0\nContent-Disposition: inline; filename*=utf-8''%\nContent-Type: text/plain; charset=\n\nx",
    "MIME-Version: 1.0\nFrom: \"\n <\nContent-Type: ;;;=\nContent-Transfer-Encoding: base64\n\n=",
    "MIME-Version: 1.0\n" + "".join(f"Content-Type: multipart/x; boundary=b{n}\n\n--b{n}\n" for n in range(2000)),
])  # fmt: skip
def test_a_mail_with_made_up_headers_is_no_report(head: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        read_report(head.encode(), "m.eml")
    assert caught.value.code == "TK-0113"
