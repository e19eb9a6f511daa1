"""How often something is found to differ although all is the same; seeded, so it never varies."""

from __future__ import annotations

import math
import random

import pytest

from tests.for_each import for_each
from tests.report.make import calm, cell, sweep
from tests.tiers import thinned
from toolkit.analysis.compare import compare
from toolkit.analysis.doubts import repeats_needed
from toolkit.analysis.fit import FEWEST_DEGREES, Noise, Observation, fit
from toolkit.model.records import RunRecord
from toolkit.model.words import Verdict

PAIRS = 300


def simulated(
    source: random.Random, name: str, cells: int, noise: float, drift: float, slower: float = 1.0
) -> RunRecord:
    blocks = [source.gauss(0, drift) for _ in range(3)]
    return sweep(
        {
            2**index: [slower * 8 / 1.8**index * math.exp(block + source.gauss(0, noise)) for block in blocks]
            for index in range(cells)
        },
        run=name,
    )


def compared(cells: int, drift: float, slower: float = 1.0, seed: int = 11) -> list[int]:
    """How many cells have a verdict, of each comparison."""
    source, history = random.Random(seed), calm(simulated(random.Random(1), "a", cells, 0.0, 0.0))
    return [
        sum(
            pair.verdict is not Verdict.INCONCLUSIVE
            for pair in compare(
                simulated(source, "a", cells, 0.03, drift),
                simulated(source, "b", cells, 0.03, drift, slower),
                history=history,
            ).pairs
        )
        for _ in range(PAIRS)
    ]


@pytest.mark.full
@pytest.mark.parametrize("cells", thinned([3, 1, 8], 3))
@pytest.mark.parametrize("drift", thinned([0.03, 0.0, 0.1], 3))
def test_identical_runs_of_three_repeats_differ_anywhere_in_about_one_comparison_of_twenty(
    cells: int, drift: float
) -> None:
    # 5 % expected; two and a half standard errors of so many comparisons allow for 8 %
    assert sum(verdicts > 0 for verdicts in compared(cells, drift)) / PAIRS <= 0.08


@pytest.mark.full
def test_a_difference_of_the_smallest_detectable_size_is_detected_most_of_the_time() -> None:
    # 3 cells, 3 repeats and 3 % noise, known by 4 degrees of freedom
    smallest = Noise(0.03**2 * 2 / 3, 4, pairs=3).minimum_detectable_pct()
    assert smallest is not None and 11 < smallest < 14
    assert sum(compared(3, 0.0, slower=1 + smallest / 100)) / (3 * PAIRS) >= 0.75


@for_each("repeats", [3, 5])
@for_each("cells", [2, 6, 12, 32])
def test_equal_configurations_of_one_run_differ_anywhere_in_about_one_run_of_twenty(
    cells: int, repeats: int
) -> None:
    if (cells - 1) * (repeats - 1) < FEWEST_DEGREES:
        repeats = 6
    source, alarms = random.Random(cells), 0
    for _ in range(PAIRS):
        blocks = [source.gauss(0, 0.2) for _ in range(repeats)]
        fitted = fit(
            [
                Observation(cell(degree=level), number, math.exp(block + source.gauss(0, 0.05)))
                for number, block in enumerate(blocks)
                for level in range(cells)
            ]
        )
        means = sorted(fitted.means, key=lambda each: fitted.ratio(each, cell(degree=0))[0])
        centre, noise = fitted.ratio(means[-1], means[0])  # where the widest apart do not differ, none do
        interval = noise.interval(centre)
        alarms += interval is not None and not interval.holds(1.0)
    assert 0.02 <= alarms / PAIRS <= 0.08


def test_the_repeats_that_a_run_asks_for_detect_the_difference_that_it_names() -> None:
    noise, cells = Noise(0.05**2, 8, 4), 4
    repeats = repeats_needed(noise, cells, 10.0)
    assert repeats is not None and 4 <= repeats <= 12
    source, detected = random.Random(7), 0
    for _ in range(PAIRS):
        fitted = fit(
            [
                Observation(
                    cell(degree=level), number, (1.1 if level == 3 else 1.0) * math.exp(source.gauss(0, 0.05))
                )
                for number in range(repeats)
                for level in range(cells)
            ]
        )
        centre, spread = fitted.ratio(cell(degree=3), cell(degree=0))
        interval = spread.interval(centre)
        detected += interval is not None and interval.low > 1
    assert detected / PAIRS >= 0.75
