"""A host that takes part in a run, seen from the run: it is held by talking to it."""

from __future__ import annotations

import threading

from toolkit.app.hosts.agent import Assignment
from toolkit.app.hosts.talk import ClusterHost, Talk, lost_host
from toolkit.model.hosts import Clock, HostSample

_LEAD_SECONDS = 1.0
_LEAD_TRIPS = 20


class HeldHost:
    """A host of a cluster; a thread talks to its agent as long as anything of the run is there.

    Args:
        place: where.
        assignment: what it takes part in.
    """

    begun_late_seconds: float | None = None

    def __init__(self, place: ClusterHost, assignment: Assignment) -> None:
        self.name = place.name
        self._place, self._assignment = place, assignment
        self._talk: Talk | None = None
        self._lock = threading.Lock()

    @property
    def lead_seconds(self) -> float:
        """How far ahead a common time must be set for it to know it by then."""
        return max(_LEAD_SECONDS, _LEAD_TRIPS * 2 * self.clock.uncertainty_seconds)

    @property
    def clock(self) -> Clock:
        """How far its clock is ahead."""
        return Clock() if self._talk is None else self._talk.clock

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        """Return what it saw of itself between two times, by `time.monotonic` of the run's host."""
        return () if self._talk is None else self._talk.samples(begin, end)

    def make_ready(self) -> None:
        """Find the host, and measure its clock, before the clock of the trial begins.

        Raises:
            DatabaseError: it is lost.
        """
        talk = self._talking()
        talk.measure_clock(talk.check)

    def cancel(self) -> None:
        """Let what runs there end."""
        self._place.given_up.set()
        if self._talk is not None:
            self._talk.dismiss(only_cancel=True)

    def close(self) -> None:
        """End whatever runs there."""
        ended, self._talk = self._talk, None
        if ended is not None:
            ended.end()

    def _talking(self) -> Talk:
        """Return the talk that goes on, begun anew where there is none or the host was lost."""
        with self._lock:
            if self._talk is None or self._talk.lost is not None:
                self.close()
                self._talk = self._place.talk(self._assignment)
            return self._talk

    def _talk_of(self) -> Talk:
        """Return the talk that goes on.

        Raises:
            DatabaseError: there is none any more.
        """
        talk = self._talk
        if talk is None:
            raise lost_host(self.name, "it was given up")
        return talk
