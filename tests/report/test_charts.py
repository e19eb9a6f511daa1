"""What the charts draw, as values: axes with units, outliers that do not flatten, ratios around 1."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.report import make
from tests.report.make import cell, host_samples, run_of, sweep, sweep_trials
from toolkit.analysis.cells import analyse
from toolkit.analysis.compare import compare
from toolkit.analysis.fit import ConfidenceInterval
from toolkit.model.records import RunRecord, Sample
from toolkit.report.chart import Chart, linear, time_axis
from toolkit.report.comparison_charts import MOST_PAIRS, comparison_charts, ratio_axis, ratio_chart, short_names
from toolkit.report.labels import label_of, surrounding
from toolkit.report.tables import left, table
from toolkit.report.time_charts import order_chart, sample_charts
from toolkit.report.view import run_view

TIMES = {1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}


def sampled(*samples: Sample) -> RunRecord:
    run = sweep(TIMES)
    return replace(run, trials=tuple(replace(one, samples=samples) for one in run.trials))


def by_key(charts: tuple[Chart, ...]) -> dict[str, Chart]:
    return {chart.key: chart for chart in charts}


def test_samples_are_drawn_by_kind_on_axes_with_their_units() -> None:
    workers = [Sample(float(at), "parallel_workers", 2.0) for at in range(3)]
    waits = [Sample(float(at), "waiting_io", 1.0) for at in range(3)]
    charts = by_key(sample_charts(sampled(*host_samples(4, 60), *workers, *waits)))
    assert {key: chart.y_label for key, chart in charts.items()} == {
        "host-cpu": "% of all CPUs",
        "host-disk": "MiB/s",
        "host-memory": "GiB",
        "host-sessions": "count",
        "host-waits": "sessions",
    }
    disk = charts["host-disk"]
    assert disk.table is not None
    assert disk.table.rows[0][0] == "disk read"
    assert disk.table.rows[1][-1].endswith("MiB/s")


def test_the_axis_of_bytes_reaches_over_the_highest_value_in_its_own_unit() -> None:
    (chart,) = sample_charts(
        sampled(Sample(0.0, "db_memory_bytes", 3.5 * 2**30), Sample(1.0, "db_memory_bytes", 0.0))
    )
    assert (chart.y_label, chart.y.ticks[-1].label) == ("GiB", "4")
    assert chart.y.high == 4 * 2**30


def test_what_was_zero_throughout_is_named_and_not_drawn() -> None:
    chart = by_key(sample_charts(sampled(*host_samples(4, 60))))["host-cpu"]
    assert [entry.label for entry in chart.legend] == ["CPU busy"]
    assert "CPU waiting for I/O: 0 throughout" in chart.notes
    assert sample_charts(sampled(Sample(0.0, "db_temp_bytes", 0.0))) == ()


def test_samples_too_sparse_for_a_line_are_drawn_as_marks() -> None:
    (chart,) = sample_charts(sampled(Sample(1.0, "host_cpu_pct", 50.0)))
    assert chart.lines == ()
    assert len(chart.marks) == 9


def test_a_single_sample_is_named_and_never_drawn_as_one_dot() -> None:
    run = sampled(Sample(0.0, "host_cpu_pct", 40.0), Sample(1.0, "host_cpu_pct", 50.0))
    lone = replace(run.trials[0], samples=(*run.trials[0].samples, Sample(0.5, "host_iowait_pct", 7.0)))
    (chart,) = sample_charts(replace(run, trials=(lone, *run.trials[1:])))
    assert [entry.label for entry in chart.legend] == [label_of("host_cpu_pct")]
    assert f"{label_of('host_iowait_pct')}: 7.0 % in its only sample" in chart.notes
    assert sample_charts(replace(run, trials=(replace(lone, samples=lone.samples[-1:]),))) == ()


def test_an_unknown_sample_has_a_chart_of_its_own_named_after_it() -> None:
    (chart,) = sample_charts(sampled(Sample(0.0, "odd_thing", 5.0), Sample(1.0, "odd_thing", 6.0)))
    assert (chart.title, chart.y_label) == ("odd_thing", "odd_thing")


def drawn_order(run: RunRecord) -> Chart:
    chart = order_chart(analyse(run))
    assert chart is not None
    return chart


def test_one_outlier_does_not_flatten_the_other_trials() -> None:
    times = {level: list(values) for level, values in TIMES.items()}
    times[1][2] = 40.0
    chart = drawn_order(sweep(times))
    assert chart.y.high <= 130
    assert [word.text for word in chart.words] == ["↑ 488 %"]
    assert chart.notes[-1] == "above the scale: trial 7 at 488 %"
    assert min(mark.y for mark in chart.marks) == chart.y(chart.y.high)


def test_a_trial_a_little_above_the_rest_is_not_cut_off() -> None:
    chart = drawn_order(sweep({1: [8.0, 8.2, 11.0], 2: [4.1, 4.0, 4.05]}))
    assert chart.words == ()
    assert chart.y.high >= 134


def test_with_one_trial_of_each_cell_there_is_no_order_to_see() -> None:
    assert order_chart(analyse(sweep({1: [8.0], 2: [4.0], 4: [2.0]}))) is None


def compared(factor: float) -> tuple[Chart, RunRecord]:
    after = sweep({level: [value * factor for value in values] for level, values in TIMES.items()}, run="b")
    chart = ratio_chart(make.compared(sweep(TIMES, run="a"), after), table("", left("a"), []))
    assert chart is not None
    return chart, after


@pytest.mark.parametrize(("factor", "shape"), [(0.5, "circle"), (2.0, "square"), (1.0, "diamond")])
def test_a_ratio_stands_on_its_side_of_one_with_a_sign_of_its_own(factor: float, shape: str) -> None:
    chart, _ = compared(factor)
    one = chart.x(1.0)
    assert {mark.shape for mark in chart.marks} == {shape}
    assert all((mark.x < one) is (factor < 1) or mark.x == one for mark in chart.marks)
    assert all(
        bar.flat and bar.low <= mark.x <= bar.high for bar, mark in zip(chart.bars, chart.marks, strict=True)
    )
    assert any(tick.label == "1" for tick in chart.x.ticks)
    places = [tick.place for tick in chart.x.ticks]
    assert all(after - before >= 40 for before, after in pairwise(places))


def test_the_words_at_either_side_of_one_stay_within_the_drawing() -> None:
    for factor in (0.01, 0.5, 1.0, 2.0, 90.0):
        chart, _ = compared(factor)
        faster, slower = chart.words
        assert faster.x - 65 >= 0
        assert slower.x + 65 <= chart.frame.width


def test_a_comparison_of_many_cells_draws_some_and_says_so() -> None:
    run = run_of(sweep_trials({cell(degree=2, n=number): [1.0, 1.1, 1.05] for number in range(40)}), run="a")
    chart = ratio_chart(compare(run, replace(run, head=replace(run.head, run="b"))), table("", left("a"), []))
    assert chart is not None
    assert len(chart.marks) == MOST_PAIRS
    assert chart.notes == (f"the chart shows {MOST_PAIRS} of 40 pairs; the table has all of them",)


def test_pairs_without_numbers_are_counted_and_alone_make_no_chart() -> None:
    half = compare(sweep(TIMES, run="a"), sweep({1: [8.0], 2: [None], 4: [None]}, run="b"))
    chart = ratio_chart(half, table("", left("a"), []))
    assert chart is not None
    assert chart.notes == ("2 pairs have no counted trial on one side",)
    none = compare(sweep({1: [8.0]}, run="a"), sweep({1: [None]}, run="b"))
    assert ratio_chart(none, table("", left("a"), [])) is None


def test_one_pair_is_drawn_as_both_its_sides_with_their_trials_and_not_as_one_dot() -> None:
    before = sweep({1: [8.0, 8.2, 8.1, 8.1, 8.15, 8.05]}, run="a")
    after = sweep({1: [4.0, 4.2, 4.1, 4.1, 4.15, 4.05]}, run="b")
    (chart,) = comparison_charts(make.compared(before, after), table("", left("a"), []))
    assert chart.key == "sides"
    middles = {mark.shape: mark.x for mark in chart.marks if mark.look == "mid"}
    assert middles["square"] < middles["circle"], "B took less time"
    assert len([mark for mark in chart.marks if mark.look == "raw"]) == 12
    assert len(chart.bars) == 2
    places = (middles["circle"], middles["square"])
    assert all(bar.low <= x <= bar.high for bar, x in zip(chart.bars, places, strict=True))


def test_several_pairs_have_their_ratios_drawn_beside_both_sides() -> None:
    before, after = sweep(TIMES, run="a"), sweep(TIMES, run="b")
    charts = comparison_charts(make.compared(before, after), table("", left("a"), []))
    assert [chart.key for chart in charts] == ["sides", "ratio"]


def test_pairs_are_named_by_what_varies() -> None:
    run = sweep(TIMES)
    assert short_names(compare(run, run).pairs) == ["degree=1", "degree=2", "degree=4"]
    both = compare(run, run, cell_a=cell(degree=1), cell_b=cell(degree=4))
    assert short_names(both.pairs) == ["1 → 4"]


def test_a_table_of_gains_has_no_column_of_intervals_when_there_is_none() -> None:
    titles = {
        chart.key: [column.title for column in chart.table.columns]
        for chart in run_view(sweep({1: [8.0], 2: [4.0]})).charts
        if chart.table
    }
    assert titles["speedup"] == ["degree", "speed-up"]


def test_a_gain_below_one_has_ticks_on_both_sides() -> None:
    run = sweep({1: [8.0, 8.1, 7.9], 2: [9.0, 9.1, 9.2], 4: [6.0, 6.1, 5.9]})
    (chart,) = (one for one in run_view(run).charts if one.key == "speedup")
    assert {"0.5", "1"} <= {tick.label for tick in chart.y.ticks}


@for_each("highest", [1, 2, 3, 7, 130])
def test_an_axis_of_counted_things_has_whole_ticks(highest: float) -> None:
    scale = linear(0.0, highest, 200.0, 0.0, least=1.0)
    assert all(float(tick.label.replace(",", "")).is_integer() for tick in scale.ticks)
    assert scale.high >= highest


@given(
    st.floats(0.005, 200.0),
    st.floats(1.0, 5.0),
    st.sampled_from((60.0, 150.0, 240.0)),
)
def test_an_axis_of_ratios_has_ticks_on_both_sides_of_one(ratio: float, width: float, left: float) -> None:
    base = make.compared(sweep(TIMES, run="a"), sweep(TIMES, run="b")).pairs[0]
    interval = ConfidenceInterval(ratio / width, ratio * width)
    axis = ratio_axis([replace(base, ratio=ratio, interval=interval)], left)
    ticks = [float(tick.label) for tick in axis.ticks]
    assert min(ticks) < 1.0 < max(ticks) and 1.0 in ticks


@for_each(
    ("name", "words"),
    [
        ("server_version", "version of the server"),
        ("size.database_bytes", "size of the database"),
        ("setting.work_mem", "setting work_mem"),
        ("memory.swap_bytes", "memory: swap"),
        ("disk.vda.read_ahead_kb", "disk vda: read ahead kb"),
        ("cpu.model", "CPU: model"),
        ("option where", "option where"),
        ("most blocks", "most blocks"),
    ],
)
def test_the_environment_has_names_for_people(name: str, words: str) -> None:
    assert surrounding(name) == words


@given(low=st.floats(0, 4e9), length=st.floats(0, 8 * 365 * 86400))
def test_an_axis_of_time_has_at_least_two_ticks_and_at_most_nine(low: float, length: float) -> None:
    axis = time_axis(low, low + length, 0, 600)
    assert 2 <= len(axis.ticks) <= 9
    assert len({tick.label for tick in axis.ticks}) == len(axis.ticks)
