"""The wire: one backend a session, and the context manager tests and other suites use."""

from __future__ import annotations

import functools
import gc
import itertools
import logging
import socket
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn

from seerdb.common import sqltext
from seerdb.common.tns_consts import FIELD_VERSION_19_1
from seerdb.server import ColumnMeta, Result, Server
from seerdb.server.backend import BindVar, SessionInfo
from seerdb.server.identity import ServerIdentity

from tests.oracle.standin import dml, faults, loops, outcomes, recovery
from tests.oracle.standin.breaks import SERVING
from tests.oracle.standin.engine import Engine
from tests.oracle.standin.errors import ora
from tests.oracle.standin.scenario import Scenario
from tests.oracle.standin.state import Session, instance_name

# The library reads each statement's text several times, character by character, and there are few different ones.
sqltext.strip_non_bind_text = functools.lru_cache(4096)(sqltext.strip_non_bind_text)

_VARCHAR, _NUMBER, _DATE = 1, 2, 12


@dataclass(frozen=True)
class Standin:
    """A running stand-in: where it listens and what it received, in the order received."""

    host: str
    port: int
    engine: Engine
    password: str

    @property
    def url(self) -> str:
        """The target URL; the password is another matter."""
        return (
            f"oracle://{self.engine.scenario.user.lower()}@{self.host}:{self.port}/{self.engine.scenario.service}"
        )

    @property
    def statements(self) -> list[str]:
        """Every statement received so far, from all sessions, in order."""
        return self.engine.statements

    def sessions(self) -> list[Session]:
        """The sessions open now."""
        return list(self.engine.state.sessions.values())

    def tables(self) -> set[str]:
        """The tables there are, as SCHEMA.NAME."""
        return {".".join(made.name) for made in self.engine.state.tables()}


class _Server(Server):
    """Tells the backend of a connection which socket it serves."""

    def _serve(self, client: socket.socket, addr: tuple[str, int]) -> None:
        SERVING.client, SERVING.ltxid = client, None
        super()._serve(client, addr)

    def end(self) -> None:
        """Close, and wake the thread that waits for connections: by itself it looks twice a second."""
        self._running = False
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self.close()


class Backend:
    """Answers one session."""

    capabilities: frozenset[object] = frozenset()

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.data = engine.cursor()
        self.socket: socket.socket = SERVING.client
        self.session: Session | None = None

    def authenticate(self, username: str) -> str | None:
        self.engine.state.wrong_logins += 1  # until it turns out to be right
        return self.engine.scenario.password if username.upper() == self.engine.scenario.user else None

    def open_session(self, attributes: dict[str, str]) -> None:
        if self.engine.state.down:
            raise ora(1034)
        if 0 < self.engine.scenario.failed_logins < self.engine.state.wrong_logins:
            raise ora(28000)
        self.engine.state.wrong_logins = 0
        if self.engine.scenario.logon:
            raise ora(self.engine.scenario.logon)
        if 0 < self.engine.scenario.sessions_per_user <= len(self.engine.state.sessions):
            raise ora(2391)
        service = attributes.get("service_name", "")
        if service.upper() != self.engine.scenario.service:
            raise ora(12514, service)
        self._session()

    def session_info(self) -> SessionInfo:
        session = self._session()
        return SessionInfo(
            session.sid, session.serial, instance_name(session.instance), "FREEPDB1", None, session.service
        )

    def session_release(self) -> ServerIdentity:
        major, minor = self.engine.scenario.number
        banner = self.engine.scenario.banner.encode()
        return ServerIdentity((major << 24) | (minor << 16), b"23", b"- Production", banner)

    def set_end_to_end(self, attributes: dict[str, str | None]) -> None:
        session = self._session()
        for name in ("module", "action", "client_identifier"):
            if name in attributes:
                setattr(session, name, attributes[name])

    def execute(self, sql: str, binds: Sequence[object] = ()) -> Result:
        session = self._session()
        if session.sid not in self.engine.state.sessions:
            self.drop_connection()
        session.calls += 1
        SERVING.ltxid = self._ltxid
        if session.sniped:
            self.engine.end_session(session)
            raise ora(self.engine.scenario.limit)
        session.in_call = True
        try:
            return self._struck(session, sql, binds)
        finally:
            session.in_call = False

    def _ltxid(self) -> bytes | None:
        if self.session is None or not self.engine.scenario.commit_outcome:
            return None
        own = outcomes.present(self.session)
        self.engine.state.known_ids.add(own)
        return own

    def _struck(self, session: Session, sql: str, binds: Sequence[object]) -> Result:
        self.engine.statements.append(sql)
        self.engine.sent.append((session.sid, sql))
        number = len(self.engine.statements)
        for when in (faults.BEFORE, faults.DURING):
            faults.strike(self.engine.faults, self, self.engine.state, number, sql, when)
        result = self._answer(session, sql, binds)
        faults.strike(self.engine.faults, self, self.engine.state, number, sql, faults.AFTER)
        return result

    def _answer(self, session: Session, sql: str, binds: Sequence[object]) -> Result:
        values = [bind.value if isinstance(bind, BindVar) else _plain(bind) for bind in binds]
        if sql.lstrip().upper().startswith(("SELECT", "WITH")):
            columns, rows = self.engine.query(session, self.data, sql, values)
            described = [_describe(name, kind) for name, kind in columns]
            return Result(described, [tuple(map(_cell, row)) for row in rows], len(rows))
        if loops.is_loop(sql):
            done = loops.run(sql, binds, lambda text: self._answer(session, text, ()), self.commit, self.rollback)
            return Result(out_binds=done)
        if outcomes.ASKS in sql:
            told = outcomes.outcome(self.engine.scenario, self.engine.state, session, sql)
            session.client_info = told
            return Result(rowcount=0)
        recovery.refuse_when_full(self.engine.state, sql)
        if dml.is_change(sql):
            return Result(rowcount=self.engine.change(session, self.data, sql, values))
        try:
            done = self.engine.command(session, self.data, sql)
        except ConnectionAbortedError:
            self.drop_connection()
        recovery.note(self.engine.state, session, sql)
        return Result(rowcount=done)

    def drop_connection(self) -> NoReturn:
        """Break the connection as a dying server does: no answer comes."""
        self.socket.shutdown(socket.SHUT_RDWR)
        raise ora(3113)

    def commit(self) -> None:
        self.engine.commit(self._session(), self.data)

    def rollback(self) -> None:
        self.engine.rollback(self._session(), self.data)

    def close(self) -> None:
        if self.session is not None:
            self.engine.rollback(self.session, self.data)
            self.engine.end_session(self.session)
        self.data.close()

    def _session(self) -> Session:
        if self.session is None:
            self.session = self.engine.begin_session(self.engine.scenario.service)
        return self.session


@contextmanager
def running_standin(scenario: Scenario | None = None) -> Iterator[Standin]:
    """Serve a scenario on a free port of this host until the block ends."""
    _set_aside(next(_BEGUN))
    engine = Engine(scenario or Scenario())
    logging.getLogger("seerdb.server").setLevel(logging.CRITICAL)
    server = _Server("127.0.0.1", 0, backend_factory=lambda: Backend(engine), field_version=FIELD_VERSION_19_1)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Standin("127.0.0.1", server.port, engine, engine.scenario.password)
    finally:
        engine.released.set()
        server.end()
        thread.join(60)
        engine.close()
        if engine.faults:
            _collect()


_BEGUN = itertools.count()


def _set_aside(begun: int) -> None:
    """Leave out of later collections, after each 25 scenarios, what has outlived them: it is kept on purpose.

    Most of it is texts that were translated, and to look at them all takes a tenth of a second after each fault.
    """
    if begun % 25 == 0:
        _collect()
        gc.freeze()


def _collect() -> None:
    """Collect the sockets of broken sessions, which the driver leaves open, before another test begins."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def _describe(name: str, kind: str) -> ColumnMeta:
    upper = kind.upper()
    if upper.startswith(("TIMESTAMP", "DATE")):
        return ColumnMeta(name.encode(), _DATE, 7, 7)
    if upper.startswith(("VARCHAR", "STRING")) or upper == '"NULL"':
        return ColumnMeta(name.encode(), _VARCHAR, 4000, 4000)
    return ColumnMeta(name.encode(), _NUMBER, 22, 22)


def _cell(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, bool) else value


def _plain(value: object) -> object:
    return str(value) if isinstance(value, str) else value
