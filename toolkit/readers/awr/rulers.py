"""Lines cut where a ruler of dashes says; a name too long for its column stands in a line of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

Spans = Sequence[tuple[int, int]]
_DIGIT = re.compile(r"[\d.,+-]")
_FIGURE = re.compile(r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?[KMGT%]?|N/A|#+")


def cut(line: str, spans: Spans) -> tuple[str, ...]:
    """Return what stands left of the first column, and each column.

    A number wider than its column reaches into the one on its left, and is left whole; crosses, which stand for
    such a number, do so by themselves.
    """
    cells = []
    begin = 0
    for place, (left, _) in enumerate(spans):
        edge = _edge(line, begin, left) if place else left
        cells.append(line[begin:edge].strip())
        begin = edge
    cells.append(line[begin:].strip())
    return tuple(cells)


def _edge(line: str, begin: int, left: int) -> int:
    """Return where the value begins that stands in the column which begins at `left`."""
    crosses = line[left : left + 1] == "#"
    edge = left
    while edge > begin and line[edge - 1 : edge].strip() and line[edge : edge + 1].strip():
        if (line[edge - 1] == "#") != crosses:
            return edge if crosses else left
        if not crosses and not _DIGIT.fullmatch(line[edge - 1]):
            return left
        edge -= 1
    return edge


def stacked_rows(lines: Sequence[str], spans: Spans, names: Spans | None) -> list[tuple[str, ...]]:
    """Return a row per line of figures.

    Args:
        lines: The body of a table.
        spans: The columns of its figures.
        names: The columns of the lines of names, where a ruler of their own announces them.

    Returns:
        Rows with the cells of the line of names first; without `names` one cell, empty where no name stands. A
        name whose figures a page break cut off is a row of its own.
    """
    rows: list[tuple[str, ...]] = []
    named: tuple[str, ...] = ("",) * (len(names) if names else 1)
    first = ""
    for line in lines:
        if names is not None and not figures(line, spans):
            named = cut(line, names)[1:]
            named = (first, *named[1:]) if not named[0] else named
            first = named[0]
        elif names is None and _runs_across(line, spans):
            named = (line.strip(),)
        else:
            cells = cut(line, spans)
            if names is None and rows and _goes_on(cells, rows[-1], spans[-1]):
                rows[-1] = (*rows[-1][:-1], rows[-1][-1] + cells[-1])
                continue
            rows.append((*named, *cells[1:]) if any(named) or names else cells)
            named = ("",) * len(named)
    if names is not None and any(named):
        rows.append((*named, *("" for _ in spans)))
    return rows


def _goes_on(cells: Sequence[str], above: Sequence[str], last: tuple[int, int]) -> bool:
    """Whether a line only goes on with the last column, which the line above filled."""
    return bool(cells[-1]) and not any(cells[:-1]) and len(above[-1]) >= last[1] - last[0]


def figures(line: str, spans: Spans) -> bool:
    """Whether a line is one of figures: each column holds a number or nothing."""
    cells = cut(line, spans)
    return not cells[0] and all(not cell or cell[0] in "0123456789.,#-+N" for cell in cells[1:])


def _runs_across(line: str, spans: Spans) -> bool:
    """Whether words run over the edge of a column, as only a name in a line of its own does."""
    return any(
        line[begin - 1 : begin].strip() and line[begin : begin + 1].strip() for begin, _ in spans if begin
    ) and not any(_FIGURE.fullmatch(word) for word in re.split(r"\s+|(?<=\d)(?=#)", line))
