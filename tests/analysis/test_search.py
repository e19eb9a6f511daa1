"""A search over levels: what it runs, what it leaves out, and how often it is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import fmean, median

import pytest

from tests.analysis.curves import (
    Machine,
    best_of_run,
    claims_falsely,
    drawn_grid,
    drawn_machine,
    recommended,
    searched,
    swept,
)
from tests.report.make import cell, run_of, trial
from tests.tiers import thinned
from toolkit.analysis.advice import advice
from toolkit.analysis.cells import analyse
from toolkit.analysis.doubts import spelled_difference
from toolkit.analysis.recommendation import recommend
from toolkit.analysis.search import (
    MATTERS_PCT,
    Prospect,
    after_sweep,
    decide,
    ended_because,
    first_to_run,
    left_to_do,
    not_run,
    what_a_search_needs,
    what_was_not_run,
)
from toolkit.analysis.sequential import given_up, how_it_ended, rule_of
from toolkit.analysis.verdict import verdict_line
from toolkit.design.order import cells_of, plan_trials
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell, Factor, Level
from toolkit.model.words import Outcome, RunState

DEGREES = Factor("degree", tuple(range(1, 33)))


def machine(times: Callable[[float], float], factor: Factor = DEGREES, noise: float = 0.02) -> Machine:
    cells = cells_of([factor])
    return Machine("given", (factor,), {each: times(float(each[factor.name])) for each in cells}, noise)


def search_run(
    trials: tuple[TrialRecord, ...] = (), *factors: Factor, state: RunState = RunState.DONE
) -> RunRecord:
    made = run_of(trials, factors=factors or (DEGREES,))
    experiment = replace(made.head.experiment, detect_pct=10.0, repeat=20, search=True)
    return replace(made, head=replace(made.head, experiment=experiment, state=state))


def of_levels(times: Mapping[Level, float | None], sweep: int = 1, first: int = 1) -> tuple[TrialRecord, ...]:
    """Trials of one sweep; without a time they failed."""
    return tuple(
        trial(first + at, cell(degree=level), sweep, seconds,
              outcome=Outcome.FAILED if seconds is None else Outcome.OK, reason=None if seconds else "no memory")
        for at, (level, seconds) in enumerate(times.items())
    )  # fmt: skip


def levels(cells: frozenset[Cell] | None) -> list[int]:
    return sorted(int(each["degree"]) for each in cells or ())


# -- what it runs -----------------------------------------------------------------------------------------------
def test_it_begins_wide_and_does_not_warm_up_with_the_lowest_level() -> None:
    run = search_run()
    assert levels(after_sweep(-1, lambda: run).cells) == [6, 32]
    assert levels(after_sweep(0, lambda: run).cells) == [1, 6, 32]


def test_two_factors_begin_with_the_corners_and_the_middle() -> None:
    run = search_run((), Factor("degree", (1, 2, 4, 8, 16)), Factor("memory", ("1M", "8M", "64M")))
    begun = after_sweep(0, lambda: run).cells or frozenset()
    found = {(each["degree"], each["memory"]) for each in begun}
    assert found == {(1, "1M"), (1, "64M"), (16, "1M"), (16, "64M"), (4, "8M")}


def test_a_fixed_factor_beside_is_no_dimension_of_the_search() -> None:
    run = search_run((), DEGREES, Factor("compression", ("none",)))
    assert {each["compression"] for each in after_sweep(0, lambda: run).cells or ()} == {"none"}


def test_what_is_known_does_not_depend_on_a_sweep_that_has_begun() -> None:
    first = of_levels({1: 10.0, 6: 3.0, 32: 9.0})
    whole = after_sweep(1, lambda: search_run(first))
    begun = after_sweep(1, lambda: search_run((*first, *of_levels({6: 30.0}, sweep=2, first=4))))
    assert whole == begun and whole.cells


def test_a_second_valley_between_what_was_run_first_is_found() -> None:
    valley = machine(lambda n: 4.0 if 12 <= n <= 16 else 10.0)
    found = searched(valley, 1)
    assert 12 <= int(best_of_run(found)["degree"]) <= 16


def test_all_alike_needs_few_of_many() -> None:
    found = searched(machine(lambda _: 10.0, noise=0.01), 3)
    assert len({each.cell for each in found.run.trials}) <= 8
    assert decide(found.run).reason and not claims_falsely(machine(lambda _: 10.0), found)


def test_where_levels_fail_their_neighbours_are_not_tried_one_by_one() -> None:
    run = search_run(of_levels({1: 10.0, 6: 3.0, 32: None}))
    after = decide(run)
    assert levels(after.cells)[-1] <= 20 and 6 in levels(after.cells)
    upper = [group for group in not_run(run) if group.expected is Prospect.NO_RESULT]
    assert [levels(frozenset(group.cells))[-1] for group in upper] == [31]
    assert "had no result or were downgraded" in what_was_not_run(run)[0]


def test_what_is_downgraded_is_neither_the_best_nor_run_again() -> None:
    less = trial(3, cell(degree=32), 1, 1.0, outcome=Outcome.DOWNGRADED, reason="4 of 32")
    after = decide(search_run((*of_levels({1: 10.0, 6: 3.0}), less)))
    assert 32 not in levels(after.cells) and 6 in levels(after.cells)


def test_what_a_search_takes_for_the_best_is_not_called_the_best_of_those_not_downgraded() -> None:
    """One that was run once had a lower time, by luck; nothing was downgraded."""
    trials: list[TrialRecord] = []
    for number in range(1, 9):
        times: dict[Level, float | None] = {1: 4.0 + number % 3, 6: 5.0 - number % 3}
        trials += of_levels(times | ({7: 2.9} if number == 1 else {}), sweep=number, first=len(trials) + 1)
    told = advice(search_run(tuple(trials)))
    assert told.best != cell(degree=7)
    text = " ".join((told.headline, *told.sentences))
    assert "not downgraded" not in text
    assert f"`{told.best}` had the best prediction, " in text


def test_what_an_inconclusive_search_detects_is_that_of_what_it_ran_again() -> None:
    """Most levels are run once, and nobody could tell much of those."""
    trials: list[TrialRecord] = []
    for number in range(1, 9):
        times: dict[Level, float | None] = {1: 4.0 + number % 3, 6: 5.0 - number % 3}
        trials += of_levels(times | ({7: 4.5} if number == 1 else {}), sweep=number, first=len(trials) + 1)
    run = search_run(tuple(trials))
    found = analyse(run)
    shown = found.fit.noise.times(2 / 8).minimum_detectable_pct()
    assert found.detectable_pct([one.cell for one in found.cells]) == shown
    spelled = spelled_difference(shown or 0.0)
    assert advice(run).headline.endswith(f"the minimum detectable effect is {spelled}")
    assert f"only {spelled} or more would have shown" in verdict_line(run)


# -- when it ends -----------------------------------------------------------------------------------------------
def test_it_ends_where_nothing_has_a_result() -> None:
    failed = search_run(of_levels({1: None, 6: None, 32: None}))
    assert "no configuration that was tried has a result" in decide(failed).reason
    assert [group.expected for group in not_run(failed)] == [Prospect.OPEN]
    assert "no trial succeeded" in advice(failed).headline


@pytest.mark.parametrize("seconds", [0.0, 1e-12, 1e9])
def test_odd_times_end_it_without_a_warning_of_numbers(seconds: float) -> None:
    run = search_run(of_levels({1: seconds, 6: 1.0, 32: 1.0}))
    for sweep in range(2, 7):
        cells = decide(run).cells or frozenset()
        times: dict[Level, float | None] = dict.fromkeys(levels(cells), 1.0)
        more = of_levels(times, sweep=sweep, first=len(run.trials) + 1)
        run = replace(run, trials=(*run.trials, *more))
    assert not_run(run) and how_it_ended(run) and recommend(run)


def test_a_level_is_not_the_best_by_one_trial_that_was_lucky() -> None:
    found = searched(machine(lambda n: 10 / n + n / 4), 5)
    lucky = next(each.trial for each in found.run.trials if each.cell == cell(degree=32) and each.repeat)
    spoilt = tuple(
        replace(each, elapsed_seconds=1e-3) if each.trial == lucky else each for each in found.run.trials
    )
    after = decide(replace(found.run, trials=spoilt))
    assert not after.reason and 32 in levels(after.cells)


@pytest.mark.full
def test_a_thousand_levels_and_few_sweeps_are_searched() -> None:
    wide = machine(lambda n: 100 / n + n / 50, Factor("degree", tuple(range(1, 1001))))
    found = searched(wide, 2)
    assert len({each.cell for each in found.run.trials}) < 30
    assert wide.seconds[best_of_run(found)] / min(wide.seconds.values()) < 1.03


# -- what it tells ----------------------------------------------------------------------------------------------
def test_where_the_lowest_is_the_best_it_is_said_of_those_that_were_run_only() -> None:
    told = advice(searched(machine(lambda n: 10 + n), 2).run)
    assert "use `degree=1`" in told.headline and "every higher degree that was run is slower" in told.headline


def test_the_report_claims_nothing_of_what_was_not_run() -> None:
    found = searched(machine(lambda n: 10 / n + 0.2 * n), 7)
    ran = {each.cell for each in found.run.trials}
    told = advice(found.run)
    assert set(told.recommended) <= ran
    assert "no higher" not in told.headline or "that was run" in told.headline
    left = not_run(found.run)
    assert {each for group in left for each in group.cells} == set(cells_of([DEGREES])) - ran
    assert "never run, so nothing is claimed of them" in how_it_ended(found.run)[-1]
    assert "of 32 configurations were run" in ended_because(found.run)
    assert given_up(found.run) == {}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_predicted_to_be_worse_is_worse_and_nothing_better_is_left_out(seed: int) -> None:
    curve = machine(lambda n: (1 + 0.05 * (n - 1) + 0.004 * n * (n - 1)) / n)
    found = searched(curve, seed)
    best = curve.seconds[best_of_run(found)]
    for group in not_run(found.run):
        least = min(curve.seconds[each] for each in group.cells)
        assert least >= best / (1 + MATTERS_PCT / 100)
        assert group.expected is not Prospect.WORSE or least >= best * (1 + group.worse_pct / 200)


def test_why_it_has_no_more_trials_is_said_for_a_budget_and_for_the_most_sweeps() -> None:
    run = search_run(of_levels({1: 10.0, 6: 3.0, 32: 9.0}))
    cut = replace(run, head=replace(run.head, experiment=replace(run.head.experiment, budget_seconds=90.0)))
    assert "the budget of 90.0 s was used up" in ended_because(cut)
    most = replace(run, head=replace(run.head, experiment=replace(run.head.experiment, repeat=1)))
    assert "the most there are" in ended_because(most)


def test_what_it_will_take_is_told_from_the_last_search_alike() -> None:
    run = search_run(of_levels({1: 10.0, 6: 3.0, 32: 9.0}))
    experiment = run.head.experiment
    assert "it begins with `degree=1`, `degree=6`, `degree=32`" in what_a_search_needs(experiment, [])
    assert "no such search is stored" in what_a_search_needs(replace(experiment, options={}), [run])
    assert "the last one ran 3 configurations in 40.0 s" in what_a_search_needs(experiment, [run])


def test_what_to_measure_next_is_no_search_and_has_the_levels_that_were_run() -> None:
    run = search_run(of_levels({1: 10.0, 6: 3.0, 32: 9.0}))
    following = recommend(run).following
    assert following is not None and not following.experiment.search
    assert following.experiment.factors[0].levels == (1, 6, 32)


# -- resuming ---------------------------------------------------------------------------------------------------
def test_a_resumed_search_goes_on_with_what_the_sweep_that_was_cut_off_lacks() -> None:
    planned = plan_trials((DEGREES,), repeat=20, warmup=1, seed=4)
    by_place = {(each.repeat, each.cell): each for each in planned}

    def ran(sweep: int, level: int, outcome: Outcome = Outcome.OK) -> TrialRecord:
        of = cell(degree=level)
        return trial(by_place[sweep, of].number, of, sweep, 3.0, outcome=outcome)

    done = (*(ran(0, level) for level in (6, 32)), *(ran(1, level) for level in (1, 6)))
    run = search_run((*done, ran(1, 32, Outcome.INTERRUPTED)), state=RunState.INTERRUPTED)
    left = left_to_do(planned, run)
    assert {(each.repeat, int(each.cell["degree"])) for each in left if each.repeat <= 1} == {
        *((0, 6), (0, 32)), *((1, 1), (1, 6), (1, 32)),
    }  # fmt: skip
    assert {each.repeat for each in left} == set(range(21))
    assert left_to_do(planned, search_run()) == planned
    assert levels(frozenset(each.cell for each in first_to_run(run.head.experiment, planned))) == [1, 6, 32]


def test_a_search_that_has_ended_is_not_gone_on_with() -> None:
    found = searched(machine(lambda n: 10 / n + 0.2 * n, noise=0.01), 7).run
    planned = plan_trials((DEGREES,), repeat=20, warmup=1, seed=4)
    numbers = {(each.repeat, each.cell): each.number for each in planned}
    run = replace(found, trials=tuple(replace(one, trial=numbers[one.repeat, one.cell]) for one in found.trials))
    assert {each.number for each in left_to_do(planned, run)} == {one.trial for one in run.trials}
    assert rule_of(run.head.experiment) is after_sweep


# -- how often it is wrong --------------------------------------------------------------------------------------
def _proved(draw: Callable[[int], Machine], count: int) -> None:
    shares, near, false = [], [], []
    for seed in range(count):
        one = draw(seed)
        found, every = searched(one, seed), swept(one, seed + 10**6)
        shares.append(found.spent / every.spent)
        near.append(one.seconds[best_of_run(found)] <= 1.03 * one.seconds[best_of_run(every)])
        false.append(claims_falsely(one, found))
        assert set(recommended(found)) <= {each.cell for each in found.run.trials}
    assert median(shares) <= 0.25
    assert fmean(near) >= 0.95
    assert fmean(false) <= 0.05


@pytest.mark.parametrize(("draw", "count"), thinned([(drawn_machine, 8), (drawn_grid, 3)], 2))
@pytest.mark.full
def test_a_search_takes_a_quarter_of_the_time_and_finds_the_best(
    draw: Callable[[int], Machine], count: int
) -> None:
    _proved(draw, count)


@pytest.mark.full
@pytest.mark.parametrize(("draw", "count"), [(drawn_machine, 200), (drawn_grid, 60)])
def test_so_it_is_on_200_curves_and_60_grids(draw: Callable[[int], Machine], count: int) -> None:
    _proved(draw, count)


@pytest.mark.full
def test_equal_levels_are_told_apart_in_at_most_one_search_of_twenty() -> None:
    flat = machine(lambda _: math.e, Factor("degree", tuple(range(1, 17))), noise=0.06)
    told = sum(claims_falsely(flat, searched(flat, seed)) for seed in range(200))
    assert told <= 10
