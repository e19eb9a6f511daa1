"""A host on which users live, seen from the run: what it is told, by its clock, and whether it is still there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from toolkit.app.hosts.agent import Assignment
from toolkit.app.hosts.held import HeldHost
from toolkit.app.hosts.talk import ClusterHost
from toolkit.executors.users.hosts import Act, Look, Order
from toolkit.model.workload import Measured


class UsersElsewhere(HeldHost):
    """Users on a host of a cluster.

    Args:
        place: where.
        assignment: what it takes part in.
        end_sessions: ends what the users of the run have open in the database; called when the host is lost.
    """

    def __init__(self, place: ClusterHost, assignment: Assignment, end_sessions: Callable[[], None]) -> None:
        super().__init__(place, assignment)
        self._end_sessions = end_sessions

    def ask(self, order: Order) -> None:
        if order.act is Act.CONNECT:
            self.close()
            self._talk = self._place.talk(self._assignment)
        talk = self._talk_of()
        ahead = talk.clock.ahead_seconds if order.at else 0.0
        talk.ask(replace(order, at=tuple(at + ahead for at in order.at)))

    def answer(self, look: Look) -> Measured:
        return self._talk_of().answer(look)

    def check(self) -> None:
        if self._talk is not None:
            self._talk.check()

    def close(self) -> None:
        ended = self._talk
        super().close()
        if ended is not None and ended.lost is not None:
            self._end_sessions()
