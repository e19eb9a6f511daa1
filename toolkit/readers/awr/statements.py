"""The SQL lists of a text report: a line of figures, then module, container and the text in lines of one width."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

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
    figures = cells[: len(cells) - 3] if len(cells) > 8 and not _IDENTITY.fullmatch(cells[-1]) else cells
    last = next((cell for cell in reversed(figures) if cell), "")
    return (
        _IDENTITY.fullmatch(last) is not None
        and any(cell for cell in figures[:-1])
        and all(not cell or cell[0] in "0123456789.,#-+N" for cell in figures[:-1])
    )


def statement_rows(lines: Iterable[StatementLine], width: int) -> list[tuple[str, ...]]:
    """Return a row per statement: its figures, module, container and text.

    Lines before the first figures go on with the statement before a page break: they come as a row of text only.
    """
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
