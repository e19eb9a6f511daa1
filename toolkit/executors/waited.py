"""The sessions of a run as they are used: each works in a thread of its own, and what it does is waited for.

When that is no longer worth it says `waiting`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import cast

from toolkit.executors.blocking import FIRST_SECONDS, Blockers
from toolkit.executors.line import Line, SilentError
from toolkit.executors.reaching import number_of, unreachable
from toolkit.executors.waiting import Hurry, Timeouts, Watch
from toolkit.model.engines import engine
from toolkit.model.protocols import Answer, Connection, DatabaseError, LoadingConnection
from toolkit.model.transfers import Stream
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag, Target

MONITOR_SECONDS = 70.0
"""Longest time of a read of the monitor, which is short; a driver's own limit, if any, is shorter still."""
SILENT = "the database does not respond; the statement may still be running"
_CLOSE_SECONDS = 2.0
_SHOWN = 60


def open_session(
    target: Target,
    role: Role,
    tag: SessionTag,
    *,
    read_only: bool = False,
    timeouts: Timeouts | None = None,
    blockers: Blockers | None = None,
    connect: Callable[[], Connection] | None = None,
) -> Connection:
    """Open a session that is given up when the database no longer answers anybody.

    Args:
        target: the database; one that this process opens itself needs no waiting.
        role: of the session; reads of the monitor have a limit.
        tag: by which the session is found.
        read_only: whether it may only read.
        timeouts: shared by the sessions of a run.
        blockers: tells of whom they wait for locks.
        connect: opens it, where it is not opened from here.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached, in time once somebody asked to end, or when it answers
            nobody (a driver's own limit is over once TCP has connected); TK-0206.
    """
    connect = connect or partial(target.connect, role, tag, read_only=read_only)
    if engine(target.engine).embedded:
        return connect()
    timeouts = timeouts or Timeouts()
    if timeouts.over:
        raise unreachable(target)
    line = Line()
    hurry, watch = Hurry(timeouts), Watch(target, timeouts, tag.run)
    try:
        session = line.ask(connect, lambda: hurry.is_over() or watch.is_over())
    except SilentError:
        timeouts.unheard()
        line.end(lambda found: found.close())
        raise unreachable(target) from None
    except BaseException:
        line.end(lambda found: found.close())
        raise
    timeouts.heard()
    return Waited(session, line, target, timeouts, tag.run, role, blockers)


class Waited:
    """A session whose answers are waited for while the database answers anybody."""

    def __init__(
        self,
        session: Connection,
        line: Line,
        target: Target,
        timeouts: Timeouts,
        run: str,
        role: Role,
        blockers: Blockers | None = None,
    ) -> None:
        self._blockers = None if role is Role.MONITOR else blockers
        self._session, self._line, self._target, self._timeouts, self._run_id = (
            session,
            line,
            target,
            timeouts,
            run,
        )
        self._limit_seconds = MONITOR_SECONDS if role is Role.MONITOR else None
        self._ends_with_run = role is not Role.MONITOR
        self._tells = role is Role.CONTROL  # of what workers do the clock tells, in the thread of the run
        self.proves = False
        """Whether the next statement only proves what was done."""
        self._lock = threading.Lock()
        self._calls = 0
        self._cancelling: threading.Thread | None = None
        self._given_up = False
        self._call: Callable[[], bool] | None = None
        """Tells whether to give up what runs now in the session's own thread, without being handed to it."""

    @property
    def identity(self) -> str:
        return self._session.identity

    @property
    def transaction_id(self) -> str | None:
        return self._session.transaction_id

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        """Run one statement.

        Raises:
            DatabaseError: of the database; TK-0202, lost, when it answers nobody.
            ToolkitError: TK-0303 when the guard refuses the statement.
        """
        return self._asked(partial(self._session.execute, text, binds), text)

    def load(self, text: str, stream: Stream) -> Answer:
        """Run a statement that takes its rows from a data file.

        Raises:
            DatabaseError: as `execute`.
        """
        return self._asked(partial(cast(LoadingConnection, self._session).load, text, stream), text)

    def together(self, work: Callable[[], None]) -> bool:
        """Do work of many statements in the session's own thread: handing each over costs more than a short one.

        Returns:
            Whether it ended; if not, the database answers nobody, and it may still wait in that thread.
        """

        def is_over() -> bool:
            # the statement that was asked about may have ended meanwhile, and another one begun
            return (call := self._call) is not None and call() and self._call is call

        try:
            self._line.ask(work, is_over)
        except SilentError:
            self._give_up()
            return False
        return True

    def _asked(self, work: Callable[[], Answer], text: str) -> Answer:
        if self._given_up:  # its thread was left waiting, and the answer came after all
            raise DatabaseError(SILENT, code="TK-0202", lost=True)
        with self._lock:
            self._calls += 1
        begun = time.monotonic()
        lasts_since = begun + FIRST_SECONDS
        watch: Watch | None = None  # most statements end before anybody asks

        def is_over() -> bool:
            nonlocal watch
            if watch is None:
                number = number_of(self._session)
                watch = Watch(self._target, self._timeouts, self._run_id, number, self._limit_seconds, begun)
            if self._tells:
                self._timeouts.tell_late(begun, f"`{' '.join(text.split())[:_SHOWN]}`")
            if self._blockers is not None and time.monotonic() >= lasts_since:
                self._blockers.look(lasts_since)
            if self._ends_with_run and (self._timeouts.cancels or (self.proves and self._timeouts.proved_enough)):
                self._timeouts.cancelled = True
                self.cancel()  # again at each tick: one that came between two statements hit nothing
            return self._given_up or watch.is_over()

        try:
            answer = (
                self._here(work, is_over)
                if self._line.is_here
                else self._line.ask(partial(self._run, work), is_over)
            )
        except SilentError:
            self._give_up()
            raise DatabaseError(SILENT, code="TK-0202", lost=True) from None
        except DatabaseError as error:
            if self._blockers is not None:
                self._blockers.name(error, number_of(self._session), lasts_since)
            raise
        except (KeyboardInterrupt, SystemExit):
            self.cancel()
            if (cancelling := self._cancelling) is not None:
                cancelling.join(_CLOSE_SECONDS)
            self._give_up()
            raise
        assert answer is not None
        self._timeouts.heard()
        return answer

    def _here(self, work: Callable[[], Answer], is_over: Callable[[], bool]) -> Answer:
        """Run in this thread, while the one that waits for all of its work asks whether that is over."""
        self._call = is_over
        try:
            return self._run(work)
        finally:
            self._call = None

    def _run(self, work: Callable[[], Answer]) -> Answer:
        try:
            return work()
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
                cancelling = threading.Thread(target=self._session.cancel, daemon=True, name="cancel")
                with suppress(RuntimeError):  # this host starts no more threads: the next tick tries again
                    cancelling.start()
                    self._cancelling = cancelling

    def _give_up(self) -> None:
        self._given_up = True
        self._line.end()

    def close(self) -> None:
        """Close it, without waiting for a farewell that does not come, nor for a thread that cannot begin."""
        with self._lock:
            at_work = self._calls > 0
            ended, self._given_up = self._given_up, True
        with suppress(RuntimeError, SilentError):  # what cannot be closed ends with the process
            if self._line.is_here:
                self._session.close()
            elif at_work or ended:
                threading.Thread(target=self._session.close, daemon=True, name="close").start()
            else:
                until = time.monotonic() + _CLOSE_SECONDS
                self._line.ask(self._session.close, lambda: time.monotonic() > until)
        if not ended:
            self._line.end()
