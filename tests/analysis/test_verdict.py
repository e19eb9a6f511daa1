"""The verdict of a run in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.report.make import cell, metric, sweep
from toolkit.analysis.advice import advice
from toolkit.analysis.noise import LOAD
from toolkit.analysis.verdict import verdict_line
from toolkit.model.words import Outcome


@for_each(
    ("times", "line"),
    [
        ({1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [4.0, 4.05, 4.1]},
         "ctas: degree 2 is 2.00 times as fast as degree 1 (1.9"),
        ({1: [4.0, 4.01, 4.02], 2: [4.0, 4.02, 4.01], 4: [4.01, 4.0, 4.02]},
         "ctas: degree 1, no higher degree is more than 5 % faster, 3 repeats"),
        ({1: [8.0, 8.9, 8.3], 2: [8.3, 8.2, 8.8], 4: [16.1, 15.3, 17.1]},
         "ctas: degree 1, no higher degree is measurably faster, degree 2 may bring "),
        ({1: [8.0, 6.0, 9.0], 2: [6.0, 9.0, 7.0], 4: [9.0, 7.0, 7.0]}, "ctas: inconclusive, only "),
        ({1: [8.0], 2: [None]}, "ctas: inconclusive, 1 repeat"),
        ({1: [None], 2: [None]}, "ctas: inconclusive, 0 repeats"),
    ],
)  # fmt: skip
def test_a_verdict_fits_a_line(times: dict[int, list[float | None]], line: str) -> None:
    told = verdict_line(sweep(dict(times)))
    assert told.startswith(line)
    assert len(told) <= 100 and "\n" not in told


@pytest.mark.parametrize(("load", "told"), [(64.0, " while others used 64 % of the CPUs"), (20.0, "")])
def test_what_is_inconclusive_names_the_load_of_others_where_there_is_much(load: float, told: str) -> None:
    unclear = sweep({1: [8.0, 6.0, 9.0], 2: [6.0, 9.0, 7.0], 4: [9.0, 7.0, 7.0]})
    clear = sweep({1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [4.0, 4.05, 4.1]})
    of_others = (metric(LOAD, load, "%"),)
    unclear, clear = (
        replace(run, trials=tuple(replace(one, metrics=of_others) for one in run.trials))
        for run in (unclear, clear)
    )
    assert verdict_line(unclear).startswith(f"ctas: inconclusive{told}, only ")
    assert "others" not in verdict_line(clear)


def test_what_would_have_shown_is_what_the_advice_calls_the_minimum_detectable_effect() -> None:
    """Of the configurations that were granted, and not of one with fewer trials that count."""
    run = sweep({1: [8.0, 6.0, 9.0, 7.0, 8.0], 2: [6.0, 9.0, 7.0, 8.0, 6.5], 4: [9.0, 7.0, 7.0, 6.0, 8.0]})
    trials = tuple(
        replace(one, outcome=Outcome.DOWNGRADED, reason="got 2")
        if one.cell == cell(degree=4) and one.repeat > 2
        else one
        for one in run.trials
    )
    run = replace(run, trials=trials)
    detectable = advice(run).headline.rpartition(" is ")[2]
    assert f"only {detectable} or more would have shown" in verdict_line(run)


def test_too_few_repeats_are_not_said_to_show_any_difference() -> None:
    run = sweep({1: [8.0, 8.1, 8.2], 2: [4.0, 4.1, 4.2]})
    assert advice(run).headline == "too few repeats to tell which is better"
    assert verdict_line(run) == "ctas: inconclusive, 3 repeats"


def test_the_line_says_what_the_headline_says() -> None:
    """It is held against the same configuration, and names all levels that were not told apart."""
    words = sweep(
        {"lz4": [9.9, 10.0, 10.1] * 2, "none": [9.9, 10.1, 10.0] * 2, "zstd": [13.0, 13.1, 12.9] * 2}, "c"
    )
    assert "1.30x as fast as `c=zstd`" in advice(words).headline
    assert verdict_line(words).startswith(
        "ctas: any of c lz4, c none is at best 1.30 times as fast as c zstd (1."
    ), verdict_line(words)
    loud = sweep({"lz4": [9.0, 10.0, 11.1], "none": [9.9, 11.5, 10.0], "zstd": [19.0, 23.1, 20.9]}, "c")
    left = advice(loud).unsure
    assert left is not None and (left.than, left.cell) == (cell(c="none"), cell(c="lz4"))
    more = f"{100 * (1 / left.interval.low - 1):.0f} % more time"
    assert verdict_line(loud).endswith(f", c none may bring {more}, 3 repeats"), verdict_line(loud)
