"""A list of a report that lacks rows says so: by its own total, by other lists, by its end."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.readers.awr_samples import STATSPACK, TEXT
from tests.readers.test_awr_text_tables import FILES, FUNCTIONS
from toolkit.readers.awr.completeness import lists_of_text
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
