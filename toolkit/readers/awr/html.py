"""A report as HTML: every innermost table with the words above it, whoever saved it last.

The page is read in pieces cut between tables, so that memory follows the text and not its tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from toolkit.readers.awr.sections import section_of
from toolkit.readers.awr.tables import Document, Table

_PIECE = 2_000_000
_TABLE_END = re.compile(r"</table\s*>", re.IGNORECASE)
_BREAK = re.compile(r"<br\b[^>]*>", re.IGNORECASE)
_END = re.compile(r"end\s+of\s+report|</html\s*>", re.IGNORECASE)
_WANTED = "title,h1,h2,h3,h4,h5,h6,p,caption,table,tr,th,td"
_HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6"})
_LONGEST_HEADING = 160
_LONGEST_PROMISE = 80
_MOST_COLUMNS = 400
_MOST_NOTES = 200


@dataclass(slots=True)
class _Row:
    """A row as it is read: cells, and which of them are headings or span more than one place."""

    cells: list[str] = field(default_factory=list)
    headings: int = 0
    blanks: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A table as it is read."""

    section: str
    title: str
    identity: int
    rows: list[_Row] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    title: str = ""
    section: str = ""
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    now: _Open | None = None
    promised: dict[str, str] = field(default_factory=dict)
    anchors: set[str | None] = field(default_factory=set)

    def read(self, tree: LexborHTMLParser) -> None:
        self._contents(tree)
        skipped = _layout(tree)
        spans = {node.mem_id: _spans(node) for node in tree.css("[rowspan],[colspan]")}
        row: _Row | None = None
        for node in tree.css(_WANTED):
            tag = node.tag
            if tag in {"td", "th"}:
                if row is not None and (not skipped or node.mem_id not in skipped):
                    _add_cell(row, node, tag, spans)
            elif tag == "tr":
                row = self._begin_row(node, nested=bool(skipped))
            elif tag == "table":
                self._close()
                row = None
                if node.mem_id not in skipped:
                    self.now = _Open(self.section, node.attributes.get("summary") or "", node.mem_id)
            else:
                self._word(tag or "", node)
        self._close()

    def _contents(self, tree: LexborHTMLParser) -> None:
        for link in tree.css("li a[href*='#']"):
            words = _squeezed(link.text())
            target = (link.attributes.get("href") or "").rpartition("#")[2]
            if 0 < len(words) <= _LONGEST_PROMISE and target:
                self.promised.setdefault(target, words)
        for node in tree.css("a[name]"):
            self.anchors.add(node.attributes.get("name"))
        for node in tree.css("[id]"):
            self.anchors.add(node.attributes.get("id"))

    def _begin_row(self, node: LexborNode, *, nested: bool) -> _Row | None:
        if self.now is None or (nested and _table_of(node) != self.now.identity):
            return None
        row = _Row()
        self.now.rows.append(row)
        return row

    def _word(self, tag: str, node: LexborNode) -> None:
        if tag in _HEADINGS:
            words = _squeezed(node.text())
        else:
            words = _squeezed(node.text(deep=False))
            if not words and node.css_first("table") is None:
                words = _squeezed(node.text())
        if not words or words.startswith("Back to"):
            return
        if tag == "caption":
            if self.now is not None:
                self.now.title = f"{words} {self.now.title}".strip()
        elif tag in {"title", "h1"}:
            self.title = f"{self.title} {words[:400]}".strip() if len(self.title) < 2000 else self.title
        elif len(words) <= _LONGEST_HEADING:
            self.section = words
        if tag == "p" and len(self.notes) < _MOST_NOTES:
            self.notes.append(words[:400])

    def _close(self) -> None:
        if self.now is not None:
            table = _table(self.now)
            if table is not None:
                self.tables.append(table)
            self.now = None


def read_html(text: str) -> Document:
    """Take a page apart.

    Returns:
        Its tables in order; `ended` is False where neither the last line of a report nor of a page is there.
    """
    reader = _Reader()
    for piece in _pieces(text):
        reader.read(LexborHTMLParser(_BREAK.sub("\n", piece)))
    missing = [words for target, words in reader.promised.items() if target not in reader.anchors]
    ended = _END.search(text, max(len(text) - 20_000, 0)) is not None
    contents = tuple(dict.fromkeys(missing))
    return Document("html", reader.title, reader.tables, ended, reader.notes, contents)


def preformatted(text: str) -> str | None:
    """Return the text of a page that only wraps a text report, None for any other page."""
    parts = [node.text() for node in LexborHTMLParser(text).css("pre")]
    return "\n".join(parts) or None


def _pieces(text: str) -> Iterator[str]:
    begin = 0
    while len(text) - begin > _PIECE:
        cut = _TABLE_END.search(text, begin + _PIECE)
        if cut is None:
            break
        yield text[begin : cut.end()]
        begin = cut.end()
    yield text[begin:]


def _layout(tree: LexborHTMLParser) -> set[int]:
    """Return the tables, rows and cells that only lay out other tables, as mail programs write them."""
    if tree.css_first("table table") is None:
        return set()
    found: set[int] = set()
    for inner in tree.css("table table"):
        node = inner.parent
        while node is not None and node.mem_id not in found:
            if node.tag in {"table", "td", "th"}:
                found.add(node.mem_id)
            node = node.parent
    return found


def _table_of(node: LexborNode) -> int | None:
    above = node.parent
    while above is not None and above.tag != "table":
        above = above.parent
    return above.mem_id if above is not None else None


def _spans(node: LexborNode) -> tuple[int, int]:
    wide, high = (_small(node.attributes.get(name)) for name in ("colspan", "rowspan"))
    return wide, high


def _small(text: str | None) -> int:
    text = (text or "").strip()
    return (
        min(int(text), _MOST_COLUMNS) if text.isascii() and text.isdigit() and len(text) < 6 and int(text) else 1
    )


def _add_cell(row: _Row, node: LexborNode, tag: str, spans: Mapping[int, tuple[int, int]]) -> None:
    words = _squeezed(node.text())
    row.headings += tag == "th"
    row.blanks += tag == "td" and not words
    if spans and (span := spans.get(node.mem_id)) and span != (1, 1):
        row.spans.append((len(row.cells), span[0] << 16 | span[1]))
    row.cells.append(words)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _table(seen: _Open) -> Table | None:
    rows = [row for row in seen.rows if row.cells]
    if not rows:
        return None
    heads = 0
    while (
        heads < len(rows)
        and rows[heads].headings
        and rows[heads].headings + rows[heads].blanks == len(rows[heads].cells)
    ):
        heads += 1
    if heads == len(rows) and heads > 1:
        heads = 1
    cells = _cells(rows, heads)
    heads = heads or _unmarked_headings(rows, cells)
    return Table(seen.section, _squeezed(seen.title), _joined(cells[:heads]), cells[heads:])


def _cells(rows: Sequence[_Row], heads: int) -> list[tuple[str, ...]]:
    if any(row.spans for row in rows[max(heads, 1) :]):
        return _grid(rows)
    body = max(heads, 1)
    return [*_grid(rows[:body]), *(tuple(row.cells) for row in rows[body:])]


def _unmarked_headings(rows: Sequence[_Row], cells: Sequence[tuple[str, ...]]) -> int:
    """Return how many first rows are headings though nothing marks them: words only, above at least one number."""
    heads = 2 if rows[0].spans and len(cells) > 2 else 1
    if len(cells) <= heads or len(cells[0]) < 2 or any(_begins_data(row) for row in cells[:heads]):
        return 0
    below = cells[heads : heads + 3]
    return heads if any(cell[:1].isdigit() for row in below for cell in row) or _are_headings(cells[0]) else 0


def _begins_data(row: tuple[str, ...]) -> bool:
    return any(cell[:1].isdigit() or cell.endswith(":") for cell in row)


def _are_headings(row: tuple[str, ...]) -> bool:
    return section_of(Table("", "", row, ())) is not None


def _grid(rows: Sequence[_Row]) -> list[tuple[str, ...]]:
    """Return the rows with every cell in each place it spans; a spanned heading counts for all its columns."""
    pending: dict[int, tuple[str, int]] = {}
    grid: list[tuple[str, ...]] = []
    for row in rows:
        spans = {index: (packed >> 16, packed & 0xFFFF) for index, packed in row.spans}
        line: list[str] = []
        for index, cell in enumerate(row.cells):
            _hang(line, pending)
            wide, high = spans.get(index, (1, 1))
            for place in range(wide):
                if high > 1 and len(line) < _MOST_COLUMNS:
                    pending[len(line)] = (cell, high - 1)
                line.append(cell if not place or row.headings or not grid else "")
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
