"""A report as text: rulers of dashes say where its columns are, colons where its labels end.

Nothing depends on the line a section stands on: a table is a ruler, the words above it are its headings, what is
left of the line above those is its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from toolkit.readers.awr.completeness import lists_of_text, segments_below_their_share
from toolkit.readers.awr.levels import Level, is_sampled, sampled_columns, sampled_rows
from toolkit.readers.awr.pages import (
    Pages,
    Turn,
    is_over,
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
    is_labelled,
    is_metrics,
    labels_in,
    statement_rows,
)
from toolkit.readers.awr.tables import AwrTable, ReportDocument, reduce

_RULER = re.compile(r"(?=.*--)[ ~]*-+(?: +[-~]+)*\s*")
_TERMINATOR = re.compile(r" {6,}-{20,}\s*")
_TILDES = re.compile(r"\s*~{3,}")
_SECTION = re.compile(r"(\S.*?)\s*(?:DB/Inst\b|DB/I$|for DB:)")
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
    lines = _of_report([line[:_LONGEST_LINE].expandtabs().rstrip() for line in unpaged(text).split("\n")])
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
                 *lost_with_pages(lines, heading_of, _is_end, reader.turns, reader.ends, ragged=reader.ragged),
                 *(f"the list `{name}` has headings and no row: rows of it are missing" for name in reader.empty),
                 *segments_below_their_share(lines, heading_of, _is_end),
                 *lists_of_text(reader.headings, title)],
        paged=True,
    )  # fmt: skip


def _of_report(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines from the title to the end, which stand at the margin.

    A session of SQL*Plus may be around a report, and in a note or a mail all its lines may be indented.
    """
    begin = next((place for place, line in enumerate(lines) if _TITLE.search(line)), 0)
    end = next(
        (place for place in range(len(lines) - 1, begin, -1) if _END.match(lines[place].lstrip())), len(lines)
    )
    margin = min((len(line) - len(line.lstrip()) for line in lines[begin : end + 1] if line), default=0)
    return [line[margin:] for line in lines[begin : end + 1]]


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
    empty: list[str] = field(default_factory=list)
    """The lists with headings and without rows: of what there are no data, no headings are printed."""
    headings: set[str] = field(default_factory=set)
    ragged: bool = False
    """Whether texts of statements have short lines above others."""
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
            elif is_labelled(line) and not _TILDES.match(self._line(self.at + 1)):
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
            self._keep(self.pages.table(self.unread))
            self.pages = None

    def _add(self, table: AwrTable) -> None:
        self._end_table()
        self._keep(table)
        self.floor = self.at

    def _keep(self, table: AwrTable) -> None:
        self.tables.append(table)
        if table.columns and not table.rows:
            self.empty.append(table.section)

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
        elif following and is_labelled(self.lines[following]):
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
                empty = len([*takewhile(lambda line: not line, reversed(self.lines[: self.at]))])
                self._turn(below, spans, empty, self.lines[self.at - 1 - empty])
                self.at = below
                continue
            if _is_end(line) or heading_of(line) or (_is_ruler(line) and len(spans) > 1):
                break
            if line and is_over(self._line(self.at - 1)) and not is_metrics(cut(line, spans)[1:]):
                self.ragged = True
            lines.append(StatementLine(line, cut(line, spans)[1:]))
            self.at += 1
        if lines and _is_end(self._line(self.at)):
            self.ends.append((self.section, not lines[-1].line.strip()))
        return statement_rows(lines, len(columns), self.unread)

    def _turn(self, below: int, spans: Sequence[tuple[int, int]], empty: int | None, above: str = "") -> None:
        following = next(filter(str.strip, self.lines[below : below + 3]), "")
        if following and not _is_end(following) and not heading_of(following):
            begins = is_metrics(cut(self._line(below), spans)[1:])
            is_text = bool(self._line(below)) and not begins
            self.turns.append(Turn(self.section, empty, begins, is_text and is_over(above)))

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
        while self.at < len(self.lines) and is_labelled(self.lines[self.at]):
            rows.append(labels_in(self.lines[self.at], columns))
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


def _is_row(line: str) -> bool:
    """Whether a line looks like one of a table: two numbers, and no label."""
    return ":" not in line and sum(map(is_figure, line.split())) > 1


def _is_label_row(line: str) -> bool:
    return is_labelled(line) and not _SNAPSHOT.match(line)
