"""Loads and sweeps of what is no plain table: identities, sequences, generated columns, views (a real server)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Dbatk
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit.model.protocols import Answer as ProtocolAnswer
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Scalar
from toolkit.targets.postgresql import PostgresqlConnection

pytestmark = pytest.mark.postgresql
Answers = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def made(postgresql_server: Server, postgresql_schema: str) -> str:
    """A source of ten rows, and a table whose identity is its own."""
    with postgresql_server.connect() as session:
        session.execute(f'SET search_path TO "{postgresql_schema}"')
        session.execute("CREATE TABLE src AS SELECT g AS id, 'x' || g AS x FROM generate_series(11, 20) g")
        session.execute(
            "CREATE TABLE own (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x text,"
            " twice int GENERATED ALWAYS AS (length(x) * 2) STORED)"
        )
    return postgresql_schema


def ask(server: Server, schema: str, query: str) -> list[tuple[object, ...]]:
    with server.connect() as session:
        session.execute(f'SET search_path TO "{schema}"')
        return session.execute(query.encode()).fetchall()


def line(url: str, schema: str, *more: str) -> tuple[str, ...]:
    return (
        "insert",
        "-t",
        url,
        "--source",
        f"{schema}.src",
        "--table",
        f"{schema}.own",
        "--not-production",
        *more,
    )


def test_a_load_into_generated_always_asks_where_the_values_come_from(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str
) -> None:
    for more in ((), ("--repeat", "2")):
        answer = dbatk(*line(postgresql_url, made, *more))
        assert (answer.status, "[TK-0107]" in answer.err) == (2, True), answer.err
        assert "--identity keep" in answer.err and "--identity generate" in answer.err
    assert ask(postgresql_server, made, "SELECT count(*) FROM own") == [(0,)]


def test_values_that_are_kept_take_the_sequence_along_so_that_the_next_insert_succeeds(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str
) -> None:
    answer = dbatk(*line(postgresql_url, made, "--identity", "keep"))
    assert answer.status == 0, answer.err
    assert "sequence of `id` is moved" in answer.out + answer.err
    assert ask(postgresql_server, made, "SELECT min(id), max(id), count(*) FROM own") == [(11, 20, 10)]
    assert ask(postgresql_server, made, "INSERT INTO own (x) VALUES ('new') RETURNING id") == [(21,)]


def test_a_sequence_that_is_ahead_is_never_moved_back(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str
) -> None:
    ask(postgresql_server, made, "SELECT setval('own_id_seq', 500)")
    assert dbatk(*line(postgresql_url, made, "--identity", "keep")).status == 0
    assert ask(postgresql_server, made, "INSERT INTO own (x) VALUES ('new') RETURNING id") == [(501,)]


def test_the_table_makes_new_values_where_that_is_asked_for(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str
) -> None:
    assert dbatk(*line(postgresql_url, made, "--identity", "generate")).status == 0
    assert ask(postgresql_server, made, "SELECT min(id), max(id), count(*) FROM own") == [(1, 10, 10)]
    named = dbatk(*line(postgresql_url, made, "--identity", "generate", "--columns", "id,x"))
    assert (named.status, "remove it from --columns" in named.err) == (2, True)


def test_a_load_that_fails_leaves_neither_rows_nor_a_moved_sequence(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str
) -> None:
    ask(postgresql_server, made, "INSERT INTO own (id, x) OVERRIDING SYSTEM VALUE VALUES (15, 'a') RETURNING id")
    answer = dbatk(*line(postgresql_url, made, "--identity", "keep"))
    assert (answer.status, "own_pkey" in answer.out + answer.err) == (3, True), answer.out + answer.err
    assert ask(postgresql_server, made, "SELECT count(*) FROM own") == [(1,)]
    assert ask(postgresql_server, made, "INSERT INTO own (x) VALUES ('new') RETURNING id") == [(1,)]


@pytest.mark.thin(2)
@pytest.mark.parametrize("identity", ["keep", "generate"])
def test_both_are_measured_into_a_filled_copy_whose_own_sequence_goes_on_after_its_rows(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str, identity: str
) -> None:
    ask(postgresql_server, made, "INSERT INTO own (x) VALUES ('a'), ('b') RETURNING id")
    answer = dbatk(
        *line(postgresql_url, made, "--identity", identity, "--into", "filled", "--repeat", "2", "--json")
    )
    assert answer.status == 0, answer.out + answer.err
    assert {trial["rows"] for trial in json.loads(answer.out)["trials"]} == {10}
    assert ask(postgresql_server, made, "INSERT INTO own (x) VALUES ('new') RETURNING id") == [(3,)]


def test_a_serial_column_is_said_to_stay_behind_and_is_moved_where_that_is_asked_for(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{made}"."Ser" (id serial PRIMARY KEY, x text)')
    into = ("insert", "-t", postgresql_url, "--source", f"{made}.src", "--table", f'{made}."Ser"')
    said = dbatk(*into, "--not-production", "--dry-run")
    assert "its sequence stays where it is" in said.out + said.err
    assert dbatk(*into, "--not-production", "--identity", "keep").status == 0
    assert ask(postgresql_server, made, "INSERT INTO \"Ser\" (x) VALUES ('new') RETURNING id") == [(21,)]


def test_who_may_not_move_the_sequence_is_told_the_grant_before_anything_is_loaded(
    dbatk: Dbatk, postgresql_server: Server, made: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = postgresql_server.password_user
    with postgresql_server.connect() as session:
        session.execute(f'GRANT USAGE ON SCHEMA "{made}" TO {user}')
        session.execute(f'GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA "{made}" TO {user}')
    monkeypatch.setenv("DBATK_PASSWORD", str(postgresql_server.password))
    address = f"{postgresql_server.host}:{postgresql_server.port}/{postgresql_server.database}"
    answer = dbatk(*line(f"postgresql://{user}@{address}", made, "--identity", "keep"))
    assert (answer.status, "GRANT SELECT, UPDATE ON SEQUENCE" in answer.err) == (5, True), answer.err
    assert ask(postgresql_server, made, "SELECT count(*) FROM own") == [(0,)]


@pytest.mark.full
def test_a_generated_column_is_read_from_the_source_takes_no_value_and_can_be_indexed(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str
) -> None:
    ask(postgresql_server, made, "INSERT INTO own (x) VALUES ('abc') RETURNING id")
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{made}".plain (twice int, x text)')
    read = ("insert", "-t", postgresql_url, "--source", f"{made}.own", "--table", f"{made}.plain")
    assert dbatk(*read, "--not-production").status == 0
    assert ask(postgresql_server, made, "SELECT twice, x FROM plain") == [(6, "abc")]
    index = ("index", "build", "-t", postgresql_url, "--table", f"{made}.own", "--columns", "twice")
    assert dbatk(*index, "--not-production", "--repeat", "1").status == 0
    assert dbatk(*index, "--not-production", "--name", "own_twice").status == 0
    assert ask(postgresql_server, made, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'own_twice'::regclass")


def test_an_index_on_a_virtual_column_is_refused_before_it_is_measured_on_a_copy(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str
) -> None:
    with postgresql_server.connect() as session:
        if session.info.server_version < 180000:
            pytest.skip("virtual generated columns came with PostgreSQL 18")
        session.execute(f'CREATE TABLE "{made}".v (i int, j int GENERATED ALWAYS AS (i + 1) VIRTUAL)')
    index = ("index", "build", "-t", postgresql_url, "--table", f"{made}.v", "--columns", "j", "--repeat", "1")
    answer = dbatk(*index, "--not-production")
    assert (answer.status, "virtual generated column" in answer.err) == (5, True)


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", ["view", "materialized view", "foreign table"])
def test_what_is_no_table_is_not_measured_on_a_copy_without_a_word(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str, kind: str
) -> None:
    with postgresql_server.connect() as session:
        if kind == "foreign table":
            session.execute("CREATE FOREIGN DATA WRAPPER nothing")
            session.execute("CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing")
            session.execute(f'CREATE FOREIGN TABLE "{made}".seen (id int) SERVER nowhere')
        else:
            session.execute(f'CREATE {kind} "{made}".seen AS SELECT id FROM "{made}".src')
    try:
        at = ("-t", postgresql_url, "--table", f"{made}.seen", "--not-production")
        index = dbatk("index", "build", *at, "--columns", "id", "--repeat", "1")
        if kind == "materialized view":
            assert (index.status, "is a materialized view: measured on" in index.out + index.err) == (0, True)
        else:
            assert (index.status, f"is a {kind}, which has no index" in index.err) == (5, True)
        loaded = dbatk("insert", *at, "--source", f"{made}.src", "--repeat", "1")
        assert (loaded.status, f"is a {kind}, wh" in loaded.err) == (5, True)
        gathered = dbatk("stats", "gather", *at, "--repeat", "1")
        if kind == "materialized view":
            assert (gathered.status, "is a materialized view: measured on" in gathered.out) == (0, True)
        else:
            assert gathered.status == 5
    finally:
        with postgresql_server.connect() as session:
            session.execute("DROP SERVER IF EXISTS nowhere CASCADE")
            session.execute("DROP FOREIGN DATA WRAPPER IF EXISTS nothing CASCADE")


PLAN = """
[plan]
name = "nightly"
target = "{url}"

[[step]]
name = "load"
operation = "insert"
source = "{schema}.src"
table = "{schema}.plain"

[[step]]
name = "stats"
operation = "stats-gather"
table = "{schema}.plain"
needs = ["load"]
"""


@pytest.mark.parametrize("sent", thinned([True, False], 2), ids=["committed", "not committed"])
def test_a_night_whose_load_lost_its_connection_around_commit_asks_the_server_and_goes_on(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, made: str, home: Path, sent: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{made}".plain (id int, x text)'.encode())
    (home / "nightly.toml").write_text(PLAN.format(url=postgresql_url, schema=made))
    real = PostgresqlConnection._answer
    lost: list[ProtocolAnswer | None] = []

    def once(self: PostgresqlConnection, text: str, given: Mapping[str, Scalar]) -> ProtocolAnswer:
        if text.strip() != "COMMIT" or lost:
            return real(self, text, given)
        lost.append(real(self, text, {}) if sent else None)
        self._session.close()
        raise DatabaseError("the connection was lost", code="08006", lost=True)

    monkeypatch.setattr(PostgresqlConnection, "_answer", once)
    done = dbatk("run", "nightly.toml", "--not-production", "--json")
    assert lost and done.status == 0, done.err
    steps = json.loads(done.out)["steps"]
    assert [step["state"] for step in steps] == ["done", "done"]
    assert ("the database confirmed" in (steps[0]["reason"] or "")) is sent
    assert ask(postgresql_server, made, "SELECT count(*) FROM plain") == [(10,)]
    again = dbatk("run", "nightly.toml", "--not-production", "--json")
    assert again.status == 0, again.err
    assert ask(postgresql_server, made, "SELECT count(*) FROM plain") == [(20,)], "the next night's own rows"


@pytest.mark.full
def test_what_all_sessions_did_is_counted_for_their_own_trial(
    dbatk: Dbatk, home: Path, postgresql_url: str, made: str
) -> None:
    """A session reports its counters a second after the last time at the earliest, unless it is told to."""
    for number in range(8):
        (home / f"{number}.csv").write_text("id,x\n" + "".join(f"{each},x\n" for each in range(50)))
    files = [str(home / f"{number}.csv") for number in range(8)]
    sweep = ("--degree", "1,2", "--repeat", "2", "--warmup", "0", "--not-production")
    answer = dbatk("load", *files, "-t", postgresql_url, "--table", f"{made}.src", *sweep)
    assert answer.status in (0, 3), answer.err
    trials = json.loads(dbatk("report", "last", "--json").out)["trials"]
    counted = [each["value"] for one in trials for each in one["metrics"] if each["name"] == "rows_inserted"]
    assert counted == [400.0] * 4
