"""Users at work on every engine: measured, counted, and gone afterwards with all that was made for them."""

from __future__ import annotations

import pytest

from tests.engines.arena import Arena, Heard
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Factor, Level
from toolkit.model.words import Mode, Outcome
from toolkit.operations.workload import DECLARATION
from toolkit.store.store import Store

TPCB: dict[str, OptionValue] = {"builtin": "tpcb", "measure_for": "1s", "ramp_up": 0}


def work(arena: Arena, store: Store, options: dict[str, OptionValue], **levels: tuple[Level, ...]) -> RunRecord:
    factors = tuple(Factor(name, each) for name, each in levels.items())
    asked = Experiment(arena.url, "workload", options, factors, Mode.MEASUREMENT, repeat=1, seed=7)
    target = arena.target()
    try:
        run = start(asked, target, store=store, approvals=Approvals(not_production=True), events=Heard())
    finally:
        target.close()
    assert store.journal(run).open_entries() == ()
    return store.load_run(run)


def metric(trial: TrialRecord, name: str) -> float:
    return next(each.value for each in trial.metrics if each.name == name)


@pytest.mark.full_on("oracle", "duckdb")
def test_users_are_compared_by_throughput_and_leave_nothing(any_arena: Arena, store: Store) -> None:
    if "workload" not in dialect_of(any_arena.engine).work:
        with pytest.raises(ToolkitError, match="does not support `workload`"):
            work(any_arena, store, TPCB)
        return
    record = work(any_arena, store, TPCB, users=(1, 3), scale=(1, 2))
    assert [trial.outcome for trial in record.trials] == [Outcome.OK] * 4, [t.reason for t in record.trials]
    assert any_arena.leftovers() == []
    for trial in record.trials:
        assert metric(trial, "tps") == pytest.approx(metric(trial, "transactions"), rel=0.02)
        assert metric(trial, "transactions") > 0
        assert metric(trial, "latency_p50") <= metric(trial, "latency_p95") <= metric(trial, "latency_max")
        assert trial.granted_degree == trial.cell["users"]
    logs = [each for each in record.artifacts if each.name == "workload.log"]
    assert len(logs) == 4
    assert b"second 1: " in logs[0].content


@pytest.mark.full_on("oracle")
@pytest.mark.parametrize("builtin", ["tpcb", "order_entry"])
def test_a_loop_in_the_server_does_what_clients_do_and_is_told_apart(
    any_arena: Arena, store: Store, builtin: str
) -> None:
    declared = next(one for one in DECLARATION.options if one.name == "loop")
    if not declared.is_of(any_arena.engine):
        return
    record = work(
        any_arena, store, {**TPCB, "builtin": builtin, "tries": 50}, users=(2,), loop=("client", "server")
    )
    assert [trial.outcome for trial in record.trials] == [Outcome.OK] * 2, [t.reason for t in record.trials]
    assert any_arena.leftovers() == []
    for trial in record.trials:
        (median,) = (each for each in trial.metrics if each.name == "latency_p50")
        assert metric(trial, "errors") == 0
        assert metric(trial, "transactions") > 0
        assert (median.source == "the server's clock") == (trial.cell["loop"] == "server")


@pytest.mark.full
def test_a_shop_takes_orders_and_each_trial_begins_with_the_same_ones(any_arena: Arena, store: Store) -> None:
    if "workload" not in dialect_of(any_arena.engine).work:
        return
    shop: dict[str, OptionValue] = {**TPCB, "builtin": "order_entry", "tries": 50}
    record = work(any_arena, store, shop, users=(2,), think_time=(0.0, 0.01))
    assert [trial.outcome for trial in record.trials] == [Outcome.OK] * 2, [t.reason for t in record.trials]
    assert any_arena.leftovers() == []
    for trial in record.trials:
        assert metric(trial, "errors") == 0
        parts = ("new_order", "payment", "order_status", "stock_level")
        assert sum(metric(trial, f"tps_{part}") for part in parts) == pytest.approx(metric(trial, "tps"))
