"""No wait without a limit: threads that do not begin, die or never answer end a step, never a night."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import plan_targets_of, run_plan, target_run, working
from toolkit.app.maintenance.asking import Questions
from toolkit.app.maintenance.attempt import StepAttempt
from toolkit.app.maintenance.guard_reader import GuardWatch
from toolkit.app.maintenance.plan_targets import TargetStep
from toolkit.design.plan_file import read_plan
from toolkit.design.window import read_windows
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import Guard, MaintenancePlan, PlanRunRecord, StepRecord, StepState
from toolkit.runner import Stop, holding_lease, holding_locks
from toolkit.store import Store

WATCHDOG_SECONDS = 120
STEP = '[[step]]\nname = "{name}"\noperation = "stats-gather"\ntable = "g"\non_failure = "continue"\n'
Night = Callable[..., dict[str, tuple[str, str]]]


def watched(work: Callable[[], object]) -> object:
    """Do work that may hang, and fail when it does."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True, name="watched")
    thread.start()
    thread.join(WATCHDOG_SECONDS)
    assert not thread.is_alive(), "it hangs"
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


@pytest.fixture
def night(store: Store, tmp_path: Path) -> Night:
    """Run a plan of some steps under a watchdog; return each step's state and reason."""
    with duckdb.connect(str(tmp_path / "x.duckdb")) as made:
        made.execute("CREATE TABLE g AS SELECT range AS id FROM range(1000)")

    def run(
        steps: str, head: str = "", each: str = "", closes: threading.Event | None = None
    ) -> dict[str, tuple[str, str]]:
        written = "".join(STEP.format(name=name) + each + "\n" for name in steps)
        text = f'[plan]\nname = "n"\ntarget = "duckdb:///{tmp_path}/x.duckdb"\n{head}\n{written}'
        plan: MaintenancePlan = read_plan(parse_document(text, "n.toml"), tmp_path)
        began = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)
        if closes is not None:
            plan = replace(plan, windows=read_windows("22:00-23:00 UTC"))

        def now() -> datetime:
            return began + timedelta(hours=2) if closes is not None and closes.is_set() else began

        places = plan_targets_of(plan, store, Approvals())
        record = watched(
            lambda: run_plan(plan, places, store=store, approvals=Approvals(), events=Heard(), now=now)
        )
        assert isinstance(record, PlanRunRecord) and record.ended_at is not None
        return {step.step: (step.state.value, str(step.reason)) for step in record.steps}

    return run


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], bool]], None]:
    """Let a host start no threads of some names."""
    real = threading.Thread.start

    def refuse(named: Callable[[str], bool]) -> None:
        def start(thread: threading.Thread) -> None:
            if named(thread.name):
                raise RuntimeError("can't start new thread")
            real(thread)

        monkeypatch.setattr(threading.Thread, "start", start)

    return refuse


@pytest.fixture
def hanging() -> Iterator[threading.Event]:
    """What hanging work waits for: it is let go when the test ends."""
    event = threading.Event()
    yield event
    event.set()


def test_a_step_whose_thread_cannot_be_started_fails_alone(night: Night, no_threads: Callable[..., None]) -> None:
    no_threads(lambda name: name.startswith("step a"))
    assert night("ab") == {
        "a": ("failed", "this host starts no more threads: nothing was done"),
        "b": ("done", "None"),
    }


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_step_whose_thread_dies_fails_alone(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    real = StepAttempt.do

    def do(self: StepAttempt, job: TargetStep, *rest: object) -> object:
        if job.step.name == "a":
            raise SystemExit
        return real(self, job, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(StepAttempt, "do", do)
    states = night("ab")
    assert states["a"] == ("failed", "its thread ended without a result") and states["b"][0] == "done"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_question_whose_thread_dies_is_given_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def die() -> None:
        raise SystemExit

    start = threading.Thread.start

    def stillborn(self: threading.Thread) -> None:
        self.run = die  # type: ignore[method-assign]
        start(self)
        self.join()

    monkeypatch.setattr(threading.Thread, "start", stillborn)
    with pytest.raises(ToolkitError, match="a thread of this host ended as it was started"):
        Questions().answer("size", lambda: 1, WATCHDOG_SECONDS)


def test_a_step_that_never_ends_is_given_up_when_its_database_is_silent(
    night: Night, monkeypatch: pytest.MonkeyPatch, hanging: threading.Event
) -> None:
    stops, closes = list[Stop](), threading.Event()

    def do(self: StepAttempt, job: TargetStep, begun: object, earlier: object, stop: Stop) -> object:
        stops.append(stop)
        closes.set()
        hanging.wait()
        return begun

    monkeypatch.setattr(StepAttempt, "do", do)
    monkeypatch.setattr(working, "SILENT_SECONDS", 0.0)
    monkeypatch.setattr(target_run.TargetRun, "_is_reachable", lambda self: False)
    state, reason = night("a", closes=closes)["a"]
    assert state == "stopped" and "the window closed" in reason and "does not respond" in reason
    assert stops[0].disowned, "its thread must change nothing any more"


@pytest.mark.parametrize(("code", "disowned"), [("TK-0302", True), ("TK-0310", False)])
def test_a_step_whose_target_another_process_took_undoes_nothing_of_what_that_one_may_go_on_with(
    code: str, disowned: bool
) -> None:
    ended, stops = threading.Event(), list[Stop]()

    def work(stop: Stop) -> StepRecord:
        stops.append(stop)
        stop.wait(300)
        ended.set()
        return begun

    begun, at_work = StepRecord(0, "there", "a", began_at=datetime.now(UTC)), working.Working(lambda: True)
    at_work.begin(begun, work, Stop())
    at_work.stop(ToolkitError("because", code=code))
    assert ended.wait(300)
    assert (stops[0].requested, stops[0].disowned) == (True, disowned)


def test_a_step_that_takes_long_to_end_is_waited_for_while_its_database_answers(
    night: Night, monkeypatch: pytest.MonkeyPatch, hanging: threading.Event
) -> None:
    asked, closes = list[bool](), threading.Event()

    def answers(self: object) -> bool:
        asked.append(True)
        if len(asked) == 3:
            hanging.set()
        return True

    def do(self: StepAttempt, job: TargetStep, begun: object, *rest: object) -> object:
        closes.set()
        hanging.wait()
        return replace(begun, state=StepState.STOPPED)  # type: ignore[type-var]

    monkeypatch.setattr(StepAttempt, "do", do)
    monkeypatch.setattr(working, "SILENT_SECONDS", 0.0)
    monkeypatch.setattr(target_run.TargetRun, "_is_reachable", answers)
    night("a", closes=closes)
    assert len(asked) >= 3


def test_a_target_whose_thread_cannot_be_started_is_worked_on_all_the_same(
    night: Night, no_threads: Callable[..., None]
) -> None:
    no_threads(lambda name: name.startswith("target"))
    assert night("ab") == {"a": ("done", "None"), "b": ("done", "None")}


@pytest.mark.parametrize("name", ["heartbeat", "heartbeat of the plan"])
def test_a_lease_without_a_heartbeat_is_given_back(
    name: str, store: Store, no_threads: Callable[..., None]
) -> None:
    no_threads(lambda each: each == name)

    def hold() -> None:
        held = (
            holding_lease(store, "x", "r", Stop())
            if name == "heartbeat"
            else holding_locks(store, ["x"], "r", Stop())
        )
        with held:
            raise AssertionError("nothing works without a heartbeat")

    with pytest.raises(ToolkitError, match="no more threads"):
        watched(hold)
    assert store.holder_of("x") is None


def test_a_size_that_is_not_told_keeps_only_its_own_step_and_that_not_for_long(
    night: Night, monkeypatch: pytest.MonkeyPatch, hanging: threading.Event
) -> None:
    real, order = target_run.work_size, list[str]()

    def size(job: TargetStep, plan_target: object) -> object:
        if job.step.name == "a":
            hanging.wait()
        return real(job, plan_target)  # type: ignore[arg-type]

    def do(self: StepAttempt, job: TargetStep, begun: object, *rest: object) -> object:
        order.append(job.step.name)
        hanging.set()
        return done(self, job, begun, *rest)  # type: ignore[arg-type]

    done = StepAttempt.do
    monkeypatch.setattr(StepAttempt, "do", do)
    monkeypatch.setattr(target_run, "work_size", size)
    with monkeypatch.context() as slow:
        slow.setattr(target_run, "SIZE_SECONDS", WATCHDOG_SECONDS)
        assert night("ab", head="concurrency = 2") == {"a": ("done", "None"), "b": ("done", "None")}
    assert order == ["b", "a"]
    hanging.clear()
    monkeypatch.setattr(target_run, "SIZE_SECONDS", 0.2)
    monkeypatch.setattr(StepAttempt, "do", done)
    assert night("a") == {"a": ("done", "None")}, "it is begun without its size"


def test_a_condition_that_is_never_answered_does_not_keep_the_window_open(
    night: Night, monkeypatch: pytest.MonkeyPatch, hanging: threading.Event
) -> None:
    real, done, closes = target_run.unmet, StepAttempt.do, threading.Event()

    def do(self: StepAttempt, job: TargetStep, *rest: object) -> object:
        ended = done(self, job, *rest)  # type: ignore[arg-type]
        closes.set()
        return ended

    def unmet(job: TargetStep, *rest: object, asking: bool = True) -> object:
        if job.step.name == "a" and asking:
            hanging.wait()
        return real(job, *rest, asking=asking)  # type: ignore[arg-type]

    monkeypatch.setattr(target_run, "unmet", unmet)
    monkeypatch.setattr(target_run, "CONDITION_SECONDS", 10 * WATCHDOG_SECONDS)
    monkeypatch.setattr(StepAttempt, "do", do)
    states = night("ab", closes=closes, each='only_if = {sql = "SELECT 1", at_least = 1}')
    assert states["a"][0] == "stopped" and "the window closed" in states["a"][1]
    assert states["b"][0] == "done", "it was held up by nobody"


def test_the_windows_of_a_database_that_does_not_tell_them_are_unknown(
    night: Night, monkeypatch: pytest.MonkeyPatch, hanging: threading.Event
) -> None:
    def hours(*_: object) -> object:
        hanging.wait()
        raise AssertionError

    monkeypatch.setattr(target_run, "hours_of", hours)
    monkeypatch.setattr(target_run, "_HOURS_SECONDS", 0.2)
    assert night("a") == {"a": ("done", "None")}


def test_the_windows_of_a_database_are_waited_for_no_longer_than_the_plans_own(
    night: Night, monkeypatch: pytest.MonkeyPatch, hanging: threading.Event
) -> None:
    closes = threading.Event()

    def hours(*_: object) -> object:
        closes.set()
        hanging.wait()
        raise AssertionError

    monkeypatch.setattr(target_run, "hours_of", hours)
    monkeypatch.setattr(target_run, "_HOURS_SECONDS", 10 * WATCHDOG_SECONDS)
    (ended,) = night("a", closes=closes).values()
    assert ended[0] == "stopped" and "the window closed" in ended[1]


def test_what_runs_is_stopped_at_the_close_while_the_loop_waits_for_the_store(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, closes, real = threading.Event(), threading.Event(), Store.note_step

    def note(self: Store, plan_run: str, step: object) -> None:
        if step.step == "b" and step.state.value == "running":  # type: ignore[attr-defined]
            closes.set()
            assert told.wait(WATCHDOG_SECONDS), "the loop hangs here until `a` was told to stop"
        real(self, plan_run, step)  # type: ignore[arg-type]

    def do(self: StepAttempt, job: TargetStep, begun: object, earlier: object, stop: Stop) -> object:
        if stop.wait(WATCHDOG_SECONDS) and job.step.name == "a":
            told.set()
        return replace(begun, state=StepState.STOPPED)  # type: ignore[type-var]

    monkeypatch.setattr(Store, "note_step", note)
    monkeypatch.setattr(StepAttempt, "do", do)
    night("ab", closes=closes, head="concurrency = 2")
    assert told.is_set()


def test_guards_that_fail_to_be_looked_at_let_no_step_wait_for_ever() -> None:
    def ours() -> list[str]:
        raise ToolkitError("the store is locked", code="TK-0404")

    class Reader:
        def close(self) -> None:
            pass

    watch = GuardWatch(Reader, [Guard.LOAD], ours, 60.0)  # type: ignore[arg-type,return-value]
    watched(watch.begin)
    assert watch._looked.wait(WATCHDOG_SECONDS)  # `begin` waits only a moment for it
    number, look = watch.latest
    watched(watch.end)
    assert number >= 1 and "the store is locked" in str(look.readings[Guard.LOAD].unread)
