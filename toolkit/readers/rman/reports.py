"""The answers of RMAN's REPORT, and what LIST shows as expired: which files and backups they name.

REPORT NEED BACKUP has a heading for each policy and a row for each data file, REPORT UNRECOVERABLE a row for each
data file that NOLOGGING work has touched since its backup, REPORT OBSOLETE a row for each set, piece, copy and
log, REPORT SCHEMA one for each data file. LIST has the status of a piece in the row above its name (`Status:
EXPIRED`), that of a copy or an archived log as a letter (`X`). Source: Backup and Recovery Reference, REPORT and
LIST (the tables of their output); the rows as public logs of 11.2 and 19 show them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

_MOST = 10_000
"""Rows of a report that are kept; more are counted."""


class ReportKind(StrEnum):
    """What a report is of."""

    NEED_BACKUP = "need backup"
    OBSOLETE = "obsolete"
    UNRECOVERABLE = "unrecoverable"
    SCHEMA = "schema"
    EXPIRED = "expired"


class ReportRow(NamedTuple):
    """What a report names: `data file`, `backup set`, `archive log` ..., its number or key, its path, and why."""

    thing: str
    number: int
    name: str | None = None
    detail: str | None = None


@dataclass(slots=True)
class RmanReport:
    """One report: its kind, its heading as printed, and its rows.

    Attributes:
        heading: names the policy, where one was applied.
        rows: at most 10,000; `count` is of all.
    """

    kind: ReportKind
    heading: str
    rows: list[ReportRow] = field(default_factory=list)
    count: int = 0

    def add(self, row: ReportRow) -> None:
        """Count a row, and keep it while there is room."""
        self.count += 1
        if len(self.rows) < _MOST:
            self.rows.append(row)

    def document(self) -> dict[str, object]:
        """Return it as `dbatk backup read --json` shows it."""
        return {
            "kind": self.kind.value,
            "heading": self.heading,
            "count": self.count,
            "rows": [row._asdict() for row in self.rows],
        }


_HEADINGS = (
    (re.compile(r"Report of obsolete backups|no obsolete backups found$"), ReportKind.OBSOLETE),
    (re.compile(r"Report of files that need backup due to unrecoverable"), ReportKind.UNRECOVERABLE),
    (re.compile(r"Report of files (?:with|that|whose)"), ReportKind.NEED_BACKUP),
    (re.compile(r"Report of database schema"), ReportKind.SCHEMA),
)
_OBSOLETE = re.compile(
    r"(Backup Set|Backup Piece|Archive Log|Datafile Copy|Control ?File Copy|Proxy Copy|Foreign Archive Log)"
    r"\s+(\d{1,18})\s+(\S.*)$", re.ASCII,
)  # fmt: skip
_NO_OBSOLETE = "no obsolete backups found"
_NEEDY = re.compile(r"(\d{1,6})\s+(\d{1,6})\s+(\S.*)$", re.ASCII)
_UNLOGGED = re.compile(r"(\d{1,6})\s+(full or incremental|full|incremental)\s+(\S.*)$", re.ASCII)
_SCHEMA = re.compile(r"(\d{1,6})\s+\d{1,9}\s+(\S+)\s+(?:YES|NO|\*\*\*)\s+(\S.*)$", re.ASCII)
_PIECE = re.compile(r"(?:BP|BC) Key: (\d+)\s+Status: EXPIRED\b", re.ASCII)
_COPY = re.compile(r"(\d{1,18})\s+(?:\d+\s+)?\d+\s+X\s", re.ASCII)
_PATH = re.compile(r"(?:Piece Name|Name|Handle): (\S.*)$")


def _kind_of(line: str) -> ReportKind | None:
    return next((kind for pattern, kind in _HEADINGS if pattern.match(line)), None)


def _obsolete(line: str) -> ReportRow | None:
    found = _OBSOLETE.match(line)
    if found is None:
        return None
    # the time has as many words as NLS_DATE_FORMAT; the path of a set is left empty
    thing, rest = found[1].lower(), found[3].split("  ")
    words = rest[-1].strip().rsplit(" ", 1)
    name = (
        words[-1]
        if thing != "backup set" and ("/" in words[-1] or "+" in words[-1] or "\\" in words[-1])
        else None
    )
    return ReportRow(thing, int(found[2]), name)


def _file(pattern: re.Pattern[str]) -> Callable[[str], ReportRow | None]:
    def read(line: str) -> ReportRow | None:
        found = pattern.match(line)
        return None if found is None else ReportRow("data file", int(found[1]), found[3], found[2])

    return read


_ROWS: Mapping[ReportKind, Callable[[str], ReportRow | None]] = MappingProxyType({
    ReportKind.OBSOLETE: _obsolete,
    ReportKind.UNRECOVERABLE: _file(_UNLOGGED),
    ReportKind.NEED_BACKUP: _file(_NEEDY),
    ReportKind.SCHEMA: _file(_SCHEMA),
})  # fmt: skip
_RULES = ("File ", "Type ", "----", "List of Permanent", "====")


class Reports:
    """The reports of a log, line by line; `line` is asked of every line while `reading`."""

    def __init__(self) -> None:
        self.all: list[RmanReport] = []
        self.reading = False
        """Whether a report or a list has begun whose rows may follow."""
        self._open: RmanReport | None = None
        self._listed: RmanReport | None = None
        self._expired: tuple[str, int] | None = None
        self._seen: set[ReportRow] = set()

    def wants(self, line: str) -> bool:
        """Tell whether a line behind a number (msgno) is a heading, or a row of what was begun."""
        if _kind_of(line) is not None or line.startswith("List of "):
            return True
        if self._open is not None:
            return line.startswith(_RULES) or _ROWS[self._open.kind](line) is not None
        return self.reading and any(each.match(line) for each in (_PIECE, _COPY, _PATH))

    def heading(self, line: str) -> bool:
        """Begin a report where a line is the heading of one; that no backup is obsolete has no heading."""
        kind = _kind_of(line)
        if kind is None:
            return False
        report = RmanReport(kind, line)
        self.all.append(report)
        self._open = None if line == _NO_OBSOLETE else report
        self.reading = True
        return True

    def list_begins(self) -> bool:
        """Note that the rows of a LIST follow; its heading is somebody else's, too."""
        self.reading = True
        return False

    def line(self, line: str) -> bool:
        """Read a line; False where it is somebody else's, too."""
        if line.startswith("RMAN-"):  # a number before a row (msgno), which comes again without it
            return False
        if self._open is None:
            self._of_list(line)
            return False
        if line.startswith(_RULES):
            return not line.startswith("File ")  # the heading of data files is read for their sizes, too
        row = _ROWS[self._open.kind](line)
        if row is None:
            self._open = None
            return False
        self._open.add(row)
        return self._open.kind is not ReportKind.SCHEMA

    def _of_list(self, line: str) -> None:
        """Read the status of a listed piece, copy or log; what is expired is named by a line below."""
        if self._expired is not None and (path := _PATH.match(line)) is not None:
            thing, number = self._expired
            self._expired = None
            if self._listed is None:
                self._listed = RmanReport(ReportKind.EXPIRED, "listed as expired")
                self.all.append(self._listed)
            row = ReportRow(thing, number, path[1].strip())
            if row not in self._seen:  # LIST COPY lists archived logs, too
                self._seen.add(row)
                self._listed.add(row)
        elif (piece := _PIECE.match(line)) is not None:
            self._expired = "backup piece", int(piece[1])
        elif (copy := _COPY.match(line)) is not None:
            self._expired = "copy or archived log", int(copy[1])
