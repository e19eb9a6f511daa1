"""A session stays set up from trial to trial; only what differs is sent, and all is put back in the end."""

from __future__ import annotations

from tests.runner.world import World, refused
from toolkit.model.steps import Stages, Step, Timed, TimedItem
from toolkit.model.words import Role
from toolkit.runner.context import Workers, stays


def setting(text: str, undo: str | None = None) -> Step:
    return Step(text, text, session=Role.WORKER, undo=(undo,) if undo else ())


LOCK, DML = setting("SET lock", "RESET lock"), setting("ENABLE dml", "DISABLE dml")


def stages(*begin: Step) -> Stages:
    item = TimedItem("it", (Step("work", "work", session=Role.WORKER),))
    return Stages(Timed((item,)), worker_begin=begin, worker_end=(setting("RESET everything"),))


def due(workers: Workers, wanted: Stages, identity: str = "sid 1,1") -> list[str]:
    return [step.text for step in workers.due(0, identity, wanted)]


def test_a_new_session_is_set_up_whole_and_the_next_trial_sends_only_what_differs() -> None:
    workers = Workers()
    assert due(workers, stages(LOCK)) == ["SET lock"]
    assert due(workers, stages(LOCK)) == []
    assert due(workers, stages(LOCK, DML)) == ["ENABLE dml"]
    assert due(workers, stages(LOCK)) == ["DISABLE dml"]


def test_another_session_under_the_same_number_is_set_up_anew() -> None:
    workers = Workers()
    due(workers, stages(LOCK, DML))
    assert due(workers, stages(LOCK, DML), "sid 9,1") == ["SET lock", "ENABLE dml"]
    workers.forget(0)
    assert due(workers, stages(LOCK), "sid 9,1") == ["SET lock"]


def test_a_setting_that_says_no_way_back_does_not_stay() -> None:
    workers = Workers()
    unknown = stages(LOCK, setting("SET other"))
    assert not stays(unknown)
    assert due(workers, unknown) == due(workers, unknown) == ["SET lock", "SET other"]


def test_at_the_end_every_session_is_put_back_once_and_a_refusal_is_told() -> None:
    workers, world, told = Workers(), World(), []
    due(workers, stages(LOCK))
    workers.put_back(world, lambda number, error: told.append(error))  # type: ignore[arg-type]
    workers.put_back(world, lambda number, error: told.append(error))  # type: ignore[arg-type]
    assert world.sent == ["RESET everything"]
    due(workers, stages(LOCK))
    broken = World(fail={"RESET": refused()})
    workers.put_back(broken, lambda number, error: told.append(error))  # type: ignore[arg-type]
    assert len(told) == 1


def test_a_session_that_cannot_be_set_up_early_fails_in_its_trial_and_not_before() -> None:
    workers, world = Workers(), World(fail={"SET lock": refused()})
    workers.set_up(world, stages(LOCK))  # type: ignore[arg-type]
    assert due(workers, stages(LOCK)) == ["SET lock"]
