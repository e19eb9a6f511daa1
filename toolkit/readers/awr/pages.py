"""Tables that go on over pages: page headings left out, rows and values put together that a break parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, pairwise, takewhile

from toolkit.readers.awr.rulers import Spans, is_metrics, stacked_rows
from toolkit.readers.awr.tables import AwrTable
from toolkit.units import counted

_PAGED = re.compile(r"^[ \t]*\n([ \t]*)(?:OUTPUT|REPORT)[ \t]*\n(?:\1-{10,}[ \t]*\n)?", re.MULTILINE)


def unpaged(text: str) -> str:
    """Return the text without the headings that SQL*Plus repeats on each page of a query's result."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n\f", "\n\n").replace("\f", "\n\n")
    return _PAGED.sub("", text) if len(_PAGED.findall(text)) > 2 else text


_SHORT_LINE, _NO_TEXT = 24, ("Module:", "PDB:")
"""Letters of a line that ends a text, whose others have 64 and more; what stands above a text."""
_UNEVEN, _FEW_LISTS = 3, 3
"""Lines by which full pages may differ, as an entry of several lines is not parted; lists that tell of others."""


@dataclass(slots=True)
class Pages:
    """A table whose rows may go on below the next page's headings, and may be parted by the break."""

    section: str
    columns: tuple[str, ...]
    spans: Spans
    names: Spans | None
    lines: list[str] = field(default_factory=list)

    def continues(self, other: Pages) -> bool:
        """Whether the headings of another page are those of this table."""
        return (self.section, self.columns, self.spans, self.names) == (
            other.section,
            other.columns,
            other.spans,
            other.names,
        )

    def table(self, lost: list[str]) -> AwrTable:
        """Return the whole table; `lost` takes lines that do not stand below its headings."""
        wraps = "multi-valued" not in self.section.lower()
        containers: dict[int, str] = {}
        rows = stacked_rows(self.lines, self.spans, self.names, lost, containers, wraps=wraps)
        columns = self.columns
        if self.names is None and any(row[0] for row in rows):
            columns = ("", *columns)
        elif self.names is None:
            rows = [row[1:] for row in rows]
        if containers:
            columns = (*columns, "PDB Name")
            rows = [(*row, containers.get(place, "")) for place, row in enumerate(rows)]
        return AwrTable(self.section, "", columns, rows)


def merged(tables: Sequence[AwrTable]) -> list[AwrTable]:
    """Return the tables with those put together again that a page break cut in two."""
    merged: list[AwrTable] = []
    for table in tables:
        last = merged[-1] if merged else None
        if last is not None and table.columns and (last.section, last.columns) == (table.section, table.columns):
            merged[-1] = AwrTable(last.section, last.title, last.columns, _continued(last.rows, table))
        else:
            merged.append(table)
    return merged


def _continued(rows: Sequence[tuple[str, ...]], table: AwrTable) -> list[tuple[str, ...]]:
    joined = list(rows)
    for row in table.rows:
        if joined and table.columns[-1:] == ("SQL Text",) and not is_metrics(row[:-3]):
            joined[-1] = (*joined[-1][:-1], joined[-1][-1] + row[-1])
        else:
            joined.append(row)
    return joined


Continued = Sequence[tuple[str, int, int]]
"""The name of a list, the first line of one of its pages, and that of the next."""


def continued_pages(
    lines: Sequence[str], heading: Callable[[str], str], end: Callable[[str], bool]
) -> Continued:  # fmt: skip
    """Return the pages of lists that go on on a further page.

    Args:
        lines: The text.
        heading: What names a list by the first line of one of its pages.
        end: What tells the last line of a list.
    """
    heads = [(place, name) for place, line in enumerate(lines) if (name := heading(line))]
    return [
        (name, begin, after)
        for (begin, name), (after, following) in pairwise(heads)
        if name == following and not any(map(end, lines[begin:after]))
    ]


def full_pages(lines: Sequence[str], pages: Continued) -> list[tuple[str, int]]:
    """Return the lists that go on on a further page, with the lines of each page but the last."""
    return [
        (name, len([*dropwhile(lambda line: not line, reversed(lines[begin:after]))]))
        for name, begin, after in pages
    ]


@dataclass(frozen=True, slots=True)
class Turn:
    """Where the page turns within a list of statements.

    Attributes:
        name: The list.
        empty: The empty lines at the end of the page, None for the begin of the list.
        begins: Whether the next page begins with the figures of a statement, as an entry does.
        is_over: Whether a line of text stands at its begin, below one that ends a text.
    """

    name: str
    empty: int | None
    begins: bool
    is_over: bool = False


def is_over(line: str) -> bool:
    """Whether a line is too short for one of a text that goes on: these are full, but for blanks."""
    return 0 < len(line) < _SHORT_LINE and not line.lstrip().startswith(_NO_TEXT)


def parted_entries(turns: Sequence[Turn], between: Sequence[int], *, ragged: bool = False) -> list[str]:
    """Return a sentence for each list of statements whose entry does not go on where its page turns.

    An entry is its figures, its text, and one empty line, which stands at the end of a page or at the begin of the
    next. Where the end of one page does not fit the begin of the next, a page between them is missing.

    Args:
        turns: Those of the lists of statements.
        between: The empty lines at each turn of a page, of all lists: the fewest are those of the turn itself.
        ragged: Texts have short lines above others, as blanks at the ends of lines are left out.
    """
    least = min(between, default=0)
    known = [one for one in turns if one.empty is None or len(between) >= _FEW_LISTS]
    wrong = (one.name for one in known if one.begins == (one.empty == least) or (one.is_over and not ragged))
    return [
        f"a page of the list `{name}` does not begin where the one before it ends: statements of it are missing"
        for name in dict.fromkeys(wrong)
    ]


def cut_entries(ends: Sequence[tuple[str, bool]]) -> list[str]:
    """Return a sentence for each list that ends within an entry: its further pages are missing.

    Args:
        ends: The lists of statements, each with whether an empty line stands above its end, as below each entry.
            Some programs drop empty lines: one list must have it.
    """
    if not any(whole for _, whole in ends):
        return []
    return [
        f"the list `{name}` ends within a statement: statements of it are missing"
        for name, whole in ends
        if not whole
    ]


def lost_with_pages(
    lines: Sequence[str],
    heading: Callable[[str], str],
    end: Callable[[str], bool],
    turns: Sequence[Turn],
    ends: Sequence[tuple[str, bool]],
    *,
    ragged: bool = False,
) -> list[str]:
    """Return a sentence for each list of a text that lacks a page, or a part of one.

    Args:
        lines: The text.
        heading: What names a list by the first line of one of its pages.
        end: What tells the last line of a list.
        turns: Where pages turn within lists of statements.
        ends: The lists of statements, each with whether it ends with an empty line.
        ragged: Texts of statements have short lines above others.
    """
    pages = continued_pages(lines, heading, end)
    return [
        *short_pages(full_pages(lines, pages)),
        *parted_entries(turns, empty_at_turns(lines, pages), ragged=ragged),
        *cut_entries(ends),
    ]


def empty_at_turns(lines: Sequence[str], pages: Continued) -> list[int]:
    """Return the empty lines above each further page of a list."""
    return [len([*takewhile(lambda line: not line, reversed(lines[begin:after]))]) for _, begin, after in pages]


def short_pages(pages: Sequence[tuple[str, int]]) -> list[str]:
    """Return a sentence for each list of which a page has too few lines, so that some of it is missing.

    A page that the list goes on after is full: it has as many lines as the other full pages of its list, and not
    many fewer than those of other lists, whose headings may have more lines.
    """
    lengths: dict[str, list[int]] = {}
    for name, length in pages:
        lengths.setdefault(name, []).append(length)
    shortest = sorted(map(max, lengths.values()))[1:2] if len(lengths) > _FEW_LISTS else []
    return [
        f"the list `{name}` has a page of {counted(min(found), 'line')} where full ones have {usual}: rows of it "
        "are missing"
        for name, found in lengths.items()
        if min(found) < (usual := max([*found, *shortest])) - _UNEVEN
    ]
