"""Lists that two reports detail side by side: counts per second, averages as they are, curves of advice."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.analysis.awr.made import interval
from toolkit.analysis.awr.details import DETAILS
from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.awr.masking import Pseudonyms, mask_interval
from toolkit.analysis.awr.sentences import cause_sentence
from toolkit.model.interval import Statement
from toolkit.readers.awr.details import DETAILS as SECTIONS
from toolkit.report.interval.document import diff_document
from toolkit.report.interval.view import diff_page


def report(day: int, waits: int, reads: int, extra: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "scope": "instance", "db_name": "ACME", "dbid": 7, "elapsed_min": 10.0,
        "begin_snap_time": f"2025-03-0{day}T10:00:00",
        "addm_findings": [{"finding": "Hard Parse", "pct_active_sessions": 10.0 * day},
                          {"finding": "Hard Parse", "pct_active_sessions": 1.0}],
        "enqueues": [
            {"enqueue": "TX-Transaction", "waits": waits, "time_s": 60.0 * day, "avg_wait_ms": 1.5},
            {"enqueue": "TM-DML", "waits": 6, "time_s": None, "avg_wait_ms": None},
        ],
        "file_io": [{"filename": "/u01/sales01.dbf", "reads": reads, "writes": 600, "avg_read_ms": 2.0}],
        "sga_advice": [{"size_mb": size, "db_time_s": 1000.0 * day / size} for size in (512, 1024, 2048)],
        "buffer_cache_advice": [
            {"pool": "D", "size_mb": 8, "physical_reads": 100}, {"pool": "D", "size_mb": 16, "physical_reads": 50},
            {"pool": "K", "size_mb": 16, "physical_reads": 7},
        ],
        **(extra or {}),
    }  # fmt: skip


def compared() -> IntervalDiff:
    after = report(4, 1200, 1200, {"undo": [{"undo_tablespace": "2", "undo_blocks": 5}]})
    return compare_intervals(interval_of(report(3, 600, 6000)), interval_of(after))


def test_what_is_counted_is_compared_per_second_and_an_average_as_it_is() -> None:
    details: Any = diff_document(compared())["details"]
    first, second = details["enqueues"]
    assert first["name"] == "TX-Transaction"
    assert (first["waits"]["before"]["per_second"], first["waits"]["after"]["per_second"]) == (1.0, 2.0)
    assert first["time_s"]["change_per_second"] == pytest.approx(0.1)
    assert first["avg_wait_ms"] == {"before": 1.5, "after": 1.5, "ratio": 1.0}
    assert second["avg_wait_ms"]["before"] is None
    assert details["addm_findings"][0]["pct_active_sessions"]["after"] == 40.0


def test_a_list_that_one_report_lacks_is_not_compared() -> None:
    assert "undo" not in compared().details


def test_advice_is_a_curve_of_bytes_and_of_one_pool() -> None:
    advice: Any = diff_document(compared())["advice"]
    assert advice["buffer_cache_advice"]["before"] == ((8 * 2**20, 100.0), (16 * 2**20, 50.0))
    assert len(advice["sga_advice"]["after"]) == 3


def test_the_page_draws_the_advice_with_a_line_for_each_side() -> None:
    page = diff_page(compared())
    (figure,) = re.findall(r'<figure class="chart" id="advice-sga_advice-\d+">.*?</figure>', page, re.DOTALL)
    assert figure.count("<polyline") == 2
    assert "estimated DB time (s)" in figure
    assert "TX-Transaction" in page


def test_the_names_of_files_are_masked() -> None:
    masked = mask_interval(interval_of(report(3, 1, 1)), Pseudonyms("salt"))
    (name,) = masked.details["file_io"]
    assert name.startswith("file_")
    assert "TX-Transaction" in masked.details["enqueues"]


def test_each_value_that_is_compared_is_one_that_is_read() -> None:
    read = {one.name: {each.name for each in one.fields} for one in SECTIONS}
    for section in SECTIONS:
        read[section.name] |= {each.name for each in section.fields}
    for one in DETAILS:
        named = {name for name in (*one.keys, *one.totals, *one.gauges) if not name.startswith("pct_")}
        assert named <= read[one.section], one.section


def test_a_statement_that_samples_show_in_both_is_not_called_new() -> None:
    seen = {"ash_sql_by_event": {"n, db file sequential read": {"pct_event": 44.0}, "n, CPU": {"pct_event": 2.0}}}
    new = Statement("n", executions=4e4, elapsed_s=4000.0, gets=9e6, text="select n")
    before, after = interval(details=seen), interval(day=1, cpu=5000, statements=(new,), details=seen)
    diff = compare_intervals(before, after)
    sentence = cause_sentence(diff.causes[0], diff)
    assert "is in the lists of statements only after: though active session history saw it in both" in sentence
    assert "(46 % of the samples before, 46 % after)" in sentence
    unseen = compare_intervals(replace(before, details={}), after)
    assert "is new among the top statements" in cause_sentence(unseen.causes[0], unseen)
