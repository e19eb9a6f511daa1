"""Scaling laws: what is fitted, and how often the interval of the peak covers the truth."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tests.for_each import for_each
from tests.report.make import cell, metric, sweep, trial
from toolkit.analysis.advice import advice
from toolkit.analysis.laws import MeasuredLevel, ScalingLaw, scaling_law
from toolkit.model.records import RunRecord
from toolkit.model.words import Outcome

CURVES = 500


def points(
    law: ScalingLaw, levels: Sequence[float], noise: float = 0.0, source: Random | None = None
) -> list[MeasuredLevel]:
    drawn = source or Random(0)
    return [
        MeasuredLevel(
            level, 10 * law.times(level) * math.exp(drawn.gauss(0, noise) if noise else 0), (noise or 0.01) ** 2
        )
        for level in levels
    ]


def truth(serial: float, peak: float) -> ScalingLaw:
    return ScalingLaw(serial, 0.0 if math.isinf(peak) else (1 - serial) / peak**2, peak, peak, peak)


@for_each(("serial", "peak"), [(0.05, 8.0), (0.2, 12.0), (0.0, 5.0), (0.1, math.inf)])
def test_a_curve_without_noise_gives_its_law_back(serial: float, peak: float) -> None:
    found = scaling_law(points(truth(serial, peak), (1, 2, 4, 8, 16, 32)), 10)
    assert found is not None
    assert found.serial == pytest.approx(serial, abs=0.01)
    assert found.peak == pytest.approx(peak, rel=0.02)
    assert found.peak_low <= found.peak <= found.peak_high


@pytest.mark.full
def test_the_interval_of_the_peak_covers_the_truth_in_93_of_100_curves() -> None:
    source, covered = Random(23), 0
    for _ in range(CURVES):
        law = truth(source.uniform(0, 0.3), 2 ** source.uniform(1, 5.5))
        noise = source.uniform(0.01, 0.06)
        found = scaling_law(points(law, (1, 2, 4, 8, 16, 32)[: source.randint(4, 6)], noise, source), 60)
        covered += found is not None and found.peak_low <= law.peak <= found.peak_high
    assert covered / CURVES >= 0.93


@pytest.mark.full
def test_without_a_peak_the_interval_reaches_to_none() -> None:
    source = Random(24)
    found = [scaling_law(points(truth(0.1, math.inf), (1, 2, 4, 8), 0.03, source), 20) for _ in range(200)]
    assert sum(one is not None and math.isinf(one.peak_high) for one in found) / 200 >= 0.93


def test_what_follows_no_such_law_is_not_fitted() -> None:
    steps = [
        MeasuredLevel(level, seconds, 1e-4)
        for level, seconds in ((1, 10), (2, 9.9), (4, 2.5), (8, 9.0), (16, 2.0))
    ]
    assert scaling_law(steps, 20) is None


def test_the_knee_is_where_one_more_doubling_gains_too_little() -> None:
    law = truth(0.05, 8.0)
    assert law.knee((1, 2, 4, 8), 10) == 8
    assert law.times(4) / law.times(8) > 1.1 > law.times(8) / law.times(16)
    assert truth(0.0, math.inf).knee((1, 2, 4, 8), 10) is None


@pytest.mark.parametrize("seconds", [[1.0] * 4, [1.0, 2.0, 4.0, 8.0], [1e-9, 1e9, 1.0, 2.0]])
def test_odd_times_have_no_law_or_one_of_numbers(seconds: list[float]) -> None:
    law = scaling_law([MeasuredLevel(2.0**at, each, 0.0) for at, each in enumerate(seconds)], 8)
    assert law is None or all(0 < law.times(level) < math.inf for level in (1, 2, 4, 8))


# -- in the advice on a run -------------------------------------------------------------------------------------
def run_by(law: ScalingLaw, levels: Sequence[int]) -> RunRecord:
    """Return a run whose levels have noise and means that are those of the law."""
    noise = (0.98, 1.0, 1.02, 1.0)
    return sweep(
        {
            level: [10 * law.times(level) * shift for shift in (*noise[at % 4 :], *noise[: at % 4])]
            for at, level in enumerate(levels)
        },
        environment={},
    )


def told_of(run: RunRecord) -> str:
    return "\n".join(advice(run).sentences)


def test_four_levels_name_the_peak_the_serial_share_and_the_knee() -> None:
    told = told_of(run_by(truth(0.05, 6.0), (1, 2, 4, 8)))
    assert "by the Universal Scalability Law fitted to 4 levels, degree " in told
    best = re.search(r"degree ([\d.]+) is best \(([\d.]+) to ([\d.]+) at 95 %\), and ([\d.]+) %", told)
    assert best is not None, told
    assert float(best[1]) == pytest.approx(6.0, rel=0.02)
    assert 4 < float(best[2]) < 6 < float(best[3]) < 9
    assert "from degree 4 on one more doubling gains less than this run can show" in told


def test_where_another_level_is_recommended_than_the_law_puts_first_it_says_why() -> None:
    told = advice(run_by(truth(0.05, 6.0), (1, 2, 4, 8)))
    assert list(map(str, told.recommended)) == ["degree=4"]
    law = truth(0.05, 6.0)
    more = 100 * (law.times(4) / law.times(6) - 1)
    (said,) = [one for one in told.sentences if "all the same" in one]
    assert said.startswith(
        "degree 4 is recommended all the same, the smallest that is not measurably slower than the best that was "
        "measured by more than 5 %; by the law that means "
    ), said
    means = re.search(r"by the law that means ([\d.]+) % more time$", said)
    assert means is not None and float(means[1]) == pytest.approx(more, abs=1.0)
    higher = told_of(run_by(truth(0.05, 30.0), (1, 2, 4, 8)))
    assert "degree 8 is recommended all the same, the highest that was measured and granted; by the law" in higher
    assert "all the same" not in told_of(run_by(truth(0.1, math.inf), (1, 2, 4, 8)))


def test_the_knee_is_not_before_the_level_that_is_chosen() -> None:
    """A curve that is no law's: the first doubling gains much, and the law fitted to all levels levels it out."""
    took = {1: 1.0, 2: 0.62, 4: 0.70, 8: 0.73, 16: 0.94, 32: 0.96}
    noise = (0.84, 1.0, 1.19, 1.0)
    run = sweep({level: [10 * each * shift for shift in (*noise[at % 4 :], *noise[: at % 4])]
                 for at, (level, each) in enumerate(took.items())}, environment={})  # fmt: skip
    told = told_of(run)
    assert "from degree 2 on one more doubling" in told, told
    assert "from degree 1 on" not in told, told


def test_without_a_peak_it_is_the_law_of_amdahl_and_its_bound() -> None:
    told = told_of(run_by(truth(0.1, math.inf), (1, 2, 4, 8)))
    assert "by Amdahl's law fitted to 4 levels, 10 % of the work is serial: however many" in told
    assert "at most 10.0 times" in told


@pytest.mark.parametrize("levels", [(1, 2), (1, 2, 4)])
def test_fewer_levels_have_no_law(levels: Sequence[int]) -> None:
    assert "law" not in told_of(run_by(truth(0.05, 6.0), levels)).lower()


def test_what_was_downgraded_is_no_point_of_the_law() -> None:
    run = run_by(truth(0.05, 6.0), (1, 2, 4, 8))
    more = trial(99, cell(degree=8), 9, None, outcome=Outcome.DOWNGRADED, reason="got 2")
    assert "law" not in told_of(replace(run, trials=(*run.trials, more))).lower()


def test_more_than_linear_is_named_and_not_fitted() -> None:
    run = sweep(
        {1: [20.0, 20.1, 19.9], 2: [7.0, 7.1, 6.9], 4: [3.0, 3.1, 2.9], 8: [1.5, 1.51, 1.49]}, environment={}
    )
    told = told_of(run)
    assert "no scaling law is fitted: gains that are more than linear mean" in told
    assert "Universal" not in told and "Amdahl" not in told


def test_the_least_cpu_time_is_named_beside_the_next_as_a_figure_and_no_finding() -> None:
    run = run_by(truth(0.05, 6.0), (1, 2, 4, 8))
    used = {1: 8.0, 2: 7.0, 4: 9.0, 8: 12.0}
    spent = [
        replace(one, metrics=(metric("DB CPU (session)", used[int(str(one.cell["degree"]))], "s"),))
        for one in run.trials
    ]
    told = told_of(replace(run, trials=tuple(spent)))
    assert "least with degree 2: 7.00 s, and 8.00 s with 1 (no test was made of that)" in told
