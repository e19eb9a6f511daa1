from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.report.make import cell
from toolkit.analysis.fit import FEWEST_DEGREES, Components, ConfidenceInterval, Noise, Observation, fit

A, B, C = (cell(degree=level) for level in (1, 2, 4))


def observe(times: dict[object, list[float | None]]) -> list[Observation]:
    return [
        Observation(of, block, value)  # type: ignore[arg-type]
        for of, values in times.items()
        for block, value in enumerate(values, 1)
        if value is not None
    ]


def test_the_residual_variance_is_that_of_the_two_way_layout() -> None:
    # by hand: logs 0,1 / 2,4 have cell and block effects and one residual of +-0.25 each: SS = 4 * 0.0625
    found = fit(observe({A: [1.0, math.e], B: [math.e**2, math.e**4]}))
    assert found.noise.degrees == 1
    assert found.noise.variance == pytest.approx(0.25)


def test_drift_that_hits_a_whole_sweep_leaves_no_noise() -> None:
    drift = [1.0, 1.5, 0.7]
    found = fit(observe({A: [8 * d for d in drift], B: [4 * d for d in drift], C: [2 * d for d in drift]}))
    assert found.noise.variance == pytest.approx(0, abs=1e-20)
    assert found.noise.degrees == 4
    difference, noise = found.ratio(A, B)
    assert math.exp(difference) == pytest.approx(2)
    assert noise.variance == pytest.approx(0, abs=1e-20)
    # between two runs the same drift does count
    assert found.components.single().variance > 0.05


def test_three_cells_of_three_repeats_are_the_fewest_with_an_interval() -> None:
    times = {A: [8.0, 8.1, 8.2], B: [4.0, 4.1, 4.05], C: [2.0, 2.02, 2.1]}
    assert fit(observe(times)).value_interval(A) is not None
    assert fit(observe({A: times[A], B: times[B]})).value_interval(A) is None


def test_a_missing_trial_costs_one_degree_of_freedom_and_widens_its_contrast() -> None:
    source = random.Random(3)
    times = {of: [8 * math.exp(source.gauss(0, 0.1)) for _ in range(4)] for of in (A, B, C)}
    whole, torn = fit(observe(times)), fit(observe({**times, A: [None, *times[A][1:]]}))
    assert torn.noise.degrees == whole.noise.degrees - 1
    factor = torn.ratio(A, B)[1].variance / torn.noise.variance
    assert factor > 1 / 3 + 1 / 4
    assert whole.ratio(A, B)[1].variance == pytest.approx(whole.noise.variance * 2 / 4)


def test_a_missing_trial_of_a_slow_sweep_does_not_make_its_cell_look_fast() -> None:
    # sweep 1 was twice as slow; A missed it and is in truth as fast as B
    found = fit(observe({A: [None, 4.0, 4.0, 4.0], B: [8.0, 4.0, 4.0, 4.0], C: [4.0, 2.0, 2.0, 2.0]}))
    assert found.ratio(A, B)[0] == pytest.approx(0, abs=1e-12)


def test_cells_that_share_no_sweep_are_fitted_without_blocks() -> None:
    found = fit([Observation(A, 1, 1.0), Observation(A, 2, 2.0), Observation(B, 3, 1.0), Observation(B, 4, 2.0)])
    assert found.noise.degrees == 2
    assert found.ratio(A, B)[0] == pytest.approx(0)


def test_nothing_observed_gives_no_degrees_of_freedom() -> None:
    assert fit([]).noise.degrees == 0


@given(st.integers(2, 5), st.integers(2, 6), st.integers(0, 10_000))
def test_within_a_complete_run_the_ratio_is_that_of_the_geometric_means(
    cells: int, repeats: int, seed: int
) -> None:
    source = random.Random(seed)
    of = [cell(degree=level) for level in range(1, cells + 1)]
    times: dict[object, list[float | None]] = {
        one: [math.exp(source.gauss(0, 0.3)) for _ in range(repeats)] for one in of
    }
    found = fit(observe(times))
    assert found.ratio(of[0], of[1])[0] == pytest.approx(found.means[of[0]] - found.means[of[1]])
    assert found.noise.degrees == (cells - 1) * (repeats - 1)


@given(st.floats(0.1, 10), st.integers(0, 1000))
def test_the_unit_of_time_does_not_change_the_noise(factor: float, seed: int) -> None:
    source = random.Random(seed)
    times = {of: [math.exp(source.gauss(1, 0.2)) for _ in range(3)] for of in (A, B, C)}
    scaled = {of: [value * factor for value in values] for of, values in times.items()}
    assert fit(observe(scaled)).noise.variance == pytest.approx(fit(observe(times)).noise.variance)  # type: ignore[arg-type]


def test_the_variance_of_a_single_observation_adds_the_blocks() -> None:
    # mean squares 6 between blocks (share 3) and 1 for the rest: 1 + (6 - 1) / 3
    noise = Components(12.0, 2, 4.0, 4, 3.0).single()
    assert noise.variance == pytest.approx(1 + 5 / 3)
    # the sweeps of one run are no independent witnesses of what two runs differ by
    assert noise.degrees == 2


def test_two_single_cells_pool_to_the_ordinary_t_test() -> None:
    one = Components(2.0, 2, 0.0, 0, 1.0)
    noise = one.pooled_with(Components(4.0, 2, 0.0, 0, 1.0)).single()
    assert (noise.variance, noise.degrees) == (pytest.approx(1.5), 4)


def test_the_smallest_tellable_difference_follows_its_formula() -> None:
    # t(0.975, 10) = 2.228 and t(0.80, 10) = 0.879, both published
    assert Noise(0.01**2, 10).minimum_detectable_pct() == pytest.approx((math.exp(0.03107) - 1) * 100, abs=0.001)
    assert Noise(0.0, 0).minimum_detectable_pct() is None


def test_an_interval_is_widened_to_a_median_outside_it() -> None:
    assert ConfidenceInterval(1.0, 2.0).reaching(2.5) == ConfidenceInterval(1.0, 2.5)
    assert ConfidenceInterval(1.0, 2.0).inverse() == ConfidenceInterval(0.5, 1.0)


@for_each(("degrees", "given"), [(0, False), (3, False), (3.99, False), (4, True), (9, True)])
def test_an_interval_needs_four_degrees_of_freedom(degrees: float, given: bool) -> None:
    assert FEWEST_DEGREES == 4
    assert (Noise(0.01, degrees).interval(0.0) is not None) is given


def test_the_interval_of_four_degrees_is_that_of_student() -> None:
    # t(0.975, 4) = 2.7764, published
    found = Noise(0.1**2, 4).interval(math.log(10))
    assert found is not None
    assert (found.low, found.high) == (
        pytest.approx(10 * math.exp(-0.27764), rel=1e-5),
        pytest.approx(10 * math.exp(0.27764), rel=1e-5),
    )


def test_shares_of_two_runs_are_averaged_by_their_degrees_of_freedom() -> None:
    pooled = Components(12.0, 2, 4.0, 4, 3.0).pooled_with(Components(10.0, 6, 1.0, 12, 5.0))
    assert pooled == Components(22.0, 8, 5.0, 16, (3.0 * 2 + 5.0 * 6) / 8)


def test_runs_without_blocks_pool_to_a_share_of_one() -> None:
    none = Components(0.0, 0, 0.0, 0, 4.0)
    assert none.pooled_with(none).share == 1.0


@for_each(("cells", "repeats"), [(2, 3), (3, 3), (3, 4), (4, 2)])
def test_in_complete_sweeps_a_block_is_shared_by_all_its_cells(cells: int, repeats: int) -> None:
    # of a complete layout (N - sum n_ij^2 / n_i.) / (b - 1) = (c * b - c) / (b - 1) = c
    times: dict[object, list[float | None]] = {
        cell(degree=level): [1.0 + level * block % 3 for block in range(repeats)] for level in range(1, cells + 1)
    }
    assert fit(observe(times)).components.share == pytest.approx(cells)


def test_a_missing_trial_lowers_the_share_of_a_block() -> None:
    # counts 1 1 1 / 1 1 0: N = 5, sum n_ij^2 / n_i. = 1 + 1, two degrees between three blocks
    torn = fit(observe({A: [1.0, 2.0, 3.0], B: [2.0, 3.0, None]}))
    assert torn.components.share == pytest.approx((5 - 2) / 2)
    assert (torn.components.block_degrees, torn.components.rest_degrees) == (2, 1)
