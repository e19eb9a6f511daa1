"""The tables of an AWR page in place: cells are found by heading and row, and written back into the page.

For planting causes in real reports. Knows nothing of how the toolkit reads or ranks: a page is text with tables.
"""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_TABLE = re.compile(r"<table[^>]*>.*?</table>", re.DOTALL | re.IGNORECASE)
_ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.DOTALL | re.IGNORECASE)
_HEAD = re.compile(r"<th[^>]*>(.*?)</th>", re.DOTALL | re.IGNORECASE)
_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")
_NUMBER = re.compile(r"-?[\d,]*\.?\d+(?:E[+-]?\d+)?")
_SUFFIX = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "us": 1e-3, "ms": 1.0, "s": 1e3, "ns": 1e-6}


@dataclass
class Cell:
    """A cell: its text, and where its content stands in the page."""

    text: str
    begin: int
    end: int


@dataclass
class Grid:
    """A table: its headings in lower case with single blanks, and its rows."""

    heads: list[str]
    rows: list[list[Cell]]

    def column(self, *names: str) -> int | None:
        return next((i for i, head in enumerate(self.heads) if head in names), None)

    def row(self, label: str) -> list[Cell] | None:
        return next((row for row in self.rows if any(cell.text == label for cell in row[:1])), None)


def value(text: str) -> float | None:
    """Return the number of a cell; waits with a unit in milliseconds."""
    match = _NUMBER.match(text)
    if match is None:
        return None
    unit = text[match.end() :].strip()
    return float(match[0].replace(",", "")) * _SUFFIX.get(unit, 1.0) if unit in {*_SUFFIX, "%", "(mins)"} else None


def like(old: str, number: float) -> str:
    """Write a number as the cell it replaces was written: with its unit and as many decimals at least."""
    match = _NUMBER.match(old)
    unit = "" if match is None else old[match.end() :].strip()
    digits = "" if match is None else match[0]
    decimals = len(digits.partition(".")[2]) if "E" not in digits else 2
    if unit in {"us", "ms", "s", "ns"}:
        return f"{number:.2f}ms"
    if unit in {"K", "M", "G"}:
        return f"{number:,.0f}"
    return f"{number:,.{decimals}f}"


@dataclass
class Page:
    """A report being edited."""

    text: str
    grids: list[Grid] = field(default_factory=list)
    edits: dict[tuple[int, int], str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Page:
        page = cls(text)
        for table in _TABLE.finditer(text):
            heads = [_plain(one) for one in _HEAD.findall(table[0])]
            rows = [
                [Cell(_plain(one[1]), table.start() + row.start(1) + one.start(1),
                      table.start() + row.start(1) + one.end(1)) for one in _CELL.finditer(row[1])]
                for row in _ROW.finditer(table[0])
            ]  # fmt: skip
            page.grids.append(Grid([head.lower() for head in heads], [row for row in rows if row]))
        return page

    def tables(self, *heads: str) -> Iterator[Grid]:
        """Return the tables that have all these headings."""
        return (grid for grid in self.grids if all(grid.column(*head.split("|")) is not None for head in heads))

    def put(self, cell: Cell, text: str) -> None:
        raw = self.text[cell.begin : cell.end]
        shown = raw.replace(html.escape(cell.text), text) if cell.text and html.escape(cell.text) in raw else text
        self.edits[cell.begin, cell.end] = shown
        cell.text = text

    def scale(self, cell: Cell, times: float) -> None:
        known = value(cell.text)
        if known is not None:
            self.put(cell, like(cell.text, known * times))

    def change(self, cell: Cell, turn: Callable[[float], float]) -> None:
        known = value(cell.text)
        if known is not None:
            self.put(cell, like(cell.text, turn(known)))

    def written(self) -> str:
        out, at = [], 0
        for (begin, end), text in sorted(self.edits.items()):
            out += [self.text[at:begin], text]
            at = end
        return "".join([*out, self.text[at:]])


def _plain(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", markup)).split())


def jitter(page: Page, seed: int, spread: float = 0.03) -> None:
    """Let an interval be another one: every time, count and rate of it differs by some percent."""
    chance = random.Random(seed)
    for grid in page.grids:
        if grid.column("event", "statistic", "wait class") is None and grid.column("sql id") is None:
            continue
        for row in grid.rows:
            times = 1 + chance.uniform(-spread, spread)
            for head, cell in zip(grid.heads, row, strict=False):
                if not any(
                    word in head for word in ("%", "avg", "per exec", "id", "module", "text", "event", "class")
                ):
                    page.scale(cell, times)
