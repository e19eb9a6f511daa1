"""A host on which users live, seen from the run: what it is told, by its clock, and whether it is still there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from toolkit.app.hosts.agent import Assignment
from toolkit.app.hosts.talk import ClusterHost, Talk, lost_host
from toolkit.executors.users.hosts import Act, Look, Order
from toolkit.model.hosts import Clock, HostSample
from toolkit.model.workload import Measured

_LEAD_SECONDS = 1.0
_LEAD_TRIPS = 20


class Elsewhere:
    """A host of a cluster; a thread talks to it as long as users live there.

    Args:
        place: where.
        assignment: what it takes part in.
        end_sessions: ends what the users of the run have open in the database; called when the host is lost.
    """

    def __init__(self, place: ClusterHost, assignment: Assignment, end_sessions: Callable[[], None]) -> None:
        self.name = place.name
        self._place, self._assignment, self._end_sessions = place, assignment, end_sessions
        self._talk: Talk | None = None

    @property
    def lead_seconds(self) -> float:
        return max(_LEAD_SECONDS, _LEAD_TRIPS * 2 * self.clock().uncertainty_seconds)

    def clock(self) -> Clock:
        return Clock() if self._talk is None else self._talk.clock

    def ask(self, order: Order) -> None:
        if order.act is Act.CONNECT:
            self.close()
            self._talk = self._place.talk(self._assignment)
        if self._talk is None:
            raise lost_host(self.name, "it was given up")
        ahead = self._talk.clock.ahead_seconds if order.at else 0.0
        self._talk.ask(replace(order, at=tuple(at + ahead for at in order.at)))

    def answer(self, look: Look) -> Measured:
        if self._talk is None:
            raise lost_host(self.name, "it was given up")
        return self._talk.answer(look)

    def check(self) -> None:
        if self._talk is not None:
            self._talk.check()

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        return () if self._talk is None else self._talk.samples(begin, end)

    def cancel(self) -> None:
        if self._talk is not None:
            self._talk.dismiss(only_cancel=True)

    def close(self) -> None:
        ended, self._talk = self._talk, None
        if ended is None:
            return
        ended.end()
        if ended.lost is not None:
            self._end_sessions()
