"""A host on which jobs of a mix run, seen from the run."""

from __future__ import annotations

import threading
from collections.abc import Callable

from toolkit.app.hosts.agent import Assignment
from toolkit.app.hosts.talk import ClusterHost, Talk
from toolkit.model.hosts import Clock, HostSample
from toolkit.model.protocols import Answer
from toolkit.model.steps import Step


class ProgramsElsewhere:
    """Runs programs on a host of a cluster; safe to `cancel` from another thread.

    Args:
        place: where.
        assignment: what it takes part in.
    """

    def __init__(self, place: ClusterHost, assignment: Assignment) -> None:
        self.name = place.name
        self._place, self._assignment = place, assignment
        self._talk: Talk | None = None
        self._lock = threading.Lock()
        self.at_work = 0

    def make_ready(self) -> None:
        """Find the host, and measure its clock, before the clock of the trial begins.

        Raises:
            DatabaseError: it is lost.
        """
        with self._lock:
            if self._talk is None or self._talk.lost is not None:
                self.close()
                self._talk = self._place.talk(self._assignment)
            talk = self._talk
        talk.measure_clock(talk.check)

    def run(self, step: Step, asked_to_end: Callable[[], bool]) -> Answer:
        """Run a program to its end.

        Raises:
            DatabaseError: it failed or was cancelled, or the host is lost.
        """
        if self._talk is None:
            self.make_ready()
        talk = self._talk
        assert talk is not None
        told = False

        def tick() -> None:
            nonlocal told
            if not told and asked_to_end():
                told = True
                talk.dismiss(only_cancel=True)

        with self._lock:
            self.at_work += 1
        try:
            return talk.run(step, tick)
        finally:
            with self._lock:
                self.at_work -= 1

    @property
    def clock(self) -> Clock:
        """How far its clock is ahead."""
        return Clock() if self._talk is None else self._talk.clock

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        """Return what it saw of itself between two times, by `time.monotonic` of the run's host."""
        return () if self._talk is None else self._talk.samples(begin, end)

    def cancel(self) -> None:
        """Let what runs there end."""
        if self._talk is not None:
            self._talk.dismiss(only_cancel=True)

    def close(self) -> None:
        """End whatever runs there."""
        ended, self._talk = self._talk, None
        if ended is not None:
            ended.end()
