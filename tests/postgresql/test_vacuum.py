"""VACUUM: what it removed, what it skipped and what it had to leave, as the catalogue tells of it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psycopg
import pytest

from tests.cli.conftest import Dbatk, dbatk, home
from tests.servers.postgresql import Server

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql

Session = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def session(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    postgresql_server.end_others()
    with postgresql_server.connect() as opened:
        opened.execute(f"SET search_path = {postgresql_schema}")
        opened.execute("SET min_parallel_index_scan_size = 0")
        opened.execute("CREATE TABLE mine AS SELECT g AS i, g % 7 AS k FROM generate_series(1, 9000) g")
        opened.execute("CREATE INDEX mine_i ON mine (i)")
        opened.execute("CREATE INDEX mine_k ON mine (k)")
        opened.execute("CREATE VIEW seen AS SELECT * FROM mine")
        opened.execute("CREATE TABLE parent (i int) PARTITION BY RANGE (i)")
        opened.execute("CREATE TABLE low PARTITION OF parent FOR VALUES FROM (0) TO (100)")
        opened.execute("INSERT INTO parent SELECT g FROM generate_series(0, 99) g")
        yield opened


@pytest.fixture
def guest(session: Session, postgresql_server: Server, postgresql_schema: str) -> Iterator[str]:
    """A role that may read, and owns nothing; gives the URL it connects with."""
    role = f"guest_{postgresql_schema}"[:60]
    session.execute(f"CREATE ROLE {role} LOGIN")
    session.execute(f"GRANT USAGE ON SCHEMA {postgresql_schema} TO {role}")
    session.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {postgresql_schema} TO {role}")
    yield postgresql_server.url.replace(f"//{postgresql_server.user}@", f"//{role}@")
    session.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER")
    session.execute(f"DROP OWNED BY {role}")
    session.execute(f"DROP ROLE {role}")


def delete_some(session: Session) -> None:
    session.execute("DELETE FROM mine WHERE i % 3 = 0")
    session.execute("SELECT pg_stat_force_next_flush()")


def figures(out: str) -> dict[str, float]:
    (trial,) = json.loads(out)["trials"]
    return {metric["name"]: metric["value"] for metric in trial["metrics"]}


def test_dead_rows_are_removed_and_the_figures_before_and_after_are_kept(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    delete_some(session)
    answer = dbatk("vacuum", "-t", postgresql_url, "--table", f"{postgresql_schema}.mine", "--freeze", "--analyze",
                   "--not-production", "--json")  # fmt: skip
    assert answer.status == 0, answer.out
    found = figures(answer.out)
    assert (found["dead_rows_before"], found["dead_rows_after"]) == (3000, 0)
    assert found["transaction_age_before"] > found["transaction_age_after"]
    assert found["table_bytes_before"] >= found["table_bytes_after"] > 0
    (row,) = session.execute("SELECT last_vacuum, last_analyze FROM pg_stat_user_tables WHERE relname = 'mine'")
    assert None not in row
    assert session.execute("SELECT count(*) FROM mine").fetchone() == (6000,)


def test_what_a_transaction_may_still_see_is_told_before_and_after(
    dbatk: Dbatk, session: Session, postgresql_server: Server, postgresql_schema: str
) -> None:
    with postgresql_server.connect() as holder:
        holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        holder.execute("SELECT 1")
        delete_some(session)
        answer = dbatk("vacuum", "-t", postgresql_server.url, "--table", f"{postgresql_schema}.mine",
                       "--not-production", "--json")  # fmt: skip
    assert answer.status == 0, answer.out
    assert figures(answer.out)["dead_rows_after"] == 3000
    assert any("3,000 dead rows remain" in each for each in json.loads(answer.out)["warnings"])


def test_workers_are_counted_as_the_server_launched_them(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    session.execute("ALTER DATABASE postgres SET min_parallel_index_scan_size = 0")
    try:
        answer = dbatk("vacuum", "-t", postgresql_url, "--table", f"{postgresql_schema}.mine", "--degree", "2,4",
                       "--repeat", "2", "--warmup", "0", "--index-cleanup", "on",
                       "--not-production", "--json")  # fmt: skip
    finally:
        session.execute("ALTER DATABASE postgres RESET min_parallel_index_scan_size")
    trials = json.loads(answer.out)["trials"]
    granted = {trial["factors"]["degree"]: trial["granted_degree"] for trial in trials}
    assert granted == {2: 2, 4: 2}, "two indexes: one for the leader, one for a worker"
    assert {trial["outcome"] for trial in trials} == {"ok", "downgraded"}
    dead = {
        metric["value"] for trial in trials for metric in trial["metrics"] if metric["name"] == "dead_rows_before"
    }
    assert len(dead) == 1 and 0 < dead.pop() < 9000, "every trial finds the same dead rows"
    left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'dbatk%'"
    assert session.execute(left).fetchone() == (0,)


def test_a_table_that_the_role_may_not_vacuum_is_refused_and_of_a_schema_left_out(
    dbatk: Dbatk, session: Session, guest: str, postgresql_schema: str
) -> None:
    one = dbatk("vacuum", "-t", guest, "--table", f"{postgresql_schema}.mine", "--not-production")
    assert (one.status, "neither owns nor maintains" in one.err) == (5, True), one.err
    session.execute(f"ALTER TABLE mine OWNER TO {guest.partition('//')[2].partition('@')[0]}")
    session.execute(f"GRANT CREATE ON SCHEMA {postgresql_schema} TO PUBLIC")
    whole = dbatk("vacuum", "-t", guest, "--schema", postgresql_schema, "--not-production", "--json")
    (trial,) = json.loads(whole.out)["trials"]
    outcomes = {item["label"].partition(".")[2]: item["outcome"] for item in trial["items"]}
    assert outcomes["mine"] == "ok"
    assert outcomes["parent"] != "ok"


def test_views_are_refused_and_partitions_are_vacuumed_with_their_table(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    view = dbatk("vacuum", "-t", postgresql_url, "--table", f"{postgresql_schema}.seen", "--not-production")
    assert (view.status, "only tables and materialized views are vacuumed" in view.err) == (5, True)
    whole = dbatk("vacuum", "-t", postgresql_url, "--table", f"{postgresql_schema}.parent", "--not-production")
    assert whole.status == 0, whole.err
    (row,) = session.execute("SELECT last_vacuum FROM pg_stat_user_tables WHERE relname = 'low'")
    assert row[0] is not None


def test_a_script_says_what_is_locked_and_that_nothing_is_undone(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    asked = ("vacuum", "-t", postgresql_url, "--table", f"{postgresql_schema}.mine", "--dry-run")
    shown = dbatk(*asked).out
    assert "SHARE UPDATE EXCLUSIVE" in shown
    assert "ACCESS EXCLUSIVE" in shown
    assert "cannot be undone" in shown
    assert "ACCESS EXCLUSIVE" not in dbatk(*asked, "--truncate", "no").out
