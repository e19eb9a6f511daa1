"""A measurement that goes on until enough is known: when it ends, what it gives up, and how often it is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from statistics import fmean

import numpy as np
import pytest

from tests.analysis.curves import Machine, law, swept
from tests.for_each import for_each
from tests.report.make import cell, run_of, sweep, sweep_trials
from toolkit.analysis.cells import analyse
from toolkit.analysis.fit import FEWEST_DEGREES, SEQUENTIAL_CONFIDENCE
from toolkit.analysis.outlook import Expected, NineOfTen, detectable, expected
from toolkit.analysis.quantiles import range_quantile, t_quantile
from toolkit.analysis.sequential import (
    LOOKS,
    after_sweep,
    decide,
    ended_because,
    given_up,
    how_it_ended,
    left_to_do,
    sure_to_run,
)
from toolkit.design.order import cells_of, plan_trials
from toolkit.model.protocols import AfterSweep
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor
from toolkit.model.words import RunState

NOISE = [1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.01, 0.99, 1.0, 1.0]


def until_known(times: dict[int, Sequence[float | None]], detect: float = 10.0, most: int = 20) -> RunRecord:
    made = sweep({level: list(values) for level, values in times.items()})
    experiment = replace(made.head.experiment, detect_pct=detect, repeat=most)
    return replace(made, head=replace(made.head, experiment=experiment))


def level(value: float, repeats: int = 5, shift: int = 0) -> list[float]:
    return [value * NOISE[(number + shift) % len(NOISE)] for number in range(repeats)]


def test_it_ends_when_each_configuration_is_told_from_the_best_or_shown_to_be_alike() -> None:
    told = decide(until_known({1: level(2.0), 2: level(1.0, shift=3), 4: level(1.01, shift=5)}))
    assert "1 configuration shown to be worse than `degree=" in told.reason
    assert "a difference of 10 % from `degree=" in told.reason and "excluded for 1" in told.reason
    assert told.given_up == {cell(degree=1)}


def test_it_goes_on_while_one_is_open() -> None:
    noisy = [1.0, 1.5, 0.8, 1.2, 0.9]
    after = decide(until_known({1: noisy, 2: noisy[::-1], 4: level(9.0)}))
    assert (after.reason, after.given_up) == ("", {cell(degree=4)})


def test_two_configurations_need_five_repeats_before_anything_is_known() -> None:
    assert decide(until_known({1: level(2.0, 4), 2: level(1.0, 4)})) == AfterSweep()
    assert decide(until_known({1: level(2.0, 6), 2: level(1.0, 6, 3)})).reason != ""


def test_fewer_than_two_configurations_with_a_result_end_it() -> None:
    assert "fewer than two" in decide(until_known({1: level(2.0), 2: [None] * 5})).reason


def test_a_run_is_looked_at_only_at_growing_distances() -> None:
    run = until_known({1: level(2.0, 6), 2: level(1.0, 6, 3)})
    asked = [sweep_number for sweep_number in range(1, 21) if after_sweep(sweep_number, lambda: run).reason]
    assert tuple(asked) == LOOKS


def test_a_fixed_number_of_repeats_is_never_decided() -> None:
    run = sweep({1: level(2.0), 2: level(1.0)})
    assert (decide(run), ended_because(run), given_up(run)) == (AfterSweep(), None, {})
    planned = plan_trials((Factor("degree", (1, 2)),), repeat=5, warmup=1, seed=1)
    assert left_to_do(planned, run) == sure_to_run(run.head.experiment, planned) == planned


def test_its_intervals_are_those_of_the_look_and_wider_than_those_of_a_fixed_number() -> None:
    times = {1: level(2.0), 2: level(1.9, shift=3)}
    looked, fixed = analyse(until_known(times)), analyse(sweep({**times}))
    (_, wide), (_, narrow) = (found.ratio(cell(degree=1), cell(degree=2)) for found in (looked, fixed))
    assert wide is not None and narrow is not None
    assert wide.low < narrow.low < narrow.high < wide.high
    assert looked.cells[0].ci_high is not None and fixed.cells[0].ci_high is not None
    assert looked.cells[0].ci_high > fixed.cells[0].ci_high


def test_why_it_ended_is_said_from_what_is_stored() -> None:
    noisy = [1.0, 1.5, 0.8, 1.2, 0.9]
    settled = until_known({1: level(2.0, 6), 2: level(1.0, 6, 3)})
    assert str(ended_because(settled)).startswith("ended after 6 repeats: 1 configuration shown to be worse")
    ceiling = until_known({1: noisy, 2: noisy[::-1]}, most=5)
    assert "the most without `--repeat`" in str(ended_because(ceiling))
    budget = replace(ceiling, head=replace(ceiling.head, experiment=replace(
        ceiling.head.experiment, repeat=20, budget_seconds=60.0)))  # fmt: skip
    assert "the budget of 60.0 s was used up" in str(ended_because(budget))
    cut = replace(settled, head=replace(settled.head, state=RunState.INTERRUPTED))
    assert ended_because(cut) is None


def test_a_configuration_that_was_given_up_is_named_and_not_gone_on_with() -> None:
    run = until_known({1: level(9.0, 3), 2: level(1.0, 6), 4: [1.0, 1.5, 0.8, 1.2, 0.9, 1.3]})
    assert given_up(run) == {cell(degree=1): 3}
    assert "given up after 3 repeats, shown to be worse by more than 10 %: `degree=1`" in how_it_ended(run)[-1]
    planned = plan_trials((Factor("degree", (1, 2, 4)),), repeat=20, warmup=0, seed=1)
    cut = replace(run, head=replace(run.head, state=RunState.INTERRUPTED))
    assert {each.cell for each in left_to_do(planned, cut)} == {cell(degree=2), cell(degree=4)}
    assert max(each.repeat for each in sure_to_run(run.head.experiment, planned)) == LOOKS[0]


def test_a_run_that_knows_enough_is_not_gone_on_with() -> None:
    planned = plan_trials((Factor("degree", (1, 2)),), repeat=20, warmup=0, seed=1)
    times = {1: level(2.0, 6), 2: level(1.0, 6, 3)}
    by_number = [replace(one, trial=each.number, cell=each.cell, repeat=each.repeat, elapsed_seconds=times[
        int(each.cell["degree"])][each.repeat - 1]) for each, one in zip(
        planned[:12], until_known(times).trials, strict=True)]  # fmt: skip
    run = replace(until_known(times), trials=tuple(by_number))
    assert max(each.repeat for each in left_to_do(planned, run)) == 6
    cut = replace(run, trials=run.trials[:-1], head=replace(run.head, state=RunState.INTERRUPTED))
    assert max(each.repeat for each in left_to_do(planned, cut)) == 20


def test_what_it_will_need_is_predicted_from_earlier_runs_of_the_same_work() -> None:
    run = until_known({1: level(2.0), 2: level(1.0, shift=3)})
    cells = [cell(degree=1), cell(degree=2)]
    unknown = expected(run.head.experiment, cells, [])
    assert (unknown.runs, unknown.repeats) == (0, None) and "not known" in unknown.sentence(10)
    asked = replace(run.head.experiment, detect_pct=20.0)
    earlier = [replace(run, head=replace(run.head, run=f"r{number}", experiment=asked)) for number in range(3)]
    known = expected(run.head.experiment, cells, earlier)
    assert (known.runs, known.repeats) == (3, 5)
    assert known.seconds == pytest.approx((5 + 1) * (2.0 + 1.0), rel=0.02)
    assert "about 5" in known.sentence(10)
    loud = sweep_trials({cell(degree=1): [1.0, 9.0, 2.0, 7.0], cell(degree=2): [8.0, 1.0, 9.0, 1.0]})
    noisy = expected(run.head.experiment, cells, [run_of(loud, run="loud")])
    assert (noisy.repeats, noisy.cut_by) == (20, "repeats") and noisy.detects is not None
    assert 100 < noisy.detects.low < noisy.detects.middle < noisy.detects.high
    assert "inconclusive, after about 20 repeats, " in noisy.sentence(10)
    assert f"so many detect a difference of about a factor of {1 + noisy.detects.middle / 100:.0f} (" in (
        noisy.sentence(10)
    )
    assert NineOfTen(4.0, 9.0, 120.0).spelled() == "about 9.0 % (nine of ten such runs: 4.0 % to a factor of 2.2)"
    assert NineOfTen(4.0, 9.0, 12.0).spelled() == "about 9.0 % (nine of ten such runs: 4.0 to 12 %)"
    assert known.cut_by is None and known.detects is None


def test_with_a_budget_it_says_for_how_many_repeats_there_is_room_and_what_they_detect() -> None:
    values = [1.0, 1.07, 0.93, 1.03, 0.97, 1.02]
    run = until_known({1: values, 2: values[::-1], 4: values[2:] + values[:2]})
    cells = [cell(degree=1), cell(degree=2), cell(degree=4)]

    def told(budget: float | None) -> Expected:
        return expected(replace(run.head.experiment, budget_seconds=budget, warmup=1), cells, [run])

    ample, scarce = told(None), told(20.0)
    assert (ample.cut_by, scarce.cut_by, scarce.repeats) == (None, "budget", 5)
    assert told(1e6) == ample
    assert scarce.seconds is not None and 17 < scarce.seconds < 20
    assert scarce.detects is not None and scarce.detects.middle > 10
    assert "more are needed than the budget has room for" in scarce.sentence(10)
    # even the first look may be out of reach
    assert (told(4.0).repeats, told(4.0).detects, told(4.0).cut_by) == (1, None, "budget")
    assert told(4.0).sentence(10).endswith("; so few detect nothing")
    two = expected(replace(run.head.experiment, budget_seconds=9.0, warmup=1), cells[:2], [run])
    assert (two.repeats, two.detects, two.cut_by) == (3, None, "budget")


def test_runs_of_the_same_that_came_to_no_end_foretell_none() -> None:
    noisy = [1.0, 1.5, 0.8, 1.2, 0.9, 1.3, 0.7, 1.1, 1.4, 0.95] * 2
    run = until_known({1: noisy, 2: noisy[::-1], 4: noisy[7:] + noisy[:7]})
    cells = [cell(degree=1), cell(degree=2), cell(degree=4)]
    told = expected(run.head.experiment, cells, [run])
    assert (told.repeats, told.runs, told.cut_by) == (20, 1, "repeats")
    shown = analyse(run).fit.noise.times(2 / 20).minimum_detectable_pct()
    assert told.detects is not None and told.detects.middle == pytest.approx(shown, rel=0.1)


@pytest.mark.parametrize(
    ("count", "noise"), [(8, 0.06), *(pytest.param(200, noise, marks=pytest.mark.full) for noise in (0.06, 0.2))]
)
def test_what_a_run_tells_at_its_end_is_what_was_said(count: int, noise: float) -> None:
    """What was asked for if it ends by itself, else what its last look detects; by a run of three repeats."""
    near, between = [], []
    for seed in range(count):
        random = Random(seed + 1)
        factor = Factor("degree", random.choice(((1, 2), (1, 2, 4), (1, 2, 4, 8), (1, 2, 4, 8, 16, 32))))
        times = random.choice((law(random.uniform(0, 0.3), 2 ** random.uniform(1, 5)), lambda _: 1.0))
        seconds = {each: 10 * times(int(each["degree"])) for each in cells_of([factor])}
        one = Machine("given", (factor,), seconds, random.uniform(0.01, noise))
        first, last = (swept(one, 1000 * seed + number).run for number in range(2))
        fixed = replace(first.head.experiment, detect_pct=None, repeat=3)
        stored = replace(first, head=replace(first.head, run="first", experiment=fixed), trials=tuple(
            each for each in first.trials if each.repeat <= 3))  # fmt: skip
        said = expected(last.head.experiment, list(seconds), [stored]).detects
        cut = None if decide(last).reason else analyse(last).fit.noise.times(2 / 20).minimum_detectable_pct()
        shown, told = max(10.0, said.middle if said else 0.0), max(10.0, cut or 0.0)
        near.append(abs(shown - told) <= told / 4)
        if cut is not None and said is not None:
            between.append(said.low <= cut <= said.high)
    assert fmean(near) >= (0.9 if noise < 0.1 else 0.6)
    assert noise < 0.1 or fmean(between) >= 0.8


def test_runs_of_the_same_that_ended_say_how_many_repeats_and_how_long() -> None:
    settled = until_known({1: level(2.0, 6), 2: level(1.0, 6, 3)})
    earlier = [replace(settled, head=replace(settled.head, run=f"r{number}")) for number in range(3)]
    cells = [cell(degree=1), cell(degree=2)]
    known = expected(settled.head.experiment, cells, earlier)
    assert (known.repeats, known.runs) == (6, 3)
    assert known.seconds == pytest.approx(6 * (2.0 + 1.0), rel=0.02)
    assert known.repeats_between is not None and known.seconds_between is not None
    low, high = known.repeats_between
    assert low <= 6 <= high
    ends = re.compile(rf"about 6 repeats, [\d.]+ s \(nine of ten such runs: .*{high} repeats, .* s\)$")
    assert ends.search(known.sentence(10)), known.sentence(10)
    other = replace(settled.head.experiment, detect_pct=5.0)
    assert expected(other, cells, earlier).repeats == 5
    judged = replace(settled.head.experiment, judge="elapsed")
    by_another = [replace(one, head=replace(one.head, experiment=judged)) for one in earlier]
    assert expected(settled.head.experiment, cells, by_another).repeats == 5


@pytest.mark.parametrize("count", [6, pytest.param(60, marks=pytest.mark.full)])
def test_by_three_such_runs_the_time_is_right_within_a_quarter_nine_times_of_ten(count: int) -> None:
    near = held = 0
    for seed in range(count):
        random = Random(seed)
        factor = Factor("degree", random.choice(((1, 2), (1, 2, 4), (1, 2, 4, 8), (1, 2, 4, 8, 16, 32))))
        times = law(random.uniform(0, 0.3), 2 ** random.uniform(1, 5))
        seconds = {each: 10 * times(int(each["degree"])) for each in cells_of([factor])}
        one = Machine("given", (factor,), seconds, random.uniform(0.01, 0.06))
        *earlier, last = (swept(one, 100 * seed + number) for number in range(4))
        told = expected(last.run.head.experiment, list(seconds), [each.run for each in earlier])
        near += told.seconds is not None and abs(told.seconds - last.spent) <= last.spent / 4
        assert told.repeats_between is not None and told.seconds_between is not None
        (few, many), (least, most) = told.repeats_between, told.seconds_between
        repeats = max(trial.repeat for trial in last.run.trials)
        held += few <= repeats <= many and 0.97 * least <= last.spent <= 1.03 * most
    assert near >= 0.9 * count - 1
    assert held >= 0.9 * count - 1


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.full)])
@pytest.mark.parametrize("known", [True, False])
def test_by_the_noise_alone_nine_of_ten_runs_end_between_what_was_said(count: int, known: bool) -> None:
    """By one run of three repeats of the same configurations, or of others."""
    held = in_time = 0
    for seed in range(count):
        random = Random(seed)
        levels = random.choice(((1, 2), (1, 2, 4), (1, 2, 4, 8), (1, 2, 4, 8, 16, 32)))
        others = levels if known else (3, 5, 7)
        times = law(random.uniform(0, 0.3), 2 ** random.uniform(1, 5))
        noise = random.uniform(0.01, 0.06)

        def machine(
            levels: tuple[int, ...], times: Callable[[int], float] = times, noise: float = noise
        ) -> Machine:
            factor = Factor("degree", levels)
            seconds = {each: 10 * times(int(each["degree"])) for each in cells_of([factor])}
            return Machine("given", (factor,), seconds, noise)

        run = swept(machine(others), seed).run
        first = replace(run.head, run="first", experiment=replace(run.head.experiment, detect_pct=None, repeat=3))
        earlier = replace(run, head=first, trials=tuple(each for each in run.trials if each.repeat <= 3))
        last = swept(machine(levels), seed + 1000)
        told = expected(last.run.head.experiment, [*machine(levels).seconds], [earlier])
        assert told.repeats_between is not None
        low, high = told.repeats_between
        held += low <= max(trial.repeat for trial in last.run.trials) <= high
        if known:
            assert told.seconds_between is not None
            in_time += told.seconds_between[0] * 0.97 <= last.spent <= told.seconds_between[1] * 1.03
    assert held >= 0.9 * count - 1
    assert in_time >= 0.9 * count - 1 or not known


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.full)])
def test_what_a_fixed_number_of_repeats_detects_lies_between_what_was_said_nine_times_of_ten(count: int) -> None:
    held = 0
    for seed in range(count):
        random = Random(seed)
        levels = random.choice(((1, 2, 4), (1, 2, 4, 8), (1, 2, 4, 8, 16, 32)))
        noise, repeats = random.uniform(0.01, 0.2), random.choice((4, 6, 9))
        first, last = (
            sweep({each: [random.lognormvariate(2, noise) for _ in range(most)] for each in levels})
            for most in (3, repeats)
        )
        asked = replace(last.head.experiment, repeat=repeats)
        told = detectable(asked, [cell(degree=each) for each in levels], [first])
        assert told is not None
        found = analyse(last).fit.noise.times(2 / repeats).minimum_detectable_pct()
        held += found is not None and told.detects.low <= found <= told.detects.high
    assert held >= 0.9 * count - 2
    assert detectable(asked, [cell(degree=1), cell(degree=2)], []) is None


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.full)])
def test_where_the_noise_varies_from_run_to_run_nine_of_ten_still_lie_between_what_was_said(count: int) -> None:
    held, levels = 0, (1, 2, 4)
    for seed in range(count):
        random = Random(seed)
        noises = [random.lognormvariate(-2, 0.6) for _ in range(14)]
        *earlier, last = (
            sweep({each: [random.lognormvariate(2, noise) for _ in range(5)] for each in levels})
            for noise in noises
        )
        asked = replace(last.head.experiment, repeat=5)
        told = detectable(asked, [cell(degree=each) for each in levels], earlier)
        found = analyse(last).fit.noise.times(2 / 5).minimum_detectable_pct()
        assert told is not None and found is not None
        held += told.detects.low <= found <= told.detects.high
    assert held >= 0.85 * count - 2


def test_a_fixed_number_of_repeats_is_said_with_its_time_where_all_was_run_before() -> None:
    run = sweep({1: level(2.0), 2: level(1.0, shift=3)})
    asked = replace(run.head.experiment, repeat=6, warmup=1)
    told, partly = (detectable(asked, [cell(degree=each) for each in cells], [run]) for cells in ((1, 2), (1, 4)))
    assert told is not None and partly is not None
    assert told.seconds == pytest.approx(7 * (2.0 + 1.0), rel=0.02) and partly.seconds is None
    assert "6 repeats detect" in told.sentence() and "they take about 21" in told.sentence()
    assert "they take" not in partly.sentence()


# -- how often it is wrong ----------------------------------------------------------------------------------------
@for_each("cells", [2, 3, 6, 12])
def test_equal_configurations_looked_at_again_and_again_differ_in_at_most_one_run_of_twenty(cells: int) -> None:
    rng, runs = np.random.default_rng(cells), 3000
    logs = rng.standard_normal((runs, LOOKS[-1], cells))
    told = np.zeros(runs, dtype=bool)
    for repeats in LOOKS:
        degrees = (cells - 1) * (repeats - 1)
        if degrees < FEWEST_DEGREES:
            continue
        seen = logs[:, :repeats]
        means, blocks = seen.mean(axis=1), seen.mean(axis=2, keepdims=True)
        rest = seen - means[:, None] - blocks + seen.mean(axis=(1, 2), keepdims=True)
        noise = np.sqrt((rest**2).sum(axis=(1, 2)) / degrees)
        widest = (means.max(axis=1) - means.min(axis=1)) * math.sqrt(repeats) / noise
        told |= widest > (
            range_quantile(SEQUENTIAL_CONFIDENCE, cells, degrees)
            if cells > 2
            else math.sqrt(2) * t_quantile((1 + SEQUENTIAL_CONFIDENCE) / 2, degrees)
        )
    # nobody ends early here, which is the worst case; one standard error is 0.4 %
    assert told.mean() <= 0.056


@pytest.mark.parametrize(("noise", "least"), [(0.03, 0.95), (0.08, 0.6)])
def test_a_difference_of_ten_per_cent_is_found_before_the_most_repeats(noise: float, least: float) -> None:
    rng, found, runs = np.random.default_rng(5), 0, 60
    for _ in range(runs):
        logs = noise * rng.standard_normal((3, LOOKS[-1])) + np.log([[1.1], [1.0], [1.0]])
        for repeats in LOOKS:
            run = until_known(
                {1: np.exp(logs[0, :repeats]), 2: np.exp(logs[1, :repeats]), 4: np.exp(logs[2, :repeats])}
            )
            after = decide(run)
            if after.reason:
                break
        interval = analyse(run).ratio(cell(degree=1), cell(degree=2))[1]
        found += interval is not None and interval.low > 1
    assert found / runs >= least
