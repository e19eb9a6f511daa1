from __future__ import annotations

from dataclasses import replace

from tests.report.make import cell, metric, run_of, sweep, sweep_trials
from toolkit.analysis.compare import compare
from toolkit.model.records import IMPORTED, Metric, RunRecord
from toolkit.model.values import Cell, Level
from toolkit.report.metric_tables import Metrics, run_metrics
from toolkit.report.render import Format, render, render_comparison

TIMES = {1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}


def with_metrics(run: RunRecord, *metrics: Metric) -> RunRecord:
    return replace(run, trials=tuple(replace(one, metrics=metrics) for one in run.trials))


def growing(name: str, by_degree: dict[int, float], unit: str = "calls") -> RunRecord:
    run = sweep(TIMES)
    trials = tuple(
        replace(one, metrics=(metric(name, by_degree[int(one.cell["degree"])], unit),)) for one in run.trials
    )
    return replace(run, trials=trials)


def metrics_of(run: RunRecord, best: Cell | None = None) -> Metrics:
    found = run_metrics(run, list(dict.fromkeys(one.cell for one in run.trials)), best)
    assert found is not None
    return found


def test_metrics_that_were_zero_throughout_are_left_out_with_a_sentence() -> None:
    zeros = [metric(f"zero_{index}", 0.0) for index in range(3)]
    run = with_metrics(sweep(TIMES), metric("wal_bytes", 5.0), *zeros)
    for chosen in (Format.TEXT, Format.MARKDOWN, Format.HTML):
        text = render(run, chosen)
        assert "3 metrics were 0 in every trial and omitted" in text
        assert "zero_1" not in text
    assert "zero_1" in render(run, Format.JSON)


def test_a_metric_that_was_zero_in_some_trials_only_is_shown() -> None:
    run = sweep(TIMES)
    trials = [
        replace(one, metrics=(metric("temp_bytes", float(one.repeat == 2)), metric("cpu", 0.0)))
        for one in run.trials
    ]
    found = metrics_of(replace(run, trials=tuple(trials)))
    assert [row[0] for row in found.full.rows] == ["temp_bytes"]
    assert found.notes == ("1 metric was 0 in every trial and omitted",)


def test_without_a_metric_that_is_not_zero_there_is_no_table() -> None:
    assert run_metrics(with_metrics(sweep(TIMES), metric("reads", 0.0)), [cell(degree=1)], None) is None
    assert run_metrics(sweep(TIMES), [cell(degree=1)], None) is None


def test_a_short_table_keeps_what_matters_and_what_differs() -> None:
    same, matters = metric("calls", 7.0, "calls"), metric("wal_bytes", 7.0)
    found = metrics_of(with_metrics(sweep(TIMES), same, matters))
    assert [row[0] for row in found.short.rows] == ["wal_bytes"]
    assert [row[0] for row in found.full.rows] == ["calls", "wal_bytes"]
    assert found.short_notes == ("1 more hardly differs between the configurations: see the page or the JSON",)
    differs = metrics_of(growing("calls", {1: 7.0, 2: 8.0, 4: 9.0}))
    assert [row[0] for row in differs.short.rows] == ["calls"]


def test_a_short_table_tells_of_each_host_its_part_its_clock_and_its_cpu() -> None:
    shown = ("users", "tps", "clock_ahead_seconds", "clock_uncertainty_seconds", "cpu_pct_mean")
    names = (*shown, "disk_read_bytes_per_s_mean", "memory_used_bytes_mean")
    found = metrics_of(with_metrics(sweep(TIMES), *(metric(f"host.db1.example.{name}", 7.0) for name in names)))
    assert len(found.short.rows) == len(shown) < len(found.full.rows)
    assert found.short_notes == ("2 more hardly differ between the configurations: see the page or the JSON",)


def test_of_a_single_configuration_nothing_is_said_to_differ() -> None:
    alone = run_of(sweep_trials({cell(degree=1): [1.0, 1.1]}))
    run = with_metrics(alone, metric("calls", 7.0), metric("wal_bytes", 7.0))
    assert metrics_of(run).short_notes == ("1 more is on the page and in the JSON",)


def test_what_somebody_wrote_into_an_imported_file_is_always_shown() -> None:
    found = metrics_of(with_metrics(sweep(TIMES), replace(metric("calls", 7.0, "calls"), source=IMPORTED)))
    assert ([row[0] for row in found.short.rows], found.short_notes) == (["calls"], ())
    beside = metrics_of(
        with_metrics(sweep(TIMES), replace(metric("calls", 7.0), source=IMPORTED), metric("wal_bytes", 7.0))
    )
    assert [row[0] for row in beside.short.rows] == ["calls", "wal_bytes"]


def test_when_nothing_matters_or_differs_all_is_shown() -> None:
    found = metrics_of(with_metrics(sweep(TIMES), metric("calls", 7.0, "calls")))
    assert [row[0] for row in found.short.rows] == ["calls"]


def test_a_provider_is_named_without_the_release_of_its_file() -> None:
    run = with_metrics(
        sweep(TIMES), metric("io_reads", 5.0, "reads", "pgstat_io_16"), metric("cpu", 1.0, "s", "osstat")
    )
    for chosen in (Format.TEXT, Format.MARKDOWN, Format.HTML):
        assert "pgstat_io" not in render(run, chosen)
    assert [row[-1] for row in metrics_of(run).full.rows] == ["pgstat", "osstat"]


def test_metrics_of_two_releases_of_one_provider_are_compared() -> None:
    old = with_metrics(sweep(TIMES, run="a"), metric("io_reads", 5.0, "reads", "pgstat_io_16"))
    new = with_metrics(sweep(TIMES, run="b"), metric("io_reads", 10.0, "reads", "pgstat_io_18"))
    found = compare(old, new)
    assert [one.ratio for one in found.pairs[0].metrics] == [2.0]
    assert found.notes == ()


def factorial(levels: int, name: str = "compression") -> RunRecord:
    of: list[dict[str, Level]] = [{"degree": 2**index, name: "none"} for index in range(levels)]
    return with_metrics(run_of(sweep_trials({cell(**one): [1.0] for one in of})), metric("wal_bytes", 5e6))


def test_cells_with_long_names_are_lettered_and_the_letters_explained() -> None:
    found = metrics_of(factorial(4))
    assert [column.title for column in found.short.columns] == ["metric", "A", "B", "C", "D", "source"]
    assert found.short_key[0].startswith("A is `degree=1,compression=none`; B is `degree=2,compression=none`")


def test_of_too_many_cells_the_first_and_the_best_stand_side_by_side() -> None:
    found = metrics_of(factorial(9), best=cell(degree=16, compression="none"))
    assert [column.title for column in found.short.columns] == ["metric", "A", "B", "source"]
    assert found.short_key == (
        "A is `degree=1,compression=none`; B is `degree=16,compression=none`",
        "two of 9 configurations are shown",
    )


def test_the_metrics_of_a_comparison_leave_out_zeros_and_what_stays() -> None:
    def side(run: str, value: float) -> RunRecord:
        zero, quiet = metric("zero", 0.0), metric("calls", 7.0, "calls")
        return with_metrics(sweep(TIMES, run=run), metric("redo_bytes", value), zero, quiet)

    found = compare(side("a", 5e6), side("b", 8e6))
    text = render_comparison(found, Format.TEXT)
    assert "1.60x  duckstat" in text
    assert "calls " not in text
    assert "1 more hardly differs" in text
    assert "1 metric was 0 in every trial and omitted" in text
    page = render_comparison(found, Format.HTML)
    assert "<td>calls</td>" in page.replace(' class="k"', "")


def test_a_comparison_of_one_configuration_names_it_in_its_title_alone() -> None:
    def side(run: str, value: float, times: dict[int, list[float]]) -> RunRecord:
        return with_metrics(
            sweep(times, run=run), metric("redo_bytes", value), metric("db_cpu_seconds", value, "s")
        )

    one, three = ({2: TIMES[2]}, TIMES)
    for times, shown in ((one, False), (three, True)):
        text = render_comparison(compare(side("a", 5e6, times), side("b", 8e6, times)), Format.HTML)
        assert ("degree=2" in text.partition("Metrics of both</")[2].partition("How to read it")[0]) is shown
