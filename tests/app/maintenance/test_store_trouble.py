"""A store that is full or locked while a night works: for a moment, and for good."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.dead_plan_runs import end_dead_runs
from toolkit.app.maintenance import closing as insists
from toolkit.app.maintenance import plan_targets_of, run_plan
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState
from toolkit.store import Store

FULL = ToolkitError("the store cannot be written: database or disk is full", code="TK-0401")
STEP = '[[step]]\nname = "{name}"\noperation = "stats-gather"\ntable = "g"\non_failure = "continue"\n'


def run(store: Store, folder: Path) -> PlanRunRecord:
    with duckdb.connect(str(folder / "x.duckdb")) as made:
        made.execute("CREATE TABLE IF NOT EXISTS g AS SELECT range AS id FROM range(1000)")
    steps = "".join(STEP.format(name=name) for name in "abc")
    text = f'[plan]\nname = "n"\ntarget = "duckdb:///{folder}/x.duckdb"\n{steps}'
    plan = read_plan(parse_document(text, "n.toml"), folder)
    places = plan_targets_of(plan, store, Approvals())
    return run_plan(plan, places, store=store, approvals=Approvals(), events=Heard())


def at_work() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("step ")]


def test_a_store_that_is_full_for_a_moment_costs_time_only(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insists, "_LOOK_SECONDS", 0.01)
    real, refused = Store.note_step, list[StepRecord]()

    def note(self: Store, plan_run: str, step: StepRecord) -> None:
        if len(refused) < 3:
            refused.append(step)
            raise FULL
        real(self, plan_run, step)

    monkeypatch.setattr(Store, "note_step", note)
    record = run(store, tmp_path)
    assert record.state is RunState.DONE and len(refused) == 3


@pytest.mark.full
def test_a_store_that_stays_full_ends_the_run_with_nothing_at_work_and_the_next_one_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insists, "TIMEOUT_SECONDS", 0.0)
    monkeypatch.setattr(insists, "_LOOK_SECONDS", 0.01)
    real = Store.note_step

    def note(self: Store, plan_run: str, step: StepRecord) -> None:
        if step.step == "b" and step.state is StepState.DONE:
            raise FULL
        real(self, plan_run, step)

    with monkeypatch.context() as full:
        full.setattr(Store, "note_step", note)
        with pytest.raises(ToolkitError, match="disk is full"):
            run(store, tmp_path)
    assert at_work() == []
    assert run(store, tmp_path).state is RunState.DONE
    (killed,) = end_dead_runs(store)
    assert killed.state is RunState.DIED and killed.ended_at is not None
    assert end_dead_runs(store) == [], "it is told once"
    states = {step.step: step.state.value for step in killed.steps}
    assert states == {"a": "done", "b": "done", "c": "stopped"}, "the run of `b` tells that it was done"


def test_what_goes_wrong_around_a_step_is_its_outcome_and_never_hangs_the_night(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insists, "TIMEOUT_SECONDS", 0.0)
    real = Store.children_of

    def children(self: Store, *arguments: str) -> object:
        if threading.current_thread().name.startswith("step b"):
            raise FULL
        return real(self, *arguments)

    monkeypatch.setattr(Store, "children_of", children)
    record = run(store, tmp_path)
    assert {step.step: step.state.value for step in record.steps} == {"a": "done", "b": "failed", "c": "done"}
    assert "disk is full" in str(record.steps[1].reason)
