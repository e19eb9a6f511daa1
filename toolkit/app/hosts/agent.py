"""What works on another host: holds what a run has there, samples the host, and does what it is told.

It lives in a worker of a cluster, beside its tasks. What is called from outside runs in the worker's event loop,
so it never waits: orders are done by a thread, and the next talk takes what came of them. Profiles and secrets are
looked up here; none is ever sent.
"""

from __future__ import annotations

import asyncio
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from shutil import which
from typing import TypeVar, cast

from toolkit import __version__
from toolkit.app.approvals import Approvals, check_approved, check_experiment, check_production
from toolkit.app.clusters import WorkerCheck
from toolkit.app.hosts.serving import ServedSessions, SessionCall, SessionFailure, SessionTold
from toolkit.app.ruling import ruled_now
from toolkit.app.runs import licensing
from toolkit.app.runs.databases import database_of, read_server
from toolkit.app.targets import find_target
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError, unexpected
from toolkit.executors.hosts import ticks_ahead
from toolkit.executors.keeping import RUN_VARIABLE, KeptPrograms
from toolkit.executors.programs import inherited
from toolkit.executors.users.hosts import HOST_LOST, LEAD_SECONDS, ORDER_LATE, Act, Order, ThisHost
from toolkit.executors.users.orders import Json, error_told
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.hosts import HostSample
from toolkit.model.protocols import Answer, DatabaseError, OutputLine
from toolkit.model.steps import Step
from toolkit.model.workload import Measured
from toolkit.snapshots.host import HostRates
from toolkit.targets.base import Target, UsersTarget

SILENT_SECONDS = 30.0
"""After how long without a word from the run its users end: it is gone, or cut off, and nobody would end them."""
_SAMPLE_SECONDS = 1.0
_MOST_SAMPLES = 7200
_Came = TypeVar("_Came")


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a host is to take part in; nothing of it is secret.

    Attributes:
        run: the run's id.
        target: name of a profile, or a URL without a secret; looked up on the host.
        database: what identifies the database: the host must reach the same one.
        experiment: what is run.
        facts: what was read of the server, for the guard of licences.
        production: whether the run's own host knows it to be production, which was approved then.
        allowed: what the user approved, by the names of `Approvals`.
    """

    run: str
    target: str
    database: str
    experiment: Experiment
    facts: Facts
    production: bool
    allowed: Mapping[str, str | bool | tuple[str, ...]]
    programs: tuple[tuple[str, str | None], ...] | None = None
    """Programs that must be there, and in which folder if not on PATH; None where the work is on a database."""
    files: Mapping[str, int] = field(default_factory=dict)
    """Files that are loaded, each with when it was modified there, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a host says when it is talked to.

    Attributes:
        now: its clock that only goes forward.
        wall: its time of day.
        done: the number of the last order that is done.
        found: what came of it.
        error: why it failed, as `error_told` has it.
        samples: of the host, since the last talk.
    """

    now: float
    wall: float
    done: int
    found: Measured
    error: Json
    samples: tuple[HostSample, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended.

    Attributes:
        found: its answer; None where it failed.
        error: how it failed: the arguments of a `DatabaseError`.
        ticks_ahead: how far the clock of its span is ahead of `time.monotonic` of that host, in seconds.
    """

    found: Answer | None
    error: tuple[str, str, bool, tuple[OutputLine, ...]] | None
    ticks_ahead: float

    def answer(self, ahead: float) -> Answer:
        """Return the answer with its span by the clocks of this host, or raise what it failed of.

        Args:
            ahead: seconds by which that host's `time.monotonic` is ahead.

        Raises:
            DatabaseError: the program failed.
        """
        if self.error is not None or self.found is None:
            message, code, cancelled, lines = self.error or ("it gave no answer", "not-run", False, ())
            raise DatabaseError(message, code=code, cancelled=cancelled, lines=lines)
        if self.found.span is None:
            return self.found
        back = self.ticks_ahead + ahead - (ticks_ahead())
        begin, end = self.found.span
        return replace(self.found, span=(begin - back, end - back))


# -- called from outside ------------------------------------------------------------------------------------------
def look(assignment: Assignment | None = None) -> WorkerCheck:
    """Tell what this worker is, and what keeps it from taking part."""
    faults: tuple[str, ...] = ()
    if assignment is not None and assignment.programs is not None:
        faults = tuple(_lacking(assignment.programs))
    elif assignment is not None:
        try:
            _opened(assignment).close()
        except ToolkitError as error:
            faults = (error.sentence,)
        except Exception as error:  # noqa: BLE001 - what an error holds must not travel unseen
            faults = (unexpected(error).message,)
    return WorkerCheck(socket.gethostname(), __version__, faults)


def _lacking(programs: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    for name, folder in programs:
        if which(name, path=folder) is None:
            yield f"it has no program `{name if folder is None else os.path.join(folder, name)}`"  # noqa: PTH118


_AGENTS: dict[str, Agent] = {}


def talk(key: str, number: int, order: Order | None, assignment: Assignment | None) -> Reply | None:
    """Take an order, if there is one, and say what is known; None where there is no such agent (any more).

    Args:
        key: of the agent; the one with a new key is made by an assignment.
        number: of the order: one that was taken before is not taken again.
        order: to be done.
        assignment: of a new agent.
    """
    agent = _AGENTS.get(key)
    if agent is None and assignment is not None:
        for old in [name for name, one in _AGENTS.items() if one.ended]:
            del _AGENTS[old]
        agent = _AGENTS[key] = Agent(assignment)
    if agent is None or agent.ended:
        _AGENTS.pop(key, None)
        return None
    return agent.talk(number, order)


async def run_program(key: str, step: Step) -> Ran:
    """Run a program to its end."""
    agent = _AGENTS.get(key)
    if agent is None or agent.ended:
        return Ran(None, (_GONE, HOST_LOST, False, ()), 0.0)
    return await _beside(partial(agent.run_program, step))


async def in_session(key: str, number: int, call: SessionCall) -> SessionTold:
    """Do something in a session of the database; the first call opens it."""
    agent = _AGENTS.get(key)
    if agent is None or agent.ended:
        return SessionTold(failure=SessionFailure(_GONE, HOST_LOST, lost=True))
    return await _beside(partial(agent.sessions.do, number, call))


async def cancel_session(key: str, number: int) -> None:
    """Cancel what runs in a session."""
    agent = _AGENTS.get(key)
    if agent is not None:
        await _beside(partial(agent.sessions.cancel, number))


async def close_session(key: str, number: int) -> None:
    """Close a session."""
    agent = _AGENTS.get(key)
    if agent is not None:
        await _beside(partial(agent.sessions.close, number))


_GONE = "the agent of the run is not there any more"


async def _beside(work: Callable[[], _Came]) -> _Came:
    """Do something that never raises in a thread of its own: it may take hours."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[_Came] = loop.create_future()

    def run() -> None:
        found = work()
        with suppress(RuntimeError):  # the worker is ending
            loop.call_soon_threadsafe(came.set_result, found)

    threading.Thread(target=run, daemon=True, name="beside").start()
    return await came


def dismiss(key: str, *, only_cancel: bool = False) -> None:
    """Let an agent cancel what its users do, or end with all of them."""
    agent = _AGENTS.get(key) if only_cancel else _AGENTS.pop(key, None)
    if agent is not None:
        threading.Thread(target=agent.cancel if only_cancel else agent.end, daemon=True, name="end").start()


# -- the agent ----------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Agent:
    """What one run has on this host; three threads: orders, samples, and the watch for silence."""

    assignment: Assignment
    _orders: queue.SimpleQueue[tuple[int, Order] | None] = field(default_factory=queue.SimpleQueue)
    _ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _host: ThisHost | None = None
    _taken: int = 0
    _done: int = 0
    _found: Measured = field(default_factory=Measured)
    _error: Json = field(default_factory=dict)
    _samples: list[HostSample] = field(default_factory=list)
    _heard: float = field(default_factory=time.monotonic)
    _kept: KeptPrograms = field(init=False)
    sessions: ServedSessions = field(init=False)

    def __post_init__(self) -> None:
        self.sessions = ServedSessions(
            self.assignment.run, self.assignment.files, partial(_opened, self.assignment), self._ended.is_set
        )
        self._kept = KeptPrograms(self.assignment.run, self._ended.is_set)
        for work in (self._work, self._watch):
            threading.Thread(target=work, daemon=True, name=f"users: {work.__name__}").start()

    @property
    def ended(self) -> bool:
        """Whether its users were ended; it takes no more orders."""
        return self._ended.is_set()

    def talk(self, number: int, order: Order | None) -> Reply:
        """Take an order, and say what is known; never waits."""
        self._heard = time.monotonic()
        if order is not None and number > self._taken:
            self._taken = number
            self._orders.put((number, order))
        with self._lock:
            samples, self._samples = tuple(self._samples), []
            done, found, error = self._done, self._found, self._error
        # read last: what is done here is not part of the way back
        return Reply(time.monotonic(), time.time(), done, found, error, samples)

    def cancel(self) -> None:
        """Let the statements end that run now."""
        host = self._host
        if host is not None:
            host.cancel()
        self._kept.cancel()
        self.sessions.cancel()

    def run_program(self, step: Step) -> Ran:
        """Run a program to its end."""
        found, error = None, None
        try:
            found = self._kept.run(step, inherited(step))
        except DatabaseError as failed:
            error = failed.message, failed.code, failed.cancelled, failed.lines
        except ToolkitError as failed:
            error = failed.sentence, failed.code, False, ()
        except Exception as fault:  # noqa: BLE001 - what an error holds must not travel unseen
            error = unexpected(fault).message, "TK-0901", False, ()
        return Ran(found, error, ticks_ahead())

    def end(self) -> None:
        """End all users, at once."""
        self._ended.set()
        self._orders.put(None)

    # -- in a thread of its own ---------------------------------------------------------------------------------
    def _work(self) -> None:
        try:
            while (each := self._orders.get()) is not None:
                number, order = each
                found, error = Measured(), Json()
                try:
                    found = self._do(order)
                except (DatabaseError, ToolkitError) as refused:
                    error = error_told(refused)
                except Exception as fault:  # noqa: BLE001 - what an error holds must not travel unseen
                    error = error_told(unexpected(fault))
                with self._lock:
                    self._done, self._found, self._error = number, found, error
        finally:
            self._ended.set()
            if self._host is not None:
                self._host.close()
            self._kept.close()
            self.sessions.close()

    def _do(self, order: Order) -> Measured:
        if order.act is Act.CONNECT:
            target, run = cast("UsersTarget", _opened(self.assignment)), self.assignment.run
            self._host = ThisHost(target, run, {RUN_VARIABLE: run})
        assert self._host is not None
        _refuse_late(order)
        self._host.ask(order)
        return self._host.answer(self._look)

    def _look(self) -> None:
        """Raise what keeps the users from going on."""
        if self._ended.is_set():
            raise DatabaseError("the users were stopped", code="cancelled", cancelled=True)

    def _watch(self) -> None:
        """Sample the host, and end the users when nobody has talked to them for a while."""
        rates = HostRates()
        while not self._ended.wait(_SAMPLE_SECONDS):
            sample = HostSample(time.monotonic(), rates.read())
            with self._lock:
                self._samples = [*self._samples[-_MOST_SAMPLES:], sample]
            if time.monotonic() - self._heard > SILENT_SECONDS:
                self.end()


def _refuse_late(order: Order) -> None:
    """Refuse a common time that is over, or too near for the processes of this host to know it by then.

    Raises:
        DatabaseError: it is.
    """
    late = time.monotonic() + LEAD_SECONDS / 2 - order.at[0] if order.at else 0.0
    if late > 0:
        raise DatabaseError(
            f"the order to {order.act} together with the other hosts came {late:.3f} s too late", code=ORDER_LATE
        )


# -- the database, from here --------------------------------------------------------------------------------------
def _opened(assignment: Assignment) -> Target:
    """Return the target as this host knows it, if the run may work there.

    Raises:
        ToolkitError: it is unknown, cannot be reached, leads to another database, or its profile here forbids it.
    """
    resolved, approvals = find_target(assignment.target), Approvals(**assignment.allowed)  # type: ignore[arg-type]
    target, experiment = resolved.target, assignment.experiment
    try:
        licensing.allow(target, unseen=approvals.unseen_ok)
        facts = read_server(target, dialect_of(target.engine))
        here = database_of(facts, target)
        if here != assignment.database:
            raise ToolkitError(
                f"`{assignment.target}` leads to the database `{here}` there, and to `{assignment.database}` here",
                code="TK-0210",
                hint="give the target an address that leads to the same database from every host",
            )
        policy = ruled_now(resolved.policy, target)
        check_approved(policy, approvals)
        check_experiment(experiment, policy, approvals)
        if policy.production and not assignment.production:
            check_production(target.engine, policy, approvals, policy.names)
        licensing.teach(target, assignment.facts, policy)
    except BaseException:
        target.close()
        raise
    return target
