"""Builds what the store keeps: a few words instead of forty fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from toolkit.model.experiment import Experiment
from toolkit.model.records import ItemRecord, Metric, RunHead, Sample, TrialRecord
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import Cell, CommandFactor, Factor, QualifiedName
from toolkit.model.words import Effect, Keep, Mode, ObjectKind, Outcome, RunState

BEGAN = datetime(2026, 11, 21, 5, 13, 42, 123456, tzinfo=UTC)
RUN = "20261121-051342-ab3f"
CELL = Cell((("degree", 4), ("compression", "none"), ("ratio", 2.0), ("bare", True)))


def experiment(**fields: object) -> Experiment:
    whole = Experiment(
        target="dwh",
        operation="ctas",
        options={"source": "GLENNF.GTEST", "columns": ("a", "b"), "bare": True, "sample": 12.5, "n": 3},
        factors=(
            Factor("degree", (1, 2, 4)),
            Factor("read_ahead", (256, 1024), "sectors", CommandFactor(read=("blockdev", "--getra"))),
        ),
        mode=Mode.MEASUREMENT,
        repeat=3,
        warmup=1,
        name="gtest-ctas",
        label="größer \u2603",
        seed=2**40,
        keep=Keep.BEST,
        budget_seconds=7200.0,
    )
    return replace(whole, **fields)  # type: ignore[arg-type]


def head(run: str = RUN, *, later: float = 0, label: str | None = "nightly", **fields: object) -> RunHead:
    whole = RunHead(
        run=run,
        experiment=experiment(label=label),
        engine="duckdb",
        state=RunState.RUNNING,
        began_at=BEGAN + timedelta(seconds=later),
        operation_version=2,
        tool_version="0.1.0",
        trials_planned=12,
        target_name="duckdb file",
    )
    return replace(whole, **fields)  # type: ignore[arg-type]


def trial(number: int = 1, attempt: int = 1, **fields: object) -> TrialRecord:
    """A trial with something in every field."""
    began = BEGAN + timedelta(seconds=number)
    whole = TrialRecord(
        trial=number,
        attempt=attempt,
        cell=CELL,
        repeat=1,
        outcome=Outcome.DOWNGRADED,
        began_at=began,
        ended_at=began + timedelta(seconds=1.5),
        reason="4 asked for, 2 granted",
        error_code="ORA-12827",
        elapsed_seconds=1.4142135623730951,
        requested_degree=4,
        granted_degree=2,
        granted_source="v$pq_sesstat",
        effective_parallelism=1.9,
        rows=2**40,
        bytes=2**41,
        disturbed=True,
        phases={"prepare": 0.25, "evidence": 0.125},
        items=(item("IX_B"), item("IX_A", outcome=Outcome.FAILED, elapsed_seconds=None, reason="no space")),
        metrics=(Metric("redo", 1e12, "bytes", "vstat"), Metric("redo", -0.5, "bytes", "awr")),
        samples=series("cpu", (1.0, 5.0, 2.0)),
    )
    return replace(whole, **fields)  # type: ignore[arg-type]


def item(label: str, **fields: object) -> ItemRecord:
    whole = ItemRecord(label, Outcome.OK, elapsed_seconds=0.5, begin_seconds=0.1, worker=1, rows=7, bytes=2**33)
    return replace(whole, **fields)  # type: ignore[arg-type]


def series(name: str, values: Iterable[float]) -> tuple[Sample, ...]:
    return tuple(Sample(float(at), name, value) for at, value in enumerate(values))


def step(name: str = "DBATK_1", *, scratch: bool = True, undo: tuple[str, ...] = ("DROP TABLE x",)) -> Step:
    """A step that creates a table."""
    ref = ObjectRef(ObjectKind.TABLE, QualifiedName(name, "GLENNF"), scratch, QualifiedName("GTEST", "GLENNF"))
    return Step("duckdb/ctas", "CREATE TABLE x", effect=Effect.CREATES, object=ref, undo=undo)
