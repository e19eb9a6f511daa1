"""Which configurations to use: only what the intervals of a run show.

A smaller level is passed over when it is shown to be worse than the best by more than what matters (the worth),
never because its median is. All intervals of a run hold together at 95 % (`fit`), so that befalls a level that is
good enough in at most one of twenty runs, however many configurations there are. Other factors have no small and
large: of them everything is chosen that was not told apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.analysis.cells import RunAnalysis, scale_level
from toolkit.analysis.fit import ConfidenceInterval
from toolkit.analysis.surface import best_predicted
from toolkit.design.build import DETECT_PCT
from toolkit.errors import ToolkitError
from toolkit.model.values import Cell, Level, spell_level
from toolkit.model.words import Outcome

WORTH_PCT = 5.0
"""By how many per cent a larger level must be better to be worth it."""

_MOST_PCT = 1000.0
_PERCENTAGE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%?\s*", re.ASCII)
_MOST_LEVELS = 5


@dataclass(frozen=True, slots=True)
class GoodEnough:
    """What to use, of the configurations that were granted what they asked for.

    Attributes:
        best: the one with the best median, which may be chance.
        cells: the smallest level that is good enough, at each setting of the other factors that was not told
            apart, the best median first; nothing where the run shows neither a difference nor that there is none.
        differs: whether any configuration is shown to be worse than the best.
    """

    best: Cell
    cells: tuple[Cell, ...]
    differs: bool


def choose(found: RunAnalysis, granted: Sequence[Cell], worth_pct: float = WORTH_PCT) -> GoodEnough:
    """Choose among measured configurations, at least two.

    Args:
        found: the run, with intervals.
        granted: the configurations that may be chosen.
        worth_pct: by how much a larger level must be better to be worth it.
    """
    best = best_of(found, granted)
    worth = 1 + worth_pct / 100
    against_best = {cell: found.ratio(cell, best)[1] for cell in granted}
    enough = [cell for cell in granted if not shown_worse(against_best[cell], worth)]
    smallest = min(
        (level for cell in enough if (level := scale_level(cell, found.scale)) is not None), default=None
    )
    first = best_of(found, [cell for cell in enough if scale_level(cell, found.scale) == smallest])
    alike = [
        cell
        for cell in granted
        if cell != first
        and scale_level(cell, found.scale) == smallest
        and not shown_worse(found.ratio(cell, first)[1])
    ]
    differs = any(map(shown_worse, against_best.values()))
    chosen = (first, *sorted(alike, key=found.rank))
    if not differs and not _none_matters(found, granted, chosen, worth):
        chosen = ()
    return GoodEnough(best, chosen, differs)


def best_of(found: RunAnalysis, among: Sequence[Cell]) -> Cell:
    """Return the best of measured configurations; a search runs some so seldom that their median may be luck."""
    if found.run.head.experiment.search:
        return best_predicted(found, among)
    return min(among, key=found.rank)


def granted_cells(found: RunAnalysis) -> list[Cell]:
    """Return the measured cells of which no trial was downgraded."""
    return [one.cell for one in found.cells if one.n and Outcome.DOWNGRADED not in one.outcomes]


def shown_worse(interval: ConfidenceInterval | None, than: float = 1.0) -> bool:
    """Whether an interval of badness lies above a ratio."""
    return interval is not None and interval.low > than


@dataclass(frozen=True, slots=True)
class NotExcluded:
    """What may be better than the chosen configuration by more than matters, for all that the run shows.

    Attributes:
        than: the chosen configuration that may be worse.
        cell: the one that may be better.
        interval: of how many times better the chosen one is, reaching far below 1.
    """

    than: Cell
    cell: Cell
    interval: ConfidenceInterval


def not_excluded(
    found: RunAnalysis, rivals: Sequence[Cell], chosen: Sequence[Cell], worth_pct: float = WORTH_PCT
) -> NotExcluded | None:
    """Return the greatest gain that the run leaves open: more than is worth it, and than it was asked to detect.

    Args:
        found: the run, with intervals.
        rivals: the configurations that might have been chosen.
        chosen: those that were, the best median first.
        worth_pct: by how much a larger level must be better to be worth it.
    """
    if not chosen:
        return None
    matters = 1 + max(worth_pct, found.run.head.experiment.detect_pct or DETECT_PCT) / 100
    first = chosen[0]
    pairs = (*((first, cell) for cell in rivals), *((cell, first) for cell in chosen[1:]))
    bounds = [
        NotExcluded(than, cell, interval)
        for than, cell in pairs
        if than != cell and (interval := found.ratio(cell, than)[1]) is not None
    ]
    widest = min(bounds, key=lambda each: each.interval.low, default=None)
    return widest if widest is not None and widest.interval.low * matters < 1 else None


def _none_matters(found: RunAnalysis, granted: Sequence[Cell], chosen: Sequence[Cell], worth: float) -> bool:
    """Whether it is shown that none is better than the chosen ones by more than the worth."""
    first = chosen[0]
    better = (found.ratio(first, cell)[1] for cell in granted if cell != first)
    worse = (found.ratio(cell, first)[1] for cell in chosen[1:])
    return all(interval is not None and interval.high <= worth for interval in (*better, *worse))


def parse_worth(text: str) -> float:
    """Read a percentage such as `5%`.

    Raises:
        ToolkitError: TK-0102.
    """
    match = _PERCENTAGE.fullmatch(text)
    if match is None or float(match[1]) > _MOST_PCT:
        raise ToolkitError(
            f"`{text[:40]}` is not a gain",
            code="TK-0102",
            hint=f"give the gain in percent that a larger degree must bring, 0 to {_MOST_PCT:g}, such as `5%`",
        )
    return float(match[1])


def spelled_choice(found: RunAnalysis, chosen: Sequence[Cell]) -> str:
    """Name the chosen cells: what they share, and `any of` the levels that were not told apart."""
    if len(chosen) == 1:
        return f"`{chosen[0]}`"
    ordered = [summary.cell for summary in found.cells if summary.cell in set(chosen)]
    levels = {name: list(dict.fromkeys(cell.get(name, "") for cell in ordered)) for name in ordered[0]}
    if math.prod(map(len, levels.values())) != len(ordered):
        return f"any of {_few([f'`{cell}`' for cell in ordered])}"
    shared = ",".join(f"{name}={spell_level(only[0])}" for name, only in levels.items() if len(only) == 1)
    free = [_any_of(name, several) for name, several in levels.items() if len(several) > 1]
    return " with ".join([*([f"`{shared}`"] if shared else []), " and ".join(free)])


def _any_of(name: str, levels: Sequence[Level]) -> str:
    return f"any of {_few([f'`{name}={spell_level(level)}`' for level in levels])}"


def _few(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LEVELS
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_MOST_LEVELS])} and {more:,} more"
