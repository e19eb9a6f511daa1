"""Two factors as a grid, where the time goes, and what bounds a curve: law and ceilings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tests.report.make import cell, metric, run_of, sweep, sweep_trials
from toolkit.analysis.cells import analyse
from toolkit.model.ceilings import Ceiling
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.report.cell_charts import heat_chart, phase_chart
from toolkit.report.chart import Chart
from toolkit.report.view import run_view


def two_factors(spread: float = 0.01, second: str = "compression") -> RunRecord:
    times: dict[Cell, list[float | None]] = {
        cell(degree=degree, **{second: name}): [
            40 / degree * factor * (1 + spread * at * (degree - 2)) for at in (0, 1, -1)
        ]
        for degree in (1, 2, 4)
        for name, factor in (("none", 1.0), ("basic", 1.5))
    }
    return run_of(sweep_trials(times))


def drawn(run: RunRecord, key: str) -> Chart | None:
    return next((chart for chart in run_view(run).charts if chart.key == key), None)


def test_two_factors_are_a_grid_of_times_the_best() -> None:
    chart = heat_chart(analyse(two_factors()), [cell(degree=4, compression="none")])
    assert chart is not None
    assert len(chart.spans) == 6
    assert sorted(word.text for word in chart.words) == ["1.00x", "1.50x", "2.00x", "3.00x", "4.00x", "6.00x"]
    best = next(span for span in chart.spans if "1.00x" in span.label)
    assert (best.look, len(chart.marks)) == ("heat0", 1)
    assert best.begin < chart.marks[0].x < best.end
    assert chart.table is not None
    assert {row[-1] for row in chart.table.rows} == {"recommended", "slower"}


def test_what_is_not_shown_to_be_worse_is_framed() -> None:
    chart = heat_chart(analyse(two_factors(0.3)), [])
    assert chart is not None
    assert any(span.look.endswith("open") for span in chart.spans)
    assert [entry.label for entry in chart.legend] == ["framed: not shown to be worse than the best"]


def test_other_runs_have_no_grid() -> None:
    assert heat_chart(analyse(sweep({1: [8.0, 8.1], 2: [4.0, 4.1]})), []) is None
    assert heat_chart(analyse(run_of([])), []) is None
    many = {cell(degree=at, x=x): [1.0, 1.1] for at in range(1, 14) for x in "ab"}
    assert heat_chart(analyse(run_of(sweep_trials(dict(many)))), []) is None


def test_phases_are_stacked_behind_the_timed_statement() -> None:
    run = sweep({1: [8.0, 8.2, 8.1], 2: [4.0, 4.1, 4.2]})
    assert phase_chart(analyse(run)) is None
    phases = {"prepare": 2.0, "conclude": 0.5, "idle": 0.0}
    chart = phase_chart(analyse(replace(run, trials=tuple(replace(one, phases=phases) for one in run.trials))))
    assert chart is not None
    assert [entry.label for entry in chart.legend] == ["1 timed", "2 prepare", "3 cleaning up"]
    assert {word.text for word in chart.words} == {"1", "2", "3"}, "told apart without colour"
    first = [span for span in chart.spans if span.label.startswith("degree=1")]
    assert [span.label for span in first] == [
        "degree=1: timed 8.10 s", "degree=1: prepare 2.00 s", "degree=1: cleaning up 500 ms",
    ]  # fmt: skip
    assert [span.end for span in first[:-1]] == [span.begin for span in first[1:]]
    assert chart.table is not None
    assert len(chart.table.rows[0]) == 4


def test_the_law_and_its_peak_are_drawn_where_one_was_fitted() -> None:
    def seconds(level: int) -> float:
        return 60 * (1 + 0.03 * (level - 1) + 0.004 * level * (level - 1)) / level

    times = {level: [seconds(level) * jitter for jitter in (1.0, 1.02, 0.99)] for level in (1, 2, 4, 8, 16, 32)}
    chart = drawn(sweep(dict(times)), "speedup")
    assert chart is not None
    curve = next(line for line in chart.lines if line.look == "law")
    peak = next(line for line in chart.lines if line.look == "ceiling")
    assert chart.x(8) < peak.points[0][0] <= chart.x(16) <= peak.points[1][0] + 5
    assert min(y for _, y in curve.points) == min(y for _, y in peak.points)
    assert any("Universal Scalability Law" in entry.label for entry in chart.legend)
    few = drawn(sweep({1: [8.0, 8.1, 8.2], 2: [4.0, 4.1, 4.2]}), "speedup")
    assert few is not None
    assert not any(line.look == "law" for line in few.lines)


def test_the_ceiling_of_the_host_is_drawn_with_the_share_reached() -> None:
    """The published case: 127 MB/s, one HBA, eight servers."""
    read = (metric("host_disk_read_bytes", 20e9, source="osstat"),)
    run = sweep({1: [1500.0, 1510.0, 1490.0], 4: [400.0, 402.0, 398.0], 8: [160.0, 161.0, 159.0]})
    run = replace(run, trials=tuple(replace(one, metrics=read) for one in run.trials))
    assert not any("ceiling" in line.look for chart in run_view(run).charts for line in chart.lines)
    hba = Ceiling("read", 127e6, "bytes_per_second", "one HBA", datetime(2008, 1, 1, tzinfo=UTC))
    chart = drawn(replace(run, ceilings=(hba,)), "time")
    assert chart is not None
    assert [line.points[0][1] for line in chart.lines if line.look == "ceiling"] == [chart.y(20e9 / 127e6 / 60)]
    assert any(entry.label == "at the ceiling of reading, 121 MiB/s" for entry in chart.legend)
    assert chart.notes[-1] == "degree=8 reached 98 % of the 121 MiB/s that reading can do"
    far = drawn(replace(run, ceilings=(replace(hba, value=1e12),)), "time")
    assert far is not None
    assert not any(line.look == "ceiling" for line in far.lines)
