"""What a log of RMAN says: sessions, operations, channels, pieces, errors, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class LogOutcome(StrEnum):
    """How a log ends; `completed` only when nothing of it is missing."""

    COMPLETED = "completed"
    COMPLETED_WITH_WARNINGS = "completed_with_warnings"
    FAILED = "failed"
    INCOMPLETE = "incomplete"


class Datafile(NamedTuple):
    """A data file that went into a set."""

    file: int
    name: str


class ArchivedLog(NamedTuple):
    """An archived log that went into a set."""

    thread: int
    sequence: int


class DatafileSection(NamedTuple):
    """The blocks of a data file that went into one piece of a multi-section set."""

    first_block: int
    last_block: int


class BackupPiece(NamedTuple):
    """A backup piece or an image copy; stamps as printed, in the NLS format of the log.

    `elapsed_seconds` is what RMAN printed for the set when it has one piece, the difference of the stamps when it
    has several and the stamps tell the time of day. `finish` of a copy is read from its STAMP.
    """

    channel: str
    set_type: str
    datafiles: tuple[Datafile, ...] = ()
    archivelogs: tuple[ArchivedLog, ...] = ()
    extra: tuple[str, ...] = ()
    section: DatafileSection | None = None
    piece_no: int | None = None
    start: str | None = None
    finish: str | None = None
    elapsed_seconds: int | None = None
    handle: str | None = None
    tag: str | None = None
    comment: str | None = None
    copies: tuple[str, ...] = ()
    stamp: int | None = None


class RestoreRead(NamedTuple):
    """What a channel read back: a restore, a recovery or a validation."""

    channel: str
    op: str
    elapsed_seconds: int
    handles: tuple[str, ...] = ()
    datafiles: tuple[Datafile, ...] = ()


class RmanMessage(NamedTuple):
    """A coded message: `RMAN-03009` or `ORA-19504`, its text, its line (the first is 1)."""

    code: str
    text: str
    line: int


class RmanOperation(NamedTuple):
    """A command between its `Starting` and its `Finished`; `finish` is None when it never came."""

    op: str
    start: str | None
    finish: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Log:
    """Everything a log says; see the issue of names in `docs/reference`.

    Attributes:
        db_name: as connected; from the names of files where no connection is shown (`db_name_source`).
        causes: the message of each failure that says why, before its frames.
        reads: what was restored or validated.
        corrupt: data files that a validation marked FAILED.
        missing: why the log is not whole, in words.
    """

    db_name: str | None
    db_name_source: str | None
    dbid: int | None
    version: str | None
    outcome: LogOutcome
    channels: Sequence[str]
    operations: Sequence[RmanOperation]
    pieces: Sequence[BackupPiece]
    unfinished: Sequence[BackupPiece]
    reads: Sequence[RestoreRead]
    autobackup_handles: Sequence[str]
    errors: Sequence[RmanMessage]
    causes: Sequence[RmanMessage]
    warnings: Sequence[RmanMessage]
    corrupt: Sequence[int]
    missing: Sequence[str]
    channel_busy_seconds: Mapping[str, int]
    recognised: bool
    lines: int

    @property
    def downgraded(self) -> bool:
        """Whether one channel did the work whatever was asked (RMAN-06908, RMAN-06909)."""
        return any(one.code in {"RMAN-06908", "RMAN-06909"} for one in self.warnings)
