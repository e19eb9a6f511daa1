"""The commands against a real PostgreSQL server."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Dbatk
from tests.servers.postgresql import Server

pytestmark = pytest.mark.postgresql


@pytest.fixture
def source(postgresql_server: Server, postgresql_schema: str) -> str:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".small AS SELECT g AS i FROM generate_series(1, 50) g')
    return f"{postgresql_schema}.small"


def test_nobody_said_whether_it_is_production(dbatk: Dbatk, postgresql_url: str, source: str) -> None:
    line = ("ctas", "-t", postgresql_url, "--source", source, "--table", f"{source}2")
    refused = dbatk(*line)
    assert (refused.status, "[TK-0301]" in refused.err) == (5, True)
    assert dbatk(*line, "--not-production").status == 0
    again = dbatk(*line, "--not-production")
    assert (again.status, "[TK-0205]" in again.err) == (2, True)


def test_a_profile_may_say_that_it_is_not(dbatk: Dbatk, postgresql_url: str, source: str) -> None:
    assert dbatk("target", "add", "pg", postgresql_url, "--not-production").status == 0
    assert dbatk("target", "test", "pg").status == 0
    answer = dbatk("stats", "gather", "-t", "pg", "--table", source, "--json", "-q")
    assert answer.status == 0
    assert json.loads(answer.out)["engine"] == "postgresql"


def test_a_source_that_is_not_there_exits_2(dbatk: Dbatk, postgresql_url: str, source: str) -> None:
    answer = dbatk("ctas", "-t", postgresql_url, "--source", f"{source}_no", "--table", "x", "--not-production")
    assert (answer.status, "[TK-0204]" in answer.err) == (2, True)


def test_doctor_names_what_runs_serially(dbatk: Dbatk, postgresql_url: str, source: str) -> None:
    answer = dbatk("doctor", "-t", postgresql_url)
    assert answer.status == 0
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    said = " ".join(answer.out.split())
    assert "insert, load, stats-gather, purge in parallel available, by sessions `--verbose`" in said
    document = json.loads(dbatk("doctor", "-t", postgresql_url, "--json").out)
    work = {check["name"]: check for check in document["work"]}
    assert work["insert in parallel"]["state"] == "ok"
    assert "sessions" in work["insert in parallel"]["evidence"]


def test_a_wrong_database_is_named(dbatk: Dbatk, postgresql_url: str) -> None:
    answer = dbatk("doctor", "-t", postgresql_url.replace("/postgres", "/none_such", 1))
    assert answer.status in {1, 2}
    assert "hint: " in answer.err


def test_indexes_of_one_table_are_rebuilt_online_by_several_sessions_without_a_deadlock(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute(
            f'CREATE TABLE "{postgresql_schema}".t AS SELECT g AS i, md5(g::text) AS x, g AS y, g AS z'
            " FROM generate_series(1, 20000) g"
        )
        for column in "ixyz":
            session.execute(f'CREATE INDEX ON "{postgresql_schema}".t ({column})')
    line = ("index", "rebuild", "-t", postgresql_url, "--schema", postgresql_schema, "--online")
    answer = dbatk(*line, "--concurrency", "4", "--not-production", "--json")
    assert answer.status == 0, answer.out
    (trial,) = json.loads(answer.out)["trials"]
    assert [item["outcome"] for item in trial["items"]] == ["ok"] * 4


def leftovers_of_a_failed_online_rebuild(session: psycopg.Connection[tuple[object, ...]], schema: str) -> set[str]:
    rows = session.execute(
        "SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid"
        " WHERE i.relnamespace = %s::regnamespace AND NOT x.indisvalid", [schema],
    )  # fmt: skip
    return {str(name) for (name,) in rows}


def test_an_online_rebuild_that_fails_leaves_no_invalid_index(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str
) -> None:
    long = "n" * 60
    with postgresql_server.connect() as session, postgresql_server.connect() as other:
        session.execute(f'CREATE TABLE "{postgresql_schema}".t AS SELECT g AS i FROM generate_series(1, 9) g')
        session.execute(f'CREATE INDEX "{long}" ON "{postgresql_schema}".t (i)')
        # the build waits for this transaction, which has an older snapshot, until the time limit cancels it
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1")
        line = ("index", "rebuild", "-t", postgresql_url, "--schema", postgresql_schema, "--online")
        answer = dbatk(*line, "--time-limit", "1s", "--not-production", "--json")
        other.execute("ROLLBACK")
        assert answer.status == 3, answer.out
        assert leftovers_of_a_failed_online_rebuild(session, postgresql_schema) == set()
        assert dbatk(*line, "--not-production", "--json").status == 0


def test_what_another_online_rebuild_left_is_neither_rebuilt_nor_dropped(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".t AS SELECT g AS i FROM generate_series(1, 9) g')
        session.execute(f'CREATE INDEX t_i ON "{postgresql_schema}".t (i)')
        session.execute(f'CREATE INDEX t_i_ccnew ON "{postgresql_schema}".t (i)')
        session.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass",
            [f'"{postgresql_schema}".t_i_ccnew'],
        )
        line = ("index", "rebuild", "-t", postgresql_url, "--schema", postgresql_schema, "--online")
        answer = dbatk(*line, "--not-production", "--json")
        (trial,) = json.loads(answer.out)["trials"]
        assert len(trial["items"]) == 1
        assert leftovers_of_a_failed_online_rebuild(session, postgresql_schema) == {"t_i_ccnew"}
        shown = dbatk("doctor", "-t", postgresql_url, "--json").out
        assert "DROP INDEX" in shown
        assert "REINDEX INDEX" not in shown


def test_a_user_who_may_not_create_is_told_so_before_anything_runs(
    dbatk: Dbatk, postgresql_server: Server, postgresql_schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f'GRANT USAGE ON SCHEMA "{postgresql_schema}" TO {postgresql_server.password_user}')
    monkeypatch.setenv("DBATK_PASSWORD", str(postgresql_server.password))
    address = f"{postgresql_server.host}:{postgresql_server.port}/{postgresql_server.database}"
    url = f"postgresql://{postgresql_server.password_user}@{address}"
    line = ("ctas", "-t", url, "--query", "q.sql", "--table", f"{postgresql_schema}.t", "--not-production")
    Path("q.sql").write_text("select 1 as a")
    answer = dbatk(*line)
    assert (answer.status, "[TK-0306]" in answer.err, "GRANT CREATE ON SCHEMA" in answer.err) == (5, True, True)


@pytest.mark.full
def test_an_index_of_expressions_on_a_partitioned_table_is_built_and_rebuilt_leaf_by_leaf(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".p (i int, x text) PARTITION BY RANGE (i)')
        for low in (0, 100):
            session.execute(
                f'CREATE TABLE "{postgresql_schema}".p{low} PARTITION OF "{postgresql_schema}".p'
                f" FOR VALUES FROM ({low}) TO ({low + 100})"
            )
    table = ("-t", postgresql_url, "--not-production", "--json")
    name = f"{postgresql_schema}.p"
    build = dbatk("index", "build", *table, "--table", name, "--columns", "upper(x),i desc", "--name", "p_ix")
    assert build.status == 0, build.out
    with postgresql_server.connect() as session:
        (text,) = session.execute(
            "SELECT pg_get_indexdef(c.oid) FROM pg_class c"
            " WHERE c.relname = 'p_ix' AND c.relnamespace = %s::regnamespace",
            [f'"{postgresql_schema}"'],
        ).fetchone() or ("",)
    assert "(upper(x), i DESC)" in str(text)
    for which in (("--index", f"{postgresql_schema}.p_ix"), ("--table", name)):
        answer = dbatk("index", "rebuild", *table, *which, "--concurrency", "2")
        assert answer.status == 0, answer.out
        (trial,) = json.loads(answer.out)["trials"]
        assert len(trial["items"]) == 2 and {item["outcome"] for item in trial["items"]} == {"ok"}
