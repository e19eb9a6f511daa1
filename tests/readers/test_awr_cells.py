"""What stands in a cell or a heading of a report: numbers, durations, sizes, dates, units, names; and the grid of cells."""
# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.readers.awr.rows import Rows, cut_tables, span_of, table_of
from toolkit.readers.awr.tables import AwrTable, Numbers, Patterns, guess_comma, instant, label, snake, unit_of

POINT, COMMA = Numbers(), Numbers(comma=True)


# -- numbers ----------------------------------------------------------------------------------------------------
@for_each(
    ("text", "point", "comma"),
    [
        ("7", 7, 7), ("-7", -7, -7), ("+7", 7, 7), ("9" * 29, int("9" * 29), int("9" * 29)), ("9" * 30, None, None),
        ("-" + "9" * 28, -int("9" * 28), -int("9" * 28)), ("-" + "9" * 29, None, None),
        ("1.5", 1.5, 1.5), ("1,5", 1.5, 1.5), ("1,500", 1500, 1.5), ("1.500", 1.5, 1500),
        ("1,500,000", 1500000, 1500000), ("1.500.000", 1500000, 1500000), ("1,500.25", 1500.25, 1500.25),
        ("1.500,25", 1500.25, 1500.25), ("1,50,000", None, None), ("1.50.000", None, None), (".25", 0.25, 0.25),
        (",25", 0.25, 0.25), ("1500,000.5", None, None), ("1.5,5.5", None, None), ("1,5.5,5", None, None),
        ("1 500", 1500, 1500), ("1\u00a0500", 1500, 1500), ("1\u202f500,5", 1500.5, 1500.5),
        ("1\u2019500.5", 1500.5, 1500.5), (" 7 ", 7, 7), ("5.0", 5.0, 5.0), ("5,0", 5.0, 5.0),
        ("3K", 3000, 3000), ("3 M", 3000000, 3000000), ("1.5G", 1500000000, 1500000000),
        ("1,5T", 1500000000000, 1500000000000), ("2P", 2 * 10**15, 2 * 10**15), ("1.2345K", 1234.5, 1234.5),
        ("3k", None, None), ("1E3", 1000, 1000), ("1.5e+2", 150, 150), ("15E-1", 1.5, 1.5), ("1E40", 10**40, 10**40),
        ("1E41", None, None), ("1E-40", 1e-40, 1e-40), ("1E-41", None, None), ("E5", None, None), ("K", None, None),
        ("0." + "1" * 46, float("0." + "1" * 46), float("0." + "1" * 46)), ("0." + "1" * 47, None, None),
        ("-", None, None), (".", None, None), ("--5", None, None), ("5%", None, None), ("\u0665", 5, 5),
    ],
)  # fmt: skip
def test_a_number_is_read_as_it_is_printed(text: str, point: float | None, comma: float | None) -> None:
    for numbers, meant in ((POINT, point), (COMMA, comma)):
        found = numbers.number(text)
        assert (found, type(found)) == (meant, type(meant))


_PRINTED = st.one_of(
    st.integers(-(10**12), 10**12).map(lambda one: f"{one:,}"), st.integers(0, 10**9).map(str),
    st.floats(-1e9, 1e9).map(lambda one: f"{one:,.2f}"), st.floats(0, 100).map(lambda one: f"{one:.3f}"),
    st.sampled_from(["", "1,2", "12,34", "1K", "abc", " 1", "#####", "1.", "-", "1" * 21, "1." + "2" * 13, "1,234" * 6]),
)  # fmt: skip


@given(st.lists(_PRINTED, min_size=1, max_size=5))
def test_a_column_is_read_as_its_cells_are(texts: list[str]) -> None:
    found = POINT.column(texts)
    usual = all(
        not text or re.fullmatch(r"[-+]?(\d{1,3}(,\d{3}){1,6}|\d{1,20})(\.\d{1,12})?", text) for text in texts
    )
    assert (found is not None) == usual
    if found is not None:
        single = [POINT.number(text) if text else None for text in texts]
        assert [(one, type(one)) for one in found] == [(one, type(one)) for one in single]
    assert COMMA.column(texts) is None


@for_each(
    ("text", "unit", "milliseconds", "seconds"),
    [
        ("12", "ms", 12, 0.012), ("12", "s", 12000.0, 12), ("1,500", "us", 1.5, 0.0015), ("12", None, None, 12),
        ("0", None, 0, 0), ("3.5ms", "s", 3.5, 0.0035), ("3.5ms", None, 3.5, 0.0035), ("200us", "ms", 0.2, 0.0002),
        ("200\u00b5s", "ms", 0.2, 0.0002), ("200\u03bcs", "ms", 0.2, 0.0002), ("5ns", "s", 5e-06, 5e-09),
        ("5 cs", "ms", 50.0, 0.05), ("5s", "us", 5000.0, 5.0), ("2 min", "ms", 120000.0, 120.0),
        ("2m", "ms", 120000.0, 120.0), ("2h", "ms", 7200000.0, 7200.0), ("7", "cs", 70.0, 0.07),
        ("7", "sec", 7000.0, 7), ("7", "seconds", 7000.0, 7), ("7", "ns", 7e-06, 7e-09), ("", "ms", None, None),
        ("many", "s", None, None), ("s", "s", None, None), ("\u00a05 ms ", "s", 5, 0.005), ("0.1", "s", 100.0, 0.1),
    ],
)  # fmt: skip
def test_a_duration_is_read_in_its_own_unit_or_that_of_its_heading(
    text: str, unit: str | None, milliseconds: float | None, seconds: float | None
) -> None:
    assert POINT.milliseconds(text, unit) == milliseconds
    assert POINT.seconds(text, unit) == seconds


@for_each(
    ("text", "times", "meant"),
    [
        ("5", 1000, 5000),
        ("1.5", 1000, 1500),
        ("0.0005", 1000, 0.5),
        ("0.1", 3, 0.3),
        ("", 2, None),
        ("x", 2, None),
    ],
)
def test_a_number_in_thousands_is_multiplied(text: str, times: int, meant: float | None) -> None:
    found = POINT.scaled(text, times)
    assert (found, type(found)) == (meant, type(meant))


@for_each(
    ("text", "size"),
    [("7", 7 * 2**20), ("7M", 7 * 2**20), ("7MB", 7 * 2**20), ("1.5K", 1536), ("2 G", 2**31), ("2GB", 2**31),
     ("3T", 3 * 2**40), ("1P", 2**50), ("1B", 2**20), ("0.3K", 307.2), ("1,024K", 2**20), ("", None), ("M", None),
     ("x7", None), ("7X", None)],
)  # fmt: skip
def test_a_size_is_read_in_multiples_of_1024(text: str, size: float | None) -> None:
    found = POINT.size(text)
    assert (found, type(found)) == (size, type(size))


@for_each(
    ("texts", "comma"),
    [
        (["1.000,5"], True), (["1,000.5"], False), (["1,55"], True), (["1,555"], False), ([",5"], True),
        (["1,5", "x", "2,5", "1.5"], True), (["1,5", "1.5"], False), (["1.5,"], False), (["1.000.000,25"], True),
        (["1.0000,5"], False), ([], False),
    ],
)  # fmt: skip
def test_most_numbers_of_a_report_tell_its_decimal_mark(texts: list[str], comma: bool) -> None:
    assert guess_comma(texts) is comma


# -- dates ------------------------------------------------------------------------------------------------------
@for_each(
    ("text", "meant"),
    [
        ("2025-03-02 10:11:12", "2025-03-02T10:11:12"), ("2025/3/2 10:11", "2025-03-02T10:11"),
        ("2025.03.02T10:11:12", "2025-03-02T10:11:12"), ("2025-03-02", "2025-03-02"), ("02-Mar-25", "2025-03-02"),
        ("2-MAR-2025 1:02:03", "2025-03-02T01:02:03"), ("02.März 2025 10:11", "2025-03-02T10:11"),
        ("02-mrz-25", "2025-03-02"), ("02-févr.-25 10:11", "2025-02-02T10:11"), ("02-juin-25", "2025-06-02"), ("2 février 2025", "2025-02-02"),
        ("02-juil.-25", "2025-07-02"), ("02-août-25", "2025-08-02"), ("02-aout-25", "2025-08-02"),
        ("02-ene-25", "2025-01-02"), ("02-gen-25", "2025-01-02"), ("02-мая-25", "2025-05-02"), ("02-мар-25", "2025-03-02"),
        ("02-Mayo-25", "2025-05-02"), ("02-gru-25", "2025-12-02"), ("02-ağu-25", "2025-08-02"),
        ("02-12\u6708-25 10:11", "2025-12-02T10:11"), ("02-9\uc6d4 -25", "2025-09-02"),
        ("02/Mar/99", "1999-03-02"), ("02-Mar-90", "1990-03-02"), ("02-Mar-89", "2089-03-02"), ("02-Mar-00", "2000-03-02"),
        ("02-Foo-25", None), ("32-Mar-25", None), ("02-Mar-25 25:00", None), ("02-Mar-25 10:61", None),
        ("2025-13-02", None), ("2025-03-02 soon", None), ("02-Mar-25 soon", "2025-03-02"), ("02-Mar-2", None),
        ("02-Mar-250", None), ("\u00a002-Mar-25\u202f10:11 ", "2025-03-02T10:11"), ("02-Mar", None),
    ],
)  # fmt: skip
def test_a_time_is_read_as_exactly_as_it_is_printed(text: str, meant: str | None) -> None:
    assert instant(text) == meant


# -- headings ---------------------------------------------------------------------------------------------------
@for_each(
    ("heading", "unit"),
    [("time s", "s"), ("avg wait ms", "ms"), ("total wait time sec", "sec"), ("elapsed seconds", "seconds"), ("times", None),
     ("cr avg time us busy", "us"), ("ms", "ms"), ("time cs", "cs"), ("avg ns", "ns"), ("waits", None), ("bus", None),
     ("status", None), ("avg ms per us", "us"), ("time s total", None), ("avg wait (us)"[:-1], "us"), ("", None)],
)  # fmt: skip
def test_a_heading_names_its_unit(heading: str, unit: str | None) -> None:
    assert unit_of(heading) == unit


@for_each(
    ("cell", "printed"),
    [("Redo size:", "Redo size"), ("Buffer  Hit   %:", "Buffer Hit"), ("In-memory Sort % : ", "In-memory Sort"),
     ("% Non-Parse CPU:", "% Non-Parse CPU"), ("a: b:", "a: b"), ("plain", "plain")],
)  # fmt: skip
def test_a_label_is_kept_without_its_colon(cell: str, printed: str) -> None:
    assert label(cell) == printed


@for_each(
    ("heading", "name"),
    [("% DB time", "pct_db_time"), ("Time (s)", "time_s"), ("Reads/s", "reads_per_s"), ("Snap#", "snap_number"),
     ("a/b", "a_b"), ("%Time -outs", "pct_time_outs"), ("***", "column"), ("", "column"), ("Gets/Second", "gets_second"),
     ("Hard%#", "hard_pct_number")],
)  # fmt: skip
def test_a_heading_is_named_in_one_word(heading: str, name: str) -> None:
    assert snake(heading) == name


_PATTERNS = ("time", "(?:avg )?wait", "time s", ".* ms", "a|b", "")


@given(
    st.text("abtimew s", max_size=9) | st.sampled_from(["time", "time s", "avg wait", "wait", "x ms", "time ms"])
)
def test_all_patterns_are_asked_at_once_as_each_would_be(heading: str) -> None:
    asked = Patterns(_PATTERNS[:4], _PATTERNS[4:])
    whole = [one for one in _PATTERNS[:4] if re.fullmatch(one, heading)]
    assert asked.met(heading) == whole + [one for one in _PATTERNS[4:] if re.search(one, heading)]


def test_a_table_tells_its_words_labels_and_first_column() -> None:
    table = AwrTable(
        "Load  Profile", "of an hour", ("Per Second", "%Time -outs"), (("Redo size:", "1"), ("CPUs:", "Used:"), ())
    )
    assert (table.keys, table.words) == (("per second", "%time outs"), "load profile | of an hour")
    assert table.labels() == {"redo size", "cpus", "used"}
    assert table.begins_with(["zzz", "redo size:"]) and table.begins_with(["cpus"])
    assert not table.begins_with(["used", "1"]) and not table.begins_with([])


# -- the grid of cells ------------------------------------------------------------------------------------------
def grid(*lines: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and rows of a table: `!` marks a heading, `*2` and `/2` how many columns and rows a cell spans."""
    rows = Rows()
    for line in lines:
        rows.begin()
        for cell in line.split("|"):
            found = re.fullmatch(r"(!?)([^*/]*)(?:\*(\d+))?(?:/(\d+))?", cell)
            assert found is not None
            rows.add(found[2], "h" if found[1] else "d", span_of(found[3], found[4]))
    rows.end()
    table = table_of("section", " a  title ", rows)
    assert table is not None and (table.section, table.title) == ("section", "a title")
    return table.columns, [*table.rows]


@for_each(
    ("lines", "columns", "rows"),
    [
        (("!A|!B", "1|2"), ("A", "B"), [("1", "2")]),
        (("!A|", "1|2"), ("A", ""), [("1", "2")]), (("!A|b", "c|d"), (), [("A", "b"), ("c", "d")]),
        (("!A|!B", "!C|!D"), ("A", "B"), [("C", "D")]), (("!A|!B",), ("A", "B"), []),
        (("!A|!B", "!C|!D", "1|2"), ("A C", "B D"), [("1", "2")]),
        (("!A|!B", "!A|!", "1|2"), ("A", "B"), [("1", "2")]),
        (("!A*2|!B/2", "!C|!D", "1|2|3"), ("A C", "A D", "B"), [("1", "2", "3")]),
        (("!A|!B*2", "1|2|3", "4*2|5"), ("A", "B", "B"), [("1", "2", "3"), ("4", "", "5")]),
        (("!A|!B", "1/3|2", "3", "4", "5|6"), ("A", "B"), [("1", "2"), ("1", "3"), ("1", "4"), ("5", "6")]),
        (("!A|!B|!C", "1|2/2|3", "4|5"), ("A", "B", "C"), [("1", "2", "3"), ("4", "2", "5")]),
        (("!A|!B", "!1*2", "2|3"), ("A 1", "B 1"), [("2", "3")]),
        (("!A/2|!B", "!C|!D|!E", "1|2|3"), ("A", "B C", "D", "E"), [("1", "2", "3")]),
        (("one|two", "1|x", "y|2"), ("one", "two"), [("1", "x"), ("y", "2")]),
        (("one|two", "a|x", "b|y", "c|z", "d|1"), (), [("one", "two"), ("a", "x"), ("b", "y"), ("c", "z"), ("d", "1")]),
        (("one|two", "a|x", "b|y", "c|1"), ("one", "two"), [("a", "x"), ("b", "y"), ("c", "1")]),
        (("one|2", "3|4"), (), [("one", "2"), ("3", "4")]), (("one:|two", "3|4"), (), [("one:", "two"), ("3", "4")]),
        (("one", "1"), (), [("one",), ("1",)]), (("one|two",), (), [("one", "two")]),
        (("one*2|two/2", "a|b", "1|2|3"), ("one a", "one b", "two"), [("1", "2", "3")]),
        (("one*2", "1|2"), ("one", "one"), [("1", "2")]),
    ],
)  # fmt: skip
def test_cells_stand_where_the_browser_shows_them(
    lines: tuple[str, ...], columns: tuple[str, ...], rows: list[tuple[str, ...]]
) -> None:
    assert grid(*lines) == (columns, rows)


def test_what_holds_nothing_is_no_table_and_a_cell_spans_no_more_than_a_table_has() -> None:
    assert table_of("", "", Rows()) is None
    rows = Rows()
    rows.begin()
    rows.begin()  # a row that was begun and holds nothing begins once
    rows.end()
    rows.end()
    assert (rows.cells, rows.shapes) == ([], [])
    columns, (row,) = grid("!A*99999|!B", "1|2")
    assert (len(columns), row) == (401, ("1", "2"))
    (columns, (row,)) = grid("!A*400/2|!B", "!C", "1|2")
    assert len(columns) in {401, 402}


@for_each(
    ("wide", "high", "span"),
    [("2", "3", (2, 3)), (None, "", (1, 1)), ("0", "x", (1, 1)), (" 2 ", "-1", (2, 1)), ("400", "401", (400, 400)),
     ("99999", "100000", (400, 1)), ("\u0662", "1.5", (1, 1))],
)  # fmt: skip
def test_what_is_no_small_number_spans_one_cell(wide: str | None, high: str | None, span: tuple[int, int]) -> None:
    assert span_of(wide, high) == span


@for_each(
    ("cell", "words"),
    [
        ("<td>a &lt;b&gt; &quot;c&quot; &amp;lt; &nbsp;d", 'a <b> "c" &lt; d'), ("<td>&#65;&#8364;&#160;x", "A\u20ac x"),
        ("<td>  a \t b\n", "a b"), ("<td><b>a</b><i>b</i> <font size=1>c</font>", "ab c"), ("<td><a name=x>7</a>", "7"),
        ("<td>&#38;lt;", None), ("<td>&#0;", None), ("<td>&#31;", None), ("<td>&#32;x", "x"), ("<td>&#126;", "~"),
        ("<td>&#127;", None), ("<td>&#159;", None), ("<td>&#161;", "\u00a1"), ("<td>&#55295;", "\ud7ff"),
        ("<td>&#55296;", None), ("<td>&copy;", None), ("<td>a & b", None), ("<td>&amp", None), ("<td>a<br>b", None),
        ("<td>a<p>b", None), ("<td>a<table>b", None), ("x<td>a", None), ("<td/>a", "a"), ("<td x='a>b'>c", None),
        ("<td title='a'b>c", None), ("<td title=a&b>c", None), ("<td title='&copy;' id=x>c", None),
    ],
)  # fmt: skip
def test_what_is_regular_is_cut_and_anything_else_is_left_to_the_tree(cell: str, words: str | None) -> None:
    cut = cut_tables(f"<table><tr>{cell}</tr></table>")
    assert [rows.cells for rows in cut.tables] == ([] if words is None else [[(words,)]])


def test_what_links_can_lead_to_and_what_a_cell_spans_is_kept() -> None:
    page = (
        "<table id=t><tr id=r><th id='h' colspan=2>A</th></tr><tr><td ID=c rowspan=2>1</td><td><a name=\"a\">2</a>"
        "<b name=b id=i>x</b></td></tr><tr><td id='&amp;'>3</td></tr></table>"
    )
    cut = cut_tables(page)
    (rows,) = cut.tables
    assert rows.spans == {0: [(0, (2, 1))], 1: [(0, (1, 2))]}
    assert cut.names == {"h", "c", "a", "i", "&"}
    assert (rows.cells, rows.shapes) == ([["A"], ["1", "2x"], ["3"]], ["h", "dd", "d"])
    assert cut.page == '<table dbatk-cut="0" id=t></table>'


def test_tables_are_numbered_and_the_page_around_them_stays() -> None:
    one = "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>"
    cut = cut_tables(f"a{one}b<table><tr><td>&x;</td></tr></table>c{one}d<table><tr><td>open")
    assert cut.page == (
        'a<table dbatk-cut="0"></table>b<table><tr><td>&x;</td></tr></table>c<table dbatk-cut="1"></table>d<table><tr><td>open'
    )
    assert [rows.cells for rows in cut.tables] == [[("1", "2"), ("3", "4")]] * 2
    capital = cut_tables(f"a{one.upper()}b")
    assert (capital.page, len(capital.tables)) == ('a<TABLE dbatk-cut="0"></TABLE>b', 1)
    for page in (f"dbatk-cut{one}", f"\0{one}", "no table", f"<table><tr><td>{one}</table>"):
        left = cut_tables(page)
        assert len(left.tables) == page.startswith("<table")
    assert cut_tables("<tablex><tr><td>1</td></tr></table>").tables == []
