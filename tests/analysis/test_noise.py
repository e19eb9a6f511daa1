"""How much runs of identical work differ, and what two runs made at different times can carry."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.for_each import for_each
from tests.report.make import BEGAN, calm, cell, metric, put, run_of, sweep, trial
from toolkit.analysis.compare import compare
from toolkit.analysis.fit import Noise
from toolkit.analysis.judged import judged_of
from toolkit.analysis.limits import judge, parse_fail_if
from toolkit.analysis.noise import (
    FEWEST_RUN_DEGREES,
    NEWEST_RUNS,
    RunNoise,
    Spread,
    between_runs,
    load_of,
    run_means,
    run_noise,
    size_class,
    spelled_class,
    spread_of,
)
from toolkit.errors import ExitCode
from toolkit.model.records import RunRecord
from toolkit.model.words import Verdict
from toolkit.store import Store, open_store

TIMES = {1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05]}


def scaled(factor: float, run: str = "b", days: float = 0.0) -> RunRecord:
    made = sweep({level: [factor * value for value in values] for level, values in TIMES.items()}, run=run)
    return replace(made, head=replace(made.head, began_at=BEGAN + timedelta(days=days)))


def verdicts(history: tuple[RunRecord, ...], a: RunRecord, b: RunRecord) -> set[Verdict]:
    return {pair.verdict for pair in compare(a, b, history=history).pairs}


def test_two_runs_of_which_nothing_else_is_stored_carry_no_verdict_and_say_why() -> None:
    found = compare(sweep(TIMES, run="a"), scaled(2.0))
    assert {pair.verdict for pair in found.pairs} == {Verdict.INCONCLUSIVE}
    assert [(pair.ratio, pair.interval) for pair in found.pairs] == [(pytest.approx(2.0), None)] * 2
    assert found.between is not None and found.between.reason is not None
    assert "13 other runs of identical work; none is stored" in found.between.reason
    limit = judge(found, parse_fail_if("elapsed_seconds > +5%"))
    assert limit.exit_code() == ExitCode.INCOMPLETE
    assert "+100 %" in limit.not_judged[0]


def test_thirteen_runs_of_identical_work_carry_it_and_twelve_do_not() -> None:
    a = sweep(TIMES, run="a")
    assert verdicts(calm(a, FEWEST_RUN_DEGREES), a, scaled(2.0)) == {Verdict.INCONCLUSIVE}
    assert verdicts(calm(a, FEWEST_RUN_DEGREES + 1), a, scaled(2.0)) == {Verdict.SLOWER}
    met = judge(compare(a, scaled(2.0), history=calm(a)), parse_fail_if("elapsed_seconds > +5%"))
    assert met.exit_code() == ExitCode.DIFFERENCE


def test_a_difference_below_the_largest_between_two_stored_runs_is_none() -> None:
    a = sweep(TIMES, run="a")
    one_off = (*calm(a), scaled(1.3, "odd"))
    assert verdicts(one_off, a, scaled(1.25)) == {Verdict.INCONCLUSIVE}
    assert verdicts(one_off, a, scaled(1.5)) == {Verdict.SLOWER}


def test_the_two_runs_themselves_are_no_evidence_of_how_much_runs_differ() -> None:
    a, b = sweep(TIMES, run="a"), scaled(2.0)
    assert verdicts((*calm(a), a, b), a, b) == {Verdict.SLOWER}


def test_runs_further_apart_than_those_that_show_the_noise_carry_no_verdict() -> None:
    a = sweep(TIMES, run="a")
    assert verdicts(calm(a), a, scaled(2.0, days=13)) == {Verdict.SLOWER}
    late = compare(a, scaled(2.0, days=14), history=calm(a)).between
    assert late is not None and "they were made 14" in str(late.reason)


def loaded(run: RunRecord, pct: float) -> RunRecord:
    own = (metric("host_others_pct", pct, "%", "osstat"),)
    return replace(run, trials=tuple(replace(one, metrics=own) for one in run.trials))


def test_a_load_of_others_that_differs_more_than_usual_explains_a_difference() -> None:
    a = loaded(sweep(TIMES, run="a"), 5)
    history = tuple(loaded(run, 5 + number % 3) for number, run in enumerate(calm(a)))
    assert verdicts(history, a, loaded(scaled(2.0), 8)) == {Verdict.SLOWER}
    busy = compare(a, loaded(scaled(2.0), 60), history=history).between
    assert busy is not None and "others used 5.0 % of the host's CPU in A and 60" in str(busy.reason)
    restless = tuple(loaded(run, 4 * number) for number, run in enumerate(history))
    assert verdicts(restless, a, loaded(scaled(2.0), 50)) == {Verdict.SLOWER}


@for_each("what", ["operation", "engine", "database", "size"])
def test_runs_of_another_kind_show_nothing(what: str) -> None:
    a = sweep(TIMES, run="a")
    other = {
        "operation": lambda run: replace(run.head, experiment=replace(run.head.experiment, operation="insert")),
        "engine": lambda run: replace(run.head, engine="oracle"),
        "database": lambda run: replace(run.head, target_name="elsewhere"),
        "size": lambda run: run.head,
    }[what]
    history = tuple(
        replace(
            run,
            head=other(run),
            trials=tuple(replace(one, rows=7 if what == "size" else one.rows) for one in run.trials),
        )
        for run in calm(a)
    )
    assert verdicts(history, a, scaled(2.0)) == {Verdict.INCONCLUSIVE}


def test_a_configuration_counts_once_a_run_and_only_the_newest_runs_do() -> None:
    a = sweep(TIMES, run="a")
    found = run_noise(calm(a, 50), judged_of(a))
    assert (found.runs, found.spread.degrees, found.trials) == (NEWEST_RUNS, NEWEST_RUNS - 1, pytest.approx(3))
    assert all(len(means) == NEWEST_RUNS for means in run_means(calm(a, 50), judged_of(a)).values())


def test_nothing_known_of_nothing() -> None:
    found = run_noise((), judged_of(sweep(TIMES)))
    assert (found.runs, found.spread, found.loads) == (0, Spread(0.0, 0, 0.0), None)


def test_runs_with_fewer_trials_than_the_stored_ones_are_less_certain() -> None:
    stored = RunNoise(Spread(0.01**2, 20, 0.0), 21, 10.0, 0.1**2, 0.0, None)
    own = Noise(0.0, 0.0)
    same, single = stored.of_pair(own, 10, 10), stored.of_pair(own, 1, 1)
    assert same.variance == pytest.approx(2 * 0.01**2)
    assert single.variance == pytest.approx(2 * 0.01**2 + (2 - 0.2) * 0.1**2)
    noisy = stored.of_pair(Noise(0.5**2, 8), 10, 10)
    assert (noisy.variance, noisy.degrees) == (pytest.approx(0.5**2 / 5), 8)


@for_each(
    ("rows", "power", "spelled"),
    [
        (1_000_000, 6, "1M to 10M rows"),
        (999, 2, "100 to 1k rows"),
        (1, 0, "1 to 10 rows"),
        (None, None, "rows not"),
    ],
)
def test_a_size_class_is_a_power_of_ten_of_the_rows(rows: int | None, power: int | None, spelled: str) -> None:
    run = run_of([trial(1, cell(degree=1), 1, 2.0, rows=rows)])
    assert size_class(run) == power
    assert spelled_class(power).startswith(spelled)


def test_the_store_gives_earlier_runs_with_what_shows_their_noise(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "store.sqlite")) as store:
        _check_earlier_runs(store)


def _check_earlier_runs(store: Store) -> None:
    a = loaded(sweep(TIMES, run="a"), 5)
    for run in (a, scaled(2.0), *calm(a, 13), sweep(TIMES, run="other", operation="insert")):
        put(store, run)
    found = store.earlier_runs("duckdb", "demo", "ctas", {"host_others_pct"})
    assert {run.head.run for run in found} == {"a", "b", *(f"calm-{number:02}" for number in range(13))}
    assert len(store.earlier_runs("duckdb", "demo")) == 16
    assert store.earlier_runs("oracle", "demo") == store.earlier_runs("duckdb", "elsewhere") == []
    (stored,) = [run for run in found if run.head.run == "a"]
    assert [one.elapsed_seconds for one in stored.trials] == [one.elapsed_seconds for one in a.trials]
    assert [one.cell for one in stored.trials] == [one.cell for one in a.trials]
    assert [load_of(run) for run in found if run.head.run != "b"] == [5.0] * 14
    assert between_runs(a, scaled(2.0), found, judged_of(a)).noise.runs == 13


def test_of_one_experiment_the_store_gives_no_more_runs_than_asked_for(tmp_path: Path) -> None:
    a = loaded(sweep(TIMES, run="a"), 5)
    fewer = {1: TIMES[1]}
    with open_store(str(tmp_path / "store.sqlite")) as store:
        for run in (a, sweep(fewer, run="fewer"), *calm(a, 6)):
            put(store, run)
        found = store.earlier_runs("duckdb", "demo", "ctas", of_each=3)
        every = store.earlier_runs("duckdb", "demo", "ctas")
    newest = [run.head.run for run in every if run.head.run != "fewer"][:3]
    assert {run.head.run for run in found} == {*newest, "fewer"}
    assert all(run in every for run in found)


# -- how often it is wrong ----------------------------------------------------------------------------------------
PAIRS = 1500


def told(effects: np.ndarray, slower: float = 0.0) -> float:
    """Return how often two runs differ of which all but the last two columns are the stored ones."""
    found = 0
    for row in effects:
        spread = spread_of({("work", cell(degree=1)): row[:-2].tolist()})
        noise = RunNoise(spread, len(row) - 2, 3.0, 0.0, 0.0, None).of_pair(Noise(0.0, 0.0), 3, 3)
        interval = noise.interval(row[-1] - row[-2] + math.log1p(slower))
        found += interval is not None and not interval.holds(1.0)
    return found / len(effects)


def load_that_comes_and_goes(rng: np.random.Generator, part: float, stays: float, runs: int) -> np.ndarray:
    """Effects on the log scale: a load that is there in a part of all runs adds 40 %, beside noise of 3 %."""
    there = np.empty((PAIRS, runs), dtype=bool)
    there[:, 0] = rng.random(PAIRS) < part
    for number in range(1, runs):
        anew = rng.random(PAIRS) < part
        there[:, number] = np.where(rng.random(PAIRS) < stays, there[:, number - 1], anew)
    return np.log(1.4) * there + 0.03 * rng.standard_normal((PAIRS, runs))


@for_each("stays", [0.0, 0.5, 0.8])
@for_each("part", [0.0, 0.05, 0.1, 0.3, 0.5])
def test_runs_of_identical_work_under_a_load_that_comes_and_goes_differ_in_at_most_one_of_twenty(
    part: float, stays: float
) -> None:
    rng = np.random.default_rng(19)
    # one and a half standard errors of so many pairs are 0.8 %
    assert told(load_that_comes_and_goes(rng, part, stays, FEWEST_RUN_DEGREES + 3)) <= 0.058


def test_a_slow_down_beyond_the_noise_between_runs_is_found() -> None:
    rng = np.random.default_rng(19)
    quiet = 0.03 * rng.standard_normal((300, NEWEST_RUNS + 2))
    assert told(quiet, slower=0.25) >= 0.8
    assert told(quiet) <= 0.05
