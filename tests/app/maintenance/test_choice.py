"""Which step begins next, decided from what is known: priority, age, needs, limits, and the time that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.app.maintenance.choice import Choice, Verdict, choose
from toolkit.app.maintenance.expect import expected
from toolkit.app.maintenance.places import Job
from toolkit.design.plan_step import experiment_of
from toolkit.model.plan import MaintenancePlan, PlanStep
from toolkit.model.plan_records import StepRecord, StepState
from toolkit.model.words import OperationName

NOW = datetime(2026, 11, 21, 23, tzinfo=UTC)


def step(name: str, **fields: object) -> PlanStep:
    whole = PlanStep(name, OperationName.STATS_GATHER, {"schema": ("S",)}, {"degree": 2})
    return replace(whole, **fields)  # type: ignore[arg-type]


def night(name: str, days_ago: float, seconds: float = 60, **fields: object) -> StepRecord:
    began = NOW - timedelta(days=days_ago)
    done = StepRecord(
        0, "dwh", name, StepState.DONE, run="r", began_at=began, ended_at=began + timedelta(seconds=seconds)
    )
    return replace(done, **fields)  # type: ignore[arg-type]


def choice(
    steps: Sequence[PlanStep],
    history: Mapping[str, Sequence[StepRecord]] | None = None,
    *,
    tonight: Mapping[str, StepRecord] | None = None,
    left: float | None = None,
    **plan: int,
) -> Choice:
    records = {each.name: StepRecord(at, "dwh", each.name) for at, each in enumerate(steps)} | dict(tonight or {})
    working = frozenset(name for name, record in records.items() if record.state is StepState.RUNNING)
    return Choice(
        MaintenancePlan("p", ("dwh",), tuple(steps), **plan),  # type: ignore[arg-type]
        [Job(each, experiment_of(each, "dwh")) for each in steps],
        records,
        history or {},
        working,
        left,
    )


def test_the_greater_priority_goes_first_then_what_was_done_longest_ago_then_the_order_of_the_file() -> None:
    steps = [step("a"), step("b"), step("c", priority=1)]
    assert choose(choice(steps)).step == "c"
    assert choose(choice(steps[:2])).step == "a"
    assert choose(choice(steps[:2], {"a": [night("a", 1)]})).step == "b"
    assert choose(choice(steps[:2], {"a": [night("a", 1)], "b": [night("b", 2)]})).step == "b"


def test_a_step_waits_for_what_it_needs() -> None:
    steps = [step("b", needs=("a",)), step("a")]
    assert choose(choice(steps)).step == "a"
    running = {"a": replace(night("a", 0), state=StepState.RUNNING)}
    assert choose(choice(steps, tonight=running, concurrency=2)) == Verdict()
    assert choose(choice(steps, tonight={"a": night("a", 0)})) == Verdict("b")


def test_what_an_earlier_night_prepared_counts_so_that_a_chain_goes_on_where_it_was_cut() -> None:
    steps = [step("a"), step("b", needs=("a",))]
    cut = {"a": [night("a", 1)], "b": [night("b", 2)]}
    assert choose(choice(steps, cut)) == Verdict("b")
    whole = {"a": [night("a", 1)], "b": [night("b", 0.9)]}
    assert choose(choice(steps, whole)) == Verdict("a")


def test_what_fails_keeps_only_those_that_need_it() -> None:
    steps = [step("a"), step("b", needs=("a",)), step("c")]
    failed = {"a": replace(night("a", 0), state=StepState.FAILED)}
    verdict = choose(choice(steps, tonight=failed))
    assert (verdict.step, verdict.state) == ("b", StepState.STOPPED)
    assert "needs `a`, which failed" in str(verdict.reason)
    both = failed | {"b": StepRecord(1, "dwh", "b", StepState.STOPPED)}
    assert choose(choice(steps, tonight=both)) == Verdict("c")


def test_a_need_whose_condition_did_not_hold_is_no_hindrance() -> None:
    steps = [step("a"), step("b", needs=("a",))]
    assert choose(choice(steps, tonight={"a": StepRecord(0, "dwh", "a", StepState.SKIPPED)})) == Verdict("b")


def test_what_cannot_end_before_the_window_closes_is_not_begun() -> None:
    history = {"a": [night("a", days, seconds=3600) for days in range(1, 8)]}
    copy = step("a", operation=OperationName.CTAS, options={"source": "S", "table": "T"})
    verdict = choose(choice([copy], history, left=1800))
    assert verdict.state is StepState.STOPPED and "closes in 30 min" in str(verdict.reason)
    assert choose(choice([copy], history, left=3700)) == Verdict("a")
    assert choose(choice([copy], left=1)) == Verdict("a"), "nothing is known of it"
    assert choose(choice([step("a")], left=0)).state is StepState.STOPPED


def test_what_works_through_several_objects_is_begun_with_those_that_fit() -> None:
    history = {"a": [night("a", days, seconds=3600) for days in range(1, 8)]}
    whole = step("a", operation=OperationName.CTAS, options={"source": "S", "table": "T"})
    assert choose(choice([whole], history, left=1800)).state is StepState.STOPPED
    assert choose(choice([step("a")], history, left=1800)) == Verdict("a")


def test_sessions_and_degrees_stay_within_the_limits_of_the_plan() -> None:
    steps = [step("a"), step("b"), step("c", levels={"degree": 1})]
    running = {"a": replace(night("a", 0), state=StepState.RUNNING)}
    assert choose(choice(steps, tonight=running)) == Verdict()
    assert choose(choice(steps, tonight=running, concurrency=2)) == Verdict("b")
    assert choose(choice(steps, tonight=running, concurrency=2, max_degree=3)) == Verdict("c")


def test_once_halted_nothing_begins_and_every_step_says_why() -> None:
    halted = replace(choice([step("a"), step("b")]), halted="the window closed")
    assert choose(halted) == Verdict("a", StepState.STOPPED, "the window closed")


def test_expectations_are_the_median_and_the_slow_tail_of_nights_in_one_piece() -> None:
    assert expected([]) is None
    assert expected([night("a", 1, state=StepState.FAILED)]) is None
    assert expected([night("a", 1, seconds=9, reason="went on with what an earlier night had begun")]) is None
    few = expected([night("a", 1, seconds=60), night("a", 2, seconds=100)])
    assert few is not None and (few.seconds, few.slow_seconds, few.nights) == (80, 150, 2)
    many = expected([night("a", days, seconds=100 + days) for days in range(1, 12)])
    assert many is not None and (many.seconds, many.slow_seconds) == (106, 110)


def test_expectations_grow_with_what_is_worked_on() -> None:
    known = [night("a", 1, seconds=60, size_bytes=1e9)]
    twice = expected(known, 2e9)
    assert twice is not None and twice.seconds == 120


names = st.sampled_from("abcde")


@settings(deadline=None)
@given(st.lists(names, unique=True, min_size=1), st.data())
def test_every_step_of_a_plan_without_circles_gets_its_turn_once(order: list[str], data: st.DataObject) -> None:
    steps = [
        step(
            name,
            needs=tuple(data.draw(st.sets(st.sampled_from(order[:at])))) if at else (),
            priority=data.draw(st.integers(-1, 1)),
        )
        for at, name in enumerate(order)
    ]
    drawn = data.draw(st.permutations(steps))
    tonight: dict[str, StepRecord] = {}
    for turn in range(len(steps)):
        verdict = choose(choice(drawn, tonight=tonight))
        assert verdict.step is not None and verdict.state is None and verdict.step not in tonight
        needs = next(each.needs for each in steps if each.name == verdict.step)
        assert set(needs) <= set(tonight)
        ended = NOW + timedelta(seconds=turn)
        tonight[verdict.step] = replace(night(verdict.step, 0), ended_at=ended)
    assert choose(choice(drawn, tonight=tonight)) == Verdict()
