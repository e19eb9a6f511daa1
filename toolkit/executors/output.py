"""Takes what a program writes, whatever it is and however much: the beginning and the end of it are kept.

It writes to a pipe that has a name, which /proc shows (proc(5)): so a process is known for one of a run by its
output, too, when it has nothing else of that run: its environment, its parent and its session.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.model.protocols import OutputLine
from toolkit.units import byte_size

KEPT_BYTES = 1 << 20
"""How much is kept of the beginning, and as much of the end."""
KEPT_LINES = 20_000
"""How many lines are kept of each at most: a line is an object of some 300 bytes, however short it is."""
_AT_ONCE = 1 << 18
_LONGEST_LINE = 8000
_PREFIX = "dbatk-output-"
_NAME = re.compile(rf"/{_PREFIX}[^/]+/([^/]+) \(deleted\)")


def pipe_of(run: str) -> tuple[int, int]:
    """Return the ends of a new pipe, to read and to write; it is named after a run where a file can be made."""
    with suppress(OSError), tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        place = Path(folder) / run
        os.mkfifo(place, 0o600)
        source = os.open(place, os.O_RDONLY | os.O_NONBLOCK)  # or it would wait for one who writes
        sink = os.open(place, os.O_WRONLY)
        os.set_blocking(source, True)
        return source, sink
    return os.pipe()


def run_written_to(pid: int) -> str | None:
    """Return the run to whose pipe a process writes; None of any other, and of one that may not be looked at."""
    for number in (1, 2):
        with suppress(OSError):
            found = _NAME.search(os.readlink(f"/proc/{pid}/fd/{number}"))  # noqa: PTH115 (the target may be no path)
            if found:
                return found[1]
    return None


@dataclass(slots=True)
class Output:
    """What a program wrote: parts with the instant at which each came, by `time.perf_counter`."""

    total_bytes: int = 0
    _head: list[tuple[float, bytes]] = field(default_factory=list)
    _head_bytes: int = 0
    _tail: deque[tuple[float, bytes]] = field(default_factory=deque)
    _tail_bytes: int = 0

    def read_all(self, descriptor: int) -> None:
        """Read until everybody who could write has closed it, and close it."""
        try:
            while part := os.read(descriptor, _AT_ONCE):
                self.add(time.perf_counter(), part)
        finally:
            os.close(descriptor)

    def add(self, at: float, part: bytes) -> None:
        """Take one part."""
        self.total_bytes += len(part)
        if self._head_bytes < KEPT_BYTES:
            room = KEPT_BYTES - self._head_bytes
            self._head.append((at, part[:room]))
            self._head_bytes += len(part[:room])
            part = part[room:]
        if part:
            self._tail.append((at, part))
            self._tail_bytes += len(part)
            while self._tail_bytes - len(self._tail[0][1]) >= KEPT_BYTES:
                self._tail_bytes -= len(self._tail.popleft()[1])

    @property
    def left_out_bytes(self) -> int:
        """How much of it was not kept."""
        return self.total_bytes - self._head_bytes - self._tail_bytes

    def lines(self, begun: float) -> tuple[OutputLine, ...]:
        """Return the lines that are kept, with a remark where some are not; bytes that are no UTF-8 are replaced.

        Args:
            begun: the instant from which seconds are counted.
        """
        if self.left_out_bytes:
            first, last = _lines(self._head), _lines(self._tail)
        else:
            every = _lines((*self._head, *self._tail))
            first, last = every[:KEPT_LINES], every[KEPT_LINES:]
        left_out = self.left_out_bytes
        for dropped in (first[KEPT_LINES:], last[:-KEPT_LINES]):
            left_out += sum(len(line) + 1 for _, line in dropped)
        first, last = first[:KEPT_LINES], last[-KEPT_LINES:]
        found = [_line(at - begun, line) for at, line in first]
        if left_out:
            found.append(OutputLine(last[0][0] - begun, f"[{byte_size(left_out)} left out here]"))
        return (*found, *(_line(at - begun, line) for at, line in last))


def _lines(parts: Iterable[tuple[float, bytes]]) -> list[tuple[float, bytes]]:
    """Return lines with the instant at which each was whole."""
    found: list[tuple[float, bytes]] = []
    rest, at = b"", 0.0
    for at, part in parts:
        *whole, rest = (rest + part).split(b"\n")
        found += [(at, line) for line in whole]
    return [*found, (at, rest)] if rest else found


def _line(at_seconds: float, raw: bytes) -> OutputLine:
    text = raw[:_LONGEST_LINE].decode(errors="replace").rstrip("\r")
    return OutputLine(at_seconds, text)
