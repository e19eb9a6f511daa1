"""Open a store: make a new one, bring an older one up to date, leave a newer one and files of others untouched.

A new store is created as `schema.py` describes it. An older one is changed step by step (`migrations.py`). All
steps of one opening are one transaction: either the store is up to date or it is as it was.
"""

from __future__ import annotations

import functools
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from sqlalchemy import Connection, create_engine, create_mock_engine, func, inspect, select, text
from sqlalchemy.schema import CreateSchema

from toolkit import __version__
from toolkit.errors import ToolkitError
from toolkit.store.database import POSTGRESQL_SCHEMA, Database
from toolkit.store.location import StoreLocation, refuse_network
from toolkit.store.migrations import MIGRATIONS, Migration
from toolkit.store.schema import APPLICATION_ID, SCHEMA_VERSION, metadata, schema_version


def create_tables(connection: Connection) -> None:
    """Create all tables of the newest version in an empty place."""
    for statement in _definitions(f"{connection.dialect.name}+{connection.dialect.driver}"):
        connection.exec_driver_sql(statement)
    _stamp(connection, SCHEMA_VERSION)


@functools.cache
def _definitions(kind: str) -> tuple[str, ...]:
    """Return the statements that create all tables in a database of a kind (`sqlite+pysqlite`)."""
    statements: list[str] = []

    def keep(ddl: Any, *_more: object) -> None:
        statements.append(str(ddl.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{kind}://", keep)
    metadata.create_all(engine, checkfirst=False)
    return tuple(statements)


def version_of(connection: Connection, place: StoreLocation) -> int:
    """Return the version of the store.

    Raises:
        ToolkitError: TK-0402 when it has none.
    """
    version = connection.execute(select(func.max(schema_version.c.version))).scalar()
    if version is None:
        raise ToolkitError(f"`{place}` is damaged: it has no version", code="TK-0402")
    return int(version)


def bring_up_to_date(database: Database, version: int, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply the migrations that a store of this version lacks.

    Raises:
        ToolkitError: TK-0403 when the store is newer than the newest migration.
    """
    newest = migrations[-1].to if migrations else SCHEMA_VERSION
    if version > newest:
        raise ToolkitError(
            f"the store `{database.place}` has version {version}, this dbatk supports up to {newest}",
            code="TK-0403",
        )
    if version == newest:
        return
    with database.write("a migration") as connection:
        database.serialize(connection)
        resolved = version_of(connection, database.place)
        for migration in migrations:
            if migration.to > resolved:
                migration.apply(connection)
                _stamp(connection, migration.to)


def _stamp(connection: Connection, version: int) -> None:
    connection.execute(
        schema_version.insert().values(version=version, applied_at=datetime.now(UTC), tool_version=__version__)
    )


_MAGIC = b"SQLite format 3\0"
_FILE_MODE, _FOLDER_MODE = 0o600, 0o700
_RETRY_SECONDS = 0.02


def open_database(place: StoreLocation, busy_seconds: float, *, at_once: bool = True) -> Database:
    """Open the store at a place; a place that is empty becomes a new store, at once or by the first write.

    Raises:
        ToolkitError: TK-0401 cannot be written, TK-0402 of another program or damaged, TK-0403 of a newer version,
            TK-0404 locked.
    """
    if place.path is not None and not at_once and not place.path.exists():
        return _ToBeMade(place, busy_seconds)
    if place.path is not None:
        _prepare_file(place.path)
    database = Database(place, busy_seconds)
    try:
        there = _is_a_store(database)
        if there or at_once:
            _make_ready(database, busy_seconds, there=there)
            return database
    except BaseException:
        database.close()
        raise
    database.close()
    return _ToBeMade(place, busy_seconds)


class _ToBeMade(Database):
    """A place without a store: who reads finds an empty one, until a write makes it here or elsewhere."""

    def __init__(self, place: StoreLocation, busy_seconds: float) -> None:
        self._making_lock = threading.RLock()
        self._empty: TemporaryDirectory[str] | None = None
        empty = _temporary(_empty_store())
        path = Path(empty.name, "store.sqlite")
        super().__init__(StoreLocation(place.shown, path), busy_seconds)
        self.place, self._busy_seconds, self._empty = place, busy_seconds, empty

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._making_lock:
            if self._empty is not None and _is_there(self.place, self._busy_seconds):
                self._make()
        with super().read() as connection:
            yield connection

    @contextmanager
    def write(self, what: str, *, durable: bool = True) -> Iterator[Connection]:
        self._make()
        with super().write(what, durable=durable) as connection:
            yield connection

    @property
    def exposure(self) -> str | None:
        if self._empty is None:
            return super().exposure
        with closing(Database(self.place, self._busy_seconds)) as there:  # which connects to nothing by itself
            return there.exposure

    def _make(self) -> None:
        with self._making_lock:
            if self._empty is None:
                return
            self.move_to(open_database(self.place, self._busy_seconds))
            self._empty.cleanup()
            self._empty = None

    def close(self) -> None:
        super().close()
        if self._empty is not None:
            self._empty.cleanup()


def _temporary(file: bytes) -> TemporaryDirectory[str]:
    """Write a store into a folder of its own."""
    folder = None
    try:
        folder = TemporaryDirectory(prefix="dbatk-", ignore_cleanup_errors=True)
        Path(folder.name, "store.sqlite").write_bytes(file)
    except OSError as error:
        if folder is not None:
            folder.cleanup()
        raise ToolkitError(
            f"no temporary file can be written: {(error.strerror or str(error)).lower()}",
            code="TK-0401",
            hint="free space there, or name another folder with the environment variable TMPDIR",
        ) from error
    return folder


@functools.cache
def _empty_store() -> bytes:
    """Return the file of a store in which nothing is."""
    made = create_engine("sqlite://")
    with made.begin() as connection:
        create_tables(connection)
        connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID:d}"))
    with made.connect() as connection:
        file: bytes = connection.connection.driver_connection.serialize()  # type: ignore[union-attr]
    made.dispose()
    return file


def _is_there(place: StoreLocation, busy_seconds: float) -> bool:
    """Tell whether there is a store meanwhile."""
    if place.path is not None:
        return place.path.exists()
    looking = Database(place, busy_seconds)
    try:
        return _is_a_store(looking)
    finally:
        looking.close()


def is_current(path: Path) -> bool:
    """Tell whether a file is a store of this version, without changing anything there."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as looked:
            (mark,) = looked.execute("PRAGMA application_id").fetchone()
            (version,) = looked.execute("SELECT max(version) FROM schema_version").fetchone()
    except sqlite3.Error:
        return False
    return bool(mark == APPLICATION_ID and version == SCHEMA_VERSION)


def _make_ready(database: Database, busy_seconds: float, *, there: bool) -> None:
    if not there:
        if database.is_sqlite:
            _switch_to_wal(database, busy_seconds)
        with database.write("a new store") as connection:
            database.serialize(connection)
            _create(database, connection)
    with database.read() as connection:
        version = version_of(connection, database.place)
    if version < SCHEMA_VERSION and database.place.path is not None:
        _keep_copy(database.place.path, version)
    bring_up_to_date(database, version)
    if database.place.path is not None:
        _tighten(database.place.path)


def _keep_copy(path: Path, version: int) -> None:
    """Keep a copy of a file beside it before it is brought up to date, for the dbatk that wrote it.

    Raises:
        ToolkitError: TK-0401 when it cannot be written: then the store stays as it is.
    """
    at = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    copy, made = Path(f"{path}.version{version}.{at}"), Path(f"{path}.version{version}.{os.getpid()}")
    if copy.exists():
        return
    try:
        os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE))
        with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(made)) as new:
            old.backup(new)
        made.replace(copy)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            made.unlink()
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ToolkitError(
            f"the store `{path}` is of an older dbatk and cannot be copied to `{copy}` before it is brought up to"
            f" date: {reason.lower()}",
            code="TK-0401",
            hint="free space there, or copy the store elsewhere and name it with `--store`",
        ) from None


def _is_a_store(database: Database) -> bool:
    """Tell our store from an empty place; refuse anything else without touching it."""
    with database.read() as connection:
        tables = _tables(connection)
        mark = _application_id(connection) if database.is_sqlite else APPLICATION_ID if tables else 0
    if not tables and mark == 0:
        return False
    if mark != APPLICATION_ID or "schema_version" not in tables:
        raise _foreign(database.place)
    return True


def _create(database: Database, connection: Connection) -> None:
    """Create all tables, unless another process did since we looked."""
    if database.is_sqlite:
        if _application_id(connection) == APPLICATION_ID:
            return
        connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID:d}"))
    else:
        connection.execute(CreateSchema(POSTGRESQL_SCHEMA, if_not_exists=True))
        if _tables(connection):
            return
    create_tables(connection)


def _tables(connection: Connection) -> Sequence[str]:
    """Return the names of the tables in a file or, in a database, in the schema of stores."""
    if connection.dialect.name == "sqlite":
        own = r"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'"
        return connection.exec_driver_sql(own).scalars().all()
    return inspect(connection).get_table_names(schema=POSTGRESQL_SCHEMA)


def _application_id(connection: Connection) -> int:
    return int(connection.exec_driver_sql("PRAGMA application_id").scalar_one())


def _switch_to_wal(database: Database, busy_seconds: float) -> None:
    """Let readers and a writer work side by side; SQLite does not wait for its turn here, so we do."""
    until = monotonic() + busy_seconds
    while True:
        try:
            with database.bare() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            return
        except ToolkitError as error:
            if error.code != "TK-0404" or monotonic() > until:
                raise
            sleep(_RETRY_SECONDS)


def _prepare_file(path: Path) -> None:
    refuse_network(path)
    try:
        _refuse_other_files(path)
        if not path.parent.exists():
            path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE))
    except OSError as error:
        raise _unwritable(path, error.strerror or type(error).__name__) from error
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise _unwritable(path, "its folder is read-only")


def _refuse_other_files(path: Path) -> None:
    """Refuse what is no SQLite file by its first bytes; SQLite itself would take some of them for empty."""
    if not path.exists():
        return
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ToolkitError(
            f"the store `{path}` is a pipe, a device or a folder, not a file",
            code="TK-0402",
            hint="give the path of a file",
        )
    if found.st_nlink > 1:
        # SQLite's journal and our audit log lie beside the name by which it was opened: one file would have two
        raise ToolkitError(
            f"the store `{path}` has {found.st_nlink} names (hard links), and each would have a log of its own",
            code="TK-0401",
            hint="remove all but one: `find -samefile` lists them; a copy or a symbolic link is no other name",
        )
    with path.open("rb") as file:
        first = file.read(len(_MAGIC))
    if first and first != _MAGIC:
        raise _foreign(StoreLocation(str(path)))


def _tighten(path: Path) -> None:
    """Take other users' rights from a store that has got some."""
    status = path.stat()
    if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) != _FILE_MODE:
        path.chmod(_FILE_MODE)


def _foreign(place: StoreLocation) -> ToolkitError:
    return ToolkitError(f"`{place}` belongs to another program or is damaged", code="TK-0402")


def _unwritable(path: Path, reason: str) -> ToolkitError:
    return ToolkitError(f"the store `{path}` cannot be written: {reason.lower()}", code="TK-0401")
