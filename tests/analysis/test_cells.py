from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.make import cell, run_of, sweep, sweep_trials, trial
from toolkit.analysis.cells import analyse, cells
from toolkit.analysis.fit import fit
from toolkit.analysis.judged import Judged
from toolkit.model.operations import JudgedBy
from toolkit.model.values import Factor
from toolkit.model.words import Outcome

TIME = Judged(JudgedBy())


def test_a_cell_is_summarised_by_its_median_interval_and_speed_up() -> None:
    found = cells(sweep({1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}))
    assert [summary.median for summary in found] == [8.1, 4.05, 2.04]
    assert [summary.speedup for summary in found] == [1.0, 2.0, pytest.approx(8.1 / 2.04)]
    assert [summary.efficiency for summary in found] == [1.0, 1.0, pytest.approx(8.1 / 2.04 / 4)]
    for summary in found:
        assert summary.ci_low is not None
        assert summary.ci_high is not None
        assert summary.ci_low < (summary.median or 0) < summary.ci_high
    assert found[0].speedup_low is None
    assert (found[1].speedup_low or 9) < 2.0 < (found[1].speedup_high or 0)


def test_the_interval_is_the_pooled_t_interval_with_sweeps_taken_out() -> None:
    found = cells(sweep({1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}))
    # worked out apart: residuals of logs after cell and sweep means, 4 degrees of freedom, t = 2.7764
    logs = [[math.log(v) for v in row] for row in ([8.0, 8.2, 8.1], [4.1, 4.0, 4.05], [2.0, 2.1, 2.04])]
    rows, columns = [sum(r) / 3 for r in logs], [sum(c) / 3 for c in zip(*logs, strict=True)]
    grand = sum(rows) / 3
    squares = sum((logs[i][j] - rows[i] - columns[j] + grand) ** 2 for i in range(3) for j in range(3))
    half = 2.7764451 * math.sqrt(squares / 4 / 3)
    assert found[0].ci_low == pytest.approx(math.exp(rows[0] - half))
    assert found[0].ci_high == pytest.approx(math.exp(rows[0] + half))


def test_warm_ups_disturbed_and_failed_trials_are_kept_out_but_told() -> None:
    of = cell(degree=2)
    run = run_of(
        [
            trial(1, of, 0, 99.0),
            trial(2, of, 1, 4.0),
            trial(3, of, 2, 50.0, disturbed=True),
            trial(4, of, 3, None, outcome=Outcome.DOWNGRADED, reason="2 asked, 1 granted"),
        ]
    )
    (summary,) = cells(run)
    assert (summary.n, summary.median, summary.values) == (1, 4.0, (4.0,))
    assert summary.outcomes == {Outcome.OK: 2, Outcome.DOWNGRADED: 1}
    assert summary.disturbed == 1
    assert summary.reasons == ("2 asked, 1 granted",)
    assert summary.ci_low is None


def test_speed_up_is_within_equal_levels_of_the_other_factors() -> None:
    times = {
        cell(degree=1, compression="none"): [8.0],
        cell(degree=2, compression="none"): [4.0],
        cell(degree=1, compression="basic"): [12.0],
        cell(degree=2, compression="basic"): [10.0],
    }
    found = {str(summary.cell): summary.speedup for summary in cells(run_of(sweep_trials(times)))}
    assert found["degree=2,compression=none"] == 2.0
    assert found["degree=2,compression=basic"] == 1.2


def test_there_is_no_speed_up_without_a_lower_level_or_without_its_time() -> None:
    assert [summary.speedup for summary in cells(sweep({4: [2.0, 2.1]}))] == [None]
    assert [summary.speedup for summary in cells(sweep({1: [None], 2: [4.0], 4: [2.0]}))] == [None, None, None]
    assert [summary.speedup for summary in cells(sweep({"none": [2.0], "zstd": [3.0]}, factor="compression"))] == [
        None,
        None,
    ]


def test_an_analysis_keeps_its_run_and_finds_each_cell() -> None:
    run = sweep({1: [8.0, 8.2], 2: [4.0, 4.1]})
    found = analyse(run)
    assert (found.run, found.scale) == (run, "degree")
    assert found.by_cell == {summary.cell: summary for summary in found.cells}
    assert list(found.by_cell) == [cell(degree=1), cell(degree=2)]


def test_the_interval_of_a_speed_up_is_that_of_the_difference_of_the_logs() -> None:
    found = cells(sweep({1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}))
    fitted = fit(TIME.observed(sweep({1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}).trials))
    middle = fitted.means[cell(degree=1)] - fitted.means[cell(degree=4)]
    # 5.0402: the studentized range of three values, with four degrees of freedom, at 95 %
    half = 5.04024 / math.sqrt(2) * math.sqrt(fitted.noise.variance * 2 / 3)
    assert found[2].speedup_low == pytest.approx(math.exp(middle - half), rel=1e-5)
    assert found[2].speedup_high == pytest.approx(math.exp(middle + half), rel=1e-5)


def test_times_that_are_not_positive_do_not_enter() -> None:
    run = run_of([trial(1, cell(degree=1), 1, 0.0), trial(2, cell(degree=1), 2, 3.0)])
    (summary,) = cells(run)
    assert summary.values == (3.0,)
    assert [(seen.block, seen.value) for seen in TIME.observed(run.trials)] == [(2, 3.0)]


def test_efficiency_is_against_the_lowest_level_that_was_measured() -> None:
    found = cells(sweep({2: [8.0], 4: [4.0], 8: [4.0]}))
    assert [(summary.speedup, summary.efficiency) for summary in found] == [(1.0, 1.0), (2.0, 1.0), (2.0, 0.5)]


def test_a_level_that_is_no_number_has_a_speed_up_but_no_efficiency() -> None:
    found = cells(sweep({1: [8.0], "default": [2.0]}))
    assert (found[1].speedup, found[1].efficiency) == (4.0, None)


def test_cells_stand_in_the_order_of_the_levels_and_not_of_the_trials() -> None:
    run = sweep({4: [2.0], 1: [8.0], 2: [4.0]}, factors=[Factor("degree", (1, 2, 4))])
    assert [summary.cell["degree"] for summary in cells(run)] == [1, 2, 4]


def test_a_run_without_trials_has_no_cells() -> None:
    assert cells(run_of([])) == ()


def test_a_time_of_zero_has_no_logarithm_and_does_not_count() -> None:
    run = sweep({1: [8.0, 8.0]})
    broken = replace(run, trials=(run.trials[0], replace(run.trials[1], elapsed_seconds=0.0)))
    assert cells(broken)[0].n == 1


@given(st.lists(st.lists(st.floats(0.01, 100), min_size=3, max_size=3), min_size=3, max_size=5))
def test_a_median_never_stands_outside_its_interval(times: list[list[float]]) -> None:
    for summary in cells(sweep({2**index: row for index, row in enumerate(times)})):
        assert summary.ci_low is not None
        assert summary.ci_high is not None
        assert summary.median is not None
        assert summary.ci_low <= summary.median <= summary.ci_high


def test_what_is_detected_goes_by_the_configuration_run_least_and_in_a_search_by_the_second_most() -> None:
    run = sweep({1: [2.0, 2.1, 2.0, 2.1, 2.05], 2: [1.0, 1.1, 1.0, 1.1], 4: [0.5, 0.52, 0.51]})
    found, of = analyse(run), [cell(degree=n) for n in (1, 2, 4)]
    assert found.detectable_pct(of) == found.fit.noise.times(2 / 3).minimum_detectable_pct()
    assert found.detectable_pct(of[:2]) == found.fit.noise.times(2 / 4).minimum_detectable_pct()
    experiment = replace(run.head.experiment, search=True)
    searched = analyse(replace(run, head=replace(run.head, experiment=experiment)))
    assert searched.detectable_pct(of) == searched.fit.noise.times(2 / 4).minimum_detectable_pct()
    assert searched.detectable_pct(of[:1]) == searched.fit.noise.times(2 / 5).minimum_detectable_pct()
