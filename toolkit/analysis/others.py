"""What the cells beside the recommended one gain or lose: higher degrees, other factors, other groups."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from toolkit.analysis.cells import RunAnalysis, other_levels, scale_level
from toolkit.analysis.doubts import cpu_count
from toolkit.analysis.fit import ConfidenceInterval
from toolkit.model.values import Cell, spell_level
from toolkit.units import number, ratio, time_change

_MOST_SENTENCES = 6
"""Of one kind; the table of cells has the rest."""


def named(cell: Cell) -> str:
    """Name a cell in a sentence."""
    return f"`{cell}`"


def inconclusive(interval: ConfidenceInterval | None) -> bool:
    """Whether an interval of a ratio leaves open which is faster."""
    return interval is None or interval.holds(1.0)


def span(interval: ConfidenceInterval | None) -> str:
    """Spell an interval of a ratio of times in words."""
    return "no interval" if interval is None else time_change(interval.low, interval.high)


def lowest_of_its_kind(found: RunAnalysis, cell: Cell, measured: Sequence[Cell]) -> Cell | None:
    """Return the measured cell of the lowest level of the scale factor at equal other levels."""
    kind = other_levels(cell, found.scale)
    levels = [
        (level, other)
        for other in measured
        if other_levels(other, found.scale) == kind and (level := scale_level(other, found.scale)) is not None
    ]
    return min(levels, key=lambda pair: pair[0])[1] if levels else None


def beyond(found: RunAnalysis, measured: Sequence[Cell], chosen: Cell) -> tuple[list[str], frozenset[float]]:
    """Say what degrees above the chosen one gain or lose, and return the levels spoken of.

    Levels beyond the CPUs of the host get that as the reason, in the same sentence.
    """
    start, cpus = scale_level(chosen, found.scale), cpu_count(found)
    kind = other_levels(chosen, found.scale)
    above = {
        cell: (level, interval)
        for cell in measured
        if start is not None
        and other_levels(cell, found.scale) == kind
        and (level := scale_level(cell, found.scale) or 0.0) > start
        and (interval := found.ratio(cell, chosen)[1]) is not None
        and interval.high >= 1
    }
    said = []
    for loses in (False, True):
        for too_many in (False, True):
            chosen_ones = {
                level: interval
                for level, interval in above.values()
                if (interval.low > 1) is loses and (cpus is not None and level > cpus) is too_many
            }
            if chosen_ones:
                said.append(_beyond(found.scale or "", chosen_ones, loses, cpus if too_many else None))
    return said, frozenset(level for level, _ in above.values())


def _beyond(scale: str, levels: dict[float, ConfidenceInterval], loses: bool, cpus: int | None) -> str:
    many = len(levels) > 1
    who = f"{scale} {', '.join(spell_level(level) for level in levels)}"
    where = "" if cpus is None else f"lie{'' if many else 's'} beyond the {number(cpus)} CPUs and "
    what = (
        ("lose time" if many else "loses time") if loses else f"gain{'' if many else 's'} nothing that can be told"
    )
    spans = "; ".join(
        f"{f'{scale} {spell_level(level)}: ' if many else ''}{span(interval)}"
        for level, interval in levels.items()
    )
    return f"{who} {where}{what} ({spans})"


def other_groups(found: RunAnalysis, measured: Sequence[Cell], chosen: Cell) -> list[str]:
    """Say what the scale factor gains at each setting of the other factors, but for that of the chosen cell."""
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in measured:
        groups.setdefault(other_levels(cell, found.scale), []).append(cell)
    groups.pop(other_levels(chosen, found.scale), None)
    said = []
    for group in groups.values() if found.scale else ():
        quickest = min(group, key=lambda cell: median(found.by_cell[cell].seconds))
        base = lowest_of_its_kind(found, quickest, group)
        if base is not None and base != quickest:
            said.append(f"{named(quickest)} is the best of its kind: {_against(found, quickest, base)}")
    return _shortened(said)


def _against(found: RunAnalysis, cell: Cell, base: Cell) -> str:
    """Say how much faster a cell is than another, or that it cannot be told."""
    value, interval = found.ratio(base, cell)
    if interval is None or inconclusive(interval):
        return f"no difference from {named(base)} can be told ({span(found.ratio(cell, base)[1])})"
    return f"{ratio(value)} as fast as {named(base)} ({ratio(interval.low)} to {ratio(interval.high)})"


def other_factors(found: RunAnalysis, measured: Sequence[Cell], chosen: Cell) -> list[str]:
    """Say what another level of each other factor costs at the chosen cell's levels."""
    said = []
    for cell in measured:
        changed = [name for name in chosen if cell.get(name) != chosen[name]]
        if len(changed) == 1 and changed[0] != found.scale:
            name = changed[0]
            _, interval = found.ratio(cell, chosen)
            swap = f"`{name}={spell_level(cell[name])}` instead of `{name}={spell_level(chosen[name])}`"
            said.append(f"{swap} {_swapped(interval)} ({span(interval)})")
    return _shortened(said)


def _swapped(interval: ConfidenceInterval | None) -> str:
    if interval is None or inconclusive(interval):
        return "cannot be told apart"
    return "takes longer" if interval.low > 1 else "takes less"


def _shortened(said: list[str]) -> list[str]:
    more = len(said) - _MOST_SENTENCES
    return said if more <= 0 else [*said[:_MOST_SENTENCES], f"{more} more of this kind stand in the table"]
