from __future__ import annotations

from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.report.make import cell, compared, metric, sweep
from toolkit.analysis.compare import compare
from toolkit.analysis.limits import judge, parse_fail_if
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.records import RunRecord

TIMES = {1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}


def run(name: str, factor: float = 1.0, times: dict[int, list[float]] = TIMES) -> RunRecord:
    return sweep({level: [value * factor for value in values] for level, values in times.items()}, run=name)


@for_each(
    ("text", "spelled"),
    [
        ("elapsed_seconds > +5%", "elapsed_seconds > +5%"),
        ("  elapsed_seconds>5 % ", "elapsed_seconds > +5%"),
        ("rows_per_second < -2.5%", "rows_per_second < -2.5%"),
        ("elapsed_seconds > 0%", "elapsed_seconds > +0%"),
    ],
)
def test_a_limit_is_read(text: str, spelled: str) -> None:
    assert str(parse_fail_if(text)) == spelled


@for_each(
    "text",
    [
        "",
        "elapsed_seconds",
        "> 5%",
        "elapsed_seconds > 5",
        "elapsed_seconds = 5%",
        "elapsed_seconds > five%",
        "a > 5% x",
    ],
)
def test_what_is_no_limit_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        parse_fail_if(text)
    assert caught.value.code == "TK-0102"
    assert "`elapsed_seconds > +5%`" in caught.value.hint


@pytest.mark.parametrize("text", ["elapsed_seconds > -5%", "elapsed_seconds < +5%"])
def test_a_limit_on_the_wrong_side_of_zero_is_refused(text: str) -> None:
    with pytest.raises(ToolkitError, match="has the wrong sign") as caught:
        parse_fail_if(text)
    assert caught.value.code == "TK-0102"


def test_a_slower_run_meets_the_limit() -> None:
    found = judge(compared(run("a"), run("b", 1.5)), parse_fail_if("elapsed_seconds > +5%"))
    assert len(found.met) == 3
    assert found.exit_code() == found.exit_code(strict=True) == ExitCode.DIFFERENCE


def test_a_faster_run_meets_a_limit_downwards() -> None:
    comparison = compared(run("a"), run("b", 0.5))
    assert judge(comparison, parse_fail_if("elapsed_seconds < -20%")).exit_code() == ExitCode.DIFFERENCE
    assert judge(comparison, parse_fail_if("elapsed_seconds > +5%")).exit_code(strict=True) == ExitCode.DONE


def test_a_difference_that_is_told_but_below_the_limit_is_no_failure() -> None:
    found = judge(compared(run("a"), run("b", 1.5)), parse_fail_if("elapsed_seconds > +80%"))
    assert found.exit_code(strict=True) == ExitCode.DONE


def test_a_noisy_difference_beyond_the_limit_is_untold() -> None:
    noisy = {1: [8.0, 14.0, 9.0], 2: [7.0, 4.0, 4.5], 4: [2.0, 2.1, 3.4]}
    found = judge(compared(run("a", times=noisy), run("b", 1.3, noisy)), parse_fail_if("elapsed_seconds > +5%"))
    assert (found.met, len(found.inconclusive)) == ((), 3)
    assert found.exit_code() == ExitCode.DONE
    assert found.exit_code(strict=True) == ExitCode.INCOMPLETE


def test_a_limit_that_no_difference_could_meet_is_not_passed() -> None:
    once = run("a", times={1: [2.0]})
    comparison = compare(once, once, cell_a=cell(degree=1), cell_b=cell(degree=1))
    found = judge(comparison, parse_fail_if("elapsed_seconds > +5%"))
    assert found.exit_code() == found.exit_code(strict=True) == ExitCode.INCOMPLETE
    assert (found.met, found.inconclusive) == ((), ())
    (sentence,) = found.not_judged
    assert sentence == "`degree=1`: elapsed_seconds 0.0 %, no interval; not judged by `elapsed_seconds > +5%`"


def test_a_limit_is_not_passed_where_every_trial_of_a_configuration_failed() -> None:
    failed = {1: [8.0, 8.2, 8.1], 2: [None, None, None], 4: [2.0, 2.1, 2.04]}
    limit = parse_fail_if("elapsed_seconds > +5%")
    found = judge(compared(run("a"), sweep(failed, run="b")), limit)
    assert found.exit_code() == ExitCode.INCOMPLETE
    (sentence,) = found.not_judged
    assert sentence.startswith("`degree=2`: elapsed_seconds has no numbers on one side; not judged by")
    failed[4] = [4.0, 4.2, 4.08]
    found = judge(compared(run("a"), sweep(failed, run="b")), limit)
    assert (len(found.met), len(found.not_judged), found.exit_code()) == (1, 1, ExitCode.DIFFERENCE)


def test_an_interval_wholly_within_the_limit_needs_no_warning() -> None:
    comparison = compared(run("a"), run("b"))
    assert judge(comparison, parse_fail_if("elapsed_seconds > +30%")).exit_code(strict=True) == ExitCode.DONE
    assert judge(comparison, parse_fail_if("elapsed_seconds > +0%")).exit_code(strict=True) == ExitCode.INCOMPLETE


def test_a_metric_of_the_snapshots_can_be_limited_too() -> None:
    def with_reads(name: str, factor: float) -> RunRecord:
        made = run(name)
        return replace(
            made,
            trials=tuple(
                replace(one, metrics=(metric("reads", (one.elapsed_seconds or 0) * 100 * factor),))
                for one in made.trials
            ),
        )

    comparison = compared(with_reads("a", 1), with_reads("b", 2))
    assert judge(comparison, parse_fail_if("reads > +50%")).exit_code() == ExitCode.DIFFERENCE
    with pytest.raises(ToolkitError) as caught:
        judge(comparison, parse_fail_if("read > +50%"))
    assert (caught.value.code, caught.value.hint) == ("TK-0101", "did you mean `reads`?")
