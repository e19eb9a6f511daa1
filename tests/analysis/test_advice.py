from __future__ import annotations

import re
from dataclasses import replace

from tests.report.make import cell, run_of, sweep, sweep_trials, trial
from toolkit.analysis.advice import advice
from toolkit.analysis.doubts import repeats_needed
from toolkit.analysis.fit import Noise
from toolkit.analysis.recommendation import recommend
from toolkit.design.order import budget_used_up
from toolkit.model.words import Mode, Outcome, RunState


def test_the_smallest_degree_that_is_as_good_as_the_best_is_recommended() -> None:
    told = advice(sweep({1: [10.1, 10.0, 10.3], 2: [5.3, 5.2, 5.25], 4: [5.2, 5.25, 5.15], 8: [6.1, 6.0, 6.2]}))
    assert told.best == cell(degree=4)
    assert told.recommended == (cell(degree=2),)
    assert told.headline.startswith("use `degree=2`: 5.25 s (")
    assert "1.92x as fast as `degree=1` (" in told.headline
    assert [sentence.split(" (")[0] for sentence in told.sentences] == [
        "degree 4 exceeds the 2 CPUs and brings no measurable gain",
        "degree 8 exceeds the 2 CPUs and loses time",
        "the times follow no scaling law within their noise: no peak is estimated",
    ]
    assert not any("CPUs" in doubt for doubt in told.doubts)


def test_with_enough_cpus_they_are_not_blamed() -> None:
    times = {1: [10.1, 10.0, 10.3], 2: [5.3, 5.2, 5.25], 4: [5.2, 5.25, 5.15], 8: [5.3, 5.25, 5.2]}
    told = advice(sweep(times, environment={"cpu_count": 16}))
    only, _ = told.sentences
    assert only.startswith("degree 4, 8 bring no measurable gain (degree 4: ")


def test_a_clear_scale_recommends_the_highest_degree() -> None:
    told = advice(sweep({1: [8.0, 8.1, 8.2], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}))
    assert told.recommended == (told.best,) == (cell(degree=4),)
    assert told.headline.startswith("use `degree=4`: 2.04 s (")
    assert told.sentences == ()
    assert "degree 4 exceeds the 2 CPUs" in told.doubts


def test_when_the_lowest_degree_is_best_it_is_recommended() -> None:
    told = advice(sweep({1: [5.0, 5.1, 5.05], 2: [5.6, 5.7, 5.65], 4: [6.0, 6.1, 6.05]}))
    assert told.recommended == (cell(degree=1),)
    assert told.headline.endswith("every higher degree is slower")
    flat = advice(sweep({1: [5.0, 5.1, 5.05], 2: [5.05, 5.06, 5.1], 4: [6.0, 6.1, 6.05]}))
    assert flat.headline.endswith("no higher degree is more than 5 % faster")


def test_noise_is_called_noise_and_nothing_is_recommended() -> None:
    told = advice(sweep({1: [10.1, 6.0, 14.3], 2: [10, 14.3, 6.25], 4: [5, 14, 10]}))
    assert told.recommended == ()
    assert told.headline.startswith("this run is inconclusive")
    assert (
        told.sentences[0] == "run it again when the machine is idle: with this noise, more repeats alone hardly "
        "help"
    )
    assert "possibly by chance" in told.sentences[1]
    assert not any(sentence.startswith("use ") for sentence in told.sentences)


def test_repeats_are_asked_for_where_they_would_help() -> None:
    told = advice(sweep({1: [10.1, 9.0, 11.3], 2: [10, 10.3, 9.25], 4: [9, 11, 10]}))
    assert told.recommended == ()
    assert told.sentences[0].startswith("run it again with about ")


def test_a_downgraded_configuration_asks_for_no_fewer_repeats_than_were_made() -> None:
    run = sweep({1: [10.0, 10.2, 10.4, 10.1], 2: [10.1, 10.3, 9.9, 10.2], 4: [9.8, 10.45, 10.1, 10.0]})
    got_less = tuple(
        replace(one, outcome=Outcome.DOWNGRADED, reason="got 2")
        if one.cell == cell(degree=4) and one.repeat > 2
        else one
        for one in run.trials
    )
    told = advice(replace(run, trials=got_less))
    asked = re.fullmatch(
        r"run it again with about (\d+) repeats to detect a difference of 10 %", told.sentences[0]
    )
    assert asked is not None and int(asked[1]) > 4, told.sentences


def test_an_effect_of_more_than_double_is_spelled_as_a_factor() -> None:
    told = advice(sweep({1: [10, 90, 3, 40], 2: [50, 4, 9, 80], 4: [4, 200, 50, 9]}))
    assert re.search(r"vary so much that the minimum detectable effect is a factor of \d+$", told.headline)


def test_little_noise_without_a_difference_is_not_called_much() -> None:
    told = advice(sweep({1: [10.0, 10.2, 10.4], 2: [10.1, 10.3, 9.9], 4: [9.8, 10.45, 10.1]}))
    assert told.recommended == ()
    assert re.fullmatch(
        r"this run is inconclusive: no difference was detected; the minimum detectable effect is \d\.\d %",
        told.headline,
    ), told.headline


def test_a_run_that_detects_what_it_was_asked_to_is_not_called_too_noisy() -> None:
    run = sweep({1: [10.1, 9.0, 11.3], 2: [10, 10.3, 9.25], 4: [9, 11, 10]})
    assert "vary so much" in advice(run).headline
    asked = replace(run, head=replace(run.head, experiment=replace(run.head.experiment, detect_pct=300.0)))
    assert advice(asked).headline.startswith("this run is inconclusive: no difference was detected; ")


def test_repeats_that_are_asked_for_are_more_than_were_made_and_show_what_is_not_known_yet() -> None:
    told = advice(sweep({1: [10.0, 10.2, 10.4], 2: [10.1, 10.3, 9.9], 4: [9.8, 10.45, 10.1]}))
    asked = re.fullmatch(r"run it again with about (\d+) repeats to detect a difference of 5 %", told.sentences[0])
    assert asked is not None and int(asked[1]) > 3, told.sentences


def test_cells_that_are_told_to_be_alike_recommend_the_smallest_degree() -> None:
    told = advice(sweep({1: [10.1, 10.0, 10.3], 2: [10, 10.3, 10.25], 4: [9.9, 10.3, 10.2]}))
    assert told.recommended == (cell(degree=1),)
    assert told.headline.endswith("no higher degree is more than 5 % faster")


def test_with_too_few_repeats_nothing_is_recommended() -> None:
    told = advice(sweep({1: [10.0], 2: [5.0], 4: [2.4]}))
    assert told.recommended == ()
    assert told.headline == "too few repeats to tell which is better"
    assert told.sentences[0] == "repeat each configuration at least 3 times: a single time does not show the noise"


def test_where_a_trial_does_not_count_more_that_count_are_asked_for() -> None:
    told = advice(sweep({1: [10.0, 10.4, 9.7], 2: [5.0, 5.3, None], 4: [5.1, 5.2, 5.5]}))
    assert told.sentences[0].startswith("repeat until at least 3 trials of each configuration count; ")


def test_a_super_linear_gain_makes_the_baseline_suspect() -> None:
    sure = advice(sweep({1: [1500, 1505, 1510], 4: [340, 342, 341], 8: [160, 161, 159]}))
    assert any("efficiency 1.18): the baseline is not comparable" in doubt for doubt in sure.doubts)
    once = advice(sweep({1: [1500], 8: [160]}))
    assert any("unless that is noise, the baseline is not comparable" in doubt for doubt in once.doubts)


def test_a_gain_just_above_linear_within_its_interval_is_not_flagged() -> None:
    told = advice(sweep({1: [8.1, 8.3, 7.9], 2: [4.0, 4.1, 3.9], 4: [2.5, 2.6, 2.4]}))
    assert not any("more than linear" in doubt for doubt in told.doubts)


def test_degrees_beyond_the_cpus_are_named() -> None:
    times = {1: [8.0], 2: [4.0], 4: [4.0], 8: [4.0]}
    assert "degree 4, 8 exceed the 2 CPUs" in advice(sweep(times)).doubts
    assert not any("CPUs" in doubt for doubt in advice(sweep(times, environment={})).doubts)
    assert not any("CPUs" in doubt for doubt in advice(sweep(times, environment={"cpu_count": "many"})).doubts)


def test_cells_of_which_the_same_is_to_be_said_stand_in_one_sentence() -> None:
    told = advice(sweep({1: [8.0, 8.1, 8.2], 2: [None] * 3, 4: [None] * 3}))
    assert [one for one in told.doubts if "failed" in one] == [
        "`degree=2`, `degree=4`: 3 failed each; they have no measured time: out of memory"
    ]


def test_failed_cells_are_named_with_their_reason() -> None:
    told = advice(sweep({1: [8.0, 8.1, 8.2], 2: [None, None, None]}))
    assert "`degree=2`: 3 failed; it has no measured time: out of memory" in told.doubts


def test_a_run_in_which_everything_failed_says_so() -> None:
    told = advice(sweep({1: [None], 2: [None]}))
    assert told.headline == "no trial succeeded: there is no time to judge by"
    assert told.best is None


def test_a_run_whose_budget_ended_with_the_warm_up_says_so() -> None:
    trials = [trial(number, cell(degree=number), 0, 1.0) for number in (1, 2)]
    run = run_of(trials)
    experiment = replace(run.head.experiment, budget_seconds=1.0)
    cut = replace(
        run, head=replace(run.head, experiment=experiment, state=RunState.INTERRUPTED, trials_planned=42)
    )
    assert advice(cut).headline == "only warm-ups were run: there is no time to judge by"
    said = (f"{budget_used_up(1.0)}; `dbatk runs resume {run.head.run}` continues",)
    by_budget = replace(cut, warnings=said)
    assert advice(by_budget).headline == (
        "only warm-ups were run, since the budget of 1.00 s is used up: there is no time to judge by"
    )
    assert recommend(by_budget).stopped_because == "the budget of 1.00 s is used up: 2 of 42 trials ended"
    assert recommend(cut).stopped_because == "interrupted: 2 of 42 trials ended"
    failed = run_of([trial(1, cell(degree=1), 0, None, outcome=Outcome.FAILED, reason="no such table")])
    assert advice(failed).headline == "no trial succeeded: there is no time to judge by"


def test_a_job_is_not_praised_for_one_execution() -> None:
    told = advice(sweep({4: [12.0]}, mode=Mode.JOB))
    assert told.headline == "done once, 12.0 s (one trial): a single execution does not show the spread"


def test_another_factor_is_judged_at_the_best_cell() -> None:
    times = {
        cell(degree=degree, compression=name): [factor * 8 / degree * (1 + jitter) for jitter in (0.0, 0.01, 0.02)]
        for degree in (1, 2)
        for name, factor in (("none", 1.0), ("basic", 1.4), ("zstd", 1.001))
    }
    told = advice(run_of(sweep_trials(times)))
    text = "\n".join(told.sentences)
    assert "`compression=basic` instead of `compression=none` takes longer" in text
    assert "`degree=2,compression=basic` is the best of its kind" in text


def test_a_factor_that_is_no_scale_is_compared_with_its_slowest_level() -> None:
    told = advice(
        sweep({"none": [10.1, 10.0, 10.3], "basic": [13, 12.8, 13.1], "x": [11, 11.1, 11.2]}, "compression")
    )
    assert "as fast as `compression=basic`" in told.headline


def test_no_median_stands_without_its_spread() -> None:
    told = advice(sweep({1: [10.1, 10.0, 10.3], 2: [5.0, 5.1, 5.2]}))
    assert "5.10 s (5.00 to 5.20 s in 3 trials)" in told.sentences[1]


def test_more_noise_needs_more_repeats_until_there_are_too_many() -> None:
    needed = [repeats_needed(Noise(sigma**2, 4), 3) for sigma in (0.01, 0.03, 0.06)]
    assert needed == sorted(needed, key=lambda n: n or 0)
    assert needed[0] == 3
    assert repeats_needed(Noise(1.0, 4), 3) is None


def test_so_many_repeats_would_indeed_tell_the_difference() -> None:
    noise = Noise(0.04**2, 8)
    needed = repeats_needed(noise, 3) or 0
    enough, short = (Noise(0.04**2 * 2 / n, 2 * (n - 1), 3).minimum_detectable_pct() for n in (needed, needed - 1))
    assert (enough or 99) <= 5 < (short or 0)


def test_a_degree_whose_grant_was_never_seen_is_named() -> None:
    """Trials too short for a sample: nothing shows that the workers asked for were there."""
    degrees = {1: None, 2: None, 4: None, 8: 8}
    run = run_of(
        trial(number, cell(degree=degree), repeat, 8.0 / degree, granted_degree=granted)
        for number, (repeat, (degree, granted)) in enumerate(
            ((repeat, one) for repeat in (1, 2, 3) for one in degrees.items()), start=1
        )
    )
    (doubt,) = [one for one in advice(run).doubts if "granted" in one]
    assert doubt == (
        "the degree granted is not known at `degree=2`, `degree=4`: it may have been less, which longer trials "
        "would show"
    )
    assert not any("granted" in one for one in advice(sweep({1: [8.0, 8.1], 2: [4.0, 4.1]})).doubts)
