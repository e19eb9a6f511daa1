"""Guards on the Oracle stand-in: each value passes its limit, a view is refused, a lock queue stands behind us."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.guarded import Living
from tests.oracle.standin.scenario import ViewRow
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import PlanTarget, plan_targets_of, run_plan
from toolkit.app.maintenance.guards import guard_rows
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.model.plan import Guard, MaintenancePlan, PlanRunRecord
from toolkit.store import Store, open_store

STATS = '[[step]]\nname = "stats"\noperation = "stats-gather"\ntable = "GTEST"\n'
COPY = '[[step]]\nname = "copy"\noperation = "ctas"\nsource = "GTEST"\ntable = "GTEST_COPY"\n'
APPROVALS = Approvals(not_production=True)
BUSY: ViewRow = {
    "SID": 77, "SERIAL#": 1, "USERNAME": "APP", "STATUS": "ACTIVE", "TYPE": "USER", "STATE": "WAITED SHORT TIME",
    "WAIT_CLASS": "User I/O", "PROGRAM": "batch@app",
}  # fmt: skip
STANDBY: ViewRow = {
    "DEST_ID": 2, "DEST_NAME": "LOG_ARCHIVE_DEST_2", "STATUS": "VALID", "TARGET": "STANDBY",
    "DB_UNIQUE_NAME": "FREE_SB", "APPLIED_SCN": 1_000_000,
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBATK_PASSWORD", Scenario().password)


def plan_of(standin: Standin, guards: str, *steps: str) -> MaintenancePlan:
    text = f'[plan]\nname = "n"\ntarget = "{standin.url}"\n[plan.guards]\n{guards}\n' + "\n".join(steps)
    plan = read_plan(parse_document(text, "n.toml"), Path())
    often = tuple(replace(step, guards=replace(step.guards, every_seconds=0.05)) for step in plan.steps)
    return replace(plan, steps=often)


def run(standin: Standin, store: Store, guards: str, *steps: str) -> PlanRunRecord:
    plan = plan_of(standin, guards, *steps)
    places = plan_targets_of(plan, store, APPROVALS)
    return run_plan(plan, places, store=store, approvals=APPROVALS, events=Heard())


def place_of(standin: Standin, store: Store, guards: str) -> PlanTarget:
    (place,) = plan_targets_of(plan_of(standin, guards, STATS), store, APPROVALS)
    return place


ALL = (
    'max_active_sessions = 40\nmax_lag = "30s"\nmin_free = {tablespace = "10GiB", temp = "5GiB", '
    'recovery_area = "20GiB"}\nmax_load = 0.9\nmax_lock_waiters = 5\nmax_blocking = "20s"\n'
)


def test_a_healthy_database_is_within_all_limits(store: Store) -> None:
    with running_standin(Scenario(beside={"V$ARCHIVE_DEST": [STANDBY]})) as standin:
        rows = {row.guard: row for row in guard_rows([place_of(standin, store, ALL)])}
    assert {row.verdict for row in rows.values()} == {"ok"}, rows
    assert {guard: row.now for guard, row in rows.items()} == {
        "max_active_sessions": "0 sessions active",
        "max_lag": "`FREE_SB` is 0 s behind",
        "min_free.tablespace": "40.0 GiB free in `USERS`",
        "min_free.temp": "8.00 GiB free in `TEMP`",
        "min_free.recovery_area": "400 GiB free in `/fra`",
        "max_load": "load 0.062 per CPU",
        "max_lock_waiters": "0 sessions waiting for a lock",
        "max_blocking": "0 sessions waiting for a lock",
    }


PASSED: dict[str, tuple[str, Mapping[str, Sequence[ViewRow]], Mapping[str, Sequence[ViewRow]], str]] = {
    "sessions": (
        "max_active_sessions = 0", {}, {"V$SESSION": [BUSY]}, "1 session active, the limit is 0",
    ),
    "lag": (
        'max_lag = "30s"', {}, {"V$ARCHIVE_DEST": [{**STANDBY, "APPLIED_SCN": 999_910}]},
        "`FREE_SB` is 90.0 s behind, the limit is 30.0 s",
    ),
    "lag of this standby": (
        'max_lag = "30s"',
        {"V$DATAGUARD_STATS": [{"NAME": "apply lag", "VALUE": "+00 01:02:03"}],
         "V$DATABASE": [{"DBID": 1405, "NAME": "FREE", "OPEN_MODE": "READ WRITE", "LOG_MODE": "ARCHIVELOG",
                         "DATABASE_ROLE": "LOGICAL STANDBY", "FORCE_LOGGING": "NO", "CURRENT_SCN": 1}]},
        {}, "`this standby` is 62 min 03 s behind, the limit is 30.0 s",
    ),
    "tablespace": (
        'min_free = {tablespace = "10GiB"}',
        {"DBA_TABLESPACE_USAGE_METRICS": [
            {"TABLESPACE_NAME": "USERS", "USED_SPACE": 1000, "TABLESPACE_SIZE": 1128},
            {"TABLESPACE_NAME": "ARCHIVE", "USED_SPACE": 1000, "TABLESPACE_SIZE": 1000}]},
        {}, "1.00 MiB free in `USERS`, the limit is 10.0 GiB",
    ),
    "temp": ('min_free = {temp = "9GiB"}', {}, {}, "8.00 GiB free in `TEMP`, the limit is 9.00 GiB"),
    "recovery area": (
        'min_free = {recovery_area = "20GiB"}',
        {"V$RECOVERY_FILE_DEST": [{"NAME": "+RECO", "SPACE_LIMIT": 100 * 2**30, "SPACE_USED": 95 * 2**30,
                                   "SPACE_RECLAIMABLE": 2**30}]},
        {}, "6.00 GiB free in `+RECO`, the limit is 20.0 GiB",
    ),
    "load": (
        "max_load = 0.9",
        {"V$OSSTAT": [{"STAT_NAME": "LOAD", "VALUE": 12.0}, {"STAT_NAME": "NUM_CPUS", "VALUE": 8}]},
        {}, "load 1.5 per CPU, the limit is 0.900",
    ),
}  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", list(PASSED))
def test_a_value_beyond_its_limit_keeps_a_step_from_its_begin(name: str, store: Store) -> None:
    guards, views, beside, sentence = PASSED[name]
    with running_standin(Scenario(views=views, beside=beside)) as standin:
        (step,) = run(standin, store, f"{guards}\nwait_at_most = 0", STATS).steps
    assert (step.state, step.reason) == ("stopped", f"not started: {sentence}")


NEEDED = {
    Guard.ACTIVE_SESSIONS: ("max_active_sessions = 4", "V$SESSION"),
    Guard.LAG: ('max_lag = "30s"', "V$DATAGUARD_STATS"),
    Guard.TABLESPACE: ('min_free = {tablespace = "10GiB"}', "DBA_TABLESPACE_USAGE_METRICS"),
    Guard.TEMP: ('min_free = {temp = "9GiB"}', "DBA_TEMP_FREE_SPACE"),
    Guard.RECOVERY_AREA: ('min_free = {recovery_area = "9GiB"}', "V$RECOVERY_FILE_DEST"),
    Guard.LOAD: ("max_load = 0.9", "V$OSSTAT"),
}


@pytest.mark.full
@pytest.mark.parametrize("guard", thinned(NEEDED, 5))
def test_a_refused_view_is_said_once_and_asked_once(guard: Guard, store: Store) -> None:
    guards, view = NEEDED[guard]
    with running_standin(Scenario(denied=frozenset({view}))) as standin:
        record = run(standin, store, guards, STATS, COPY)
        asked = [text for text in standin.statements if view.lower().split("$")[-1] in text.lower()]
    assert [step.state for step in record.steps] == ["done", "done"]
    said = [note.text for note in record.notes if "guard" in note.text]
    assert (
        len(said) == 1 and said[0].startswith(f"the guard `{guard}` cannot be read: ") and "ORA-00942" in said[0]
    )
    assert asked


def test_a_refused_view_stops_a_plan_that_asks_for_it(store: Store) -> None:
    with running_standin(Scenario(denied=frozenset({"V$OSSTAT"}))) as standin:
        (step,) = run(standin, store, 'max_load = 0.9\nunreadable = "stop"', STATS).steps
    assert step.state == "stopped" and "the guard `max_load` cannot be read: ORA-00942" in str(step.reason)


def waiting(standin: Callable[[], Standin], view: str) -> Living:
    """Return a session that waits behind the session of ours that copies a table, while it does."""

    def rows() -> list[ViewRow]:
        copying = [
            each.sid
            for each in list(standin().engine.state.sessions.values())
            if "GTEST_COPY" in each.observed.text
        ]
        waits: ViewRow = {
            "SID": 88, "STATE": "WAITING", "WAIT_TIME_MICRO": 25e6, "BLOCKING_SESSION_STATUS": "VALID",
            "BLOCKING_INSTANCE": 1,
        }  # fmt: skip
        where = {"INST_ID": 2} if view == "GV$SESSION" else {}
        return [{**waits, **where, "BLOCKING_SESSION": sid} for sid in copying]

    return Living(rows)


@pytest.mark.full
@pytest.mark.parametrize("view", thinned(["GV$SESSION", "V$SESSION"], 2))
def test_a_statement_of_ours_that_blocks_others_is_cancelled(view: str, store: Store) -> None:
    here: list[Standin] = []
    scenario = Scenario(
        beside={view: waiting(lambda: here[0], view)},
        denied=frozenset({"GV$SESSION"} if view == "V$SESSION" else ()),
        delay_seconds=20.0,
        delay_text="GTEST_COPY",
    )
    with running_standin(scenario) as standin:
        here.append(standin)
        steps = (COPY + 'on_failure = "continue"\n', STATS)
        copy, stats = run(standin, store, 'max_blocking = "20s"', *steps).steps
    assert copy.state == "stopped", copy.reason
    assert copy.reason == (
        "stopped by the guard `max_blocking`: a session has waited 25.0 s for a lock behind it,"
        " the limit is 20.0 s"
    )
    assert stats.state == "done"
