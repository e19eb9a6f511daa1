"""What to set after a run: never more than its advice, and a next experiment that loads again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.report.make import cell, metric, run_of, sweep, sweep_trials, trial
from toolkit.analysis.advice import advice
from toolkit.analysis.documents import recommendation_document
from toolkit.analysis.recommendation import Recommendation, recommend, rows_of
from toolkit.design.file import dump_experiment, parse_experiment
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import Level
from toolkit.model.words import Mode, Outcome, RunState

CLEAR: dict[Level, list[float | None]] = {
    1: [10.1, 10.0, 10.3], 2: [5.3, 5.2, 5.25], 4: [2.7, 2.75, 2.65], 8: [2.71, 2.7, 2.72],
}  # fmt: skip


def next_of(one: Recommendation) -> Experiment:
    """Return the next experiment, as it is read from its file."""
    assert one.following is not None
    return parse_experiment(dump_experiment(one.following.experiment))


def levels(experiment: Experiment) -> dict[str, tuple[Level, ...]]:
    return {factor.name: factor.levels for factor in experiment.factors}


def test_the_gain_is_over_the_present_setting_and_over_the_next_smaller() -> None:
    one = recommend(sweep(CLEAR, environment={"cpu_count": 4}), present={"degree": "1"})
    assert one.setting == {"degree": 4}
    assert one.present is not None
    assert one.smaller is not None
    assert (one.present.over, round(one.present.ratio, 2)) == (cell(degree=1), 3.74)
    assert (one.smaller.over, round(one.smaller.ratio, 2)) == (cell(degree=2), 1.94)
    rows = [f"{name}: {text}" for name, text in rows_of(one)]
    assert rows[0] == "setting: `degree=4`"
    assert rows[1].startswith("gain: 3.74x as fast as the present `degree=1` (")
    assert rows[2].startswith("gain: 1.94x as fast as the next smaller `degree=2` (")
    assert rows[3].startswith("cost: 94 % efficiency")


def test_a_level_that_is_a_word_is_called_lowest_of_nothing() -> None:
    one = recommend(sweep({"lo": [10.0, 10.1, 10.2, 9.9, 10.0, 10.1], "hi": [12.0, 12.1, 12.2, 11.9, 12.0, 12.1]}))
    assert one.setting == {"degree": "lo"}
    assert not [text for _, text in rows_of(one) if "lowest" in text]
    lowest = recommend(sweep({1: [10.0, 10.1, 10.2, 9.9, 10.0, 10.1], 2: [12.0, 12.1, 12.2, 11.9, 12.0, 12.1]}))
    assert ("gain", "it is the lowest degree that was measured") in list(rows_of(lowest))


def test_what_is_set_now_is_read_from_the_environment() -> None:
    times: dict[Level, list[float | None]] = {
        "4M": [10.1, 10.0, 10.2],
        "64M": [5.1, 5.0, 5.2],
        "1G": [5.0, 5.1, 5.1],
    }
    run = sweep(times, "work_mem", environment={"cpu_count": 2, "setting.work_mem": "4096 kB"})
    one = recommend(run)
    assert one.present_known
    assert one.present is not None
    assert one.present.over == cell(work_mem="4M")
    assert any("as fast as the present `work_mem=4M`" in text for _, text in rows_of(one))


def test_the_only_degree_that_was_measured_is_no_gain() -> None:
    times: dict[Level, list[float | None]] = {
        "4M": [10.1, 10.0, 10.2],
        "64M": [5.1, 5.0, 5.2],
        "1G": [5.0, 5.1, 5.1],
    }
    one = recommend(sweep(times, "work_mem", environment={"cpu_count": 2}))
    assert one.setting is not None and one.present is None
    gains = [text for name, text in rows_of(one) if name == "gain"]
    assert gains == ["not known over what is set now, which `--present LEVELS` names"]


def test_where_the_present_setting_is_not_known_it_is_not_claimed() -> None:
    one = recommend(sweep(CLEAR))
    assert not one.present_known
    assert any("as fast as the lowest degree `degree=1`" in text for _, text in rows_of(one))
    assert recommendation_document(one)["present"] is None


@pytest.mark.parametrize("present", [{"degree": "7"}, {"color": "red"}, {"degree": "4", "color": "red"}])
def test_a_present_setting_that_was_not_measured_is_refused(present: dict[str, str]) -> None:
    with pytest.raises(ToolkitError, match="no measured configuration") as refused:
        recommend(sweep(CLEAR), present=present)
    assert refused.value.code == "TK-0102"
    assert "`degree=1`" in refused.value.hint


def test_a_job_was_done_and_the_lowest_level_has_no_efficiency_of_its_own() -> None:
    job = sweep({4: [12.0]}, mode=Mode.JOB)
    job = replace(job, head=replace(job.head, state=RunState.DONE, trials_planned=1, trials_ended=1))
    assert recommend(job).stopped_because == "the job was done: 1 of 1 trial ended"
    times: dict[Level, list[float | None]] = {
        1: [10.0, 10.1, 10.2, 9.9],
        2: [12.0, 12.1, 12.2, 11.9],
        4: [14.0, 14.1, 14.2, 13.9],
    }
    lowest = recommend(sweep(times))
    assert lowest.setting == {"degree": 1}
    assert "cost" not in [name for name, _ in rows_of(lowest)]


def test_what_is_set_already_gains_nothing() -> None:
    one = recommend(sweep(CLEAR), present={"degree": "4"})
    assert one.present is None
    assert ("gain", "none: it is what is set now") in list(rows_of(one))


@for_each(
    ("run", "verdict"),
    [
        (sweep({1: [None, None, None], 2: [None, None, None]}), "inconclusive"),
        (sweep({1: [10.0], 2: [5.0]}), "inconclusive"),
        (sweep({2: [5.0, 5.1, 5.2]}), "inconclusive"),
        (sweep({4: [12.0]}, mode=Mode.JOB), "inconclusive"),
        (run_of([]), "inconclusive"),
        (
            sweep({"none": [10.1, 10.0, 10.2], "basic": [8.0, 8.1, 8.05], "zstd": [8.0, 8.1, 8.02]}, "c"),
            "conclusive",
        ),
        (sweep({1: [0.0, 0.0, 0.0], 2: [0.0, 0.0, 0.0]}), "inconclusive"),
    ],
)
def test_runs_of_every_kind_have_an_answer(run: object, verdict: str) -> None:
    one = recommend(run)  # type: ignore[arg-type]
    document = recommendation_document(one)
    assert document["verdict"] == verdict
    assert (document["recommended"] is None) is (verdict == "inconclusive")
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert next(name for name, _ in rows_of(one)) == "setting"


def test_levels_that_were_not_told_apart_are_any_of() -> None:
    times = {
        cell(degree=degree, compression=name): [8.0 / degree * factor for factor in (1.0, 1.01, 1.02)]
        for degree in (1, 2) for name in ("none", "basic")
    }  # fmt: skip
    document = recommendation_document(recommend(run_of(sweep_trials(times))))
    assert document["recommended"] == {"degree": 2}
    assert document["any_of"] == {"compression": ["basic", "none"]}


def test_of_a_downgraded_run_what_limits_it_is_named() -> None:
    trials = [
        trial(
            at,
            cell(degree=4),
            at,
            5.0,
            outcome=Outcome.DOWNGRADED,
            granted_degree=1,
            reason="no workers were left",
        )
        for at in (1, 2, 3)
    ]
    one = recommend(run_of(trials))
    assert one.setting is None
    assert recommendation_document(one)["limits"] == [
        {"reason": "parallel servers not granted",
         "evidence": "degree 1 of 4 was granted: no workers were left", "factors": {"degree": 4}}
    ]  # fmt: skip


# -- what to measure next ---------------------------------------------------------------------------------------
def test_an_inconclusive_run_is_repeated_so_often_that_it_tells() -> None:
    one = recommend(sweep({1: [10.1, 9.0, 11.3], 2: [10, 10.3, 9.25], 4: [9, 11, 10]}))
    following = next_of(one)
    assert one.setting is None
    assert (following.repeat, following.quiet_wait_seconds) == (29, None)
    noisy = next_of(recommend(sweep({1: [10.1, 6.0, 14.3], 2: [10, 14.3, 6.25], 4: [5, 14, 10]})))
    assert (noisy.repeat, noisy.quiet_wait_seconds) == (30, 300.0)
    assert levels(noisy) == {"degree": (1, 2, 4)}


def test_the_search_goes_on_where_the_highest_level_is_the_best() -> None:
    rising: dict[Level, list[float | None]] = {1: [8.0, 8.1, 8.2], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}
    following = next_of(recommend(sweep(rising, environment={"cpu_count": 16})))
    assert levels(following) == {"degree": (4, 6, 8, 16)}
    assert (following.mode, following.repeat) == (Mode.MEASUREMENT, 5)
    assert recommend(sweep(rising, environment={"cpu_count": 2})).following is not None


def test_levels_between_the_best_and_its_neighbours_are_tried() -> None:
    assert levels(next_of(recommend(sweep(CLEAR)))) == {"degree": (2, 3, 4, 6, 8)}


def test_more_sort_memory_is_tried_where_a_sort_wrote_to_disk() -> None:
    spilled = (metric("temp_bytes", 64.0 * 2**20, source="pgstat"),)
    trials = [trial(at, cell(degree=1), at, 5.0 + at / 100, metrics=spilled) for at in (1, 2, 3)]
    trials += [trial(at, cell(degree=2), at, 9.0 + at / 100) for at in (4, 5, 6)]
    one = recommend(run_of(trials, engine="postgresql"))
    assert levels(next_of(one)) == {"degree": (1,), "work_mem": ("4M", "16M", "71M")}
    assert recommend(run_of(trials)).following is None or "work_mem" not in levels(
        next_of(recommend(run_of(trials)))
    )


@given(
    st.lists(st.lists(st.floats(0.5, 50.0), min_size=3, max_size=3), min_size=2, max_size=6),
    st.sampled_from(["degree", "compression"]),
)
def test_nothing_is_recommended_that_the_advice_does_not_and_what_follows_loads(
    times: list[list[float]], factor: str
) -> None:
    names: list[Level] = [2**at for at in range(6)] if factor == "degree" else ["none", "auto", *"abcd"]
    run = sweep(dict(zip(names, times, strict=False)), factor)
    one = recommend(run)
    assert one.advice == advice(run)
    assert one.conclusive == bool(one.advice.recommended)
    if one.following is not None and factor == "degree":
        assert next_of(one).target == run.head.experiment.target


def test_an_interrupted_run_says_how_far_it_came() -> None:
    run = sweep(CLEAR)
    stopped = replace(run, head=replace(run.head, state=RunState.INTERRUPTED, trials_planned=20))
    assert recommend(stopped).stopped_because == "interrupted: 12 of 20 trials ended"
