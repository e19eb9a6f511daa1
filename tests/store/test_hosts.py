"""Leases across hosts: a process that cannot be seen is judged by its heartbeats, by the store's clock."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from tests.servers.forks import Forked
from tests.store.make import RUN
from toolkit.errors import ToolkitError
from toolkit.runner import Stop, holding_lease
from toolkit.store import schema
from toolkit.store.leases import process_alive, this_boot
from toolkit.store.store import Store

OTHER = "20261122-000000-0001"
Begin = Callable[[str, str], Forked]


@pytest.fixture
def on_host(location: str) -> Iterator[Begin]:
    """Begins a process that takes the lease, on a host of a name of its own, and says what came of it."""
    begun: list[Forked] = []

    def begin(host: str, run: str) -> Forked:
        begun.append(Forked("tests.store.holder", host, location, run, stdin=subprocess.PIPE))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def said(process: Forked) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def move_heartbeat(store: Store, seconds: float) -> None:
    lease = store.lease_of("db")
    assert lease is not None
    with store._database.write("a test") as connection:
        moved = lease.heartbeat_at + timedelta(seconds=seconds)
        connection.execute(update(schema.lease).values(heartbeat_at=moved))


def test_of_two_hosts_one_gets_the_lease_and_the_other_takes_it_over_when_that_one_is_dead(
    on_host: Begin, store: Store
) -> None:
    first = on_host("alpha", RUN)
    assert said(first).startswith("alpha")
    refused = said(on_host("beta", OTHER))
    assert refused.startswith("TK-0302") and "on `alpha" in refused and "last heartbeat" in refused
    holder = store.holder_of("db")
    assert holder is not None and holder.alive and not holder.in_sight
    first.kill()
    first.wait()
    move_heartbeat(store, 600)
    assert said(on_host("beta", OTHER)).startswith("TK-0302"), "its heart has beaten, and nobody sees it dead"
    move_heartbeat(store, -600 - 21)
    holder = store.holder_of("db")
    assert holder is not None and not holder.alive and holder.silent_seconds > 20
    assert said(on_host("beta", OTHER)).startswith("beta")


def test_another_machine_of_our_name_is_not_this_host(store: Store) -> None:
    mine = store.acquire_lease("db", RUN)
    assert mine.boot == this_boot() and process_alive(mine) is True
    theirs = replace(mine, boot="another", pid=2**22 + 1)
    assert process_alive(theirs) is None, "no process of that number here says nothing of there"
    assert process_alive(replace(mine, boot=None)) is True, "a lease of an older dbatk"


class Waiting(Stop):
    """Does something instead of waiting."""

    def __init__(self, *meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self.meanwhile = list(meanwhile)

    def wait(self, seconds: float) -> bool:
        self.meanwhile.pop(0)()
        return self.requested


def held_far(store: Store, run: str) -> None:
    store.acquire_lease("db", run)
    with store._database.write("a test") as connection:
        connection.execute(update(schema.lease).values(host="far"))


def test_a_holder_out_of_sight_that_is_heard_of_again_lives(store: Store) -> None:
    held_far(store, RUN)
    stop = Waiting(lambda: move_heartbeat(store, 5))
    with pytest.raises(ToolkitError, match="on `far`"), holding_lease(store, "db", OTHER, stop, waiting=stop):
        raise AssertionError("two hold the lease")


def test_a_holder_that_stays_silent_is_taken_over_from_without_hands(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_far(store, RUN)
    database, real = store._database, store._database.now

    def pass_time() -> None:
        monkeypatch.setattr(database, "now", lambda connection: real(connection) + timedelta(seconds=21))

    stop = Waiting(lambda: None, pass_time)
    with pytest.raises(AssertionError, match="never"), holding_lease(store, "db", OTHER, stop, waiting=stop):
        held = store.lease_of("db")
        assert held is not None and held.run == OTHER
        raise AssertionError("never")
    assert store.lease_of("db") is None


def test_a_lease_of_the_same_run_is_waited_for_however_lively_its_holder_is(store: Store) -> None:
    held_far(store, RUN)
    lease = store.lease_of("db")
    assert lease is not None
    beats = [lambda: move_heartbeat(store, 5)] * 3
    stop = Waiting(*beats, lambda: store.release(lease))
    with holding_lease(store, "db", RUN, stop, waiting=stop):
        held = store.lease_of("db")
        assert held is not None and held.host != "far"


def test_who_waits_for_a_lease_can_be_stopped(store: Store) -> None:
    held_far(store, RUN)
    stop = Waiting()
    stop.meanwhile = [stop.request]
    with pytest.raises(ToolkitError) as caught, holding_lease(store, "db", RUN, stop, waiting=stop):
        raise AssertionError("two hold the lease")
    assert caught.value.code == "TK-0130"
