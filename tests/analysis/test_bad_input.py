"""Runs that carry no verdict, or hardly one: each gets an honest sentence in every form, and no warning."""

from __future__ import annotations

import warnings

import pytest

from tests.for_each import for_each
from tests.report.make import cell, run_of, sweep, sweep_trials
from toolkit.analysis.advice import advice
from toolkit.analysis.cells import analyse
from toolkit.analysis.compare import compare
from toolkit.analysis.doubts import read_differently
from toolkit.model.records import RunRecord
from toolkit.model.words import Verdict
from toolkit.report.render import Format, render

NO_VERDICT = "too few repeats to tell which is better"
RUNS: dict[str, tuple[RunRecord, str]] = {
    "nothing ran": (run_of([]), "no trial was run: there is no time to judge by"),
    "one level": (sweep({1: [1.0, 1.1, 1.2]}), "there is no other configuration to compare it with"),
    "one repeat": (sweep({1: [1.0], 2: [2.0], 4: [3.0]}), NO_VERDICT),
    "all failed": (sweep({1: [None] * 3, 2: [None] * 3}), "no trial succeeded: there is no time to judge by"),
    "all equal": (sweep({1: [1.0] * 5, 2: [1.0] * 5}), "no higher degree is more than 5 % faster"),
    "zero seconds": (
        sweep({1: [0.0] * 5, 2: [0.0] * 5}),
        "every trial has a time of 0: there is no time to judge by",
    ),
    "an outlier": (
        sweep({1: [1.0, 1.1, 1.2, 1.0, 1e9], 2: [1.0, 1.1, 1.0, 1.1, 1.0]}),
        "this run is inconclusive",
    ),
    "words": (sweep({"a": [1.0, 1.1, 1.2, 1.0], "b": [2.0, 2.1, 2.2, 2.0]}, "mode"), NO_VERDICT),
    "words for a degree": (sweep({"low": [1.0, 1.1] * 3, "high": [2.0, 2.1] * 3}), "use `degree=low`: "),
    "hardly any time": (sweep({1: [1e-300] * 5, 2: [2e-300] * 5}), "use `degree=1`: "),
}


@for_each("name", RUNS)
def test_it_is_said_in_one_sentence_and_every_form_can_show_it(name: str) -> None:
    run, says = RUNS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert says in advice(run).headline
        for form in Format:
            assert render(run, form)


@for_each("name", [name for name in RUNS if name != "nothing ran"])
def test_it_can_stand_in_a_comparison_as_far_as_it_has_times(name: str) -> None:
    run, _ = RUNS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pair in compare(run, run).pairs:
            assert (pair.ratio, pair.verdict) == (1.0 if pair.n_a else None, Verdict.INCONCLUSIVE)


def test_times_of_zero_are_named_and_not_counted() -> None:
    told = advice(sweep({1: [0.0, 1.0, 1.1, 1.0, 1.1], 2: [2.0, 2.1, 2.0, 2.1, 2.0]}))
    assert "1 trial has a time of 0 and cannot be counted" in told.doubts


def test_a_huge_outlier_is_named_with_its_configuration() -> None:
    run, _ = RUNS["an outlier"]
    (told,) = [doubt for doubt in advice(run).doubts if "where its median is" in doubt]
    assert told.startswith("one trial of `degree=1` had ") and told.endswith(", where its median is 1.10 s")
    assert not any(
        "median is" in doubt for doubt in advice(sweep({1: [1.0, 2.0, 4.0], 2: [1.0, 2.0, 4.0]})).doubts
    )


def test_each_of_many_levels_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(sweep_trials({cell(size=size): [1.0, 1.1] for size in range(300)}))
    found, asked = analyse(run), []
    monkeypatch.setattr("toolkit.analysis.doubts.way_of_reading", lambda trials: asked.append(len(trials)))
    read_differently(found)
    assert asked == [2] * 300
    assert advice(run).headline
