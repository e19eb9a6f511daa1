"""Talks with the agent of one host of a cluster: gives orders, measures its clock, and tells when it is lost."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from secrets import token_hex
from typing import TYPE_CHECKING, TypeVar

from toolkit import __version__
from toolkit.app.clusters import WorkerCheck, within, workers_of
from toolkit.app.hosts.agent import Assignment, Reply, dismiss, look, talk
from toolkit.executors.users.hosts import HOST_LOST, TICK_SECONDS, Act, Look, Order, silent
from toolkit.executors.users.orders import raise_told
from toolkit.model.hosts import Clock, HostSample, RoundTrip, clock_of
from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import Measured

if TYPE_CHECKING:
    from distributed import Client

_Came = TypeVar("_Came")
LOST_SECONDS = 15.0
"""After how long without an answer a host is lost."""
BACK_SECONDS = 15.0
"""How long a trial waits for the worker of a host that was lost."""
_TRIPS = 16
_TRIP_SECONDS = 60.0
"""How old the round trips are at most that tell of the clock: clocks drift apart, by up to 500 ppm."""
_RESTS = 1.0
_LOOK_SECONDS = 0.05


class Roll:
    """Which workers the scheduler of a cluster knows: it hears at once that one ended, but not that one hangs."""

    def __init__(self, client: Client, workers: Iterable[str]) -> None:
        self._client = client
        self.workers = frozenset(workers)
        self.call()
        threading.Thread(target=self._call_again, daemon=True, name="roll of the workers").start()

    def call(self) -> frozenset[str]:
        """Ask the scheduler; the workers known before stay where it does not answer."""
        with suppress(Exception):
            self.workers = within(LOST_SECONDS, partial(workers_of, self._client))
        return self.workers

    def _call_again(self) -> None:
        while self._client.status not in ("closed", "closing"):
            time.sleep(_RESTS)
            with suppress(Exception):
                self.workers = workers_of(self._client)


@dataclass(slots=True)
class ClusterHost:
    """A host of a cluster.

    Attributes:
        client: of the cluster.
        roll: of its workers.
        worker: the address of its worker on that host.
        name: of the host.
    """

    client: Client
    roll: Roll
    worker: str
    name: str
    known: frozenset[str] = frozenset()
    """The workers that were there when the run began: one that is frozen is not asked again."""
    given_up: threading.Event = field(default_factory=threading.Event)
    """Set where nobody waits any more for a worker that is begun anew."""
    _back_by: float | None = None

    def talk(self, assignment: Assignment) -> Talk:
        """Begin to talk with a new agent there."""
        self._wait_for_worker()
        return Talk(self, assignment)

    def _wait_for_worker(self) -> None:
        """Wait for a worker that is gone, which its nanny begins anew: once, that a dead host delays one trial."""
        while not self._has_worker():
            self._back_by = self._back_by or time.monotonic() + BACK_SECONDS
            if time.monotonic() > self._back_by or self.given_up.wait(_RESTS):
                return
        self._back_by = None

    def _has_worker(self) -> bool:
        """Take the worker that this host has now, where the one before is gone and one was begun anew."""
        now = self.roll.call()
        if self.worker in now:
            return True
        new = sorted(now - self.known)
        with suppress(Exception):
            ask = partial(self.client.run, look, workers=new, on_error="return")
            found = within(LOST_SECONDS, ask) if new else {}
            checks = ((worker, check) for worker, check in found.items() if isinstance(check, WorkerCheck))
            self.worker = next(
                (worker for worker, check in checks if (check.host, check.version) == (self.name, __version__)),
                self.worker,
            )
        return self.worker in now


def lost_host(name: str, why: str) -> DatabaseError:
    return DatabaseError(f"host `{name}` was lost: {why}", code=HOST_LOST)


class Talk:
    """What goes on with one agent, from its first order to its end."""

    def __init__(self, place: ClusterHost, assignment: Assignment) -> None:
        self._place, self._client, self._worker = place, place.client, place.worker
        self.key = f"{assignment.run} {token_hex(4)}"
        self._assignment: Assignment | None = assignment
        self._trips: deque[RoundTrip] = deque(maxlen=_TRIPS)
        self._samples: list[HostSample] = []
        self._number, self._order = 0, Order(Act.LOOK)
        self._reply: Reply | None = None
        self._wake, self._heard = threading.Event(), threading.Event()
        self._last = time.monotonic()
        self._ended = False
        self.lost: str | None = None
        threading.Thread(target=self._go_on, daemon=True, name=f"talk with {place.name}").start()

    def ask(self, order: Order) -> None:
        """Give an order; the thread that talks sends it."""
        self.check()
        self._order, self._number = order, self._number + 1
        self._wake.set()

    def answer(self, look: Look) -> Measured:
        """Wait for what came of the last order."""
        until = time.monotonic() + self._order.limit_seconds
        while (reply := self._reply) is None or reply.done < self._number:
            look()  # which checks this host, too
            if time.monotonic() > until:
                raise silent()
            self._heard.wait(TICK_SECONDS)
            self._heard.clear()
        raise_told(reply.error)
        if self._order.act is Act.CONNECT:
            self.measure_clock(look)
        return reply.found

    @property
    def clock(self) -> Clock:
        """How far its clock is ahead, by the quickest of the last round trips."""
        recent = [trip for trip in (*self._trips,) if time.monotonic() - trip.answered < _TRIP_SECONDS]
        return clock_of(recent or (*self._trips,)) if self._trips else Clock()

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        """Return what the host saw of itself between two times of our clock, in that clock."""
        ahead, seen = self.clock.ahead_seconds, self._samples
        first = bisect_left(seen, begin + ahead, key=attrgetter("at"))
        last = bisect_right(seen, end + ahead, key=attrgetter("at"))
        return tuple(replace(one, at=one.at - ahead) for one in seen[first:last])

    def check(self) -> None:
        """Raise that the host is lost, or what its users failed of.

        Raises:
            DatabaseError: of the host or of the database.
        """
        waited, reply = time.monotonic() - self._last, self._reply
        if self.lost is None and self._worker not in self._place.roll.workers:
            self.lost = f"its worker {self._worker} ended"
        if self.lost is None and waited > LOST_SECONDS:
            self.lost = f"it has not answered for {waited:.0f} s"
        if self.lost is not None:
            raise lost_host(self._place.name, self.lost)
        if reply is not None and reply.done == self._number:
            raise_told(reply.error)

    def dismiss(self, *, only_cancel: bool = False) -> None:
        """Send word to cancel or to end, without waiting for it."""
        threading.Thread(target=self._dismiss, args=(only_cancel,), daemon=True, name="dismiss").start()

    def end(self) -> None:
        """End the users there; one that is lost hears of it when it can, and ends by itself if it cannot."""
        self._ended = True
        self._wake.set()
        sent = threading.Thread(target=self._dismiss, args=(False,), daemon=True, name="dismiss")
        sent.start()
        sent.join(0.0 if self.lost else LOST_SECONDS)

    def _dismiss(self, only_cancel: bool) -> None:
        with suppress(Exception):
            self._client.run(dismiss, self.key, only_cancel=only_cancel, workers=[self._worker])

    def call(self, work: Callable[[], Awaitable[_Came]], tick: Look = lambda: None) -> _Came:
        """Let the agent do something that takes long, and wait for what comes of it.

        Args:
            work: run in the event loop of the worker, which it must not keep.
            tick: called now and then; it may ask for a cancel, and raises what keeps the run from waiting.

        Raises:
            DatabaseError: the host is lost.
        """
        came: list[_Came | Exception] = []
        heard = threading.Event()

        def ask() -> None:
            try:
                came.append(self._client.run(work, workers=[self._worker])[self._worker])
            except Exception as error:  # noqa: BLE001 - whatever the cluster's library raises
                came.append(error)
            heard.set()

        threading.Thread(target=ask, daemon=True, name="work elsewhere").start()
        while not heard.wait(_LOOK_SECONDS):
            tick()
            self.check()
        if isinstance(came[0], Exception):
            time.sleep(_RESTS)  # who ended is soon known
            self.check()
            raise lost_host(
                self._place.name, f"its worker {self._worker} does not answer ({type(came[0]).__name__})"
            )
        return came[0]

    def measure_clock(self, look: Look) -> None:
        """Wait until enough round trips were made."""
        while len(self._trips) < _TRIPS:
            look()
            self._wake.set()
            self._heard.wait(TICK_SECONDS)
            self._heard.clear()

    # -- in the thread that talks -------------------------------------------------------------------------------
    def _go_on(self) -> None:
        while not self._ended and self.lost is None:
            number = self._number
            order = self._order if number > (self._reply.done if self._reply else 0) else None
            try:
                self._take(*self._asked(number, order))
            except Exception as error:  # noqa: BLE001 - whatever the cluster's library raises
                self.lost = self.lost or f"its worker {self._worker} does not answer ({type(error).__name__})"
            self._heard.set()
            waits_for_answer = order is not None and order.act is not Act.MEASURE
            self._wake.wait(TICK_SECONDS if waits_for_answer else _RESTS)
            self._wake.clear()

    def _asked(self, number: int, order: Order | None) -> tuple[float, float, float, Reply | None]:
        wall, asked = time.time(), time.monotonic()
        found = self._client.run(talk, self.key, number, order, self._assignment, workers=[self._worker])
        return wall, asked, time.monotonic(), found.get(self._worker)

    def _take(self, wall: float, asked: float, answered: float, reply: Reply | None) -> None:
        if reply is None:
            self.lost = "its worker was begun anew, or ended the users since it had not heard of the run"
            return
        self._assignment = None  # the agent is made
        self._last = answered
        self._trips.append(RoundTrip(asked, answered, reply.now, wall, reply.wall))
        self._samples += reply.samples
        self._reply = reply
