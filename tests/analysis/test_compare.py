from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.report.make import cell, compared, metric, run_of, sweep, trial
from toolkit.analysis.compare import Difference, compare, with_environments
from toolkit.analysis.fit import ConfidenceInterval
from toolkit.analysis.judged import Judged
from toolkit.errors import ToolkitError
from toolkit.model.environment import Environment, EnvironmentValue
from toolkit.model.operations import JudgedBy
from toolkit.model.records import RunRecord
from toolkit.model.words import Verdict

TIMES = {1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}


def scaled(factor: float) -> dict[int, list[float]]:
    return {level: [value * factor for value in values] for level, values in TIMES.items()}


def test_a_run_twice_as_slow_is_told_to_be_slower() -> None:
    found = compared(sweep(TIMES, run="a"), sweep(scaled(2), run="b"))
    assert [pair.verdict for pair in found.pairs] == [Verdict.SLOWER] * 3
    assert [pair.ratio for pair in found.pairs] == [pytest.approx(2)] * 3
    assert all(pair.interval and pair.interval.low > 1.8 and pair.interval.high < 2.2 for pair in found.pairs)


def test_a_pair_says_what_it_was_made_from() -> None:
    a, b = sweep({2: [4.0, 4.1, 4.3, None]}, run="a"), sweep({2: [2.0, 2.2, 2.1]}, run="b")
    found = compare(a, b)
    (pair,) = found.pairs
    assert (found.a, found.b) == (a, b)
    assert (pair.cell_a, pair.cell_b, pair.n_a, pair.n_b) == (cell(degree=2), cell(degree=2), 3, 3)
    assert (pair.median_a, pair.median_b, pair.ratio) == (4.1, 2.1, pytest.approx(2.1 / 4.1))


def test_the_interval_between_two_runs_is_that_of_the_t_test_of_their_logs() -> None:
    times_a, times_b = [4.0, 4.4, 4.1, 4.2], [2.0, 2.3, 2.1]
    (pair,) = compared(sweep({2: [*times_a]}, run="a"), sweep({2: [*times_b]}, run="b")).pairs
    logs_a, logs_b = ([math.log(value) for value in values] for values in (times_a, times_b))
    squares = sum(variance(logs) * (len(logs) - 1) for logs in (logs_a, logs_b))
    error = math.sqrt(squares / 5 * (1 / 4 + 1 / 3))
    middle = fmean(logs_b) - fmean(logs_a)
    # t(0.975, 5) = 2.5706, published
    assert pair.interval is not None
    assert pair.interval.low == pytest.approx(math.exp(middle - 2.5706 * error), rel=1e-4)
    assert pair.interval.high == pytest.approx(math.exp(middle + 2.5706 * error), rel=1e-4)


def test_a_side_without_a_time_still_shows_the_other() -> None:
    (pair,) = compare(sweep({2: [4.0, 4.2, 4.1]}, run="a"), sweep({2: [None]}, run="b")).pairs
    assert (pair.n_a, pair.n_b, pair.median_a, pair.median_b) == (3, 0, 4.1, None)
    assert (pair.ratio, pair.interval, pair.verdict) == (None, None, Verdict.INCONCLUSIVE)


@for_each(
    ("low", "high", "verdict"),
    [
        (0.8, 0.99, Verdict.FASTER), (0.8, 1.0, Verdict.INCONCLUSIVE), (1.0, 1.2, Verdict.INCONCLUSIVE),
        (1.01, 1.2, Verdict.SLOWER), (0.9, 1.1, Verdict.INCONCLUSIVE),
    ],
)  # fmt: skip
def test_an_interval_that_reaches_one_tells_nothing(low: float, high: float, verdict: Verdict) -> None:
    assert Judged(JudgedBy()).verdict(ConfidenceInterval(low, high)) is verdict
    assert Judged(JudgedBy()).verdict(None) is Verdict.INCONCLUSIVE


def test_a_run_against_itself_tells_nothing() -> None:
    found = compared(sweep(TIMES, run="a"), sweep(TIMES, run="b"))
    assert {pair.verdict for pair in found.pairs} == {Verdict.INCONCLUSIVE}
    assert all((pair.minimum_detectable_pct or 0) > 0 for pair in found.pairs)


def test_between_runs_the_drift_of_whole_sweeps_counts_as_noise() -> None:
    drift = [1.0, 1.3, 0.8]
    drifting = {level: [4 / level * d for d in drift] for level in (1, 2, 4)}
    ahead = {level: [value * 1.1 for value in values] for level, values in drifting.items()}
    found = compared(sweep(drifting, run="a"), sweep(ahead, run="b"))
    assert {pair.verdict for pair in found.pairs} == {Verdict.INCONCLUSIVE}


def test_within_a_run_the_drift_of_whole_sweeps_is_taken_out() -> None:
    drift = [1.0, 1.3, 0.8]
    run = sweep({1: [4 * d for d in drift], 2: [4.4 * d for d in drift], 4: [4 * d for d in drift]})
    found = compare(run, run, cell_a=cell(degree=1), cell_b=cell(degree=2))
    assert [pair.verdict for pair in found.pairs] == [Verdict.SLOWER]
    assert found.pairs[0].ratio == pytest.approx(1.1)


def test_runs_of_too_few_repeats_to_show_their_noise_are_held_against_the_stored_ones_alone() -> None:
    of_three = compared(sweep({2: [4.0, 4.1, 4.05]}, run="a"), sweep({2: [2.0, 2.1, 2.05]}, run="b"))
    of_two = compared(sweep({2: [4.0, 4.1]}, run="a"), sweep({2: [2.0, 2.1]}, run="b"))
    for found in (of_three, of_two):
        assert [pair.verdict for pair in found.pairs] == [Verdict.FASTER]
    unknown = compare(sweep({2: [4.0, 4.1]}, run="a"), sweep({2: [2.0, 2.1]}, run="b"))
    assert [(pair.verdict, pair.interval) for pair in unknown.pairs] == [(Verdict.INCONCLUSIVE, None)]
    assert unknown.pairs[0].minimum_detectable_pct is None


def test_cells_are_paired_by_their_levels_whatever_the_order_of_the_factors() -> None:
    a = run_of([trial(1, cell(degree=1, compression="none"), 1, 2.0)], run="a")
    b = run_of([trial(1, cell(compression="none", degree=1), 1, 3.0)], run="b")
    (pair,) = compare(a, b).pairs
    assert pair.ratio == 1.5


def test_cells_without_a_partner_are_named() -> None:
    found = compare(sweep({1: [2.0], 2: [1.0]}, run="a"), sweep({2: [1.0], 4: [1.0]}, run="b"))
    assert [str(pair.cell_a) for pair in found.pairs] == ["degree=2"]
    assert found.notes == ("only in run `a`: `degree=1`", "only in run `b`: `degree=4`")


def test_runs_without_a_common_cell_are_refused_with_an_example() -> None:
    with pytest.raises(ToolkitError) as caught:
        compare(sweep({1: [2.0], 4: [1.0]}, run="a"), sweep({2: [2.0]}, run="b"))
    assert caught.value.code == "TK-0109"
    assert "a/degree=1" in caught.value.hint


def test_a_run_without_any_configuration_is_refused_with_an_example_all_the_same() -> None:
    with pytest.raises(ToolkitError) as caught:
        compare(sweep({1: [2.0]}, run="a"), run_of([], run="b"))
    assert "`a/degree=1` and `b/degree=1`" in caught.value.hint


def test_what_differs_between_environments_kept_is_told_in_place_of_what_the_runs_name() -> None:
    named = (Difference("setting.a", "1", "2"), Difference("host_cpus", 4, 8), Difference("release", "17", "18"))
    then = Environment((EnvironmentValue("setting.b", 8, "MB"), EnvironmentValue("setting.c", None)))
    now = Environment((EnvironmentValue("setting.b", 9, "MB"), EnvironmentValue("setting.c", "x")))
    assert with_environments(named, then, now) == (
        Difference("release", "17", "18"), Difference("setting.b", "8 MB", "9 MB"),
        Difference("setting.c", None, "x"),
    )  # fmt: skip
    (gone,) = with_environments((), then, Environment(then.values[1:]))
    assert gone == Difference("setting.b", "8 MB", None)


def test_two_runs_of_one_configuration_each_are_a_pair_whatever_it_is() -> None:
    (pair,) = compare(sweep({1: [2.0]}, run="a"), sweep({2: [1.0]}, run="b")).pairs
    assert (pair.cell_a, pair.cell_b, pair.ratio) == (cell(degree=1), cell(degree=2), 0.5)


def test_a_cell_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ToolkitError) as caught:
        compare(sweep({1: [2.0]}), sweep({1: [2.0]}), cell_b=cell(degree=9))
    assert caught.value.code == "TK-0109"
    assert "`degree=1`" in caught.value.hint


def test_a_pair_with_a_failed_side_has_no_ratio() -> None:
    (pair,) = compare(sweep({1: [2.0]}, run="a"), sweep({1: [None]}, run="b")).pairs
    assert (pair.ratio, pair.verdict, pair.n_b, pair.median_b) == (None, Verdict.INCONCLUSIVE, 0, None)


def other_version(run: RunRecord) -> RunRecord:
    return replace(run, head=replace(run.head, operation_version=2))


def other_rows(run: RunRecord) -> RunRecord:
    return replace(run, trials=tuple(replace(one, rows=7) for one in run.trials))


@for_each(
    ("other", "word"),
    [
        (sweep(TIMES, run="b", operation="insert"), "operation `ctas` against `insert`"),
        (sweep(TIMES, run="b", engine="oracle"), "engine `duckdb` against `oracle`"),
        (other_version(sweep(TIMES, run="b")), "operation version `1` against `2`"),
        (other_rows(sweep(TIMES, run="b")), "row count 1,000,000 against 7"),
    ],
)
def test_runs_that_did_other_work_are_refused_unless_forced(other: RunRecord, word: str) -> None:
    run = sweep(TIMES, run="a")
    with pytest.raises(ToolkitError) as caught:
        compare(run, other)
    assert caught.value.code == "TK-0110"
    assert word in caught.value.message
    forced = compare(run, other, force=True)
    assert len(forced.pairs) == 3
    assert any(word in note for note in forced.notes)


def test_rows_that_nobody_counted_are_no_reason_to_refuse() -> None:
    uncounted = replace(
        sweep(TIMES, run="b"), trials=tuple(replace(one, rows=None) for one in sweep(TIMES).trials)
    )
    assert compare(sweep(TIMES, run="a"), uncounted).notes == ()


def test_another_environment_is_told_and_never_refused() -> None:
    a = sweep(TIMES, run="a", environment={"version": "19.20", "cpu_count": 2})
    b = sweep(TIMES, run="b", environment={"version": "23.4", "cpu_count": 2, "sga": 8})
    found = compare(a, b).differences
    assert [(one.name, one.a, one.b) for one in found] == [("sga", None, 8), ("version", "19.20", "23.4")]


def test_what_was_set_differently_is_told_first() -> None:
    a = run_of([trial(1, cell(degree=2, work_mem="4MB"), 1, 4.0)], run="a", environment={"x": "1"})
    b = run_of([trial(1, cell(degree=2, work_mem="64MB"), 1, 4.0)], run="b", environment={"x": "2"})
    assert [(one.name, one.a, one.b) for one in compare(a, b).differences] == [
        ("work_mem", "4MB", "64MB"), ("x", "1", "2")
    ]  # fmt: skip
    within = sweep(TIMES)
    (told,) = compare(within, within, cell_a=cell(degree=1), cell_b=cell(degree=4)).differences
    assert (told.name, told.a, told.b) == ("degree", 1, 4)
    assert compared(sweep(TIMES, run="a"), sweep(TIMES, run="b")).differences == ()


def test_a_factor_that_only_one_side_varied_is_told_as_missing_on_the_other() -> None:
    a = run_of([trial(1, cell(degree=2), 1, 4.0)], run="a")
    b = run_of([trial(1, cell(degree=2, work_mem="64MB"), 1, 4.0)], run="b")
    assert [(one.name, one.a, one.b) for one in compare(a, b).differences] == [("work_mem", None, "64MB")]


def test_metrics_of_different_providers_are_left_out_with_a_sentence() -> None:
    def with_metrics(run: str, source: str) -> RunRecord:
        made = sweep(TIMES, run=run)
        own = (metric("reads", 10.0, source=source), metric("cpu", 5.0, source="osstat"))
        return replace(made, trials=tuple(replace(one, metrics=own) for one in made.trials))

    found = compare(with_metrics("a", "vstat"), with_metrics("b", "awr"))
    assert [one.name for one in found.pairs[0].metrics] == ["cpu"]
    assert found.notes == (
        "metrics of different providers are omitted: `vstat` only in run `a`; `awr` only in run `b`",
    )


@given(st.floats(0.2, 5.0))
def test_swapping_the_runs_turns_the_ratio_and_the_verdict_over(factor: float) -> None:
    a, b = sweep(TIMES, run="a"), sweep(scaled(factor), run="b")
    turned = {
        Verdict.FASTER: Verdict.SLOWER,
        Verdict.SLOWER: Verdict.FASTER,
        Verdict.INCONCLUSIVE: Verdict.INCONCLUSIVE,
    }
    for one, other in zip(compared(a, b).pairs, compared(b, a).pairs, strict=True):
        assert one.ratio is not None
        assert other.ratio == pytest.approx(1 / one.ratio)
        assert one.interval is not None
        assert other.interval is not None
        assert other.interval.low == pytest.approx(one.interval.inverse().low)
        assert other.verdict is turned[one.verdict]
