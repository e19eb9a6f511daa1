"""A host with worker sessions of the run, seen from the run: sessions like those that the run opens itself.

They run what they are told, in order, and commit only when they are told so, so that the run's own host knows what
may be committed. Rows of data files are read where the session is; those that are left out come back with the
answer, and are kept here before their chunk is committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from toolkit.app.hosts.agent import Assignment, cancel_session, close_session, in_session
from toolkit.app.hosts.held import HeldHost
from toolkit.app.hosts.serving import SessionCall, SessionTold
from toolkit.app.hosts.talk import ClusterHost, Talk
from toolkit.errors import ToolkitError
from toolkit.executors.users.hosts import HOST_LOST
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.transfers import Stream
from toolkit.model.values import Scalar
from toolkit.targets.base import Target


class SessionsElsewhere(HeldHost):
    """Sessions on a host of a cluster.

    Args:
        place: where.
        assignment: what it takes part in.
        target: the database, as the run knows it: its observer is told of every statement.
    """

    def __init__(self, place: ClusterHost, assignment: Assignment, target: Target) -> None:
        super().__init__(place, assignment)
        self.target = target
        self.begins_at = 0.0
        self._opened = 0

    def begin_at(self, at: float) -> None:
        self.begins_at, self.begun_late_seconds = at, None

    def connect(self) -> SessionElsewhere:
        self.make_ready()  # a session is asked for beside the talk: before the first answer there is no agent yet
        talk = self._talk_of()
        with self._lock:
            self._opened += 1
            number = self._opened
        return SessionElsewhere(self, talk, number)

    def began(self, late_seconds: float) -> None:
        """Note how late a session began."""
        with self._lock:
            self.begun_late_seconds = max(self.begun_late_seconds or 0.0, late_seconds)


class SessionElsewhere:
    """One session; safe to `cancel` from another thread.

    Raises:
        DatabaseError: the host is lost.
        ToolkitError: the database cannot be reached from there, or what the host knows of it forbids the work.
    """

    def __init__(self, host: SessionsElsewhere, talk: Talk, number: int) -> None:
        self._host, self._talk, self._number = host, talk, number
        self._calls, self._begun_for = 0, host.begins_at
        self._action: str | None = None
        self._transaction: str | None = None
        opened = self._told(SessionCall())
        _answer(opened)
        self._identity = opened.identity

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def transaction_id(self) -> str | None:
        return self._transaction

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        return _answer(self._next(SessionCall(text=text, binds=binds)))

    def load(self, text: str, stream: Stream) -> Answer:
        """Load a chunk there.

        Raises:
            DatabaseError: with the place in the file.
            ToolkitError: more rows are bad than may be: the session is not to be used any more.
        """
        stream.read_elsewhere = True
        chunk = stream.transfer.chunk
        there = replace(stream.transfer, chunk=replace(chunk, path=str(Path(chunk.path).absolute())))
        told = self._next(SessionCall(text=text, transfer=there))
        try:
            for row in told.rejected:
                stream.reject(row)
        except DatabaseError as error:  # the chunk is in a transaction that must not be committed
            raise ToolkitError(error.sentence, code=error.code) from None
        answer = _answer(told)
        return replace(answer, rows=({**answer.rows[0], "file": chunk.path, "host": self._host.name},))

    def tag(self, action: str) -> None:
        """Say what it does; told with the next statement."""
        self._action = action

    def cancel(self) -> None:
        with suppress(DatabaseError):
            self._talk.call(partial(cancel_session, self._talk.key, self._number))

    def close(self) -> None:
        with suppress(DatabaseError):
            self._talk.call(partial(close_session, self._talk.key, self._number))

    def _next(self, call: SessionCall) -> SessionTold:
        """Send the next statement; the first after a common begin was set waits for it."""
        if self._host.target.observer is not None:
            self._host.target.observer(call.text)
        self._calls += 1
        call = replace(call, number=self._calls, action=self._action)
        self._action = None
        if self._begun_for != self._host.begins_at:
            self._begun_for = self._host.begins_at
            call = replace(call, at=self._begun_for + self._talk.clock.ahead_seconds)
        told = self._told(call)
        self._transaction = told.transaction
        if told.late_seconds is not None:
            self._host.began(told.late_seconds)
        return told

    def _told(self, call: SessionCall) -> SessionTold:
        try:
            return self._talk.call(partial(in_session, self._talk.key, self._number, call))
        except DatabaseError as error:
            lost = error.code == HOST_LOST and call.number > 0  # what never began can be lost without a trace
            raise DatabaseError(error.message, code=error.code, lost=error.lost or lost) from None


def _answer(told: SessionTold) -> Answer:
    """Return the answer, or raise what the statement failed of."""
    if told.failure is not None or told.answer is None:
        raise (
            DatabaseError("it gave no answer", code="TK-0202", lost=True)
            if told.failure is None
            else (told.failure.error())
        )
    return told.answer
