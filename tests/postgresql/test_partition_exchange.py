"""A table takes the place of a partition: rows, bounds, what is refused, and what a resume finds done."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from tests.cli.conftest import Answer, Dbatk, dbatk, home
from tests.postgresql.test_vacuum import Session
from tests.servers.postgresql import Server

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql

Exchange = Callable[..., Answer]


@pytest.fixture
def session(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    with postgresql_server.connect() as opened:
        opened.execute(f"SET search_path = {postgresql_schema}")
        opened.execute("CREATE TABLE sales (at date, n int) PARTITION BY RANGE (at)")
        opened.execute("CREATE INDEX sales_n ON sales (n)")
        for month in (10, 11):
            opened.execute(
                f"CREATE TABLE sales_{month} PARTITION OF sales FOR VALUES FROM ('2026-{month}-01') "
                f"TO ('2026-{month + 1}-01')"
            )
            opened.execute(f"INSERT INTO sales SELECT '2026-{month}-15', g FROM generate_series(1, 100) g")
        opened.execute("CREATE TABLE fresh (at date, n int)")
        opened.execute("INSERT INTO fresh SELECT '2026-11-20', g FROM generate_series(1, 7) g")
        yield opened


@pytest.fixture
def exchange(dbatk: Dbatk, postgresql_url: str, postgresql_schema: str) -> Exchange:
    def asked(*options: str, partition: str = "sales_11", other: str = "fresh") -> Answer:
        return dbatk(
            "partition", "exchange", "-t", postgresql_url, "--table", f"{postgresql_schema}.sales",
            "--partition", f"{postgresql_schema}.{partition}", "--with-table", f"{postgresql_schema}.{other}",
            "--not-production", *options,
        )  # fmt: skip

    return asked


def parts(session: Session) -> dict[str, int]:
    names = session.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'sales'::regclass ORDER BY 1"
    ).fetchall()
    return {str(name): _rows(session, str(name)) for (name,) in names}


def _rows(session: Session, table: str) -> int:
    row = session.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return int(row[0])


def test_the_table_takes_the_place_and_the_bounds_and_the_partition_keeps_its_rows(
    session: Session, exchange: Exchange, dbatk: Dbatk, postgresql_url: str
) -> None:
    shown = exchange("--dry-run")
    assert (shown.status, shown.out.count("ATTACH PARTITION")) == (0, 1), shown
    assert "ACCESS EXCLUSIVE" in shown.out
    answer = exchange()
    assert answer.status == 0, answer.err
    assert parts(session) == {"fresh": 7, "sales_10": 100}
    assert _rows(session, "sales_11") == 100
    session.execute("INSERT INTO sales VALUES ('2026-11-30', 1)")
    assert parts(session)["fresh"] == 8
    resumed = dbatk("runs", "resume", "last", "-t", postgresql_url, "--not-production")
    assert (resumed.status, parts(session)["fresh"]) == (0, 8), resumed
    again = exchange(partition="fresh", other="sales_11")
    assert (again.status, parts(session)) == (0, {"sales_10": 100, "sales_11": 100}), again.err


def test_rows_outside_of_the_bounds_fail_and_nothing_changes(session: Session, exchange: Exchange) -> None:
    session.execute("INSERT INTO fresh VALUES ('2026-12-05', 8)")
    answer = exchange()
    assert (answer.status, parts(session)) == (3, {"sales_10": 100, "sales_11": 100}), answer
    assert "is violated by some row" in answer.out + answer.err


@pytest.mark.parametrize(
    ("before", "options", "words"),
    [
        ("ALTER TABLE fresh ADD more text", {}, "the columns of"),
        ("SELECT 1", {"partition": "sales_9"}, "has no partition"),
        ("SELECT 1", {"other": "sales_10"}, "is a partition already"),
        ("SELECT 1", {"other": "nothing"}, "does not exist"),
        ("CREATE VIEW seen AS SELECT * FROM fresh", {"other": "seen"}, "no ordinary table"),
        ("ALTER TABLE sales ADD UNIQUE (at, n); CREATE TABLE child (at date, n int, FOREIGN KEY (at, n) "
         "REFERENCES sales (at, n))", {}, "refers to"),
    ],
)  # fmt: skip
def test_what_cannot_be_exchanged_is_refused_before_anything_is_sent(
    session: Session, exchange: Exchange, before: str, options: dict[str, str], words: str
) -> None:
    for statement in before.split("; "):
        session.execute(statement)
    answer = exchange(**options)
    assert answer.status in (2, 5), answer
    assert words in answer.err
    assert parts(session) == {"sales_10": 100, "sales_11": 100}


def test_a_measurement_is_refused(session: Session, exchange: Exchange) -> None:
    answer = exchange("--repeat", "3")
    assert (answer.status, "cannot be measured" in answer.err) == (5, True), answer


def test_a_resume_of_what_somebody_did_by_hand_finds_it_done(
    session: Session, exchange: Exchange, dbatk: Dbatk, postgresql_url: str
) -> None:
    session.execute("INSERT INTO fresh VALUES ('2026-12-05', 8)")
    assert exchange().status == 3
    session.execute("DELETE FROM fresh WHERE n = 8")
    session.execute("ALTER TABLE sales DETACH PARTITION sales_11")
    session.execute("ALTER TABLE sales ATTACH PARTITION fresh FOR VALUES FROM ('2026-11-01') TO ('2026-12-01')")
    answer = dbatk("runs", "resume", "last", "-t", postgresql_url, "--not-production")
    assert (answer.status, "nothing was sent again" in answer.err) == (0, True), answer
    assert parts(session) == {"fresh": 7, "sales_10": 100}


# -- foreign keys and partitions of partitions
def keys(session: Session, table: str) -> list[str]:
    rows = session.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint "
        f"WHERE conrelid = '{table}'::regclass AND contype = 'f'"
    )
    return [str(row[0]) for row in rows.fetchall()]


def test_a_foreign_key_of_the_table_holds_for_what_takes_the_place(session: Session, exchange: Exchange) -> None:
    session.execute("CREATE TABLE shops (n int PRIMARY KEY)")
    session.execute("INSERT INTO shops SELECT generate_series(1, 100)")
    session.execute("ALTER TABLE sales ADD FOREIGN KEY (n) REFERENCES shops")
    session.execute("INSERT INTO fresh VALUES ('2026-11-21', 101)")
    answer = exchange()
    assert (answer.status, parts(session)) == (3, {"sales_10": 100, "sales_11": 100}), answer
    assert "violates foreign key" in answer.out and keys(session, "fresh") == []
    session.execute("DELETE FROM fresh WHERE n = 101")
    answer = exchange()
    assert (answer.status, parts(session)) == (0, {"fresh": 7, "sales_10": 100}), answer.err
    assert len(keys(session, "fresh")) == 1 and len(keys(session, "sales_11")) == 1
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        session.execute("INSERT INTO sales VALUES ('2026-11-30', 101)")


@pytest.mark.parametrize("fresh_too", [False, True], ids=["a table", "a partitioned table"])
def test_a_partition_with_partitions_goes_with_them(session: Session, exchange: Exchange, fresh_too: bool) -> None:
    _divided(session, "sales_12", "PARTITION OF sales FOR VALUES FROM ('2026-12-01') TO ('2027-01-01')")
    session.execute("INSERT INTO sales SELECT '2026-12-15', g FROM generate_series(1, 40) g")
    if fresh_too:
        session.execute("DROP TABLE fresh")
        _divided(session, "fresh", "(at date, n int)")
    else:
        session.execute("DELETE FROM fresh")
    session.execute("INSERT INTO fresh SELECT '2026-12-20', g FROM generate_series(1, 9) g")
    answer = exchange(partition="sales_12")
    assert answer.status == 0, answer.err
    assert parts(session) == {"fresh": 9, "sales_10": 100, "sales_11": 100}
    assert (_rows(session, "sales_12"), _rows(session, "sales_12_1")) == (40, _rows(session, "sales_12_1"))
    assert _rows(session, "sales_12_0") + _rows(session, "sales_12_1") == 40
    back = exchange(partition="fresh", other="sales_12")
    assert (back.status, parts(session)["sales_12"]) == (0, 40), back.err


def test_a_partition_of_a_partition_is_exchanged_by_the_name_of_its_own_table(
    session: Session, dbatk: Dbatk, postgresql_url: str, postgresql_schema: str
) -> None:
    _divided(session, "sales_12", "PARTITION OF sales FOR VALUES FROM ('2026-12-01') TO ('2027-01-01')")
    session.execute("INSERT INTO sales SELECT '2026-12-15', g FROM generate_series(1, 40) g")
    session.execute("CREATE TABLE twin (LIKE sales_12_0)")
    session.execute("INSERT INTO twin SELECT * FROM sales_12_0 LIMIT 3")
    answer = dbatk(
        "partition", "exchange", "-t", postgresql_url, "--table", f"{postgresql_schema}.sales_12", "--partition",
        f"{postgresql_schema}.sales_12_0", "--with-table", f"{postgresql_schema}.twin", "--not-production",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    assert parts(session)["sales_12"] == _rows(session, "sales_12_1") + 3
    assert _rows(session, "sales_12_0") + _rows(session, "sales_12_1") == 40


def _divided(session: Session, name: str, how: str) -> None:
    """Make a table that is partitioned by hash itself."""
    session.execute(f"CREATE TABLE {name} {how} PARTITION BY HASH (n)")
    for number in (0, 1):
        session.execute(
            f"CREATE TABLE {name}_{number} PARTITION OF {name} FOR VALUES WITH (MODULUS 2, REMAINDER {number})"
        )
