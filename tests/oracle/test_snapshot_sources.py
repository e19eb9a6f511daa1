"""Snapshot sources on a stand-in: which one is taken and why, what is sent, and what a bracket must be."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from tests.oracle.make import RUN, assumed, target
from tests.oracle.standin import Scenario, Standin, running_standin, scenarios
from toolkit.app.runs.planning import read_base_facts, with_licences
from toolkit.app.snapshots.providers import bracket_of, snapshot_source_of
from toolkit.dialects.oracle import snapshot_sources
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.repositories import SnapshotSource
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.values import Row
from toolkit.snapshots.brackets import BracketProvider

DECLARED = frozenset({"diagnostics_pack"})
NOTHING: frozenset[str] = frozenset()
_PERFSTAT = [{"USERNAME": name, "ORACLE_MAINTAINED": "N"} for name in ("SYS", "PERFSTAT", "DBATK")]
_GRANTED = [{"OWNER": "PERFSTAT", "OBJECT_NAME": name} for name in ("STATSPACK", "STATS$SNAPSHOT")]
WITH_STATSPACK = {"ALL_USERS": _PERFSTAT, "ALL_OBJECTS": _GRANTED}


def snapshot_source(standin: Standin, wanted: str = "auto", declared: frozenset[str] = NOTHING) -> SnapshotSource:
    sessions = Sessions(target(standin, licences=declared), RUN)
    try:
        facts = with_licences(read_base_facts(DIALECT, sessions), declared)
        return snapshot_source_of(wanted, DIALECT, facts, sessions, declared)
    finally:
        sessions.close()


def bracket(standin: Standin, wanted: str = "awr", declared: frozenset[str] = DECLARED) -> BracketProvider:
    sessions = Sessions(target(standin, licences=declared), RUN)
    facts = with_licences(read_base_facts(DIALECT, sessions), declared)
    made = bracket_of(snapshot_source_of(wanted, DIALECT, facts, sessions, declared), DIALECT, sessions, RUN)
    assert made is not None
    return made


def packs(standin: Standin) -> list[str]:
    """Return the statements that touch the pack; DBA_HIST_SNAPSHOT is free."""
    words = ("DBMS_WORKLOAD_REPOSITORY", "DBA_HIST_SYS", "DBA_HIST_OS", "DBA_HIST_SQL", "DBA_HIST_PARAMETER")
    return [text for text in standin.statements if any(word in text.upper() for word in words)]


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("scenario", "declared", "provider", "why"),
    [
        (Scenario(), NOTHING, "vstat", "not declared"),
        (Scenario(), DECLARED, "awr", "you declared it"),
        (Scenario(parameters={"control_management_pack_access": "NONE"}), DECLARED, "vstat", "switched off"),
        (Scenario(denied=frozenset({"V$PARAMETER"})), DECLARED, "vstat", "cannot be read"),
        (Scenario(views=WITH_STATSPACK), NOTHING, "statspack", "Statspack is installed and granted"),
        (Scenario(views=WITH_STATSPACK), DECLARED, "awr", "you declared it"),
        (Scenario(views={"ALL_USERS": _PERFSTAT}), NOTHING, "vstat", "not granted to this user"),
        (scenarios.standard_2(), DECLARED, "vstat", "not available for Standard Edition 2"),
        (scenarios.free_23ai(), DECLARED, "awr", "you declared it"),
        (scenarios.autonomous(), NOTHING, "awr", "included in Autonomous Database"),
        (scenarios.rds(), NOTHING, "vstat", "not declared"),
        (scenarios.standby(), DECLARED, "vstat", "remote snapshots of a standby are not taken"),
        (scenarios.pluggable_12c(), DECLARED, "vstat", "before 12.2"),
        (scenarios.old_11g(), DECLARED, "awr", "you declared it"),
        (scenarios.enterprise_19c_rac(), DECLARED, "awr", "you declared it"),
    ],
)  # fmt: skip
def test_auto_takes_the_best_that_may_be_had_and_says_why(
    scenario: Scenario, declared: frozenset[str], provider: str, why: str
) -> None:
    with running_standin(scenario) as standin:
        found = snapshot_source(standin, declared=declared)
        assert (found.provider, packs(standin)) == (provider, [])
        assert why in found.why


def test_awr_that_nobody_declared_is_refused_with_the_alternative_and_nothing_of_it_is_sent() -> None:
    with running_standin() as standin:
        with pytest.raises(ToolkitError) as caught:
            snapshot_source(standin, "awr")
        assert caught.value.code == "TK-0303"
        assert int(caught.value.exit_code) == 5
        assert "vstat" in caught.value.hint
        assert packs(standin) == []


@for_each(
    ("wanted", "scenario", "declared", "says"),
    [
        ("awr", scenarios.standby(), DECLARED, "open READ ONLY"),
        ("awr", scenarios.pluggable_12c(), DECLARED, "only be taken in the root"),
        ("statspack", Scenario(), NOTHING, "no schema PERFSTAT"),
        ("statspack", scenarios.autonomous(), NOTHING, "cannot be installed on Autonomous"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_refused_in_a_sentence(
    wanted: str, scenario: Scenario, declared: frozenset[str], says: str
) -> None:
    with running_standin(scenario) as standin, pytest.raises(ToolkitError, match=says) as caught:
        snapshot_source(standin, wanted, declared)
    assert caught.value.code == "TK-0304"


def test_a_container_of_12_1_may_be_the_root() -> None:
    root: tuple[Row, ...] = ({"container_name": "CDB$ROOT", "container_id": "1"},)
    assert snapshot_sources.awr_refusal(assumed("12.1-ee", doctor_container=root)) is None


# -- brackets ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("wanted", "declared"), [("awr", DECLARED), ("statspack", NOTHING)])
def test_a_bracket_of_a_long_trial_tells_what_lies_between(wanted: str, declared: frozenset[str]) -> None:
    with running_standin(Scenario(views=WITH_STATSPACK)) as standin:
        made = bracket(standin, wanted, declared)
        made.expected_seconds = 61.0
        made.begin()
        standin.engine.state.statements_run += 40
        metrics = {one.name: one for one in made.end()}
        assert made.warnings() == ()
        assert metrics["DB time"].value == pytest.approx(41 * 0.005)
        assert metrics["redo size"].unit == "bytes"
        assert metrics["event log file sync"].source == wanted
        assert "event SQL*Net message from client" not in metrics
        assert bool(packs(standin)) is (wanted == "awr")


@pytest.mark.parametrize("expected", [None, 3.0, 60.0])
def test_a_short_trial_and_one_of_unknown_length_have_no_bracket(expected: float | None) -> None:
    with running_standin() as standin:
        made = bracket(standin)
        made.expected_seconds = expected
        made.begin()
        assert (made.end(), made.warnings(), packs(standin)) == ((), (), [])


def test_a_snapshot_is_asked_for_at_level_typical_and_found_under_the_id_of_its_container() -> None:
    with running_standin() as standin:
        made = bracket(standin)
        mark = made.repositories.take()
        assert (mark.dbid, mark.instance, mark.snapshot) == (2810, 1, 101)
        assert "CREATE_SNAPSHOT('TYPICAL')" in packs(standin)[0]


def test_a_statspack_snapshot_bears_the_run_in_its_comment() -> None:
    with running_standin(Scenario(views=WITH_STATSPACK)) as standin:
        bracket(standin, "statspack", NOTHING).repositories.take()
        assert standin.engine.state.statspack.snaps[0].comment == f"{RUN} 1"


def test_a_bracket_over_a_restart_is_left_out_and_said() -> None:
    with running_standin() as standin:
        standin.engine.state.awr.restarts = True
        made = bracket(standin)
        made.expected_seconds = 100.0
        made.begin()
        assert made.end() == ()
        assert made.warnings() == ("a snapshot pair is omitted: the instance was restarted during it",)


def test_a_bracket_whose_snapshots_hold_no_rows_is_left_out_and_said() -> None:
    with running_standin(scenarios.autonomous(parameters={"control_management_pack_access": "NONE"})) as standin:
        made = bracket(standin, "awr", NOTHING)
        made.expected_seconds = 100.0
        made.begin()
        assert made.end() == ()
        assert "contains no rows: the Diagnostics Pack was switched off" in made.warnings()[0]


def test_a_bracket_over_snapshots_of_others_counts_and_says_so() -> None:
    with running_standin() as standin:
        standin.engine.state.awr.strangers = 2
        made = bracket(standin)
        made.expected_seconds = 100.0
        made.begin()
        standin.engine.state.statements_run += 1
        assert made.end()
        assert made.warnings() == ("2 more snapshot(s) were taken within a snapshot pair; it covers them all",)


def test_an_interval_of_zero_takes_no_snapshot_and_says_so() -> None:
    with running_standin() as standin:
        standin.engine.state.awr.silent = True
        made = bracket(standin)
        made.expected_seconds = 100.0
        made.begin()
        assert made.end() == ()
        assert "awr took no new snapshot" in made.warnings()[0]
        assert "interval is 0" in made.warnings()[0]


def test_ora_13516_is_a_warning_with_advice() -> None:
    with running_standin(Scenario(fail={"awr_snapshot": 13516})) as standin:
        made = bracket(standin)
        made.expected_seconds = 100.0
        made.begin()
        assert made.end() == ()
        assert "ORA-13516" in made.warnings()[0]
        assert "licence-free" in made.warnings()[0]
