"""The whole run around scripted trials: what is left to do, what ends it early, what a resume leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.runner.context import Mode, context_of, warnings_of
from tests.runner.world import DIALECT, KEY, RUN, World, create, refused, table
from tests.store.make import BEGAN, experiment, head
from toolkit.errors import ToolkitError
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import AfterSweep, DatabaseError
from toolkit.model.records import ItemRecord, Metric, TrialRecord
from toolkit.model.steps import Stages, Step, Timed, TimedItem
from toolkit.model.values import Cell, Support
from toolkit.model.words import Keep, Outcome, RunState, SupportState
from toolkit.operations.base import Planner
from toolkit.runner import sweep
from toolkit.runner.context import BackgroundLoad, PlanningContext, RunContext
from toolkit.runner.leftovers import note_completed, noted_before
from toolkit.runner.sweep import Sweep
from toolkit.runner.todo import SweepProgress, missing, worth_repeating
from toolkit.runner.trial import EndedTrial
from toolkit.store import Store, open_store

ONE, TWO, FOUR = (Cell((("degree", level),)) for level in (1, 2, 4))
NO = Support(SupportState.UNSUPPORTED, "not here")
YES = Support(SupportState.SUPPORTED)
STAGES = Stages(Timed((TimedItem("a", (create(table()),)), TimedItem("b", ())), 2))


def planned(*cells: Cell) -> tuple[PlannedTrial, ...]:
    return tuple(PlannedTrial(number, cell, number - 1) for number, cell in enumerate(cells, 1))


def record(of: PlannedTrial, outcome: Outcome = Outcome.OK, **fields: object) -> TrialRecord:
    made = TrialRecord(
        of.number, 1, of.cell, of.repeat, outcome, BEGAN, BEGAN + timedelta(seconds=10 * of.number),
        elapsed_seconds=1.0 if outcome is Outcome.OK else None, reason=None if outcome is Outcome.OK else "why",
    )  # fmt: skip
    return replace(made, **fields)  # type: ignore[arg-type]


class ClosableWorld(World):
    closed = 0
    lost_for = 0

    def close(self) -> None:
        self.closed += 1

    def get(self, *asked: object) -> object:
        if self.lost_for > 0:
            self.lost_for -= 1
            raise DatabaseError("ORA-12541: no listener", code="ORA-12541", lost=True)
        return super().get(*asked)  # type: ignore[arg-type]


@dataclass
class Rig:
    """A sweep whose trials end as they are told to."""

    kept: Store
    world: ClosableWorld = field(default_factory=ClosableWorld)
    ends: Callable[[PlannedTrial], EndedTrial] = lambda of: EndedTrial(record(of))
    supports: Callable[[Cell], Support] = lambda _: YES
    stages: Stages = STAGES
    ran: list[tuple[int, tuple[str, ...], int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    expected: list[float | None] = field(default_factory=list)
    orphans: list[tuple[object, ...]] = field(default_factory=list)

    def context(self, attempt: int = 1, **fields: object) -> RunContext:
        made = context_of(self.world, self.kept, **fields)
        made.attempt = attempt
        return made

    def run(
        self, plan: Sequence[PlannedTrial], done: Sequence[TrialRecord] = (), context: RunContext | None = None
    ) -> tuple[RunState, RunContext]:
        used = context or self.context()
        return Sweep(used, plan, done).run(), used


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        made = Rig(opened)

        def trial(
            context: RunContext, of: PlannedTrial, attempt: int, pieces: object, stages: Stages,
            durable: Callable[[ItemRecord], None],
        ) -> EndedTrial:  # fmt: skip
            made.ran.append((of.number, tuple(item.label for item in stages.timed.items), stages.timed.workers))
            for item in stages.timed.items:
                durable([ItemRecord(item.label, Outcome.OK, 0.5)])
            ended = made.ends(of)
            return replace(ended, record=replace(ended.record, attempt=attempt))

        def pieces(planner: Planner, cell: Cell) -> tuple[SimpleNamespace, ...]:
            return (SimpleNamespace(label="a", cell=cell), SimpleNamespace(label="b", cell=cell))

        def plan(planner: Planner, cell: Cell) -> Stages:
            made.names.append(planner.naming.trial_object())
            return made.stages

        operation = SimpleNamespace(pieces=pieces, plan=plan, uses=())
        monkeypatch.setattr(RunContext, "operation", property(lambda _: operation))
        monkeypatch.setattr(sweep, "run_trial", trial)
        monkeypatch.setattr(PlanningContext, "support_for", lambda _, cell: made.supports(cell))
        monkeypatch.setattr(sweep, "bracketed", lambda _: nullcontext())
        monkeypatch.setattr(sweep, "learn_refusals", lambda *_: made.asked.append(1))
        monkeypatch.setattr(sweep, "prove_at_end", lambda *_: None)
        monkeypatch.setattr(sweep, "wait_for_calm", lambda _: None)
        monkeypatch.setattr(sweep, "expect", lambda _, seconds: made.expected.append(seconds))
        monkeypatch.setattr(
            sweep,
            "end_orphaned_sessions",
            lambda target, dialect, run, _, timeouts: made.orphans.append((target, dialect, run, timeouts)),
        )
        monkeypatch.setattr("toolkit.runner.stop.Stop.wait", lambda _, seconds: bool(made.waited.append(seconds)))
        yield made


# -- what is left to do -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("mode", "again"),
    [(Mode.MEASUREMENT, {Outcome.INTERRUPTED}), (Mode.JOB, {Outcome.INTERRUPTED, Outcome.FAILED})],
)
def test_only_what_has_no_end_is_still_to_be_done(mode: Mode, again: set[Outcome]) -> None:
    plan = planned(*[ONE] * len(Outcome), TWO)
    done = [record(each, outcome) for each, outcome in zip(plan, Outcome, strict=False)]
    wanted = [each for each, outcome in zip(plan, Outcome, strict=False) if outcome in again] + [plan[-1]]
    assert missing(plan, done, mode) == tuple(wanted)


def test_a_trial_that_was_interrupted_and_then_ended_is_done() -> None:
    plan = planned(ONE)
    assert missing(plan, [record(plan[0], Outcome.INTERRUPTED), record(plan[0])], Mode.MEASUREMENT) == ()


def test_the_time_to_come_is_the_sum_of_the_middle_times_of_the_cells() -> None:
    progress = SweepProgress(5)
    for cell, seconds in ((ONE, 9.0), (ONE, 1.0), (ONE, 2.0), (TWO, 4.0)):
        progress.note(cell, seconds)
    assert progress.ended == 4
    assert progress.expect([ONE, TWO, ONE]) == 2.0 + 4.0 + 2.0
    assert progress.expect([ONE, FOUR]) is None
    assert progress.expect([]) == 0.0


# -- a run from its beginning to its end --------------------------------------------------------------------------
def test_every_trial_runs_once_in_its_order_and_the_run_is_closed(rig: Rig) -> None:
    state, context = rig.run(planned(ONE, TWO, ONE))
    assert state is RunState.DONE
    assert [number for number, _, _ in rig.ran] == [1, 2, 3]
    assert rig.names == [f"DBATK_{KEY}_{number}" for number in (1, 2, 3)]
    assert rig.world.closed == 1
    kept = rig.kept.load_run(RUN)
    assert kept.head.state is RunState.DONE
    assert [(trial.trial, trial.outcome) for trial in kept.trials] == [(n, Outcome.OK) for n in (1, 2, 3)]
    assert rig.kept.unended_trials(RUN) == ()
    assert rig.asked == [1]
    assert warnings_of(context) == []


def test_nothing_left_to_do_is_done_without_a_statement(rig: Rig) -> None:
    plan = planned(ONE, TWO)
    state, _ = rig.run(plan, [record(each) for each in plan])
    assert (state, rig.ran, rig.world.sent, rig.asked) == (RunState.DONE, [], [], [])
    assert rig.kept.load_run(RUN).head.state is RunState.DONE


def test_what_is_announced_counts_what_was_done_before(rig: Rig) -> None:
    plan = planned(ONE, ONE, TWO)
    _, context = rig.run(plan, [record(plan[0])])
    events = context.events.events  # type: ignore[attr-defined]
    begun = [event.data for event in events if event.kind == "trial-begun"]
    ended = [event.data for event in events if event.kind == "trial-ended"]
    assert begun[0] == {"ended": 1, "total": 3, "cell": "degree=1", "repeat": 1, "run": RUN, "trial": 2}
    assert [(data["ended"], data["total"], data["eta_seconds"]) for data in ended] == [(2, 3, None), (3, 3, 0.0)]
    assert (ended[0]["outcome"], ended[0]["elapsed_seconds"], ended[0]["trial"]) == ("ok", 1.0, 2)
    assert [event.text for event in events if event.kind.startswith("trial")] == [
        "degree=1 repeat 1", "degree=1: ok", "degree=2 repeat 2", "degree=2: ok",
    ]  # fmt: skip


def test_the_first_trials_are_announced_as_warm_ups(rig: Rig) -> None:
    _, context = rig.run(planned(ONE))
    assert context.events.texts("trial-begun") == ["degree=1 warm-up"]  # type: ignore[attr-defined]


def test_snapshots_expect_what_the_cell_took_before(rig: Rig) -> None:
    rig.run(planned(ONE, TWO, ONE))
    assert rig.expected == [None, None, 10.0]


def test_the_remaining_time_is_told_once_all_cells_that_are_left_were_seen(rig: Rig) -> None:
    _, context = rig.run(planned(ONE, ONE, ONE))
    ended = [event.data for event in context.events.events if event.kind == "trial-ended"]  # type: ignore[attr-defined]
    assert [data["eta_seconds"] for data in ended] == [2 * 10.0, 20.0, 0.0]


def test_setup_is_made_once_and_the_source_is_looked_at(rig: Rig) -> None:
    has_rows = Step("has_rows", "SELECT 1", keep_as="has_rows")
    rig.world.answers["SELECT 1"] = ({"has_rows": 1},)
    rig.stages = replace(STAGES, setup=(create(table(f"DBATK_{KEY}_S")), has_rows))
    state, context = rig.run(planned(ONE, TWO))
    assert state is RunState.DONE
    assert context.source_has_rows is True
    assert rig.world.sent == [f"CREATE APP.DBATK_{KEY}_S", "SELECT 1", f'DROP TABLE "APP"."DBATK_{KEY}_S" PURGE']
    assert context.events.texts("setup") == ["creating what the trials need"]  # type: ignore[attr-defined]


def test_a_setup_that_only_reads_is_not_announced(rig: Rig) -> None:
    rig.stages = replace(STAGES, setup=(Step("has_rows", "SELECT 1", keep_as="has_rows"),))
    _, context = rig.run(planned(ONE))
    assert context.source_has_rows is False
    assert context.events.texts("setup") == []  # type: ignore[attr-defined]


# -- cells that cannot be had -------------------------------------------------------------------------------------
def test_a_cell_that_cannot_be_had_is_recorded_once_and_not_tried_again(rig: Rig) -> None:
    rig.supports = lambda cell: NO if cell == ONE else YES
    state, context = rig.run(planned(ONE, TWO, ONE, TWO))
    assert state is RunState.DONE
    assert [number for number, _, _ in rig.ran] == [2, 4]
    trials = rig.kept.load_run(RUN).trials
    assert [(trial.trial, trial.outcome, trial.reason) for trial in trials] == [
        (1, Outcome.UNSUPPORTED, "not here"), (2, Outcome.OK, None), (4, Outcome.OK, None),
    ]  # fmt: skip
    assert trials[0].requested_degree == 1
    ended = [event.data for event in context.events.events if event.kind == "trial-ended"]  # type: ignore[attr-defined]
    assert [data["total"] for data in ended] == [4, 4, 3]
    assert ended[1]["eta_seconds"] == 20.0, "the trial that is left out takes no time"


def test_a_cell_that_an_earlier_attempt_could_not_have_is_not_tried_again(rig: Rig) -> None:
    plan = planned(ONE, TWO, ONE)
    state, _ = rig.run(plan, [record(plan[0], Outcome.UNSUPPORTED)])
    assert (state, [number for number, _, _ in rig.ran]) == (RunState.DONE, [2])


def test_without_any_cell_that_can_be_had_nothing_is_set_up(rig: Rig) -> None:
    rig.supports = lambda _: NO
    rig.stages = replace(STAGES, setup=(create(table()),))
    state, _ = rig.run(planned(ONE, TWO))
    assert (state, rig.world.sent, rig.names) == (RunState.DONE, [], [])


# -- trials that tell nothing -------------------------------------------------------------------------------------
FULL = "ORA-01653"


def failing_first(times: int, code: str = FULL) -> Callable[[PlannedTrial], EndedTrial]:
    """Let the first executions fail of something that is no configuration's doing."""
    left = [code] * times

    def ends(of: PlannedTrial) -> EndedTrial:
        if not left:
            return EndedTrial(record(of))
        return EndedTrial(replace(record(of, Outcome.FAILED), error_code=left.pop(), reason="no room"))

    return ends


def test_what_failed_of_an_outside_cause_is_repeated_once_at_the_end(rig: Rig) -> None:
    rig.ends = failing_first(2)
    state, context = rig.run(planned(ONE, TWO, ONE))
    assert (state, [number for number, _, _ in rig.ran]) == (RunState.DONE, [1, 2, 3, 1, 2])
    assert len(set(rig.names)) == len(rig.names), "no name is used twice"
    trials = rig.kept.load_run(RUN).trials
    assert [(each.trial, each.attempt, each.outcome.value) for each in trials if each.trial < 3] == [
        (1, 1, "failed"), (2, 1, "failed"), (1, 2, "ok"), (2, 2, "ok"),
    ]  # fmt: skip
    assert warnings_of(context) == ["2 trials failed for a cause outside of what was tried; repeated once now"]


def test_a_cause_that_is_still_there_ends_the_run_as_failed(rig: Rig) -> None:
    rig.ends = failing_first(99)
    state, context = rig.run(planned(ONE, TWO, ONE))
    assert (state, [number for number, _, _ in rig.ran]) == (RunState.FAILED, [1, 2, 3, 1])
    assert "`dbatk runs resume" in warnings_of(context)[-1]
    assert warnings_of(context)[-1].endswith("repeats 3 trials")


def test_a_trial_that_failed_by_itself_is_a_result(rig: Rig) -> None:
    rig.ends = failing_first(1, "ORA-00439")
    state, _ = rig.run(planned(ONE, TWO))
    assert (state, [number for number, _, _ in rig.ran]) == (RunState.DONE, [1, 2])


@pytest.mark.parametrize(("every", "wanted"), [(False, [1, 3]), (True, [1, 2, 3])])
def test_a_resume_repeats_what_failed_in_vain_and_all_that_failed_when_asked(
    every: bool, wanted: list[int]
) -> None:
    plan = planned(ONE, TWO, ONE, TWO)
    codes = (FULL, "ORA-00439", "ORA-00942", None)
    done = [
        replace(record(each, Outcome.FAILED if code else Outcome.OK), error_code=code)
        for each, code in zip(plan, codes, strict=True)
    ]
    left = missing(plan, done, Mode.MEASUREMENT, partial(worth_repeating, DIALECT, every=every))
    assert [each.number for each in left] == wanted


# -- what ends a run early ----------------------------------------------------------------------------------------
def test_an_interrupted_trial_ends_the_run_there(rig: Rig) -> None:
    rig.ends = lambda of: EndedTrial(record(of, Outcome.INTERRUPTED if of.number == 2 else Outcome.OK))
    state, _ = rig.run(planned(ONE, ONE, ONE))
    assert (state, [number for number, _, _ in rig.ran]) == (RunState.INTERRUPTED, [1, 2])
    assert rig.kept.load_run(RUN).head.state is RunState.INTERRUPTED


def test_a_stop_between_trials_begins_no_other(rig: Rig) -> None:
    context = rig.context()

    def ends(of: PlannedTrial) -> EndedTrial:
        context.stop.request()
        return EndedTrial(record(of))

    rig.ends = ends
    state, _ = rig.run(planned(ONE, ONE), context=context)
    assert (state, len(rig.ran)) == (RunState.INTERRUPTED, 1)


def test_a_stop_while_waiting_for_calm_begins_none(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "wait_for_calm", lambda context: context.stop.request())
    state, _ = rig.run(planned(ONE))
    assert (state, rig.ran) == (RunState.INTERRUPTED, [])


@pytest.mark.parametrize(("budget", "trials"), [(None, 3), (1000.0, 3), (25.0, 2), (15.0, 1)])
def test_no_trial_begins_that_the_budget_does_not_hold(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, budget: float | None, trials: int
) -> None:
    monkeypatch.setattr(SweepProgress, "spent", property(lambda self: 10.0 * self.ended))
    rig.ends = lambda of: EndedTrial(record(of, ended_at=BEGAN + timedelta(seconds=10)))
    state, context = rig.run(planned(ONE, ONE, ONE), context=rig.context(budget_seconds=budget))
    assert len(rig.ran) == trials
    assert state is (RunState.DONE if trials == 3 else RunState.INTERRUPTED)
    resume = f"dbatk runs resume {context.run} --store {context.store.place}"
    words = [f"the budget of {budget:.1f} s is used up; `{resume}` continues"] if trials < 3 else []
    assert warnings_of(context) == words


def test_a_run_stops_before_the_trial_that_would_find_no_room(rig: Rig) -> None:
    context = rig.context()
    context.barred = lambda trial: "no room" if trial.number > 1 else None
    state, _ = rig.run(planned(ONE, ONE), context=context)
    assert (state, len(rig.ran)) == (RunState.INTERRUPTED, 1)
    assert warnings_of(context) == [f"no room; then `{context.store.resume_command(context.run)}`"]


def sweeps(repeats: int, *cells: Cell) -> tuple[PlannedTrial, ...]:
    """A warm-up sweep and so many others."""
    trials = [(cell, repeat) for repeat in range(repeats + 1) for cell in cells]
    return tuple(PlannedTrial(number, cell, repeat) for number, (cell, repeat) in enumerate(trials, 1))


def test_a_run_ends_after_the_sweep_that_settles_it_and_leaves_out_what_was_given_up(rig: Rig) -> None:
    asked: list[int] = []

    def stopping(sweep: int, load: Callable[[], object]) -> AfterSweep:
        asked.append(sweep)
        return {2: AfterSweep("", frozenset({TWO})), 4: AfterSweep("it is known")}.get(sweep, AfterSweep())

    context = rig.context()
    context.stopping = stopping
    state, _ = rig.run(sweeps(6, ONE, TWO, FOUR), context=context)
    assert (state, asked) == (RunState.DONE, [-1, 0, 1, 2, 3, 4])
    assert [number for number, _, _ in rig.ran] == [*range(1, 10), 10, 12, 13, 15]


def test_each_sweep_runs_only_what_it_is_told_to(rig: Rig) -> None:
    told = {-1: {TWO}, 0: {ONE, FOUR}, 1: {FOUR, TWO}}

    def stopping(sweep: int, load: Callable[[], object]) -> AfterSweep:
        return AfterSweep(cells=frozenset(told[sweep])) if sweep in told else AfterSweep("it is found")

    context = rig.context()
    context.stopping = stopping
    state, _ = rig.run(sweeps(6, ONE, TWO, FOUR), context=context)
    assert (state, [number for number, _, _ in rig.ran]) == (RunState.DONE, [2, 4, 6, 8, 9])


def test_a_configuration_that_was_not_seen_is_taken_to_last_as_long_as_the_longest(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SweepProgress, "spent", property(lambda self: 10.0 * self.ended))
    rig.ends = lambda of: EndedTrial(record(of, ended_at=BEGAN + timedelta(seconds=10)))
    context = rig.context(budget_seconds=35.0)
    context.stopping = lambda sweep, load: AfterSweep(cells=frozenset({ONE} if sweep < 1 else {TWO, FOUR}))
    state, _ = rig.run(sweeps(6, ONE, TWO, FOUR), context=context)
    assert (state, len(rig.ran)) == (RunState.DONE, 2)


def test_a_sweep_that_the_budget_does_not_hold_ends_a_run_that_looks_as_done(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SweepProgress, "spent", property(lambda self: 10.0 * self.ended))
    rig.ends = lambda of: EndedTrial(record(of, ended_at=BEGAN + timedelta(seconds=10)))
    context = rig.context(budget_seconds=75.0)
    context.stopping = lambda sweep, load: AfterSweep()
    state, _ = rig.run(sweeps(6, ONE, TWO), context=context)
    assert (state, len(rig.ran)) == (RunState.DONE, 6)
    assert warnings_of(context) == []
    assert "the budget of 75.0 s has no room for another sweep" in context.events.texts("sweep-ended")  # type: ignore[attr-defined]


def failing(code: str, *numbers: int) -> Callable[[PlannedTrial], EndedTrial]:
    def ends(of: PlannedTrial) -> EndedTrial:
        bad = of.number in numbers
        return EndedTrial(record(of, Outcome.FAILED, error_code=code) if bad else record(of))

    return ends


def test_a_run_ends_when_two_cells_meet_what_no_cell_can_help(rig: Rig) -> None:
    rig.ends = failing("ORA-01031", 1, 2, 3, 4)
    state, context = rig.run(planned(ONE, ONE, TWO, FOUR))
    assert (state, [number for number, _, _ in rig.ran]) == (RunState.FAILED, [1, 2, 3])
    (warning,) = warnings_of(context)
    assert warning.startswith("every trial would fail alike (ORA-01031: ")


def test_two_cells_that_meet_different_things_do_not_end_a_run(rig: Rig) -> None:
    codes = {1: "ORA-01031", 2: "ORA-00942"}
    rig.ends = lambda of: failing(codes.get(of.number, ""), *codes)(of)
    state, _ = rig.run(planned(ONE, TWO, FOUR))
    assert (state, len(rig.ran)) == (RunState.DONE, 3)


def test_a_run_ends_when_two_cells_lack_the_metric_that_was_chosen(rig: Rig) -> None:
    names = {1: "cpu_second", 2: "cpu_second", 3: "lock_waits", 4: "cpu_seconds"}
    rig.ends = lambda of: EndedTrial(record(of, metrics=(Metric(names[of.number], 1.0, "s", "osstat"),)))
    state, context = rig.run(planned(ONE, ONE, TWO, FOUR), context=rig.context(judge="cpu_secconds:lower"))
    assert (state, [number for number, _, _ in rig.ran]) == (RunState.FAILED, [1, 2, 3])
    (warning,) = warnings_of(context)
    assert warning == (
        "no trial has a value of `cpu_secconds`, by which the run is judged (did you mean `cpu_second`?); the "
        "run ends here"
    )


@pytest.mark.parametrize("judge", ["cpu_seconds:lower", "elapsed", "", "now_and_then:higher"])
def test_a_metric_that_some_trial_has_lets_the_run_go_on(rig: Rig, judge: str) -> None:
    rare = (Metric("cpu_seconds", 1.0, "s", "osstat"), Metric("now_and_then", 1.0, "", "osstat"))
    rig.ends = lambda of: EndedTrial(record(of, metrics=rare[: 2 if of.number == 2 else 1]))
    state, _ = rig.run(planned(ONE, TWO, FOUR, ONE), context=rig.context(judge=judge))
    assert (state, len(rig.ran)) == (RunState.DONE, 4)


def test_the_only_cell_is_enough_to_end_a_run(rig: Rig) -> None:
    rig.ends = failing("ORA-01031", 1, 2)
    state, _ = rig.run(planned(ONE, ONE))
    assert (state, len(rig.ran)) == (RunState.FAILED, 1)


def test_the_last_trial_ends_a_run_as_every_run_ends(rig: Rig) -> None:
    rig.ends = failing("ORA-01031", 1)
    state, context = rig.run(planned(ONE))
    assert (state, warnings_of(context)) == (RunState.DONE, [])


@pytest.mark.parametrize("code", ["ORA-00942x", None])
def test_an_error_that_another_trial_may_not_meet_lets_the_run_go_on(rig: Rig, code: str | None) -> None:
    rig.ends = failing(code, 1, 2, 3)  # type: ignore[arg-type]
    state, _ = rig.run(planned(ONE, TWO, FOUR))
    assert (state, len(rig.ran)) == (RunState.DONE, 3)


# -- again --------------------------------------------------------------------------------------------------------
def test_each_attempt_numbers_its_objects_beyond_those_of_the_attempts_before(rig: Rig) -> None:
    for attempt in (1, 2, 3):
        rig.names.clear()
        rig.run(planned(ONE, TWO), context=rig.context(attempt))
        begin = 4 * (attempt - 1)
        assert rig.names == [f"DBATK_{KEY}_{begin + number}" for number in (1, 2)]


def test_a_degree_that_could_not_be_had_at_once_is_tried_once_more_under_another_name(rig: Rig) -> None:
    rig.ends = lambda of: EndedTrial(
        record(of, Outcome.DOWNGRADED) if len(rig.ran) == 1 else record(of, Outcome.OK)
    )
    rig.run(planned(ONE, TWO))
    assert [number for number, _, _ in rig.ran] == [1, 1, 2]
    assert rig.names == [f"DBATK_{KEY}_{number}" for number in (1, 3, 2)]
    assert [trial.outcome for trial in rig.kept.load_run(RUN).trials] == [Outcome.OK, Outcome.OK]


def test_a_downgrade_that_was_measured_is_a_result(rig: Rig) -> None:
    rig.ends = lambda of: EndedTrial(record(of, Outcome.DOWNGRADED, elapsed_seconds=3.0))
    rig.run(planned(ONE))
    assert len(rig.ran) == 1


def job(rig: Rig, attempt: int) -> RunContext:
    return rig.context(attempt, mode=Mode.JOB)


def done_before(rig: Rig, *labels: str) -> None:
    of = planned(ONE)[0]
    rig.kept.begin_trial(RUN, 1, 1, ONE, 0, BEGAN)
    for label in labels:
        rig.kept.add_items(RUN, 1, 1, [ItemRecord(label, Outcome.OK, 2.5, rows=7)])
    rig.kept.add_items(RUN, 1, 1, [ItemRecord("failed", Outcome.FAILED, reason="no space")])
    rig.kept.end_trial(RUN, record(of, Outcome.INTERRUPTED))


def test_the_items_of_a_job_are_kept_as_they_end(rig: Rig) -> None:
    _, context = rig.run(planned(ONE), context=job(rig, 1))
    assert [item.label for item in rig.kept.items_of(RUN, 1)] == ["a", "b"]
    assert context.events.texts("progress") == ["a", "b"]  # type: ignore[attr-defined]
    assert rig.asked == [], "a job learns nothing on the way"


def test_the_items_of_a_measurement_are_not(rig: Rig) -> None:
    _, context = rig.run(planned(ONE))
    assert rig.kept.items_of(RUN, 1) == ()
    assert context.events.texts("progress") == []  # type: ignore[attr-defined]


def test_a_resumed_job_leaves_out_the_items_that_were_done(rig: Rig) -> None:
    done_before(rig, "a")
    rig.run(planned(ONE), context=job(rig, 2))
    assert rig.ran == [(1, ("b",), 1)]


def test_a_resumed_measurement_does_everything_again(rig: Rig) -> None:
    done_before(rig, "a")
    rig.run(planned(ONE), context=rig.context(2))
    assert rig.ran == [(1, ("a", "b"), 2)]


@pytest.mark.parametrize("support", [YES, NO])
def test_a_job_whose_items_were_all_done_runs_nothing_and_is_ok(rig: Rig, support: Support) -> None:
    done_before(rig, "a", "b")
    rig.supports = lambda _: support
    state, _ = rig.run(planned(ONE), context=job(rig, 2))
    (last,) = [trial for trial in rig.kept.load_run(RUN).trials if trial.attempt == 2]
    assert (state, rig.ran) == (RunState.DONE, [])
    assert (last.outcome, last.rows, last.elapsed_seconds) == (Outcome.OK, 14, None)
    assert last.reason == "all 2 items had been done before the interruption"


def test_a_job_of_one_item_keeps_its_time(rig: Rig) -> None:
    done_before(rig, "a")
    rig.stages = Stages(Timed((TimedItem("a", ()),)))
    rig.run(planned(ONE), context=job(rig, 2))
    (last,) = [trial for trial in rig.kept.load_run(RUN).trials if trial.attempt == 2]
    assert (last.elapsed_seconds, last.rows) == (2.5, 7)
    assert last.reason == "it had been done before the interruption"


def test_what_the_database_said_in_full_is_kept_beside_the_trial(rig: Rig) -> None:
    rig.ends = lambda of: EndedTrial(record(of, Outcome.FAILED), errors="ORA-1\nORA-2" if of.number == 1 else "")
    rig.run(planned(ONE, TWO), context=rig.context(2))
    found = rig.kept.load_artifact(RUN, "errors-1-2.txt", 1)
    assert found is not None and (found.content, found.media_type) == (b"ORA-1\nORA-2", "text/plain")
    assert rig.kept.load_artifact(RUN, "errors-2-2.txt", 2) is None


# -- when things break --------------------------------------------------------------------------------------------
def lost(rig: Rig, tries: int) -> None:
    def ends(of: PlannedTrial) -> EndedTrial:
        if of.number == 1:
            rig.world.lost_for = tries
        return EndedTrial(record(of, Outcome.FAILED), lost=of.number == 1)

    rig.ends = ends


@pytest.mark.parametrize("tries", [0, 1, 4])
def test_a_lost_server_is_waited_for_and_the_run_goes_on(rig: Rig, tries: int) -> None:
    lost(rig, tries)
    state, context = rig.run(planned(ONE, ONE))
    assert (state, len(rig.ran)) == (RunState.DONE, 2)
    assert rig.waited == [0.2, 1.0, 3.0, 10.0, 20.0][: tries + 1]
    assert rig.orphans == [(context.target, context.dialect, RUN, context.sessions.timeouts)] * (tries + 1)
    assert warnings_of(context) == ["the connection was lost in trial 1 and restored"]


def test_a_server_that_does_not_come_back_ends_the_run_which_can_be_resumed(rig: Rig) -> None:
    lost(rig, 5)
    with pytest.raises(ToolkitError) as caught:
        rig.run(planned(ONE, ONE))
    assert caught.value.code == "TK-0202"
    assert caught.value.message == "the server did not come back after trial 1: ORA-12541: no listener"
    assert caught.value.hint == f"`dbatk runs resume {RUN} --store {rig.kept.place}` when it is back"
    assert len(rig.waited) == 5
    assert rig.kept.load_run(RUN).head.state is RunState.INTERRUPTED


def test_what_a_lost_trial_made_is_dropped_before_the_next(rig: Rig) -> None:
    def ends(of: PlannedTrial) -> EndedTrial:
        if of.number == 1:
            context.changes.run([create(table())], 1)
        return EndedTrial(record(of, Outcome.FAILED), lost=of.number == 1)

    context = rig.context()
    rig.ends = ends
    rig.run(planned(ONE, ONE), context=context)
    assert rig.world.sent == [f"CREATE APP.DBATK_{KEY}_1", f'DROP TABLE "APP"."DBATK_{KEY}_1" PURGE']


def test_what_cannot_be_dropped_at_the_end_is_told(rig: Rig) -> None:
    rig.stages = replace(STAGES, setup=(create(table()),))
    rig.world.fail["DROP TABLE"] = refused()
    state, context = rig.run(planned(ONE))
    assert state is RunState.DONE
    drop = f'DROP TABLE "APP"."DBATK_{KEY}_1" PURGE;'
    said = f"table `APP.DBATK_{KEY}_1`: ORA-01031: insufficient privileges; to undo it by hand, run: {drop}"
    assert warnings_of(context) == [said]


def test_a_cleanup_that_cannot_run_is_told_and_the_run_still_ends(rig: Rig) -> None:
    rig.stages = replace(STAGES, setup=(create(table()),))
    rig.world.fail["DROP TABLE"] = DatabaseError("ORA-03113: end-of-file", code="ORA-03113", lost=True)
    _, context = rig.run(planned(ONE))
    assert warnings_of(context) == ["cleanup could not run (ORA-03113: end-of-file); run `dbatk clean`"]
    assert rig.kept.load_run(RUN).head.state is RunState.DONE


def test_a_run_that_another_process_took_over_undoes_and_ends_nothing(rig: Rig) -> None:
    context = rig.context()

    def ends(of: PlannedTrial) -> EndedTrial:
        context.stop.request(ToolkitError("taken over", code="TK-0302"), disowned=True)
        return EndedTrial(record(of))

    rig.stages = replace(STAGES, setup=(create(table()),))
    rig.ends = ends
    with pytest.raises(ToolkitError, match="taken over"):
        rig.run(planned(ONE), context=context)
    assert rig.world.sent == [f"CREATE APP.DBATK_{KEY}_1"]
    assert rig.kept.load_run(RUN).head.state is RunState.RUNNING


def test_a_busy_host_is_told_at_the_end(rig: Rig) -> None:
    context = rig.context()
    context.others.seen.extend([0.6, 0.6])
    rig.run(planned(ONE), context=context)
    assert [text for text in warnings_of(context) if "others used 60 %" in text] != []


def test_a_busy_host_is_told_once_of_a_run_that_is_resumed(rig: Rig) -> None:
    load = Metric("host_others_pct", 60.0, "%", "osstat")
    rig.ends = lambda of: EndedTrial(record(of, metrics=(load,)))
    context = rig.context()
    context.others.seen.append(0.6)
    rig.run(planned(ONE), context=context)
    resumed = rig.context(2)
    resumed.others = BackgroundLoad.before(rig.kept.load_run(RUN))
    assert resumed.others.seen == [0.6]
    resumed.others.seen.extend([0.9, 0.9])
    rig.run(planned(ONE), context=resumed)
    (told,) = (text for text in rig.kept.load_run(RUN).warnings if "others used" in text)
    assert told.startswith("others used 90 % ")
    idle = rig.context(3)
    idle.others = BackgroundLoad.before(rig.kept.load_run(RUN))
    rig.run((), context=idle)
    assert warnings_of(idle) == [], "nothing was run"


# -- what was made though nobody lived to say so ------------------------------------------------------------------
MADE = table("MADE", scratch=False)


def made_in_trial(rig: Rig, context: RunContext, *, ended: bool = False) -> None:
    rig.kept.begin_trial(RUN, 1, 1, ONE, 0, BEGAN)
    context.changes.made(context.changes.intend([create(MADE)], 1))
    context.changes.intend([create(MADE)], 1)
    rig.world.run(create(MADE))
    if ended:
        rig.kept.end_trial(RUN, record(planned(ONE)[0], Outcome.INTERRUPTED))


def look(rig: Rig, context: RunContext, **fields: object) -> tuple[bool, list[str]]:
    said: list[str] = []
    whole = experiment(**{"mode": Mode.JOB, "keep": Keep.NONE} | fields)
    made = note_completed(RUN, whole, context.changes, rig.kept, said.append)
    return made or noted_before(RUN, whole, rig.kept), said


@pytest.mark.parametrize("ended", [False, True])
def test_the_object_of_a_job_that_nobody_lived_to_record_is_found_complete(rig: Rig, ended: bool) -> None:
    context = rig.context()
    made_in_trial(rig, context, ended=ended)
    assert look(rig, context) == (
        True,
        ["`APP.MADE` was created before the interruption; its time is unknown"],
    )
    (item,) = rig.kept.items_of(RUN, 1)
    assert (item.label, item.outcome, item.reason) == (
        "APP.MADE", Outcome.OK, "found complete after the interruption",
    )  # fmt: skip
    assert look(rig, context) == (True, []), "it is told once"
    context.changes.undo_all()
    assert look(rig, context) == (ended, []), "of trials that ended their items are known"
    assert look(rig, context, operation="stats-gather") == (False, [])


def test_a_measurement_looks_for_nothing_unless_its_best_is_kept(rig: Rig) -> None:
    context = rig.context()
    made_in_trial(rig, context)
    assert look(rig, context, mode=Mode.MEASUREMENT) == (False, [])
    assert look(rig, context, mode=Mode.MEASUREMENT, keep=Keep.BEST)[0] is True


def test_a_job_that_made_nothing_has_nothing_to_be_found(rig: Rig) -> None:
    context = rig.context()
    rig.kept.begin_trial(RUN, 1, 1, ONE, 0, BEGAN)
    context.changes.intend([create(MADE)], 1)
    assert look(rig, context) == (False, [])
