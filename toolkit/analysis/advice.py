"""What to make of a run: sentences made from its numbers, never more certain than its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from toolkit.analysis.cells import RunAnalysis, analyse, other_levels, scale_level
from toolkit.analysis.doubts import (
    beyond_cpus,
    noise_sentence,
    outcomes_not_ok,
    spelled_time,
    super_linear,
)
from toolkit.analysis.fit import Interval
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell, spell_level
from toolkit.model.words import Mode
from toolkit.units import change, ratio

_MOST_SENTENCES = 6
"""Of one kind; the table of cells has the rest."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What a run tells.

    Attributes:
        headline: the one sentence to read.
        sentences: what stands behind it, most useful first.
        doubts: what to keep in mind: outcomes that are not ok, noise, an odd baseline.
        best: the cell with the lowest median.
        recommended: the smallest degree whose time cannot be told from the best; None when nothing can be told.
    """

    headline: str
    sentences: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    best: Cell | None = None
    recommended: Cell | None = None


def advice(run: RunRecord) -> Advice:
    """Say which cell of a run is better, by how much, and what cannot be told."""
    return advise(analyse(run))


def advise(found: RunAnalysis) -> Advice:
    """Say it of a run that was analysed already."""
    measured = [summary.cell for summary in found.cells if summary.n]
    doubts = (*outcomes_not_ok(found), *super_linear(found), *beyond_cpus(found))
    if not measured:
        return Advice("no trial ended well: there is no time to go by", doubts=doubts)
    if len(measured) == 1:
        return Advice(_alone(found, measured[0]), doubts=doubts, best=measured[0])
    best = min(measured, key=lambda cell: median(found.by_cell[cell].seconds))
    doubts = (*doubts, *noise_sentence(found))
    if found.fit.value_interval(best) is None:
        return Advice(_untellable(found, best), doubts=doubts, best=best)
    return _told(found, measured, best, doubts)


def _alone(found: RunAnalysis, cell: Cell) -> str:
    summary = found.by_cell[cell]
    if found.run.head.mode is Mode.JOB or summary.n == 1:
        return f"done once, {spelled_time(summary)}: one execution says nothing about spread"
    return f"{_name(cell)} takes {spelled_time(summary)}; there is no other cell to compare it with"


def _untellable(found: RunAnalysis, best: Cell) -> str:
    lead = f"{_name(best)} has the lowest time, {spelled_time(found.by_cell[best])}"
    return f"nothing can be told from so few repeats; {lead}, which may be chance"


def _told(found: RunAnalysis, measured: list[Cell], best: Cell, doubts: tuple[str, ...]) -> Advice:
    recommended = _recommended(found, measured, best)
    group = [cell for cell in measured if _others(found, cell) == _others(found, recommended)]
    sentences = [
        _use(found, measured, recommended, best),
        *_beyond(found, group, recommended),
        *_other_groups(found, measured, best),
        *_other_factors(found, measured, best),
    ]
    headline = _headline(found, measured, best)
    return Advice(headline, tuple(filter(None, sentences)), doubts, best, recommended)


def _headline(found: RunAnalysis, measured: list[Cell], best: Cell) -> str:
    took = f"{_name(best)} has the lowest median, {spelled_time(found.by_cell[best])}"
    if all(_untold(found.ratio(cell, best)[1]) for cell in measured if cell != best):
        return f"nothing can be told apart at this noise: {took}, but no other cell is told to be slower"
    base = _base(found, best, measured)
    if base == best:
        return f"{took}: no gain from a higher {found.scale} can be told"
    if base is None:
        base = max(measured, key=lambda cell: median(found.by_cell[cell].seconds))
    return f"{took}: {_against(found, best, base)}"


def _against(found: RunAnalysis, cell: Cell, base: Cell) -> str:
    """Say how much faster a cell is than another, or that it cannot be told."""
    value, interval = found.ratio(base, cell)
    if interval is None or interval.holds(1.0):
        return f"no difference from {_name(base)} can be told{_range(interval)}"
    return f"{ratio(value)} as fast as {_name(base)} ({ratio(interval.low)} to {ratio(interval.high)})"


def _recommended(found: RunAnalysis, measured: list[Cell], best: Cell) -> Cell:
    """Return the smallest degree whose time cannot be told from the best; the faster one at equal degree."""
    level = scale_level(best, found.scale)
    if level is None:
        return best
    tied = [
        (degree, median(found.by_cell[cell].seconds), cell.levels, cell)
        for cell in measured
        if (degree := scale_level(cell, found.scale)) is not None
        and degree <= level
        and (cell == best or _untold(found.ratio(cell, best)[1]))
    ]
    return min(tied, key=lambda entry: entry[:2])[3]


def _untold(interval: Interval | None) -> bool:
    return interval is None or interval.holds(1.0)


def _use(found: RunAnalysis, measured: list[Cell], recommended: Cell, best: Cell) -> str:
    level = scale_level(recommended, found.scale)
    if level is None:
        return ""
    if recommended != best:
        _, interval = found.ratio(recommended, best)
        why = f"the smallest {found.scale} whose time cannot be told from the best{_range(interval)}"
    elif any((scale_level(cell, found.scale) or level) < level for cell in measured):
        why = f"every smaller {found.scale} measured is slower"
    else:
        why = f"a higher {found.scale} is not told to be faster"
    return f"use {_name(recommended)}: {why}"


def _beyond(found: RunAnalysis, group: list[Cell], recommended: Cell) -> list[str]:
    """Say where more degree stops gaining, and where it loses."""
    start = scale_level(recommended, found.scale)
    above = [cell for cell in group if start is not None and (scale_level(cell, found.scale) or 0) > start]
    lost = {
        cell: interval for cell in above if (interval := found.ratio(cell, recommended)[1]) and interval.low > 1
    }
    flat = [cell for cell in above if cell not in lost and _untold(found.ratio(cell, recommended)[1])]
    said = []
    if flat:
        spans = "; ".join(f"{_level(found, cell)}: {_span(found.ratio(cell, recommended)[1])}" for cell in flat)
        said.append(f"beyond {_level(found, recommended)} no further gain can be told ({spans})")
    if lost:
        spans = "; ".join(f"{_level(found, cell)}: {_span(interval)}" for cell, interval in lost.items())
        said.append(f"more than {_level(found, recommended)} loses time ({spans})")
    return said


def _other_groups(found: RunAnalysis, measured: list[Cell], best: Cell) -> list[str]:
    """Say what the scale factor gains at each setting of the other factors, but for that of the best cell."""
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in measured:
        groups.setdefault(_others(found, cell), []).append(cell)
    groups.pop(_others(found, best), None)
    said = []
    for group in groups.values() if found.scale else ():
        quickest = min(group, key=lambda cell: median(found.by_cell[cell].seconds))
        base = _base(found, quickest, group)
        if base is not None and base != quickest:
            said.append(f"{_name(quickest)} is the best of its kind: {_against(found, quickest, base)}")
    return _shortened(said)


def _other_factors(found: RunAnalysis, measured: list[Cell], best: Cell) -> list[str]:
    """Say what another level of each other factor costs at the best cell's levels."""
    said = []
    for cell in measured:
        changed = [name for name in best if cell.get(name) != best[name]]
        if len(changed) == 1 and changed[0] != found.scale:
            name = changed[0]
            _, interval = found.ratio(cell, best)
            swap = f"`{name}={spell_level(cell[name])}` instead of `{name}={spell_level(best[name])}`"
            told = "cannot be told apart" if _untold(interval) else "takes longer"
            said.append(f"{swap} {told} ({_span(interval)})")
    return _shortened(said)


def _shortened(said: list[str]) -> list[str]:
    more = len(said) - _MOST_SENTENCES
    return said if more <= 0 else [*said[:_MOST_SENTENCES], f"{more} more of this kind stand in the table"]


def _base(found: RunAnalysis, cell: Cell, measured: list[Cell]) -> Cell | None:
    """Return the measured cell of the lowest level of the scale factor at equal other levels."""
    levels = [
        (level, other)
        for other in measured
        if _others(found, other) == _others(found, cell) and (level := scale_level(other, found.scale)) is not None
    ]
    return min(levels, key=lambda pair: pair[0])[1] if levels else None


def _others(found: RunAnalysis, cell: Cell) -> tuple[object, ...]:
    return other_levels(cell, found.scale)


def _name(cell: Cell) -> str:
    return f"`{cell}`"


def _level(found: RunAnalysis, cell: Cell) -> str:
    return f"{found.scale} {spell_level(cell[found.scale])}" if found.scale else _name(cell)


def _span(interval: Interval | None) -> str:
    return "no interval" if interval is None else f"{change(interval.low)} to {change(interval.high)} time"


def _range(interval: Interval | None) -> str:
    return "" if interval is None else f" ({_span(interval)})"
