"""The audit log: JSON lines that are only ever added, each with the hash of the one before.

A file, not a table: the operating system can make it append-only (`chattr +a`), a shipper of logs can follow it,
and it can be written while the store is locked or damaged. The store keeps in turn how many lines it has seen and
the hash of the last, so that a log that was cut, replaced or removed is found by the store, an altered line by the
chain. A process writes a line by one `write` under a lock of the file and waits until it is on disk.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import select

from toolkit.config.actor import actor
from toolkit.errors import ToolkitError
from toolkit.model.audit import Actor, AuditEvent, AuditKind, AuditLine, AuditMark
from toolkit.store import schema
from toolkit.store.database import StorePart

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

_TAIL_BYTES = 1 << 16
_BLOCK_BYTES = 1 << 20
_SEALED = " sealed"
_MOST_DETAILS = 100
_LONGEST_TEXT = 2000
_MODE, _FOLDER_MODE = 0o600, 0o700


class Marks(Protocol):
    """Where it is kept how far a log was seen."""

    def audit_mark(self, path: str) -> AuditMark | None: ...

    def set_audit_mark(self, path: str, mark: AuditMark) -> None: ...


@dataclass(frozen=True, slots=True)
class AuditSeal:
    """The part of a log that was found whole: so many lines, their bytes, and the SHA-256 of these."""

    lines: int
    size: int
    digest: str

    def as_mark(self) -> AuditMark:
        """Return it as the table of marks holds it, in a row of its own: in place of the log's name, its bytes."""
        return AuditMark(log=str(self.size), lines=self.lines, last=self.digest)

    @staticmethod
    def of_mark(mark: AuditMark) -> AuditSeal:
        """Return what `as_mark` wrote."""
        return AuditSeal(mark.lines, int(mark.log), mark.last)


class AuditLog:
    """One log file; safe to use from several threads and processes at once.

    Args:
        path: where it lies; made with its first line.
        marks: the store that remembers how far it has seen the log; None where there is none.
    """

    def __init__(self, path: Path, marks: Marks | None = None) -> None:
        self.path = path
        self._marks = marks
        self._turn = threading.Lock()

    def write(self, event: AuditEvent) -> str:
        """Add a line; it is on disk when this returns. Return its hash.

        Raises:
            ToolkitError: TK-0314 when it cannot be written.
        """
        try:
            with self._turn, self._locked() as handle:
                known = self._known()
                lines = list(_new_lines(handle, event, known))
                _append(handle, lines)
                first = os.pread(handle, _TAIL_BYTES, 0).split(b"\n", 1)[0]
        except OSError as error:
            raise ToolkitError(
                f"the audit log `{self.path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
                code="TK-0314",
                hint="free space there, or fix its permissions; without a log entry nothing was approved",
            ) from None
        last = hash_of(lines[-1])
        if self._marks is not None and (known is None or _continues(first, known)):
            # a store that is locked or full sees the line with the next one
            with suppress(ToolkitError):
                mark = AuditMark(log_name(first), _number(lines[-1]), last)
                self._marks.set_audit_mark(self._key, mark)
        return last

    def lines(self, at: int = 0) -> Iterator[bytes]:
        """Yield the lines from a byte on, as they are, without their ends; none where there is no log.

        Raises:
            ToolkitError: TK-0314 when it cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(at)
                for line in file:
                    yield line.removesuffix(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unreadable(error) from None

    def events(self) -> Iterator[AuditLine]:
        """Yield every line that can be read, the newest first: only as much of the file is read as is taken."""
        for raw in self._lines_back():
            line = parse_line(raw)
            if line is not None:
                yield line

    def _lines_back(self) -> Iterator[bytes]:
        """Yield the lines from the last to the first.

        Raises:
            ToolkitError: TK-0314 when it cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                at, begun = file.seek(0, os.SEEK_END), b""
                while at:
                    size = min(_TAIL_BYTES, at)
                    at = file.seek(at - size)
                    begun, *whole = (file.read(size) + begun).split(b"\n")
                    yield from (line for line in reversed(whole) if line)
                yield begun
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unreadable(error) from None

    def hashed(self, size: int) -> Hash | None:
        """Return the SHA-256 of the first bytes, to go on with; None where there are not so many.

        Raises:
            ToolkitError: TK-0314 when it cannot be read.
        """
        digest, left = sha256(), size
        try:
            with self.path.open("rb") as file:
                while left and (read := file.read(min(_BLOCK_BYTES, left))):
                    digest.update(read)
                    left -= len(read)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from None
        return None if left else digest

    @property
    def seal(self) -> AuditSeal | None:
        """What of this log was found whole before."""
        mark = None if self._marks is None else self._marks.audit_mark(f"{self._key}{_SEALED}")
        return None if mark is None else AuditSeal.of_mark(mark)

    def set_seal(self, seal: AuditSeal) -> None:
        """Remember what was found whole."""
        if self._marks is not None:
            # a store that is locked or full is told the next time
            with suppress(ToolkitError):
                self._marks.set_audit_mark(f"{self._key}{_SEALED}", seal.as_mark())

    def _unreadable(self, error: OSError) -> ToolkitError:
        return ToolkitError(
            f"the audit log `{self.path}` cannot be read: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0314",
        )

    def ends_whole(self) -> bool:
        """Tell whether the last line has its end."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 1))
                return size == 0 or file.read(1) == b"\n"
        except OSError:
            return True

    @property
    def mark(self) -> AuditMark | None:
        """How far the store has seen this log."""
        return None if self._marks is None else self._marks.audit_mark(self._key)

    @property
    def _key(self) -> str:
        return f"{actor().host}:{self.path}"

    def _known(self) -> AuditMark | None:
        with suppress(ToolkitError):
            return self.mark
        return None

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Give the file, alone; one that was moved away while we waited is not written to."""
        self.path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, _MODE)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if not _is_still(self.path, handle):
                    continue
                yield handle
                return
            finally:
                os.close(handle)


def parse_line(raw: bytes) -> AuditLine | None:
    """Read a line; None for what is none."""
    try:
        data = json.loads(raw)
        who = Actor(**{**data["who"], "command": tuple(data["who"].get("command", ()))})
        known = {one.name for one in fields(AuditEvent)}
        values = {name: value for name, value in data.items() if name in known}
        event = AuditEvent(
            **{**values, "kind": AuditKind(data["kind"]), "details": tuple(values.get("details", ()))}
        )
        return AuditLine(int(data["number"]), str(data["at"]), who, event, data["before"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


# -- writing ------------------------------------------------------------------------------------------------------
def _new_lines(handle: int, event: AuditEvent, known: AuditMark | None) -> Iterator[bytes]:
    """Yield what is to be added: a first line to a new log, a word about lines not whole, and the line."""
    size = os.fstat(handle).st_size
    number, before, torn = 0, None, False
    if size == 0:
        details = [f"log {secrets.token_hex(8)}"]
        if known is not None:
            details.append(f"after log {known.log}: {known.lines} lines, the last {known.last}")
        number, line = 1, _line(1, AuditEvent(AuditKind.LOG_BEGIN, details=tuple(details)), None)
        before = hash_of(line)
        yield line
    else:
        number, last, torn = _last(handle, size)
        before = hash_of(last)
        for noticed in _events_of(handle, number, last, torn, known):
            number += 1
            line = _line(number, noticed, before)
            before = hash_of(line)
            yield line
    yield _line(number + 1, event, before)


def _events_of(handle: int, number: int, last: bytes, torn: bool, known: AuditMark | None) -> Iterator[AuditEvent]:
    """Yield events about lines cut or altered: the next line replaces what the store knows of them."""
    if torn:
        reason = "the previous line was truncated: power failure or full disk"
        yield AuditEvent(AuditKind.LINE_CUT, reason=reason)
    if known is None or known.log != log_name(os.pread(handle, _TAIL_BYTES, 0).split(b"\n", 1)[0]):
        return
    if number - torn < known.lines and not (torn and number == known.lines):
        reason = f"lines are missing: the store recorded {known.lines} lines, the last {known.last}"
        yield AuditEvent(AuditKind.LOG_ALTERED, reason=reason)
    elif number == known.lines and hash_of(last) != known.last:
        reason = f"line {number} was altered: the store recorded another one, {known.last}"
        yield AuditEvent(AuditKind.LOG_ALTERED, reason=reason)


def _continues(first: bytes, known: AuditMark) -> bool:
    """Tell whether a log is the one that the store knows, or says of itself that it came after it."""
    line = parse_line(first)
    after = f"after log {known.log}:"
    return log_name(first) == known.log or (
        line is not None and any(one.startswith(after) for one in line.event.details)
    )


def _line(number: int, event: AuditEvent, before: str | None) -> bytes:
    values = {name: value for name, value in asdict(_bounded(event)).items() if value not in (None, (), "")}
    who = {name: value for name, value in asdict(actor()).items() if value not in (None, (), "")}
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"number": number, "at": at, **values, "who": who, "before": before}).encode("ascii")


def _bounded(event: AuditEvent) -> AuditEvent:
    """Keep a line so short that one `write` takes it and a tail finds it."""
    details, more = event.details[:_MOST_DETAILS], len(event.details) - _MOST_DETAILS
    shown = tuple(one[: _LONGEST_TEXT // 4] for one in details) + ((f"and {more} more",) if more > 0 else ())
    return replace(event, details=shown, reason=event.reason and event.reason[:_LONGEST_TEXT])


def _append(handle: int, lines: list[bytes]) -> None:
    torn = _needs_end(handle)
    data = (b"\n" if torn else b"") + b"".join(line + b"\n" for line in lines)
    written = os.write(handle, data)
    if written != len(data):
        raise OSError(28, "no space left on device")
    os.fsync(handle)


def _needs_end(handle: int) -> bool:
    size = os.fstat(handle).st_size
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"


def _last(handle: int, size: int) -> tuple[int, bytes, bool]:
    """Return number and text of the last line, and whether it was cut short."""
    torn = _needs_end(handle)
    reach = _TAIL_BYTES
    while True:
        reach = min(reach, size)
        pieces = os.pread(handle, reach, size - reach).removesuffix(b"\n").split(b"\n")
        if len(pieces) > 1 or reach == size:
            break
        reach *= 4
    number = _number(pieces[-1])
    return number or _count(handle, size) + torn, pieces[-1], torn


def _count(handle: int, size: int) -> int:
    return sum(os.pread(handle, _TAIL_BYTES, at).count(b"\n") for at in range(0, size, _TAIL_BYTES))


def _number(raw: bytes) -> int:
    line = parse_line(raw)
    return 0 if line is None else line.number


def log_name(first: bytes) -> str:
    """Return what the first line of a log calls it; empty where it is no first line."""
    line = parse_line(first)
    if line is None or line.event.kind is not AuditKind.LOG_BEGIN or not line.event.details:
        return ""
    return line.event.details[0].removeprefix("log ")


def hash_of(raw: bytes) -> str:
    """Return the hash of a line."""
    return sha256(raw).hexdigest()


def _is_still(path: Path, handle: int) -> bool:
    try:
        there, ours = path.stat(follow_symlinks=False), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


# -- how far each log was seen ------------------------------------------------------------------------------------
_table = schema.audit_mark


class AuditMarks(StorePart):
    """Writes and reads marks."""

    def audit_mark(self, path: str) -> AuditMark | None:
        """Return how far a log was seen; None for one that never was."""
        with self._database.read() as connection:
            row = connection.execute(select(_table).where(_table.c.path == path)).first()
        return None if row is None else AuditMark(row.log, row.line_count, row.last_hash)

    def set_audit_mark(self, path: str, mark: AuditMark) -> None:
        """Store how far a log was seen; of two processes the one that has seen more is right."""
        with self._database.write("the mark of the audit log") as connection:
            self._database.serialize(connection)
            known = connection.execute(select(_table).where(_table.c.path == path)).first()
            if known is not None and known.log == mark.log and known.line_count >= mark.lines:
                return
            connection.execute(_table.delete().where(_table.c.path == path))
            values = {"log": mark.log, "line_count": mark.lines, "last_hash": mark.last}
            connection.execute(_table.insert().values(path=path, marked_at=datetime.now(UTC), **values))
