"""Which step begins next, decided from what is known: priority, age, needs, limits, and the time that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.app.maintenance.choice import Choice, NextStep, Size, choose, expected, slow_items
from toolkit.app.maintenance.plan_targets import TargetStep
from toolkit.design.plan_step import experiment_of
from toolkit.model.plan import MaintenancePlan, PlanStep, StepRecord, StepState
from toolkit.model.records import ItemRecord
from toolkit.model.words import Outcome

NOW = datetime(2026, 11, 21, 23, tzinfo=UTC)


def step(name: str, **fields: object) -> PlanStep:
    whole = PlanStep(name, "stats-gather", {"schema": ("S",)}, {"degree": 2})
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
        [TargetStep(each, experiment_of(each, "dwh")) for each in steps],
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
    assert choose(choice(steps, tonight=running, concurrency=2)) == NextStep()
    assert choose(choice(steps, tonight={"a": night("a", 0)})) == NextStep("b")


def test_what_an_earlier_night_prepared_counts_so_that_a_chain_goes_on_where_it_was_cut() -> None:
    steps = [step("a"), step("b", needs=("a",))]
    cut = {"a": [night("a", 1)], "b": [night("b", 2)]}
    assert choose(choice(steps, cut)) == NextStep("b")
    whole = {"a": [night("a", 1)], "b": [night("b", 0.9)]}
    assert choose(choice(steps, whole)) == NextStep("a")


def test_what_was_done_tonight_is_done_although_the_clock_was_set_back() -> None:
    steps = [step("a"), step("b", needs=("a",))]
    ahead = {"b": [night("b", -3)]}
    assert choose(choice(steps, ahead, tonight={"a": night("a", 0)})) == NextStep("b")


def test_what_fails_keeps_only_those_that_need_it() -> None:
    steps = [step("a"), step("b", needs=("a",)), step("c")]
    failed = {"a": replace(night("a", 0), state=StepState.FAILED)}
    verdict = choose(choice(steps, tonight=failed))
    assert (verdict.step, verdict.state) == ("b", StepState.STOPPED)
    assert "needs `a`, which failed" in str(verdict.reason)
    both = failed | {"b": StepRecord(1, "dwh", "b", StepState.STOPPED)}
    assert choose(choice(steps, tonight=both)) == NextStep("c")


def test_a_need_that_was_done_before_is_not_said_never_to_have_been() -> None:
    steps = [step("a"), step("b", needs=("a",))]
    stopped = {"a": StepRecord(0, "dwh", "a", StepState.STOPPED)}
    before = {"a": [night("a", 2)], "b": [night("b", 1)]}
    said = str(choose(choice(steps, before, tonight=stopped)).reason)
    assert said == "it needs `a`, which was not done again since 2026-11-19 23:01 UTC"
    assert str(choose(choice(steps, tonight=stopped)).reason) == "it needs `a`, which was not done"


def test_a_need_whose_condition_did_not_hold_is_no_hindrance() -> None:
    steps = [step("a"), step("b", needs=("a",))]
    assert choose(choice(steps, tonight={"a": StepRecord(0, "dwh", "a", StepState.SKIPPED)})) == NextStep("b")


def test_what_cannot_end_before_the_window_closes_is_not_begun() -> None:
    history = {"a": [night("a", days, seconds=3600) for days in range(1, 8)]}
    copy = step("a", operation="ctas", options={"source": "S", "table": "T"})
    verdict = choose(choice([copy], history, left=1800))
    assert verdict.state is StepState.STOPPED and "closes in 30 min" in str(verdict.reason)
    assert choose(choice([copy], history, left=3700)) == NextStep("a")
    assert choose(choice([copy], left=1)) == NextStep("a"), "nothing is known of it"
    assert choose(choice([step("a")], left=0)).state is StepState.STOPPED


def test_what_works_through_several_objects_is_begun_with_those_that_fit() -> None:
    history = {"a": [night("a", days, seconds=3600) for days in range(1, 8)]}
    whole = step("a", operation="ctas", options={"source": "S", "table": "T"})
    assert choose(choice([whole], history, left=1800)).state is StepState.STOPPED
    assert choose(choice([step("a")], history, left=1800)) == NextStep("a")


def test_sessions_and_degrees_stay_within_the_limits_of_the_plan() -> None:
    steps = [step("a"), step("b"), step("c", levels={"degree": 1})]
    running = {"a": replace(night("a", 0), state=StepState.RUNNING)}
    assert choose(choice(steps, tonight=running)) == NextStep()
    assert choose(choice(steps, tonight=running, concurrency=2)) == NextStep("b")
    assert choose(choice(steps, tonight=running, concurrency=2, max_degree=3)) == NextStep("c")


def test_once_halted_nothing_begins_and_every_step_says_why() -> None:
    halted = replace(choice([step("a"), step("b")]), halted="the window closed")
    assert choose(halted) == NextStep("a", StepState.STOPPED, "the window closed")


def test_expectations_are_the_median_and_the_slow_tail_of_nights_in_one_piece() -> None:
    assert expected([]) is None
    assert expected([night("a", 1, state=StepState.FAILED)]) is None
    assert expected([night("a", 1, seconds=9, reason="continued what an earlier run had begun")]) is None
    few = expected([night("a", 1, seconds=60), night("a", 2, seconds=100)])
    assert few is not None and (few.seconds, few.slow_seconds, few.runs) == (80, 150, 2)
    many = expected([night("a", days, seconds=100 + days) for days in range(1, 12)])
    assert many is not None and (many.seconds, many.slow_seconds) == (106, 110)


@for_each(("nights", "slow"), [(1, 150), (3, 150), (4, 150), (5, 100), (6, 100)])
def test_a_duration_is_doubted_until_five_nights_are_known(nights: int, slow: float) -> None:
    found = expected([night("a", days, seconds=100) for days in range(1, nights + 1)])
    assert found is not None and (found.seconds, found.slow_seconds, found.runs) == (100, slow, nights)
    index = ItemRecord("IX_1", Outcome.OK, elapsed_seconds=100.0)
    assert slow_items([[index]] * nights) == {"IX_1": slow}


def test_items_that_did_not_end_well_do_not_count() -> None:
    fast, failed = (
        ItemRecord("IX_1", outcome, elapsed_seconds=seconds)
        for outcome, seconds in ((Outcome.OK, 10.0), (Outcome.FAILED, 900.0))
    )
    assert slow_items([[fast, failed], [failed], [replace(fast, elapsed_seconds=None)]]) == {"IX_1": 15.0}


def test_expectations_grow_with_what_is_worked_on() -> None:
    known = [night("a", 1, seconds=60, size_bytes=1e9)]
    twice = expected(known, Size(2e9))
    assert twice is not None and twice.seconds == 120
    assert twice.basis == "1 run known, scaled from 954 MiB to 1.86 GiB"
    by_rows = expected([night("a", 1, seconds=60, size_rows=1000)], Size(None, 3000))
    assert by_rows is not None and by_rows.seconds == 180 and "1,000 to 3,000 rows" in by_rows.basis
    wild = expected(known, Size(1e15))
    assert wild is not None and wild.seconds == 600, "an estimate of the catalogue may be far off"
    unknown = expected(known, Size(None, 5))
    assert unknown is not None and (unknown.seconds, unknown.scaled) == (60, None)


def test_what_has_grown_too_large_for_the_window_is_not_begun_and_says_by_which_numbers() -> None:
    load = step("a", operation="ctas", options={"source": "S.T", "table": "S.N"}, levels={})
    known = {"a": [night("a", days, seconds=60, size_bytes=1e9) for days in range(1, 7)]}
    assert choose(choice([load], known, left=100)) == NextStep("a")
    grown = replace(choice([load], known, left=100), size_of=lambda _: Size(2e9))
    verdict = choose(grown)
    assert (verdict.state, verdict.reason) == (
        StepState.STOPPED,
        "it takes up to 2 min 00 s (6 runs known, scaled from 954 MiB to 1.86 GiB), "
        "and the window closes in 100 s",
    )


def test_over_several_nights_every_step_gets_its_turn_oldest_first() -> None:
    """Seven steps of an hour, windows of three hours: each is done every third night, and none is left out."""
    steps = [step(name, operation="ctas", options={"source": "S.T", "table": "S.N"}, levels={})
             for name in "abcdefg"]  # fmt: skip
    history: dict[str, list[StepRecord]] = {}
    nights: list[list[str]] = []
    for number in range(12):
        tonight: dict[str, StepRecord] = {}
        done: list[str] = []
        left = 3 * 3600.0 + 60
        while (verdict := choose(choice(steps, history, tonight=tonight, left=left))).step is not None:
            ended = night(verdict.step, 12 - number, seconds=3600)
            if verdict.state is None:
                ended = replace(ended, ended_at=(ended.began_at or NOW) + timedelta(seconds=3600 + len(done)))
                left -= 3600
                done.append(verdict.step)
            tonight[verdict.step] = replace(ended, state=verdict.state or StepState.DONE, run="r")
        history = {
            name: [record, *history.get(name, [])] if (record := tonight[name]).state is StepState.DONE
            else history.get(name, [])
            for name in tonight
        }  # fmt: skip
        nights.append(done)
    later = nights[3:]
    assert all(len(done) <= 3 for done in later)
    for name in "abcdefg":
        gaps = [at for at, done in enumerate(nights) if name in done]
        assert len(gaps) >= 3 and max(b - a for a, b in pairwise(gaps)) <= 4, (name, nights)


def test_a_step_of_high_priority_is_done_every_night_and_the_others_rotate_behind_it() -> None:
    steps = [step("first", priority=5), *(step(name) for name in "abc")]
    for step_each in range(len(steps)):
        steps[step_each] = replace(
            steps[step_each], operation="ctas", options={"source": "S.T", "table": "S.N"}, levels={}
        )
    history: dict[str, list[StepRecord]] = {}
    seen: list[list[str]] = []
    for number in range(6):
        tonight: dict[str, StepRecord] = {}
        left, done = 2 * 5400.0, list[str]()
        while (verdict := choose(choice(steps, history, tonight=tonight, left=left))).step is not None:
            ended = night(verdict.step, 6 - number, seconds=3600)
            tonight[verdict.step] = replace(ended, state=verdict.state or StepState.DONE)
            if verdict.state is None:
                left -= 3600
                done.append(verdict.step)
        for name in done:
            history.setdefault(name, []).insert(0, tonight[name])
        seen.append(done)
    assert all(done[0] == "first" for done in seen)
    assert {name for done in seen[-3:] for name in done[1:]} == {"a", "b", "c"}


names = st.sampled_from("abcde")


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
    assert choose(choice(drawn, tonight=tonight)) == NextStep()
