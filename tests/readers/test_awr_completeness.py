"""A list of a report that lacks rows says so: by its own total, by other lists, by its end."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.readers.awr_samples import STATSPACK, TEXT
from tests.readers.test_awr_text_tables import FILES, FUNCTIONS
from toolkit.readers.awr.always import COUNTED, LATCHES
from toolkit.readers.awr.completeness import gaps, lists_of_text, twins
from toolkit.readers.awr.pages import Turn, cut_entries, parted_entries, short_pages, unpaged
from toolkit.readers.awr.report import read_report

END = f"          {'-' * 61}\n\n"


def document(text: str) -> dict[str, Any]:
    return read_report(text.encode(), "r").document()


def warned(text: str, words: str) -> list[str]:
    return [one for one in document(text)["warnings"] if words in one]


def added(sections: str) -> str:
    return TEXT.replace("End of Report", f"{sections}\nEnd of Report")


@pytest.mark.parametrize(
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
    "Library Cache Activity", "SGA Memory Summary", "init.ora Parameters",
)  # fmt: skip


def test_lists_that_every_text_has_are_missed_where_it_has_most_of_them() -> None:
    assert not lists_of_text(NAMES)
    (sentence,) = lists_of_text(NAMES[2:])
    assert sentence.startswith("the text has no list for: instance activity, background events;")
    assert not lists_of_text(NAMES[8:])


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
    "buffer_cache_advice": [{"pool": "D", "size_mb": size} for size in range(80, 1680, 80)],
    "pga_advice": [{"size_mb": size} for size in range(14)],
}  # fmt: skip
LOST = {
    "instance_activity": "activity lacks", "latches": "of latches lacks", "time_model": "time model lacks",
    "dictionary_cache": "dictionary cache lacks", "library_cache": "library cache lacks",
    "latch_misses": "latch misses lacks", "foreground_events": "lists of events lack",
    "wait_events": "all events lacks", "wait_event_histogram": "histogram of waits lacks",
    "tablespace_io": "of tablespaces lacks", "file_io": "of files lacks", "pga_advice": "PGA lacks",
    "buffer_cache_advice": "buffer cache lacks",
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
def test_a_list_that_lost_its_middle_is_told_by_its_twin_or_by_what_all_reports_have(name: str) -> None:
    assert not twins(WHOLE)
    rows = WHOLE[name]
    others: dict[str, Any] = {"wait_events": []} if name == "foreground_events" else {}
    most = {"time_model": 1, "library_cache": 1, "dictionary_cache": 2}.get(name, max(1, len(rows) // 2))
    begin = (len(rows) - most + 1) // 2
    cut = {**WHOLE, name: [*rows[:begin], *rows[begin + most :]], **others}
    assert any(LOST[name] in one for one in twins(cut)), twins(cut)
    assert not twins({**cut, "scope": "pdb"})


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


@pytest.mark.parametrize(
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
    assert not lists_of_text([*NAMES, absolute, derived])
    (sentence,) = lists_of_text([*NAMES, derived])
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
PAGED = (
    "Instance Activity", "Latch Activity", "Wait Event Histogram", "SQL ordered by Gets", "SQL ordered by Reads",
    "SQL ordered by Executions",
)  # fmt: skip


@pytest.mark.skipif(not (REALDATA / "statspack").is_dir(), reason="no real reports at DBATK_REALDATA")
def test_a_page_cut_out_of_a_list_of_a_real_report_is_told() -> None:
    cuts = 0
    for path in sorted((REALDATA / "statspack").glob("*.lst")):
        lines = path.read_text("latin-1").replace("\r", "").split("\n")
        whole = document("\n".join(lines))["warnings"]
        heads = [(place, head[1]) for place, line in enumerate(lines) if (head := HEADING.match(line))]
        for (begin, name), (end, following) in pairwise(heads):
            if name == following and name.startswith(PAGED) and end - begin > 40:
                found = document("\n".join(lines[:begin] + lines[end:]))["warnings"]
                assert [one for one in found if one not in whole], (path.name, name, begin)
                cuts += 1
    assert cuts > 10
