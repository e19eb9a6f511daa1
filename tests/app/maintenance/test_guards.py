"""Guards: what stands behind us, what passes a limit, and which step waits, begins or is stopped."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import psutil
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import PlanTarget, plan_targets_of, run_plan
from toolkit.app.maintenance.guard_reader import GuardWatch
from toolkit.app.maintenance.guard_readings import Behind, GuardReading, GuardReadings, behind, breach
from toolkit.app.maintenance.guards import GuardKeeper, guard_rows
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.model.plan import Guard, Guards, MaintenancePlan, PlanRunRecord
from toolkit.model.values import Row
from toolkit.store import Store

NOW = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)
COPY = '[[step]]\nname = "copy"\noperation = "ctas"\nsource = "g"\ntable = "g2"\n'
GATHER = '[[step]]\nname = "gather"\noperation = "stats-gather"\ntable = "g"\n'


def edge(waiter: str, blocker: str, seconds: float, waiter_name: str = "app", blocker_name: str = "app") -> Row:
    return {
        "waiter": waiter, "waiter_name": waiter_name, "waited_seconds": seconds,
        "blocker": blocker, "blocker_name": blocker_name,
    }  # fmt: skip


def test_who_waits_behind_one_that_waits_behind_us_waits_behind_us() -> None:
    rows = [edge("2", "1", 5, blocker_name="ours"), edge("3", "2", 9), edge("5", "4", 99)]
    assert behind(rows, ["ours"]) == {"ours": Behind(2, 9.0)}


def test_our_own_sessions_and_those_before_us_are_nobodys_victims() -> None:
    rows = [
        edge("1", "9", 50, waiter_name="ours"),  # ours waits itself
        edge("2", "1", 5, blocker_name="ours"),
        edge("7", "1", 5, waiter_name="ours too", blocker_name="ours"),
    ]
    assert behind(rows, ["ours", "ours too"]) == {"ours": Behind(1, 5.0)}
    circle = [edge("1", "2", 1, "ours", "app"), edge("2", "1", 1, "app", "ours")]
    assert behind(circle, ["ours"]) == {"ours": Behind(1, 1.0)}
    assert behind([], ["ours"]) == {}


def test_a_run_that_begins_as_the_sessions_are_read_is_not_taken_for_somebody_elses() -> None:
    begun = ["the plan run"]

    class Reader:
        def read(self, ours: Collection[str]) -> GuardReadings:
            begun[1:] = ["its run"]
            others = float(len(set(begun) - set(ours)))
            return GuardReadings({Guard.ACTIVE_SESSIONS: GuardReading(others, f"{others} sessions active")})

        def close(self) -> None:
            pass

    watch = GuardWatch(Reader, [Guard.ACTIVE_SESSIONS], lambda: tuple(begun), 300.0)  # type: ignore[arg-type,return-value]
    watch.begin()
    watch.end()
    assert watch.latest[1].readings[Guard.ACTIVE_SESSIONS].value == 0.0


def test_a_limit_is_passed_beyond_it_and_a_free_size_below_it() -> None:
    guards = Guards({Guard.LOAD: 0.9, Guard.TEMP: 1024.0})
    assert breach(guards, Guard.LOAD, GuardReading(0.9, "load 0.90 per CPU")) is None
    assert breach(guards, Guard.LOAD, GuardReading(0.95, "load 0.95 per CPU")) == (
        "load 0.95 per CPU, the limit is 0.900"
    )
    assert breach(guards, Guard.TEMP, GuardReading(1024.0, "")) is None
    assert breach(guards, Guard.TEMP, GuardReading(512.0, "512 B free in `TEMP`")) == (
        "512 B free in `TEMP`, the limit is 1.00 KiB"
    )
    assert breach(guards, Guard.TEMP, GuardReading(None, "no such location")) is None


# -- the keeper, shown looks one by one -------------------------------------------------------------------------
class Shown:
    """A keeper of one step, to which looks are shown; its clock is moved by hand."""

    def __init__(self, store: Store, folder: Path, guards: str, *, in_window: bool = False) -> None:
        place = placed(store, folder, guards, GATHER)
        self.step = place.jobs[0].step
        self.said: list[str] = []
        self.now = NOW
        self.keeper = GuardKeeper(
            place, "night", lambda: {"run": "gather"}, self.said.append, lambda: self.now, in_window=in_window
        )
        place.resolved.target.close()

    def show(self, look: GuardReadings) -> None:
        assert self.keeper._watch is not None
        self.keeper._watch.latest = (self.keeper._watch.latest[0] + 1, look)

    def stopped(self) -> list[str]:
        return [error.message for _, error in self.keeper.to_stop(["gather"])]


def placed(store: Store, folder: Path, guards: str, *steps: str) -> PlanTarget:
    text = f'[plan]\nname = "n"\ntarget = "duckdb:///{folder / "x.duckdb"}"\n[plan.guards]\n{guards}\n'
    (place,) = plan_targets_of(
        read_plan(parse_document(text + "\n".join(steps), "n.toml"), folder), store, Approvals()
    )
    return place


def load(value: float) -> GuardReadings:
    return GuardReadings({Guard.LOAD: GuardReading(value, f"load {value}")})


UNREAD = GuardReadings({Guard.LOAD: GuardReading(None, "unknown", "no privilege")})


def test_a_limit_passed_for_one_look_stops_nothing_and_for_three_it_does(store: Store, tmp_path: Path) -> None:
    shown = Shown(store, tmp_path, 'max_load = 0.9\non_breach = "stop"')
    for value in (2.0, 2.0, 0.5, 2.0, 2.0):
        shown.show(load(value))
        assert shown.stopped() == []
        assert shown.stopped() == [], "one look counts once"
    shown.show(load(2.0))
    assert shown.stopped() == ["stopped by the guard `max_load`: load 2.0, the limit is 0.900"]


def test_on_breach_wait_lets_the_running_step_go_on_and_begins_no_other(store: Store, tmp_path: Path) -> None:
    shown = Shown(store, tmp_path, 'max_load = 0.9\nlooks = 1\nwait_at_most = "10m"')
    shown.show(load(2.0))
    assert shown.stopped() == []
    held = shown.keeper.before(shown.step)
    assert held is not None and not held.for_good
    shown.now += timedelta(minutes=9)
    assert shown.keeper.before(shown.step) == held
    shown.show(load(0.1))
    assert shown.keeper.before(shown.step) is None
    assert shown.said == ["`gather` waits: load 2.0, the limit is 0.900",
                          "`gather` waited 9 min 00 s: load 2.0, the limit is 0.900"]  # fmt: skip


def test_waiting_ends_by_its_limit_or_with_the_window(store: Store, tmp_path: Path) -> None:
    for in_window, hours, for_good in ((False, 1, True), (True, 9, False)):
        shown = Shown(store, tmp_path, "max_load = 0.9", in_window=in_window)
        shown.show(load(2.0))
        assert shown.keeper.before(shown.step) is not None
        shown.now += timedelta(hours=hours)
        held = shown.keeper.before(shown.step)
        assert held is not None and held.for_good is for_good


def test_what_cannot_be_read_is_said_once_and_counts_only_on_demand(store: Store, tmp_path: Path) -> None:
    shown = Shown(store, tmp_path, "max_load = 0.9")
    strict = Shown(store, tmp_path, 'max_load = 0.9\nunreadable = "stop"\non_breach = "stop"\nlooks = 2')
    for each in (shown, strict):
        each.show(UNREAD)
        assert each.stopped() == []
        each.show(UNREAD)
    assert shown.stopped() == [] and shown.keeper.before(shown.step) is None
    assert shown.said == ["the guard `max_load` cannot be read: no privilege"]
    assert strict.stopped() == [
        "stopped by the guard `max_load`: the guard `max_load` cannot be read: no privilege"
    ]
    held = strict.keeper.before(strict.step)
    assert held is not None and held.for_good, "it will not become readable by waiting"


def test_who_waits_too_long_behind_a_step_ends_it_at_once_and_only_it(store: Store, tmp_path: Path) -> None:
    shown = Shown(store, tmp_path, 'max_blocking = "20s"')
    quiet = {Guard.BLOCKING: GuardReading(None, "1 session waiting for a lock")}
    shown.show(GuardReadings(quiet, {"another run": Behind(1, 50.0)}))
    assert shown.stopped() == []
    assert shown.keeper.before(shown.step) is not None, "no other step begins while one blocks"
    shown.show(GuardReadings(quiet, {"run": Behind(3, 25.0)}))
    assert shown.stopped() == [
        "stopped by the guard `max_blocking`: a session has waited 25.0 s for a lock behind it,"
        " the limit is 20.0 s"
    ]


# -- on DuckDB: the host alone ----------------------------------------------------------------------------------
Runner = Callable[..., PlanRunRecord]


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Runner:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as made:
        made.execute("CREATE TABLE g AS SELECT range AS id FROM range(2000)")

    def runs(guards: str, *steps: str) -> PlanRunRecord:
        text = f'[plan]\nname = "n"\ntarget = "duckdb:///{tmp_path / "x.duckdb"}"\n[plan.guards]\n{guards}\n'
        plan: MaintenancePlan = read_plan(parse_document(text + "\n".join(steps), "n.toml"), tmp_path)
        often = tuple(replace(step, guards=replace(step.guards, every_seconds=0.05)) for step in plan.steps)
        plan = replace(plan, steps=often)
        places = plan_targets_of(plan, store, Approvals())
        return run_plan(plan, places, store=store, approvals=Approvals(), events=Heard())

    return runs


@pytest.mark.full
def test_a_loaded_host_keeps_a_step_from_its_begin_and_another_has_limits_of_its_own(
    run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "getloadavg", lambda: (8.0, 8.0, 8.0))
    monkeypatch.setattr(psutil, "cpu_count", lambda: 4)
    record = run("max_load = 0.9\nwait_at_most = 0", COPY, GATHER + "guards = {max_load = 3}\n")
    copy, gather = record.steps
    assert (copy.state, copy.reason) == ("stopped", "not started: load 2.0 per CPU, the limit is 0.900")
    assert gather.state == "done"
    assert run("max_load = 0.9\nwait_at_most = 0", COPY + "guards = false\n").steps[0].state == "done"


@pytest.mark.full
def test_free_space_is_that_of_the_disk_with_the_file(run: Runner) -> None:
    (copy,) = run('min_free = {tablespace = "1000PiB"}\nwait_at_most = 0', COPY).steps
    assert copy.state == "stopped" and "x.duckdb" in str(copy.reason)
    record = run('min_free = {tablespace = "1MiB", temp = "1MiB"}', COPY)
    assert record.steps[0].state == "done" and record.notes == ()


def test_what_the_engine_has_not_is_told_and_holds_nothing_up(run: Runner, store: Store, tmp_path: Path) -> None:
    guards = 'max_active_sessions = 1\nmax_lag = "1s"\nmin_free = "1MiB"\nunreadable = "stop"'
    rows = {row.guard: row for row in guard_rows([placed(store, tmp_path, guards, GATHER)])}
    assert rows["max_lag"].now == "DuckDB has no standby" and rows["max_lag"].verdict == "ok"
    assert rows["min_free.recovery_area"].now == "DuckDB has no recovery area"
    assert rows["min_free.temp"].verdict == "ok" and rows["min_free.temp"].limit == "at least 1.00 MiB"
    assert run(guards, GATHER).steps[0].state == "done"
