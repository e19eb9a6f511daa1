"""Reports made up here: what is read, what is null, what is refused, and what is only doubted."""

from __future__ import annotations

import gzip
import json
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.readers.awr_samples import CLUSTER, STATSPACK, TEXT, html
from tests.tiers import examples
from toolkit.errors import ExitCode, ToolkitError
from toolkit.readers.awr.report import Report, read_report
from toolkit.readers.awr.tables import Numbers, guess_comma, instant


def document(text: str) -> dict[str, Any]:
    return read_report(text.encode(), "r").document()


def test_an_html_report_is_read_whole() -> None:
    found = document(html())
    assert found["begin_snap_time"] == "2025-03-02T10:00:00"
    assert found["startup_time"] == "2025-03-01T03:04"
    assert (found["rac"], found["cdb"], found["sockets"], found["memory_gb"]) == (False, True, None, 15.5)
    assert (found["dbid"], found["elapsed_min"], found["db_time_min"]) == (12345, 60.0, 1030.5)
    assert found["load_profile_per_sec"]["logical_reads"] == 57_000
    assert found["load_profile_per_sec"]["block_changes"] == 1_200_000
    assert found["load_profile_per_sec"]["user_calls"] is None
    assert found["sql_by_elapsed"][0]["executions"] is None
    assert found["sql_by_elapsed"][0]["text"] == "select 1 from dual"
    assert found["host_cpu"] is None


def test_abbreviated_waits_and_their_units_are_expanded() -> None:
    first, cpu, last = document(html())["top_events"]
    assert (first["waits"], first["time_s"], first["avg_wait_ms"]) == (57_000, 1500, 26.32)
    assert (cpu["waits"], cpu["avg_wait_ms"], cpu["wait_class"]) == (None, None, None)
    assert (last["time_s"], last["avg_wait_ms"], last["pct_db_time"]) == (0.6, 0.2, 0.1)


def test_the_share_of_db_time_whose_statements_were_captured_is_read() -> None:
    said = "-> Captured SQL account for   89.3% of Total DB Time (s):          12,613"
    assert document(TEXT.replace("SQL ordered by Elapsed Time ", f"{said}\nSQL ordered by Elapsed Time ", 1))[
        "captured_sql_pct"
    ] == pytest.approx(89.3)
    assert document(TEXT)["captured_sql_pct"] is None


def test_a_section_nobody_knows_is_kept_as_a_table() -> None:
    for text in (html(), TEXT):
        (table,) = [table for table in document(text)["tables"] if table["columns"] == ("Widget", "Turns")]
        assert table["rows"] == [("left", "12")]
    assert "Some Section of a Later Release" in {table["section"] for table in document(html())["tables"]}


def test_a_text_report_is_read_by_its_rulers() -> None:
    found = document(TEXT)
    assert (found["instance"], found["cpus"], found["sockets"], found["end_sessions"]) == ("acme1", 4, None, 51)
    assert found["load_profile_per_sec"]["block_changes"] is None
    assert found["load_profile_per_txn"]["block_changes"] == 7.0
    assert found["instance_efficiency_pct"]["% Non-Parse CPU"] == 97.0
    assert found["buffer_hit_pct"] == 98.7
    assert found["host_cpu"]["wio_pct"] == 1.5
    assert [event["waits"] for event in found["top_events"]] == [57_000, None, 3]
    first, second = found["sql_by_elapsed"]
    assert (first["module"], first["text"], second["module"]) == ("shop", "select 1  from dual", None)


def test_a_number_too_wide_for_its_column_is_null_and_named() -> None:
    found = document(TEXT)
    assert found["top_events"][2]["avg_wait_ms"] is None
    assert any("######" in warning for warning in found["warnings"])


def test_a_statspack_report_has_the_same_names() -> None:
    found = document(STATSPACK)
    assert (found["kind"], found["host"], found["cdb"]) == ("statspack", "averyveryverylonghost", None)
    assert found["top_events"][1] == {
        "event": "log file sync", "waits": 57_000, "time_s": 400, "avg_wait_ms": 7.01754386, "pct_db_time": 22.9,
        "wait_class": None,
    }  # fmt: skip
    (statement,) = found["sql_by_gets"]
    assert (statement["sql_id"], statement["old_hash_value"], statement["gets"]) == (None, "2482976222", 7943)
    assert statement["text"].endswith("aaaa')")


def test_a_text_report_of_a_cluster_gives_the_whole_and_each_instance() -> None:
    found = document(CLUSTER)
    assert (found["scope"], found["dbid"], found["host"], found["instance"]) == (
        "rac_global",
        1000012345,
        None,
        None,
    )
    assert (found["elapsed_min"], found["db_time_min"]) == (120.0, 1030.75)
    assert [(one["instance"], one["db_time_min"]) for one in found["instances"]] == [
        ("node1", 900.5),
        ("node2", 130.25),
    ]
    assert found["load_profile_per_sec"]["transactions"] == 2.0
    assert found["instances"][1]["load_profile_per_sec"]["redo_size_bytes"] == 40.4 * 1024
    assert [event["event"] for event in found["top_events"]] == ["DB CPU", "cell single block physical read"]
    assert found["top_events"][1]["waits"] == 700_000_000
    assert found["instances"][0]["top_events"][0]["time_s"] == 2345.75


def test_a_query_that_printed_the_report_in_pages_does_no_harm() -> None:
    lines = TEXT.split("\n")
    paged = "\n".join("\n".join(["", "OUTPUT", *lines[at : at + 14]]) for at in range(0, len(lines), 14))
    assert document(paged)["sql_by_elapsed"] == document(TEXT)["sql_by_elapsed"]
    assert document(paged)["top_events"] == document(TEXT)["top_events"]


def test_a_page_that_a_browser_or_a_mail_program_kept_is_read() -> None:
    mail = EmailMessage()
    mail["Subject"] = "awr"
    mail.set_content("see below")
    mail.add_alternative(html(), subtype="html", cte="quoted-printable")
    assert read_report(bytes(mail), "r").document() == document(html())


def test_a_text_report_inside_a_page_is_read() -> None:
    inside = document(f"<html><body><pre>{TEXT}</pre></body></html>")
    assert inside == {**document(TEXT), "format": "html"}


def test_the_container_flag_may_stand_in_a_table_of_its_own() -> None:
    apart = html().replace("<th>CDB</th>", "").replace("<td>YES</td></tr>", "</tr>")
    assert document(apart)["cdb"] is None
    flag = "<table><tr><th>CDB</th></tr><tr><td>YES</td></tr></table>"
    assert document(apart.replace("<h3>Load", f"{flag}<h3>Load"))["cdb"] is True


@for_each(("printed", "meant"), [
    ("08-\u041d\u043e\u044f-18 09:05", "2018-11-08T09:05"), ("04-Okt-23 23:09:19", "2023-10-04T23:09:19"),
    ("01-8\u6708 -24 10:00:00", "2024-08-01T10:00:00"), ("15-D\xc9C.-21 07:00", "2021-12-15T07:00"),
    ("2023-10-04 23:09:19", "2023-10-04T23:09:19"), ("31-Feb-23 10:00", None), ("soon", None), ("", None),
])  # fmt: skip
def test_times_of_several_languages_are_read_as_exactly_as_printed(printed: str, meant: str | None) -> None:
    assert instant(printed) == meant


@for_each(("printed", "comma", "meant"), [
    ("57K", False, 57_000), ("2198.8K", False, 2_198_800), ("1.8E+08", False, 180_000_000), (".5", False, 0.5),
    ("1,234", False, 1234), ("1,234", True, 1.234), ("1.234", True, 1234), ("1.234,5", False, 1234.5),
    ("1 234,5", True, 1234.5), ("1'234.50", False, 1234.5), ("-3", False, -3), ("1,23,4", False, None),
    ("######", False, None), ("12abc", False, None), ("1e999", False, None), ("", False, None),
    ("9" * 50, False, None),
])  # fmt: skip
def test_numbers_are_read_or_null(printed: str, comma: bool, meant: float | None) -> None:
    assert Numbers(comma).number(printed) == meant


@for_each(("printed", "comma"), [
    ([], False), (["1.5", "1,5"], False), (["1.5", "1,5", "2,5"], True), (["1.5", "2.5", "1,5"], False),
    (["1,234", "1.234"], False),
])  # fmt: skip
def test_the_decimal_comma_needs_more_witnesses_than_the_point(printed: list[str], comma: bool) -> None:
    assert guess_comma(printed) is comma


def test_numbers_with_a_decimal_comma_are_read() -> None:
    continental = html().translate(str.maketrans(".,", ",.")).replace("23,9,0,0,0", "23.9.0.0.0")
    found = document(continental)
    assert found["db_time_min"] == 1030.5
    assert found["load_profile_per_sec"]["redo_size_bytes"] == 1234567.8
    assert found["top_events"][0]["avg_wait_ms"] == 26.32


def test_a_blank_header_of_an_autonomous_database_is_null_but_for_the_title() -> None:
    blank = html().replace("<td>ACME</td>", "<td>&#160;</td>").replace("<td>box</td>", "<td></td>")
    found = document(blank)
    assert (found["host"], found["db_name"]) == (None, "ACME")


@pytest.mark.parametrize(("title", "scope"), [
    ("WORKLOAD REPOSITORY PDB report (PDB snapshots)", "pdb"), ("WORKLOAD REPOSITORY report for", "instance"),
])  # fmt: skip
def test_the_title_tells_the_scope(title: str, scope: str) -> None:
    assert document(html(title=title))["scope"] == scope


@pytest.mark.parametrize("share", [0.55, 0.7, 0.99])
def test_a_report_cut_off_is_shown_and_is_bad_input(share: float) -> None:
    text = html().removesuffix("End of Report</body></html>\n")
    report = read_report(text[: int(len(text) * share)].encode(), "r")
    assert any("cut off" in fault for fault in report.faults)
    assert report.document()["warnings"]


def test_a_report_that_contradicts_itself_is_bad_input() -> None:
    edited = read_report(html().replace("02-Mar-25 11:00:00", "02-Mar-25 18:00:00").encode(), "r")
    turned = read_report(html().replace("<td>8</td>", "<td>3</td>").encode(), "r")
    assert "elapsed" in edited.faults[0]
    assert "not after" in turned.faults[0]
    assert read_report(html().encode(), "r").faults == []


def test_a_section_missing_from_its_contents_is_named() -> None:
    promise = '<li><a href="#17">Latch Statistics</a></li><li><a href="#18">Undo</a></li><a name="18"></a>'
    warnings = document(html(extra=promise))["warnings"]
    assert [warning for warning in warnings if "contents" in warning] == [
        "the section `Latch Statistics` is in the table of contents but not in the report"
    ]


@for_each("raw", [
    b"", b"\x00\x01\x02\x03", b"PK\x03\x04" + b"x" * 500, b"\x7fELF" + bytes(range(256)) * 20,
    b"<html><body>" + b"<p>AWR report</p>" * 50, b"WORKLOAD REPOSITORY report for\n" + b"nothing\n" * 50,
    b"hello " * 2_000_000, gzip.compress(b"hello " * 1000), b"\x1f\x8b" + b"junk" * 100,
    html(title="WORKLOAD REPOSITORY COMPARE PERIOD REPORT").encode(),
], ids=range(10))  # fmt: skip
def test_junk_is_refused_with_a_sentence(raw: bytes) -> None:
    with pytest.raises(ToolkitError) as caught:
        read_report(raw, "r")
    assert (caught.value.code, caught.value.exit_code) == ("TK-0113", ExitCode.USAGE)
    assert caught.value.hint


@pytest.mark.full
def test_a_packed_bomb_is_refused_within_bounds() -> None:
    with pytest.raises(ToolkitError, match="200 MB"):
        read_report(gzip.compress(b" " * 300_000_000, 1), "r")


SAMPLES = st.sampled_from([html(), TEXT, STATSPACK, CLUSTER])


def survive(raw: bytes) -> Report | None:
    try:
        report = read_report(raw, "r")
    except ToolkitError as error:
        assert error.code == "TK-0113"
        return None
    json.dumps(report.document(), allow_nan=False)
    return report


@examples(150)
@given(SAMPLES, st.floats(0, 1))
def test_a_report_cut_anywhere_is_never_taken_for_whole(text: str, share: float) -> None:
    kept = text[: int(len(text.rstrip()) * share)]
    report = survive(kept.encode())
    if report is not None and "End of Report" not in kept:
        assert report.faults


@examples(100)
@given(SAMPLES, st.lists(st.floats(0, 0.999), max_size=30), st.randoms(use_true_random=False))
def test_lines_left_out_or_turned_about_do_no_harm(text: str, places: list[float], chance: Any) -> None:
    lines = text.replace("</tr>", "</tr>\n").split("\n")
    for place in places:
        del lines[int(len(lines) * place)]
    survive("\n".join(lines).encode())
    chance.shuffle(lines)
    survive("\n".join(lines).encode())


@examples(100)
@given(SAMPLES, st.floats(0, 1), st.binary(max_size=300))
def test_bytes_of_any_kind_do_no_harm(text: str, place: float, junk: bytes) -> None:
    raw = text.encode()
    at = int(len(raw) * place)
    survive(raw[:at] + junk + raw[at:])
    survive(raw[:at] + junk + raw[at + len(junk) :])
    survive(junk)


@for_each(("head", "told"), [
    ("<html><head><title>ASH Report - From 01-Jan-25 To 02-Jan-25</title>", "an ASH report"),
    ("\nASH Report For ACME/acme1\n", "an ASH report"),
    ("          ADDM Report for Task 'TASK_1'\n", "an ADDM report"),
    ("WORKLOAD REPOSITORY COMPARE PERIOD REPORT\n", "comparison of two periods"),
    ("\nWORKLOAD REPOSITORY SQL Report\n", "of a single statement"),
    ("<html><script id=\"fxtmodel\" type=\"text/xml\"><!--FXTMODEL--><report>", "an active report"),
])  # fmt: skip
def test_another_report_of_oracle_is_named_for_what_it_is(head: str, told: str) -> None:
    with pytest.raises(ToolkitError, match=told):
        read_report(f"{head}{html() if '<' in head else TEXT.replace('WORKLOAD', 'A')}".encode(), "r")


def test_a_report_that_ends_with_findings_is_still_a_report() -> None:
    assert (
        document(TEXT.replace("End of Report", "ADDM Report for Task 'X'\n\nEnd of Report"))["db_name"] == "ACME"
    )


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    "line", ["junk of 1.0 and 2.0\n", "---- ---- ---- - --\n", "<p>nothing <b>at</b> all</p>"]
)
def test_a_large_file_that_only_calls_itself_a_report_is_refused_by_its_head(line: str) -> None:
    head = "<html>" if line.startswith("<") else ""
    with pytest.raises(ToolkitError, match="has no database name"):
        read_report(f"{head}WORKLOAD REPOSITORY report for\n{line * (8_500_000 // len(line))}".encode(), "r")


def test_what_is_larger_than_any_report_is_refused_unread() -> None:
    with pytest.raises(ToolkitError, match="too large for a report"):
        read_report((html() + " " * 101_000_000).encode(), "r")
