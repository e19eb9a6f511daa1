"""PostgreSQL over psycopg 3: one session a connection, every statement seen and every error translated.

A session is found by its `application_name`, which is the run's id. Locks are waited for one minute, statements
have no limit of the server's, and the server looks every two seconds whether we are still there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolkit import resources
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Role
from toolkit.targets.base import Access, ProgramAccess, SessionTag, UnheardError, names_in, plain_rows, translate

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow

CONNECT_SECONDS = 15
_NETWORK = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 60,
    "keepalives_interval": 15,
    "keepalives_count": 4,
    "tcp_user_timeout": 120_000,
}
"""Seconds, and milliseconds in the last: no firewall forgets a silent session, and a peer that is gone is noticed
in two minutes. The URL may say otherwise (libpq, "Parameter Key Words")."""
_CANCEL_SECONDS = 5.0
_NAME_BYTES = 63
_LOCAL = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})
_SECRETS = frozenset({"password", "sslpassword"})
_SECRET_VARIABLES = ("PGPASSWORD",)
_LOST = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
_NO_CODE = "XX000"
_NO_CONNECTION = "08006"

_CONNECT_HINTS = (
    ("connection refused", "no server listens there: check host and port, and listen_addresses on the server"),
    ("no such file or directory", "no server listens at that socket: check the folder, or give a host"),
    ("name or service not known", "unknown host: check its name"),
    ("could not translate host name", "unknown host: check its name"),
    ("failed to resolve host", "unknown host: check its name"),
    ("timeout", "the host does not respond: check firewall and network"),
    ("network is unreachable", "the host cannot be reached from here: check the network"),
    ("no route to host", "the host cannot be reached from here: check the network"),
    ("no password supplied", "give the profile a password source (env, keyring, command), or use ~/.pgpass"),
    ("password authentication failed", "user or password is wrong: check the profile's password source"),
    ("no pg_hba.conf entry", "pg_hba.conf does not allow this user from here: ask for an entry, or use TLS"),
    ("too many clients", "all connections are in use: raise max_connections, or wait"),
    ("remaining connection slots", "all connections are in use: raise max_connections, or wait"),
    ("hot standby mode is disabled", "this standby takes no queries (hot_standby = off): connect to the primary"),
    ("system is shutting down", "the server is shutting down: wait until it is back"),
    ("the database system is", "the server is starting up or recovering: wait and try again"),
    ("not currently accepting", "the database accepts no connections (ALLOW_CONNECTIONS false)"),
    ("is not permitted to log in", "the user has no LOGIN: ask for another, or for ALTER ROLE ... LOGIN"),
    ("ssl", "client and server do not agree on TLS: see sslmode and the certificates"),
)


_SAID_BY_SERVER = re.compile(r"(?m)(?:^|: )\w+:  \S")
"""libpq gives no SQLSTATE for a failed login. It writes what the server said as severity, colon and two spaces
(fe-protocol3.c, pqBuildErrorMessage3); the severity is in the server's language."""
_TIMED_OUT = re.compile(r"timeout expired|timed out")
_NOT_THERE = re.compile(r'\b(database|role) ".*" does not exist')
_MISSING = {
    "database": "the database does not exist: check the end of the target URL",
    "role": "the user does not exist: check the name before @ in the target URL",
}


class PostgresqlTarget:
    """A PostgreSQL database that one can reach."""

    engine = "postgresql"

    def __init__(self, access: Access) -> None:
        self._access = access
        self.observer: Callable[[str], None] | None = None

    @property
    def display(self) -> str:
        return self._access.address.display

    @property
    def local(self) -> bool:
        host = self._host()
        return host in _LOCAL or host.startswith("/")

    @property
    def lease_key(self) -> str:
        address = self._access.address
        port = address.port or dict(address.parameters).get("port") or os.environ.get("PGPORT") or 5432
        name = "localhost" if self.local else self._host()
        return f"postgresql:{name}:{port}/{address.database or address.user or ''}"

    def _host(self) -> str:
        """Return the host as libpq chooses it; empty for the local socket."""
        address = self._access.address
        host = address.host or dict(address.parameters).get("host") or os.environ.get("PGHOST") or ""
        return host.lower()

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> PostgresqlConnection:
        del role
        _require_driver()
        import psycopg

        try:
            # a server-side prepared statement would only change the plan: each statement runs once
            session = psycopg.connect(self._conninfo(tag.run), autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise _cannot_connect(self._access.address, error) from None
        connection = PostgresqlConnection(session, self)
        try:
            connection.begin_session(read_only=read_only)
        except DatabaseError as error:
            connection.close()
            raise ToolkitError(
                f"the session at `{self.display}` cannot be set up: {error.message}",
                code="TK-0201",
                database_code=error.code,
            ) from None
        return connection

    def _conninfo(self, run: str) -> str:
        from psycopg.conninfo import make_conninfo

        address = self._access.address
        given = dict(address.parameters)
        if secret := _SECRETS.intersection(given):
            raise ToolkitError(f"the target URL contains `{min(secret)}`", code="TK-0108")
        arguments: dict[str, str | int | None] = {
            **_NETWORK,
            **given,
            "dbname": address.database or None,
            "user": address.user,
            "host": address.host or given.get("host"),
            "port": address.port or given.get("port"),
            "password": self._access.password(),
            "application_name": run.encode()[:_NAME_BYTES].decode(errors="ignore"),
        }
        return make_conninfo("", **{name: value for name, value in arguments.items() if value is not None})

    @property
    def programs_folder(self) -> str | None:
        return dict(self._access.options).get("bin_dir")

    def programs_access(self, run: str) -> ProgramAccess:
        """Give a program libpq's own variables; nobody else can read its environment, where the password is."""
        _require_driver()
        from psycopg import pq
        from psycopg.conninfo import conninfo_to_dict

        given = conninfo_to_dict(self._conninfo(run))
        names = {each.keyword.decode(): each.envvar.decode() for each in pq.Conninfo.get_defaults() if each.envvar}
        found = {names[key]: str(value) for key, value in given.items() if key in names and value is not None}
        secrets = {name: found.pop(name) for name in _SECRET_VARIABLES if name in found}
        return ProgramAccess(found, secrets)

    def close(self) -> None:
        """Sessions share nothing."""


def _require_driver() -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise ToolkitError(
            "the PostgreSQL driver is not installed",
            code="TK-0206",
            hint="pip install 'dbatk[postgresql]'",
        ) from None


def _cannot_connect(address: Address, error: psycopg.Error) -> ToolkitError:
    import psycopg

    text = str(error).strip()
    lowered = text.lower()
    if "invalid connection option" in lowered or "invalid uri query" in lowered:
        return ToolkitError(
            f"the target URL has a parameter that libpq does not know: {_last_line(text)}",
            code="TK-0102",
            hint="use libpq's names, such as sslmode=require",
        )
    named = _NOT_THERE.search(lowered)
    hint = (
        _MISSING[named[1]] if named else next((hint for words, hint in _CONNECT_HINTS if words in lowered), None)
    )
    sentence = f"cannot connect to `{address.display}`: {_last_line(text)}"
    if error.sqlstate is not None or _SAID_BY_SERVER.search(text):
        return ToolkitError(sentence, code="TK-0201", hint=hint, database_code=error.sqlstate)
    unheard = UnheardError(sentence, code="TK-0201", hint=hint)
    unheard.timed_out = isinstance(error, psycopg.errors.ConnectionTimeout) or bool(_TIMED_OUT.search(lowered))
    return unheard


def _last_line(text: str) -> str:
    """Return the reason: libpq tells every address it tried, the last line the last, and may add a question.

    What the server adds (`DETAIL`, `HINT`) is not the reason, but stands behind it.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().endswith("?")]
    reasons = [line for line in lines if not line.startswith(("DETAIL:", "HINT:"))]
    detail = lines[-1].partition(":")[2].strip() if lines and lines[-1].startswith("DETAIL:") else ""
    said = reasons[-1] if reasons else "no reason given"
    return f"{said} ({detail.rstrip('.')})" if detail else said


class PostgresqlConnection:
    """One session in autocommit; a transaction that failed is rolled back at once."""

    def __init__(self, session: psycopg.Connection[TupleRow], target: PostgresqlTarget) -> None:
        self._session = session
        self._target = target
        self._pid = session.info.backend_pid
        self._notices: list[str] = []
        self._warnings: list[str] = []
        self._running = False
        self._asked = False
        self._closing = False
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        session.add_notice_handler(self._heard)
        _register_texts(session)

    @property
    def identity(self) -> str:
        return f"pid {self._pid}"

    def begin_session(self, *, read_only: bool) -> None:
        """Set time-outs and the check for a vanished client, where the platform has it."""
        begin = resources.sql_text("postgresql/session_begin.sql")
        self._send(begin, {"read_only": "on" if read_only else "off"})
        with contextlib.suppress(DatabaseError):
            self._send(resources.sql_text("postgresql/session_check_interval.sql"), None)

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        if self._target.observer is not None:
            self._target.observer(text)
        return self._send(text, binds)

    def _send(self, text: str, binds: Mapping[str, Scalar] | None) -> Answer:
        import psycopg

        given = {name: binds[name] for name in names_in(text)} if binds else {}
        sent = translate(text, "%({})s".format, _double_percent) if given else text
        with self._turn:  # sampling and the reads around a trial share the monitor's session
            self._mark_running(True)
            try:
                return self._answer(sent, given)
            except psycopg.Error as error:
                raise self._failed(error) from None
            finally:
                self._mark_running(False)
                if self._closing:
                    self.close()

    def _mark_running(self, running: bool) -> None:
        with self._lock:
            self._running = running
            self._asked = self._asked and not running

    def _answer(self, sent: str, given: Mapping[str, Scalar]) -> Answer:
        self._notices, self._warnings = [], []
        cursor = self._session.execute(sent, given or None)
        rows = _rows(cursor)
        count = cursor.rowcount if cursor.rowcount >= 0 else None
        return Answer(rows, count, tuple(self._notices), warnings=tuple(self._warnings))

    def _failed(self, error: psycopg.Error) -> DatabaseError:
        import psycopg

        lost = self._session.closed or error.sqlstate in _LOST or (error.sqlstate or "")[:2] == "08"
        if not lost:
            with contextlib.suppress(psycopg.Error):
                self._session.rollback()
        code = error.sqlstate or (_NO_CONNECTION if lost else _NO_CODE)
        message = error.diag.message_primary or str(error).strip() or type(error).__name__
        # a timeout, and whoever else cancels, has this code too, and the message is in the server's language
        return DatabaseError(message, code=code, lost=lost, cancelled=code == "57014" and self._asked)

    def _heard(self, notice: psycopg.errors.Diagnostic) -> None:
        text = notice.message_primary or ""
        self._notices.append(text)
        if notice.severity_nonlocalized == "WARNING":
            self._warnings.append(text)

    def tag(self, action: str) -> None:
        """Nothing: `application_name` is the run's id, by which its sessions are found."""

    def cancel(self) -> None:
        """Cancel what runs now, from another thread.

        The lock keeps the statement's end waiting until the request is sent, so that it cannot hit the next one.
        """
        import psycopg

        with self._lock, contextlib.suppress(psycopg.Error):
            if self._running:
                self._asked = True
                self._session.cancel_safe(timeout=_CANCEL_SECONDS)

    def close(self) -> None:
        """Close it; a call that another thread waits for ends first, for it works with libpq's memory."""
        import psycopg

        with self._lock, contextlib.suppress(psycopg.Error, OSError):
            if not self._running:
                self._session.close()
                return
            self._closing = True
            with socket.socket(fileno=os.dup(self._session.fileno())) as same:
                same.shutdown(socket.SHUT_RDWR)


def _double_percent(text: str) -> str:
    return text.replace("%", "%%")


def _rows(cursor: psycopg.Cursor[TupleRow]) -> tuple[Row, ...]:
    if cursor.description is None:
        return ()
    return plain_rows([column.name for column in cursor.description], map(_jsonable, cursor.fetchall()))


def _jsonable(row: TupleRow) -> list[object]:
    """Spell arrays and documents as JSON: a scalar is all that a row may hold."""
    return [json.dumps(value, default=str) if isinstance(value, list | dict) else value for value in row]


def _register_texts(session: psycopg.Connection[TupleRow]) -> None:
    """Take documents as the text the server sent, a plan among them."""
    from psycopg.types.string import TextLoader

    for name in ("json", "jsonb", "xml"):
        session.adapters.register_loader(name, TextLoader)


def open_target(access: Access) -> PostgresqlTarget:
    """Return the target of an access."""
    return PostgresqlTarget(access)
