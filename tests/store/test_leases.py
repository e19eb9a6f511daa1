"""Leases: one live holder of a target, and a dead one does not block."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from tests.for_each import for_each
from tests.store.make import BEGAN, RUN, head
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.records import Lease
from toolkit.store import lease_is_live, open_store, schema
from toolkit.store.leases import process_alive, process_began, this_host
from toolkit.store.store import Store

LEASE = Lease("db", RUN, "far", 4711, 1000.0, BEGAN)


def mine() -> Lease:
    return Lease("db", RUN, this_host(), os.getpid(), process_began(os.getpid()), BEGAN)


@for_each(
    ("seconds", "alive", "live"),
    [
        (0, None, True),
        (19.9, None, True),
        (20.0, None, False),
        (-60, None, True),
        (9999, True, True),
        (0, False, False),
    ],
)
def test_a_process_in_sight_decides_else_its_heartbeat(seconds: float, alive: bool | None, live: bool) -> None:
    now = BEGAN + timedelta(seconds=seconds)
    assert lease_is_live(LEASE, now, lambda _: alive) is live


def test_our_own_process_is_alive() -> None:
    assert process_alive(mine()) is True


def test_a_process_of_another_host_cannot_be_seen() -> None:
    assert process_alive(replace(mine(), host="far")) is None


def test_a_reused_process_number_is_not_the_same_process() -> None:
    reused = replace(mine(), process_began=mine().process_began - 100)
    assert process_alive(reused) is None
    assert not lease_is_live(reused, BEGAN + timedelta(seconds=21))


def test_a_killed_process_is_dead_at_once_reaped_or_not() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        theirs = replace(mine(), pid=process.pid, process_began=process_began(process.pid))
        assert process_alive(theirs) is True
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert process_alive(theirs) is False, "a zombie counts as alive"
    assert process_alive(theirs) is False


def test_a_lease_is_taken_kept_and_given_back(store: Store) -> None:
    taken = store.acquire_lease("db", RUN)
    assert store.lease_of("db") == taken
    assert store.lease_of_run(RUN) == taken
    assert store.heartbeat(taken)
    beaten = store.lease_of("db")
    assert beaten is not None
    assert beaten.heartbeat_at > taken.heartbeat_at
    store.release(taken)
    assert store.lease_of("db") is None
    assert store.lease_of_run(RUN) is None


def test_a_second_run_is_refused_and_told_who_where_and_since_when(store: Store) -> None:
    taken = store.acquire_lease("db", RUN)
    with pytest.raises(ToolkitError) as caught:
        store.acquire_lease("db", "20261122-000000-0001")
    assert caught.value.code == "TK-0302"
    assert caught.value.exit_code is ExitCode.REFUSED
    since = f"{taken.heartbeat_at:%Y-%m-%d %H:%M:%S} UTC"
    for part in (RUN, "`db`", str(os.getpid()), this_host(), since):
        assert part in caught.value.message
    assert store.lease_of("db") == taken


def test_another_target_is_free(store: Store) -> None:
    store.acquire_lease("db", RUN)
    assert store.acquire_lease("other", "20261122-000000-0001").target == "other"


def test_the_same_run_of_the_same_process_may_take_it_again(store: Store) -> None:
    first = store.acquire_lease("db", RUN)
    assert store.acquire_lease("db", RUN).heartbeat_at >= first.heartbeat_at


def held_by(store: Store, **fields: object) -> Lease:
    """Let somebody else hold the lease."""
    store.acquire_lease("db", RUN)
    with store._database.write("a test") as connection:
        connection.execute(update(schema.lease).values(**fields))
    lease = store.lease_of("db")
    assert lease is not None
    return lease


def test_the_lease_of_a_dead_process_is_free_at_once(store: Store) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    held_by(store, pid=process.pid)
    assert store.acquire_lease("db", "20261122-000000-0001").run == "20261122-000000-0001"


def test_a_fresh_heartbeat_of_another_host_is_respected(store: Store) -> None:
    held_by(store, host="far")
    with pytest.raises(ToolkitError, match="`far`"):
        store.acquire_lease("db", RUN)
    with pytest.raises(ToolkitError, match="`far`"):
        store.refuse_live_run(RUN)


def test_an_old_heartbeat_of_another_host_is_not(store: Store) -> None:
    held_by(store, host="far", heartbeat_at=BEGAN - timedelta(days=365))
    store.refuse_live_run(RUN)
    assert store.acquire_lease("db", RUN).host == this_host()


def test_a_lease_lost_to_another_is_noticed_and_left_alone(store: Store) -> None:
    mine = store.acquire_lease("db", RUN)
    theirs = held_by(store, host="far")
    assert not store.heartbeat(mine)
    store.release(mine)
    assert store.lease_of("db") == theirs


def test_a_part_of_a_plan_that_is_at_work_is_as_live_as_the_plan(store: Store) -> None:
    part, other = "20261122-000000-0001", "20261122-000000-0002"
    store.create_run(head(part, parent=RUN))
    store.create_run(head(other))
    store.acquire_lease("plan", RUN)
    with pytest.raises(ToolkitError, match=f"`{RUN}` is working on `plan`"):
        store.refuse_live_run(part)
    store.refuse_live_run(other)


def test_of_several_leases_of_a_run_the_one_heard_of_last_is_told(store: Store) -> None:
    for name, seconds in (("a", 1), ("b", 3), ("c", 2)):
        store.acquire_lease(name, RUN)
        with store._database.write("a test") as connection:
            connection.execute(
                update(schema.lease)
                .where(schema.lease.c.target == name)
                .values(heartbeat_at=BEGAN + timedelta(seconds=seconds))
            )
    found = store.lease_of_run(RUN)
    assert found is not None and found.target == "b"


def test_a_heartbeat_does_not_wait_for_the_disk_and_what_is_written_next_does(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        levels = []
        for durable in (True, False, True):
            with store._database.write("a test", durable=durable) as connection:
                levels.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())
        assert levels == [2, 1, 2]  # FULL, NORMAL, FULL: one connection, used again
        with store._database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
