from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.make import cell, run_of, sweep, trial
from tests.report.test_golden import measured, two_factors
from tests.report.test_render import EVIL, evil_run
from tests.tiers import examples
from toolkit.analysis.compare import compare, compare_levels
from toolkit.model.records import ItemRecord, RunRecord
from toolkit.model.words import Mode, Outcome
from toolkit.report.render import Format, render_comparison
from toolkit.report.summary import summary_text


def job(*items: ItemRecord, **fields: object) -> RunRecord:
    made = trial(1, cell(degree=4), 1, 12.0, items=items, **fields)  # type: ignore[arg-type]
    return run_of([made], mode=Mode.JOB, operation="index-rebuild", repeat=1)


def test_a_measurement_shows_its_cells_what_to_use_and_what_speaks_against_it() -> None:
    lines = summary_text(measured()).splitlines()
    assert lines[0] == "ctas gtest_copy (run 20261121-052307-ab12)"
    assert lines[1].split() == ["degree", "median", "95", "%", "interval", "speed-up", "eff.", "n", "remark"]
    assert any(line.startswith("use `degree=4`: 2.35 s") for line in lines)
    assert "! 1 trial was disturbed by other load and not counted" in lines


@pytest.mark.parametrize("downgraded", [True, False])
def test_no_configuration_is_called_the_lowest_while_a_lower_one_was_only_downgraded(downgraded: bool) -> None:
    run = sweep({1: [1.42, 1.41, 1.44], 2: [1.43, 1.45, 1.42], 4: [1.31, 1.50, 1.29]})
    if downgraded:
        trials = tuple(
            replace(one, outcome=Outcome.DOWNGRADED, granted_degree=2)
            if one.cell == cell(degree=4) and one.repeat == 3 else one
            for one in run.trials
        )  # fmt: skip
        run = replace(run, trials=trials)
    said = " ".join(summary_text(run).split())
    assert ("lowest median of those not downgraded" in said) is downgraded
    assert ("`degree=1` had the lowest median of those not downgraded, 1.42 s" in said) is downgraded
    assert ("`degree=4` had the lowest median, 1.31 s" in said) is not downgraded


def test_more_doubts_than_one_reads_are_counted() -> None:
    run = replace(measured(), warnings=tuple(f"warning {number}" for number in range(9)))
    assert summary_text(run).splitlines()[-1] == "! and 9 more, see the report"
    assert "! warning 8" in summary_text(run, whole=True).splitlines()


def test_a_cell_that_is_unsupported_stands_in_the_table_with_its_reason_below() -> None:
    lines = summary_text(two_factors()).splitlines()
    assert any(line.split()[:2] == ["2", "basic"] and line.endswith("1 unsupported") for line in lines)
    assert "DuckDB has no" in " ".join(" ".join(lines).split())


def test_a_job_says_how_it_ended_how_long_it_took_and_what_it_made() -> None:
    assert summary_text(job()) == (
        "index-rebuild gtest_copy (job 20261121-052307-ab12)\nok (12.0 s, 1,000,000 rows, 64.0 MiB, degree 4)\n"
    )


def test_a_job_that_was_granted_less_says_so() -> None:
    said = summary_text(job(outcome=Outcome.DOWNGRADED, granted_degree=2, reason="ORA-12827"))
    assert "downgraded (12.0 s, 1,000,000 rows, 64.0 MiB, degree 2 of 4): ORA-12827" in said


def test_a_job_names_the_items_that_did_not_end_ok_and_counts_the_rest() -> None:
    bad = [ItemRecord(f"ix_{number}", Outcome.FAILED, reason="ORA-01652") for number in range(12)]
    lines = summary_text(job(ItemRecord("ix_good", Outcome.OK, 1.0), *bad)).splitlines()
    assert "- ix_0: failed, ORA-01652" in lines
    assert "- and 2 more items not ok, see the report" in lines
    assert not any("ix_good" in line or "ix_10" in line for line in lines)


def test_an_error_of_the_only_item_of_a_job_is_said_once() -> None:
    item = ItemRecord("main.t", Outcome.FAILED, reason="ORA-01652")
    text = summary_text(job(item, outcome=Outcome.FAILED, reason="ORA-01652"))
    assert text.count("ORA-01652") == 1 and "- main.t: failed" in text.splitlines()


def test_a_job_without_an_execution_says_that() -> None:
    assert "nothing was executed" in summary_text(run_of([], mode=Mode.JOB))


def test_several_runs_stand_one_after_the_other_and_one_needs_no_list() -> None:
    run = sweep({1: [8.0, 8.2, 8.1], 2: [4.0, 4.1, 4.2]})
    assert summary_text([run, run]) == "\n".join([summary_text(run), summary_text(run)])


@pytest.mark.parametrize("mode", list(Mode))
def test_text_from_outside_reaches_the_terminal_without_control_characters(mode: Mode) -> None:
    run = evil_run()
    failed = ItemRecord(EVIL, Outcome.FAILED, reason=EVIL)
    trials = tuple(replace(one, items=(failed,)) for one in run.trials)
    experiment = replace(run.head.experiment, mode=mode, options={"table": EVIL})
    text = summary_text(replace(run, trials=trials, head=replace(run.head, experiment=experiment)))
    assert not [character for character in text if character in "\x1b\x07\x00\u202e"]
    assert "\\u001b[31mred" in text


@examples(60)
@given(st.text(max_size=150), st.text(max_size=150), st.sampled_from(Mode))
def test_no_line_is_wider_than_eighty_columns(name: str, reason: str, mode: Mode) -> None:
    item = ItemRecord(name, Outcome.FAILED, reason=reason)
    failed = trial(1, cell(level=name), 1, None, outcome=Outcome.FAILED, reason=reason, items=(item,))
    run = run_of([failed, trial(2, cell(level=1), 1, 2.0)], mode=mode, warnings=(reason,))
    assert max(map(len, summary_text(run).split("\n"))) <= 80


def test_without_an_interval_no_effect_is_said_to_be_detected() -> None:
    few = compare_levels(sweep({1: [8.0, 8.4, 8.2], 2: [4.0, 4.1, 4.3]}), "degree", 1, 2)
    text = " ".join(render_comparison(few, Format.TEXT).split())
    assert (
        "too few repeats show the noise, so there is no interval; as far as it is known, the minimum detectable "
        "effect with this many repeats is "
    ) in text
    assert text.count("detectable effect with") == 1


def test_configurations_without_a_result_are_not_called_inconclusive() -> None:
    one, half, none = (
        sweep({1: [8.0, 8.4, 8.2], 2: values, 4: others}, run=name)
        for name, values, others in (
            ("a", [4.0, 4.1, 4.3], [2.0, 2.1, 2.2]),
            ("b", [4.0, 4.2, 4.1], [None, None, None]),
            ("c", [None] * 3, [None] * 3),
        )
    )
    both = " ".join(render_comparison(compare(one, one, history=()), Format.TEXT).split())
    assert "inconclusive in all of 3 configurations" in both
    mixed = " ".join(render_comparison(compare(one, half, history=()), Format.TEXT).split())
    assert "of 3 configurations inconclusive in 2; no result in 1" in mixed
    failed = sweep({1: [None], 2: [None]}, run="d")
    assert "no result in any of 2 configurations" in render_comparison(compare(failed, none), Format.TEXT)
