"""Objects of whole-schema work in reports, and the load of others in comparisons."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.make import sweep
from toolkit.analysis.compare import compare
from toolkit.model.records import ItemRecord, Metric, RunRecord
from toolkit.model.words import Outcome
from toolkit.report.metric_tables import object_table
from toolkit.report.render import render


def worked_on(*items: ItemRecord) -> RunRecord:
    run = sweep({1: [1.0, 1.1, 1.2]})
    return replace(run, trials=tuple(replace(trial, items=items) for trial in run.trials))


BIG = ItemRecord("s.big", Outcome.OK, elapsed_seconds=3.0)
SMALL = ItemRecord("s.small", Outcome.OK, elapsed_seconds=1.0)
BROKEN = ItemRecord("s.<b>bad</b>", Outcome.FAILED, reason="no space", error_code="53100")


def test_objects_are_listed_slowest_first_with_their_share() -> None:
    found = object_table(worked_on(SMALL, BIG))
    assert [row[0] for row in found.rows] == ["s.big", "s.small"]
    assert [row[2] for row in found.rows] == ["75 %", "25 %"]


def test_an_object_that_failed_stands_first_with_its_reason() -> None:
    found = object_table(worked_on(BIG, SMALL, BROKEN))
    assert found.rows[0][0] == "s.<b>bad</b>"
    assert "no space" in found.rows[0][3]
    assert found.marks[0] == "failed"


def test_a_trial_of_one_object_needs_no_table() -> None:
    assert object_table(worked_on(BIG)).rows == ()


def test_long_lists_are_cut_and_say_so() -> None:
    items = [ItemRecord(f"s.t{n}", Outcome.OK, elapsed_seconds=1.0 + n) for n in range(50)]
    found = object_table(worked_on(*items), most=20)
    assert len(found.rows) == 20
    assert "20 of 50" in found.caption


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_every_readable_format_shows_the_objects(format: str) -> None:
    shown = render(worked_on(BIG, SMALL), format)
    assert "s.big" in shown
    assert "<b>bad" not in render(worked_on(BIG, BROKEN), "html")


def loaded(pct: float, run: str) -> RunRecord:
    made = sweep({1: [1.0, 1.1, 1.2], 2: [0.6, 0.7, 0.65]})
    metrics = (Metric("host_others_pct", pct, "%", "osstat"),)
    trials = tuple(replace(trial, metrics=metrics) for trial in made.trials)
    return replace(made, trials=trials, head=replace(made.head, run=run))


@pytest.mark.parametrize(("of_a", "of_b", "said"), [(2, 3, False), (40, 41, True), (2, 19, True)])
def test_a_comparison_says_when_others_had_the_host(of_a: float, of_b: float, said: bool) -> None:
    a, b = loaded(of_a, "20260101-000000-aaaa"), loaded(of_b, "20260101-000001-bbbb")
    notes = compare(a, b).notes
    assert any("others used" in note for note in notes) is said
