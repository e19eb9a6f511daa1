"""`datapump read`: logs of expdp, impdp and DBMS_DATAPUMP, their tables, errors and how each job ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from toolkit.dialects.oracle.datapump.log import DumpLog, read
from toolkit.documents import open_file, unreadable
from toolkit.errors import ExitCode, ToolkitError
from toolkit.readers.texts import UnreadableError, text_of
from toolkit.units import byte_size, counted

CODE = "TK-0116"
_MOST_BYTES = 256 * 2**20
_KIND = re.compile(r"^\s*;*\s*(Export|Import): Release ", re.MULTILINE)
_HINT = "give the log file of expdp, impdp or `dbatk datapump` (LOGFILE in its DIRECTORY)"


class DumpOutcome(StrEnum):
    """How a job ended; `incomplete` where no line says it, or not in English."""

    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    INCOMPLETE = "incomplete"


_EXIT = {
    DumpOutcome.COMPLETED: ExitCode.DONE,
    DumpOutcome.COMPLETED_WITH_ERRORS: ExitCode.INCOMPLETE,
    DumpOutcome.INCOMPLETE: ExitCode.INCOMPLETE,
}


@dataclass(frozen=True, slots=True)
class ReadDump:
    """What a log tells."""

    file: str
    log: DumpLog
    kind: str | None

    @property
    def outcome(self) -> DumpOutcome:
        """How the job ended."""
        if self.log.error_count is None:
            return DumpOutcome.INCOMPLETE
        failed = self.log.error_count or self.log.errors
        return DumpOutcome.COMPLETED_WITH_ERRORS if failed else DumpOutcome.COMPLETED

    @property
    def exit_code(self) -> ExitCode:
        """0 completed without an error, else 3."""
        return _EXIT[self.outcome]

    def document(self) -> dict[str, object]:
        """Return it as JSON."""
        tables = self.log.tables
        return {
            "file": self.file,
            "kind": self.kind,
            "outcome": self.outcome.value,
            "errors": list(self.log.errors),
            "error_count": self.log.error_count,
            "workers": self.log.workers,
            "rows": sum(table.rows for table in tables),
            "bytes": sum(table.bytes for table in tables),
            "tables": [
                {"name": one.name, "rows": one.rows, "bytes": one.bytes, "seconds": one.seconds} for one in tables
            ],
        }

    def lines(self, most: int = 20) -> Iterator[str]:
        """Say it in lines for a terminal, the biggest tables first."""
        tables = sorted(self.log.tables, key=lambda table: -table.bytes)
        rows, size = sum(table.rows for table in tables), sum(table.bytes for table in tables)
        yield f"{self.file}: {self.kind or 'job'} {self.outcome.value.replace('_', ' ')}"
        many = counted(len(tables), "table or partition", "tables or partitions")
        yield f"  {many}, {rows:,} rows, {byte_size(size)}"
        if self.log.workers is not None:
            yield f"  workers that moved tables: {self.log.workers}"
        for error in self.log.errors[:most]:
            yield f"  {error}"
        if len(self.log.errors) > most:
            yield f"  ... and {len(self.log.errors) - most} errors more"
        for one in tables[:most]:
            time = "" if one.seconds is None else f" in {one.seconds:g} s"
            yield f"  {one.name}: {one.rows:,} rows, {byte_size(one.bytes)}{time}"
        if len(tables) > most:
            yield f"  ... and {counted(len(tables) - most, 'smaller one')}"
        if self.outcome is DumpOutcome.INCOMPLETE:
            yield "  the end of the job is not in the log: cut off, still running, or not in English"


def read_dumps(files: Sequence[Path]) -> list[ReadDump]:
    """Read logs in the order given.

    Raises:
        ToolkitError: TK-0116 for a file that is not there or is no such log.
    """
    return [_read(file) for file in files]


def _read(file: Path) -> ReadDump:
    try:
        with open_file(file) as opened:
            text = text_of(opened.read(_MOST_BYTES))
    except OSError as error:
        raise unreadable(file, error, code=CODE) from None
    except UnreadableError as error:
        raise ToolkitError(f"`{file}`: {error}", code=CODE, hint=_HINT) from None
    log, kind = read(text), _KIND.search(text)
    if kind is None and not (log.tables or log.error_count is not None):
        raise ToolkitError(f"`{file}` is no log of Data Pump", code=CODE, hint=_HINT)
    return ReadDump(str(file), log, None if kind is None else kind[1].lower())
