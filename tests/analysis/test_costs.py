"""What a cell cost: from the best source that tells it, normalised, and never a zero for what nobody counted."""

from __future__ import annotations

from dataclasses import replace

from tests.report.make import cell, metric, run_of, sweep_trials
from toolkit.analysis.compare import compare
from toolkit.analysis.metrics import costs_of
from toolkit.model.records import Metric, RunRecord
from toolkit.report.render import Format, render, render_comparison


def run(seconds: float, *metrics: Metric, rows: int | None = 2_000_000) -> RunRecord:
    trials = [
        replace(one, metrics=metrics, rows=rows)
        for one in sweep_trials({cell(degree=1): [seconds] * 3, cell(degree=2): [seconds / 2] * 3})
    ]
    return run_of(trials)


def test_our_own_sessions_come_before_the_instance_and_the_host() -> None:
    found = run(
        8.0,
        metric("redo size", 9e6, "bytes", "vstat"),
        metric("redo size (session)", 4e6, "bytes", "vstat"),
        metric("physical read total bytes", 7e6, "bytes", "vstat"),
        metric("host_disk_read_bytes", 1e9, "bytes", "osstat"),
    )
    cost = costs_of(found)[cell(degree=1)]
    assert cost.measures["redo"] == 4e6
    assert cost.measures["read"] == 7e6
    assert cost.per_million("redo") == 2e6
    assert "temp" not in cost.measures


def test_one_measure_of_all_configurations_is_told_by_one_source() -> None:
    """Targets of two releases: the newer one counts what its sessions read, both have the disks of the host."""
    disk, sessions = metric("host_disk_read_bytes", 5e6, "bytes", "osstat"), metric("io_read_bytes", 0.0, "bytes")
    found = run(8.0, disk)
    mixed = [replace(one, metrics=(disk, sessions)) if one.cell == cell(degree=2) else one for one in found.trials]
    costs = costs_of(replace(found, trials=tuple(mixed)))
    assert [cost.measures["read"] for cost in costs.values()] == [5e6, 5e6]
    only = [replace(one, metrics=(sessions,)) if one.cell == cell(degree=2) else one for one in found.trials]
    apart = costs_of(replace(found, trials=tuple(only)))
    assert [cost.measures.get("read") for cost in apart.values()] == [None, 0.0]


def test_the_longest_waits_are_those_of_our_own_sessions() -> None:
    found = run(
        8.0,
        metric("event direct path read", 9.0, "seconds", "vstat"),
        metric("event direct path write (session)", 2.0, "seconds", "vstat"),
    )
    assert costs_of(found)[cell(degree=1)].waits == (("direct path write", 2.0),)


def test_a_run_without_any_measure_has_no_table_of_costs() -> None:
    trials = [replace(one, effective_parallelism=None) for one in run(8.0).trials]
    assert "COST OF EACH CONFIGURATION" not in render(replace(run(8.0), trials=tuple(trials)), Format.TEXT)


def test_the_report_of_a_run_shows_costs_beside_times() -> None:
    shown = render(run(8.0, metric("redo size", 9e6, "bytes", "vstat")), Format.TEXT)
    table = shown.partition("COST OF EACH CONFIGURATION")[2].partition("ALL TRIALS")[0]
    assert "throughput" in table
    assert "2.00x" in table
    assert "8.58 MiB" in table


def test_the_throughput_of_a_single_configuration_is_beside_no_other_and_not_shown() -> None:
    found = run(8.0, metric("redo size", 9e6, "bytes", "vstat"))
    alone = replace(found, trials=tuple(one for one in found.trials if one.cell == cell(degree=1)))
    table = render(alone, Format.TEXT).partition("COST OF EACH CONFIGURATION")[2].partition("ALL TRIALS")[0]
    assert "8.58 MiB" in table
    assert "throughput" not in table and "1.00x" not in table


def test_users_who_work_for_a_set_time_have_no_throughput_by_their_time() -> None:
    found = run(8.0, metric("tps", 100.0, "1/s"), metric("wal_bytes", 9e6, "bytes"), rows=None)
    users = replace(
        found, head=replace(found.head, experiment=replace(found.head.experiment, operation="workload"))
    )
    table = render(users, Format.TEXT).partition("COST OF EACH CONFIGURATION")[2].partition("ALL TRIALS")[0]
    assert "8.58 MiB" in table
    assert "throughput, first" not in table


def test_two_configurations_are_compared_per_million_rows() -> None:
    a = run(8.0, metric("redo size", 9e6, "bytes", "vstat"))
    b = run(4.0, metric("redo size", 9e6, "bytes", "vstat"), rows=4_000_000)
    shown = render_comparison(compare(a, b, force=True), Format.TEXT)
    assert "redo per million rows" in shown
    assert "0.500x" in shown


def test_costs_told_by_different_sources_are_not_compared() -> None:
    a = run(8.0, metric("redo size", 9e6, "bytes", "vstat"))
    b = run(4.0, metric("redo size", 9e6, "bytes", "awr"))
    assert "redo per" not in render_comparison(compare(a, b, force=True), Format.TEXT)


def test_two_rungs_are_named_and_not_compared_metric_by_metric() -> None:
    a = replace(run(8.0, metric("x", 1.0, "count", "vstat")), environment={"snapshot_provider": "vstat"})
    b = replace(run(4.0, metric("x", 1.0, "count", "awr")), environment={"snapshot_provider": "awr"})
    shown = " ".join(render_comparison(compare(a, b, force=True), Format.TEXT).split())
    assert "has snapshots by vstat" in shown
    assert "they count differently" in shown
