"""The rows of an HTML table as they are read, and the table they make: headings found, spans spread out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolkit.readers.awr.sections import section_of
from toolkit.readers.awr.tables import AwrTable

_MOST_COLUMNS = 400
Span = tuple[int, int]
"""How many columns and rows a cell spans."""
SINGLE: Span = (1, 1)
HEADING, DATA = "h", "d"


@dataclass(slots=True)
class Rows:
    """Rows that hold cells.

    `shapes` has a letter for each cell of a row, `HEADING` or `DATA`; `spans` the places in a row, by its number,
    that take more than one column or row.
    """

    cells: list[Sequence[str]] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    spans: dict[int, list[tuple[int, Span]]] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin a row."""
        if not self.shapes or self.shapes[-1]:
            self.cells.append([])
            self.shapes.append("")

    def add(self, words: str, letter: str, span: Span) -> None:
        """Add a cell to the row begun last."""
        row = self.cells[-1]
        assert isinstance(row, list)
        if span != SINGLE:
            self.spans.setdefault(len(self.cells) - 1, []).append((len(row), span))
        row.append(words)
        self.shapes[-1] += letter

    def end(self) -> None:
        """Take back a last row that was begun and holds nothing."""
        if self.shapes and not self.shapes[-1]:
            del self.cells[-1], self.shapes[-1]


def span_of(wide: str | None, high: str | None) -> Span:
    """Return what the attributes of a cell say; what is no small number counts as one."""
    return _small(wide), _small(high)


def _small(text: str | None) -> int:
    text = (text or "").strip()
    return (
        min(int(text), _MOST_COLUMNS) if text.isascii() and text.isdigit() and len(text) < 6 and int(text) else 1
    )


def squeezed(text: str) -> str:
    """Return a text with single blanks only."""
    return " ".join(text.split())


def table_of(section: str, title: str, rows: Rows) -> AwrTable | None:
    """Return the table that rows make, None where there are none."""
    count = len(rows.cells)
    if not count:
        return None
    heads = 0
    while heads < count and HEADING in rows.shapes[heads] and _is_heading(rows.shapes[heads], rows.cells[heads]):
        heads += 1
    if heads == count and heads > 1:
        heads = 1
    cells = _spread(rows, heads)
    heads = heads or _unmarked_headings(rows, cells)
    return AwrTable(section, squeezed(title), _joined(cells[:heads]), cells[heads:])


def _is_heading(shape: str, cells: Sequence[str]) -> bool:
    return all(letter == HEADING or not cell for letter, cell in zip(shape, cells, strict=True))


def _spread(rows: Rows, heads: int) -> list[tuple[str, ...]]:
    first = max(heads, 1)
    if rows.spans and max(rows.spans) >= first:
        first = len(rows.cells)
    return [*_grid(rows, first), *map(tuple, rows.cells[first:])] if rows.spans else list(map(tuple, rows.cells))


def _unmarked_headings(rows: Rows, cells: Sequence[tuple[str, ...]]) -> int:
    """Return how many first rows are headings though nothing marks them: words only, above at least one number."""
    heads = 2 if 0 in rows.spans and len(cells) > 2 else 1
    if len(cells) <= heads or len(cells[0]) < 2 or any(_begins_data(row) for row in cells[:heads]):
        return 0
    below = cells[heads : heads + 3]
    return heads if any(cell[:1].isdigit() for row in below for cell in row) or _are_headings(cells[0]) else 0


def _begins_data(row: tuple[str, ...]) -> bool:
    return any(cell[:1].isdigit() or cell.endswith(":") for cell in row)


def _are_headings(row: tuple[str, ...]) -> bool:
    return section_of(AwrTable("", "", row, ())) is not None


def _grid(rows: Rows, count: int) -> list[tuple[str, ...]]:
    """Return the first rows with every cell in each place it spans; a heading counts for all its columns."""
    pending: dict[int, tuple[str, int]] = {}
    grid: list[tuple[str, ...]] = []
    for number in range(count):
        if number not in rows.spans and not pending:
            grid.append(tuple(rows.cells[number]))
            continue
        spans = dict(rows.spans.get(number, ()))
        everywhere = HEADING in rows.shapes[number] or not grid
        line: list[str] = []
        for index, cell in enumerate(rows.cells[number]):
            _hang(line, pending)
            wide, high = spans.get(index, SINGLE)
            for place in range(wide):
                if high > 1 and len(line) < _MOST_COLUMNS:
                    pending[len(line)] = (cell, high - 1)
                line.append(cell if not place or everywhere else "")
                if len(line) >= _MOST_COLUMNS:
                    break
        _hang(line, pending)
        grid.append(tuple(line))
    return grid


def _hang(line: list[str], pending: dict[int, tuple[str, int]]) -> None:
    while (above := pending.get(len(line))) is not None:
        cell, left = above
        if left > 1:
            pending[len(line)] = (cell, left - 1)
        else:
            del pending[len(line)]
        line.append(cell)


def _joined(heads: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if len(heads) == 1:
        return heads[0]
    width = max((len(head) for head in heads), default=0)
    columns = []
    for place in range(width):
        words = dict.fromkeys(head[place] for head in heads if place < len(head) and head[place])
        columns.append(" ".join(words))
    return tuple(columns)
