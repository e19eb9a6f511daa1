"""A newer tool opens an older store; an older tool refuses a newer one."""

from __future__ import annotations

import os
import sqlite3
from datetime import datetime, tzinfo
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import DDL, Connection, inspect, select

from tests.store.make import BEGAN, CELL, RUN, head, step, trial
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditMark
from toolkit.model.records import Artifact, RunRecord, TrialMark
from toolkit.store import open_store, opening, schema
from toolkit.store.migrations import MIGRATIONS, Migration
from toolkit.store.opening import bring_up_to_date
from toolkit.store.schema import SCHEMA_VERSION
from toolkit.store.store import Store

OLD = Path(__file__).parent / "old"


def old_store(path: Path, version: int) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript((OLD / f"version_{version}.sql").read_text())
    connection.close()
    return path


def tables(store: Store) -> dict[str, object]:
    """Return columns, keys and indexes of every table."""
    with store._database.read() as connection:
        found = inspect(connection)
        return {
            table: (
                [(each["name"], str(each["type"]), each["nullable"]) for each in found.get_columns(table)],
                found.get_pk_constraint(table),
                found.get_foreign_keys(table),
                sorted(map(str, found.get_indexes(table))),
                found.get_unique_constraints(table),
            )
            for table in found.get_table_names()
        }


def versions(store: Store) -> list[int]:
    with store._database.read() as connection:
        query = select(schema.schema_version.c.version).order_by(schema.schema_version.c.version)
        return list(connection.execute(query).scalars())


def test_every_version_has_a_migration_and_an_old_store_to_prove_it() -> None:
    assert [each.to for each in MIGRATIONS] == list(range(2, SCHEMA_VERSION + 1))
    assert {each.name for each in OLD.iterdir()} == {f"version_{n}.sql" for n in range(1, SCHEMA_VERSION)}


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_an_older_store_is_brought_up_to_date_and_keeps_everything(
    sqlite_path: Path, another: Store, version: int
) -> None:
    with open_store(old_store(sqlite_path, version)) as store:
        assert tables(store) == tables(another)
        assert versions(store) == list(range(1, SCHEMA_VERSION + 1))
        assert store.load_run(RUN) == RunRecord(
            head(trials_ended=1),
            trials=(trial(),),
            environment={"cpu": 2, "host": "db1"},
            warnings=("noise",),
            artifacts=(Artifact("script.sql", "text/sql", b"SELECT 1"),),
        )
        assert store.load_facts(RUN) == '{"a": 1}'
        assert store.unended_trials(RUN) == (TrialMark(2, 1, CELL, 2, BEGAN),)
        entries = [(each.entry, each.undo, each.scratch) for each in store.open_entries_all()]
        assert entries == [(1, step().undo, True)]


def test_of_the_marks_of_a_log_under_several_names_the_newest_is_kept(sqlite_path: Path) -> None:
    with open_store(old_store(sqlite_path, 9)) as store:
        assert (store.audit.mark, store.audit.seal) == (AuditMark("bb", 7, "22"), None)


def test_a_copy_of_an_older_store_is_kept_as_it_was(sqlite_path: Path) -> None:
    old_store(sqlite_path, 3)
    with sqlite3.connect(sqlite_path) as before:
        text = list(before.iterdump())
    open_store(sqlite_path).close()
    (copy,) = sqlite_path.parent.glob(f"{sqlite_path.name}.version3.*")
    assert copy.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(copy) as kept:
        assert list(kept.iterdump()) == text


def test_a_store_that_was_put_back_and_worked_with_is_copied_again(
    sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day, state in enumerate(("first", "second"), 1):
        sqlite_path.unlink(missing_ok=True)
        old_store(sqlite_path, 3)
        with sqlite3.connect(sqlite_path) as before:
            before.execute("UPDATE run SET label = ?", (state,))
        before.close()
        monkeypatch.setattr(opening, "datetime", clock(day))
        open_store(sqlite_path).close()
    kept = sorted(sqlite_path.parent.glob(f"{sqlite_path.name}.version3*"))
    assert [one.name.rpartition(".")[2] for one in kept] == ["20261101T000000Z", "20261102T000000Z"]
    with sqlite3.connect(kept[1]) as second:
        assert second.execute("SELECT label FROM run").fetchone() == ("second",)


def clock(day: int) -> type[datetime]:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Clock:
            return cls(2026, 11, day, tzinfo=tz)

    return Clock


def test_a_store_that_cannot_be_copied_stays_as_it_is(sqlite_path: Path) -> None:
    old_store(sqlite_path, 3)
    made = Path(f"{sqlite_path}.version3.{os.getpid()}")
    made.mkdir()
    with pytest.raises(ToolkitError, match="cannot be copied"):
        open_store(sqlite_path)
    made.rmdir()
    with sqlite3.connect(sqlite_path) as still:
        assert still.execute("SELECT max(version) FROM schema_version").fetchone() == (3,)


def test_an_up_to_date_store_is_left_alone(sqlite_path: Path) -> None:
    old_store(sqlite_path, 1)
    open_store(sqlite_path).close()
    before = sqlite_path.read_bytes()
    with open_store(sqlite_path) as store:
        assert versions(store) == list(range(1, SCHEMA_VERSION + 1))
    assert sqlite_path.read_bytes() == before


def test_a_newer_store_is_refused_and_left_as_it_was(store: Store, location: str) -> None:
    newer = Migration(SCHEMA_VERSION + 1, "test", lambda connection: _add(connection, "colour"))
    bring_up_to_date(store._database, SCHEMA_VERSION, (*MIGRATIONS, newer))
    with pytest.raises(ToolkitError, match=f"version {SCHEMA_VERSION + 1}, .* up to {SCHEMA_VERSION}") as caught:
        open_store(location)
    assert caught.value.code == "TK-0403"
    assert versions(store) == [SCHEMA_VERSION, SCHEMA_VERSION + 1]


def test_a_migration_that_fails_leaves_the_store_as_it_was(store: Store) -> None:
    steps = (
        *MIGRATIONS,
        Migration(SCHEMA_VERSION + 1, "test", lambda connection: _add(connection, "colour")),
        Migration(SCHEMA_VERSION + 2, "test", lambda connection: _add(connection, "1")),
    )
    before = tables(store)
    with pytest.raises(ToolkitError):
        bring_up_to_date(store._database, SCHEMA_VERSION, steps)
    assert tables(store) == before
    assert versions(store) == [SCHEMA_VERSION]


def test_two_tools_that_bring_the_same_store_up_to_date_do_it_once(store: Store) -> None:
    newer = (*MIGRATIONS, Migration(SCHEMA_VERSION + 1, "test", lambda connection: _add(connection, "colour")))
    bring_up_to_date(store._database, SCHEMA_VERSION, newer)
    # the second one looked before the first was done
    bring_up_to_date(store._database, SCHEMA_VERSION, newer)
    assert versions(store) == [SCHEMA_VERSION, SCHEMA_VERSION + 1]


def _add(connection: Connection, column: str) -> None:
    connection.execute(DDL(f"ALTER TABLE run ADD COLUMN {column} TEXT"))


@pytest.mark.postgresql
def test_a_schema_of_another_program_is_refused_and_left_as_it_was(empty_postgresql: str) -> None:
    with psycopg.connect(empty_postgresql, autocommit=True) as session:
        session.execute("CREATE SCHEMA dbatk CREATE TABLE dbatk.run (x integer)")
        with pytest.raises(ToolkitError) as caught:
            open_store(empty_postgresql)
        found = session.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'dbatk'")
        assert found.fetchall() == [("run",)]
    assert caught.value.code == "TK-0402"
