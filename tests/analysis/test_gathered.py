"""Trials that gathered another number of tables do not compare, and a run says so."""

from __future__ import annotations

from dataclasses import replace

from tests.report.make import sweep
from toolkit.analysis.advice import advice
from toolkit.model.records import ItemRecord, Metric, RunRecord
from toolkit.model.words import Outcome
from toolkit.report.metric_tables import object_table


def gathered(counts: dict[int, int], **others: float) -> RunRecord:
    """Make a sweep of which each degree gathered so many tables."""
    run = sweep({degree: [1.0, 1.1, 1.2] for degree in counts})
    return replace(
        run,
        trials=tuple(
            replace(
                trial,
                metrics=(
                    Metric("tables_gathered", counts[int(trial.cell["degree"])], "tables", "statistics"),
                    *(Metric(name, value, "tables", "statistics") for name, value in others.items()),
                ),
            )
            for trial in run.trials
        ),
    )


def test_cells_that_gathered_as_many_tables_are_not_doubted() -> None:
    assert not [doubt for doubt in advice(gathered({1: 12, 4: 12})).doubts if "tables" in doubt]


def test_cells_that_gathered_fewer_tables_do_not_compare() -> None:
    (doubt,) = [doubt for doubt in advice(gathered({1: 12, 4: 11})).doubts if "tables" in doubt]
    assert "11 at `degree=4`, 12 at `degree=1`" in doubt and "cannot be compared" in doubt


def test_locks_that_changed_meanwhile_are_said() -> None:
    (doubt,) = [
        doubt
        for doubt in advice(gathered({1: 12, 4: 12}, locked_before=0, locked_after=2)).doubts
        if "locked" in doubt
    ]
    assert doubt.endswith("changed during the run: 0 to 2")


def test_a_schema_is_not_listed_beside_its_own_tables() -> None:
    items = (
        ItemRecord("APP", Outcome.OK, elapsed_seconds=4.1),
        ItemRecord("APP.BIG", Outcome.OK, elapsed_seconds=3.0),
        ItemRecord("APP.SMALL", Outcome.OK, elapsed_seconds=1.0),
        ItemRecord("SALES", Outcome.OK, elapsed_seconds=4.0),
    )
    run = sweep({1: [1.0, 1.1]})
    found = object_table(replace(run, trials=tuple(replace(trial, items=items) for trial in run.trials)))
    assert [row[0] for row in found.rows] == ["SALES", "APP.BIG", "APP.SMALL"]
