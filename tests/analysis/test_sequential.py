"""A measurement that goes on until enough is known: when it ends, what it gives up, and how often it is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.for_each import for_each
from tests.report.make import cell, sweep
from toolkit.analysis.cells import analyse
from toolkit.analysis.fit import FEWEST_DEGREES, SEQUENTIAL_CONFIDENCE
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
from toolkit.design.order import plan_trials
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
