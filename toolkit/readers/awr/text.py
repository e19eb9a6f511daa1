"""A report as text: rulers of dashes say where its columns are, colons where its labels end.

Nothing depends on the line a section stands on: a table is a ruler, the words above it are its headings, what is
left of the line above those is its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from toolkit.readers.awr.completeness import lists_of_text
from toolkit.readers.awr.levels import Level, is_sampled, sampled_columns, sampled_rows
from toolkit.readers.awr.pages import (
    Pages,
    Turn,
    lost_with_pages,
    merged,
    unpaged,
)
from toolkit.readers.awr.rulers import (
    SPAN,
    StatementLine,
    columns_below,
    cut,
    figures,
    is_figure,
    is_grouping,
    is_metrics,
    statement_rows,
)
from toolkit.readers.awr.tables import AwrTable, ReportDocument, reduce

_RULER = re.compile(r"(?=.*--)[ ~]*-+(?: +[-~]+)*\s*")
_TERMINATOR = re.compile(r" {6,}-{20,}\s*")
_TILDES = re.compile(r"\s*~{3,}")
_SECTION = re.compile(r"(\S.*?)\s*(?:DB/Inst\b|DB/I$|for DB:)")
_LABELLED = re.compile(
    r"(?P<label>[%A-Za-z][^:]*?(?::\s[A-Za-z][^:]*?)?):(?P<values>(?:\s+[-+]?[\d.,]+(?:[eE][+-]?\d+)?[KMGT%]?(?=\s|$))*)"
)
_VALUE = re.compile(r"[-+]?[\d.,]+(?:[eE][+-]?\d+)?[KMGT%]?")
_END = re.compile(r"end\s+of\s+report", re.IGNORECASE)
_NAME = re.compile(r"\s*\S+(?: [^\s(]\S*)*(?: *\([^)]*\))?")
_SNAPSHOT = re.compile(r"\s*(begin|end) snap\b", re.IGNORECASE)
_TITLE = re.compile(r"WORKLOAD REPOSITORY|STATSPACK", re.IGNORECASE)
_MINUTES = "(min"
"""In the lines of the header below its snapshots: how long they are apart, DB time, DB CPU."""
_SAMPLED = ("% Activity", "Avg Active")
_LONGEST_LINE = 1000
_MOST_HEADINGS = 16
"""Lines from the name of a list to its ruler."""


def read_text(text: str) -> ReportDocument:
    """Take a text report apart."""
    lines = [line[:_LONGEST_LINE].expandtabs().rstrip() for line in unpaged(text).split("\n")]
    reader = _Reader(lines)
    reader.read()
    title = " ".join(line.strip() for line in lines[:400] if _TITLE.search(line))[:400]
    named = next((line for line in lines if "DB/Inst:" in line), "")
    notes = [line for line in lines if _MINUTES in line][:50]
    ended = _END.search(text, max(len(text) - 20_000, 0)) is not None
    return ReportDocument(
        "text", f"{title} {named}".strip(), merged(reader.tables), ended, notes,
        unread=[line for line in reader.unread if _MINUTES not in line],
        remarks=[*(f"the list `{name}` has no end: lines of it are missing, and perhaps lists below it"
                   for name in reader.endless),
                 *lost_with_pages(lines, heading_of, _is_end, reader.turns, reader.ends),
                 *lists_of_text(reader.headings)],
    )  # fmt: skip


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    section: str = ""
    tables: list[AwrTable] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    at: int = 0
    floor: int = 0
    """Lines above this one belong to a table that is read already."""
    remark: bool = False
    """The lines above, up to an empty one, are a remark (`-> ...`), which may go on."""
    endless: list[str] = field(default_factory=list)
    """The lists without the line of dashes that ends each one."""
    headings: set[str] = field(default_factory=set)
    turns: list[Turn] = field(default_factory=list)
    """Where pages turn within lists of statements."""
    ends: list[tuple[str, bool]] = field(default_factory=list)
    """The lists of statements, each with whether an empty line stands above its end."""
    begun: str = ""
    """The list below whose heading no such line was met."""
    pages: Pages | None = None
    """The table read last, as far as it is known."""

    def read(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith("-> Statistics "):
                self.headings.add(line[3:])
            self.remark = bool(line.strip()) and (self.remark or line.startswith("->"))
            if name := heading_of(line):
                self.section = name
                self._begin(name)
                self.at += 1
            elif _is_end(line):
                self.begun = ""
                self.at += 1
            elif _TILDES.match(line) and self.at:
                self._under_tildes(line)
            elif _is_ruler(line):
                self._ruled(line)
            elif _is_labelled(line) and not _TILDES.match(self._line(self.at + 1)):
                self._labelled([])
            else:
                if _is_row(line) and not self.remark:
                    self.unread.append(line)
                self.at += 1
        self._end_table()

    def _begin(self, name: str) -> None:
        """Begin a list, which the one before has to have ended."""
        if self.begun and self.begun != name:
            self.endless.append(self.begun)
        self.begun = name
        self.headings.add(name)

    def _end_table(self) -> None:
        if self.pages is not None:
            self.tables.append(self.pages.table(self.unread))
            self.pages = None

    def _add(self, table: AwrTable) -> None:
        self._end_table()
        self.tables.append(table)
        self.floor = self.at

    def _line(self, place: int) -> str:
        return self.lines[place] if place < len(self.lines) else ""

    def _under_tildes(self, line: str) -> None:
        above = self.lines[self.at - 1]
        if (name := _NAME.match(above)) and self.at - 1 >= self.floor:
            self.section = " ".join(name[0].split())
        following = next(
            (i for i in range(self.at + 1, min(self.at + 6, len(self.lines))) if self.lines[i].strip()), 0
        )
        if SPAN.search(line) and following and not _is_label_row(self.lines[following]):
            self._ruled(line)
        elif following and _is_labelled(self.lines[following]):
            spans = [match.span() for match in SPAN.finditer(line)]
            heads = [above]
            if not spans and re.search(r"[A-Za-z]", line.replace("~", "")):
                heads = [line.replace("~", " ")]
            self.at += 1
            self._labelled(columns_below(heads, spans) if spans else [])
        else:
            self.at += 1

    def _ruled(self, line: str) -> None:
        spans = [match.span() for match in SPAN.finditer(line)]
        heads, section = self._heads()
        following = self._line(self.at + 1)
        self.at += 1
        columns = tuple(words for words, _, _ in columns_below(heads, spans))
        page = Pages(section, columns, spans, None)
        if _is_label_row(following) and not self._is_next(page):
            if heads and (name := heads[0][: max(spans[0][0] - 3, 0)].strip()):
                self.section = re.split(r"\s{2,}", name)[0]
            self._labelled(columns_below(heads, spans))
            return
        if is_sampled(columns) or ((below := self._second_ruler(spans)) and self._is_sampled_below(below)):
            self._sampled(section, Level(columns, spans))
            return
        if below and is_grouping(spans, self.lines[below]):
            self.at = below
            return
        second = [match.span() for match in SPAN.finditer(self.lines[below])] if below else []
        if below and self._second_ruler(second, below + 1):
            self._lose()
        elif below:
            inner = (words for words, _, _ in columns_below(self.lines[self.at : below], second))
            self.at = below + 1
            self._paged(Pages(section, (*columns, *inner), second, spans))
        elif columns and reduce(columns[-1]) in {"sql id", "old hash value", "hash value"}:
            rows = self._statements(spans, columns)
            self._add(AwrTable(section, "", (*columns, "SQL Module", "PDB Name", "SQL Text"), rows))
        else:
            self._paged(page)

    def _is_next(self, page: Pages) -> bool:
        return self.pages is not None and self.pages.continues(page)

    def _paged(self, page: Pages) -> None:
        """Read the rows of a table below its headings, or those of its next page."""
        if self.pages is None or not self.pages.continues(page):
            self._end_table()
            self.pages = page
        self.pages.lines.extend(self._body(page.spans, stacked=page.names is not None))
        self.floor = self.at

    def _lose(self) -> None:
        """Pass a list of more than two lines a row, and keep its figures as unread."""
        while self.at < len(self.lines) and not _is_end(line := self.lines[self.at]):
            if heading_of(line):
                break
            if _is_row(line):
                self.unread.append(line)
            self.at += 1
        self._end_table()

    def _is_sampled_below(self, ruler: int) -> bool:
        heads = self.lines[self.at : ruler]
        if not any(words in line for line in heads for words in _SAMPLED):
            return False
        spans = [match.span() for match in SPAN.finditer(self.lines[ruler])]
        return is_sampled([words for words, _, _ in columns_below(heads, spans)])

    def _sampled(self, section: str, first: Level) -> None:
        """Read a list of sampled sessions, which may go on on further pages."""
        levels = [first]
        while below := self._second_ruler(levels[-1].spans):
            spans = [match.span() for match in SPAN.finditer(self.lines[below])]
            columns = tuple(words for words, _, _ in columns_below(self.lines[self.at : below], spans))
            levels.append(Level(columns, spans))
            self.at = below + 1
        lines: list[str] = []
        while self.at < len(self.lines) and not _is_end(line := self.lines[self.at]):
            if heading_of(line):
                if not (page := self._next_page(line, first.spans)):
                    break
                self.at = page
                for level in levels[1:]:
                    self.at = (self._second_ruler(level.spans) or self.at - 1) + 1
            else:
                lines.append(line)
                self.at += 1
        self._add(AwrTable(section, "", sampled_columns(levels), sampled_rows(lines, levels, self.unread)))

    def _second_ruler(self, spans: Sequence[tuple[int, int]], begin: int | None = None) -> int | None:
        """Return the line of a second ruler where a first one only names what stands in a line of its own."""
        begin = self.at if begin is None else begin
        for place in range(begin + 1, min(begin + 5, len(self.lines))):
            line = self.lines[place]
            if not self.lines[place - 1].strip() or _is_end(line):
                return None
            if _is_ruler(line):
                return None if _adds_up(line, spans) else place
        return None

    def _heads(self) -> tuple[list[str], str]:
        """Return the lines of headings above a ruler, and the section they are in."""
        heads: list[str] = []
        place = self.at - 1
        while place >= self.floor and len(heads) < 4:
            line = self.lines[place]
            if not line.strip() or line.startswith("->") or _is_ruler(line) or heading_of(line):
                break
            if _TILDES.match(line):
                heads.insert(0, line.replace("~", " "))
                above = self.lines[place - 1] if place else ""
                name = _NAME.match(above)
                if name:
                    self.section = " ".join(name[0].split())
                    heads.insert(0, " " * name.end() + above[name.end() :])
                break
            heads.insert(0, line)
            place -= 1
        return heads, self.section

    def _body(self, spans: Sequence[tuple[int, int]], *, stacked: bool = False) -> Sequence[str]:
        """Return the lines below a ruler down to the end of the table, and go on after them."""
        body = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and not _is_ruler(line) and not heading_of(line):
                body.append(line)
            elif not (line.strip() and _adds_up(line, spans)) and not (stacked and self._parted(spans)):
                break
            self.at += 1
        return body

    def _parted(self, spans: Sequence[tuple[int, int]]) -> bool:
        """Whether an empty line only parts the names and figures of one thing from those of the next.

        Oracle may end a page between names and figures: then the list's own heading stands below the names.
        """
        name, values = self._line(self.at + 1), self._line(self.at + 2)
        if self._line(self.at).strip() or not name.strip() or figures(name, spans):
            return False
        below = next(filter(str.strip, (self._line(self.at + number) for number in range(2, 6))), "")
        heading = heading_of(below)
        return figures(values, spans) or (bool(heading) and heading == self.section)

    def _statements(self, spans: Sequence[tuple[int, int]], columns: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the rows of a list of statements, over the page breaks that may stand within a text."""
        lines = []
        self._turn(self.at, spans, None)
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if heading_of(line) and (below := self._next_page(line, spans)):
                above = takewhile(lambda line: not line, reversed(self.lines[: self.at]))
                self._turn(below, spans, len([*above]))
                self.at = below
                continue
            if _is_end(line) or heading_of(line) or (_is_ruler(line) and len(spans) > 1):
                break
            lines.append(StatementLine(line, cut(line, spans)[1:]))
            self.at += 1
        if lines and _is_end(self._line(self.at)):
            self.ends.append((self.section, not lines[-1].line.strip()))
        return statement_rows(lines, len(columns), self.unread)

    def _turn(self, below: int, spans: Sequence[tuple[int, int]], empty: int | None) -> None:
        following = next(filter(str.strip, self.lines[below : below + 3]), "")
        if following and not _is_end(following) and not heading_of(following):
            self.turns.append(Turn(self.section, empty, is_metrics(cut(self._line(below), spans)[1:])))

    def _next_page(self, heading: str, spans: Sequence[tuple[int, int]]) -> int | None:
        """Return the line below the headings that a page break repeats within a list, None for another list."""
        if heading_of(heading) != self.section:
            return None
        for place in range(self.at + 1, min(self.at + _MOST_HEADINGS, len(self.lines))):
            line = self.lines[place]
            if _is_ruler(line):
                return place + 1 if [match.span() for match in SPAN.finditer(line)] == list(spans) else None
        return None

    def _labelled(self, columns: list[tuple[str, int, int]]) -> None:
        rows = []
        while self.at < len(self.lines) and _is_labelled(self.lines[self.at]):
            rows.append(_labels(self.lines[self.at], columns))
            self.at += 1
        names = ("", *(words for words, _, _ in columns)) if columns else ()
        self._add(AwrTable(self.section, "", names, rows))


def heading_of(line: str) -> str:
    """Return the name of a list in the first line of one of its pages, an empty text of any other line."""
    found = _SECTION.match(line) if "DB" in line else None
    return found[1].rstrip(" -") if found else ""


def _is_ruler(line: str) -> bool:
    return "--" in line and _RULER.fullmatch(line) is not None


def _is_end(line: str) -> bool:
    return "---" in line and _TERMINATOR.fullmatch(line) is not None


def _adds_up(line: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a ruler only stands above a sum: it has columns of the ruler of its table, and not all."""
    own = {match.span() for match in SPAN.finditer(line)} if _is_ruler(line) else set()
    return bool(own) and own < set(spans)


def _is_labelled(line: str) -> bool:
    if ":" not in line or line.startswith(("->", "Module:")):
        return False
    match = _LABELLED.match(line.lstrip())
    return match is not None and (bool(match["values"].strip()) or line.rstrip().endswith(":")) and len(line) < 160


def _is_row(line: str) -> bool:
    """Whether a line looks like one of a table: two numbers, and no label."""
    return ":" not in line and sum(map(is_figure, line.split())) > 1


def _is_label_row(line: str) -> bool:
    return _is_labelled(line) and not _SNAPSHOT.match(line)


def _labels(line: str, columns: Sequence[tuple[str, int, int]]) -> tuple[str, ...]:
    cells: list[str] = []
    for match in _LABELLED.finditer(line):
        values = [(one[0], match.start("values") + one.start(), match.start("values") + one.end())
                  for one in _VALUE.finditer(match["values"])]  # fmt: skip
        cells.append(match["label"].strip() + ":")
        if columns and len(cells) == 1:
            cells.extend(_placed(values, columns))
        else:
            cells.extend(value for value, _, _ in values)
    return tuple(cells)


def _placed(values: Sequence[tuple[str, int, int]], columns: Sequence[tuple[str, int, int]]) -> Iterator[str]:
    """Return the values under their headings, an empty text where nothing is printed."""
    left = list(values)
    for _, begin, end in columns:
        inside = next((one for one in left if one[1] < end + 2 and one[2] > begin), None)
        if inside is not None:
            left.remove(inside)
        yield inside[0] if inside else ""
