"""An operation judged by another metric than the time: every number, verdict and heading takes it from there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.report.make import cell, compared, metric, sweep
from toolkit.analysis.advice import advice
from toolkit.analysis.cells import cells
from toolkit.analysis.compare import compare
from toolkit.analysis.documents import comparison_document, run_document
from toolkit.analysis.limits import judge, parse_fail_if
from toolkit.model.operations import JudgedBy, OperationDeclaration, registered
from toolkit.model.records import RunRecord
from toolkit.model.words import Mode, Verdict
from toolkit.report.render import Format, render, render_comparison
from toolkit.report.summary import summary_text

SCORES = {1: [10.0, 10.2, 10.1, 9.9], 2: [20.0, 20.3, 20.1, 19.8], 4: [14.0, 14.1, 13.9, 14.2]}
BY_SCORE = JudgedBy("score", "points", lower_is_better=False, title="score")
BY_SIZE = JudgedBy("size", "bytes", title="size")


@pytest.fixture(params=["higher"])
def by(request: pytest.FixtureRequest) -> Iterator[JudgedBy]:
    chosen = {"higher": BY_SCORE, "lower": BY_SIZE}[request.param]
    made = OperationDeclaration("rate", ("rate",), "Rate it.", (), "nowhere", judged_by=chosen)
    with registered(made):
        yield chosen


def rated(by: JudgedBy, factor: float = 1.0, **fields: object) -> RunRecord:
    """A run in which every trial takes the same time, so that only the metric tells anything."""
    made = sweep({level: [1.0] * len(values) for level, values in SCORES.items()}, operation="rate", **fields)
    told = [SCORES[one.cell["degree"]][one.repeat - 1] * factor for one in made.trials]  # type: ignore[index]
    return replace(
        made,
        trials=tuple(
            replace(one, metrics=(metric(by.metric, value, by.unit, "made"),))
            for one, value in zip(made.trials, told, strict=True)
        ),
    )


def test_the_best_is_the_one_with_the_highest_score(by: JudgedBy) -> None:
    run = rated(by)
    told = advice(run)
    assert [str(told.best)] == list(map(str, told.recommended)) == ["degree=2"]
    assert told.headline.startswith("use `degree=2`: 20.1 points (")
    assert "2.00x the score of `degree=1`" in told.headline
    (beyond,) = told.sentences
    assert beyond.startswith("degree 4 exceeds the 2 CPUs and does worse (")
    assert beyond.endswith("% less score)")
    assert [one.median for one in cells(run)] == pytest.approx([10.05, 20.05, 14.05])
    assert [one.speedup for one in cells(run)] == pytest.approx([1.0, 20.05 / 10.05, 14.05 / 10.05])


@pytest.mark.parametrize("by", ["lower"], indirect=True)
def test_the_best_is_the_one_with_the_smallest_size(by: JudgedBy) -> None:
    told = advice(rated(by))
    assert str(told.best) == "degree=1"
    assert "every higher degree is worse" in told.headline


def test_the_verdict_says_which_is_better_by_the_score(by: JudgedBy) -> None:
    run = rated(by)
    (pair,) = compare(run, run, cell_a=cell(degree=1), cell_b=cell(degree=2)).pairs
    assert (pair.verdict, pair.ratio) == (Verdict.BETTER, pytest.approx(20.05 / 10.05))
    (pair,) = compare(run, run, cell_a=cell(degree=2), cell_b=cell(degree=4)).pairs
    assert pair.verdict is Verdict.WORSE


def test_reports_head_and_spell_what_is_judged_by(by: JudgedBy) -> None:
    run = rated(by)
    shown = render([run], Format.TEXT)
    for said in ("median score", "gain", "20.1 points", "compared by score (`score`): higher is better"):
        assert said in " ".join(shown.split()), said
    assert "speed-up" not in shown.lower()
    assert "faster" not in shown
    page = render([run], Format.HTML)
    assert "Score against degree" in page
    assert "Time against" not in page
    assert "median score" in summary_text(run)


def test_a_comparison_reads_by_what_is_judged_by(by: JudgedBy) -> None:
    found = compared(rated(by, run="a"), rated(by, 2.0, run="b"))
    shown = " ".join(render_comparison(found, Format.TEXT).split())
    assert "of 3 configurations B is better in 3" in shown
    assert "`degree=1`: B is better, 2.0 times the score" in shown
    assert "above 1, B is better" in shown
    assert "Score of B over score of A" in render_comparison(found, Format.HTML)
    assert "faster" not in shown


def test_a_job_tells_the_score(by: JudgedBy) -> None:
    run = rated(by, mode=Mode.JOB)
    assert "(1.00 s, 10 points," in summary_text(replace(run, trials=run.trials[:1]))


def test_documents_name_what_is_judged_by(by: JudgedBy) -> None:
    run = rated(by)
    document = run_document(run)
    assert document["judged_by"] == {"metric": "score", "unit": "points", "better": "higher"}
    first = document["cells"][0]  # type: ignore[index,call-overload]
    assert (first["median"], first["median_seconds"]) == (pytest.approx(10.05), None)  # type: ignore[index,call-overload]
    (pair, *_) = comparison_document(compare(run, run))["pairs"]  # type: ignore[misc]
    assert pair["median_a_seconds"] is None  # type: ignore[index,call-overload]


def test_a_limit_may_be_of_the_score_or_of_the_time(by: JudgedBy) -> None:
    found = compared(rated(by, run="a"), rated(by, 0.5, run="b"))
    assert len(judge(found, parse_fail_if("score < -10%")).met) == 3
    assert judge(found, parse_fail_if("elapsed_seconds > +5%")).met == ()


def test_trials_without_the_metric_are_nothing_to_judge_by(by: JudgedBy) -> None:
    run = rated(by)
    bare = replace(run, trials=tuple(replace(one, metrics=()) for one in run.trials))
    assert advice(bare).headline == "no trial has a value of `score`: there is no score to judge by"
    assert render([bare], Format.TEXT)


def test_a_time_that_is_not_the_whole_trials_is_named_where_it_is_spelled() -> None:
    made = sweep({1: [1.0, 1.1, 1.0]})
    phase = tuple(replace(one, metrics=(metric("pass1_seconds", 0.24, "seconds", "made"),)) for one in made.trials)
    run = replace(made, trials=phase)
    judged = replace(run.head, experiment=replace(run.head.experiment, judge="pass1_seconds:lower"))
    assert "`degree=1` takes 240 ms of pass1 (" in advice(replace(run, head=judged)).headline
    assert "`degree=1` takes 1.00 s (" in advice(run).headline


def test_cpu_time_is_used_and_nobody_is_faster_by_it() -> None:
    made = sweep({1: [1.0, 1.1, 1.0, 1.05], 2: [2.0, 2.1, 2.0, 2.05], 4: [4.0, 4.1, 4.0, 4.05]})
    spent = tuple(
        replace(one, metrics=(metric("db_cpu_seconds", one.elapsed_seconds or 0.0, "seconds", "duckstat"),))
        for one in made.trials
    )
    chosen = replace(made.head.experiment, judge="db_cpu_seconds:lower")
    run = replace(made, trials=spent, head=replace(made.head, experiment=chosen))
    told = advice(run)
    assert told.headline.startswith("use `degree=1`: 1.02 s of db cpu (")
    assert told.headline.endswith("every higher degree is worse")
    text = render([run], Format.TEXT)
    assert not re.search("slower|faster|speed-up|loses time", text, re.IGNORECASE)
    phase = replace(chosen, options={**chosen.options, "phase": ("db_cpu=begin..end",)})
    passes = replace(run, head=replace(run.head, experiment=phase))
    assert advice(passes).headline.endswith("every higher degree is slower")
