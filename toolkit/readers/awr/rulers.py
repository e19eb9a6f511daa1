"""Lines cut where a ruler of dashes says; a name too long for its column stands in a line of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

Spans = Sequence[tuple[int, int]]
_DIGIT = re.compile(r"[\d.,#+-]")


def cut(line: str, spans: Spans) -> tuple[str, ...]:
    """Return what stands left of the first column, and each column.

    A number wider than its column reaches into the one on its left, and is left whole.
    """
    cells = []
    begin = 0
    for place, (left, _) in enumerate(spans):
        edge = left
        while place and edge > begin and line[edge - 1 : edge].strip() and line[edge : edge + 1].strip():
            if not _DIGIT.fullmatch(line[edge - 1]):
                edge = left
                break
            edge -= 1
        cells.append(line[begin:edge].strip())
        begin = edge
    cells.append(line[begin:].strip())
    return tuple(cells)


def stacked_rows(lines: Sequence[str], spans: Spans, names: Spans | None) -> list[tuple[str, ...]]:
    """Return a row per line of figures.

    Args:
        lines: The body of a table.
        spans: The columns of its figures.
        names: The columns of the lines of names, where a ruler of their own announces them.

    Returns:
        Rows with the cells of the line of names first; without `names` one cell, empty where no name stands.
    """
    rows: list[tuple[str, ...]] = []
    named: tuple[str, ...] = ("",) * (len(names) if names else 1)
    for line in lines:
        if names is not None and not _figures(line, spans):
            named = cut(line, names)[1:]
        elif names is None and _runs_across(line, spans):
            named = (line.strip(),)
        else:
            cells = cut(line, spans)
            rows.append((*named, *cells[1:]) if any(named) or names else cells)
            named = ("",) * len(named)
    return rows


def _figures(line: str, spans: Spans) -> bool:
    """Whether a line is one of figures: each column holds a number or nothing."""
    cells = cut(line, spans)
    return not cells[0] and all(not cell or cell[0] in "0123456789.,#-+N" for cell in cells[1:])


def _runs_across(line: str, spans: Spans) -> bool:
    """Whether words run over the edge of a column, as only a name in a line of its own does."""
    return (
        not any(char.isdigit() for char in line[-3:])
        and sum(
            bool(line[begin - 1 : begin].strip() and line[begin : begin + 1].strip())
            for begin, _ in spans
            if begin
        )
        > 0
    )
