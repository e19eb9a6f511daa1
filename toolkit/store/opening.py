"""Open a store: make a new one, bring an older one up to date, leave a file of another program untouched."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from time import monotonic, sleep

from sqlalchemy import Connection, inspect, text
from sqlalchemy.schema import CreateSchema

from toolkit.errors import ToolkitError
from toolkit.store.database import POSTGRESQL_SCHEMA, Database
from toolkit.store.location import StoreLocation, refuse_network
from toolkit.store.migrations import bring_up_to_date, create_tables, version_of
from toolkit.store.schema import APPLICATION_ID

_MAGIC = b"SQLite format 3\0"
_FILE_MODE, _FOLDER_MODE = 0o600, 0o700
_RETRY_SECONDS = 0.02


def open_database(place: StoreLocation, busy_seconds: float) -> Database:
    """Open the store at a place; a place that is empty becomes a new store.

    Raises:
        ToolkitError: TK-0401 cannot be written, TK-0402 of another program or damaged, TK-0403 of a newer version,
            TK-0404 locked.
    """
    if place.path is not None:
        _prepare_file(place.path)
    database = Database(place, busy_seconds)
    try:
        _make_ready(database, busy_seconds)
    except BaseException:
        database.close()
        raise
    return database


def _make_ready(database: Database, busy_seconds: float) -> None:
    if not _is_a_store(database):
        if database.is_sqlite:
            _switch_to_wal(database, busy_seconds)
        with database.write("a new store") as connection:
            database.serialize(connection)
            _create(database, connection)
    with database.read() as connection:
        version = version_of(connection, database.place)
    bring_up_to_date(database, version)
    if database.place.path is not None:
        _tighten(database.place.path)


def _is_a_store(database: Database) -> bool:
    """Tell our store from an empty place; refuse anything else without touching it."""
    with database.read() as connection:
        tables = inspect(connection).get_table_names(schema=None if database.is_sqlite else POSTGRESQL_SCHEMA)
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
        if inspect(connection).get_table_names(schema=POSTGRESQL_SCHEMA):
            return
    create_tables(connection)


def _application_id(connection: Connection) -> int:
    return int(connection.execute(text("PRAGMA application_id")).scalar_one())


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
    if not stat.S_ISREG(path.stat().st_mode):
        raise _foreign(StoreLocation(str(path)))
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
