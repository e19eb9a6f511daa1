"""What each cell of a run measured: medians, intervals, speed-up, efficiency, outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from toolkit.analysis.fit import CONFIDENCE, SEQUENTIAL_CONFIDENCE, ConfidenceInterval, Fit, fit
from toolkit.analysis.judged import Judged, judged_of
from toolkit.model.experiment import Experiment
from toolkit.model.operations import degree_factor
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell, Level
from toolkit.model.words import OperationName, Outcome


@dataclass(frozen=True, slots=True)
class CellSummary:
    """The numbers of one cell.

    `n` counts trials that are ok, no warm-up and not disturbed; `values` are theirs in the order run, of what the
    operation is judged by; `median` and the interval are in its unit. Without enough trials for an interval its
    ends are None. Speed-up, how many times better, is against the lowest level of the scale factor at equal other
    levels; efficiency divides it by the ratio of the levels.
    """

    cell: Cell
    n: int
    median: float | None
    ci_low: float | None
    ci_high: float | None
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    efficiency: float | None
    values: tuple[float, ...]
    outcomes: Mapping[Outcome, int]
    disturbed: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RunAnalysis:
    """A run with its fitted model and its cells, for those who need more than the summaries."""

    run: RunRecord
    fit: Fit
    cells: tuple[CellSummary, ...]
    scale: str | None
    by_cell: Mapping[Cell, CellSummary]
    judged: Judged

    def ratio(self, cell: Cell, base: Cell) -> tuple[float, ConfidenceInterval | None]:
        """Return how many times worse `cell` is than `base` (medians) and its interval, blocks taken out.

        Of times it is that of `cell` over that of `base`; of what should be high, the other way round.
        """
        over, under = self.judged.worse_first(cell, base)
        value = median(self.by_cell[over].values) / median(self.by_cell[under].values)
        interval = None
        if cell != base:
            centre, noise = self.fit.ratio(over, under)
            found = noise.interval(centre)
            interval = None if found is None else found.reaching(value)
        return value, interval

    def detectable_pct(self, among: Sequence[Cell]) -> float | None:
        """Return the difference in per cent that is detected with a power of 80 % between any two configurations.

        A search runs most of them once, and again what matters: there, it is that between the two run most.
        """
        counts = sorted(self.by_cell[cell].n for cell in among)
        repeats = counts[-2] if self.run.head.experiment.search and len(counts) > 1 else counts[0]
        return self.fit.noise.times(2 / repeats).minimum_detectable_pct()

    def rank(self, cell: Cell) -> float:
        """Return a number that is the lower the better the median of a measured cell is."""
        return self.judged.rank(median(self.by_cell[cell].values))

    def in_front(self, cell: Cell) -> str:
        """Name what is best of a configuration.

        A downgraded one may have a better median and is passed over; in a search so may one that was run once.
        """
        better = [summary for summary in self.cells if summary.n and self.rank(summary.cell) < self.rank(cell)]
        if any(Outcome.DOWNGRADED not in summary.outcomes for summary in better):
            return "best prediction"
        return f"{self.judged.best_median}{' of those not downgraded' if better else ''}"


def cells(run: RunRecord) -> tuple[CellSummary, ...]:
    """Summarise the cells of a run, in the order of the factors' levels."""
    return analyse(run).cells


def analyse(run: RunRecord) -> RunAnalysis:
    """Fit the model to a run and summarise its cells."""
    by_cell: dict[Cell, list[TrialRecord]] = {}
    for trial in run.trials:
        by_cell.setdefault(trial.cell, []).append(trial)
    ordered = in_order(by_cell, run.head.experiment)
    judged = judged_of(run)
    fitted = fit(judged.observed(run.trials), confidence_of(run))
    scale = scale_factor(ordered, run.head.experiment.operation)
    bases = _bases(ordered, scale)
    raw = {cell: tuple(seen.value for seen in judged.observed(by_cell[cell])) for cell in ordered}
    gains = {cell: _gain(cell, bases.get(cell), scale, raw, fitted, judged) for cell in ordered}
    found = tuple(_summary(cell, by_cell[cell], raw[cell], fitted, gains[cell]) for cell in ordered)
    return RunAnalysis(run, fitted, found, scale, {summary.cell: summary for summary in found}, judged)


def confidence_of(run: RunRecord) -> float:
    """Return the level of each interval of a run: greater where it was looked at several times."""
    return CONFIDENCE if run.head.experiment.detect_pct is None else SEQUENTIAL_CONFIDENCE


def scale_factor(found: Iterable[Cell], operation: OperationName) -> str | None:
    """Return the factor that says how many work at once, if the cells have it: speed-up is against its lowest."""
    cells_found = tuple(found)
    factor = degree_factor(operation, cells_found[0] if cells_found else ())
    return factor if factor and any(factor in cell for cell in cells_found) else None


def scale_level(cell: Cell, scale: str | None) -> float | None:
    """Return the level of the scale factor as a number; None for `default`, `auto` or no such factor."""
    level = cell.get(scale, None) if scale else None
    return float(level) if isinstance(level, int | float) and not isinstance(level, bool) else None


def other_levels(cell: Cell, scale: str | None) -> tuple[tuple[str, Level], ...]:
    """Return the levels of all factors but the scale factor."""
    return tuple(pair for pair in cell.levels if pair[0] != scale)


def in_order(found: Iterable[Cell], experiment: Experiment) -> list[Cell]:
    """Sort cells by the position of their levels in the experiment; levels it does not list come last."""
    places = {
        factor.name: {level: place for place, level in enumerate(factor.levels)} for factor in experiment.factors
    }

    def key(cell: Cell) -> tuple[int, ...]:
        return tuple(places.get(name, {}).get(level, len(places)) for name, level in cell.levels)

    return sorted(found, key=key)


def _bases(found: Iterable[Cell], scale: str | None) -> dict[Cell, Cell]:
    """Map each cell to the one its speed-up is against: a group of one has nothing to compare with."""
    groups: dict[tuple[tuple[str, Level], ...], list[Cell]] = {}
    for cell in found:
        groups.setdefault(other_levels(cell, scale), []).append(cell)
    bases: dict[Cell, Cell] = {}
    for group in groups.values():
        numbered = [(level, cell) for cell in group if (level := scale_level(cell, scale)) is not None]
        if numbered and len(group) > 1:
            lowest = min(numbered, key=lambda pair: pair[0])[1]
            bases.update(dict.fromkeys(group, lowest))
    return bases


@dataclass(frozen=True, slots=True)
class _Gain:
    speedup: float | None = None
    interval: ConfidenceInterval | None = None
    efficiency: float | None = None


def _gain(
    cell: Cell,
    base: Cell | None,
    scale: str | None,
    raw: Mapping[Cell, tuple[float, ...]],
    fitted: Fit,
    judged: Judged,
) -> _Gain:
    if base is None or not raw[cell] or not raw[base]:
        return _Gain()
    over, under = judged.worse_first(base, cell)
    speedup = median(raw[over]) / median(raw[under])
    level, lowest = scale_level(cell, scale), scale_level(base, scale)
    efficiency = speedup * lowest / level if level and lowest else None
    if cell == base:
        return _Gain(speedup, None, efficiency)
    centre, noise = fitted.ratio(over, under)
    interval = noise.interval(centre)
    return _Gain(speedup, None if interval is None else interval.reaching(speedup), efficiency)


def _summary(
    cell: Cell, trials: list[TrialRecord], values: tuple[float, ...], fitted: Fit, gain: _Gain
) -> CellSummary:
    middle = median(values) if values else None
    interval = None if middle is None else fitted.value_interval(cell)
    if interval is not None and middle is not None:
        interval = interval.reaching(middle)
    return CellSummary(
        cell=cell,
        n=len(values),
        median=middle,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        speedup=gain.speedup,
        speedup_low=gain.interval.low if gain.interval else None,
        speedup_high=gain.interval.high if gain.interval else None,
        efficiency=gain.efficiency,
        values=values,
        outcomes=dict(Counter(trial.outcome for trial in trials if not trial.warmup)),
        disturbed=sum(trial.disturbed and not trial.warmup for trial in trials),
        reasons=tuple(dict.fromkeys(trial.reason for trial in trials if trial.reason)),
    )
