"""Beside each cell's time what it cost, and two cells' costs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.analysis.compare import Comparison
from toolkit.analysis.costs import MEASURES, Cost, costs_of
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.report.tables import Table, left, right, table
from toolkit.units import MISSING, quantity, ratio, seconds

_CAPTION = "What each cell cost, medians"


def cost_table(run: RunRecord, ordered: Sequence[Cell]) -> Table:
    """Return time, throughput, CPU, input and output, redo, temporary space and the longest wait of each cell.

    Throughput is 1 for the first cell. A measure that no source tells has no column; without any there is no row.
    """
    costs = costs_of(run)
    shown = [costs[cell] for cell in ordered if cell in costs]
    used = [name for name in MEASURES if any(name in cost.measures for cost in shown)]
    waits = any(cost.waits for cost in shown)
    if not used:
        return table(_CAPTION, left("cell"), ())
    first = shown[0].throughput
    rows = [
        [
            str(cost.cell),
            seconds(cost.seconds),
            ratio(cost.throughput / first if cost.throughput and first else None),
            *(_spell(cost.measures.get(name), name) for name in used),
            *([_wait(cost)] if waits else []),
        ]
        for cost in shown
    ]
    columns = left("cell") + right("median", "throughput", *used) + (left("waited most for") if waits else [])
    return table(_CAPTION, columns, rows)


def _spell(value: float | None, measure: str) -> str:
    return MISSING if value is None else quantity(value, MEASURES[measure][0])


def _wait(cost: Cost) -> str:
    return ", ".join(f"{name} {seconds(spent)}" for name, spent in cost.waits[:1])


def cost_pairs(comparison: Comparison, names: Sequence[str]) -> Table:
    """Return the costs of both sides of each pair, for each million rows where rows are counted.

    A measure told by different sources on the two sides is left out: they count differently.
    """
    before, after = costs_of(comparison.a), costs_of(comparison.b)
    rows = []
    for name, pair in zip(names, comparison.pairs, strict=True):
        a, b = before.get(pair.cell_a), after.get(pair.cell_b)
        if a is None or b is None:
            continue
        rows += [_pair_row(name, measure, a, b) for measure in MEASURES if _alike(measure, a, b)]
    columns = left("cell", "cost") + right("A", "B", "B / A")
    return table("What both cost, medians", columns, rows)


def _alike(measure: str, a: Cost, b: Cost) -> bool:
    return measure in a.measures and a.sources.get(measure) == b.sources.get(measure)


def _pair_row(name: str, measure: str, a: Cost, b: Cost) -> list[str]:
    each = a.per_million(measure), b.per_million(measure)
    normal = None not in each
    one, other = each if normal else (a.measures[measure], b.measures[measure])
    said = f"{measure} per million rows" if normal else measure
    times = other / one if one and other is not None else None
    return [name, said, _spell(one, measure), _spell(other, measure), ratio(times)]
