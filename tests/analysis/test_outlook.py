"""What is said before a run begins: a number only where it is known well enough, else the range alone."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean

import pytest

from tests.analysis.predictions import Scene, Tally, tallied
from tests.analysis.test_sequential import level, until_known
from tests.report.make import cell, run_of, sweep, sweep_trials
from toolkit.analysis import outlook
from toolkit.analysis.cells import analyse
from toolkit.analysis.outlook import Expected, Forecast, detectable, expected

TOO_UNCERTAIN = "in nine of ten such runs: too uncertain for one number"


# -- one number, or none ------------------------------------------------------------------------------------------
def test_a_number_is_told_where_nine_of_ten_lie_near_it_and_never_by_few_draws() -> None:
    assert Forecast.of([10.0] * 92 + [99.0] * 8) == Forecast(10.0, 10.0, 99.0)
    assert Forecast.of([10.0] * 88 + [99.0] * 12) == Forecast(None, 10.0, 99.0)
    assert Forecast.of([10.0] * 5).number is None
    assert Forecast.of([math.inf] * 100) == Forecast(None, math.inf, math.inf)


def test_the_number_is_the_median_or_else_the_one_that_most_lie_near() -> None:
    assert Forecast.of([10.0, 11.0, 12.0] * 40).number == 11.0
    assert Forecast.of_repeats([12] * 6 + [20] * 194).number == 20
    # 8 is the median; 6 is right for 5, 6 and 8
    assert Forecast.of_repeats([5] * 60 + [6] * 10 + [8] * 80).number == 6
    assert Forecast.of([10.0] * 60 + [16.6] * 59).number == pytest.approx(12.45)


def test_differences_are_spelled_with_their_range_once_and_those_of_more_than_double_as_factors() -> None:
    assert Forecast(9.0, 4.0, 120.0).spelled() == "about 9.0 % (nine of ten such runs: 4.0 % to a factor of 2.2)"
    assert Forecast(9.0, 4.0, 12.0).spelled() == "about 9.0 % (nine of ten such runs: 4.0 to 12 %)"
    assert Forecast(None, 4.0, 12.0).spelled() == f"4.0 to 12 % {TOO_UNCERTAIN}"
    assert Forecast(10.0, 10.0, 10.04).spelled() == "about 10 %"
    assert Forecast(200.0, 150.0, 300.0).spelled() == "about a factor of 3.0 (nine of ten such runs: 2.5 to 4.0)"
    assert Forecast(None, 150.0, 300.0).spelled() == f"a factor of 2.5 to 4.0 {TOO_UNCERTAIN}"


def test_what_is_known_stands_before_the_range_and_what_is_not_only_in_it() -> None:
    def said(repeats: float | None, seconds: float | None) -> str:
        told = Expected(Forecast(repeats, 4, 6), Forecast(seconds, 20.0, 30.0), Forecast(10.0, 10.0, 10.0), 3)
        return told.sentence(10).partition("; by the noise of 3 earlier runs ")[2]

    assert said(5, 24.0) == "about 5 repeats, 24.0 s (nine of ten such runs: 4 to 6 repeats, 20.0 to 30.0 s)"
    assert said(None, 24.0) == "about 24.0 s (nine of ten such runs: 4 to 6 repeats, 20.0 to 30.0 s)"
    assert said(None, None) == f"4 to 6 repeats, 20.0 to 30.0 s {TOO_UNCERTAIN}"


# -- from earlier runs --------------------------------------------------------------------------------------------
def test_what_it_will_need_is_predicted_from_earlier_runs_of_the_same_work() -> None:
    run = until_known({1: level(2.0), 2: level(1.0, shift=3)})
    cells = [cell(degree=1), cell(degree=2)]
    unknown = expected(run.head.experiment, cells, [])
    assert (unknown.runs, unknown.repeats) == (0, None) and "not known" in unknown.sentence(10)
    asked = replace(run.head.experiment, detect_pct=20.0)
    earlier = [replace(run, head=replace(run.head, run=f"r{number}", experiment=asked)) for number in range(3)]
    known = expected(run.head.experiment, cells, earlier)
    assert known.repeats is not None and known.seconds is not None
    assert (known.runs, known.repeats.number, known.cut_by) == (3, 5, None)
    assert known.seconds.number == pytest.approx((5 + 1) * (2.0 + 1.0), rel=0.02)
    assert known.detects == Forecast(10.0, 10.0, 10.0)
    assert "about 5 repeats, 18" in known.sentence(10)


def test_of_a_noise_that_few_repeats_show_it_says_no_difference_but_its_range() -> None:
    run = until_known({1: level(2.0), 2: level(1.0, shift=3)})
    loud = sweep_trials({cell(degree=1): [1.0, 9.0, 2.0, 7.0], cell(degree=2): [8.0, 1.0, 9.0, 1.0]})
    noisy = expected(run.head.experiment, [cell(degree=1), cell(degree=2)], [run_of(loud, run="loud")])
    assert noisy.repeats is not None and noisy.detects is not None
    assert (noisy.repeats.number, noisy.cut_by, noisy.detects.number) == (20, "repeats", None)
    assert noisy.detects.high > 1000
    assert "it will probably end inconclusive, after about 20 repeats" in noisy.sentence(10)
    assert "; at its end it detects a difference of 10 % to a factor of " in noisy.sentence(10)


def test_with_a_budget_it_says_for_how_many_repeats_there_is_room_and_what_they_detect() -> None:
    values = [1.0, 1.07, 0.93, 1.03, 0.97, 1.02]
    run = until_known({1: values, 2: values[::-1], 4: values[2:] + values[:2]})
    cells = [cell(degree=1), cell(degree=2), cell(degree=4)]

    def told(budget: float | None) -> Expected:
        return expected(replace(run.head.experiment, budget_seconds=budget, warmup=1), cells, [run])

    ample, scarce, none = told(None), told(20.0), told(4.0)
    assert ample.cut_by != "budget" and scarce.cut_by == "budget" and told(1e6) == ample
    assert scarce.repeats is not None and scarce.repeats.number == 5
    assert scarce.seconds is not None and 16 < scarce.seconds.low < scarce.seconds.high < 20
    assert scarce.detects is not None and scarce.detects.high > 10
    assert "more are needed than the budget has room for" in scarce.sentence(10)
    # even the first look may be out of reach
    assert none.repeats is not None and (none.repeats.number, none.cut_by) == (1, "budget")
    assert none.detects == Forecast(None, math.inf, math.inf)
    assert none.sentence(10).endswith("; so few detect nothing")


def test_a_run_that_may_end_inconclusive_says_so_and_what_it_then_detects() -> None:
    told = Expected(
        Forecast(None, 8, 20), Forecast(None, 60.0, 119.0), Forecast(None, 10.0, 15.0), 1, 0.3, "repeats"
    )
    assert told.sentence(10).endswith(
        f"1 earlier run 8 to 20 repeats, 60.0 to 119 s {TOO_UNCERTAIN}; more may be needed, so it may end "
        f"inconclusive; at its end it detects a difference of 10 to 15 % {TOO_UNCERTAIN}"
    )


def test_runs_of_the_same_that_came_to_no_end_foretell_none() -> None:
    noisy = [1.0, 1.5, 0.8, 1.2, 0.9, 1.3, 0.7, 1.1, 1.4, 0.95] * 2
    run = until_known({1: noisy, 2: noisy[::-1], 4: noisy[7:] + noisy[:7]})
    cells = [cell(degree=1), cell(degree=2), cell(degree=4)]
    told = expected(run.head.experiment, cells, [run])
    assert told.repeats is not None and told.detects is not None
    assert (told.repeats.number, told.runs, told.cut_by) == (20, 1, "repeats")
    shown = analyse(run).fit.noise.times(2 / 20).minimum_detectable_pct()
    assert shown is not None and shown / 1.5 < told.detects.low < shown < told.detects.high < 1.5 * shown


def test_runs_of_the_same_that_ended_count_beside_those_that_are_played() -> None:
    settled = until_known({1: level(2.0, 6), 2: level(1.0, 6, 3)})
    cells = [cell(degree=1), cell(degree=2)]
    ended = [replace(settled, head=replace(settled.head, run=f"r{number}")) for number in range(3)]
    told, asked = expected(settled.head.experiment, cells, ended).repeats, settled.head.experiment
    # all that are played end after 5, these after 6
    assert told is not None and (told.low, told.high) == (5, 6)
    for other in (replace(asked, detect_pct=5.0), replace(asked, judge="elapsed")):
        told = expected(other, cells, ended).repeats
        assert told is not None and told.high == 5


def test_how_long_runs_took_that_differ_as_a_whole_is_no_number() -> None:
    run = until_known({1: level(2.0), 2: level(1.0, shift=3)})
    cells = [cell(degree=1), cell(degree=2)]
    asked = replace(run.head.experiment, detect_pct=None, repeat=5)
    slower = [sweep({1: level(2.0 * factor), 2: level(factor, shift=3)}) for factor in (1.0, 1.5, 0.7)]
    told = detectable(asked, cells, slower)
    assert told is not None and told.seconds is not None and told.seconds.number is None
    assert told.sentence().endswith(TOO_UNCERTAIN)


def test_a_fixed_number_of_repeats_is_said_with_its_time_where_all_was_run_before() -> None:
    run = sweep({1: level(2.0), 2: level(1.0, shift=3)})
    asked = replace(run.head.experiment, repeat=6, warmup=1)
    told, partly = (detectable(asked, [cell(degree=each) for each in cells], [run]) for cells in ((1, 2), (1, 4)))
    assert told is not None and told.seconds is not None and partly is not None
    assert told.seconds.number == pytest.approx(7 * (2.0 + 1.0), rel=0.02) and partly.seconds is None
    assert "6 repeats detect" in told.sentence() and "they take about 21" in told.sentence()
    assert told.detects.number is None and TOO_UNCERTAIN in told.sentence()
    assert "they take" not in partly.sentence()
    assert detectable(asked, [cell(degree=1), cell(degree=2)], []) is None


# -- how often it is right ----------------------------------------------------------------------------------------
def _together(scenes: list[Scene], count: int) -> Tally:
    """Count repeats, times and differences of scenes together."""
    all_of_them = Tally()
    for tally in (tally for scene in scenes for tally in tallied(scene, count).values()):
        all_of_them.right += tally.right
        all_of_them.held += tally.held
    return all_of_them


_UNCERTAIN = [Scene("law", 1, 3, 0.2, is_equal=True), Scene("law", 3, None, 0.06, is_equal=True)]


@pytest.mark.parametrize("count", [15, pytest.param(300, marks=pytest.mark.full)])
def test_numbers_and_ranges_are_right_nine_times_of_ten(count: int) -> None:
    found = _together([*_UNCERTAIN, Scene("law", 3, 3, 0.2, is_equal=False)], count)
    assert 0.3 < found.said < 0.8
    assert fmean(found.right) >= 0.9
    assert fmean(found.held) >= 0.9


def test_a_number_that_was_always_said_would_be_right_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlook, "SURE", 0.0)
    found = _together(_UNCERTAIN, 15)
    assert found.said == 1 and fmean(found.right) < 0.85


@pytest.mark.parametrize("count", [40, pytest.param(600, marks=pytest.mark.full)])
def test_what_a_fixed_number_of_repeats_detects_lies_within_the_range_and_is_a_number_where_much_is_known(
    count: int,
) -> None:
    few, many = (
        tallied(Scene("fixed", runs, of, 0.2, is_equal=True, repeats=repeats), count)
        for runs, of, repeats in ((1, 3, 4), (3, 5, 20))
    )
    assert few["difference"].said == 0 and many["difference"].said > 0.25
    assert fmean(many["difference"].right) >= 0.88
    assert fmean(few["time"].right) >= 0.9 and fmean(many["time"].right) >= 0.9
    assert all(fmean(tally.held) >= 0.88 for found in (few, many) for tally in found.values())


@pytest.mark.parametrize("count", [15, pytest.param(300, marks=pytest.mark.full)])
def test_where_the_noise_varies_from_run_to_run_the_range_still_holds_and_no_number_is_said(count: int) -> None:
    found = tallied(Scene("varies", 13, 5, 0.2, is_equal=True, repeats=5, varies=0.6), count)["difference"]
    assert found.said <= 0.05
    assert fmean(found.held) >= 0.88


@pytest.mark.parametrize("count", [15, pytest.param(150, marks=pytest.mark.full)])
def test_of_configurations_that_were_never_run_only_the_repeats_are_said(count: int) -> None:
    found = tallied(Scene("others", 1, 3, 0.06, is_equal=False, is_known=False), count)
    assert set(found) == {"repeats", "difference"}
    assert fmean(found["repeats"].held) >= 0.9
