"""VACUUM FULL and CLUSTER: tables rewritten, as their files tell, and by whom they cannot be."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psycopg
import pytest

from tests.cli.conftest import Dbatk, dbatk, home
from tests.postgresql.test_vacuum import Session, figures, guest
from tests.servers.postgresql import Server

__all__ = ["dbatk", "guest", "home"]

pytestmark = pytest.mark.postgresql


@pytest.fixture
def session(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    with postgresql_server.connect() as opened:
        opened.execute(f"SET search_path = {postgresql_schema}")
        opened.execute(
            "CREATE TABLE mine AS SELECT (g * 7919) % 9001 AS i, g % 7 AS k FROM generate_series(1, 9000) g"
        )
        opened.execute("CREATE INDEX mine_i ON mine (i)")
        opened.execute("DELETE FROM mine WHERE i % 3 = 0")
        opened.execute("CREATE TABLE parent (i int) PARTITION BY RANGE (i)")
        opened.execute("CREATE TABLE low PARTITION OF parent FOR VALUES FROM (0) TO (100)")
        opened.execute("INSERT INTO parent SELECT g FROM generate_series(0, 99) g")
        yield opened


def rows_of(session: Session) -> list[tuple[object, ...]]:
    return session.execute("SELECT count(*), sum(hashtext(i::text || k)) FROM mine").fetchall()


def test_a_bloated_table_gives_its_space_back_and_keeps_its_rows(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    before = rows_of(session)
    answer = dbatk(
        "table", "move", "-t", postgresql_url, "--table", f"{postgresql_schema}.mine", "--not-production", "--json"
    )
    assert answer.status == 0, answer.out
    found = figures(answer.out)
    assert found["table_bytes_after"] < found["table_bytes_before"]
    assert found["index_bytes_after"] < found["index_bytes_before"]
    assert "dead_rows_after" not in found, "the server's statistics would tell of dead rows that are gone"
    assert rows_of(session) == before


def test_rows_are_put_in_the_order_of_an_index(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    asked = ("table", "move", "-t", postgresql_url, "--table", f"{postgresql_schema}.mine", "--not-production")
    wrong = dbatk(*asked, "--order-by-index", "mine_k")
    assert (wrong.status, "did you mean `mine_i`?" in wrong.err) == (2, True)
    assert dbatk(*asked, "--order-by-index", "mine_i").status == 0
    found = [row[0] for row in session.execute("SELECT i FROM mine ORDER BY ctid").fetchall()]
    assert found == sorted(found)


def test_a_measurement_orders_copies_by_their_own_index_and_builds_indexes_in_parallel(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    node = "SELECT pg_relation_filenode('mine')"
    before = session.execute(node).fetchone()
    session.execute("ALTER DATABASE postgres SET min_parallel_table_scan_size = 0")
    try:
        answer = dbatk("table", "move", "-t", postgresql_url, "--table", f"{postgresql_schema}.mine",
                       "--degree", "1,2", "--order-by-index", "mine_i", "--repeat", "2", "--warmup", "0",
                       "--maintenance-work-mem", "128M", "--not-production", "--json")  # fmt: skip
    finally:
        session.execute("ALTER DATABASE postgres RESET min_parallel_table_scan_size")
    trials = json.loads(answer.out)["trials"]
    assert len(trials) == 4, answer.out
    reasons = {trial["reason"] for trial in trials if trial["factors"]["degree"] == 2}
    assert not any(reason and "serially" in reason for reason in reasons), reasons
    assert session.execute(node).fetchone() == before
    left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'dbatk%'"
    assert session.execute(left).fetchone() == (0,)


def test_what_the_role_may_not_write_anew_is_refused_and_partitions_that_are_skipped_are_told(
    dbatk: Dbatk, session: Session, guest: str, postgresql_schema: str
) -> None:
    one = dbatk("table", "move", "-t", guest, "--table", f"{postgresql_schema}.mine", "--not-production")
    assert (one.status, "neither owns nor maintains" in one.err) == (5, True), one.err
    session.execute(f"ALTER TABLE parent OWNER TO {guest.partition('//')[2].partition('@')[0]}")
    answer = dbatk(
        "table", "move", "-t", guest, "--table", f"{postgresql_schema}.parent", "--not-production", "--json"
    )
    (trial,) = json.loads(answer.out)["trials"]
    assert (answer.status, trial["error_code"]) == (3, "TK-0208"), answer.out
    assert "it was not rewritten; the server warned" in trial["reason"]


def test_a_materialized_view_that_was_never_filled_is_left_out_of_a_schema_and_refused_alone(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    session.execute("CREATE MATERIALIZED VIEW empty AS SELECT i FROM mine WITH NO DATA")
    session.execute("CREATE MATERIALIZED VIEW seen AS SELECT i FROM mine")
    node = "SELECT pg_relation_filenode('seen')"
    before = session.execute(node).fetchone()
    asked = ("table", "move", "-t", postgresql_url, "--not-production")
    whole = dbatk(*asked, "--schema", postgresql_schema, "--json")
    assert whole.status == 0, whole.out
    assert "`empty` was never filled" in whole.out.replace(f"{postgresql_schema}.", "")
    assert session.execute(node).fetchone() != before
    one = dbatk(*asked, "--table", f"{postgresql_schema}.empty")
    assert (one.status, "was never filled" in one.err, "dbatk mview refresh" in one.err) == (5, True, True)


def test_a_locked_table_is_not_moved_and_says_so(
    dbatk: Dbatk, session: Session, postgresql_server: Server, postgresql_schema: str
) -> None:
    with postgresql_server.connect() as holder:
        holder.execute("BEGIN")
        holder.execute(f"LOCK TABLE {postgresql_schema}.mine IN ACCESS SHARE MODE")
        answer = dbatk("table", "move", "-t", postgresql_server.url, "--table", f"{postgresql_schema}.mine",
                       "--lock-wait", "1s", "--lock-tries", "1", "--not-production", "--json")  # fmt: skip
    (trial,) = json.loads(answer.out)["trials"]
    assert answer.status != 0
    assert trial["error_code"] == "55P03"
    assert psycopg.errors.lookup("55P03").__name__ == "LockNotAvailable"


def test_doctor_tells_what_a_rewrite_would_gain_how_it_was_estimated_and_what_holds_rows_back(
    dbatk: Dbatk, session: Session, postgresql_server: Server, postgresql_schema: str
) -> None:
    session.execute("CREATE TABLE fat AS SELECT g AS i, repeat('x', 400) AS w FROM generate_series(1, 60000) g")
    session.execute("DELETE FROM fat WHERE i % 10 > 0")
    asked = ("doctor", "-t", postgresql_server.url, "--operation", "table-move", "--json", "--table")
    unknown = json.loads(dbatk(*asked, f"{postgresql_schema}.fat").out)["checks"]
    wasted = f"wasted space of {postgresql_schema}.fat"
    (found,) = [check for check in unknown if check["name"] == wasted]
    assert (found["state"], "unknown" in found["evidence"]) == ("note", True)
    session.execute("SELECT pg_stat_force_next_flush()")
    session.execute("ANALYZE fat")
    known = json.loads(dbatk(*asked, f"{postgresql_schema}.fat").out)["checks"]
    (found,) = [check for check in known if check["name"] == wasted]
    assert (found["state"], "estimated from the column widths" in found["evidence"]) == ("warning", True)
    assert "--repeat 3" in found["action"]
    assert any(check["name"] == f"dead rows of {postgresql_schema}.fat" for check in known)
    listed = json.loads(dbatk("doctor", "-t", postgresql_server.url, "--json").out)["checks"]
    assert [check for check in listed if check["name"] == wasted] == [found], (
        "the worst are listed, whatever is asked"
    )
