"""What came of a run in one line."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.analysis.advice import advise, none_better, open_gain
from toolkit.analysis.cells import RunAnalysis, analyse
from toolkit.analysis.choice import WORTH_PCT, granted_cells
from toolkit.analysis.doubts import lowest_of_its_kind, spelled_difference
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
    cell = chosen[0]
    base = lowest_of_its_kind(found, cell, measured) or measured[0]
    left = advice.unsure
    may = "" if left is None else f", {_short(left.cell)} may bring {open_gain(found, left)}"
    value, interval = found.ratio(base, cell)
    if cell == base:
        told = f"{_short(cell)}, {none_better(found, granted_cells(found), cell, WORTH_PCT)}"
    elif interval is None or interval.low <= 1:
        told = f"{_short(cell)}, no measurable difference from {_short(base)}"
    else:
        span = f"{number(interval.low)} to {number(interval.high)}"
        told = f"{_short(cell)} is {number(value)} {found.judged.times_as} as {_short(base)} ({span})"
    return f"{told}{may}, {repeats}"


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
    fewest = min(found.by_cell[cell].n for cell in cells)
    smallest = found.fit.noise.times(2 / fewest).minimum_detectable_pct()
    if smallest is None or smallest > _WORTH_SAYING_PCT:
        return ""
    return f", only {spelled_difference(smallest)} or more would have shown"


_WORTH_SAYING_PCT = 1000.0
_BUSY_PCT = 25.0
