"""A list of a report that lacks rows says so: by its own total, by other lists, by its end."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.for_each import for_each
from tests.readers.awr_samples import STATSPACK, TEXT
from tests.readers.test_awr_text_tables import FILES, FUNCTIONS
from toolkit.readers.awr.always import COUNTED, LATCHES
from toolkit.readers.awr.completeness import gaps, lists_of_text, segments_below_their_share, wholeness
from toolkit.readers.awr.pages import Turn, cut_entries, parted_entries, short_pages, unpaged
from toolkit.readers.awr.report import read_report
from toolkit.readers.awr.tables import AwrTable
from toolkit.readers.awr.twins import twins

END = f"          {'-' * 61}\n\n"


def document(text: str) -> dict[str, Any]:
    return read_report(text.encode(), "r").document()


def warned(text: str, words: str) -> list[str]:
    return [one for one in document(text)["warnings"] if words in one]


def added(sections: str) -> str:
    return TEXT.replace("End of Report", f"{sections}\nEnd of Report")


@for_each(
    ("report", "line"),
    [
        (TEXT, "log file sync                        57,000       1,500     26    2.4 Commit"),
        (TEXT, "DB CPU                                              900           1.5"),
        (TEXT, "            12.5              5          2.50    1.0    2.0    3.0 abcdfghjkmn12"),
        (TEXT, "left                                          12"),
        (STATSPACK, "CPU time                                                          900     60.10"),
        (STATSPACK, "          7,943        1,599            5.0    9.0     0.09      0.48 2482976222"),
        (added(FILES + END), "             1  0.5"),
        (added(FUNCTIONS + END), "      4G   578.7 4.52997  521.7K     8.3"),
    ],
)
def test_a_row_that_lost_its_blanks_is_counted_and_gives_no_value(report: str, line: str) -> None:
    assert line in report
    squeezed = re.sub(" +", " ", line.strip())
    (sentence,) = warned(report.replace(line, squeezed), "line of figures")
    assert squeezed in sentence
    found = repr({name: value for name, value in document(report.replace(line, squeezed)).items()
                  if name != "warnings"})  # fmt: skip
    assert squeezed not in found
    assert not warned(report, "line of figures")


def test_a_list_without_its_last_line_is_named() -> None:
    assert not warned(TEXT, "has no end")
    widgets = TEXT[TEXT.index("Widget Activity") : TEXT.index("End of Report")]
    head, rest = TEXT.split(widgets)
    begin = rest.index("End of Report")
    whole = head + widgets + widgets.replace("Widget Activity", "Other   Activity") + rest[begin:]
    assert not warned(whole, "has no end")
    cut = head + widgets.rpartition("left")[0] + widgets.replace("Widget Activity", "Other   Activity")
    (sentence,) = warned(cut + rest[begin:], "has no end")
    assert sentence.startswith("the list `Widget Activity` has no end")


HEAD = """SQL ordered by {}          DB/Inst: ACME/acme1  Snaps: 7-8
-> Captured SQL account for  {}% of Total

        Elapsed                  Elapsed Time
        Time (s)    Executions  per Exec (s)  %Total   %CPU    %IO    SQL Id
---------------- -------------- ------------- ------ ------ ------ -------------
"""
LETTERS = "abcdfghjkmnpq"


def statements(order: str, captured: float, values: list[float], first: int = 0) -> str:
    rows = "".join(
        f"{value:16.1f} {5:14} {value / 5:13.2f} {value:6.1f}    2.0    3.0 {LETTERS[place]}{'x' * 11}1\n"
        "select 1\n\n"
        for place, value in enumerate(values, first)
    )
    return HEAD.format(order, captured) + rows + END


ONLY = TEXT.replace(TEXT[TEXT.index("SQL ordered") : TEXT.index("Widget")], "{}")


@pytest.mark.parametrize(
    ("captured", "values", "words"),
    [
        pytest.param(60.0, [30.0, 20.0, 10.0], "", id="whole"),
        pytest.param(50.0, [30.0, 20.0, 10.0], "", id="more, as PL/SQL is listed with its statements"),
        pytest.param(75.0, [30.0, 20.0, 10.0], "are missing", id="fewer than ten"),
        pytest.param(70.0, [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.5, 1.2, 1.1], "", id="ends at a hundredth"),
        pytest.param(99.0, [9.0, 8.0, 7.0, 6.0, 5.0, 5.0, 5.0, 4.0, 4.0, 4.0], "may be missing", id="ends early"),
    ],
)
def test_a_list_below_its_captured_share_lacks_rows(captured: float, values: list[float], words: str) -> None:
    found = warned(ONLY.replace("{}", statements("Elapsed Time", captured, values)), "said to be captured")
    assert [one for one in found if words and one.endswith(words)] == found and bool(found) == bool(words)


def test_a_statement_that_another_list_shows_is_missed() -> None:
    other = statements("Gets", 0.0, [30.0, 20.0, 10.0])
    whole = ONLY.replace("{}", statements("Elapsed Time", 0.0, [30.0, 20.0, 10.0]) + other)
    assert not warned(whole, "lacks")
    cut = ONLY.replace("{}", statements("Elapsed Time", 0.0, [30.0, 10.0]).replace("bxxx", "cxxx") + other)
    (sentence,) = warned(cut, "lacks")
    assert "by elapsed time lacks 1 statement" in sentence and "`bxxxxxxxxxxx1`" in sentence


def test_whole_seconds_are_rounded_ones_and_no_statement_with_a_part_of_one_is_missed() -> None:
    seconds = statements("Elapsed Time", 0.0, [30.0, 20.0, 0.0])
    for value in ("30.0", "20.0", " 0.0"):
        seconds = seconds.replace(f"{value:>16} ", f"{value[:2]:>16} ", 1)
    for least, words in ((0.4, ""), (0.6, "lacks 1 statement")):
        other = statements("Gets", 0.0, [30.0, 20.0, 0.0, least])
        found = warned(ONLY.replace("{}", seconds + other), "lacks")
        assert [one for one in found if words in one] == found and bool(found) == bool(words), (least, found)


def test_a_list_of_ten_has_every_statement_of_a_hundredth() -> None:
    other = statements("Gets", 0.0, [1.5], first=11)
    ten = [90.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0, 2.0]
    assert warned(ONLY.replace("{}", statements("Elapsed Time", 0.0, ten) + other), "lacks 1 statement")
    other = statements("Gets", 0.0, [0.5], first=11)
    assert not warned(ONLY.replace("{}", statements("Elapsed Time", 0.0, ten) + other), "lacks")


ACTIVITY = """Instance Activity Stats              DB/Inst: ACME/acme1  Snaps: 7-8

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
logons cumulative                                26            0.0          13.0
redo size                             4,444,444,080    1,234,567.8         321.0
"""


def test_statistics_of_the_load_profile_are_missed_in_the_list_of_activity() -> None:
    assert not warned(added(ACTIVITY + END), "load profile counts")
    (sentence,) = warned(added(ACTIVITY[: ACTIVITY.index("redo size")] + END), "load profile counts")
    assert "`redo size`" in sentence


NAMES = (
    "Instance Activity Stats", "Background Wait Events", "Tablespace IO Stats", "Buffer Pool Statistics",
    "Instance Recovery Stats", "PGA Aggr Target Stats", "Shared Pool Advisory", "Undo Segment Summary",
    "Latch Activity", "Latch Sleep breakdown", "Latch Miss Sources", "Dictionary Cache Stats",
    "Library Cache Activity", "SGA Memory Summary", "SGA breakdown difference", "init.ora Parameters",
    "Wait Events", "Buffer Pool Advisory", "File IO Stats", "PGA Aggr Target Histogram", "PGA Memory Advisory",
    "Undo Segment Stats",
)  # fmt: skip


def test_lists_that_every_text_has_are_missed_where_it_has_most_of_them() -> None:
    assert not lists_of_text(NAMES, "STATSPACK report for")
    (sentence,) = lists_of_text(NAMES[2:], "STATSPACK report for")
    assert sentence.startswith("the text has no list for: instance activity, background events;")
    assert not [one for one in lists_of_text(NAMES[12:], "STATSPACK report for") if "has no list for" in one]


@pytest.mark.parametrize(
    "title", ["WORKLOAD REPOSITORY PDB report (root snapshots)", "WORKLOAD REPOSITORY REPORT (RAC)"]
)
def test_a_text_of_no_instance_may_have_other_lists(title: str) -> None:
    assert lists_of_text(NAMES[2:], "WORKLOAD REPOSITORY report for")
    assert not lists_of_text(NAMES[2:], title)


@for_each(
    ("lists", "lost"),
    [
        (("Tablespace IO Stats", "File IO Stats"), "I/O of files"),
        (("Time Model System Stats", "OS Statistics"), "the operating system"),
        (("Undo Segment Summary", "Undo Segment Stats"), "times of undo"),
        (("Rollback Segment Stats", "Rollback Segment Storage"), "storage of rollback segments"),
        (("Segments by Logical Reads", "Segments by Physical Reads", "Segments by Row Lock Waits",
          "Segments by ITL Waits", "Segments by Buffer Busy Waits"), "segments by buffer busy waits"),
        (("SQL ordered by Elapsed Time", "SQL ordered by CPU Time", "SQL ordered by Gets", "SQL ordered by Reads",
          "SQL ordered by Executions", "SQL ordered by Parse Calls"), "statements by parse calls"),
    ],
)  # fmt: skip
def test_lists_of_which_a_text_has_all_or_none_are_missed(lists: tuple[str, ...], lost: str) -> None:
    assert not lists_of_text(lists, "WORKLOAD REPOSITORY report for")
    (sentence,) = lists_of_text(lists[:-1], "WORKLOAD REPOSITORY report for")
    assert sentence.startswith(f"the text has no list of {lost}, which every text with one of ")
    # Statspack prints no list of segments or of statements of which there are no data
    of_awr = lists[0].startswith(("Segments", "SQL"))
    assert bool(lists_of_text(lists[:-1], "STATSPACK report for")) != of_awr


def named(key: str, *names: str, **values: float) -> list[dict[str, Any]]:
    return [{key: name, **values} for name in names]


MODEL = ("DB CPU", "DB time", "background cpu time", "background elapsed time", "parse time elapsed",
         "sql execute elapsed time")  # fmt: skip
CACHES = ("dc_histogram_defs", "dc_objects", "dc_rollback_segments", "dc_segments", "dc_tablespaces", "dc_users")
EVENTS = tuple(f"event {letter}" for letter in "abcdefghijklmnop")
WHOLE: dict[str, Any] = {
    "scope": "instance", "kind": "awr",
    "instance_activity": named("name", *COUNTED), "latches": named("latch", *LATCHES),
    "time_model": named("name", *MODEL), "dictionary_cache": named("cache", *CACHES),
    "library_cache": named("namespace", "BODY", "SQL AREA", "TABLE/PROCEDURE"),
    "latch_sleeps": named("latch", *LATCHES[:8]), "latch_misses": named("latch", *LATCHES[:8]),
    "foreground_events": named("event", *EVENTS), "wait_events": named("event", *EVENTS),
    "wait_event_histogram": named("event", *EVENTS, waits=5000.0),
    "tablespace_io": [{"tablespace": "A", "reads": 100.0}, {"tablespace": "B", "reads": 7.0}],
    "file_io": [{"tablespace": "A", "reads": 60.0}, {"tablespace": "A", "reads": 40.0},
                {"tablespace": "B", "reads": 7.0}],
    "buffer_cache_advice": [{"pool": "D", "size_mb": 80 * n, "size_factor": n / 10} for n in range(1, 21)],
    "pga_advice": [{"size_mb": size, "size_factor": size / 2} for size in range(14)],
    "sga_advice": [{"size_mb": 256 * n, "size_factor": n / 4} for n in range(2, 9)],
    "top_events": named("event", "DB CPU", *EVENTS[:5]), "version": "19.0.0.0.0", "db_time_min": 2.0,
    "os_stats": named("name", "BUSY_TICKS", "IDLE_TICKS", "NUM_CPUS", "SYS_TICKS", "USER_TICKS"),
    "io_by_function": [{"function": name, "read_requests_per_s": requests}
                       for name, requests in (("LGWR", 1.0), ("Others", 2.0), ("DBWR", 7.0), ("TOTAL:", 10.0))],
    "init_parameters": dict.fromkeys(
        ("control_files", "db_block_size", "db_name", "processes", "undo_tablespace")),
    "undo": [{"transactions": 300.0}],
    "undo_over_time": [{"end_time": str(n), "transactions": 100.0} for n in range(3)],
}  # fmt: skip
LOST = {
    "instance_activity": "activity lacks", "latches": "of latches lacks", "time_model": "time model lacks",
    "dictionary_cache": "dictionary cache lacks", "library_cache": "library cache lacks",
    "latch_misses": "latch misses lacks", "foreground_events": "lists of events lack",
    "wait_events": "all events lacks", "wait_event_histogram": "histogram of waits lacks",
    "tablespace_io": "of tablespaces lacks", "file_io": "of files lacks", "pga_advice": "PGA lacks",
    "buffer_cache_advice": "buffer cache lacks", "sga_advice": "SGA lacks", "os_stats": "operating system lacks",
    "io_by_function": "I/O by function", "undo_over_time": "list of undo have 200 transactions",
}  # fmt: skip
TABLES = {
    "Service Statistics": (("SYS$USERS", "100"), ("shop", "20")),
    "Buffer Wait Statistics": (("data block", "5,000"), ("undo header", "900")),
    "SGA Memory Summary": (("Database Buffers", "700"), ("Fixed Size", "2"), ("Redo Buffers", "9"),
                           ("Variable Size", "290"), ("sum", "1,001")),
    "Memory Dynamic Components": (("java pool", "4"), ("large pool", "8"), ("shared pool", "260")),
    "SGA breakdown difference": (("", "buffer_cache"), ("", "fixed_sga"), ("", "log_buffer")),
    "Instance Activity Stats - Absolute Values": (("logons current", "59"), ("opened cursors current", "102")),
    "PGA Aggr Target Stats": (("B", "128"), ("E", "128")),
    "Rollback Segment Stats": (("0", "8.0"), ("1", "9.0")),
    "Rollback Segment Storage": (("0", "385,024"), ("1", "122,880")),
}  # fmt: skip
WAITED = [{"event": "read by other session", "waits": 5200.0}, {"event": "buffer busy waits", "waits": 700.0}]


def tables(**less: tuple[tuple[str, ...], ...]) -> list[AwrTable]:
    return [AwrTable(name, "", ("", "Begin Value"), rows) for name, rows in {**TABLES, **less}.items()]


@for_each("name", LOST)
def test_a_list_that_lost_its_middle_is_told_by_its_twin_or_by_what_all_reports_have(name: str) -> None:
    assert not twins(WHOLE)
    rows = WHOLE[name]
    others: dict[str, Any] = {"wait_events": []} if name == "foreground_events" else {}
    most = {"time_model": 1, "library_cache": 1, "dictionary_cache": 2}.get(name, max(1, len(rows) // 2))
    begin = (len(rows) - most + 1) // 2
    cut = {**WHOLE, name: [*rows[:begin], *rows[begin + most :]], **others}
    assert any(LOST[name] in one for one in twins(cut)), twins(cut)
    assert not twins({**cut, "scope": "pdb"})


def test_rows_at_the_begin_and_at_the_end_of_lists_are_missed() -> None:
    for name, lost in (
        ("buffer_cache_advice", slice(2, None)),
        ("sga_advice", slice(-1)),
        ("pga_advice", slice(-3)),
    ):
        assert any("advice on the" in one for one in twins({**WHOLE, name: WHOLE[name][lost]})), name
    less = {name: WHOLE[name][2:] for name in ("foreground_events", "wait_events")}
    assert any("of the topmost ones, `event a`" in one for one in twins({**WHOLE, **less}))
    parameters = dict.fromkeys(("control_files", "db_block_size", "processes", "undo_tablespace"))
    assert any("lacks `db_name`" in one for one in twins({**WHOLE, "init_parameters": parameters}))


def test_an_older_release_has_fewer_sizes_of_the_pga() -> None:
    less = {**WHOLE, "pga_advice": WHOLE["pga_advice"][3:]}
    assert twins(less) and not twins({**less, "version": "9.2.0.8.0"})


def test_times_of_undo_that_are_too_many_to_be_listed_add_up_to_less() -> None:
    most = [{"end_time": str(n), "transactions": 1.0} for n in range(34)]
    assert not twins({**WHOLE, "undo_over_time": most})


@for_each("name", TABLES)
def test_a_list_as_it_is_printed_that_lost_a_row_is_told(name: str) -> None:
    whole = {**WHOLE, "wait_events": WAITED, "foreground_events": [], "background_events": [], "top_events": [],
             "wait_event_histogram": []}  # fmt: skip
    assert not twins(whole, tables())
    for gone in range(len(TABLES[name])):
        rows = tuple(row for place, row in enumerate(TABLES[name]) if place != gone)
        told = twins(whole, tables(**{name: rows}))
        # without its sum nothing is held against the list of regions
        assert told or rows[-1][0] == "Variable Size"
        assert all(one.endswith("missing") for one in told)
        assert not twins({**whole, "scope": "pdb"}, tables(**{name: rows}))


PROCESSES = (
    ("B", "10", "DBW0 --------", "14.0"), ("", "", "Other", "13.8"), ("", "", "SQL", ".2"),
    ("", "11", "TNS V1-V3 ---", "6.0"), ("", "", "Other", "6.0"),
    ("E", "10", "DBW0 --------", "14.0"), ("", "", "Other", "14.0"),
    ("", "12", " ------------", "3.6"), ("", "", "Other", "2.5"), ("", "", "Freeable", "1.1"),
)  # fmt: skip


@for_each("lost", [slice(1, 2), slice(0, 1), slice(0, 3), slice(6, 8), slice(8, 10)])
def test_the_memory_of_a_process_is_held_against_that_of_its_parts(lost: slice) -> None:
    def told(rows: tuple[tuple[str, ...], ...]) -> list[str]:
        return twins(WHOLE, [AwrTable("Top Process Memory (by component)", "", ("", "PId"), rows)])

    assert not told(PROCESSES)
    # a session may come and go, a process of the server may not
    assert not told((*PROCESSES[:3], *PROCESSES[5:]))
    begin, end, _ = lost.indices(len(PROCESSES))
    kept = [list(row) for row in (*PROCESSES[:begin], *PROCESSES[end:])]
    kept[0][0] = "B"
    (sentence,) = [one for one in told(tuple(map(tuple, kept))) if "memory of process" in one]
    assert sentence.endswith("rows of the list are missing")


@for_each(
    ("share", "rows", "is_short"),
    [
        ("-> Captured Segments account for   99.5% of Total", ("50.10", "49.30"), False),
        ("-> Captured Segments account for   99.5% of Total", ("49.30",), True),
        ("-> Captured Segments account for   1.4E+03% of Total", ("100.00",), True),
        ("-> Captured Segments account for   99.5% of Total", ("30.00", "10.00", "9.00", "8.00", "7.00"), False),
        ("-> % of Capture shows % of row lock waits for each top segment compared", ("90.00", "10.00"), False),
        ("-> % of Capture shows % of row lock waits for each top segment compared", ("90.00",), True),
        ("-> something else", ("1.00",), False),
    ],
)
def test_segments_that_are_fewer_than_five_make_up_what_is_captured(
    share: str, rows: tuple[str, ...], is_short: bool
) -> None:
    lines = [
        "Segments",
        share,
        "",
        *(f"SHOP       USERS      ORDERS  TABLE  1,258 {one}" for one in rows),
        "end",
        "x 1.00",
    ]
    found = [*segments_below_their_share(lines, lambda line: line[:8] * line.startswith("Segm"), "end".__eq__)]
    assert len(found) == is_short and all("of `Segments` make up" in one for one in found)


def test_a_list_with_headings_and_without_rows_lost_them() -> None:
    rows = re.search(r"left  .*\n", TEXT)
    assert rows is not None and not warned(TEXT, "has headings and no row")
    (sentence,) = warned(TEXT.replace(rows[0], ""), "has headings and no row")
    assert sentence == "the list `Widget Activity` has headings and no row: rows of it are missing"


def test_a_text_goes_on_behind_a_full_line_only() -> None:
    turns = [Turn("SQL ordered by Gets", 2, begins=False, is_over=True)]
    assert parted_entries(turns, [2, 2, 2]) and not parted_entries(turns, [2, 2, 2], ragged=True)


def test_a_text_says_which_of_its_lists_nothing_else_tells_of() -> None:
    found = wholeness(
        {**WHOLE, "mutex_sleeps": [{}], "segments": {"Reads": []}}, tables(Widgets=(("a", "1"), ("b", "2")))
    )
    assert found["not_held"] == ["Widgets", "mutex_sleeps", "undo"]
    held = found["held"]
    assert isinstance(held, list) and {"latches", "segments by Reads", "init_parameters", *TABLES} <= {*held}
    assert str(found["sentence"]).endswith("; nothing tells of them in Widgets, mutex_sleeps, undo")
    others = wholeness({**WHOLE, "scope": "pdb"}, [])
    assert others["held"] == []
    assert document(TEXT)["completeness"]["held"] == ["sql_by_elapsed", "top_events"]


@pytest.mark.parametrize("reads", [None, 39.9])
def test_a_file_whose_reads_are_not_read_or_rounded_is_no_row_that_is_missing(reads: float | None) -> None:
    first, _, *others = WHOLE["file_io"]
    assert not twins({**WHOLE, "file_io": [first, {"tablespace": "A", "reads": reads}, *others]})


def test_a_name_or_two_that_a_release_has_no_more_are_not_missed() -> None:
    for key, section, names in (
        ("name", "instance_activity", COUNTED),
        ("latch", "latches", LATCHES),
    ):
        for gone in pairwise(names):
            less = {**WHOLE, section: named(key, *(name for name in names if name not in gone))}
            assert not [one for one in twins(less) if "every report" in one]


def test_foreground_events_are_held_against_their_classes() -> None:
    classes = [{"wait_class": "User I/O", "time_s": 900.0}, {"wait_class": "Commit", "time_s": 100.0},
               {"wait_class": "DB CPU", "time_s": 5000.0}]  # fmt: skip
    events = [{"event": "a", "time_s": 850.0, "pct_db_time": 1.0},
              {"event": "b", "time_s": 140.0, "pct_db_time": 1.0},
              {"event": "SQL*Net message from client", "time_s": 9e6, "pct_db_time": None}]  # fmt: skip
    whole: dict[str, Any] = {"foreground_wait_classes": classes, "foreground_events": events}
    assert not gaps(whole, {})
    (sentence,) = gaps({**whole, "foreground_events": events[:1]}, {})
    assert sentence.startswith("the foreground events make up 14 min 10 s, yet their wait classes 16 min 40 s")


def test_a_page_with_fewer_lines_than_the_full_ones_is_told() -> None:
    full = [("Latch Activity", 62), ("Latch Activity", 62), ("Files", 60), ("Parse Calls", 61), ("Gets", 62)]
    assert not short_pages(full)
    (sentence,) = short_pages([*full, ("Latch Activity", 40)])
    assert (
        sentence
        == "the list `Latch Activity` has a page of 40 lines where full ones have 62: rows of it are missing"
    )
    (sentence,) = short_pages([*full[:4], ("Gets", 50)])
    assert "`Gets` has a page of 50 lines where full ones have 60" in sentence
    assert not short_pages([("Files", 62), ("Gets", 40)])


@pytest.mark.parametrize(
    ("empty", "begins", "is_lost"),
    [
        pytest.param(2, False, False, id="an entry goes on"),
        pytest.param(3, True, False, id="an entry begins below the empty line of the last"),
        pytest.param(2, True, True, id="the rest of an entry is missing"),
        pytest.param(3, False, True, id="the begin of an entry is missing"),
        pytest.param(None, True, False, id="the list begins"),
        pytest.param(None, False, True, id="the list begins with a text"),
    ],
)
def test_a_page_that_does_not_begin_where_the_one_before_ends_is_told(
    empty: int | None, begins: bool, is_lost: bool
) -> None:
    found = parted_entries([Turn("SQL ordered by Gets", empty, begins)] * 2, [2, 2, 3])
    assert len(found) == is_lost
    # of one turn alone the lines that a turn leaves are not known
    assert bool(parted_entries([Turn("SQL ordered by Gets", empty, begins)], [2])) == (is_lost and empty is None)


def test_a_list_that_ends_within_a_statement_lost_its_further_pages() -> None:
    assert not cut_entries([("Gets", True), ("Reads", True)])
    assert cut_entries([("Gets", True), ("Reads", False)]) == [
        "the list `Reads` ends within a statement: statements of it are missing"
    ]
    # where a program dropped the empty lines, no list has them
    assert not cut_entries([("Gets", False), ("Reads", False)])


AWR_CALLS = """SQL ordered by {}       DB/Inst: ACME/acme1  Snaps: 7-8
-> Total Parse Calls:           1,437

                            % Total
 Parse Calls  Executions     Parses    SQL Id
------------ ------------ --------- -------------
"""
AWR_ENTRY = "         151          151     10.51 b2gnxm5z6r51n\nselect one from a_table where categor\n"
LIST_ENDS = "          -------------------------------------------------------------\n\n"


@for_each(
    ("pages", "words"),
    [
        ([f"{AWR_ENTRY}\n"], ""),
        ([AWR_ENTRY], "ends within a statement"),
        ([AWR_ENTRY, "y_id = :1\n\n"], ""),
        ([f"{AWR_ENTRY}\n", "y_id = :1\n\n"], "does not begin where the one before it ends"),
    ],
)
def test_a_text_of_awr_tells_of_a_page_that_is_missing_in_a_list_of_statements(
    pages: list[str], words: str
) -> None:
    whole = "".join(
        f"{AWR_CALLS.format(name)}{AWR_ENTRY}\n{LIST_ENDS}" for name in ("Executions", "Gets", "Reads")
    )
    turned = "".join(
        f"{AWR_CALLS.format('Elapsed')}{AWR_ENTRY}\n{AWR_CALLS.format('Elapsed')}y_id = 1\n\n{LIST_ENDS}"
        for _ in range(4)
    )
    calls = "\n".join(f"{AWR_CALLS.format('Parse Calls')}{page}" for page in pages)
    text = TEXT.replace("End of Report", f"{whole}{turned}{calls}{LIST_ENDS}End of Report")
    told = [one for one in document(text)["warnings"] if "`SQL ordered by Parse Calls`" in one]
    assert len(told) == bool(words)
    assert all(words in one for one in told)


def test_a_page_turned_by_a_form_feed_leaves_as_many_empty_lines_as_any_other() -> None:
    """Statspack 11.2 turns some lists by a form feed, others by an empty line; entries go on behind both."""
    assert {unpaged(f"{turn}SQL") for turn in ("text\n\n", "text\n\f", "text\r\n\f", "text\f")} == {"text\n\nSQL"}


def test_a_first_page_lost_from_a_list_of_statspack_is_told() -> None:
    entry = STATSPACK[STATSPACK.index("          7,943") :]
    figures, text = entry.split("\n")[:2]
    assert not warned(STATSPACK, "does not begin where")
    (sentence,) = warned(STATSPACK.replace(f"{figures}\n", f"{text}\n\n{figures}\n"), "does not begin where")
    assert sentence.startswith("a page of the list `SQL ordered by Gets`")


def test_statements_that_statspack_captured_and_does_not_list_are_few() -> None:
    rows = [{"old_hash_value": f"100{place}", "pct_total": 1.4 - place / 10} for place in range(4)]
    assert not gaps({"sql_by_gets": rows}, {"gets": 9.0})
    (sentence,) = gaps({"sql_by_gets": rows}, {"gets": 60.2})
    assert sentence.endswith("rows of the list may be missing")


def test_one_of_two_lists_of_statistics_is_missed() -> None:
    absolute, derived = "Statistics with absolute values (should", "Statistics identified by '(derived)' come"
    assert not lists_of_text([*NAMES, absolute, derived], "STATSPACK report for")
    (sentence,) = lists_of_text([*NAMES, derived], "STATSPACK report for")
    assert sentence.startswith("the text has no list of statistics with absolute values, which")
    assert warned(added(f"{ACTIVITY}{END}Instance Activity Stats       DB/Inst: ACME/acme1  Snaps: 7-8\n"
                        f"-> {derived}\n\n{END}"), "no list of statistics with absolute")  # fmt: skip


def test_events_that_neither_foreground_nor_background_lists_are_missed() -> None:
    background = named("event", *EVENTS[8:])
    whole = {**WHOLE, "foreground_events": named("event", *EVENTS[:8]), "background_events": background}
    assert not twins(whole)
    (sentence,) = [one for one in twins({**whole, "background_events": background[:4]}) if "background" in one]
    assert sentence.startswith("the lists of foreground and background events lack 4 events")


REALDATA = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))
HEADING = re.compile(r"\f?(\S.*?)\s*(?:DB/Inst\b|for DB:)")


@pytest.mark.skipif(not (REALDATA / "statspack").is_dir(), reason="no real reports at DBATK_REALDATA")
def test_a_page_cut_out_of_a_list_of_a_real_report_is_told() -> None:
    cuts = 0
    for path in sorted((REALDATA / "statspack").glob("*.lst")):
        lines = path.read_text("latin-1").replace("\r", "").split("\n")
        whole = document("\n".join(lines))["warnings"]
        heads = [(place, head[1]) for place, line in enumerate(lines) if (head := HEADING.match(line))]
        for (begin, name), (end, following) in pairwise(heads):
            if name == following and end - begin > 40:
                found = document("\n".join(lines[:begin] + lines[end:]))["warnings"]
                assert [one for one in found if one not in whole], (path.name, name, begin)
                cuts += 1
    assert cuts > 20
