"""Rows of a report under their headings, within the width of the screen; what is no number is `-`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

from toolkit.terminal import line_width
from toolkit.units import byte_size

_LEAST_NAME = 15
_WHOLE, _SMALL = 1_000_000, 0.01
"""From here on digits behind the point say nothing, and below it three of them are too few."""
Record = Mapping[str, object]
Columns = tuple[tuple[str, str, int], ...]
"""The heading of each column, the value that it shows, and its width."""


def table(
    title: str, wide: int, columns: Sequence[tuple[str, str, int]], rows: Sequence[Record],
    name: Callable[[Record], object], tail: Callable[[Record], object] | None = None,
) -> Iterator[str]:  # fmt: skip
    """Yield the rows of a table, each with its name first; `tail` gives words that stand behind its figures."""
    if not rows:
        return
    heads = [head for head, _, _ in columns]
    figures = [[_figure(row.get(key), is_size="_bytes" in key) for _, key, _ in columns] for row in rows]
    names = [number(called) if is_number(called) else text(called) for called in map(name, rows)]
    least = max(_LEAST_NAME, *(len(word) for called in names for word in called.split(" ")))
    widths = [max(one[2], *(1 + len(row[place]) for row in figures)) for place, one in enumerate(columns)]
    if line_width() - sum(widths) - 2 < least:
        widths = [2 + max(map(len, cells)) for cells in zip(heads, *figures, strict=True)]
    room = min(max(wide, len(title) - 2, *map(len, names)), line_width() - sum(widths) - 2)
    wide = 0 if room < _LEAST_NAME else room + 2
    yield from _row(title, heads, widths, wide)
    for called, cells, row in zip(names, figures, rows, strict=True):
        yield from _row(called, cells, widths, wide, "  ", f"  {text(tail(row))}" if tail else "")


def _row(
    name: str, cells: Sequence[str], widths: Sequence[int], wide: int, indent: str = "", words: str = ""
) -> Iterator[str]:
    """Yield a row with what does not fit of its name below it, or its name above where `wide` leaves no room."""
    first, *more = textwrap.wrap(
        name, wide or line_width(), initial_indent=indent, subsequent_indent="    ", break_on_hyphens=False
    ) or [""]
    figures = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    if wide:
        yield from (_shortened(f"{first:<{wide}}{figures}", words), *more)
    else:
        yield from (first, *more, _shortened(figures, words))


def _shortened(row: str, words: str) -> str:
    """Return a row with as much of the words behind it as the line holds."""
    line, room = f"{row}{words}", line_width()
    if len(line) <= room:
        return line
    return f"{line[: room - 1]}…" if len(row) <= room - _LEAST_NAME else row


def is_number(value: object) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def text(value: object) -> str:
    """Return a value as text that is safe on a terminal."""
    from toolkit.report.safe import clean

    return "" if value is None else clean(str(value))


def number(value: object) -> str:
    """Return a number with as many digits as say something."""
    if not isinstance(value, int | float):
        return "-"
    if value and abs(value) < _SMALL:
        return f"{float(f'{value:.2g}'):.9f}".rstrip("0")
    return f"{round(value):,}" if isinstance(value, int) or abs(value) >= _WHOLE else f"{round(value, 3):,}"


def _figure(value: object, *, is_size: bool = False) -> str:
    """Return a value as text; sizes, which reports abbreviate, with no more digits than they have there."""
    if is_size and isinstance(value, int | float):
        return byte_size(value)
    return text(value) if isinstance(value, str) else number(value)


def folded(first: str, text: str) -> Iterator[str]:
    """Yield a line, folded at the width of the screen under its own beginning."""
    below = " " * len(first)
    yield from textwrap.wrap(text, line_width(), initial_indent=first, subsequent_indent=below) or [first]
