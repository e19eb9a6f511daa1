"""Twelve pairs of real reports, with the cause that was named from the reports alone before they were compared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.analysis.awr.diff import compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.awr.sentences import cause_sentence
from toolkit.model.interval import Interval
from toolkit.readers.awr.report import read_report
from toolkit.report.interval.view import diff_text

REAL = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))
pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="set DBATK_REALDATA to the folder of real reports")
LIBRARY, ROWS = "latch: library cache", "enq: TX - row lock contention"
PAIRS = {
    "a job that runs beside the load": ("jdmoreno__PPD_161_162", "jdmoreno__PPD_171_172", "db7f9rmwydc9p", True),
    "cursors after a restart": (
        "jdmoreno__PRD_231001_1300", "jdmoreno__PRD_72365_72367", "cursor: pin S wait on X", True),
    "row locks that ease": (
        "pcambell__11g_rac__awrrpt_1_24703_24704", "pcambell__11g_rac__awrrpt_1_24722_24724", ROWS, False),
    "row locks where there were none": (
        "pcambell__11g__awrrpt_1_36006_36007", "pcambell__11g_rac__awrrpt_1_24703_24704", ROWS, True),
    "a busy day of a cluster beside a calm one": (
        "pcambell__19c_rac__awrrpt_1_18192_18193", "pcambell__19c_rac__awr_xydb_1_20230217_15_16", "DB CPU", True),
    "a busy cluster beside a small database": (
        "pcambell__19c_rac__awr_xydb_1_20230217_15_16", "eyko139__AIMS_AWR", "DB CPU", False),
    **{f"hard parses by {a} users, then by {b}": (
        f"nabeelkhan__multiuser_{a}_250000", f"nabeelkhan__multiuser_{b}_250000", LIBRARY, True)
       for a, b in ((2, 3), (3, 4), (4, 6), (2, 4), (2, 6), (3, 6))},
}  # fmt: skip
"""Before, after, the first cause, and whether it took more time."""


def read(name: str) -> Interval:
    (file,) = (one for folder in ("awr", "statspack") for one in REAL.glob(f"{folder}/{name}.*"))
    return interval_of(read_report(file.read_bytes(), name).document())


@for_each("name", PAIRS)
def test_the_first_cause_is_the_one_a_consultant_names(name: str) -> None:
    before, after, cause, more = PAIRS[name]
    diff = compare_intervals(read(before), read(after), force=True)
    first = diff.causes[0]
    assert (first.key, first.impact > 0) == (cause, more)


@for_each("name", PAIRS)
def test_no_wait_is_said_to_have_grown_that_fell(name: str) -> None:
    before, after, _, _ = PAIRS[name]
    diff = compare_intervals(read(before), read(after), force=True)
    spent = {side: {key: row.seconds or 0.0 for key, row in one.waits.rows.items()}
             for side, one in (("before", diff.before), ("after", diff.after))}  # fmt: skip
    lengths = {"before": diff.before.origin.elapsed_seconds, "after": diff.after.origin.elapsed_seconds}
    for cause in diff.causes:
        for event in cause.events:
            rate = {side: spent[side].get(event, 0.0) / (lengths[side] or 1.0) for side in spent}
            # an event that grew may be told as growing less than the load; the first of a cause must bear it out
            if event == cause.key and cause.impact > 0:
                assert rate["after"] > rate["before"] * min(1.0, diff.explained)


def test_a_statement_that_ran_longer_than_the_interval_says_so() -> None:
    diff = compare_intervals(read("jdmoreno__PPD_161_162"), read("jdmoreno__PPD_171_172"))
    assert "an execution takes longer than the interval" in cause_sentence(diff.causes[0], diff)


def test_an_eighth_of_the_transactions_gets_no_verdict() -> None:
    told = diff_text(compare_intervals(read("jdmoreno__PRD_231001_1300"), read("jdmoreno__PRD_72365_72367")))
    assert "inconclusive: not the same work: 0.131 times the transactions" in told
    assert "faster" not in told.partition("CAUSES")[0]
    assert "slower" not in told.partition("CAUSES")[0]
