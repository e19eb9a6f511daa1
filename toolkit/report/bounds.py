"""What bounds a curve: the ceilings of the host, and the scaling law with the interval of its peak."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from toolkit.analysis.cells import CellSummary, RunAnalysis
from toolkit.analysis.laws import FittedLaw
from toolkit.model.ceilings import Ceiling
from toolkit.report.chart import LEFT, RIGHT, ChartLine, Scale
from toolkit.units import percent, quantity

_SEEN = 0.05
"""Part of the fastest time below which a ceiling is too far away to be drawn."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The least time that a ceiling of the host allows, and how much of the ceiling the fastest reached."""

    seconds: float
    legend: str
    note: str

    def line(self, y: float) -> ChartLine:
        """Draw it across the plot."""
        return ChartLine(((LEFT, y), (RIGHT, y)), 0, "ceiling")


def floors_of(found: RunAnalysis) -> tuple[Floor, ...]:
    """Return what the ceilings of the host mean for the work of a run, where they are near enough to be seen."""
    measured = [summary for summary in found.cells if summary.n and summary.median]
    if not found.judged.is_time or not measured:
        return ()
    best = min(measured, key=lambda summary: found.rank(summary.cell))
    floors = []
    for ceiling in found.run.ceilings:
        moved = _moved(found, best, ceiling)
        floor = moved / ceiling.value
        if moved and best.median and floor >= _SEEN * best.median:
            share = percent(100 * floor / best.median)
            rate = quantity(ceiling.value, ceiling.unit)
            floors.append(
                Floor(
                    floor,
                    f"at the ceiling of {ceiling.title}, {rate}",
                    f"{best.cell} reached {share} of the {rate} that {ceiling.title} can do",
                )
            )
    return tuple(floors)


def _moved(found: RunAnalysis, best: CellSummary, ceiling: Ceiling) -> float:
    trials = [trial for trial in found.run.trials if trial.cell == best.cell and trial.counts]
    for name in ceiling.metrics:
        values = [each.value for trial in trials for each in trial.metrics if each.name == name]
        if values:
            return median(values)
    return 0.0


_LAW_POINTS = 40


def law_lines(x: Scale, y: Scale, law: FittedLaw | None) -> tuple[ChartLine, ...]:
    """Draw the law through its levels, and the interval of its peak, as far as that is on the axis."""
    if law is None or not x.logarithmic:
        return ()
    low, high = min(law.cells), max(law.cells)
    levels = [low * (high / low) ** (at / _LAW_POINTS) for at in range(_LAW_POINTS + 1)]
    base = law.law.times(low)
    curve = ChartLine(tuple((x(level), y(base / law.law.times(level))) for level in levels), 5, "law")
    if math.isinf(law.law.peak) or law.law.peak > high:
        return (curve,)
    at = y(base / law.law.times(law.law.peak))
    ends = [x(min(max(end, low), high)) for end in (law.law.peak_low, law.law.peak_high)]
    return curve, ChartLine(((ends[0], at), (ends[1], at)), 5, "ceiling")


def law_name(law: FittedLaw) -> str:
    """Name a law for a legend."""
    peak = law.law.peak
    return law.name if math.isinf(peak) or peak > max(law.cells) else f"{law.name}; dashed: its peak at 95 %"
