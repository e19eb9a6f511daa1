"""Metrics of configurations: medians over the trials that count, pairs of them, and what each configuration cost.

Costs are CPU, input and output, redo, temporary space, and the main wait. Each measure is taken from the first
source that has it: our own sessions before the whole instance, the database before the host. A measure that no
source has is missing, never zero. Normalised figures as in published studies: throughput against the first
configuration (1), and costs per million rows, so that runs of another size or configuration can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from toolkit.model.operations import declaration
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell


@dataclass(frozen=True, slots=True)
class CellMetric:
    """The median of a metric over the counted trials of a cell, with its least and greatest value."""

    name: str
    unit: str
    source: str
    n: int
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MetricPair:
    """A metric that both cells have from the same source; `ratio` is B over A, None when A is zero."""

    name: str
    unit: str
    source: str
    median_a: float
    median_b: float

    @property
    def ratio(self) -> float | None:
        return self.median_b / self.median_a if self.median_a else None


SNAPSHOT_SOURCE = "snapshot_provider"
"""In the environment of a run: by what its snapshots were taken."""


def provider_of(source: str) -> str:
    """Return the provider a metric came from: `pgstat` of `pgstat_io_16`, the file of a release."""
    return source.partition("_")[0] or source


def metrics_by_cell(run: RunRecord) -> dict[Cell, tuple[CellMetric, ...]]:
    """Return the metrics of every cell in one pass over the trials."""
    values: dict[Cell, dict[tuple[str, str, str], list[float]]] = {}
    for trial in run.trials:
        if not trial.counts:
            continue
        of_cell = values.setdefault(trial.cell, {})
        for metric in trial.metrics:
            of_cell.setdefault((metric.name, metric.unit, provider_of(metric.source)), []).append(metric.value)
    return {
        cell: tuple(
            CellMetric(*key, len(found), median(found), min(found), max(found)) for key, found in of_cell.items()
        )
        for cell, of_cell in values.items()
    }


def metric_pairs(a: Iterable[CellMetric], b: Iterable[CellMetric]) -> tuple[MetricPair, ...]:
    """Pair the metrics of two cells that have the same name, unit and source."""
    others = {(found.name, found.unit, found.source): found for found in b}
    return tuple(
        MetricPair(found.name, found.unit, found.source, found.median, others[key].median)
        for found in a
        if (key := (found.name, found.unit, found.source)) in others
    )


def left_out(a: RunRecord, b: RunRecord) -> tuple[str, ...]:
    """Return a sentence when the runs have metrics of different providers, which are not compared."""
    sources_a, sources_b = _sources(a), _sources(b)
    snapshot_sources = a.environment.get(SNAPSHOT_SOURCE), b.environment.get(SNAPSHOT_SOURCE)
    if None not in snapshot_sources and snapshot_sources[0] != snapshot_sources[1]:
        return (
            f"run `{a.head.run}` has snapshots by {snapshot_sources[0]}, run `{b.head.run}` by "
            f"{snapshot_sources[1]}: they count differently, so only metrics from the same source are compared",
        )
    only_a, only_b = sorted(sources_a - sources_b), sorted(sources_b - sources_a)
    if not only_a and not only_b:
        return ()
    parts = [
        f"{', '.join(f'`{name}`' for name in names)} only in run `{run.head.run}`"
        for run, names in ((a, only_a), (b, only_b))
        if names
    ]
    return (f"metrics of different providers are omitted: {'; '.join(parts)}",)


def _sources(run: RunRecord) -> set[str]:
    return {provider_of(metric.source) for trial in run.trials if trial.counts for metric in trial.metrics}


# -- costs ------------------------------------------------------------------------------------------------------
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
"""By measure its unit, and the metrics that tell it, the best first; all cells are told by the same one."""
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
    """Return what each cell of a run cost, for cells with at least one trial that counts and has a time."""
    measured = metrics_by_cell(run)
    trials: dict[Cell, list[TrialRecord]] = {}
    for trial in run.trials:
        if trial.counts and trial.elapsed_seconds is not None:
            trials.setdefault(trial.cell, []).append(trial)
    sources = {measure: names for measure, (_, names) in MEASURES.items()}
    if declaration(run.head.experiment.operation).backs_up:
        sources = dict(_OF_BACKUPS)
    named = [{one.name for one in measured.get(cell, ())} for cell in trials]
    telling = {  # releases count different things, and one column shows one thing
        measure: max(names, key=lambda name: sum(name in each for each in named))
        for measure, names in sources.items()
        if any({*names} & each for each in named)
    }
    return {cell: _cost(cell, found, measured.get(cell, ()), telling) for cell, found in trials.items()}


def cpu_ratio(run: RunRecord, cell: Cell, base: Cell) -> float | None:
    """Return the CPU time of a cell over that of another; None where it is not known of both by one source."""
    costs = costs_of(replace(run, trials=tuple(trial for trial in run.trials if trial.cell in (cell, base))))
    own, other = costs.get(cell), costs.get(base)
    if own is None or other is None or own.sources.get("CPU") != other.sources.get("CPU"):
        return None
    after, before = own.measures.get("CPU"), other.measures.get("CPU")
    return after / before if after and before else None


def _cost(
    cell: Cell,
    trials: Sequence[TrialRecord],
    metrics: Sequence[CellMetric],
    telling: Mapping[str, str],
) -> Cost:
    by_name = {one.name: one for one in metrics}
    measures: dict[str, float] = {}
    sources: dict[str, str] = {}
    for measure, name in telling.items():
        if found := by_name.get(name):
            measures[measure], sources[measure] = found.median, f"{found.name}, {found.source}"
    if "CPU" not in telling and (cpu := _cpu_seconds(trials)) is not None:
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
    """Return the three longest waits: of dbatk's own sessions if they are known, else of the instance."""
    events = [one for one in metrics if one.name.startswith("event ") and one.median > 0]
    own = [one for one in events if one.name.endswith(" (session)")]
    longest = sorted(own or events, key=lambda one: -one.median)[:3]
    return tuple((one.name.removeprefix("event ").removesuffix(" (session)"), one.median) for one in longest)
