"""What a report is made of, whatever it was printed as: tables, each with its headings and the words above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

_ODD = re.compile(r"[^a-z0-9%#]+")
_UNIT = re.compile(r"(?<![a-z])(ns|us|ms|cs|s|sec|seconds)$")
_CELL_LABEL = re.compile(r"\s*%?\s*:\s*$")


@dataclass(frozen=True, slots=True)
class AwrTable:
    """One table: `section` is what stands above it, `title` what it says of itself, cells as printed.

    A table of labels (`Redo size: | 393,267.0 | 1,931.8`) may have no headings at all.
    """

    section: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the headings reduced to what they say."""
        return reduced(self.columns)

    @property
    def words(self) -> str:
        """Return all the words around the table, reduced."""
        return f"{reduce(self.section)} | {reduce(self.title)}"

    def begins_with(self, words: Iterable[str]) -> bool:
        """Tell whether one of some words, in lower case, stands in the first column; no row is looked at."""
        first = "\0".join([row[0] for row in self.rows if row]).lower()
        return any(word in first for word in words)

    def labels(self) -> frozenset[str]:
        """Return the labels among the cells, reduced."""
        return frozenset(reduce(cell) for row in self.rows for cell in row if cell.endswith(":"))


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A report taken apart: what it calls itself, its tables, and whether its end was reached."""

    format: str
    title: str
    tables: Sequence[AwrTable]
    ended: bool
    notes: Sequence[str] = ()
    contents: Sequence[str] = field(default=())
    """Sections that the table of contents promises and that are not there."""


@lru_cache(maxsize=16384)
def reduce(text: str) -> str:
    """Return a heading without case, punctuation and doubled blanks: `%Time -outs` is `%time outs`."""
    return _ODD.sub(" ", text.lower()).strip()


@lru_cache(maxsize=8192)
def reduced(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return all headings reduced."""
    return tuple(reduce(column) for column in columns)


def unit_of(heading: str) -> str | None:
    """Return the unit a reduced heading ends in, if any."""
    match = _UNIT.search(heading)
    return match[1] if match else None


def label(cell: str) -> str:
    """Return a label as printed, without its colon and the percent sign before it: `Buffer  Hit   %:`."""
    return " ".join(_CELL_LABEL.sub("", cell).split())


@lru_cache(maxsize=16384)
def snake(heading: str) -> str:
    """Return a heading as the name of a value: `% DB time` is `pct_db_time`, `Time (s)` is `time_s`."""
    text = reduce(heading.replace("/", " per ") if "/s" in heading else heading)
    return "_".join(text.replace("%", " pct ").replace("#", " number ").split()) or "column"
