"""Text as wide as the terminal: sentences wrapped, tables laid out so that they stay tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from toolkit.report.tables import Table
from toolkit.terminal import line_width, runnable

_GAP = "  "
_LEAST_TO_WRAP_IN = 24
_LEAST_NAME = 16
_BELOW = "    "
_NUMBER_AND_UNIT = re.compile(r"(\d) (%|[µm]?s|min|h|B|[KMGTP]iB|[\d.,]+x)(?![\w=])")
_GLUE = "\u00a0"


def wrapped(text: str, lead: str = "", columns: int | None = None) -> list[str]:
    """Wrap a sentence behind a lead; a number keeps its unit beside it."""
    lines = textwrap.wrap(
        _NUMBER_AND_UNIT.sub(rf"\1{_GLUE}\2", runnable(text)),
        columns or line_width(),
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
    )
    return [line.replace(_GLUE, " ") for line in lines] or [lead.rstrip()]


def bullets(sentences: Iterable[str], lead: str = "- ") -> list[str]:
    """Wrap sentences one below the other."""
    return [line for sentence in sentences for line in wrapped(sentence, lead)]


def text_table(table: Table) -> list[str]:
    """Return a table in aligned columns.

    A last column of words that does not fit is wrapped in its place, or below its row; a first column of words
    that takes too much is wrapped in its place, or stands above its row; what is still too wide is listed entry
    by entry.
    """
    titles = [column.title for column in table.columns]
    used = table.used
    widths = {index: max(len(titles[index]), *(len(row[index]) for row in table.rows), 0) for index in used}
    if _total(widths, used) <= line_width():
        return [_aligned(table, used, widths, line) for line in (titles, *table.rows)]
    first, rest = used[0], used[1:]
    last, others = used[-1], used[:-1]
    if others and not table.columns[last].numeric and _total(widths, others) <= line_width() - len(_BELOW):
        room = line_width() - _total(widths, others) - len(_GAP)
        return [
            text
            for line in (titles, *table.rows)
            for text in _beside(_aligned(table, others, widths, line, padded=True), line[last], room)
        ]
    if rest and not table.columns[first].numeric and _total(widths, rest) <= line_width() - len(_BELOW):
        room = line_width() - _total(widths, rest) - len(_GAP)
        words = (word for line in (titles, *table.rows) for word in line[first].split(" "))
        if room >= max(_LEAST_NAME, *(len(word) + len(_GAP) for word in words)):
            widths[first] = room
            return [text for line in (titles, *table.rows) for text in _folded(table, used, widths, line)]
        return [
            text
            for line in (titles, *table.rows)
            for text in (*wrapped(line[first]), f"{_BELOW}{_aligned(table, rest, widths, line)}")
        ]
    return list(_entries(table, used))


def _total(widths: dict[int, int], used: Sequence[int]) -> int:
    return sum(widths[index] for index in used) + len(_GAP) * (len(used) - 1)


def _aligned(
    table: Table, used: Iterable[int], widths: dict[int, int], line: Sequence[str], *, padded: bool = False
) -> str:
    parts = (
        line[index].rjust(widths[index]) if table.columns[index].numeric else line[index].ljust(widths[index])
        for index in used
    )
    text = _GAP.join(parts)
    return text if padded else text.rstrip()


def _folded(table: Table, used: Sequence[int], widths: dict[int, int], line: Sequence[str]) -> Iterator[str]:
    """Yield a row, and what does not fit of its name indented below it."""
    first = used[0]
    name, *below = textwrap.wrap(line[first], widths[first], subsequent_indent=_GAP, break_on_hyphens=False) or [
        ""
    ]
    yield _aligned(table, used, widths, [*line[:first], name, *line[first + 1 :]])
    yield from below


def _beside(row: str, words: str, room: int) -> list[str]:
    """Set words behind a row where there is room for them, else below it."""
    if not words:
        return [row.rstrip()]
    if len(words) <= room:
        return [f"{row}{_GAP}{words}"]
    if room >= max(_LEAST_TO_WRAP_IN, *map(len, words.split(" "))):
        return wrapped(words, f"{row}{_GAP}")
    return [row.rstrip(), *wrapped(words, _BELOW)]


def _entries(table: Table, used: Sequence[int]) -> Iterator[str]:
    for row in table.rows:
        filled = [f"{table.columns[index].title}: {row[index]}" for index in used if row[index]]
        yield from wrapped("; ".join(filled), "- ")
