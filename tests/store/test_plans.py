"""Nights of a plan: what is written is read back, and a child of a live night is at work too."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.store.make import RUN, head
from toolkit.errors import ToolkitError
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState
from toolkit.store.store import Store

BEGAN = datetime(2025, 11, 21, 21, 0, tzinfo=UTC)
NIGHT = "20261121-220000-aaaa"
STEPS = (
    StepRecord(0, "dwh", "statistics", expected_seconds=60.0),
    StepRecord(1, "dwh", "indexes", size_bytes=1e9),
)


def night(plan_run: str = NIGHT, *, later: float = 0, plan: str = "nightly") -> PlanRunRecord:
    began = BEGAN + timedelta(days=later)
    return PlanRunRecord(
        plan_run, plan, "abc", RunState.RUNNING, began, "db1", "[plan]", window_begin=began, steps=STEPS
    )


def test_a_night_is_read_back_as_it_was_written(store: Store) -> None:
    store.begin_plan_run(night())
    assert store.load_plan_run(NIGHT) == night()


def test_a_step_and_the_night_are_completed(store: Store) -> None:
    store.begin_plan_run(night())
    done = replace(STEPS[0], state=StepState.DONE, run=RUN, tries=1, began_at=BEGAN, ended_at=BEGAN)
    store.note_step(NIGHT, done)
    store.end_plan_run(NIGHT, RunState.DONE, BEGAN, "the window closed")
    read = store.load_plan_run(NIGHT)
    assert read.steps == (done, STEPS[1])
    assert (read.state, read.ended_at, read.stopped_by) == (RunState.DONE, BEGAN, "the window closed")


def test_nights_are_listed_newest_first_by_plan(store: Store) -> None:
    for number, plan in enumerate(["nightly", "weekly", "nightly"]):
        store.begin_plan_run(night(f"20261121-22000{number}-aaaa", later=number, plan=plan))
    assert [each.plan_run[-6] for each in store.plan_runs("nightly")] == ["2", "0"]
    assert len(store.plan_runs()) == 3 and len(store.plan_runs(limit=1)) == 1


def test_a_night_of_a_clock_that_was_ahead_does_not_hide_later_ones(store: Store) -> None:
    now = datetime.now(UTC)
    for at, began in enumerate((now - timedelta(days=1), now + timedelta(days=3), now)):
        store.begin_plan_run(replace(night(f"20261121-22000{at}-bbbb", plan="ahead"), began_at=began))
    assert [each.plan_run[-6] for each in store.plan_runs("ahead")] == ["2", "0", "1"]
    assert [each.plan_run[-6] for each in store.plan_runs("ahead", limit=1)] == ["2"]


def test_the_history_of_a_step_holds_the_nights_in_which_it_was_begun(store: Store) -> None:
    for number in range(3):
        plan_run = f"20261121-22000{number}-aaaa"
        store.begin_plan_run(night(plan_run, later=number))
        if number != 1:
            began = BEGAN + timedelta(days=number)
            store.note_step(plan_run, replace(STEPS[0], state=StepState.DONE, began_at=began, ended_at=began))
    history = store.step_history("nightly", "statistics", "dwh")
    assert [step.began_at for step in history] == [BEGAN + timedelta(days=2), BEGAN]
    assert store.step_history("nightly", "statistics", "another") == []


def test_the_history_of_a_step_is_in_the_order_of_the_nights_where_the_clock_was_set_back_in_one(
    store: Store,
) -> None:
    for number, began in enumerate((0.0, -3.0)):
        plan_run = f"20261121-22000{number}-aaaa"
        store.begin_plan_run(night(plan_run, later=number))
        store.note_step(plan_run, replace(STEPS[0], run=f"run {number}", began_at=BEGAN + timedelta(days=began)))
    history = store.step_history("nightly", "statistics", "dwh")
    assert [step.run for step in history] == ["run 1", "run 0"]
    assert store.step_histories("nightly", ["statistics"], ["dwh"]) == {("dwh", "statistics"): history}


def test_a_night_that_is_not_there_is_named(store: Store) -> None:
    for missing in (
        lambda: store.load_plan_run("x"),
        lambda: store.end_plan_run("x", RunState.DONE, BEGAN),
        lambda: store.note_step("x", STEPS[0]),
    ):
        with pytest.raises(ToolkitError) as caught:
            missing()
        assert caught.value.code == "TK-0109"


def test_a_child_of_a_live_night_is_at_work(store: Store) -> None:
    child = "20261121-220001-bbbb"
    store.create_run(head(child, parent=NIGHT))
    store.refuse_live_run(child)
    lease = store.acquire_lease("dwh", NIGHT)
    with pytest.raises(ToolkitError) as caught:
        store.refuse_live_run(child)
    assert caught.value.code == "TK-0302"
    store.release(lease)
    store.refuse_live_run(child)


def many_nights(store: Store) -> None:
    """Three nights on two targets: `erp` failed in the last one, `dwh` was not begun in it."""
    for number in range(3):
        began = BEGAN + timedelta(days=number)
        ended = began + timedelta(seconds=10 + number)
        done = StepRecord(0, "erp", "statistics", StepState.DONE, began_at=began, ended_at=ended)
        steps = (done, replace(done, position=1, target="dwh"), StepRecord(2, "dwh", "indexes"))
        if number == 2:
            steps = (
                replace(done, state=StepState.FAILED),
                replace(steps[2], position=1, step="statistics"),
                steps[2],
            )
        store.begin_plan_run(replace(night(f"20261121-22000{number}-aaaa", later=number), steps=steps))


def test_many_targets_are_read_together_as_each_would_be_alone(store: Store) -> None:
    many_nights(store)
    found = store.step_histories("nightly", ["statistics", "indexes"], ["dwh", "erp", "nowhere"])
    alone = {target: store.step_history("nightly", "statistics", target) for target in ("dwh", "erp")}
    assert found == {(target, "statistics"): history for target, history in alone.items()}
    assert [step.elapsed_seconds for step in alone["erp"]] == [12.0, 11.0, 10.0] and len(alone["dwh"]) == 2
    assert [each[:2] for each in found.values()] == list(
        store.step_histories("nightly", ["statistics"], ["dwh", "erp"], limit=2).values()
    )
    assert store.targets_of("statistics") == [("nightly", "dwh"), ("nightly", "erp")]
    assert store.targets_of("statistics", "weekly") == [] and store.step_names() == ["indexes", "statistics"]


def test_monitoring_gets_the_last_nights_whole_and_of_older_ones_what_ended_last(store: Store) -> None:
    many_nights(store)
    newest, before, oldest = store.plan_runs_to_tell("nightly")
    assert (newest, before) == tuple(store.plan_runs("nightly")[:2])
    assert oldest.plan_run.startswith("20261121-220000") and oldest.steps == ()
    store.begin_plan_run(replace(night("20261121-220009-aaaa", later=9), steps=newest.steps[:1]))
    *_, before, oldest = store.plan_runs_to_tell("nightly")
    assert [(step.target, step.state) for step in before.steps] == [
        ("erp", StepState.DONE),
        ("dwh", StepState.DONE),
    ], "they ended well for the last time there"
    assert oldest.steps == ()


def test_steps_that_no_process_ended_are_found_by_target(store: Store) -> None:
    many_nights(store)
    store.end_plan_run("20261121-220000-aaaa", RunState.DONE, BEGAN)
    found = sorted((run[-6], step.step) for run, step in store.open_steps("nightly", "dwh"))
    assert found == [("1", "indexes"), ("2", "indexes"), ("2", "statistics")]
    assert store.open_steps("nightly", "erp") == []
    assert store.is_open("20261121-220002-aaaa", "dwh") and not store.is_open("20261121-220002-aaaa", "erp")
    assert [step.step for step in store.steps_on("20261121-220002-aaaa", "dwh")] == ["statistics", "indexes"]
