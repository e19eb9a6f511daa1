"""The tables of an HTML report: cut at their tags where they are regular, and made of rows of cells.

Most of a report is tables as the database writes them: to cut them at their tags takes a fraction of the time of a
tree. What counts as regular is narrow: every tag and attribute is known and means the same to any reader of HTML,
wherever in a page the table stands. All other tables, and the page around them, are left to the tree (`html`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, compress
from typing import NamedTuple

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
    if heads == count:
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
    """Return how many first rows are headings though nothing marks them: words only, above at least one number.

    Headings of a list that is known may begin with a number: `1-bk Rds/s`.
    """
    heads = 2 if 0 in rows.spans and len(cells) > 2 else 1
    if len(cells) <= heads or len(cells[0]) < 2:
        return 0
    if any(_begins_data(row) for row in cells[:heads]):
        return int(heads == 1 and _are_headings(cells[0]))
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


# -- regular tables ---------------------------------------------------------------------------------------------
MARK = "dbatk-cut"
"""The attribute that numbers the tables whose rows were cut out of a page."""
_SAMPLE = 200_000  # characters that tell whether the tags of a page are capital letters
_BLANKS = " \t\r\n\f"
_B = f"[{_BLANKS}]"
_VALUE = r"(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=`&]++)"
_ATTRIBUTES = rf"(?>(?:{_B}++[A-Za-z][\w-]*+(?>(?:{_B}*+={_B}*+{_VALUE})?))*){_B}*+/?+"
_ATTRIBUTE = re.compile(rf"{_B}([A-Za-z][\w-]*+)(?>(?:{_B}*+={_B}*+({_VALUE}))?)", re.ASCII)
_NAMING = re.compile(rf"{_B}(?:id|name)\b", re.ASCII | re.IGNORECASE)
_NAMES = "t[drh]|tbody|thead|tfoot|a|b|i|u|em|font|span|strong|div|pre_sqltext"
_TAG = re.compile(rf"(table|{_NAMES}){_ATTRIBUTES}|/({_NAMES}){_B}*+", re.ASCII | re.IGNORECASE)
"""The tags that may stand in a table; those beside rows and cells leave the words of a cell in their order."""
_LETTERS = {"td": "d", "th": "h", "tr": "r", "tbody": "b", "thead": "b", "tfoot": "b"}
_ROWS = re.compile(r"(?>(?:r(?>(?:[ds]i*+D?|[ht]i*+H?)*)R?|b|B)*)")
"""The tags of a table, a letter each: rows of cells, which need no end, in parts or not.

`d` and `s` are cells, `h` and `t` headings, the second of each with attributes that count; `i` is within a cell.
"""
_CELLS = frozenset("dsht")
_NO_EDGES = bytes(set(range(256)) - set(b"<>"))
_WITHIN = bytes(chr(byte) in _CELLS for byte in range(256))
_BETWEEN = bytes(chr(byte) in "rRDHbB" for byte in range(256))
_COUNTING = re.compile(r"[st]")
_MARKED_UP = re.compile(r"[dsht]i+")
_NO_CELLS = dict.fromkeys(map(ord, "DHRbBi"))
_ALIKE = str.maketrans("st", "dh")
_ODD = ("  ", *(chr(code) for code in range(128) if code != 32 and chr(code).isspace()))
"""What only a text that must be squeezed holds."""
_REFERENCE = re.compile(r"&(?:#(?!38;)[1-9][0-9]{1,4}|lt|gt|quot|nbsp|amp);")
_NAMED = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": " "}


class _IrregularError(Exception):
    """Something that only a whole reader of HTML can tell."""


@dataclass(slots=True)
class Cut:
    """A page without the rows of its regular tables; each of those keeps its first tag, with its number in `MARK`.

    `names` are what links can lead to in the tables.
    """

    page: str
    tables: list[Rows] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


def cut_tables(page: str) -> Cut:
    """Take the rows of all regular tables out of a page.

    Takes time in proportion to the page, whatever it holds: a table that is not closed before the next begins is
    not looked into.
    """
    cut = Cut(page)
    if MARK in page or "\0" in page:
        return cut
    begin, end = ("<table", "</table>") if page.count("<table", 0, _SAMPLE) else ("<TABLE", "</TABLE>")
    letters = _Letters()
    parts: list[str] = []
    done = 0
    at = page.find(begin)
    while at >= 0:
        following = page.find(begin, at + len(begin))
        close = page.find(end, at, following if following >= 0 else len(page))
        body = page.find(">", at, max(close, 0)) + 1
        found = _rows(page[body:close], letters) if body and _TAG.fullmatch(page, at + 1, body - 1) else None
        if found is not None:
            parts += page[done : at + len(begin)], f' {MARK}="{len(cut.tables)}"', page[at + len(begin) : body]
            done = close
            cut.tables.append(found[0])
            cut.names |= found[1]
        at = following
    cut.page = "".join([*parts, page[done:]])
    return cut


class _Letters(dict[str, str]):
    """The letter of each tag (`td class=x`) seen."""

    def __missing__(self, tag: str) -> str:
        letter = self[tag] = _known(tag).letter
        return letter


class _Tag(NamedTuple):
    """What a tag is: its letter, what links call it, and how far a cell spans."""

    letter: str
    name: str | None = None
    span: Span = SINGLE


def _known(tag: str) -> _Tag:
    return _recalled(tag) if len(tag) < _LONGEST_KEPT else _read(tag)


def _read(tag: str) -> _Tag:
    match = _TAG.fullmatch(tag)
    if match is None or (match[1] or "").lower() == "table":
        raise _IrregularError
    if match[2]:
        return _Tag(_LETTERS[match[2].lower()].upper() if match[2].lower() in _LETTERS else "i")
    letter = _LETTERS.get(match[1].lower(), "i")
    if letter in _CELLS:
        attributes = _attributes(tag)
        span = span_of(attributes.get("colspan"), attributes.get("rowspan"))
        if "id" in attributes or span != SINGLE:
            return _Tag("s" if letter == "d" else "t", attributes.get("id"), span)
    return _Tag(letter)


_LONGEST_KEPT = 200
_recalled = lru_cache(maxsize=4096)(_read)


def _attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a tag that is known to be regular; of one written twice the first counts."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(tag):
        value = match[2] or ""
        value = value[1:-1] if value[:1] in {'"', "'"} else value
        found.setdefault(match[1].lower(), _characters(value) if "&" in value else value)
    return found


def _characters(text: str) -> str:
    text = text.replace("&#160;", " ")  # which stands in every empty cell, and is nearly all there is
    if "&" not in text:
        return text
    references = _REFERENCE.findall(text)
    if len(references) != text.count("&"):
        raise _IrregularError
    for reference in set(references) - {"&amp;"}:
        text = text.replace(reference, _NAMED.get(reference) or _numbered(int(reference[2:-1])))
    return text.replace("&amp;", "&")


def _numbered(number: int) -> str:
    if 32 <= number < 127 or 160 <= number < 0xD800:
        return chr(number)
    raise _IrregularError


def _rows(body: str, letters: _Letters) -> tuple[Rows, set[str]] | None:
    """Return the rows of a table and what links can lead to in it, None where it is not regular.

    No step of this looks at one cell: a report has a hundred thousand. The end of a cell that the next one follows
    at once says nothing, and half of all tags are such ends.
    """
    body = body.replace("</td><td", "<td")
    edges = body.encode().translate(None, _NO_EDGES)
    if edges != b"<>" * (len(edges) // 2):
        return None
    before, *parts = body.replace(">", "<").split("<")
    tags, texts = parts[::2], parts[1::2]
    names: set[str] = set()
    try:
        shape = "".join(map(letters.__getitem__, tags))
        if not _ROWS.fullmatch(shape):
            return None
        if "i" in shape:
            _join_marked_up(shape, tags, texts, names)
        marks = shape.encode()
        if "".join([before, *compress(texts, marks.translate(_BETWEEN))]).strip(_BLANKS):
            return None
        words = _words(list(compress(texts, marks.translate(_WITHIN))))
    except _IrregularError:
        return None
    shape = shape.translate(_NO_CELLS)
    spans: dict[int, Span] = {}
    if "s" in shape or "t" in shape:
        spans = _noted(shape.replace("r", ""), list(compress(tags, marks.translate(_WITHIN))), names)
    return _in_rows(shape.translate(_ALIKE).split("r"), words, spans), names


def _words(texts: list[str]) -> list[str]:
    """Return texts as they are read, all at once: no cell holds a NUL."""
    whole = "\0".join(texts)
    if "&" in whole:
        whole = _characters(whole)
    if not whole.isascii() or any(map(whole.__contains__, _ODD)):
        whole = " ".join(whole.split())
    return whole.replace(" \0", "\0").replace("\0 ", "\0").strip(" ").split("\0") if texts else []


def _join_marked_up(shape: str, tags: Sequence[str], texts: list[str], names: set[str]) -> None:
    """Put the words of each cell that holds tags together where the cell begins."""
    for cell in _MARKED_UP.finditer(shape):
        begin, end = cell.span()
        parts = texts[begin:end]
        if any("&" in part for part in parts):
            for part in parts:
                _characters(part)
        texts[begin] = "".join(parts)
        for tag in filter(_NAMING.search, tags[begin + 1 : end]):
            attributes = _attributes(tag)
            names.update(
                attributes[name]
                for name in ("id", "name")
                if name in attributes and (name == "id" or tag[0] in "aA")
            )


def _noted(cells: str, tags: Sequence[str], names: set[str]) -> dict[int, Span]:
    """Return the spans of cells by their place, and add what links can lead to to `names`."""
    spans: dict[int, Span] = {}
    for noted in _COUNTING.finditer(cells):
        tag = _known(tags[noted.start()])
        names.update([tag.name] if tag.name else [])
        if tag.span != SINGLE:
            spans[noted.start()] = tag.span
    return spans


def _in_rows(shapes: Sequence[str], words: Sequence[str], spans: Mapping[int, Span]) -> Rows:
    filled = [shape for shape in shapes if shape]
    widths = list(map(len, filled))
    ends = list(accumulate(widths))
    if len(set(widths)) == 1:
        cells: list[Sequence[str]] = list(zip(*[iter(words)] * widths[0], strict=True))
    else:
        cells = [words[end - width : end] for end, width in zip(ends, widths, strict=True)]
    rows = Rows(cells, filled)
    for place, span in spans.items():
        row = bisect_right(ends, place)
        rows.spans.setdefault(row, []).append((place - ends[row] + widths[row], span))
    return rows
