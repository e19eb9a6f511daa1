"""PostgreSQL over psycopg 3: one session a connection, every statement seen and every error translated.

A session is found by its `application_name`, which is the run's id. Locks are waited for one minute, statements
have no limit of the server's, and the server looks every two seconds whether we are still there.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from toolkit import resources
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.transfers import Stream
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import (
    Access,
    Exposure,
    ProgramAccess,
    SessionTag,
    UserSession,
    names_in,
    translate,
)
from toolkit.targets.postgresql_copy import copied, place_of
from toolkit.targets.postgresql_values import completed, register_texts, rows_of
from toolkit.targets.postgresql_way import (
    cannot_connect,
    check_same,
    exposure,
    is_local,
    led_to,
    required_of,
    settings_of,
)

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
_KEPT = ("search_path", "default_tablespace", "temp_tablespaces", "default_table_access_method")
"""Settings that decide what a name without a schema is, and where things go: those of the first session."""
_SAME = ("user_name", "database_id", "place")
_COMMANDS = ("ANALYZE ", "REINDEX ", "VACUUM ", "BEGIN;")
"""How statements begin that return no rows and of which a run may send hundreds, one for each object."""
_SECRETS = frozenset({"password", "sslpassword"})
_SECRET_VARIABLES = ("PGPASSWORD",)
_LOST = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
_NO_CODE = "XX000"
_NO_CONNECTION = "08006"
_NO_TRANSACTION = "25P01"
_IN_TRANSACTION = 2
"""libpq's `PQTRANS_INTRANS`: one that is open and has not failed (`psycopg.pq.TransactionStatus`)."""


class PostgresqlTarget:
    """A PostgreSQL database that one can reach."""

    engine = "postgresql"

    def __init__(self, access: Access) -> None:
        self._access, self.address = access, access.address
        self._kept: dict[str, str] = {}
        self._led_to: dict[str, str] = {}
        self._looked_at = False
        self._lock = threading.Lock()
        self.observer: Callable[[str], None] | None = None

    @property
    def display(self) -> str:
        return self.address.display

    @property
    def local(self) -> bool:
        return is_local(self._host())

    @property
    def exposure(self) -> Exposure | None:
        return exposure(settings_of(self._access), self._host())

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
            session = self._connected(tag.run)
        except psycopg.Error as error:
            raise cannot_connect(self._access.address, error) from None
        connection = PostgresqlConnection(session, self)
        try:
            found = connection.begin_session(self._kept, read_only=read_only)
        except DatabaseError as error:
            connection.close()
            raise ToolkitError(
                f"the session at `{self.display}` cannot be set up: {error.message}",
                code="TK-0201",
                database_code=error.code,
            ) from None
        with self._lock:
            self._kept = self._kept or found
        try:
            check_same(found, self._kept, self.display, looked_at=self._looked_at)
        except ToolkitError:
            connection.close()
            raise
        self._led_to = led_to(session.info)
        return connection

    def _connected(self, run: str) -> psycopg.Connection[TupleRow]:
        """Connect; where the server wants a password that nobody has given, a person is asked, as psql does."""
        import psycopg

        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # what it warns of is told by our errors
        # A server-side prepared statement would only change the plan, for each runs once; what the monitor asks
        # again cannot be prepared behind a pooler that gives it another session for each statement.
        connect = partial(psycopg.connect, autocommit=True, prepare_threshold=None)
        try:
            return connect(self._conninfo(run))
        except psycopg.OperationalError as error:
            wanted = error.pgconn is not None and error.pgconn.needs_password
            if not wanted or self._access.ask_password() is None:
                raise
        return connect(self._conninfo(run))

    def _conninfo(self, run: str) -> str:
        from psycopg.conninfo import make_conninfo

        address = self._access.address
        given = settings_of(self._access)
        if secret := _SECRETS.intersection(given):
            raise ToolkitError(f"the target URL contains `{min(secret)}`", code="TK-0108")
        arguments: dict[str, str | int | None] = {
            **_NETWORK,
            **required_of(given, self._host()),
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
    def users_access(self) -> Access:
        return self._access

    def connect_user(self, tag: SessionTag) -> UserSession:
        from toolkit.targets.postgresql_user import PostgresqlUser

        return PostgresqlUser(self.connect(Role.WORKER, tag))

    @property
    def programs_folder(self) -> str | None:
        return dict(self._access.options).get("bin_dir")

    def allow_folder(self, path: str) -> None:
        """Nothing: files are the server's own matter."""

    def allow_file(self, path: str) -> None:
        """Nothing: the files are read here."""

    def keep_to(self, schema: str) -> None:
        """Stay on this server, too: all sessions have the `search_path` of the first one anyway."""
        del schema
        self._looked_at = True

    def programs_access(self, run: str) -> ProgramAccess:
        """Give a program libpq's own variables, as the sessions have them: a service file would lead it elsewhere.

        Nobody else can read its environment, where the password is.
        """
        _require_driver()
        from psycopg import pq
        from psycopg.conninfo import conninfo_to_dict

        given = conninfo_to_dict(self._conninfo(run))
        if self._led_to:
            given = {**self._led_to, "application_name": given["application_name"]}
        names = {each.keyword.decode(): each.envvar.decode() for each in pq.Conninfo.get_defaults() if each.envvar}
        found = {names[key]: str(value) for key, value in given.items() if key in names and value is not None}
        secrets = {name: found.pop(name) for name in _SECRET_VARIABLES if name in found}
        return ProgramAccess(found, secrets, without=tuple(names.values()) if self._led_to else ())

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


class PostgresqlConnection:
    """One session in autocommit; a transaction that failed is rolled back at once."""

    def __init__(self, session: psycopg.Connection[TupleRow], target: PostgresqlTarget) -> None:
        import psycopg

        self._session = session
        self._errors = psycopg.Error
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
        register_texts(session)

    @property
    def identity(self) -> str:
        return f"pid {self._pid}"

    @property
    def driver(self) -> psycopg.Connection[TupleRow]:
        """The driver's own session."""
        return self._session

    def begin_session(self, kept: Mapping[str, str], *, read_only: bool) -> dict[str, str]:
        """Set time-outs, how names resolve, and the check for a vanished client, where the platform has it.

        Args:
            kept: what the first session of the target returned; a role or database may have other settings by now.
            read_only: whether nothing may be changed.
        """
        begin = resources.sql_text("postgresql/session_begin.sql")
        values = {name: kept.get(name) for name in _KEPT}
        values |= {"read_only": "on" if read_only else "off", "options": self._session.info.options or None}
        rows = self._send(begin, values).rows
        found = {str(row["name"]): str(row["value"]) for row in rows if row["name"] in _KEPT}
        found |= {name: str(rows[0][name]) for name in _SAME}
        with contextlib.suppress(DatabaseError):
            self._send(resources.sql_text("postgresql/session_check_interval.sql"), None)
        return found

    @property
    def transaction_id(self) -> None:
        """Nothing: the server is asked, by the dialect."""
        return

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        if self._target.observer is not None:
            self._target.observer(text)
        return self._send(text, binds)

    def load(self, text: str, stream: Stream) -> Answer:
        """Run `COPY ... FROM STDIN`; bad rows that may be left out are, one by one."""
        if self._target.observer is not None:
            self._target.observer(text)
        return self._in_turn(lambda: self._copied(text, stream))

    def _send(self, text: str, binds: Mapping[str, Scalar] | None) -> Answer:
        given = {name: binds[name] for name in names_in(text)} if binds else {}
        sent = translate(text, "%({})s".format, _double_percent) if given else text
        return self._in_turn(lambda: self._answer(sent, given))

    def _in_turn(self, work: Callable[[], Answer]) -> Answer:
        with self._turn:  # sampling and the reads around a trial share the monitor's session
            self._mark_running(True)
            try:
                return work()
            except self._errors as error:
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
        if sent.startswith(_COMMANDS) and not given:
            rows, count = completed(self._session, sent)
        else:
            if sent.strip() == "COMMIT" and self._session.pgconn.transaction_status != _IN_TRANSACTION:
                self._session.rollback()
                raise DatabaseError(
                    "nothing was committed: the transaction had ended before", code=_NO_TRANSACTION
                )
            rows, count = rows_of(self._session.execute(sent, given or None))
        return Answer(rows, count, tuple(self._notices), warnings=tuple(self._warnings))

    def _copied(self, text: str, stream: Stream) -> Answer:
        self._notices, self._warnings = [], []
        try:
            rows = copied(self._session, text, stream)
        except DatabaseError:
            self._session.rollback()
            raise
        return Answer((), rows, tuple(self._notices), warnings=tuple(self._warnings))

    def _failed(self, error: psycopg.Error) -> DatabaseError:
        lost = self._session.closed or error.sqlstate in _LOST or (error.sqlstate or "")[:2] == "08"
        if not lost:
            with contextlib.suppress(self._errors):
                self._session.rollback()
        code = error.sqlstate or (_NO_CONNECTION if lost else _NO_CODE)
        message = error.diag.message_primary or str(error).strip() or type(error).__name__
        # a timeout, and whoever else cancels, has this code too, and the message is in the server's language
        at = place_of(error)
        return DatabaseError(message, code=code, lost=lost, cancelled=code == "57014" and self._asked, at=at)

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
        with self._lock, contextlib.suppress(self._errors):
            if self._running:
                self._asked = True
                self._session.cancel_safe(timeout=_CANCEL_SECONDS)

    def close(self) -> None:
        """Close it; a call that another thread waits for ends first, for it works with libpq's memory."""
        with self._lock, contextlib.suppress(self._errors, OSError):
            if not self._running:
                self._session.close()
                return
            self._closing = True
            with socket.socket(fileno=os.dup(self._session.fileno())) as same:
                same.shutdown(socket.SHUT_RDWR)


def _double_percent(text: str) -> str:
    return text.replace("%", "%%")


def open_target(access: Access) -> PostgresqlTarget:
    """Return the target of an access."""
    return PostgresqlTarget(access)
