"""Open a store: make a new one, bring an older one up to date, leave a newer one and files of others untouched.

A new store is created as `schema.py` describes it. An older one is changed step by step, each step written here
once and never edited again; a test holds that both ways lead to the same tables. All steps of one opening are one
transaction: either the store is up to date or it is as it was.
"""

from __future__ import annotations

import functools
import os
import sqlite3
import stat
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sqlalchemy import Connection, create_mock_engine, func, inspect, select, text
from sqlalchemy.schema import CreateSchema

from toolkit import __version__
from toolkit.errors import ToolkitError
from toolkit.store.database import POSTGRESQL_SCHEMA, Database
from toolkit.store.location import StoreLocation, refuse_network
from toolkit.store.schema import APPLICATION_ID, ONLY_ADDED, SCHEMA_VERSION, metadata, schema_version


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: `apply` turns a store of version `to - 1` into one of version `to`."""

    to: int
    why: str
    apply: Callable[[Connection], None]


def _index_lists(connection: Connection) -> None:
    for statement in (
        "CREATE INDEX run_newest ON run (began_at, run)",
        "CREATE INDEX run_label ON run (label, began_at)",
        "CREATE INDEX trial_ended ON trial (run, outcome, trial)",
    ):
        connection.execute(text(statement))


def _keep_states(connection: Connection) -> None:
    content = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    connection.execute(
        text(
            "CREATE TABLE snapshot_state (snapshot_id INTEGER NOT NULL, size_bytes BIGINT NOT NULL, "
            f"content {content} NOT NULL, PRIMARY KEY (snapshot_id), "
            "FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE)"
        )
    )


def _keep_plans(connection: Connection) -> None:
    server = connection.dialect.name == "postgresql"
    key, real = ('TEXT COLLATE "C"', "DOUBLE PRECISION") if server else ("TEXT", "DOUBLE")
    for statement in (
        f"CREATE TABLE plan_run (plan_run {key} NOT NULL, plan TEXT NOT NULL, plan_hash TEXT NOT NULL, "
        "state TEXT NOT NULL, began_at TEXT NOT NULL, ended_at TEXT, window_begin TEXT, window_end TEXT, "
        "host TEXT NOT NULL, stopped_by TEXT, text TEXT NOT NULL, PRIMARY KEY (plan_run))",
        f"CREATE TABLE plan_step (plan_run {key} NOT NULL, position INTEGER NOT NULL, target TEXT NOT NULL, "
        f"step TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, run {key}, tries INTEGER NOT NULL, began_at TEXT, "
        f"ended_at TEXT, expected_seconds {real}, slow_seconds {real}, size_bytes {real}, "
        "PRIMARY KEY (plan_run, position), "
        "FOREIGN KEY(plan_run) REFERENCES plan_run (plan_run) ON DELETE CASCADE)",
        "CREATE INDEX plan_newest ON plan_run (plan, began_at)",
        "CREATE INDEX step_history ON plan_step (step, target, ended_at)",
    ):
        connection.execute(text(statement))


def _keep_what_was_verified(connection: Connection) -> None:
    real = "DOUBLE PRECISION" if connection.dialect.name == "postgresql" else "DOUBLE"
    for column in (f"size_rows {real}", "verified TEXT", "unverified TEXT"):
        connection.execute(text(f"ALTER TABLE plan_step ADD COLUMN {column}"))


def _distinguish_hosts(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE lease ADD COLUMN boot TEXT"))


def _keep_marks(connection: Connection) -> None:
    connection.execute(
        text(
            "CREATE TABLE audit_mark (path TEXT NOT NULL, log TEXT NOT NULL, line_count INTEGER NOT NULL, "
            "last_hash TEXT NOT NULL, marked_at TEXT NOT NULL, PRIMARY KEY (path))"
        )
    )


def _keep_notes_of_plan_runs(connection: Connection) -> None:
    key = 'TEXT COLLATE "C"' if connection.dialect.name == "postgresql" else "TEXT"
    connection.execute(
        text(
            f"CREATE TABLE plan_note (plan_run {key} NOT NULL, position INTEGER NOT NULL, target TEXT NOT NULL, "
            "text TEXT NOT NULL, noted_at TEXT NOT NULL, PRIMARY KEY (plan_run, position), "
            "FOREIGN KEY(plan_run) REFERENCES plan_run (plan_run) ON DELETE CASCADE)"
        )
    )


def _name_scratch_objects(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE journal RENAME COLUMN ours TO scratch"))


def _know_the_log_by_its_store(connection: Connection) -> None:
    """Keep the newest mark: a store has one log, whose names were those of a host and a path."""
    server = connection.dialect.name == "postgresql"
    for statement in (
        # the log of a database was a file of each host; now it is a table, which begins anew
        "DELETE FROM audit_mark"
        if server
        else "DELETE FROM audit_mark WHERE path NOT IN "
        "(SELECT path FROM audit_mark WHERE path NOT LIKE '% sealed' ORDER BY marked_at DESC LIMIT 1)",
        "UPDATE audit_mark SET path = 'seen'",
        "ALTER TABLE audit_mark RENAME COLUMN path TO what",
        "CREATE TABLE audit_line (number INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (number))",
        *(ONLY_ADDED if server else ()),
    ):
        connection.execute(text(statement))


MIGRATIONS: tuple[Migration, ...] = (
    Migration(2, "lists stay quick in a store of 100,000 trials", _index_lists),
    Migration(3, "what a snapshot read is one compressed document", _keep_states),
    Migration(4, "plan runs, and what became of each step", _keep_plans),
    Migration(5, "what was verified of a step, and the rows it worked on", _keep_what_was_verified),
    Migration(6, "hosts of one name are distinguished by their boot", _distinguish_hosts),
    Migration(7, "how far the audit log was seen, so that it is missed when it is cut", _keep_marks),
    Migration(8, "what a plan run waited for, and what could not be watched", _keep_notes_of_plan_runs),
    Migration(9, "a scratch object is called so", _name_scratch_objects),
    Migration(10, "a store has one log, by whatever path or host it is reached", _know_the_log_by_its_store),
)


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


def _make_ready(database: Database, busy_seconds: float) -> None:
    if not _is_a_store(database):
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
