"""What came of a run in one line."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.analysis.advice import advise, compared_with, none_better, open_gain
from toolkit.analysis.cells import RunAnalysis, analyse
from toolkit.analysis.choice import WORTH_PCT, NotExcluded, granted_cells, spelled_choice
from toolkit.analysis.doubts import spelled_difference
from toolkit.analysis.fit import FEWEST_DEGREES
from toolkit.analysis.noise import load_of
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.units import counted, number, percent


def verdict_line(run: RunRecord) -> str:
    """Say in one line what a sweep told: by how much the recommended one is better, with its interval."""
    found = analyse(run)
    return f"{run.head.experiment.operation}: {_verdict(run, found)}"


def _verdict(run: RunRecord, found: RunAnalysis) -> str:
    advice = advise(found)
    chosen = advice.recommended
    measured = [summary.cell for summary in found.cells if summary.n]
    repeats = counted(max((summary.n for summary in found.cells), default=0), "repeat")
    if not chosen:
        return f"inconclusive{_busy(run)}{_least(found, granted_cells(found) or measured)}, {repeats}"
    cell, granted = chosen[0], granted_cells(found)
    base = compared_with(found, granted, cell)
    value, interval = found.ratio(base, cell)
    use = spelled_choice(found, chosen).replace("`", "").replace("=", " ").replace(",", ", ").replace("  ", " ")
    if cell == base:
        told = f"{use}, {none_better(found, granted, cell, WORTH_PCT)}"
    elif interval is None or interval.low <= 1:
        told = f"{use}, no measurable difference from {_short(base)}"
    else:
        span = f"{number(interval.low)} to {number(interval.high)}"
        best = "is at best" if len(chosen) > 1 else "is"
        told = f"{use} {best} {number(value)} {found.judged.times_as} as {_short(base)} ({span})"
    return f"{told}{_open(found, cell, advice.unsure)}, {repeats}"


def _open(found: RunAnalysis, chosen: Cell, left: NotExcluded | None) -> str:
    """Say what may be better than the chosen one, or worse where any of several is chosen."""
    if left is None:
        return ""
    if left.than == chosen:
        return f", {_short(left.cell)} may bring {open_gain(found, left)}"
    low = left.interval.low
    much = found.judged.change(1 / low if found.judged.by.lower_is_better else low)
    return f", {_short(left.than)} may bring {much}"


def _busy(run: RunRecord) -> str:
    """Name the load of others where it is a reason why nothing is known."""
    load = load_of(run)
    return f" while others used {percent(load)} of the CPUs" if load is not None and load > _BUSY_PCT else ""


def _short(cell: Cell) -> str:
    return str(cell).replace("=", " ").replace(",", ", ")


def _least(found: RunAnalysis, cells: Sequence[Cell]) -> str:
    """Say which difference could have been detected between the two configurations known worst."""
    if len(cells) < 2:
        return ""
    smallest = found.detectable_pct(cells)
    if found.fit.noise.degrees < FEWEST_DEGREES or smallest is None or smallest > _WORTH_SAYING_PCT:
        return ""
    return f", only {spelled_difference(smallest)} or more would have shown"


_WORTH_SAYING_PCT = 1000.0
_BUSY_PCT = 25.0
