"""What an ended run left: sessions that still work are ended and waited for, unlogged objects need a backup."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.runner.world import DIALECT, KEY, RUN, Thing, World, change, create, drop, index, table
from tests.store.make import head
from toolkit.errors import ToolkitError
from toolkit.executors.orphans import OrphansEnded
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.runner import leftovers
from toolkit.runner.changes import Changes
from toolkit.runner.leftovers import end_orphaned_sessions
from toolkit.runner.unlogged import need_backup
from toolkit.store import Store, open_store


@dataclass
class Server:
    """Sessions of a run, as the catalogue lists them at each look; what is sent to end them."""

    looks: Iterator[tuple[Row, ...]]
    error: DatabaseError | None = None
    asked: list[tuple[str, object]] = field(default_factory=list)
    sent: list[tuple[str, str, object]] = field(default_factory=list)
    closed: int = 0
    opened_as: str = ""

    def run(self, step: Step) -> Answer:
        if step.name == "oracle/sessions_everywhere":
            self.asked.append((step.name, step.binds["run"]))
            return Answer(next(self.looks))
        self.sent.append((step.name, step.text, step.effect))
        if self.error is not None:
            raise self.error
        return Answer(())

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that goes on by what is slept alone."""
    now = [0.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(leftovers.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(leftovers.time, "sleep", sleep)
    return slept


def ended(monkeypatch: pytest.MonkeyPatch, server: Server, journal: object = None, *, may_end: bool = True) -> int:
    programs: list[str] = []

    def sessions(target: object, tag: str, *, timeouts: object) -> Server:
        assert timeouts is None
        assert target == "the target"
        server.opened_as = tag
        return server

    monkeypatch.setattr(leftovers, "Sessions", sessions)
    monkeypatch.setattr(leftovers, "end_orphans", lambda run: programs.append(run) or OrphansEnded(2))
    try:
        empty = SimpleNamespace(open_entries=lambda: ())
        orphans = end_orphaned_sessions(
            "the target", DIALECT, RUN, journal or empty, may_end=may_end,  # type: ignore[arg-type]
        )  # fmt: skip
        assert orphans.of_programs == (("2 processes that went on without dbatk: ended",) if may_end else ())
        return orphans.sessions
    finally:
        assert programs == ([RUN] if may_end else [])
        assert server.closed == 1


ONE: Row = {"session_id": 7, "kill_text": "KILL 7"}
TWO: Row = {"session_id": 8, "kill_text": "KILL 8"}
OWN: Row = {"session_id": 9, "kill_text": None}


def test_without_sessions_nothing_is_ended(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    server = Server(iter([()]))
    assert ended(monkeypatch, server) == 0
    assert (server.sent, clock, server.asked) == ([], [], [("oracle/sessions_everywhere", RUN)])
    assert server.opened_as == f"{RUN}-clean", "a session of its own name is not one of those it ends"


def test_sessions_are_ended_and_waited_for(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    server = Server(iter([(ONE, OWN, TWO), (TWO,), (TWO,), ()]))
    assert ended(monkeypatch, server) == 3
    assert server.sent == [("end-session", "KILL 7", "changes"), ("end-session", "KILL 8", "changes")]
    assert clock == [0.2, 0.2]
    assert {run for _, run in server.asked} == {RUN}


def test_sessions_that_only_a_store_says_are_of_a_run_are_named_and_not_ended(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    server = Server(itertools.repeat((ONE, TWO)))
    with pytest.raises(ToolkitError) as caught:
        ended(monkeypatch, server, may_end=False)
    assert (caught.value.code, caught.value.hint) == ("TK-0308", "ask for: KILL 7;")
    assert server.sent == [] and clock == []
    assert ended(monkeypatch, Server(iter([()])), may_end=False) == 0


def test_a_session_that_does_not_go_is_told_with_what_ends_it(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    server = Server(itertools.repeat((TWO, ONE)))
    with pytest.raises(ToolkitError) as caught:
        ended(monkeypatch, server)
    assert caught.value.message == f"2 session(s) of run {RUN} are still active in the database"
    assert (caught.value.code, caught.value.hint) == ("TK-0308", "ask for: KILL 8;")
    assert sum(clock) == pytest.approx(30.0, abs=0.3)


def test_a_session_that_may_not_be_ended_is_told_with_the_databases_code(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    server = Server(iter([(ONE,)]), DatabaseError("ORA-01031: insufficient privileges\nmore", code="ORA-01031"))
    with pytest.raises(ToolkitError) as caught:
        ended(monkeypatch, server)
    assert caught.value.message.endswith(
        "no privilege to end a session of the earlier attempt: ORA-01031: insufficient privileges"
    )
    assert (caught.value.code, caught.value.database_code) == ("TK-0308", "ORA-01031")
    assert caught.value.hint == "ask for: KILL 7;"


# -- what redo lacks ----------------------------------------------------------------------------------------------
@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        yield opened


def sentences(world: World, kept: Store) -> tuple[str, ...]:
    return need_backup(world, DIALECT, kept.journal(RUN).entries())  # type: ignore[arg-type]


def unlogged(step: Step) -> Step:
    return replace(step, unlogged=True)


def made(world: World, kept: Store, *steps: Step) -> Changes:
    own = Changes(world, DIALECT, kept.journal(RUN))  # type: ignore[arg-type]
    own.run(steps, 1)
    return own


def test_what_was_written_without_redo_needs_a_backup(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    made(world, kept, unlogged(create(table("MADE", scratch=False))), unlogged(change(index())))
    found = sentences(world, kept)
    assert [sentence.split("`")[1] for sentence in found] == ["APP.MADE", "APP.ORDERS_IX"]


def test_what_was_written_with_redo_needs_none(kept: Store) -> None:
    world = World()
    made(world, kept, create(table("MADE", scratch=False)))
    assert sentences(world, kept) == ()


def test_an_object_of_the_run_that_is_dropped_needs_none(kept: Store) -> None:
    world = World()
    own = made(world, kept, unlogged(create(table())))
    assert len(sentences(world, kept)) == 1
    own.run([drop(table())], 1)
    world.things[f"DBATK_{KEY}_1"] = Thing("made 1")
    assert sentences(world, kept) == ()


@pytest.mark.parametrize(("now", "many"), [(Thing("7"), 1), (Thing("8"), 0), (None, 0)])
def test_only_what_is_still_the_same_object_needs_one(kept: Store, now: Thing | None, many: int) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    made(world, kept, unlogged(change(index())))
    world.things.clear()
    if now is not None:
        world.things["ORDERS_IX"] = now
    assert len(sentences(world, kept)) == many


def test_an_object_written_twice_is_told_once(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)}, now=1795284000)
    made(world, kept, unlogged(change(index())))
    world.now += 86_400
    made(world, kept, unlogged(change(index())))
    (sentence,) = sentences(world, kept)
    assert "2026-11-2" in sentence
