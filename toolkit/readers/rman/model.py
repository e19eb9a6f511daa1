"""What a log of RMAN says (operations, pieces, errors, and how it ended), as values and as a JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from toolkit.readers.rman.reports import RmanReport


class LogOutcome(StrEnum):
    """How a log ends; `completed` only when all that began has ended, `nothing_done` when nothing began."""

    COMPLETED = "completed"
    COMPLETED_WITH_WARNINGS = "completed_with_warnings"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    NOTHING_DONE = "nothing_done"


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
    has several and the stamps tell the time of day. `finish` of a copy is read from its STAMP. `bytes` are what
    LIST printed, rounded as it does, or those of its file. `operation` counts the commands of the log from 0.
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
    operation: int | None = None
    bytes: int | None = None


class RestoreRead(NamedTuple):
    """What a channel read back: a restore, a recovery or a validation.

    `bytes` are those of the data files as REPORT SCHEMA printed them, for a restore alone.
    """

    channel: str
    op: str
    elapsed_seconds: int
    handles: tuple[str, ...] = ()
    datafiles: tuple[Datafile, ...] = ()
    operation: int | None = None
    bytes: int | None = None


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


_MOST_SHARED = 20_000


class Shared(dict[str, str]):
    """Texts that many pieces have alike, kept once: `shared[text]` is the one that is kept."""

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[tuple[Datafile, ...], tuple[Datafile, ...]] = {}

    def __missing__(self, text: str) -> str:
        """Keep a text that is new, as long as there is room."""
        if len(self) < _MOST_SHARED:
            self[text] = text
        return text

    def files(self, found: list[Datafile]) -> tuple[Datafile, ...]:
        """Return the data files of a set as they are kept."""
        files = tuple(found)
        if len(self._files) < _MOST_SHARED:
            return self._files.setdefault(files, files)
        return self._files.get(files, files)


@dataclass(frozen=True, slots=True)
class Log:
    """Everything a log says.

    Attributes:
        db_name: as connected; from the names of files where no connection is shown (`db_name_source`).
        causes: the message of each failure that says why, before its frames.
        reads: what was restored or validated.
        corrupt: data files that a validation marked FAILED.
        missing: what began and did not end in it, in words.
        excerpt: what of the session around the operations it does not show, in words.
        corrected: lines of commands that failed in a session somebody typed, and succeeded when given again.
        done: how often RMAN stated what has no beginning and no end in a log, such as `deleted backup piece`.
        reports: what REPORT answered, and what LIST showed as expired.
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
    excerpt: Sequence[str]
    corrected: Sequence[int]
    channel_busy_seconds: Mapping[str, int]
    recognised: bool
    lines: int
    done: Mapping[str, int] = field(default_factory=dict)
    reports: Sequence[RmanReport] = ()

    @property
    def downgraded(self) -> bool:
        """Whether one channel did the work whatever was asked (RMAN-06908, RMAN-06909)."""
        return any(one.code in {"RMAN-06908", "RMAN-06909"} for one in self.warnings)


# -- the document of `dbatk backup read --json` -----------------------------------------------------------------
JsonValue = object


def log_document(log: Log, file: str, *, whole: bool = True) -> dict[str, JsonValue]:
    """Return the document of a log; what it does not say is null.

    Args:
        whole: False leaves the list of pieces empty, for those who write it bit by bit.
    """
    return {
        "file": file,
        "db_name": log.db_name,
        "db_name_source": log.db_name_source,
        "dbid": log.dbid,
        "version": log.version,
        "outcome": log.outcome.value,
        "downgraded": log.downgraded,
        "channels": list(log.channels),
        "operations": [
            {"op": one.op, "start": one.start, "finish": one.finish, "line": one.line} for one in log.operations
        ],
        "pieces": [piece_document(piece) for piece in log.pieces] if whole else [],
        "unfinished": [piece_document(piece) for piece in log.unfinished],
        "reads": [_reading(one) for one in log.reads],
        "autobackup_handles": list(log.autobackup_handles),
        "errors": _messages(log.errors),
        "causes": _messages(log.causes),
        "warnings": _messages(log.warnings),
        "corrupt_datafiles": list(log.corrupt),
        "missing": list(log.missing),
        "excerpt": list(log.excerpt),
        "corrected_lines": list(log.corrected),
        "channel_busy_seconds": dict(log.channel_busy_seconds),
        "done": dict(log.done),
        "reports": [one.document() for one in log.reports],
    }


def piece_document(piece: BackupPiece) -> dict[str, JsonValue]:
    """Return one piece; a log may have a hundred thousand, and most have no sections, copies or logs."""
    (
        channel, set_type, files, logs, extra, section, number, start, finish, elapsed, handle, tag, comment,
        copies, _, _, size,
    ) = piece  # fmt: skip
    return {
        "channel": channel,
        "set_type": set_type,
        "datafiles": [{"file": file, "name": name} for file, name in files] if files else [],
        "archivelogs": [{"thread": thread, "sequence": sequence} for thread, sequence in logs] if logs else [],
        "extra": list(extra),
        "section": section and {"first_block": section.first_block, "last_block": section.last_block},
        "piece_no": number,
        "start": start,
        "finish": finish,
        "elapsed_seconds": elapsed,
        "handle": handle,
        "tag": tag,
        "comment": comment,
        "copies": list(copies),
        "bytes": size,
    }


def _reading(one: RestoreRead) -> dict[str, JsonValue]:
    return {
        "channel": one.channel,
        "op": one.op,
        "handles": list(one.handles),
        "datafiles": [{"file": file.file, "name": file.name} for file in one.datafiles],
        "elapsed_seconds": one.elapsed_seconds,
        "bytes": one.bytes,
    }


def _messages(messages: Sequence[RmanMessage]) -> list[JsonValue]:
    return [{"code": one.code, "text": one.text, "line": one.line} for one in messages]
