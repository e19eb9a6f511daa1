"""What a cell cost beside its time: CPU, input and output, redo, temporary space, and what it waited for most.

Each measure is taken from the first source that has it: our own sessions before the whole instance, the database
before the host. A measure that no source tells is not there, never zero. Normalised figures as the published
studies have them: throughput against the first cell (1), and costs per million rows, so that runs of other size
or configuration stand side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from toolkit.analysis.metrics import CellMetric, metrics_by_cell
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell

_MILLION = 1e6
MEASURES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "CPU": ("s", ("CPU used by this session (session)", "DB CPU (session)", "CPU of the statement", "DB CPU")),
    "read": (
        "bytes",
        ("physical read total bytes (session)", "physical read total bytes", "io_read_bytes",
         "host_disk_read_bytes"),
    ),
    "written": (
        "bytes",
        ("physical write total bytes (session)", "physical write total bytes", "io_write_bytes",
         "host_disk_write_bytes"),
    ),
    "redo": ("bytes", ("redo size (session)", "redo size", "wal_bytes")),
    "temp": ("bytes", ("temp written", "temp_bytes", "temp_peak_bytes", "db_temp_bytes")),
}  # fmt: skip
"""By measure its unit, and the metrics that tell it, the best first."""
_OF_BACKUPS: Mapping[str, tuple[str, ...]] = {
    "CPU": ("program_cpu_seconds", "db_cpu_seconds", "DB CPU"),
    "read": ("bytes_read", "physical read total bytes", "io_read_bytes", "host_disk_read_bytes"),
    "written": ("bytes_written", "physical write total bytes", "io_write_bytes", "host_disk_write_bytes"),
}
"""A backup is made by sessions and programs of its own: what our session counts is nothing of it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one cell cost: medians over the trials that count."""

    cell: Cell
    seconds: float
    rows: float | None
    measures: Mapping[str, float]
    sources: Mapping[str, str]
    waits: tuple[tuple[str, float], ...] = ()

    @property
    def throughput(self) -> float | None:
        """Rows per second; executions per second where rows are not counted."""
        return (self.rows or 1.0) / self.seconds if self.seconds else None

    def per_million(self, measure: str) -> float | None:
        """Return a measure for each million rows; None where rows are not counted."""
        value = self.measures.get(measure)
        return value / self.rows * _MILLION if value is not None and self.rows else None


def costs_of(run: RunRecord) -> dict[Cell, Cost]:
    """Return what each cell of a run cost, for cells with at least one trial that counts."""
    measured = metrics_by_cell(run)
    trials: dict[Cell, list[TrialRecord]] = {}
    for trial in run.trials:
        if trial.counts:
            trials.setdefault(trial.cell, []).append(trial)
    sources = {measure: names for measure, (_, names) in MEASURES.items()}
    if run.head.experiment.operation == "backup":
        sources = dict(_OF_BACKUPS)
    return {cell: _cost(cell, found, measured.get(cell, ()), sources) for cell, found in trials.items()}


def _cost(
    cell: Cell, trials: Sequence[TrialRecord], metrics: Sequence[CellMetric], told: Mapping[str, Sequence[str]]
) -> Cost:
    by_name = {one.name: one for one in metrics}
    measures: dict[str, float] = {}
    sources: dict[str, str] = {}
    for measure, names in told.items():
        found = next((by_name[name] for name in names if name in by_name), None)
        if found is not None:
            measures[measure], sources[measure] = found.median, f"{found.name}, {found.source}"
    if "CPU" not in measures and (cpu := _cpu_seconds(trials)) is not None:
        measures["CPU"], sources["CPU"] = cpu, "effective parallelism times elapsed time"
    rows = [float(trial.rows) for trial in trials if trial.rows]
    seconds = median(trial.elapsed_seconds for trial in trials if trial.elapsed_seconds is not None)
    return Cost(cell, seconds, median(rows) if rows else None, measures, sources, _waits(metrics))


def _cpu_seconds(trials: Sequence[TrialRecord]) -> float | None:
    found = [
        trial.effective_parallelism * trial.elapsed_seconds
        for trial in trials
        if trial.effective_parallelism is not None and trial.elapsed_seconds is not None
    ]
    return median(found) if found else None


def _waits(metrics: Sequence[CellMetric]) -> tuple[tuple[str, float], ...]:
    """Return the three longest waits: of our own sessions where they are told, else of the instance."""
    events = [one for one in metrics if one.name.startswith("event ") and one.median > 0]
    own = [one for one in events if one.name.endswith(" (session)")]
    longest = sorted(own or events, key=lambda one: -one.median)[:3]
    return tuple((one.name.removeprefix("event ").removesuffix(" (session)"), one.median) for one in longest)
