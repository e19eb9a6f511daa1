"""Takes what a program writes, whatever it is and however much: the beginning and the end of it are kept."""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass, field

from toolkit.model.protocols import OutputLine
from toolkit.units import byte_size

KEPT_BYTES = 1 << 20
"""How much is kept of the beginning, and as much of the end."""
_AT_ONCE = 1 << 18
_LONGEST_LINE = 8000


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
        found = _lines(self._head, begun)
        if self.left_out_bytes:
            found.append(OutputLine(self._tail[0][0] - begun, f"[{byte_size(self.left_out_bytes)} left out here]"))
        return (*found, *_lines(self._tail, begun))


def _lines(parts: list[tuple[float, bytes]] | deque[tuple[float, bytes]], begun: float) -> list[OutputLine]:
    found: list[OutputLine] = []
    rest = b""
    at = begun
    for at, part in parts:
        *whole, rest = (rest + part).split(b"\n")
        found += [_line(at - begun, line) for line in whole]
    return [*found, _line(at - begun, rest)] if rest else found


def _line(at_seconds: float, raw: bytes) -> OutputLine:
    text = raw[:_LONGEST_LINE].decode(errors="replace").rstrip("\r")
    return OutputLine(at_seconds, text)
