"""Metrics of cells: medians over the trials that count, and pairs of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from toolkit.model.records import RunRecord
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
            f"{snapshot_sources[1]}: they count "
            "differently, so only what both have from the same source is compared",
        )
    only_a, only_b = sorted(sources_a - sources_b), sorted(sources_b - sources_a)
    if not only_a and not only_b:
        return ()
    parts = [
        f"{', '.join(f'`{name}`' for name in names)} only in run `{run.head.run}`"
        for run, names in ((a, only_a), (b, only_b))
        if names
    ]
    return (f"metrics of different providers are left out: {'; '.join(parts)}",)


def _sources(run: RunRecord) -> set[str]:
    return {provider_of(metric.source) for trial in run.trials if trial.counts for metric in trial.metrics}
