"""One open database: short transactions, and errors as sentences.

SQLite lets one process write at a time. A writer says so when it begins (`BEGIN IMMEDIATE`), because a reader that
turns writer may be refused at once instead of waiting its turn; threads of one process queue at a lock of our own,
which is quicker and fairer than SQLite's polling. Readers see one state of the store for the whole `read`.
"""

from __future__ import annotations

import functools
import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sqlalchemy import URL, Connection, Dialect, Engine, create_engine, event, func, make_url, select
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.util import LRUCache

from toolkit.errors import ToolkitError
from toolkit.store import schema
from toolkit.store.location import HIDDEN, StoreLocation
from toolkit.targets.postgresql_way import exposure, hint_of, required_of

# -- errors of the database ---------------------------------------------------------------------------------------
_BY_SQLITE = {
    "BUSY": "TK-0404",
    "LOCKED": "TK-0404",
    "READONLY": "TK-0401",
    "FULL": "TK-0401",
    "IOERR": "TK-0401",
    "CANTOPEN": "TK-0401",
    "PERM": "TK-0401",
    "NOTADB": "TK-0402",
    "CORRUPT": "TK-0402",
    "ERROR": "TK-0402",
    "SCHEMA": "TK-0402",
}
_BY_SQLSTATE = {
    "55P03": "TK-0404",
    "57014": "TK-0404",
    "40P01": "TK-0404",
    "3F000": "TK-0402",
    "42P01": "TK-0402",
    "42703": "TK-0402",
}
_FULL = (
    "free space there, then `dbatk runs list` shows what can be resumed; or choose another location with --store"
)
_SENTENCES = {
    "TK-0401": "the store `{place}` cannot be written",
    "TK-0402": "`{place}` is damaged or not a dbatk store",
    "TK-0404": "the store `{place}` is locked by another process",
}


def translate(error: SQLAlchemyError, place: StoreLocation, what: str) -> ToolkitError:
    """Return the error that a user can act upon.

    Args:
        error: what SQLAlchemy raised.
        place: the store.
        what: what was being written, for a conflict: `trial 3 of run x`.
    """
    if isinstance(error, IntegrityError):
        return _conflict(error, what)
    if isinstance(error, PoolTimeoutError):
        return _sentence("TK-0404", place, "", None)
    if isinstance(error, DBAPIError):
        code, database_code = _codes(error)
        hint = hint_of(str(error.orig)) if place.url else None
        return _sentence(code, place, _own_words(error, place), database_code, hint)
    return _sentence("TK-0402", place, type(error).__name__, None)


def _codes(error: DBAPIError) -> tuple[str, str | None]:
    if isinstance(error.orig, sqlite3.Error):
        name = str(getattr(error.orig, "sqlite_errorname", "SQLITE_ERROR"))
        return _BY_SQLITE.get(name.split("_")[1], "TK-0401"), name
    state = getattr(error.orig, "sqlstate", None)
    return _BY_SQLSTATE.get(str(state), "TK-0401"), state


def _conflict(error: IntegrityError, what: str) -> ToolkitError:
    name, state = getattr(error.orig, "sqlite_errorname", ""), getattr(error.orig, "sqlstate", "")
    if name == "SQLITE_CONSTRAINT_FOREIGNKEY" or state == "23503":
        return ToolkitError(f"{what} cannot be stored: its run is not in this store", code="TK-0109")
    if name in ("SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE") or state == "23505":
        return ToolkitError(f"{what} is already stored", code="TK-0901", hint="nothing was changed")
    return ToolkitError(f"{what} lacks a value that the store needs", code="TK-0901", hint="nothing was changed")


def _own_words(error: DBAPIError, place: StoreLocation) -> str:
    """Return the first line of the driver's message, unless it might show what the address holds."""
    first = str(error.orig).strip().partition("\n")[0]
    return "" if _shows_secret(first, place) else first


def _shows_secret(text: str, place: StoreLocation) -> bool:
    if place.shown.endswith(HIDDEN):
        return True
    address = (place.url or "").partition("://")[2]
    parts = [address.rpartition("@")[0].partition(":")[2]]
    parts += [option.partition("=")[2] for option in address.partition("?")[2].split("&")]
    return any(part and (part in text or unquote(part) in text) for part in parts)


def _sentence(
    code: str, place: StoreLocation, reason: str, database_code: str | None, hint: str | None = None
) -> ToolkitError:
    sentence = _SENTENCES[code].format(place=place)
    hint = _FULL if database_code in ("SQLITE_FULL", "53100") else hint
    return ToolkitError(
        f"{sentence}: {reason}" if reason else sentence, code=code, hint=hint, database_code=database_code
    )


# -- connections and transactions ---------------------------------------------------------------------------------
BUSY_SECONDS = 30.0
_COMPILED = 500
"""How many compiled statements are kept: as many as SQLAlchemy keeps for an engine."""
POSTGRESQL_SCHEMA = "dbatk"
_ADVISORY_LOCK = 0x64626174


class Database:
    """Transactions on the store at a place.

    Args:
        place: its address.
        busy_seconds: how long to wait for another process's lock.
    """

    def __init__(self, place: StoreLocation, busy_seconds: float = BUSY_SECONDS) -> None:
        self.place = place
        self.is_sqlite = place.path is not None
        self._engine = _sqlite(place.path, busy_seconds) if place.path else _postgresql(place, busy_seconds)
        self._turn = threading.Lock() if self.is_sqlite else nullcontext()
        self._file: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"Database({self.place.shown!r})"

    @property
    def exposure(self) -> str | None:
        """What is at stake on the way to a server of PostgreSQL's that nothing verifies; None where nothing is."""
        if self.is_sqlite:
            return None
        found = exposure(*_way(self._engine.url))
        return None if found is None else f"the results store: {found.sentence}"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the store.

        Raises:
            ToolkitError: TK-0401, TK-0402, TK-0404.
        """
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self._translated("the store"), self._engine.connect().execution_options(**level) as connection:
            yield connection

    @contextmanager
    def write(self, what: str, *, durable: bool = True) -> Iterator[Connection]:
        """Give a connection whose changes are stored when the block ends, or all undone.

        Args:
            what: what is being stored, for the message of a conflict.
            durable: whether they survive a power cut by themselves, and all before them do then; else with the
                next that are, and a process that dies loses none (SQLite's write-ahead log, synchronous=NORMAL).

        Raises:
            ToolkitError: TK-0401, TK-0402, TK-0404; TK-0109 and TK-0901 for a conflict.
        """
        with self._translated(what), self._turn, self._engine.connect() as opened:
            connection = opened.execution_options(dbatk_begin="BEGIN IMMEDIATE")
            if self.is_sqlite:
                _let_wait_for_disk(connection, durable=durable)
            with connection.begin():
                yield connection

    @contextmanager
    def bare(self) -> Iterator[Connection]:
        """Give a connection to SQLite outside any transaction, for the few statements that need it."""
        with self._translated("the store"), self._engine.connect() as connection:
            yield connection.execution_options(dbatk_begin=None)

    def serialize(self, connection: Connection) -> None:
        """Let one writer at a time pass until its transaction ends (SQLite's writers are alone anyway)."""
        if not self.is_sqlite:
            connection.execute(select(func.pg_advisory_xact_lock(_ADVISORY_LOCK)))

    def now(self, connection: Connection) -> datetime:
        """Return the instant by the clock that all processes of this store share."""
        if self.is_sqlite:
            return datetime.now(UTC)
        instant: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
        return instant.astimezone(UTC)

    def move_to(self, other: Database) -> None:
        """Work on from here on what another one has opened, whose connections become those of this one."""
        self._engine.dispose()
        self.place, self.is_sqlite = other.place, other.is_sqlite
        self._engine, self._turn = other._engine, other._turn
        self.remember_file()

    def remember_file(self) -> None:
        """Note which file the store is, so that it is noticed when it is deleted or another takes its place."""
        self._file = _identity(self.place.path)

    @property
    def is_gone(self) -> bool:
        """Whether its file was deleted or replaced; what is written still goes to the one that was opened."""
        return self._file is not None and _identity(self.place.path) != self._file

    def save_beside(self) -> Path:
        """Write the store that was opened to a file of its own, beside where it was, or in the working folder.

        Raises:
            ToolkitError: TK-0401.
        """
        assert self.place.path is not None
        folder = self.place.path.parent if self.place.path.parent.is_dir() else Path.cwd()
        saved = folder / f"{self.place.path.name}.saved-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        with self.bare() as connection:
            connection.exec_driver_sql("VACUUM INTO ?", (str(saved),))
        return saved

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            # The driver's exception may hold the address with its password: it must not be chained.
            raise translate(error, self.place, what) from None


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Return what tells a file from another of its name; None where there is none."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


@functools.cache
def _of_sqlite() -> tuple[Dialect, LRUCache[Any, Any]]:
    """Return how SQLAlchemy speaks to SQLite, and what it has compiled for it: of this process, not of a file.

    An engine of its own for each store would compile each statement again, a fifth of what a small run costs.
    """
    engine = create_engine("sqlite://")
    engine.connect().close()  # with the first connection it learns which release it is
    engine.dispose()
    return engine.dialect, LRUCache(_COMPILED)


def _sqlite(path: Path, busy_seconds: float) -> Engine:
    dialect, compiled = _of_sqlite()
    # a URL of text would take `%` and `?` of a file's name for its own
    url = URL.create("sqlite", database=str(path))
    args, options = dialect.create_connect_args(url)
    pool = QueuePool(
        lambda: dialect.connect(*args, **options, timeout=busy_seconds), max_overflow=30, dialect=dialect
    )
    engine = Engine(pool, dialect, url, hide_parameters=True, execution_options={"compiled_cache": compiled})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    """Leave transactions to us and make every commit survive a power cut.

    A damaged file fails here, and SQLAlchemy 2.0.44 leaves the connection open, and its WAL files behind.
    """
    connection.isolation_level = None
    try:
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()
    except sqlite3.Error:
        connection.close()
        raise


def _let_wait_for_disk(connection: Connection, *, durable: bool) -> None:
    """Let commits of this connection wait for the disk or not, from now on; nothing is sent where that is so."""
    if connection.info.get("durable", True) is durable:
        return
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute("PRAGMA synchronous = FULL" if durable else "PRAGMA synchronous = NORMAL")
    connection.info["durable"] = durable


def _begin_sqlite(connection: Connection) -> None:
    begin = connection.get_execution_options().get("dbatk_begin", "BEGIN")
    if begin:
        connection.exec_driver_sql(begin)


def _postgresql(place: StoreLocation, busy_seconds: float) -> Engine:
    options = f"-c search_path={POSTGRESQL_SCHEMA} -c lock_timeout={round(busy_seconds * 1000)}"
    try:
        url = make_url(place.url or "")
        return create_engine(
            url,
            connect_args={
                "options": options,
                "connect_timeout": 15,
                "application_name": "dbatk store",
                **required_of(*_way(url)),
            },
            # a writer that waited for its turn sees what was written meanwhile, whatever the role's default is
            isolation_level="READ COMMITTED",
            hide_parameters=True,
            pool_pre_ping=True,
        )
    except ModuleNotFoundError:
        raise ToolkitError(
            "a store in PostgreSQL needs the driver `psycopg`",
            code="TK-0206",
            hint="pip install 'dbatk[postgresql]'",
        ) from None
    except (SQLAlchemyError, ValueError):
        raise ToolkitError(
            f"the address of the store `{place}` cannot be read",
            code="TK-0102",
            hint="give postgresql://user@host:port/database, special characters as %XX",
        ) from None


def _way(url: URL) -> tuple[dict[str, str], str]:
    """Return the settings of libpq in an address, and the host as libpq chooses it."""
    given = {name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()}
    return given, (url.host or given.get("host") or os.environ.get("PGHOST") or "").lower()


# -- what the parts of the store share ----------------------------------------------------------------------------
class StorePart:
    """One side of the store: a few methods on the same database."""

    def __init__(self, database: Database) -> None:
        self._database = database


def require_run(connection: Connection, run: str) -> None:
    """Refuse a run that is not in this store.

    Raises:
        ToolkitError: TK-0109.
    """
    if connection.execute(select(schema.run.c.run).where(schema.run.c.run == run)).first() is None:
        raise unknown_run(run)


_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def checked_id(run: str) -> str:
    """Return the id of a run, after which files are named.

    Raises:
        ToolkitError: TK-0402 for one that dbatk does not make.
    """
    if _ID.fullmatch(run) is None:
        raise ToolkitError(
            f"the store has a run `{run[:40]}`, which is no id of a run: dbatk did not write it",
            code="TK-0402",
            hint="use a store that only dbatk writes",
        )
    return run


def unknown_run(run: str) -> ToolkitError:
    """Say that no such run is stored."""
    return ToolkitError(f"run `{run}` is not in this store", code="TK-0109")
