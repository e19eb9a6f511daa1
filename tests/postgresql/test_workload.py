"""Users at work on a real PostgreSQL server: more than it has room for, and a run that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.servers.forks import Forked
from tests.servers.postgresql import Server
from toolkit.design.transactions import WrittenTransaction, parse_transactions, statements_of
from toolkit.dialects.postgresql.work.workload import PostgresqlWorkloads
from toolkit.dialects.registry import dialect_of
from toolkit.model.address import Address
from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import Transaction, Workload
from toolkit.rendering import render_call
from toolkit.targets.base import Access, Chosen, Looped, SessionTag
from toolkit.targets.postgresql import open_target
from toolkit.targets.postgresql_user import PostgresqlUser

pytestmark = pytest.mark.postgresql
LINE = ("workload", "--builtin", "tpcb", "--repeat", "1", "--ramp-up", "0", "--not-production")


def begun(folder: Path, server: Server, *more: str) -> Forked:
    """Begin the command in a process of its own."""
    own = {"DBATK_STORE": str(folder / "store.sqlite"), "DBATK_CONFIG": str(folder / "config")}
    return Forked("toolkit", *more, "-t", server.url, env={**os.environ, **own}, stderr=subprocess.STDOUT)


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not what():
        assert time.monotonic() < end
        threading.Event().wait(0.05)


@pytest.mark.full
def test_more_users_than_connections_are_unsupported_and_the_others_work(
    tmp_path: Path, postgresql_server: Server
) -> None:
    run = begun(tmp_path, postgresql_server, *LINE, "--users", "2,5000", "--measure-for", "1s", "--warmup", "0")
    out, _ = run.communicate(timeout=300)
    assert run.returncode == 3, out
    assert "users=5000: unsupported (5,000 users and 3 sessions of dbatk do not fit" in out


_GROWS = """
CREATE FUNCTION filled.grows() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  IF random() < 0.5 THEN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END IF;
  RETURN 1;
END $$
"""


@pytest.mark.full
def test_a_disk_that_is_full_in_the_interval_fails_the_trial_with_the_count(
    tmp_path: Path, postgresql_server: Server
) -> None:
    (tmp_path / "t.toml").write_text('[[transaction]]\nname = "grows"\nsql = "SELECT filled.grows()"\n')
    own = (
        "workload",
        "--transactions",
        str(tmp_path / "t.toml"),
        *LINE[3:],
        "--measure-for",
        "1s",
        "--warmup",
        "0",
    )
    with postgresql_server.schema("filled", _GROWS):
        run = begun(tmp_path, postgresql_server, *own)
        out, _ = run.communicate(timeout=300)
    assert run.returncode == 3, out
    assert "transactions failed of what no configuration can help: could not extend file" in " ".join(
        out.split()
    ), out


@pytest.mark.parametrize("loop", ["client", pytest.param("server", marks=pytest.mark.full)])
def test_a_killed_run_leaves_no_session_and_no_process_and_clean_drops_its_tables(
    tmp_path: Path, postgresql_server: Server, loop: str
) -> None:
    with postgresql_server.connect() as beside:
        known = {row[0] for row in beside.execute("SELECT relname FROM pg_class").fetchall()}
        there = {row[0] for row in beside.execute("SELECT pid FROM pg_stat_activity").fetchall()}

        def users() -> set[object]:
            asked = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            return {row[0] for row in beside.execute(asked).fetchall()} - there

        run = begun(tmp_path, postgresql_server, *LINE, "--users", "7", "--measure-for", "1m", "--loop", loop)
        until(lambda: len(users()) >= 9)
        processes = psutil.Process(run.pid).children(recursive=True)
        assert processes
        if loop == "server":
            begun_there = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL pg_temp.dbatk_loop%'"
            until(lambda: beside.execute(begun_there).fetchone() == (7,))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        until(lambda: not users())
        until(lambda: not any(one.is_running() and one.status() != "zombie" for one in processes))
        cleaned = begun(tmp_path, postgresql_server, "clean")
        out, _ = cleaned.communicate(timeout=300)
        assert cleaned.returncode == 0, out
        left = {row[0] for row in beside.execute("SELECT relname FROM pg_class").fetchall()} - known
        assert not [name for name in left if str(name).startswith("dbatk")]


def test_a_session_rolls_back_what_fails_and_is_left_to_its_call_when_it_is_closed(
    postgresql_server: Server,
) -> None:
    twice = Transaction(
        "t", ("INSERT INTO alone.t VALUES (:n)", "INSERT INTO alone.t VALUES (:n + CAST(:more AS INTEGER))")
    )
    asleep = Transaction("s", ("SELECT pg_sleep(600)",))
    with postgresql_server.schema("alone", "CREATE TABLE alone.t (n INTEGER PRIMARY KEY)"):
        address = Address(
            "postgresql", postgresql_server.database, postgresql_server.user, "127.0.0.1", postgresql_server.port
        )
        session = open_target(Access(address)).connect_user(SessionTag("20261127-100000-abcd"))
        session.prepare(Workload((twice, asleep)))
        session.bind(0, {"n": 1, "more": 1})()
        with pytest.raises(DatabaseError) as failed:
            session.bind(0, {"n": 3, "more": 0})()
        assert failed.value.code == "23505" and not failed.value.lost
        session.bind(0, {"n": 5, "more": 1})()
        ended: list[str] = []

        def sleep() -> None:
            try:
                session.bind(1, {})()
            except DatabaseError as error:
                ended.append(error.code)

        asks = threading.Thread(target=sleep)
        asks.start()
        with postgresql_server.connect() as beside:
            asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            until(lambda: beside.execute(asked).fetchone() == (1,))
            session.close()
            asks.join(300)
            assert ended == ["57014"]
            session.close()
            rows = beside.execute("SELECT n FROM alone.t ORDER BY n").fetchall()
    assert rows == [(1,), (2,), (5,), (6,)]


# -- a loop in the server -----------------------------------------------------------------------------------------
def looping(server: Server, one: WrittenTransaction) -> PostgresqlUser:
    """Return the session of a user whose loop runs one transaction."""
    drawn = tuple(
        replace(each, column=f"looped.t.{one.columns[each.name].column}") if each.name in one.columns else each
        for each in one.parameters
    )
    transactions = (Transaction(one.name, statements_of(one, "postgresql"), 1.0, drawn),)
    loop = PostgresqlWorkloads().loop(transactions)
    dialect = dialect_of("postgresql")
    texts = [tuple(render_call(dialect, call) for call in calls) for calls in (loop.sets_up, loop.calls)]
    address = Address("postgresql", server.database, server.user, "127.0.0.1", server.port)
    session = open_target(Access(address)).connect_user(SessionTag("20261127-100000-abcd"))
    assert isinstance(session, PostgresqlUser)
    session.prepare(Workload(transactions, settings=texts[0], loop=texts[1]))
    return session


def written(sql: str, parameters: str) -> WrittenTransaction:
    (one,) = parse_transactions(f'[[transaction]]\nname = "t"\nsql = """{sql}"""\nparameters = {{{parameters}}}')
    return one


def chosen(*rows: tuple[str | int, ...]) -> list[Chosen]:
    return [Chosen(0, dict(enumerate(map(str, row)))) for row in rows]  # type: ignore[arg-type]


SCHEMA = "CREATE TABLE looped.t (n smallint PRIMARY KEY, day date, name text UNIQUE DEFERRABLE INITIALLY DEFERRED)"


def test_a_loop_commits_each_transaction_and_ends_at_the_first_that_fails(postgresql_server: Server) -> None:
    add = written(
        "INSERT INTO looped.t (n, day, name) VALUES (:n, :day, :name) RETURNING n;"
        " WITH a AS (SELECT 1) SELECT day + CAST(:n AS integer) FROM looped.t; TABLE looped.t;",
        "n = {uniform = [1, 9]}, day = {column = 'day', of = 'looped.t'}, name = {choice = ['a', 'b']}",
    )
    with postgresql_server.schema("looped", SCHEMA), postgresql_server.connect() as beside:
        session = looping(postgresql_server, add)

        def rows() -> list[tuple[object, ...]]:
            return beside.execute("SELECT n, name FROM looped.t ORDER BY n").fetchall()

        odd = 'it\'s \\ a "{,}" NULL'
        done = session.loop(chosen((1, "2026-11-29", odd), (2, "2026-11-30", "NULL"), (3, "2026-12-01", "c")), 9.0)
        assert (done.error, len(done.ended)) == (None, 3)
        assert list(done.ended) == sorted(done.ended)
        assert rows() == [(1, odd), (2, "NULL"), (3, "c")]
        again = session.loop(chosen((4, "2026-11-29", "d"), (5, "2026-11-30", "e"), (3, "2026-12-01", "f")), 9.0)
        assert again.error is not None and again.error.code == "23505" and not again.error.lost
        assert (len(again.ended), len(rows())) == (2, 5)
        first = session.loop(chosen((3, "2026-12-01", "g"), (6, "2026-12-01", "h")), 9.0)
        assert (first.error is not None, first.ended, len(rows())) == (True, [], 5)
        twice = chosen((7, "2026-12-01", "i"), (8, "2026-12-01", "i"), (9, "2026-12-01", "j"))
        at_commit = session.loop(twice, 9.0)
        assert at_commit.error is not None and at_commit.error.code == "23505"
        assert (len(at_commit.ended), [n for n, _ in rows()]) == (1, [1, 2, 3, 4, 5, 7])
        session.close()


def test_a_loop_ends_when_its_time_is_over_and_when_it_is_cancelled(postgresql_server: Server) -> None:
    sleep = written("SELECT pg_sleep(:n)", "n = {uniform = [0, 600]}")
    with postgresql_server.schema("looped", SCHEMA), postgresql_server.connect() as beside:
        session = looping(postgresql_server, sleep)
        assert len(session.loop(chosen((0,), (0,), (0,)), 0.0).ended) == 1
        ended: list[Looped] = []
        asks = threading.Thread(target=lambda: ended.append(session.loop(chosen((0,), (600,)), 9.0)))
        asks.start()
        asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        until(lambda: beside.execute(asked).fetchone() == (1,))
        session.cancel()
        asks.join(300)
        (looped,) = ended
        assert looped.error is not None and looped.error.code == "57014"
        assert len(looped.ended) == 1
        session.close()
