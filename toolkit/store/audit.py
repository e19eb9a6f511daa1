"""The audit log: JSON lines that are only ever added, each with the hash of the one before.

Beside a store in a file it is a file: the operating system can make it append-only (`chattr +a`), a shipper of
logs can follow it, and it can be written while the store is locked or damaged. A process writes a line by one
`write` under a lock of the file and waits until it is on disk. Of a store that hosts share it is a table
(`audit_table`).

A store has one log, and keeps how many lines of it were seen and the hash of the last, by whatever name of a file
or host one got there: so a log that was cut, replaced or removed is found by the store, an altered line by the
chain.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from toolkit.documents import lock_file, open_file
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind, AuditLine, AuditMark, AuditSeal
from toolkit.store.audit_lines import (
    LogEnd,
    continues,
    hash_of,
    log_name,
    mark_after,
    new_lines,
    number_of,
    parse_line,
)

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

_TAIL_BYTES = 1 << 16
_BLOCK_BYTES = 1 << 20
SEEN, SEALED, CONTINUED = "seen", "sealed", "continued"
"""Under what the store keeps how far its log was seen, how much was found whole, and which log stands alone."""
_MODE, _FOLDER_MODE = 0o600, 0o700


class Marks(Protocol):
    """Where it is kept how far the log of a store was seen."""

    def audit_mark(self, what: str) -> AuditMark | None: ...

    def set_audit_mark(self, what: str, mark: AuditMark, *, durable: bool = True) -> None: ...


class AuditLog(ABC):
    """The log of a store; safe to use from several threads and processes at once.

    Args:
        shown: where it lies, for messages.
        marks: the store that remembers how far it has seen the log; None where there is none.
    """

    def __init__(self, shown: str, marks: Marks | None) -> None:
        self.shown = shown
        self._marks = marks

    @abstractmethod
    def write(self, event: AuditEvent) -> str:
        """Add a line; it is on disk when this returns. Return its hash.

        Raises:
            ToolkitError: TK-0314 when it cannot be written.
        """

    @abstractmethod
    def lines(self, after: AuditSeal | None = None) -> Iterator[bytes]:
        """Yield the lines, or those behind a seal, as they are, without their ends; none where there is no log.

        Raises:
            ToolkitError: TK-0314 when it cannot be read.
        """

    @abstractmethod
    def lines_back(self) -> Iterator[bytes]:
        """Yield the lines from the last to the first; raises as `lines`."""

    @abstractmethod
    def hashed(self, seal: AuditSeal) -> Hash | None:
        """Return the SHA-256 of what was sealed as it is now, to go on with; None where there is not so much.

        Raises:
            ToolkitError: TK-0314 when it cannot be read.
        """

    def ends_whole(self) -> bool:
        """Tell whether the last line has its end."""
        return True

    def events(self, *kinds: AuditKind) -> Iterator[AuditLine]:
        """Yield every line that can be read, the newest first: only as much of the log is read as is taken.

        Args:
            kinds: of the lines; all if not given.
        """
        words = [f'"kind": "{kind.value}"'.encode() for kind in kinds]
        for raw in self.lines_back():
            if words and not any(word in raw for word in words):
                continue  # most lines of a long log need not be parsed
            line = parse_line(raw)
            if line is not None and (not kinds or line.event.kind in kinds):
                yield line

    @property
    def mark(self) -> AuditMark | None:
        """How far the store has seen this log."""
        return None if self._marks is None else self._marks.audit_mark(SEEN)

    @property
    def seal(self) -> AuditSeal | None:
        """What of this log was found whole before."""
        mark = None if self._marks is None else self._marks.audit_mark(SEALED)
        return None if mark is None else AuditSeal.of_mark(mark)

    def set_seal(self, seal: AuditSeal) -> None:
        """Remember what was found whole."""
        if self._marks is not None:
            # a store that is locked or full is told the next time
            with suppress(ToolkitError):
                self._marks.set_audit_mark(SEALED, seal.as_mark())

    def stands_alone(self, first: bytes) -> bool:
        """Tell whether the log that begins so was shown the one before it: the store says so, not the log itself.

        A log of no store, such as one that was put away, is believed: the next one says how it must end.
        """
        if self._marks is None:
            return True
        mark = self._marks.audit_mark(CONTINUED)
        return mark is not None and mark.last == hash_of(first)

    def let_stand_alone(self, first: bytes) -> None:
        """Remember that the log that begins so was shown the one before it.

        Raises:
            ToolkitError: when the store cannot be written.
        """
        if self._marks is not None:
            self._marks.set_audit_mark(CONTINUED, AuditMark(log_name(first), 1, hash_of(first)))

    def _failed(self, what: str, error: OSError, hint: str | None = None) -> ToolkitError:
        reason = (error.strerror or "unknown reason").lower()
        return ToolkitError(f"the audit log `{self.shown}` cannot be {what}: {reason}", code="TK-0314", hint=hint)


class AuditFile(AuditLog):
    """A log that is a file.

    Args:
        path: where it lies; made with its first line.
        marks: as of every log.
    """

    def __init__(self, path: Path, marks: Marks | None = None) -> None:
        super().__init__(str(path), marks)
        self.path = path
        self._turn = threading.Lock()

    def write(self, event: AuditEvent) -> str:
        try:
            with self._turn, self._locked() as handle:
                told, known = self._known()
                end = _end_of(handle, known)
                lines = list(new_lines(end, event, known))
                _append(handle, lines)
        except OSError as error:
            hint = "free space there, or fix its permissions; without a log entry nothing was approved"
            raise self._failed("written", error, hint) from None
        mark = mark_after(end, lines)
        if self._marks is not None and told and continues(end.first or lines[0], known):
            # a store that is locked, full or cut off from power sees the line with the next one
            with suppress(ToolkitError):
                self._marks.set_audit_mark(SEEN, mark, durable=False)
        return mark.last

    def lines(self, after: AuditSeal | None = None) -> Iterator[bytes]:
        with self._opened() as file:
            if file is not None:
                file.seek(0 if after is None else after.size)
                yield from (line.removesuffix(b"\n") for line in file)

    def lines_back(self) -> Iterator[bytes]:
        with self._opened() as file:
            if file is None:
                return
            at, begun = file.seek(0, os.SEEK_END), b""
            while at:
                size = min(_TAIL_BYTES, at)
                at = file.seek(at - size)
                begun, *whole = (file.read(size) + begun).split(b"\n")
                yield from (line for line in reversed(whole) if line)
            yield begun

    def hashed(self, seal: AuditSeal) -> Hash | None:
        digest, left = sha256(), seal.size
        with self._opened() as file:
            while file is not None and left and (read := file.read(min(_BLOCK_BYTES, left))):
                digest.update(read)
                left -= len(read)
        return None if left else digest

    def ends_whole(self) -> bool:
        with self._opened() as file:
            size = 0 if file is None else file.seek(0, os.SEEK_END)
            if file is None or size == 0:
                return True
            file.seek(size - 1)
            return file.read(1) == b"\n"

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO | None]:
        """Give the file to read; None where there is none. A link is not followed, a pipe not waited for."""
        try:
            with open_file(self.path, os.O_NOFOLLOW) as file:
                yield file
        except FileNotFoundError:
            yield None
        except OSError as error:
            raise self._failed("read", error) from None

    def _known(self) -> tuple[bool, AuditMark | None]:
        """Return whether the store answers, and how far it has seen the log."""
        with suppress(ToolkitError):
            return True, self.mark
        return False, None

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Give the file, alone; one that was moved away while we waited is not written to."""
        self.path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        while True:
            handle = os.open(self.path, flags, _MODE)
            try:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
                lock_file(handle)
                if not _is_still(self.path, handle):
                    continue
                yield handle
                return
            finally:
                os.close(handle)


# -- writing ------------------------------------------------------------------------------------------------------
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


def _end_of(handle: int, known: AuditMark | None) -> LogEnd:
    """Return how a file ends."""
    size = os.fstat(handle).st_size
    if size == 0:
        return LogEnd()
    torn, first = _needs_end(handle), os.pread(handle, _TAIL_BYTES, 0).split(b"\n", 1)[0]
    last = _tail(handle, size, 1)[-1]
    number = number_of(last) or _count(handle, size) + torn
    back = 0 if known is None else number - known.lines + 1
    pieces = _tail(handle, size, back) if back > 0 else []
    return LogEnd(first, number, last, torn, pieces[-back] if 0 < back <= len(pieces) else None)


def _tail(handle: int, size: int, wanted: int) -> list[bytes]:
    """Return the last lines, as many as are wanted or all; what stands before them may be half a line."""
    reach = _TAIL_BYTES
    while True:
        reach = min(reach, size)
        pieces = os.pread(handle, reach, size - reach).removesuffix(b"\n").split(b"\n")
        if len(pieces) > wanted or reach == size:
            return pieces
        reach *= 4


def _count(handle: int, size: int) -> int:
    return sum(os.pread(handle, _TAIL_BYTES, at).count(b"\n") for at in range(0, size, _TAIL_BYTES))


def _is_still(path: Path, handle: int) -> bool:
    try:
        there, ours = path.stat(follow_symlinks=False), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
