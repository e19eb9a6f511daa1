"""Other hosts that take part in a run: what is known of each, and what it does for the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from toolkit.model.hosts import Clock, HostSample
from toolkit.model.protocols import Answer, Connection
from toolkit.model.steps import Step

_LOOKS = 8


def ticks_ahead() -> float:
    """Return by how many seconds `time.perf_counter` is ahead of `time.monotonic` on this host.

    Two looks one after the other do not tell: on a busy host the process may have to wait between them. Of several
    the one counts whose looks were closest together.
    """

    def look() -> tuple[float, float]:
        before, ticks, after = time.monotonic(), time.perf_counter(), time.monotonic()
        return after - before, ticks - (before + after) / 2

    return min(look() for _ in range(_LOOKS))[1]


class Host(Protocol):
    """Another host that takes part; safe to `cancel` from another thread."""

    name: str

    @property
    def clock(self) -> Clock:
        """How far its clock is ahead of that of the run's host."""
        ...

    @property
    def begun_late_seconds(self) -> float | None:
        """How long after the common begin its first work began; None where there was none to keep."""
        ...

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        """Return what it saw of itself between two times, by `time.monotonic` of the run's host."""
        ...

    def make_ready(self) -> None:
        """Find it, and measure its clock, before the clock of a trial begins.

        Raises:
            DatabaseError: it is lost.
        """
        ...

    def cancel(self) -> None:
        """Let what runs there end."""
        ...

    def close(self) -> None:
        """End whatever runs there; never raises."""
        ...


class ProgramsHost(Host, Protocol):
    """One on which programs run."""

    at_work: int

    def run(self, step: Step, asked_to_end: Callable[[], bool]) -> Answer:
        """Run a program to its end.

        Raises:
            DatabaseError: it failed or was cancelled, or the host is lost.
        """
        ...


class SessionsHost(Host, Protocol):
    """One that has worker sessions of the run in the database, and reads the files that they load."""

    @property
    def lead_seconds(self) -> float:
        """How far ahead a common begin must be set for this host to know it by then."""
        ...

    def begin_at(self, at: float) -> None:
        """Let the first statement of each of its sessions from now on wait for a time of `time.monotonic` here."""
        ...

    def connect(self) -> Connection:
        """Open a session there.

        Raises:
            DatabaseError: the host is lost.
            ToolkitError: the database cannot be reached from there, or what the host knows of it forbids the work.
        """
        ...
