"""Rows of a text report: cut under the rulers of a table, and the lines that tell of one SQL statement."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

Spans = Sequence[tuple[int, int]]
_DIGIT = re.compile(r"[\d.,+-]")
_BEGINS = frozenset("0123456789.,#-+")
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
    stacked = names is None and _names_and_figures(lines, spans)
    for line in lines:
        if names is not None and not figures(line, spans):
            named = cut(line, names)[1:]
            named = (first, *named[1:]) if not named[0] else named
            first = named[0]
        elif names is None and (_runs_across(line, spans) or (stacked and not figures(line, spans))):
            named = (line.strip(),)
        else:
            cells = cut(line, spans)
            if names is None and rows and (whole := _wrapped(rows[-1], cells, spans)):
                rows[-1] = whole
                continue
            rows.append((*named, *cells[1:]) if any(named) or names else cells)
            named = ("",) * len(named)
    if names is not None and any(named):
        rows.append((*named, *("" for _ in spans)))
    return rows


def _wrapped(above: Sequence[str], cells: Sequence[str], spans: Spans) -> tuple[str, ...] | None:
    """Return the row above with the value that this line goes on with, None where the line is no such part.

    SQL*Plus breaks a value where its column ends, between words or within one. A blank at the break is not
    printed: a line that ends one before its column with a comma had one there.
    """
    filled = [place for place, cell in enumerate(cells) if cell]
    if len(filled) != 1 or filled[0] < 2:
        return None
    (place,) = filled
    width = spans[place - 1][1] - spans[place - 1][0]
    left = -len(above[place]) % width
    if not above[place] or left > 1 or (left == 1 and not above[place].endswith(",")):
        return None
    return (*above[:place], above[place] + " " * left + cells[place], *above[place + 1 :])


def figures(line: str, spans: Spans) -> bool:
    """Whether a line is one of figures: each column holds a number or nothing."""
    cells = cut(line, spans)
    return not cells[0] and all(not cell or cell[0] in _BEGINS or cell == "N/A" for cell in cells[1:])


def is_figure(word: str) -> bool:
    """Whether a word is a number as reports print it, or the crosses that stand for one."""
    return _FIGURE.fullmatch(word) is not None


def _names_and_figures(lines: Sequence[str], spans: Spans) -> bool:
    """Whether every second line is one of figures, and those above them names, some of which run across columns.

    The words of a name may stand under the columns, as if they were values: the lines around it tell.
    """
    pairs = list(zip(lines[::2], lines[1::2], strict=False))
    return any(_runs_across(name, spans) for name in lines[::2]) and all(
        figures(values, spans) and not figures(name, spans) for name, values in pairs
    )


def _runs_across(line: str, spans: Spans) -> bool:
    """Whether words run over the edge of a column, as only a name in a line of its own does."""
    return any(
        line[begin - 1 : begin].strip() and line[begin : begin + 1].strip() for begin, _ in spans if begin
    ) and not any(is_figure(word) for word in re.split(r"\s+|(?<=\d)(?=#)", line))


# -- statements -------------------------------------------------------------------------------------------------
_IDENTITY = re.compile(r"[0-9a-z]{13}|\d{4,10}")
_MODULE = re.compile(r"\s*Module:\s*(.*)")
_CONTAINER = re.compile(r"\s*PDB:\s*(.*)")
_WORD = re.compile(r"[\w$#]+")
_LAST = re.compile(r"[\w$#]+$")
_FIRST = re.compile(r"[\w$#]+")
_NARROW = 64
"""Statspack breaks SQL at 64 characters, AWR near 80."""


@dataclass(frozen=True, slots=True)
class StatementLine:
    """A line of the list, whole and cut into columns."""

    line: str
    cells: tuple[str, ...]


@dataclass(slots=True)
class _Row:
    cells: tuple[str, ...]
    module: str = ""
    container: str = ""
    text: list[str] = field(default_factory=list)

    def finished(self, width: int, known: Container[str]) -> tuple[str, ...]:
        whole = "".join(
            f"{line} " if _parts(line, following, width, known) else line
            for line, following in zip_longest(self.text, self.text[1:], fillvalue="")
        ).strip()
        return (*self.cells, self.module, self.container, whole)


def _parts(line: str, following: str, width: int, known: Container[str]) -> bool:
    """Whether a space stood where a line is broken.

    Space at the end of a line is lost, and AWR squeezes it within a line as well: then only words that are whole
    elsewhere tell where one of them was broken.
    """
    if len(line) >= width:
        return False
    last, first = _LAST.search(line), _FIRST.match(following)
    if last is None or first is None:
        return len(line) < width - 1
    joined = last[0] + first[0]
    if joined in known or last[0].endswith("_"):
        return False
    return len(line) < width - 1 or (last[0] in known and first[0] in known)


def _known(rows: Iterable[_Row]) -> set[str]:
    """Return the words that stand whole within a line."""
    lines = (line for row in rows for line in row.text)
    return {word for line in lines for word in _WORD.findall(line)[1:-1]}


def is_metrics(cells: Sequence[str]) -> bool:
    """Whether cells are the figures of a statement: numbers, and an id or hash value last."""
    last = next((cell for cell in reversed(cells) if cell), "")
    return (
        _IDENTITY.fullmatch(last) is not None
        and any(cell for cell in cells[:-1])
        and all(not cell or cell[0] in _BEGINS or cell == "N/A" for cell in cells[:-1])
    )


def statement_rows(lines: Iterable[StatementLine], width: int) -> list[tuple[str, ...]]:
    """Return a row per statement: its figures, module, container and text; a text before all figures is a row."""
    rows = [_Row(("",) * width)]
    for one in lines:
        if not one.line.strip():
            continue
        if is_metrics(one.cells):
            rows.append(_Row(one.cells))
        elif match := _MODULE.fullmatch(one.line):
            rows[-1].module = match[1]
        elif match := _CONTAINER.fullmatch(one.line):
            rows[-1].container = match[1]
        else:
            rows[-1].text.append(one.line)
    longest = max((len(line) for row in rows for line in row.text), default=0)
    wrapped = longest if longest > _NARROW else _NARROW
    if not rows[0].text:
        rows = rows[1:]
    known = _known(rows)
    return [row.finished(wrapped, known) for row in rows]
