"""A session that is lost after the work was done, or later: the next run does it no second time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import update

from tests.engines.arena import Heard
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import attempt, plan_targets_of, run_plan
from toolkit.app.maintenance.closing import taken_over
from toolkit.app.maintenance.loaded import Verification
from toolkit.app.runs import execute, launching
from toolkit.config.urls import parse_url
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import KILLED, MaintenancePlan, PlanRunRecord, StepRecord, StepState
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import Artifact
from toolkit.model.values import Scalar
from toolkit.model.words import RunState
from toolkit.runner import Stop, lease, trial
from toolkit.runner.sweep import Sweep
from toolkit.store import Store, schema
from toolkit.store.journal import RunJournal
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbTarget

FULL = ToolkitError("the store cannot be written: database or disk is full", code="TK-0401")
LOST = ToolkitError("cannot connect: connection refused", code="TK-0201")

LOAD = '[[step]]\nname = "load"\noperation = "insert"\nsource = "more"\ntable = "g"\n'
ONCE = 'only_if = {older_than = "366d"}\n'
COPY = '[[step]]\nname = "load"\noperation = "ctas"\nsource = "more"\ntable = "copied"\n'


def planned(folder: Path, step: str) -> MaintenancePlan:
    file = folder / "x.duckdb"
    if not file.exists():
        with duckdb.connect(str(file)) as made:
            made.execute("CREATE TABLE g AS SELECT range AS id FROM range(1000)")
            made.execute("CREATE TABLE more AS SELECT range AS id FROM range(10)")
    return read_plan(parse_document(f'[plan]\nname = "n"\ntarget = "duckdb:///{file}"\n{step}', "n.toml"), folder)


def night(store: Store, folder: Path, step: str, approval: str | None = None) -> StepRecord:
    plan, approvals = planned(folder, step), Approvals(approval=approval)
    places = plan_targets_of(plan, store, approvals)
    return run_plan(plan, places, store=store, approvals=approvals, events=Heard()).steps[0]


def refused(error: ToolkitError) -> Callable[..., None]:
    def refuse(*said: object) -> None:
        raise error

    return refuse


def cut_off(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str = COPY) -> StepRecord:
    """Return what a night leaves whose store filled up as the table was made."""
    with monkeypatch.context() as full:
        for told in ("add_items", "end_trial", "end_run"):
            full.setattr(Store, told, refused(FULL))
        return night(store, folder, step)


@pytest.mark.parametrize(("step", "table", "rows"), thinned([(LOAD, "g", 1010), (COPY, "copied", 10)], 2))
def test_the_next_night_finds_out_that_it_was_done(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, table: str, rows: int
) -> None:
    def lost(context: object, state: trial.TrialState, stages: object) -> None:
        state.failed(DatabaseError("server closed the connection unexpectedly", code="57P01", lost=True))

    with monkeypatch.context() as broken:
        broken.setattr(trial, "_read_evidence", lost)
        failed = night(store, tmp_path, step)
    assert failed.state.value == "failed", failed.reason
    done = night(store, tmp_path, step)
    assert (done.state.value, done.run) == ("done", failed.run), done.reason
    with duckdb.connect(str(tmp_path / "x.duckdb")) as looked:
        assert looked.execute(f"SELECT count(*) FROM {table}").fetchone() == (rows,)


@pytest.mark.thin(3)
@pytest.mark.parametrize("code", ["TK-0201", "TK-0203", "TK-0306"])
def test_what_cannot_be_read_after_the_work_was_done_lets_nobody_do_it_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """A server that stops between the statement and its evidence is not reached again, without a session lost."""

    def unread(context: object, state: trial.TrialState, stages: object) -> None:
        state.failed(ToolkitError("cannot be read", code=code))

    with monkeypatch.context() as broken:
        broken.setattr(trial, "_read_evidence", unread)
        failed = night(store, tmp_path, COPY)
    assert (failed.state.value, failed.reason) == ("failed", "cannot be read")
    done = night(store, tmp_path, COPY)
    assert (done.state.value, done.run) == ("done", failed.run), done.reason


def test_a_load_in_doubt_that_is_not_what_was_approved_is_not_gone_on_with(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = cut_off(store, tmp_path, monkeypatch, LOAD)
    assert begun.run is not None
    other = LOAD.replace('source = "more"', 'source = "g"')
    refused = night(store, tmp_path, other, approval="sha256:1")
    assert refused.state is StepState.FAILED and "does not do what was approved" in str(refused.reason)
    gone_on = night(store, tmp_path, LOAD, approval="sha256:1")
    assert gone_on.run == begun.run and "does not do what was approved" not in str(gone_on.reason)


@pytest.mark.full
def test_what_was_not_done_is_begun_anew(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(context: object, state: trial.TrialState, stages: object) -> None:
        state.failed(ToolkitError("nothing was done", code="TK-0208"))

    gather = '[[step]]\nname = "load"\noperation = "stats-gather"\ntable = "g"\n'
    with monkeypatch.context() as broken:
        broken.setattr(trial, "_read_evidence", nothing)
        failed = night(store, tmp_path, gather)
    done = night(store, tmp_path, gather)
    assert done.state.value == "done" and done.run != failed.run


@pytest.mark.full
def test_a_run_stopped_while_its_server_was_away_is_gone_on_with_and_not_begun_anew(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window closes as the server comes back: whether the table was made nobody has asked yet."""
    stop = Stop()

    def lost(context: object, state: trial.TrialState, stages: object) -> None:
        state.failed(DatabaseError("server closed the connection unexpectedly", code="57P01", lost=True))

    def away(self: Sweep) -> None:
        stop.request(ToolkitError("the window closed", code="TK-0310"))
        raise LOST

    ((job,),) = (each.jobs for each in plan_targets_of(planned(tmp_path, COPY), store, Approvals()))
    target = DuckdbTarget(Access(parse_url(f"duckdb:///{tmp_path}/x.duckdb")))
    with monkeypatch.context() as broken:
        broken.setattr(trial, "_read_evidence", lost)
        broken.setattr(Sweep, "_end_orphans", away)
        with pytest.raises(ToolkitError, match="the window closed"):
            execute.start(job.experiment, target, store=store, approvals=Approvals(), events=Heard(), stop=stop)
    (head,) = store.list_runs()
    assert head.state is RunState.INTERRUPTED
    execute.resume(head.run, target, store=store, approvals=Approvals(), events=Heard())
    with duckdb.connect(str(tmp_path / "x.duckdb")) as looked:
        assert looked.execute("SELECT count(*) FROM copied").fetchone() == (10,)


@pytest.mark.full
def test_a_run_that_could_not_be_gone_on_with_is_gone_on_with_the_night_after(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = cut_off(store, tmp_path, monkeypatch)
    with monkeypatch.context() as away:
        away.setattr(launching, "read_planning", refused(LOST))
        failed = night(store, tmp_path, COPY)
    assert (failed.state.value, failed.run) == ("failed", begun.run), failed.reason
    assert not store.unended_trials(str(begun.run)), "the broken trial is told as such already"
    done = night(store, tmp_path, COPY)
    assert (done.state.value, done.run) == ("done", begun.run), done.reason
    assert store.load_head(str(begun.run)).ended_at is not None


@contextmanager
def frozen_at(
    monkeypatch: pytest.MonkeyPatch,
    store: Store,
    place: tuple[Any, str],
    meanwhile: Callable[[], None] = lambda: None,
) -> Iterator[threading.Event]:
    """Freeze this process for a minute as a function returns; another one takes its target by then."""
    real, clocks, frozen = getattr(*place), lease._clocks, threading.Event()

    def freeze(*args: Any, **more: Any) -> Any:
        answer = real(*args, **more)
        if not frozen.is_set():
            with store._database.write("another process") as connection:
                connection.execute(update(schema.lease).values(host="far", run="20261122-000000-0001", pid=1))
            meanwhile()
            frozen.set()
        return answer

    def passed() -> tuple[float, float]:
        return clocks()[0] + (60.0 if frozen.is_set() else 0.0), clocks()[1]

    with monkeypatch.context() as broken:
        broken.setattr(*place, freeze)
        broken.setattr(lease, "_clocks", passed)
        broken.setattr(lease, "_BEAT_SECONDS", 3600.0)
        yield frozen


@pytest.mark.full
@pytest.mark.parametrize("at", ["begins", "ends"])
def test_a_process_that_was_frozen_as_a_run_began_or_ended_leaves_it_to_the_one_that_took_its_target(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    place = (launching, "read_planning") if at == "begins" else (trial, "_read_evidence")
    with frozen_at(monkeypatch, store, place) as frozen:
        stopped = night(store, tmp_path, COPY)
    assert frozen.is_set() and stopped.state.value == "stopped" and "was lost" in str(stopped.reason)
    heads = store.list_runs()
    assert [head.ended_at for head in heads] == ([] if at == "begins" else [None])
    assert all(store.unended_trials(head.run) for head in heads), "whoever took it over says how it ended"


@pytest.mark.thin(2)
@pytest.mark.parametrize("place", [(execute, "ruled_now"), (execute, "warn_of_drift")])
def test_a_process_that_was_frozen_as_it_went_on_with_a_run_leaves_it_as_ended_by_the_one_that_took_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: tuple[Any, str]
) -> None:
    begun, at = cut_off(store, tmp_path, monkeypatch), datetime(2030, 1, 1, tzinfo=UTC)
    left = store.unended_trials(str(begun.run))

    def ended() -> None:
        store.end_run(str(begun.run), RunState.DONE, at)

    with frozen_at(monkeypatch, store, place, ended) as frozen:
        night(store, tmp_path, COPY)
    head = store.load_head(str(begun.run))
    assert frozen.is_set() and (head.state, head.ended_at) == (RunState.DONE, at)
    assert place[1] == "warn_of_drift" or store.unended_trials(str(begun.run)) == left


@pytest.mark.full
def test_a_step_that_another_process_went_on_with_is_done_once_in_all_plan_runs(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process had done the work, was frozen before it said so, and its target was taken by then."""

    def told() -> None:
        for plan_run, step in store.open_steps("n", f"duckdb:///{tmp_path}/x.duckdb"):
            store.note_step(
                plan_run, replace(step, state=StepState.STOPPED, reason="taken", ended_at=step.began_at)
            )

    with frozen_at(monkeypatch, store, (attempt, "ended_well"), told) as frozen:
        step = night(store, tmp_path, COPY)
    assert frozen.is_set() and (step.state, step.reason) == (StepState.STOPPED, "taken")


GATHER = '[[step]]\nname = "load"\noperation = "stats-gather"\ntable = "g"\n'


@pytest.mark.full
def test_what_was_gone_on_with_is_verified_since_its_run_began(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statistics of a run that was cut off the night before are older than the step that goes on with it."""
    real, ages = attempt.look_at, list[float]()

    def look(job: object, target: object, took: float, **more: Any) -> Any:
        ages.append(took)
        return real(job, target, took, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(attempt, "look_at", look)
    begun = cut_off(store, tmp_path, monkeypatch, GATHER)
    later = attempt.utc_now() + timedelta(hours=8)
    monkeypatch.setattr(attempt, "utc_now", lambda: later)
    done = night(store, tmp_path, GATHER)
    assert (done.state.value, done.run) == ("done", begun.run), done.reason
    assert ages[-1] > timedelta(hours=7).total_seconds()


@pytest.mark.full
def test_a_step_that_could_not_be_verified_is_not_taken_for_resumed_by_hand_where_the_clock_was_set(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = GATHER + 'only_if = {older_than = "1h"}\n'
    with monkeypatch.context() as broken:
        broken.setattr(attempt, "look_at", lambda *_, **__: Verification("it is not there"))
        failed = night(store, tmp_path, once)
    assert failed.state.value == "failed" and failed.ended_at is not None
    ahead = failed.ended_at + timedelta(minutes=5)
    with store._database.write("a clock that was put forward during the plan run") as connection:
        connection.execute(update(schema.run).values(ended_at=ahead))
        connection.execute(update(schema.plan_run).values(ended_at=ahead + timedelta(minutes=1)))
    done = night(store, tmp_path, once)
    assert done.state.value == "done" and done.run != failed.run, done.reason


def test_a_store_that_is_full_as_a_run_begins_costs_a_try_and_loads_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt, "_FIRST_WAIT_SECONDS", 0.0)
    real, refused = Store.explain, list[str]()

    def explain(
        self: Store, run: str, environment: Mapping[str, Scalar], artifacts: Iterable[Artifact], facts: str
    ) -> None:
        if not refused:
            refused.append(run)
            raise FULL
        real(self, run, environment, artifacts, facts)

    monkeypatch.setattr(Store, "explain", explain)
    done = night(store, tmp_path, f"{LOAD}retries = 1\n")
    assert (done.state.value, done.run, done.tries) == ("done", refused[0], 2), done.reason
    assert "the target had 1,000 and has 1,010" in str(done.verified)
    assert store.load_facts(refused[0]) is not None


@pytest.mark.full
def test_a_kill_after_a_run_was_gone_on_with_to_its_end_makes_nobody_do_it_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = cut_off(store, tmp_path, monkeypatch, COPY + ONCE)
    noted: list[tuple[str, StepRecord]] = []
    real = Store.note_step

    def note(self: Store, plan_run: str, step: StepRecord) -> None:
        noted.append((plan_run, step))
        real(self, plan_run, step)

    with monkeypatch.context() as watched:
        watched.setattr(Store, "note_step", note)
        watched.setattr(Store, "end_plan_run", lambda *said: None)
        assert night(store, tmp_path, COPY + ONCE).state is StepState.DONE
    killed = next(each for each in reversed(noted) if each[1].state is StepState.RUNNING)
    store.note_step(*killed)
    again = night(store, tmp_path, COPY + ONCE)
    assert again.state is StepState.SKIPPED and "it was done" in str(again.reason), again.reason
    record = store.step_history("n", "load", again.target)[0]
    assert (record.state, record.run) == (StepState.DONE, begun.run)


@pytest.mark.full
def test_a_run_gone_on_with_by_hand_counts_as_done_when_it_ended(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = cut_off(store, tmp_path, monkeypatch, COPY + ONCE)
    target = DuckdbTarget(Access(parse_url(f"duckdb:///{tmp_path}/x.duckdb")))
    execute.resume(str(begun.run), target, store=store, approvals=Approvals(), events=Heard())
    again = night(store, tmp_path, COPY + ONCE)
    assert again.state is StepState.SKIPPED and "it was done" in str(again.reason), again.reason


def test_a_step_whose_second_worker_was_lost_before_it_began_it_waits_for_a_third(
    store: Store, tmp_path: Path
) -> None:
    began = datetime.now(UTC)
    steps = (StepRecord(0, "x", "load", state=StepState.RUNNING, began_at=began), StepRecord(1, "x", "next"))
    plan = planned(tmp_path, COPY)
    store.begin_plan_run(PlanRunRecord("p", "n", "0", RunState.RUNNING, began, "far", plan.text, steps=steps))
    for _ in range(3):
        found = taken_over(store, "p", "x", began)
        assert {name: step.state.value for name, step in found.items()} == {"load": "waiting", "next": "waiting"}
        assert found["load"].reason is None and found["load"].ended_at is None
    kept = store.load_plan_run("p").steps[0]
    assert (kept.state, kept.reason) == (StepState.STOPPED, KILLED), "history tells that its run is continued"


@pytest.mark.full
def test_what_a_failed_step_left_undone_is_put_back_before_the_next_night_begins_it_anew(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work failed, and the store was full as it was to be told that nothing had been made."""
    step = COPY.replace('source = "more"', 'query = "SELECT CAST(word AS int) AS id FROM words"')
    planned(tmp_path, step)
    with duckdb.connect(str(tmp_path / "x.duckdb")) as made:
        made.execute("CREATE TABLE words AS SELECT 'no number' AS word")
    with monkeypatch.context() as away:
        for told in ("abandon", "undone"):
            away.setattr(RunJournal, told, refused(FULL))
        first = night(store, tmp_path, step)
    assert first.state is StepState.FAILED and first.run is not None
    assert [entry.run for entry in store.open_entries_all()] == [first.run]
    with duckdb.connect(str(tmp_path / "x.duckdb")) as made:
        made.execute("UPDATE words SET word = '7'")
    second = night(store, tmp_path, step)
    assert second.state is StepState.DONE, second.reason
    assert not store.open_entries_all()
