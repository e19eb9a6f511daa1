"""Trials: marks, ends, items and samples; nothing lost, nothing doubled."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.make import BEGAN, CELL, RUN, head, item, series, trial
from tests.tiers import examples
from toolkit.errors import ToolkitError
from toolkit.model.records import Metric, TrialMark, TrialRecord
from toolkit.model.values import Cell
from toolkit.model.words import Outcome
from toolkit.store.store import Store


def trials_of(store: Store) -> tuple[TrialRecord, ...]:
    return store.load_run(RUN).trials


def test_a_trial_comes_back_as_it_ended(store: Store, reopened: Callable[[], Store]) -> None:
    store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
    store.end_trial(RUN, trial())
    assert trials_of(reopened()) == (trial(),)


def test_levels_keep_their_type_and_order(store: Store) -> None:
    store.end_trial(RUN, trial())
    read = trials_of(store)[0].cell
    assert read.levels == CELL.levels
    assert [type(level) for _, level in read.levels] == [type(level) for _, level in CELL.levels]


def test_a_trial_that_never_began_is_stored_as_a_whole(store: Store) -> None:
    skipped = trial(outcome=Outcome.SKIPPED, elapsed_seconds=None, items=(), metrics=(), samples=(), phases={})
    store.end_trial(RUN, skipped)
    assert trials_of(store) == (skipped,)


def test_a_mark_without_an_end_is_seen_and_is_no_trial_yet(store: Store, reopened: Callable[[], Store]) -> None:
    store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
    store.end_trial(RUN, trial(1))
    store.begin_trial(RUN, 2, 1, CELL, 0, BEGAN)
    assert reopened().unended_trials(RUN) == (TrialMark(2, 1, CELL, 0, BEGAN),)
    assert [each.trial for each in trials_of(store)] == [1]


def test_a_resume_ends_the_broken_attempt_and_begins_another(store: Store) -> None:
    store.begin_trial(RUN, 2, 1, CELL, 1, BEGAN)
    broken = trial(2, 1, outcome=Outcome.INTERRUPTED)
    store.end_trial(RUN, broken)
    store.begin_trial(RUN, 2, 2, CELL, 1, BEGAN)
    store.end_trial(RUN, trial(2, 2))
    assert store.unended_trials(RUN) == ()
    assert trials_of(store) == (broken, trial(2, 2))


@pytest.mark.parametrize("again", ["begin", "end"])
def test_the_same_attempt_is_not_stored_twice(store: Store, again: str) -> None:
    store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
    store.end_trial(RUN, trial())
    with pytest.raises(ToolkitError, match=r"trial `1`, attempt `1` .* already stored") as caught:
        if again == "begin":
            store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
        else:
            store.end_trial(RUN, trial(outcome=Outcome.OK))
    assert caught.value.code == "TK-0901"
    assert trials_of(store) == (trial(),)


def test_items_are_durable_before_their_trial_ends(store: Store, reopened: Callable[[], Store]) -> None:
    store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
    for label in ("IX_B", "IX_A"):
        store.add_items(RUN, 1, 1, [item(label)])
    assert reopened().items_of(RUN, 1) == (item("IX_B"), item("IX_A"))


def test_items_stored_before_are_not_doubled_by_the_record(store: Store) -> None:
    record = trial()
    store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
    for each in record.items:
        store.add_items(RUN, 1, 1, [each])
    store.end_trial(RUN, record)
    assert store.items_of(RUN, 1) == record.items


def test_a_record_that_lists_the_items_in_another_order_leaves_those_stored_where_they_are(store: Store) -> None:
    store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
    store.add_items(RUN, 1, 1, [item("IX_B"), item("IX_A")])
    store.end_trial(RUN, trial(items=(item("IX_A"), item("IX_B"), item("IX_NEW"))))
    assert store.items_of(RUN, 1) == (item("IX_B"), item("IX_A"), item("IX_NEW"))


def test_the_record_completes_an_item_and_loses_none(store: Store) -> None:
    store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
    for label in ("IX_A", "IX_LONE"):
        store.add_items(RUN, 1, 1, [item(label, rows=None)])
    store.end_trial(RUN, trial(items=(item("IX_A", rows=5), item("IX_NEW"))))
    assert store.items_of(RUN, 1) == (item("IX_LONE", rows=None), item("IX_A", rows=5), item("IX_NEW"))


def test_items_of_a_killed_attempt_stay_when_it_is_marked_interrupted(store: Store) -> None:
    store.begin_trial(RUN, 1, 1, CELL, 1, BEGAN)
    store.add_items(RUN, 1, 1, [item("IX_A")])
    store.end_trial(RUN, trial(outcome=Outcome.INTERRUPTED, items=()))
    store.begin_trial(RUN, 1, 2, CELL, 1, BEGAN)
    store.add_items(RUN, 1, 2, [item("IX_B")])
    assert store.items_of(RUN, 1) == (item("IX_A"), item("IX_B"))


def test_an_item_of_a_trial_that_did_not_begin_is_refused(store: Store) -> None:
    with pytest.raises(ToolkitError, match="did not begin"):
        store.add_items(RUN, 1, 1, [item("IX_A")])
    assert store.items_of(RUN, 1) == ()


def test_each_series_of_samples_is_thinned_by_itself(store: Store) -> None:
    whole = series("cpu", [*range(1000), 1e9, *range(1000)])
    store.end_trial(RUN, trial(samples=(*whole, *series("io", [3.0]))))
    kept = trials_of(store)[0].samples
    cpu = [each for each in kept if each.name == "cpu"]
    assert len(cpu) <= 600
    assert max(each.value for each in cpu) == 1e9
    assert (cpu[0].at_seconds, cpu[-1].at_seconds) == (0, 2000)
    assert [each for each in kept if each.name == "io"] == list(series("io", [3.0]))


def test_samples_can_be_left_unread(store: Store) -> None:
    store.end_trial(RUN, trial())
    assert store.load_run(RUN, samples=False).trials == (replace(trial(), samples=()),)


def test_a_metric_that_is_no_number_is_left_out_and_the_trial_kept(store: Store) -> None:
    good = Metric("cpu", 1.0, "seconds", "osstat")
    store.end_trial(RUN, trial(metrics=(Metric("x", math.nan, "", "osstat"), good)))
    assert trials_of(store)[0].metrics == (good,)


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
number = st.none() | st.floats(allow_nan=False, allow_infinity=False)
count = st.none() | st.integers(0, 2**62)
records = st.builds(
    TrialRecord,
    trial=st.just(1),
    attempt=st.just(1),
    cell=st.dictionaries(text, st.integers() | st.booleans() | text, max_size=3).map(
        lambda levels: Cell(tuple(levels.items()))
    ),
    repeat=st.integers(0, 100),
    outcome=st.sampled_from(Outcome),
    began_at=st.just(BEGAN),
    ended_at=st.just(BEGAN),
    reason=st.none() | text,
    elapsed_seconds=number,
    rows=count,
    bytes=count,
    disturbed=st.booleans(),
    phases=st.dictionaries(text, st.floats(0, 1e6), max_size=3),
    items=st.lists(st.builds(item, text, elapsed_seconds=number), max_size=4).map(tuple),
    metrics=st.lists(st.builds(Metric, text, st.floats(-1e12, 1e12), text, text), max_size=4).map(tuple),
)


@examples(60)
@given(record=records)
def test_any_record_survives_the_store_and_the_way_into_another_one(store: Store, record: TrialRecord) -> None:
    store.delete_run(RUN)
    store.create_run(head())
    store.end_trial(RUN, record)
    assert trials_of(store) == (record,)
