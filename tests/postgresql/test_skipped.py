"""ANALYZE that the server skips with a warning is not done, whatever the statement's own end says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Dbatk, dbatk, home
from tests.servers.postgresql import Server

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql

Session = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def session(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    with postgresql_server.connect() as opened:
        opened.execute(f"SET search_path = {postgresql_schema}")
        opened.execute("CREATE TABLE mine AS SELECT g AS i FROM generate_series(1, 500) g")
        opened.execute("CREATE VIEW seen AS SELECT * FROM mine")
        opened.execute("CREATE TABLE parent (i int) PARTITION BY RANGE (i)")
        opened.execute("CREATE TABLE low PARTITION OF parent FOR VALUES FROM (0) TO (100)")
        opened.execute("CREATE TABLE high PARTITION OF parent FOR VALUES FROM (100) TO (200)")
        opened.execute("INSERT INTO parent SELECT g FROM generate_series(0, 199) g")
        yield opened


@pytest.fixture
def guest(session: Session, postgresql_server: Server, postgresql_schema: str) -> Iterator[str]:
    """A role that may read and connect, and own nothing; gives the URL it connects with."""
    role = f"guest_{postgresql_schema}"[:60]
    session.execute(f"CREATE ROLE {role} LOGIN")
    session.execute(f"GRANT USAGE ON SCHEMA {postgresql_schema} TO {role}")
    session.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {postgresql_schema} TO {role}")
    yield postgresql_server.url.replace(f"//{postgresql_server.user}@", f"//{role}@")
    session.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER")
    session.execute(f"DROP OWNED BY {role}")
    session.execute(f"DROP ROLE {role}")


def analyzed(session: Session, table: str) -> object:
    row = session.execute("SELECT pg_stat_get_last_analyze_time(to_regclass(%s))", [table]).fetchone()
    assert row is not None
    return row[0]


def test_a_table_that_the_role_may_not_analyze_is_not_ok(
    dbatk: Dbatk, session: Session, guest: str, postgresql_schema: str
) -> None:
    session.execute("ANALYZE mine")  # just before: the age alone would speak for it
    before = analyzed(session, "mine")
    answer = dbatk(
        "stats", "gather", "-t", guest, "--table", f"{postgresql_schema}.mine", "--not-production", "--json"
    )
    assert analyzed(session, "mine") == before
    assert answer.status == 3, answer.out
    (trial,) = json.loads(answer.out)["trials"]
    assert (trial["outcome"], trial["error_code"]) == ("failed", "TK-0208")
    assert "no statistics were gathered" in trial["reason"]
    assert "skipping" in trial["reason"]


def test_of_a_schema_only_the_tables_that_were_analyzed_are_ok(
    dbatk: Dbatk, session: Session, guest: str, postgresql_schema: str
) -> None:
    role = guest.partition("//")[2].partition("@")[0]
    session.execute(f"ALTER TABLE mine OWNER TO {role}")
    session.execute(f"ALTER TABLE low OWNER TO {role}")
    session.execute(f"ALTER TABLE parent OWNER TO {role}")
    answer = dbatk("stats", "gather", "-t", guest, "--schema", postgresql_schema, "--not-production", "--json")
    assert answer.status == 3, answer.out
    (trial,) = json.loads(answer.out)["trials"]
    items = {item["label"].partition(".")[2]: item for item in trial["items"]}
    assert items["mine"]["outcome"] == "ok"
    assert analyzed(session, "mine") is not None
    assert items["parent"]["outcome"] == "failed"
    assert "1 of 3 tables were skipped" in items["parent"]["reason"]
    assert analyzed(session, "high") is None


def test_the_statistics_of_a_partitioned_table_are_gathered_with_its_schema(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    line = ("stats", "gather", "-t", postgresql_url, "--schema", postgresql_schema, "--not-production", "--json")
    answer = dbatk(*line)
    assert answer.status == 0, answer.out
    assert all(analyzed(session, name) for name in ("mine", "parent", "low", "high"))
    inherited = "SELECT count(*) FROM pg_stats WHERE tablename = 'parent' AND schemaname = %s"
    assert session.execute(inherited, [postgresql_schema]).fetchone() == (1,)
    (trial,) = json.loads(answer.out)["trials"]
    assert sorted(item["label"].partition(".")[2] for item in trial["items"]) == ["mine", "parent"]


def test_the_statistics_of_a_view_are_refused(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str
) -> None:
    answer = dbatk(
        "stats", "gather", "-t", postgresql_url, "--table", f"{postgresql_schema}.seen", "--not-production"
    )
    assert answer.status != 0
    assert "a view has no statistics" in answer.out + answer.err
    assert "gather those of the tables it reads" in answer.out + answer.err


def test_doctor_names_the_right_that_is_missing(
    dbatk: Dbatk, session: Session, guest: str, postgresql_schema: str
) -> None:
    keeper = f"keeper_{postgresql_schema}"[:60]
    session.execute(f"CREATE ROLE {keeper}")
    session.execute(f"ALTER TABLE mine OWNER TO {keeper}")
    answer = dbatk("doctor", "-t", guest, "--operation", "stats-gather", "--grants")
    session.execute(f"REASSIGN OWNED BY {keeper} TO CURRENT_USER")
    session.execute(f"DROP ROLE {keeper}")
    role = guest.partition("//")[2].partition("@")[0]
    release = session.info.server_version // 10000
    right = (
        f'GRANT MAINTAIN ON ALL TABLES IN SCHEMA "{postgresql_schema}"' if release >= 17 else f'GRANT "{keeper}"'
    )
    (grant,) = [line for line in answer.out.splitlines() if line.startswith(right) and f'TO "{role}"' in line]
    assert grant.endswith(";")


def test_a_warning_of_a_timed_statement_is_shown(
    dbatk: Dbatk, session: Session, postgresql_url: str, postgresql_schema: str, tmp_path: Path
) -> None:
    session.execute(
        "CREATE FUNCTION loud(int) RETURNS int LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE WARNING 'this row is odd'; RETURN $1; END $$"
    )
    session.execute("CREATE TABLE one AS SELECT 1 AS i")
    query = f"SELECT {postgresql_schema}.loud(i) AS i FROM {postgresql_schema}.one"
    path = tmp_path / "q.sql"
    path.write_text(query)
    answer = dbatk(
        "ctas",
        "-t",
        postgresql_url,
        "--query",
        str(path),
        "--table",
        f"{postgresql_schema}.made",
        "--not-production",
    )
    assert answer.status == 0, answer.err
    assert "this row is odd" in answer.err + answer.out
