"""Waits for a database, but not for one that answers nobody: a cut network holds neither a run nor its end.

TCP notices a peer that is gone. What keeps connections open and hands nothing over (a proxy that hangs) is noticed
here: each session works in a thread of its own, and who waits for its answer asks meanwhile, in a new session,
whether the database answers at all. A statement that takes long is waited for as long as it does; a user who asked
the run to end is not kept waiting.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.model.protocols import Answer, Connection, DatabaseError
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag, Target

MONITOR_SECONDS = 70.0
"""Longest time of a read of the monitor, which is short; a driver's own limit, if any, is shorter still."""
LOOK_SECONDS, PROBE_SECONDS, MISSES = 60.0, 20.0, 2
"""When it is asked for the first time, how long it has for an answer, and how often it may not give one."""
HURRIED_LOOK_SECONDS, HURRIED_PROBE_SECONDS = 1.5, 3.0
"""The same after somebody asked the run to end: once is enough then."""
_HURRIED_AGAIN_SECONDS = 10.0
_CLOSE_SECONDS = 2.0
_TICK_SECONDS = 0.2
_PROBE = SessionTag("dbatk probe")

T = TypeVar("T")


@dataclass(slots=True)
class Timeouts:
    """How long the sessions of a run wait.

    Attributes:
        hurried: whether somebody asked the run to end.
        silent: whether the database was found silent since: nothing more is waited for, nor begun.
    """

    hurried: Callable[[], bool] = lambda: False
    silent: bool = False

    @property
    def over(self) -> bool:
        return self.silent and self.hurried()


def open_session(
    target: Target, role: Role, tag: SessionTag, *, read_only: bool = False, timeouts: Timeouts | None = None
) -> Connection:
    """Open a session that is given up when the database no longer answers anybody.

    Args:
        target: the database; one that this process opens itself needs no waiting.
        role: of the session; reads of the monitor have a limit.
        tag: by which the session is found.
        read_only: whether it may only read.
        timeouts: shared by the sessions of a run.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached, or in time once somebody asked to end; TK-0206.
    """
    connect = partial(target.connect, role, tag, read_only=read_only)
    if engine(target.engine).embedded:
        return connect()
    timeouts = timeouts or Timeouts()
    if timeouts.over:
        raise _unreachable(target)
    line: _Line[Connection] = _Line()
    hurry = _Hurry(timeouts)
    try:
        session = line.ask(connect, hurry.is_over)
    except _SilentError:
        timeouts.silent = True
        line.end(lambda found: found.close())
        raise _unreachable(target) from None
    except BaseException:
        line.end(lambda found: found.close())
        raise
    line.end()
    return Waited(session, target, timeouts, MONITOR_SECONDS if role is Role.MONITOR else None)


def _unreachable(target: Target) -> ToolkitError:
    return ToolkitError(f"cannot connect to `{target.display}`: no response", code="TK-0201")


class _SilentError(Exception):
    """Nothing came, and nothing will."""


class _Line(Generic[T]):
    """A thread that does one thing after the other, and whose results nobody has to wait for."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Callable[[], T], queue.SimpleQueue[T | BaseException]] | None]
        self._work = queue.SimpleQueue()
        self._unwanted: Callable[[T], object] | None = None
        threading.Thread(target=self._run, daemon=True, name="session").start()

    def _run(self) -> None:
        while (given := self._work.get()) is not None:
            work, reply = given
            result: T | BaseException
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
                result = error
            if self._unwanted is not None and not isinstance(result, BaseException):
                self._unwanted(result)
            reply.put(result)

    def ask(self, work: Callable[[], T], is_over: Callable[[], bool]) -> T:
        """Return what the work returns, or raise what it raises.

        Raises:
            _SilentError: `is_over` said so before there was a result.
        """
        reply: queue.SimpleQueue[T | BaseException] = queue.SimpleQueue()
        self._work.put((work, reply))
        while True:
            try:
                result = reply.get(timeout=_TICK_SECONDS)
            except queue.Empty:
                if is_over():
                    raise _SilentError from None
                continue
            if isinstance(result, BaseException):
                raise result
            return result

    def end(self, unwanted: Callable[[T], object] | None = None) -> None:
        """End the thread after what it does now; what still comes of that is handed to `unwanted`."""
        self._unwanted = unwanted
        self._work.put(None)


class _Hurry:
    """Waits without end until somebody asks the run to end, and a moment longer."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._until: float | None = None

    def is_over(self) -> bool:
        if self._until is None and self._timeouts.hurried():
            self._until = time.monotonic() + HURRIED_PROBE_SECONDS
        return self._until is not None and time.monotonic() >= self._until


@dataclass(slots=True)
class _Probe:
    """A new session that asks whether the database answers: `heard` None while it is waited for."""

    target: Target
    begun: float = field(default_factory=time.monotonic)
    heard: bool | None = None
    refused: bool = False

    def begin(self) -> _Probe:
        threading.Thread(target=self._run, daemon=True, name="probe").start()
        return self

    def _run(self) -> None:
        try:
            self.target.connect(Role.MONITOR, _PROBE, read_only=True).close()
            self.heard = True
        except (ToolkitError, DatabaseError):
            self.refused, self.heard = True, False


class _Watch:
    """Tells of one call when to give it up."""

    def __init__(self, target: Target, timeouts: Timeouts, limit_seconds: float | None) -> None:
        now = time.monotonic()
        self._target, self._timeouts = target, timeouts
        self._ends_at = None if limit_seconds is None else now + limit_seconds
        self._look_at = now + LOOK_SECONDS
        self._hurried = False
        self._misses = 0
        self._probe: _Probe | None = None

    def is_over(self) -> bool:
        now = time.monotonic()
        if not self._hurried and self._timeouts.hurried():
            self._hurried = True
            self._look_at = now + HURRIED_LOOK_SECONDS
        if self._timeouts.over or (self._ends_at is not None and now >= self._ends_at):
            return True
        if self._probe is None:
            if now >= self._look_at:
                self._probe = _Probe(self._target).begin()
            return False
        late = now - self._probe.begun >= (HURRIED_PROBE_SECONDS if self._hurried else PROBE_SECONDS)
        if self._probe.heard is None and not late:
            return False
        # A refusal is an answer: all connections may be in use. Who wants to end waits for no better one.
        answered = self._probe.heard or (self._probe.refused and not self._hurried)
        self._probe = None
        return self._learned(now, answered=answered)

    def _learned(self, now: float, *, answered: bool) -> bool:
        if answered:
            self._misses = 0
            self._look_at = now + (_HURRIED_AGAIN_SECONDS if self._hurried else LOOK_SECONDS)
            return False
        self._misses += 1
        self._look_at = now
        self._timeouts.silent = self._timeouts.silent or self._hurried
        return self._hurried or self._misses >= MISSES


class Waited:
    """A session whose answers are waited for while the database answers anybody."""

    def __init__(
        self, session: Connection, target: Target, timeouts: Timeouts, limit_seconds: float | None = None
    ) -> None:
        self._session, self._target, self._timeouts = session, target, timeouts
        self._limit_seconds = limit_seconds
        self._line: _Line[Answer | None] = _Line()
        self._lock = threading.Lock()
        self._calls = 0
        self._cancelling: threading.Thread | None = None
        self._given_up = False

    @property
    def identity(self) -> str:
        return self._session.identity

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        """Run one statement.

        Raises:
            DatabaseError: of the database; TK-0202, lost, when it answers nobody.
            ToolkitError: TK-0303 when the guard refuses the statement.
        """
        with self._lock:
            self._calls += 1
        watch = _Watch(self._target, self._timeouts, self._limit_seconds)
        try:
            answer = self._line.ask(partial(self._run, text, binds), lambda: self._given_up or watch.is_over())
        except _SilentError:
            self._give_up()
            raise DatabaseError(
                "the database does not respond; the statement may still be running", code="TK-0202", lost=True
            ) from None
        except (KeyboardInterrupt, SystemExit):
            self.cancel()
            if (cancelling := self._cancelling) is not None:
                cancelling.join(_CLOSE_SECONDS)
            self._give_up()
            raise
        assert answer is not None
        return answer

    def _run(self, text: str, binds: Mapping[str, Scalar] | None) -> Answer:
        try:
            return self._session.execute(text, binds)
        finally:
            with self._lock:
                self._calls -= 1
                cancelling, self._cancelling = self._cancelling, None
            if cancelling is not None:  # it must not hit the next statement
                cancelling.join()

    def tag(self, action: str) -> None:
        self._session.tag(action)

    def cancel(self) -> None:
        """Cancel the running statement, without waiting until the request is sent."""
        with self._lock:
            if self._calls and (self._cancelling is None or not self._cancelling.is_alive()):
                self._cancelling = threading.Thread(target=self._session.cancel, daemon=True, name="cancel")
                self._cancelling.start()

    def _give_up(self) -> None:
        self._given_up = True
        self._line.end()

    def close(self) -> None:
        """Close it, without waiting for a farewell that does not come."""
        with self._lock:
            waiting = self._calls > 0 or self._given_up
            ended, self._given_up = self._given_up, True
        closing = threading.Thread(target=self._session.close, daemon=True, name="close")
        closing.start()
        if not waiting:
            closing.join(_CLOSE_SECONDS)
        if not ended:
            self._line.end()
