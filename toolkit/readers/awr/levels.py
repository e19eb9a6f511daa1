"""Samples of sessions in a text: lists with a line below each of several rulers, a statement's text between them.

An entry has a line of each level, one below the other. A second event of the same statement or session has no line
of the first level, or one whose first columns are empty: what it leaves out is what stands above it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.readers.awr.rulers import Spans, cut, is_figure, joined
from toolkit.readers.awr.tables import reduce

_WORD = re.compile(r"\S+")
_SAMPLED = frozenset({"% activity", "slot time duration"})
"""Headings that only lists of sampled sessions have."""
_COUNTED = re.compile(r"%.*|.*\bcount|.*executions|plan ?hash|avg active sessions|xids")
"""Headings of columns that hold a number in each line, or nothing."""


@dataclass(frozen=True, slots=True)
class Level:
    """The headings over one ruler, and the columns below it."""

    columns: tuple[str, ...]
    spans: Spans

    @property
    def counted(self) -> tuple[int, ...]:
        """Return the places of the columns of numbers."""
        return tuple(place for place, name in enumerate(self.columns) if _COUNTED.fullmatch(reduce(name)))

    def fits(self, line: str) -> bool:
        """Tell whether each word of a line stands below one heading, and figures where they belong."""
        inside = all(
            any(begin <= word.start() and word.end() <= end for begin, end in self.spans)
            for word in _WORD.finditer(line)
        )
        if not inside:
            return False
        cells, counted = cut(line, self.spans)[1:], self.counted
        if not counted:
            return len(self.spans) > 1 or len(line) == self.spans[0][1]
        figures = [cells[place] for place in counted if cells[place]]
        return bool(figures) and all(map(is_figure, figures))


def is_sampled(columns: Sequence[str]) -> bool:
    """Whether headings are those of sampled sessions."""
    return any(reduce(name) in _SAMPLED for name in columns)


def sampled_columns(levels: Sequence[Level]) -> tuple[str, ...]:
    """Return the headings of all levels, and one for the text of statements."""
    columns = tuple(name for level in levels for name in level.columns)
    return (*columns, "SQL Text") if _tells_text(columns) else columns


def sampled_rows(lines: Sequence[str], levels: Sequence[Level], lost: list[str]) -> list[tuple[str, ...]]:
    """Return a row per entry, with what its lines leave out taken from the one above.

    Args:
        lines: The body of the list; an entry may be parted by empty lines.
        levels: The rulers, from the top.
        lost: Takes the lines that stand below no ruler.
    """
    rows: list[_Entry] = []
    text = _tells_text([name for level in levels for name in level.columns])
    for line in filter(str.strip, lines):
        last = rows[-1] if rows else None
        place = _level(line, levels, last)
        if place is None and text and last is not None:
            last.text.append(line)
        elif place is None:
            lost.append(line)
        else:
            if last is None or place <= last.level:
                last = _Entry([()] * len(levels), rows[-1] if rows else None)
                rows.append(last)
            last.take(place, cut(line, levels[place].spans)[1:])
    known = {word for row in rows for line in row.text for word in re.findall(r"[\w$#]+", line)[1:-1]}
    width = max((len(line) for row in rows for line in row.text), default=0)
    return [row.cells(levels) + ((joined(row.text, width, known),) if text else ()) for row in rows]


def _tells_text(columns: Sequence[str]) -> bool:
    return any(reduce(name) == "sql id" for name in columns)


def _level(line: str, levels: Sequence[Level], last: _Entry | None) -> int | None:
    """Return the level a line is of: the one below that of the line before it, where it may be that."""
    following = last.level + 1 if last is not None else 0
    if last is not None and levels[last.level].spans == levels[0].spans and last.level == len(levels) - 1:
        following = last.level if line.startswith(" ") else 0
    order = [following, *range(len(levels))] if following < len(levels) else range(len(levels))
    for place in order:
        ordered = place in {following, 0} or levels[place].counted
        if ordered and levels[place].fits(line):
            return place
    return None


class _Entry:
    """What was read of one entry, level by level."""

    def __init__(self, found: list[tuple[str, ...]], above: _Entry | None) -> None:
        self.found = found
        self.above = above
        self.level = -1
        self.text: list[str] = []
        self.goes_on = False
        """Its first line leaves out what stands above."""

    def take(self, level: int, cells: tuple[str, ...]) -> None:
        """Take a line of a level."""
        if self.level < 0:
            self.goes_on = level > 0 or not cells[0]
        self.level = level
        above = self.above.found[level] if self.above is not None and self.goes_on else ()
        if above and not cells[0]:
            own = next((place for place, cell in enumerate(cells) if cell), len(cells))
            cells = (*above[:own], *cells[own:])
        self.found[level] = cells

    def cells(self, levels: Sequence[Level]) -> tuple[str, ...]:
        """Return its cells, those of levels without a line from the entry above."""
        above = self.above.found if self.above is not None and self.goes_on else [()] * len(levels)
        self.found = [
            own or other or ("",) * len(level.spans)
            for own, other, level in zip(self.found, above, levels, strict=True)
        ]
        return tuple(cell for cells in self.found for cell in cells)
