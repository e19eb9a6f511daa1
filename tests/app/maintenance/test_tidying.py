"""What a step that is done left in the database is undone by the next plan run, and told."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.app.maintenance.test_lost_after_all import FULL, LOAD, ONCE, night, refused
from toolkit.app.maintenance import closing, target_run, tidying
from toolkit.app.maintenance.attempt import StepAttempt
from toolkit.errors import ToolkitError
from toolkit.model.plan import StepRecord, StepState
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import RunState
from toolkit.runner import undoing
from toolkit.runner.stop import TAKEN_OVER, Stop
from toolkit.runner.sweep import Sweep
from toolkit.store import Store
from toolkit.store.journal import RunJournal

STEP = LOAD + ONCE
NO_SPACE = DatabaseError("IO Error: No space left on device", code="IO Error")
LOST = DatabaseError("IO Error: the database has been invalidated", code="IO Error", lost=True)


def tables(folder: Path) -> dict[str, int]:
    with duckdb.connect(str(folder / "x.duckdb")) as looked:
        names = [name for (name,) in looked.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: len(looked.execute(f'FROM "{name}"').fetchall()) for name in names}


def notes(store: Store) -> list[str]:
    (last,) = store.plan_runs("n", 1)
    return [note.text for note in store.load_plan_run(last.plan_run).notes]


def left_by(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, where: object, name: str, error: Exception
) -> StepRecord:
    """Return what a night leaves in which something fails."""
    with monkeypatch.context() as broken:
        broken.setattr(where, name, refused(error))  # type: ignore[arg-type]
        return night(store, folder, STEP)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("where", "name", "error"),
    [(undoing, "drop", NO_SPACE), (undoing, "drop", LOST), (RunJournal, "undone", FULL)],
    ids=["the last DROP fails", "its session is lost in it", "the store cannot take that it was dropped"],
)
def test_what_a_done_step_left_is_undone_by_the_next_plan_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: object, name: str, error: Exception
) -> None:
    done = left_by(store, tmp_path, monkeypatch, where, name, error)
    assert done.state is StepState.DONE and store.journal(str(done.run)).open_entries()
    again = night(store, tmp_path, STEP)
    assert again.state is StepState.SKIPPED and "it was done" in str(again.reason)
    assert tables(tmp_path) == {"g": 1010, "more": 10}
    assert not store.open_entries_all() and not store.undo_script(str(done.run)).exists()
    (told,) = notes(store)
    assert told.startswith("step `load` had left something")
    night(store, tmp_path, STEP)
    assert notes(store) == [], "it is said once"


def test_a_run_that_another_process_took_over_is_gone_on_with_and_leaves_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = left_cut_off(store, tmp_path, monkeypatch)
    assert len(tables(tmp_path)) == 3
    done = night(store, tmp_path, STEP)
    assert (done.state, done.run) == (StepState.DONE, stopped.run), done.reason
    assert tables(tmp_path) == {"g": 1010, "more": 10} and not store.open_entries_all()


def left_cut_off(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> StepRecord:
    """Return what a night leaves whose step another process took, which then did nothing: one goes on with it."""

    def taken(self: Sweep) -> None:
        self._context.stop.request(ToolkitError("the lease was lost", code=TAKEN_OVER), disowned=True)

    with monkeypatch.context() as frozen:
        frozen.setattr(Sweep, "_put_workers_back", taken)
        stopped = night(store, folder, STEP)
    assert stopped.state is not StepState.DONE and store.journal(str(stopped.run)).open_entries()
    return stopped


def test_what_a_step_left_that_is_not_due_now_is_undone_and_gone_on_with_when_it_is(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = left_cut_off(store, tmp_path, monkeypatch)
    monkeypatch.setattr(target_run, "unmet", lambda *_, asking: "it is not stale")
    rested = night(store, tmp_path, STEP)
    assert (rested.state, rested.reason) == (StepState.SKIPPED, "it is not stale")
    assert tables(tmp_path) == {"g": 1010, "more": 10} and not store.open_entries_all()
    (told,) = notes(store)
    assert told.startswith("step `load` had left something")
    monkeypatch.undo()
    done = night(store, tmp_path, STEP)
    assert (done.state, done.run) == (StepState.DONE, stopped.run), done.reason
    assert tables(tmp_path) == {"g": 1010, "more": 10}


def test_what_a_step_left_that_is_not_due_is_said_where_the_time_is_over(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = left_cut_off(store, tmp_path, monkeypatch)
    monkeypatch.setattr(target_run, "unmet", lambda *_, asking: "it is not stale")
    real = target_run.TargetRun._work

    def until_the_end(self: target_run.TargetRun) -> None:
        real(self)
        self.stop.request(ToolkitError("the window closed", code="TK-0310"))

    monkeypatch.setattr(target_run.TargetRun, "_work", until_the_end)
    night(store, tmp_path, STEP)
    assert notes(store) == [
        f"what run {stopped.run} of step `load` left is not undone yet: the next plan run tries again"
    ]
    assert store.open_entries_all()


def test_what_a_step_left_that_the_plan_has_no_more_is_undone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_cut_off(store, tmp_path, monkeypatch)
    other = STEP.replace('name = "load"', 'name = "another"').replace('"g"', '"more"')
    assert night(store, tmp_path, other).state is StepState.DONE
    assert tables(tmp_path) == {"g": 1010, "more": 20} and not store.open_entries_all()
    (told,) = notes(store)
    assert told.startswith("step `load` had left something")


def test_what_cannot_be_undone_is_said_and_keeps_no_step(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = left_by(store, tmp_path, monkeypatch, undoing, "drop", NO_SPACE)
    again = left_by(store, tmp_path, monkeypatch, undoing, "drop", NO_SPACE)
    assert again.state is StepState.SKIPPED
    (told,) = notes(store)
    assert str(done.run) in told and "No space left on device" in told and "DROP TABLE" in told
    again = left_by(store, tmp_path, monkeypatch, StepAttempt, "clean", ToolkitError("no way in", code="TK-0201"))
    assert again.state is StepState.SKIPPED
    assert notes(store) == [f"what run {done.run} of step `load` left could not be undone: no way in"]


def test_what_a_live_process_works_on_is_left_to_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = left_by(store, tmp_path, monkeypatch, undoing, "drop", NO_SPACE)
    lease = store.acquire_lease("elsewhere", str(done.run))
    night(store, tmp_path, STEP)
    assert str(done.run) in notes(store)[0] and len(tables(tmp_path)) == 3
    store.release(lease)
    night(store, tmp_path, STEP)
    assert len(tables(tmp_path)) == 2


def test_what_takes_long_is_waited_for_by_no_step(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_by(store, tmp_path, monkeypatch, undoing, "drop", NO_SPACE)
    answers, ended, real = threading.Event(), threading.Event(), StepAttempt.clean

    def slow(*said: object) -> object:
        answers.wait()
        try:
            return real(*said)  # type: ignore[arg-type]
        finally:
            ended.set()

    monkeypatch.setattr(StepAttempt, "clean", slow)
    monkeypatch.setattr(tidying, "_LONGEST_SECONDS", 0.05)
    assert night(store, tmp_path, STEP).state is StepState.SKIPPED
    assert notes(store) == ["what earlier plan runs left is not undone yet; no step waits for that"]
    answers.set()
    assert ended.wait(30)


@pytest.mark.parametrize("heeds", [True, False])
def test_what_takes_long_after_all_steps_is_cancelled_for_the_target_is_let_go(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heeds: bool
) -> None:
    stopped = left_cut_off(store, tmp_path, monkeypatch)
    monkeypatch.setattr(target_run, "unmet", lambda *_, asking: "it is not stale")
    answers, ended = threading.Event(), threading.Event()

    def slow(self: StepAttempt, run: str, stop: Stop, locks: object) -> object:
        heard = stop.wait(300)
        if not heeds:
            answers.wait(300)
        ended.set()
        raise ToolkitError("it was cancelled" if heard else "nobody cancelled it", code="TK-0308")

    monkeypatch.setattr(StepAttempt, "clean", slow)
    monkeypatch.setattr(tidying, "_LONGEST_SECONDS", 0.05)
    monkeypatch.setattr(tidying, "_CANCEL_SECONDS", 300 if heeds else 0.05)
    night(store, tmp_path, STEP)
    what = f"what run {stopped.run} of step `load` left"
    why = "could not be undone: it was cancelled" if heeds else "is not undone yet: the next plan run tries again"
    assert notes(store) == [f"{what} {why}"] and store.open_entries_all()
    answers.set()
    assert ended.wait(300)


@pytest.mark.parametrize("is_known", [False, True])
def test_a_run_that_a_frozen_process_began_after_it_was_taken_over_has_an_end(
    store: Store, tmp_path: Path, is_known: bool
) -> None:
    """Only where no step names it: the next run of its step goes on with one that a step names."""
    done = night(store, tmp_path, STEP)
    (last,) = store.plan_runs("n", 1)
    known = store.load_head(str(done.run))
    begun = replace(known, run="20270712-220034-920d", state=RunState.RUNNING, ended_at=None)
    assert begun.parent == last.plan_run
    store.create_run(begun)
    if is_known:
        store.note_step(last.plan_run, replace(done, run=begun.run))
    closing.close_killed_runs(store, "n", last.plan_run, done.target, known.began_at)
    assert store.load_head(begun.run).state is RunState.RUNNING, "its own plan run is at work"
    assert night(store, tmp_path, STEP).state is StepState.SKIPPED
    expected = RunState.RUNNING if is_known else RunState.INTERRUPTED
    assert store.load_head(begun.run).state is expected
