"""Builds run records for tests: a few words instead of forty fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from toolkit.analysis.compare import Comparison, compare
from toolkit.model.experiment import Experiment
from toolkit.model.records import Metric, RunHead, RunRecord, Sample, TrialRecord
from toolkit.model.values import Cell, Factor, Level
from toolkit.model.words import EngineName, Mode, OperationName, Outcome, RunState
from toolkit.store import Store

BEGAN = datetime(2026, 11, 21, 5, 23, 7, tzinfo=UTC)


def cell(**levels: Level) -> Cell:
    return Cell(tuple(levels.items()))


def trial(
    number: int,
    of: Cell,
    repeat: int,
    elapsed: float | None,
    *,
    outcome: Outcome = Outcome.OK,
    **fields: object,
) -> TrialRecord:
    """One trial; without a time it failed unless another outcome is said."""
    began = BEGAN + timedelta(seconds=10 * number)
    degree = of.get("degree")
    made = TrialRecord(
        trial=number,
        attempt=1,
        cell=of,
        repeat=repeat,
        outcome=outcome,
        began_at=began,
        ended_at=began + timedelta(seconds=elapsed or 0.1),
        elapsed_seconds=elapsed,
        requested_degree=degree if isinstance(degree, int) else None,
        granted_degree=degree if isinstance(degree, int) else None,
        rows=1_000_000,
        bytes=64 * 2**20,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def run_of(
    trials: Iterable[TrialRecord],
    *,
    run: str = "20261121-052307-ab12",
    factors: Sequence[Factor] | None = None,
    environment: Mapping[str, str | int | float | bool | None] | None = None,
    mode: Mode = Mode.MEASUREMENT,
    label: str | None = None,
    operation: OperationName = "ctas",
    engine: EngineName = "duckdb",
    repeat: int = 3,
    **fields: object,
) -> RunRecord:
    """A run around trials; its factors are those of the cells unless said."""
    found = tuple(trials)
    experiment = Experiment(
        target="duckdb:///demo.duckdb",
        operation=operation,
        options={"source": "gtest", "table": "gtest_copy"},
        factors=tuple(factors) if factors is not None else _factors(found),
        mode=mode,
        repeat=repeat,
        warmup=1,
        label=label,
        seed=42,
    )
    head = RunHead(
        run=run,
        experiment=experiment,
        engine=engine,
        state=RunState.DONE,
        began_at=BEGAN,
        ended_at=BEGAN + timedelta(seconds=10 * (len(found) + 1)),
        trials_planned=len(found),
        trials_ended=len(found),
        tool_version="0.1.0",
        target_name="demo",
    )
    surroundings = {"cpu_count": 2, "version": "v2.0.0"} if environment is None else environment
    return replace(
        RunRecord(head=head, trials=found, environment=surroundings),
        **fields,  # type: ignore[arg-type]
    )


def sweep(times: Mapping[Level, Sequence[float | None]], factor: str = "degree", **fields: object) -> RunRecord:
    """A run over one factor; `times` holds the seconds of each level, sweep by sweep."""
    return run_of(sweep_trials({cell(**{factor: level}): seconds for level, seconds in times.items()}), **fields)  # type: ignore[arg-type]


def sweep_trials(times: Mapping[Cell, Sequence[float | None]]) -> list[TrialRecord]:
    """Trials in whole sweeps; a time of None is a failed trial."""
    made: list[TrialRecord] = []
    for repeat in range(1, max(map(len, times.values())) + 1):
        for of, seconds in times.items():
            if repeat <= len(seconds):
                elapsed = seconds[repeat - 1]
                outcome = Outcome.OK if elapsed is not None else Outcome.FAILED
                reason = None if elapsed is not None else "out of memory"
                made.append(trial(len(made) + 1, of, repeat, elapsed, outcome=outcome, reason=reason))
    return made


def calm(run: RunRecord, runs: int = 14) -> tuple[RunRecord, ...]:
    """Stored runs of the work of one, hardly different from each other: by them two runs can be compared."""
    return tuple(
        replace(
            run,
            head=replace(run.head, run=f"calm-{number:02}", began_at=run.head.began_at + timedelta(days=number)),
            trials=tuple(
                replace(
                    one, elapsed_seconds=one.elapsed_seconds and one.elapsed_seconds * (1 + 1e-5 * (number % 5))
                )
                for one in run.trials
            ),
        )
        for number in range(runs)
    )


def compared(a: RunRecord, b: RunRecord, **fields: object) -> Comparison:
    """Two runs compared on a machine whose runs hardly differ."""
    return compare(a, b, history=calm(a), **fields)  # type: ignore[arg-type]


def put(store: Store, run: RunRecord) -> None:
    """Store a run as one that ended."""
    store.create_run(run.head)
    for one in run.trials:
        store.begin_trial(run.head.run, one.trial, one.attempt, one.cell, one.repeat, one.began_at)
        store.end_trial(run.head.run, one)
    store.end_run(run.head.run, run.head.state, run.head.began_at)


def metric(name: str, value: float, unit: str = "bytes", source: str = "duckstat") -> Metric:
    return Metric(name, value, unit, source)


def host_samples(seconds: int, busy: float) -> tuple[Sample, ...]:
    """A second-by-second trace of CPU and disk."""
    return tuple(
        Sample(float(second), name, value)
        for second in range(seconds)
        for name, value in (
            ("host_cpu_pct", min(100.0, busy + 3 * (second % 4))),
            ("host_iowait_pct", 0.0),
            ("host_disk_read_bytes_per_s", 1e6 * (second % 5)),
            ("host_disk_write_bytes_per_s", 4e7 + 1e6 * second),
            ("host_memory_used_bytes", 3e9 + 1e7 * second),
        )
    )


def _factors(trials: Iterable[TrialRecord]) -> tuple[Factor, ...]:
    levels: dict[str, dict[Level, None]] = {}
    for made in trials:
        for name, level in made.cell.items():
            levels.setdefault(name, {})[level] = None
    return tuple(Factor(name, tuple(_sorted(found))) for name, found in levels.items())


def _sorted(levels: Iterable[Level]) -> list[Level]:
    return sorted(levels, key=lambda level: (isinstance(level, str), level))  # type: ignore[arg-type,return-value]
