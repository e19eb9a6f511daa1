"""Old partitions are dropped or detached: those and no others, also after a kill and where somebody meddled."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.cli.conftest import Answer, Dbatk, dbatk, home
from tests.postgresql.test_vacuum import Session, figures
from tests.servers.postgresql import Server

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql

Drop = Callable[..., Answer]
_YEARS = range(4, -2, -1)
"""How many years ago the partitions end; the last one ends next year."""


@pytest.fixture
def session(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    with postgresql_server.connect() as opened:
        opened.execute(f"SET search_path = {postgresql_schema}")
        opened.execute("SET timezone = 'UTC'")
        opened.execute("CREATE TABLE sales (at timestamptz, n int) PARTITION BY RANGE (at)")
        for ago in _YEARS:
            opened.execute(
                f'DO $$ BEGIN EXECUTE format(\'CREATE TABLE "Ago {ago}" PARTITION OF sales FOR VALUES FROM '
                f"(%L) TO (%L)', current_date - interval '{ago + 1} years', "
                f"current_date - interval '{ago} years'); END $$"
            )
            opened.execute(f"INSERT INTO sales SELECT current_date - interval '{ago} years 1 day', g "
                           "FROM generate_series(1, 100) g")  # fmt: skip
        opened.execute("CREATE TABLE rest PARTITION OF sales DEFAULT")
        yield opened


@pytest.fixture
def drop(dbatk: Dbatk, postgresql_url: str, postgresql_schema: str) -> Drop:
    def asked(*options: str, table: str = "sales") -> Answer:
        return dbatk("partition", "drop", "-t", postgresql_url, "--table", f"{postgresql_schema}.{table}",
                     "--not-production", *options)  # fmt: skip

    return asked


def there(session: Session) -> list[str]:
    rows = session.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'sales'::regclass")
    return sorted(str(name) for (name,) in rows)


def test_partitions_that_end_by_the_first_day_kept_go_and_no_others(session: Session, drop: Drop) -> None:
    shown = drop("--keep-rows", "2 years", "--dry-run").out
    assert (shown.count("DROP TABLE"), shown.count("RAISE EXCEPTION")) == (3, 3)
    assert "3 of 7 partitions" in shown
    assert shown.index('"Ago 4";') < shown.index('"Ago 3";') < shown.index('"Ago 2";')
    answer = drop("--keep-rows", "2 years", "--json")
    assert answer.status == 0, answer.err
    assert "what it removes or changes stays so" in answer.err
    assert there(session) == ['"Ago -1"', '"Ago 0"', '"Ago 1"', "rest"]
    assert figures(answer.out)["table_bytes_before"] > figures(answer.out)["table_bytes_after"]
    again = drop("--keep-rows", "24 months")
    assert (again.status, "nothing is dropped" in again.out + again.err) == (0, True), again
    assert len(there(session)) == 4


def test_a_detached_partition_keeps_its_rows_and_one_that_is_half_detached_stays(
    session: Session, drop: Drop
) -> None:
    session.execute("DROP TABLE rest")
    answer = drop("--keep-rows", "3 years", "--detach")
    assert answer.status == 0, answer.err
    assert there(session) == ['"Ago -1"', '"Ago 0"', '"Ago 1"', '"Ago 2"']
    assert session.execute('SELECT count(*) FROM "Ago 3"').fetchone() == (100,)
    session.execute("UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = '\"Ago 2\"'::regclass")
    answer = drop("--keep-rows", "1 week")
    assert (answer.status, "FINALIZE" in answer.err + answer.out) == (0, True), answer
    assert there(session) == ['"Ago -1"', '"Ago 0"', '"Ago 2"']


def test_the_newest_partition_stays_and_so_do_those_without_an_end(session: Session, drop: Drop) -> None:
    for table in ("rest", '"Ago -1"', '"Ago 0"', '"Ago 1"'):
        session.execute(f"DROP TABLE {table}")
    answer = drop("--keep-rows", "1 day")
    assert (answer.status, "keeps its newest" in " ".join((answer.out + answer.err).split())) == (0, True), answer
    assert there(session) == ['"Ago 2"']
    session.execute("CREATE TABLE more PARTITION OF sales FOR VALUES FROM (current_date) TO (MAXVALUE)")
    assert drop("--keep-rows", "1 day").status == 0
    assert there(session) == ["more"]


def test_a_table_that_took_the_name_of_a_partition_meanwhile_stays(
    session: Session, drop: Drop, dbatk: Dbatk
) -> None:
    # the first item is the oldest; its statement makes way for a stranger before the second one's turn
    session.execute(
        """CREATE FUNCTION meddle() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
             IF to_regclass('"Ago 3"') IS NOT NULL AND to_regclass('"Ago 4"') IS NULL THEN
               ALTER TABLE sales DETACH PARTITION "Ago 3";
             END IF;
           END $$"""
    )
    schema = session.execute("SELECT current_schema()").fetchone()
    session.execute(f"ALTER FUNCTION meddle() SET search_path = {schema[0]}")  # type: ignore[index]
    session.execute("CREATE EVENT TRIGGER meddle ON sql_drop EXECUTE FUNCTION meddle()")
    try:
        answer = drop("--keep-rows", "2 years")
    finally:
        session.execute("DROP EVENT TRIGGER meddle")
    assert answer.status == 3, answer
    assert "no longer the partition that was read" in answer.err + answer.out
    assert session.execute('SELECT count(*) FROM "Ago 3"').fetchone() == (100,)
    assert '"Ago 2"' in there(session)
    session.execute('DROP TABLE "Ago 3"')
    assert "`Ago 2` is still there" in answer.out, "an error of the trigger has the code of what is gone"
    again = dbatk("runs", "resume", "last", "--not-production")
    assert again.status == 0, "what is gone is done"
    assert there(session) == ['"Ago -1"', '"Ago 0"', '"Ago 1"', "rest"]


@pytest.mark.parametrize(
    ("made", "options", "status", "words"),
    [
        ("CREATE TABLE t (at date) PARTITION BY LIST (at)", ("--keep-rows", "1 day"), 5, "ranges of one date"),
        ("CREATE TABLE t (n int) PARTITION BY RANGE (n)", ("--keep-rows", "1 day"), 5, "ranges of one date"),
        ("CREATE TABLE t (at date)", ("--keep-rows", "1 day"), 5, "is not partitioned"),
        ("CREATE TABLE t (at date PRIMARY KEY) PARTITION BY RANGE (at);"
         "CREATE TABLE child (at date CONSTRAINT theirs REFERENCES t)", ("--keep-rows", "1 day"), 5, "theirs of"),
        ("CREATE TABLE t (at date) PARTITION BY RANGE (at)", ("--keep-rows", "1 day", "--degree", "2"), 5,
         "in one process"),
        ("CREATE TABLE t (at date) PARTITION BY RANGE (at)", ("--keep-rows", "1 day", "--repeat", "2"), 5,
         "nothing left to measure"),
        ("SELECT 1", ("--keep-rows", "two years"), 2, "does not say how long"),
        ("SELECT 1", ("--keep-rows", "9999 years"), 2, "before the year 1"),
        ("SELECT 1", (), 2, "--keep-rows"),
    ],
)  # fmt: skip
def test_what_has_no_age_or_cannot_go_is_refused_and_nothing_is_changed(
    session: Session, drop: Drop, made: str, options: tuple[str, ...], status: int, words: str
) -> None:
    session.execute(made)
    answer = drop(*options, table="sales" if made == "SELECT 1" else "t")
    assert (answer.status, words in " ".join(answer.err.split())) == (status, True), answer
    assert len(there(session)) == 7
