"""Locks of a plan and the lease of a run: what is held is kept, what is lost stops the work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from tests.for_each import for_each
from tests.store.make import BEGAN, RUN
from toolkit.errors import ToolkitError
from toolkit.model.records import Holder, Lease
from toolkit.runner import lease
from toolkit.runner.lease import Locks, holding_lease, holding_locks, known_alive
from toolkit.runner.stop import Stop
from toolkit.store import Store, open_store, schema
from toolkit.store.leases import process_began, this_host

OTHER = "20261122-000000-0001"
LEASE = Lease("db", OTHER, "far", 4711, 1000.0, BEGAN)
HOLDER = Holder(LEASE, BEGAN, 1.0, alive=True, in_sight=False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def taken_by(store: Store, name: str, **fields: object) -> None:
    """Let somebody on another host hold the lease of a target."""
    store.acquire_lease(name, RUN)
    change(store, name, **({"host": "far", "run": OTHER} | fields))


def change(store: Store, name: str, **fields: object) -> None:
    with store._database.write("a test") as connection:
        connection.execute(update(schema.lease).where(schema.lease.c.target == name).values(**fields))


def beat(store: Store, name: str) -> None:
    change(store, name, heartbeat_at=store.now() + timedelta(seconds=1))


def silence(store: Store, name: str) -> None:
    change(store, name, heartbeat_at=BEGAN - timedelta(days=365))


class Waiting(Stop):
    """Waits without time: at each wait the next thing happens."""

    def __init__(self, *happens: Callable[[], None]) -> None:
        super().__init__()
        self.happens = list(happens)
        self.waited: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waited.append(seconds)
        self.happens.pop(0)()
        return self.requested


# -- who is known to be alive -------------------------------------------------------------------------------------
@for_each(
    ("now", "first", "alive"),
    [
        (HOLDER, HOLDER, False),
        (replace(HOLDER, in_sight=True), HOLDER, True),
        (HOLDER, None, True),
        (replace(HOLDER, lease=replace(LEASE, heartbeat_at=BEGAN + timedelta(seconds=5))), HOLDER, True),
    ],
)
def test_a_holder_is_alive_when_it_can_be_seen_or_was_heard_of_meanwhile(
    now: Holder, first: Holder | None, alive: bool
) -> None:
    assert known_alive(now, first) is alive


# -- the lease of one target --------------------------------------------------------------------------------------
def test_a_lease_is_held_within_the_block_and_given_back_after_it(store: Store) -> None:
    stop = Stop()
    with holding_lease(store, "db", RUN, stop):
        held = store.lease_of("db")
        assert held is not None and held.run == RUN
        stop.look()
        assert not stop.requested
        later = store.lease_of("db")
        assert later is not None and later.heartbeat_at > held.heartbeat_at, "a look is a heartbeat"
    assert store.lease_of("db") is None


def test_a_lease_is_given_back_when_the_work_fails(store: Store) -> None:
    with pytest.raises(RuntimeError), holding_lease(store, "db", RUN, Stop()):
        raise RuntimeError
    assert store.lease_of("db") is None


@pytest.mark.parametrize(
    ("run", "disowned", "hint"),
    [
        (OTHER, False, f"the current work was cancelled and undone; `dbatk runs resume {RUN} --store "),
        (RUN, True, f"`dbatk runs show {RUN} --follow` "),
    ],
)
def test_a_lost_lease_stops_the_run_and_says_who_has_it(store: Store, run: str, disowned: bool, hint: str) -> None:
    stop = Stop()
    with holding_lease(store, "db", RUN, stop):
        change(store, "db", host="far", run=run, pid=4711)
        stop.look()
        assert (stop.requested, stop.disowned) == (True, disowned)
        assert stop.because is not None and stop.because.code == "TK-0302"
        assert (
            stop.because.message == f"the lease of `db` was lost: process 4711 on `far` holds it, for run `{run}`"
        )
        assert str(stop.because.hint).startswith(hint)
    left = store.lease_of("db")
    assert left is not None and left.pid == 4711, "it is not ours to give back"


@pytest.mark.parametrize("slept", [(30.0, 0.0), (0.0, 30.0)], ids=["the process", "the host"])
def test_a_process_that_was_frozen_looks_for_its_lease_before_it_changes_anything(
    store: Store, monkeypatch: pytest.MonkeyPatch, slept: tuple[float, float]
) -> None:
    """Its heartbeat would find out, but maybe later than the work that goes on."""
    now = (100.0, 1000.0)
    monkeypatch.setattr(lease, "_clocks", lambda: now)
    stop, step = Stop(), Stop()
    step.led_by(stop)
    with holding_lease(store, "db", RUN, stop):
        change(store, "db", host="far", run=OTHER, pid=4711)
        step.refuse_if_disowned()
        assert not stop.requested, "no statement of the store for each change"
        now = (now[0] + slept[0], now[1] + slept[1])
        with pytest.raises(ToolkitError, match="the lease of `db` was lost"):
            step.refuse_if_disowned()
        assert (step.disowned, stop.requested, stop.disowned) == (True, True, False)


def test_a_lease_that_nobody_has_any_more_is_lost_too(store: Store) -> None:
    stop = Stop()
    with holding_lease(store, "db", RUN, stop):
        held = store.lease_of("db")
        assert held is not None
        store.release(held)
        stop.look()
        assert stop.because is not None and stop.because.message == "the lease of `db` was lost"
        assert not stop.disowned


def test_a_lease_that_another_run_holds_is_refused_at_once(store: Store) -> None:
    taken_by(store, "db")
    with pytest.raises(ToolkitError, match="`far`") as caught, holding_lease(store, "db", RUN, Stop()):
        pass
    assert caught.value.code == "TK-0302"


def test_a_holder_that_cannot_be_seen_is_waited_for_until_its_lease_ends(store: Store) -> None:
    taken_by(store, "db")
    waiting = Waiting(lambda: None, lambda: silence(store, "db"))
    with holding_lease(store, "db", RUN, Stop(), waiting=waiting):
        held = store.lease_of("db")
        assert held is not None and held.run == RUN
    assert waiting.waited == [1.0, 1.0]


def test_a_holder_that_is_heard_of_while_waiting_is_alive(store: Store) -> None:
    taken_by(store, "db")
    waiting = Waiting(lambda: None, lambda: beat(store, "db"))
    with pytest.raises(ToolkitError, match="`far`"), holding_lease(store, "db", RUN, Stop(), waiting=waiting):
        pass
    assert len(waiting.waited) == 2


def test_another_process_of_this_very_run_is_waited_for_though_it_lives(store: Store) -> None:
    taken_by(store, "db", run=RUN)
    waiting = Waiting(lambda: beat(store, "db"), lambda: beat(store, "db"), lambda: silence(store, "db"))
    with holding_lease(store, "db", RUN, Stop(), waiting=waiting):
        pass
    assert len(waiting.waited) == 3


@pytest.mark.parametrize("because", [None, ToolkitError("the window closed", code="TK-0310")])
def test_a_stop_ends_the_wait(store: Store, because: ToolkitError | None) -> None:
    taken_by(store, "db")
    waiting = Waiting(lambda: waiting.request(because))
    with pytest.raises(ToolkitError) as caught, holding_lease(store, "db", RUN, Stop(), waiting=waiting):
        pass
    expected = ("the window closed", "TK-0310") if because else ("interrupted", "TK-0130")
    assert (caught.value.message.partition("; ")[0], caught.value.code) == expected
    assert "is working on `db`: process" in caught.value.message, "who was in the way"


def test_another_fault_of_the_store_is_not_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(target: str, run: str) -> Lease:
        raise ToolkitError("the disk is full", code="TK-0404")

    monkeypatch.setattr(store, "acquire_lease", full)
    with pytest.raises(ToolkitError, match="full"), holding_lease(store, "db", RUN, Stop(), waiting=Waiting()):
        pass


# -- the locks of a plan ------------------------------------------------------------------------------------------
def test_all_locks_that_are_free_are_taken_and_the_others_are_told(store: Store) -> None:
    taken_by(store, "b", host=this_host(), pid=1, process_began=process_began(1))
    locks = Locks(store, RUN)
    locks.take(["a", "b", "c"], Waiting())
    assert {name for name in ("a", "c") if (lease := store.lease_of(name)) and lease.run == RUN} == {"a", "c"}
    assert list(locks.refused) == ["b"]
    assert locks.refused["b"].code == "TK-0302"


def test_a_lock_whose_holder_falls_silent_is_taken_over(store: Store) -> None:
    taken_by(store, "b")
    locks = Locks(store, RUN)
    waiting = Waiting(lambda: None, lambda: silence(store, "b"))
    locks.take(["a", "b"], waiting)
    assert (locks.refused, waiting.waited) == ({}, [1.0, 1.0])
    lease = store.lease_of("b")
    assert lease is not None and lease.run == RUN


def test_a_lock_whose_holder_is_heard_of_is_waited_for_no_longer(store: Store) -> None:
    taken_by(store, "b")
    locks = Locks(store, RUN)
    waiting = Waiting(lambda: beat(store, "b"))
    locks.take(["b"], waiting)
    assert (list(locks.refused), len(waiting.waited)) == (["b"], 1)


def test_a_stop_ends_the_wait_for_locks(store: Store) -> None:
    taken_by(store, "b")
    locks = Locks(store, RUN)
    waiting = Waiting()
    waiting.happens.append(waiting.request)
    locks.take(["b"], waiting)
    assert list(locks.refused) == ["b"]


def test_a_lock_is_given_back_alone_and_the_rest_at_the_end(store: Store) -> None:
    with holding_locks(store, ["a", "b", "c"], RUN, Stop()) as locks:
        locks.release("a")
        assert store.lease_of("a") is None
        assert store.lease_of("b") is not None
        other = store.acquire_lease("a", OTHER)
        locks.release("a")
        assert store.lease_of("a") == other, "another run has it by now"
    assert [store.lease_of(name) for name in ("b", "c")] == [None, None]
    assert store.lease_of("a") == other


def test_locks_are_given_back_when_the_work_fails(store: Store) -> None:
    with pytest.raises(RuntimeError), holding_locks(store, ["a"], RUN, Stop()):
        raise RuntimeError
    assert store.lease_of("a") is None


def test_a_heartbeat_is_of_all_locks_and_a_lost_one_stops_its_work_alone(store: Store) -> None:
    with holding_locks(store, ["a", "b", "c"], RUN, Stop()) as locks:
        stops = {name: Stop() for name in ("a", "b")}
        for name, stop in stops.items():
            locks.watch(name, stop)
        before = {name: store.lease_of(name) for name in ("a", "b")}
        for name in ("b", "c"):
            change(store, name, host="far", run=OTHER)
        locks.beat()
        assert (stops["a"].requested, stops["b"].requested) == (False, True)
        because = stops["b"].because
        assert because is not None and (because.message, because.code) == ("the lease of `b` was lost", "TK-0302")
        now = store.lease_of("a")
        assert now is not None and before["a"] is not None and now.heartbeat_at > before["a"].heartbeat_at
        locks.beat()
    assert [getattr(store.lease_of(name), "run", None) for name in ("a", "b", "c")] == [None, OTHER, OTHER]


def test_a_heartbeat_that_the_store_refuses_costs_nothing_but_itself(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(run: str) -> frozenset[str]:
        raise ToolkitError(f"no room for run `{run}`", code="TK-0404")

    with holding_locks(store, ["a"], RUN, Stop()) as locks:
        locks.watch("a", stop := Stop())
        with monkeypatch.context() as patch:
            patch.setattr(store, "heartbeat_all", full)
            locks.beat()
        assert not stop.requested
        change(store, "a", host="far", run=OTHER)
        locks.beat()
        assert stop.requested


def test_a_heartbeat_says_which_leases_are_still_of_this_process_and_run(store: Store) -> None:
    assert store.acquire_leases(["a", "b", "c"], RUN) == {}
    store.acquire_lease("d", OTHER)
    change(store, "c", host="far")
    others = store.lease_of("d")
    assert store.heartbeat_all(RUN) == {"a", "b"}
    assert store.lease_of("d") == others


def test_of_many_leases_those_of_live_others_are_refused_by_name(store: Store) -> None:
    taken_by(store, "b")
    taken_by(store, "c")
    silence(store, "c")
    refused = store.acquire_leases(["a", "b", "c"], RUN)
    assert list(refused) == ["b"]
    assert refused["b"].code == "TK-0302" and "`far`" in refused["b"].message
    assert [getattr(store.lease_of(name), "run", None) for name in ("a", "b", "c")] == [RUN, OTHER, RUN]


def test_who_holds_a_target_is_told_with_how_long_it_has_been_silent(store: Store) -> None:
    taken_by(store, "a")
    change(store, "a", heartbeat_at=store.now() - timedelta(seconds=30))
    taken_by(store, "b")
    beat(store, "b")
    found = {name: store.holder_of(name) for name in ("a", "b", "c")}
    assert found["c"] is None
    assert found["a"] is not None and (found["a"].alive, found["a"].in_sight) == (False, False)
    assert 30 <= found["a"].silent_seconds < 3600
    assert found["b"] is not None and found["b"].alive
