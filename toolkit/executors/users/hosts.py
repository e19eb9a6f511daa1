"""The hosts on which users live: what a run asks of each, and the one that the run itself is on.

One host drives its users in processes of its own, so that neither one process nor a switch between many is what is
measured. An engine that is a library of this process has its users in threads of it.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import Protocol

from toolkit.executors.keeper import receive, send
from toolkit.executors.keeping import begin_linked
from toolkit.executors.users.crew import Crew, dealt
from toolkit.executors.users.orders import Json, access_told, measured_of, raise_told
from toolkit.model.engines import engine
from toolkit.model.hosts import THIS_HOST, Clock, HostSample
from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import Measured, Workload
from toolkit.targets.base import SessionTag, UsersTarget

TICK_SECONDS = 0.1
BEGIN_SECONDS = 120.0
END_SECONDS = 40.0
LEAD_SECONDS = 0.1
"""How far ahead a common time is set on one host, so that every process knows it by then."""
_PROCESSES = 4
HOST_LOST, ORDER_LATE = "host-lost", "order-late"
"""Codes of a host that is gone or silent, and of one that heard too late when all were to begin together."""
Look = Callable[[], None]
"""Raises what keeps a run from waiting any longer."""


def processes_for(users: int) -> int:
    """Return how many processes so many users live in on this host: one for each processor, but at least four.

    Of eight users on two processors, in two processes, the 95th percentile of a select was a third higher, as
    those of one process wait for each other (by Python's lock); eight processes cost a tenth of the throughput.
    """
    return min(users, max(_PROCESSES, os.cpu_count() or 1))


class Act(StrEnum):
    """What the users of a host are told."""

    CONNECT = "connect"
    BEGIN = "begin"
    LOOK = "look"
    MEASURE = "measure"
    END = "end"


@dataclass(frozen=True, slots=True)
class Order:
    """One order to the users of a host.

    Attributes:
        act: what they are to do.
        workload: of CONNECT: what all users do.
        numbers: of CONNECT: which of the users live on this host.
        at: of BEGIN when to begin, of MEASURE begin and end, by `time.monotonic` of the host that gives the order.
    """

    act: Act
    workload: Workload | None = None
    numbers: tuple[int, ...] = ()
    at: tuple[float, ...] = ()

    @property
    def limit_seconds(self) -> float:
        """How long its answer may take."""
        return (END_SECONDS if self.act is Act.END else BEGIN_SECONDS) + (
            self.at[1] - self.at[0] if self.act is Act.MEASURE else 0.0
        )


class UsersHost(Protocol):
    """A host on which some of the users live. An order is given by `ask`, and each is answered."""

    name: str

    @property
    def lead_seconds(self) -> float:
        """How far ahead a common time must be set for this host to know it by then."""
        ...

    @property
    def clock(self) -> Clock:
        """How far its clock is ahead of that of the run's host."""
        ...

    def ask(self, order: Order) -> None:
        """Give an order, without waiting.

        Raises:
            DatabaseError: the host is lost.
        """
        ...

    def answer(self, look: Look) -> Measured:
        """Wait for the answer to the last order; only that to MEASURE has anything in it.

        Raises:
            DatabaseError: what the users failed of; they did not answer in time; the host is lost.
        """
        ...

    def check(self) -> None:
        """Raise what is known to keep its users from going on, while the answer of another host is waited for.

        Raises:
            DatabaseError: as `answer`.
        """
        ...

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        """Return what it saw of itself between two times, by `time.monotonic` of the run's host."""
        ...

    def cancel(self) -> None:
        """Let the statements end that run now; called from another thread."""
        ...

    def close(self) -> None:
        """End all users that are there, at once; never raises."""
        ...


@dataclass(slots=True)
class _Process:
    """One process of users."""

    process: subprocess.Popen[bytes]
    link: socket.socket

    def ask(self, order: Mapping[str, object]) -> None:
        """Send an order."""
        try:
            send(self.link, order)
        except OSError:
            raise _gone() from None

    def answer(self, seconds: float, look: Look) -> Json:
        """Wait for an answer.

        Raises:
            DatabaseError: what the users failed of; it did not come in time; the process is gone.
        """
        until = time.monotonic() + seconds
        while not select.select([self.link], [], [], TICK_SECONDS)[0]:
            look()
            if time.monotonic() > until:
                raise silent()
        try:
            told, _ = receive(self.link)
        except (OSError, EOFError, ValueError):
            raise _gone() from None
        raise_told(told)
        return told

    def close(self) -> None:
        """Let it end, at once."""
        with suppress(OSError):
            self.link.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(TICK_SECONDS)
            return
        self.process.kill()
        self.process.wait()


def _gone() -> DatabaseError:
    return DatabaseError("a process of users ended by itself or was killed", code="users-killed")


def silent() -> DatabaseError:
    """Return the error of users that do not answer."""
    return DatabaseError("the users did not answer in time", code="users-silent", lost=True)


class ThisHost:
    """The users that live on this host.

    Args:
        target: on which they work.
        run: the run's id.
        variables: what their processes have in their environment: by it those of a killed run are found.
    """

    name = THIS_HOST
    lead_seconds = LEAD_SECONDS

    def __init__(self, target: UsersTarget, run: str, variables: Mapping[str, str]) -> None:
        self._target, self._tag, self._variables = target, SessionTag(run), variables
        self._processes: list[_Process] = []
        self._crew: Crew | None = None
        self._asked = Order(Act.LOOK)

    @property
    def clock(self) -> Clock:
        return Clock()

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        """Nothing: the host of a run is sampled like that of the database."""
        del begin, end
        return ()

    def ask(self, order: Order) -> None:
        self._asked = order
        match order.act:
            case Act.CONNECT if order.workload is not None:
                self._connect(order.workload, order.numbers)
            case Act.BEGIN:
                self._tell({"begin": order.at[0]})
                if self._crew is not None:
                    self._crew.begin(order.at[0])
            case Act.MEASURE:
                self._tell({"measure": list(order.at)})
            case Act.LOOK:
                self._tell({"look": True})
            case Act.END:
                self._tell({"end": True})

    def answer(self, look: Look) -> Measured:
        order, found = self._asked, Measured()
        if self._crew is not None:
            found = self._of_threads(self._crew, order, look)
        for one in self._processes if order.act is not Act.BEGIN else ():
            told = one.answer(order.limit_seconds, look)
            if order.act is Act.MEASURE:
                found.add(measured_of(told))
        if order.act is Act.MEASURE and found.driver_seconds is not None:
            begin, end = order.at
            whole = found.driver_seconds / ((end - begin) * (os.cpu_count() or 1))
            found.busiest_part = max(found.busiest_part, whole)
        return found

    def check(self) -> None:
        crew = self._crew
        if crew is not None and crew.error is not None:
            raise crew.error

    def cancel(self) -> None:
        crew = self._crew
        if crew is not None:
            crew.cancel()

    def close(self) -> None:
        processes, self._processes = self._processes, []
        for one in processes:
            one.close()
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.cancel()
            crew.end()

    def _connect(self, workload: Workload, numbers: Sequence[int]) -> None:
        if engine(self._target.engine).in_process:
            self._crew = Crew(workload, numbers, partial(self._target.connect_user, self._tag))
            self._crew.connect()
            return
        access, told = access_told(self._target.users_access), asdict(workload)
        # what a user does between two transactions holds up the others of its process
        for dealt_out in dealt(numbers, processes_for(len(numbers))):
            one = self._spawn()
            self._processes.append(one)
            one.ask({"access": access, "run": self._tag.run, "work": told, "numbers": list(dealt_out)})

    def _spawn(self) -> _Process:
        module = "toolkit.executors.users.process"
        process, ours = begin_linked(("-P", "-m", module), {**os.environ, **self._variables})
        return _Process(process, ours)

    def _tell(self, order: Json) -> None:
        for one in self._processes:
            one.ask(order)

    def _of_threads(self, crew: Crew, order: Order, look: Look) -> Measured:
        """Do what threads of this process do: the database works in the same one, whose time is not theirs."""
        found = Measured()
        if order.act is Act.MEASURE:
            begin, end = order.at
            found = crew.measure(begin, end, partial(wait_until, look=look))
            found.driver_seconds, found.busiest_part = None, 0.0
        if order.act is Act.END:
            crew.end()
            self._crew = None
        elif crew.error is not None:
            raise crew.error
        return found


def wait_until(until: float, look: Look) -> None:
    """Wait until a time of `time.monotonic`, looking now and then."""
    while (left := until - time.monotonic()) > 0:
        look()
        time.sleep(min(left, TICK_SECONDS))
