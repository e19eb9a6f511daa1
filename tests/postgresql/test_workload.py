"""Users at work on a real PostgreSQL server: more than it has room for, and a run that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.servers.postgresql import Server
from toolkit.model.address import Address
from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import Transaction, Workload
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.postgresql import open_target

pytestmark = pytest.mark.postgresql
LINE = ("workload", "--builtin", "tpcb", "--repeat", "1", "--ramp-up", "0", "--not-production")


def begun(folder: Path, server: Server, *more: str) -> subprocess.Popen[str]:
    """Begin the command in a process of its own."""
    own = {"DBATK_STORE": str(folder / "store.sqlite"), "DBATK_CONFIG": str(folder / "config")}
    return subprocess.Popen(
        [sys.executable, "-m", "toolkit", *more, "-t", server.url],
        env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


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


def test_a_killed_run_leaves_no_session_and_no_process_and_clean_drops_its_tables(
    tmp_path: Path, postgresql_server: Server
) -> None:
    with postgresql_server.connect() as beside:
        known = {row[0] for row in beside.execute("SELECT relname FROM pg_class").fetchall()}
        there = {row[0] for row in beside.execute("SELECT pid FROM pg_stat_activity").fetchall()}

        def users() -> set[object]:
            asked = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            return {row[0] for row in beside.execute(asked).fetchall()} - there

        run = begun(tmp_path, postgresql_server, *LINE, "--users", "7", "--measure-for", "1m")
        until(lambda: len(users()) >= 9)
        processes = psutil.Process(run.pid).children(recursive=True)
        assert processes
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
