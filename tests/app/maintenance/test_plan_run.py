"""Plan runs on DuckDB: what is done, stopped, continued, refused and kept."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from tests.report.make import put, sweep
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import attempt as attempting
from toolkit.app.maintenance import choice, fitting, plan_targets_of, run_plan
from toolkit.app.maintenance.attempt import StepAttempt
from toolkit.app.maintenance.guard_reader import GuardReader
from toolkit.app.maintenance.plan_targets import _best_levels
from toolkit.app.maintenance.target_run import TargetRun
from toolkit.app.runs.execute import start
from toolkit.app.runs.repair import CleanReport
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import MaintenancePlan, PlanRunRecord, PlanStep, StepState
from toolkit.model.protocols import Event
from toolkit.model.records import Holder, Lease
from toolkit.model.window import TimeSpan, Windows
from toolkit.model.words import Outcome, RunState
from toolkit.runner import Stop, lease
from toolkit.store import Store

COPY = '[[step]]\nname = "copy"\noperation = "ctas"\nsource = "g"\ntable = "g2"\n'
GATHER = '[[step]]\nname = "gather"\noperation = "stats-gather"\ntable = "g"\n'
BROKEN = '[[step]]\nname = "broken"\noperation = "ctas"\nsource = "nothing"\ntable = "n"\n'
INDEX = '[[step]]\nname = "index"\noperation = "index-build"\ntable = "g2"\ncolumns = "id"\nneeds = ["copy"]\n'
SLOW = (
    '[[step]]\nname = "slow"\noperation = "ctas"\ntable = "s"\n'
    'query = "SELECT sum(a.id) AS n FROM g a, g b, g c WHERE a.id + b.id + c.id > 0"\n'
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE g AS SELECT range AS id FROM range(20000)")
    return path


Runner = Callable[..., PlanRunRecord]


@pytest.fixture
def run(store: Store, database: Path) -> Runner:
    """Run a plan of some steps."""

    def runs(*steps: str, head: str = "", change: Callable[[MaintenancePlan], MaintenancePlan] = lambda p: p,
             **options: object) -> PlanRunRecord:  # fmt: skip
        text = f'[plan]\nname = "nightly"\ntarget = "duckdb:///{database}"\n{head}\n' + "\n".join(steps)
        plan = change(read_plan(parse_document(text, "nightly.toml"), database.parent))
        approvals = Approvals()
        heard = options.pop("events", Heard())
        return run_plan(
            plan,
            plan_targets_of(plan, store, approvals),
            store=store,
            approvals=approvals,
            events=heard,
            **options,  # type: ignore[arg-type]
        )

    return runs


def states(record: PlanRunRecord) -> dict[str, str]:
    return {step.step: step.state.value for step in record.steps}


def tables(database: Path) -> set[str]:
    with duckdb.connect(str(database), read_only=True) as looked:
        return {name for (name,) in looked.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def test_steps_are_done_in_their_order_and_what_they_make_stays(run: Runner, database: Path, store: Store) -> None:
    record = run(INDEX, COPY, GATHER)
    assert record.state is RunState.DONE and set(states(record).values()) == {"done"}
    assert tables(database) == {"g", "g2"}
    children = store.children_of(record.plan_run)
    assert [head.experiment.name for head in children][:1] == ["copy"] and len(children) == 3
    assert {step.run for step in record.steps} == {head.run for head in children}
    assert store.load_plan_run(record.plan_run) == record


def test_a_failed_step_ends_the_plan_or_only_itself_as_it_says(run: Runner) -> None:
    stopped = run(BROKEN, GATHER)
    assert states(stopped) == {"broken": "failed", "gather": "stopped"}
    assert stopped.state is RunState.FAILED and stopped.stopped_by == "step `broken` failed"
    gone_on = run(BROKEN + 'on_failure = "continue"\n', GATHER)
    assert states(gone_on) == {"broken": "failed", "gather": "done"}
    assert "`main.nothing` does not exist" in str(gone_on.steps[0].reason)


@pytest.mark.full
def test_conditions_are_asked_in_a_session_that_cannot_write(run: Runner, database: Path) -> None:
    low = GATHER + 'only_if = {sql = "SELECT count(*) FROM g", at_least = 1e9}\n'
    record = run(low)
    assert states(record) == {"gather": "skipped"} and record.state is RunState.DONE
    assert "returned 20,000" in str(record.steps[0].reason)
    writes = "only_if = {sql = \"SELECT nextval('s')\", at_least = 1}\n"
    with duckdb.connect(str(database)) as made:
        made.execute("CREATE SEQUENCE s")
    refused = run(GATHER + writes)
    assert states(refused) == {"gather": "failed"} and "read-only" in str(refused.steps[0].reason)
    text = GATHER + "only_if = {sql = \"SELECT 'x'\", at_least = 1}\n"
    assert "must return one number" in str(run(text).steps[0].reason)
    for value in ("nan", "inf", "-inf"):
        odd = run(GATHER + f"only_if = {{sql = \"SELECT '{value}'::DOUBLE\", at_least = 1}}\n")
        assert states(odd) == {"gather": "failed"}
        assert f"returned {value}, which no bound can be compared with" in str(odd.steps[0].reason)
    assert states(run(GATHER + 'only_if = {older_than = "1h"}\n')) == {"gather": "done"}
    young = run(GATHER + 'only_if = {older_than = "1h"}\n')
    assert states(young) == {"gather": "skipped"} and "ago" in str(young.steps[0].reason)


REBUILD = '[[step]]\nname = "rebuild"\noperation = "index-rebuild"\ntable = "g"\n'


@pytest.mark.full
def test_indexes_are_rebuilt_when_they_are_large_or_have_grown(run: Runner, database: Path) -> None:
    with duckdb.connect(str(database)) as made:
        made.execute("CREATE INDEX i ON g (id)")
    small = run(REBUILD + 'only_if = {index_bytes = "1TiB"}\n')
    assert states(small) == {"rebuild": "skipped"} and "its indexes have" in str(small.steps[0].reason)
    grown = REBUILD + "only_if = {index_growth = 0.5}\n"
    assert states(run(grown)) == {"rebuild": "done"}, "it never was done"
    assert states(run(grown)) == {"rebuild": "skipped"}
    with duckdb.connect(str(database)) as made:
        made.execute("INSERT INTO g SELECT range + 1000000 FROM range(20000)")
    again = run(grown)
    assert states(again) == {"rebuild": "done"} and (again.steps[0].size_bytes or 0) > 0


def test_a_condition_that_an_engine_cannot_tell_is_refused_before_anything_begins(
    run: Runner, store: Store
) -> None:
    with pytest.raises(ToolkitError, match="duckdb does not report stale statistics"):
        run(GATHER + "only_if = {stale_tables = 1}\n")
    assert store.plan_runs() == []


@pytest.mark.full
def test_an_error_that_may_pass_is_tried_again(
    run: Runner, monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    monkeypatch.setattr(attempting, "_FIRST_WAIT_SECONDS", 0.01)
    real, calls = start, list[int]()

    def flaky(*args: object, **options: object) -> str:
        calls.append(1)
        if len(calls) < 3:
            raise ToolkitError("the server did not answer", code="TK-0201")
        return real(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(attempting, "start", flaky)
    record = run(GATHER + "retries = 2\n")
    assert (states(record), record.steps[0].tries) == ({"gather": "done"}, 3)
    calls.clear()
    assert states(run(GATHER + "retries = 1\n")) == {"gather": "failed"}


def test_a_fault_in_one_step_never_ends_the_run(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*args: object, **options: object) -> str:
        raise RuntimeError("boom")

    monkeypatch.setattr(attempting, "start", fault)
    record = run(GATHER + 'on_failure = "continue"\n', COPY + 'on_failure = "continue"\n')
    assert states(record) == {"gather": "failed", "copy": "failed"}
    assert record.steps[0].reason == "something unexpected happened: RuntimeError"


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("where", "name"),
    [
        (attempting, "start"),
        (attempting, "look_at"),
        (StepAttempt, "do"),
        (TargetRun, "run"),
        (GuardReader, "read"),
    ],
    ids=["begin", "verify", "step", "target", "guards"],
)
def test_the_text_of_an_unexpected_exception_is_neither_stored_nor_shown_and_its_traceback_is_logged(
    run: Runner, store: Store, where: object, name: str, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    def fault(*args: object, **options: object) -> None:
        raise ZeroDivisionError("postgresql://dba:tiger@db1/sales")

    monkeypatch.setattr(where, name, fault)
    caplog.set_level(logging.DEBUG, logger="toolkit")
    heard = Heard()
    record = run(GATHER, head="guards = {max_load = 1000, unreadable = 'stop', wait_at_most = 0}", events=heard)
    audit = [line.event for line in store.audit.events()]
    kept = repr((record, audit, [(event.text, event.data) for event in heard.events]))
    assert "something unexpected happened: ZeroDivisionError" in kept
    assert "tiger" not in kept
    assert "tiger" in caplog.text and "in fault" in caplog.text, "the traceback is there for `--debug`"


def test_outside_its_window_a_plan_is_refused_unless_told_otherwise(run: Runner) -> None:
    noon = datetime(2026, 1, 10, 12, tzinfo=UTC)
    with pytest.raises(ToolkitError, match="closed and opens at 2026-01-10 22:00 UTC") as caught:
        run(GATHER, head='window = "22:00-06:00 UTC"', now=lambda: noon)
    assert caught.value.exit_code == 6 and "due: `gather`" in caught.value.message
    assert states(run(GATHER, head='window = "22:00-06:00 UTC"', anytime=True)) == {"gather": "done"}


class _Opening(Windows):
    """An opening that closes so many seconds after it was first looked at."""

    def __init__(self, seconds: float) -> None:
        began = datetime.now(UTC)
        object.__setattr__(self, "each", (None,))
        object.__setattr__(self, "_span", TimeSpan(began, began + timedelta(seconds=seconds)))

    __slots__ = ("_span",)

    def now(self, instant: datetime) -> TimeSpan | None:
        return self._span if self._span.holds(instant) else None  # type: ignore[attr-defined]


def closing_in(seconds: float) -> Callable[[MaintenancePlan], MaintenancePlan]:
    return lambda plan: replace(plan, windows=_Opening(seconds))


class _Begun(Heard):
    """Lets the clock pass the end of the window as soon as a statement is about to run."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = timedelta()

    def emit(self, event: Event) -> None:
        super().emit(event)
        if event.kind == "trial-begun":
            self.ahead = timedelta(hours=2)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def closing_when_begun() -> dict[str, object]:
    """Return what closes the window as soon as a step is at work."""
    heard = _Begun()
    return {"change": closing_in(3600), "events": heard, "now": heard.now}


def test_what_runs_when_the_window_closes_is_cancelled_and_the_rest_waits_for_the_next_night(
    run: Runner, database: Path
) -> None:
    record = run(SLOW, GATHER, **closing_when_begun())
    assert states(record) == {"slow": "stopped", "gather": "stopped"}
    assert "the window closed" in str(record.stopped_by) and record.state is RunState.INTERRUPTED
    assert tables(database) == {"g"}


def test_the_next_night_goes_on_where_this_one_stopped(run: Runner, store: Store, database: Path) -> None:
    fast = SLOW.replace("FROM g a, g b, g c", "FROM g a, g b, g c SEMI JOIN g USING (id)")
    assert fast != SLOW
    first = run(SLOW, **closing_when_begun())
    begun = first.steps[0].run
    assert begun is not None and store.load_head(begun).state is not RunState.DONE
    with duckdb.connect(str(database)) as made:
        made.execute("DELETE FROM g WHERE id > 100")
    second = run(SLOW)
    assert states(second) == {"slow": "done"} and second.steps[0].run == begun
    assert second.steps[0].reason == "continued what an earlier run had begun"
    assert tables(database) == {"g", "s"}


@pytest.mark.full
def test_a_step_that_is_not_due_is_never_called_stopped_whatever_else_would_keep_it(
    run: Runner, store: Store
) -> None:
    copy, index = (each + 'only_if = {older_than = "7d"}\n' for each in (COPY, INDEX))
    whole = run(copy, index)
    assert states(whole) == {"copy": "done", "index": "done"}
    # it takes an hour, as far as is known
    for step in whole.steps:
        assert step.began_at is not None
        store.note_step(whole.plan_run, replace(step, began_at=step.began_at - timedelta(hours=1)))
    short = run(copy, index, change=closing_in(600))
    assert states(short) == {"copy": "skipped", "index": "skipped"} and short.state is RunState.DONE
    assert all("it was done" in str(step.reason) for step in short.steps)
    stopped = Stop()
    stopped.request()
    assert states(run(copy, index, stop=stopped)) == {"copy": "skipped", "index": "skipped"}
    low = COPY + 'only_if = {sql = "SELECT count(*) FROM g", at_least = 1e9}\n'
    nothing = run(low, INDEX, change=closing_in(600))
    assert states(nothing)["copy"] == "skipped", "its own condition comes before the time that is left"
    assert "returned 20,000" in str(nothing.steps[0].reason)


@pytest.mark.full
def test_of_several_objects_those_that_fit_are_done_and_the_others_in_the_next_night(
    run: Runner, store: Store, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect(str(database)) as made:
        for name in "ab":
            made.execute(f"CREATE TABLE {name} AS SELECT range AS id FROM range(10)")
    gather = '[[step]]\nname = "all"\noperation = "stats-gather"\nschema = "main"\n'
    assert states(run(gather)) == {"all": "done"}
    real = choice.slow_items
    monkeypatch.setattr(fitting, "slow_items", lambda nights: real(nights) | {"main.a": 7200.0})
    cut = run(gather, change=closing_in(3600))
    assert states(cut) == {"all": "stopped"}
    assert "1 would not have finished before the window closes: `main.a`" in str(cut.steps[0].reason)
    (trial,) = store.load_run(str(cut.steps[0].run)).trials
    assert {item.label for item in trial.items if item.outcome == "ok"} == {"main.b", "main.g"}
    ended = run(gather)
    assert states(ended) == {"all": "done"} and ended.steps[0].run == cut.steps[0].run


@pytest.mark.full
def test_a_changed_step_begins_anew_and_what_it_left_is_put_back(
    run: Runner, store: Store, database: Path
) -> None:
    begun = run(SLOW, **closing_when_begun()).steps[0].run
    changed = SLOW.replace("WHERE a.id", "WHERE a.id < 10 AND b.id < 10 AND c.id < 10 AND a.id")
    second = run(changed)
    assert states(second) == {"slow": "done"} and second.steps[0].run != begun
    assert f"of the earlier run {begun}, which the changed plan leaves: " in str(second.steps[0].reason)
    assert not store.open_entries_all()


@pytest.mark.thin(2)
@pytest.mark.parametrize("raised", [True, False])
def test_what_a_changed_step_cannot_put_back_fails_it_until_it_is_put_back(
    raised: bool, run: Runner, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(*_: object, **__: object) -> CleanReport:
        if raised:
            raise ToolkitError("its sessions cannot be ended", code="TK-0308")
        return CleanReport(left=("table `s`: DROP TABLE s",))

    begun = run(SLOW, **closing_when_begun()).steps[0].run
    changed = SLOW.replace("WHERE a.id", "WHERE a.id < 10 AND b.id < 10 AND c.id < 10 AND a.id")
    with monkeypatch.context() as broken:
        broken.setattr(attempting, "clean", unable)
        for _ in range(2):
            (step,) = (refused := run(changed)).steps
            assert (refused.state, step.state, step.run) == (RunState.FAILED, StepState.FAILED, None)
            assert f"nothing was begun; of the earlier run {begun}" in str(step.reason)
            assert ("its sessions cannot be ended" if raised else "1 left: see `dbatk clean`") in str(step.reason)
    assert tables(database) == {"g"}
    assert states(run(changed)) == {"slow": "done"}, "the next plan run undoes it"


def test_two_nights_of_one_plan_never_run_at_once(run: Runner, store: Store, database: Path) -> None:
    begun, stop = threading.Event(), Stop()

    class Listening(Heard):
        def emit(self, event: Event) -> None:
            if event.kind == "trial-begun":
                begun.set()

    first: list[PlanRunRecord] = []
    working = threading.Thread(target=lambda: first.append(run(SLOW, stop=stop, events=Listening())))
    working.start()
    assert begun.wait(300)
    lease = store.lease_of(f"plan nightly on duckdb:{database}")
    assert lease is not None
    with pytest.raises(ToolkitError, match="is working on `plan nightly on") as caught:
        run(GATHER)
    stop.request()
    working.join()
    assert caught.value.exit_code == 5
    (refused,) = [each for each in store.plan_runs() if "gather" in states(each)]
    assert states(refused) == {"gather": "stopped"} and "is working on" in str(refused.steps[0].reason)
    assert states(first[0]) == {"slow": "stopped"} and first[0].stopped_by == "the plan was stopped"
    assert store.lease_of(f"plan nightly on duckdb:{database}") is None


class _Freeing(Heard):
    """Ends the work of somebody else on the target as soon as the plan says that it waits for it."""

    def __init__(self, store: Store, lease: Lease) -> None:
        super().__init__()
        self._store, self._lease = store, lease

    def emit(self, event: Event) -> None:
        super().emit(event)
        if "is waited for" in event.text:
            self._store.release(self._lease)


def test_a_busy_target_is_waited_for_while_a_step_still_fits_into_the_window(
    run: Runner, store: Store, database: Path
) -> None:
    def busy() -> _Freeing:
        return _Freeing(store, store.acquire_lease(f"duckdb:{database}", "20261121-000000-0000"))

    heard = busy()
    record = run(COPY, change=closing_in(600), events=heard)
    assert states(record) == {"copy": "done"}
    assert [note.text.partition(":")[0] for note in record.notes] == [
        "it is busy and is waited for",
        "it was busy",
    ]
    assert states(run(GATHER, head='wait_for_target = "1h"', events=busy())) == {"gather": "done"}
    (done,) = record.steps
    assert done.began_at is not None
    store.note_step(record.plan_run, replace(done, began_at=done.began_at - timedelta(hours=1)))
    busy()
    never: tuple[tuple[str, dict[str, object]], ...] = (
        (GATHER, {}),
        (GATHER, {"change": closing_in(600), "head": "wait_for_target = false"}),
        (COPY, {"change": closing_in(600)}),
    )
    for step, options in never:
        with pytest.raises(ToolkitError, match="is working on"):
            run(step, **options)


@pytest.mark.parametrize(("of_plan", "code"), [(False, "TK-0310"), (True, "TK-0302")])
def test_a_holder_on_another_host_is_waited_for_no_longer_than_the_window(
    of_plan: bool, code: str, run: Runner, store: Store, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, heard = f"duckdb:{database}", _Begun()

    def seen(holder: Holder, first: Holder | None) -> bool:
        heard.ahead = timedelta(hours=2)
        return False

    store.acquire_lease(f"plan nightly on {name}" if of_plan else name, "20261121-000000-0000")
    with sqlite3.connect(database.parent / "store.sqlite") as beside:
        beside.execute("UPDATE lease SET host = 'far'")
    monkeypatch.setattr(lease, "known_alive", seen)
    with pytest.raises(ToolkitError, match="is working on") as caught:
        run(GATHER, change=closing_in(3600), events=heard, now=heard.now)
    assert caught.value.code == code
    (record,) = store.plan_runs()
    assert states(record) == {"gather": "stopped"} and "on `far`" in str(record.steps[0].reason)


@pytest.mark.full
def test_steps_work_at_once_within_the_budget(run: Runner) -> None:
    others = [GATHER.replace('"gather"', f'"g{n}"') for n in range(3)]
    record = run(*others, head="concurrency = 3\nmax_degree = 2")
    assert set(states(record).values()) == {"done"}
    spans = sorted((step.began_at, step.ended_at) for step in record.steps if step.began_at and step.ended_at)
    assert spans[2][0] >= min(end for _, end in spans[:2]), "a third degree would be above the budget"


@pytest.mark.full
def test_the_best_level_of_a_measurement_is_taken(run: Runner, store: Store, database: Path) -> None:
    from toolkit.app.targets import find_target
    from toolkit.model.experiment import Experiment
    from toolkit.model.values import Factor
    from toolkit.model.words import Mode

    resolved = find_target(f"duckdb:///{database}")
    measured = Experiment(
        f"duckdb:///{database}", "ctas", {"source": "g", "table": "m"}, (Factor("degree", (2,)),),
        Mode.MEASUREMENT, repeat=1, seed=1, label="sweep",
    )  # fmt: skip
    start(measured, resolved.target, store=store, approvals=Approvals(), events=Heard())
    resolved.target.close()
    record = run(COPY + 'degree = {best_of = "sweep"}\n')
    (child,) = store.children_of(record.plan_run)
    assert child.experiment.factors[0].levels == (2,)
    with pytest.raises(ToolkitError, match=r"step `gather` on .*measured ctas, not stats-gather"):
        run(GATHER + 'degree = {best_of = "sweep"}\n')
    with pytest.raises(ToolkitError, match="no run is named `never`"):
        run(COPY + 'degree = {best_of = "never"}\n')


SWEPT = {1: [10.0, 10.1, 10.2], 2: [5.0, 5.1, 5.2], 4: [4.99, 5.09, 5.19], 8: [2.0, 2.1, 2.2]}


def test_what_a_measurement_recommends_is_taken_and_not_the_best_median(store: Store) -> None:
    """The best median is that of a downgraded one, the next that of a degree that is shown to be no better."""
    swept = sweep(dict(SWEPT), label="sweep")
    less = replace(swept.trials[-1], outcome=Outcome.DOWNGRADED, reason="got 2")
    put(store, replace(swept, trials=(*swept.trials[:-1], less)))
    put(store, sweep({1: [10.0, 4.0, 16.2], 2: [5.0, 15.1, 9.2], 4: [9, 5, 11]}, label="noisy", run="20261121-1"))
    step = PlanStep("copy", "ctas", best_of={"degree": "sweep"})
    assert _best_levels(step, store) == {"degree": 2}
    with pytest.raises(ToolkitError, match="recommends no level of `degree`: this run is inconclusive") as refused:
        _best_levels(replace(step, best_of={"degree": "noisy"}), store)
    assert "`dbatk advise noisy`" in refused.value.hint


def test_more_degrees_than_the_plan_has_are_refused_before_anything_begins(run: Runner, store: Store) -> None:
    with pytest.raises(ToolkitError, match="needs 8 degrees, but the plan allows 4"):
        run(COPY + "degree = 8\n", head="max_degree = 4")
    assert store.plan_runs() == []


def test_a_target_that_is_not_there_is_named_before_anything_begins(run: Runner, store: Store) -> None:
    with pytest.raises(ToolkitError, match="unknown target `nowhere`"):
        run(GATHER + 'target = "nowhere"\n')
    with pytest.raises(ToolkitError, match="no target matches `erp"):
        run(GATHER + 'target = "erp*"\n')
    assert store.plan_runs() == []


@pytest.mark.full
def test_a_step_that_became_unreachable_says_so_and_others_go_on(run: Runner, store: Store) -> None:
    elsewhere = GATHER.replace("gather", "away", 1) + 'target = "postgresql://me@127.0.0.1:1/x"\n'
    approving = elsewhere + 'on_failure = "continue"\n'
    record = run(approving, GATHER)
    assert states(record)["gather"] == "done" and states(record)["away"] == "failed"
    assert record.state is RunState.FAILED
    assert StepState.WAITING.value not in states(record).values()


def test_what_a_step_took_does_not_tell_of_a_clock_that_was_set(run: Runner) -> None:
    ahead = [timedelta()]

    def now() -> datetime:
        ahead[0] += timedelta(days=1)
        return datetime.now(UTC) + ahead[0]

    took = run(GATHER, now=now).steps[0].elapsed_seconds
    assert took is not None and 0 < took < 3600
