"""A report as HTML: every innermost table with the words above it, whoever saved it last.

The page is read in pieces cut between tables, so that memory follows the text and not its tree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from toolkit.readers.awr.rows import (
    DATA,
    HEADING,
    MARK,
    SINGLE,
    Cut,
    Rows,
    cut_tables,
    span_of,
    squeezed,
    table_of,
)
from toolkit.readers.awr.tables import AwrTable, ReportDocument, reduce

_PIECE = 2_000_000
_TABLE_END = re.compile(r"</table\s*>", re.IGNORECASE)
_BREAK = re.compile(r"<br\b[^>]*>", re.IGNORECASE)
_BREAKS = ("<br", "<BR", "<Br", "<bR")
_END = re.compile(r"end\s+of\s+report|</html\s*>", re.IGNORECASE)
_WANTED = "title,h1,h2,h3,h4,h5,h6,p,caption,table,tr,tr>th,tr>td"
_HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6"})
_CUT = f"table[{MARK}]"
_CUT_IN_WORDS = ",".join(f"{tag} {_CUT}" for tag in sorted({*_HEADINGS, "caption", "li"}))
_LONGEST_HEADING = 160
_LONGEST_PROMISE = 80
_MOST_NOTES = 200


@dataclass(slots=True)
class _Open:
    """A table as it is read."""

    section: str
    title: str
    identity: int
    rows: Rows


@dataclass(slots=True)
class _Reader:
    title: str = ""
    section: str = ""
    tables: list[AwrTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    now: _Open | None = None
    promised: dict[str, str] = field(default_factory=dict)
    anchors: set[str | None] = field(default_factory=set)
    headings: set[str] = field(default_factory=set)

    def read(self, piece: str) -> None:
        cut = cut_tables(piece)
        tree = LexborHTMLParser(cut.page)
        if not _stands(cut, tree):
            cut, tree = Cut(piece), LexborHTMLParser(piece)
        self._contents(tree)
        self.anchors |= cut.names
        skipped = _layout(tree)
        spans = {
            node.mem_id: span_of(node.attributes.get("colspan"), node.attributes.get("rowspan"))
            for node in tree.css("[rowspan],[colspan]")
        }
        row: int | None = None
        for node in tree.css(_WANTED):
            tag = node.tag
            if tag in {"td", "th"}:
                if row is not None and self.now is not None and (not skipped or _is_in(row, node, skipped)):
                    span = spans.get(node.mem_id, SINGLE) if spans else SINGLE
                    self.now.rows.add(squeezed(node.text()), HEADING if tag == "th" else DATA, span)
            elif tag == "tr":
                row = self._begin_row(node, nested=bool(skipped))
            elif tag == "table":
                self._close()
                row = None
                if node.mem_id not in skipped:
                    attributes = node.attributes
                    rows = cut.tables[int(attributes[MARK] or 0)] if cut.tables and MARK in attributes else Rows()
                    self.now = _Open(self.section, attributes.get("summary") or "", node.mem_id, rows)
            else:
                self._word(tag or "", node)
        self._close()

    def _contents(self, tree: LexborHTMLParser) -> None:
        for link in tree.css("li a[href*='#']"):
            words = squeezed(link.text())
            target = (link.attributes.get("href") or "").rpartition("#")[2]
            if 0 < len(words) <= _LONGEST_PROMISE and target:
                self.promised.setdefault(target, words)
        for node in tree.css("a[name]"):
            self.anchors.add(node.attributes.get("name"))
        for node in tree.css("[id]"):
            self.anchors.add(node.attributes.get("id"))

    def _begin_row(self, node: LexborNode, *, nested: bool) -> int | None:
        if self.now is None or (nested and _table_of(node) != self.now.identity):
            return None
        self.now.rows.begin()
        return node.mem_id

    def _word(self, tag: str, node: LexborNode) -> None:
        if tag in _HEADINGS:
            words = squeezed(node.text())
            self.headings.add(reduce(words[:_LONGEST_HEADING]))
        else:
            words = squeezed(node.text(deep=False))
            if not words:
                words = squeezed(node.text())
                if words and not words.startswith("Back to") and node.css_first("table") is not None:
                    words = ""
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
            self.now.rows.end()
            table = table_of(self.now.section, self.now.title, self.now.rows)
            if table is not None:
                self.tables.append(table)
            self.now = None


def read_html(text: str) -> ReportDocument:
    """Take a page apart.

    Returns:
        Its tables in order; `ended` is False where neither the last line of a report nor of a page is there.
    """
    reader = _Reader()
    for piece in _pieces(text):
        reader.read(_BREAK.sub("\n", piece) if any(map(piece.__contains__, _BREAKS)) else piece)
    missing = [
        words
        for target, words in reader.promised.items()
        if target not in reader.anchors and not _is_headed(reduce(words), reader.headings)
    ]
    ended = _END.search(text, max(len(text) - 20_000, 0)) is not None
    contents = tuple(dict.fromkeys(missing))
    return ReportDocument("html", reader.title, reader.tables, ended, reader.notes, contents)


_HEADED = {
    "rac report summary": "rac statistics", "exadata report summary": "exadata ",
    "library cache statistics": "library cache activity", "disk outliers": "outlier disks",
    "cell outliers": "outlier cells",
}  # fmt: skip
"""Parts of headings under which a section stands that the contents call otherwise."""


def _is_headed(section: str, headings: Collection[str]) -> bool:
    """Whether a section has its heading: a program that saves a page anew may take the anchors, not these."""
    words = _HEADED.get(section)
    return section in headings or (words is not None and any(words in one for one in headings))


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


def _stands(cut: Cut, tree: LexborHTMLParser) -> bool:
    """Whether each table that was cut is a table of the page, and its words belong to nothing else."""
    if not cut.tables:
        return True
    return len(tree.css(_CUT)) == len(cut.tables) and tree.css_first(_CUT_IN_WORDS) is None


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


def _is_in(row: int, cell: LexborNode, skipped: set[int]) -> bool:
    """Whether a cell is of the row read, and not of one around its table."""
    return cell.mem_id not in skipped and cell.parent is not None and cell.parent.mem_id == row
