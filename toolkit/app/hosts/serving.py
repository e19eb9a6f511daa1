"""Sessions in the database that a run has on another host, on that host: each does what it is told, in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from toolkit.errors import ToolkitError, unexpected
from toolkit.executors.csv_text import done_in_time
from toolkit.executors.loading import KeptRows, load
from toolkit.model.protocols import Answer, Connection, DatabaseError, LoadingConnection
from toolkit.model.transfers import RejectedRow, Transfer
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag, Target

_TICK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class SessionCall:
    """One statement for a session.

    Attributes:
        number: of the statement, counted from 1: none is run twice. 0 opens the session.
        text: of the statement.
        binds: of it.
        transfer: the part of a file that it takes its rows from.
        action: what the session does from now on; None as before.
        at: when it is to begin, by `time.monotonic` of that host; None for at once.
    """

    number: int = 0
    text: str = ""
    binds: Mapping[str, Scalar] | None = None
    transfer: Transfer | None = None
    action: str | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True)
class SessionFailure:
    """Why a statement failed, as can be sent: what a `DatabaseError` or, where `refused`, a `ToolkitError` has."""

    message: str
    code: str
    lost: bool = False
    unsent: bool = False
    cancelled: bool = False
    headline: str | None = None
    refused: bool = False
    hint: str | None = None

    def error(self) -> DatabaseError | ToolkitError:
        """Return it as it was."""
        if self.refused:
            return ToolkitError(self.message, code=self.code, hint=self.hint)
        return DatabaseError(
            self.message, code=self.code, lost=self.lost, unsent=self.unsent, cancelled=self.cancelled,
            headline=self.headline,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SessionTold:
    """What came of a statement.

    Attributes:
        answer: of the database; None where it failed.
        failure: why.
        identity: how the database calls the session.
        transaction: what the driver knows of the transaction that the next COMMIT ends.
        rejected: rows that were left out, with their lines in the whole file.
        late_seconds: how long after it was to begin it began.
    """

    answer: Answer | None = None
    failure: SessionFailure | None = None
    identity: str = ""
    transaction: str | None = None
    rejected: tuple[RejectedRow, ...] = ()
    late_seconds: float | None = None


@dataclass(slots=True)
class _Session:
    connection: Connection
    last: int = 0


@dataclass(slots=True)
class ServedSessions:
    """The sessions of one run on this host; each is used by one thread at a time, and cancelled by others.

    Args:
        run: by which they are found.
        files: when each file that is loaded was modified, as it was compared.
        open_target: the database as this host knows it, if the run may work there.
        is_to_end: whether none may be opened any more.
    """

    run: str
    files: Mapping[str, int]
    open_target: Callable[[], Target]
    is_to_end: Callable[[], bool]
    _target: Target | None = None
    _open: dict[int, _Session] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def do(self, number: int, call: SessionCall) -> SessionTold:
        """Run a statement in a session; never raises."""
        kept = KeptRows()
        try:
            if call.number == 0:
                return SessionTold(Answer(), identity=self._connected(number).identity)
            session = self._session(number, call.number)
            late = self._begun_late(call.at)
            if call.action is not None:
                session.connection.tag(call.action)
            answer = self._run(session.connection, call, kept)
            return SessionTold(
                answer, transaction=session.connection.transaction_id, rejected=tuple(kept.rows), late_seconds=late
            )
        except DatabaseError as error:
            failure = SessionFailure(
                error.message, error.code, error.lost, error.unsent, error.cancelled, error.headline
            )  # fmt: skip
        except ToolkitError as error:
            failure = SessionFailure(error.message, error.code, refused=True, hint=error.hint)
        except Exception as fault:  # noqa: BLE001 - what an error holds must not travel unseen
            failure = SessionFailure(unexpected(fault).message, "TK-0901", lost=True)
        return SessionTold(failure=failure, rejected=tuple(kept.rows))

    def cancel(self, number: int | None = None) -> None:
        """Let the statements end that run now, of one session or all."""
        for one in self._of(number).values():
            one.connection.cancel()

    def close(self, number: int | None = None) -> None:
        """Close one session or all; what they have not committed is taken back by the server."""
        for which, one in self._of(number).items():
            with self._lock:
                self._open.pop(which, None)
            one.connection.close()

    def _of(self, number: int | None) -> dict[int, _Session]:
        with self._lock:
            return {which: one for which, one in self._open.items() if number in (None, which)}

    def _connected(self, number: int) -> Connection:
        with self._lock:
            if self._target is None:
                self._target = self.open_target()
        connection = self._target.connect(Role.WORKER, SessionTag(self.run))
        with self._lock:
            self._open[number] = _Session(connection)
        if self.is_to_end():
            self.close(number)
        return connection

    def _session(self, number: int, statement: int) -> _Session:
        """Return a session for its next statement.

        Raises:
            DatabaseError: it was closed, or had this statement before.
        """
        with self._lock:
            session = self._open.get(number)
            if session is None:
                raise DatabaseError("the session was closed", code="TK-0202", lost=True)
            if statement <= session.last:
                raise DatabaseError("the statement came a second time, and was not run again", code="TK-0901")
            session.last = statement
        return session

    def _begun_late(self, at: float | None) -> float | None:
        """Wait until a common begin; return how late it is by then."""
        if at is None:
            return None
        while (left := at - time.monotonic()) > 0:
            if self.is_to_end():
                raise DatabaseError("the work was stopped before it began", code="cancelled", cancelled=True)
            time.sleep(min(left, _TICK_SECONDS))
        return time.monotonic() - at

    def _run(self, connection: Connection, call: SessionCall, kept: KeptRows) -> Answer:
        if call.transfer is None:
            return connection.execute(call.text, call.binds)
        self._refuse_changed(call.transfer.chunk.path)
        return load(cast("LoadingConnection", connection), call.text, call.transfer, kept)

    def _refuse_changed(self, path: str) -> None:
        """Refuse a file that is not any more the one that was compared with that of the run's host.

        Raises:
            DatabaseError: it was changed, or is gone.
        """
        try:
            modified = done_in_time(lambda: Path(path).stat().st_mtime_ns)  # its file server may hang
        except OSError as error:
            raise DatabaseError(f"`{path}` cannot be read there: {error.strerror}", code="TK-0106") from None
        if modified != self.files.get(path):
            raise DatabaseError(f"`{Path(path).name}` was changed there since the load began", code="TK-0211")
