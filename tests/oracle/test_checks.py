"""What `doctor` says of a target, from what could be read and from what was refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle.make import assumed, connect
from tests.oracle.standin import Scenario, running_standin
from toolkit.dialects.base import Check
from toolkit.dialects.oracle import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Row
from toolkit.model.words import EngineName
from toolkit.rendering.environment import sql_file
from toolkit.resources import sql_root


def examined(scenario: Scenario) -> dict[str, Check]:
    """Read what doctor reads from a stand-in, and judge it."""
    answers: dict[str, tuple[Row, ...]] = {}
    refused: dict[str, str] = {}
    with running_standin(scenario) as standin:
        connection = connect(standin)
        for file in ("server", *DIALECT.doctor_files):
            try:
                answers[file] = connection.execute(sql_file("oracle", file)).rows
            except DatabaseError as error:
                refused[file] = error.message
        connection.close()
    facts = Facts(EngineName.ORACLE, DIALECT.release(answers["server"][0]), answers, refused=refused)
    return {check.name: check for check in DIALECT.checks(facts)}


def test_a_healthy_enterprise_edition_has_no_problem() -> None:
    found = examined(Scenario())
    assert not [name for name, check in found.items() if check.state in ("problem", "warning")]
    assert "degree 40 at most" in found["parallel-servers"].consequence


def test_an_edition_without_parallel_execution_is_told_beforehand() -> None:
    found = examined(Scenario(edition="se2"))
    assert found["edition"].state == "warning"
    assert found["parallel-option"].consequence == "every statement runs serially"


def test_no_parallel_servers_at_all_is_a_problem() -> None:
    assert examined(Scenario(max_servers=0))["parallel-servers"].state == "problem"


def test_every_missing_grant_is_named_with_the_statement_that_gives_it() -> None:
    views = frozenset(
        {"V$PQ_SESSTAT", "V$PX_SESSION", "V$INSTANCE", "V$DATABASE", "V$PARAMETER", "DBA_FREE_SPACE", "V$OSSTAT"}
    )
    grants = {
        name: check.action for name, check in examined(Scenario(denied=views)).items() if name.startswith("grant ")
    }
    assert grants["grant doctor_evidence"] == "GRANT SELECT ON SYS.V_$PQ_SESSTAT TO DBATK"
    assert "GRANT SELECT ON SYS.V_$PX_SESSION TO DBATK" in grants["grant doctor_sessions"]
    assert "GRANT SELECT ON SYS.DBA_FREE_SPACE TO DBATK" in grants["grant doctor_space"]
    assert len(grants) == 7
    assert not any("SYS.V$" in action for action in grants.values()), "a synonym cannot be granted on (ORA-02030)"


def test_a_read_that_failed_otherwise_is_no_missing_grant() -> None:
    facts = replace(assumed(), refused={"doctor_evidence": "ORA-02003: invalid USERENV parameter"})
    assert not [check for check in DIALECT.checks(facts) if check.name.startswith("grant")]


@pytest.mark.parametrize(
    ("row", "name", "state"),
    [
        ({"open_mode": "READ ONLY", "database_role": "PHYSICAL STANDBY"}, "role", "problem"),
        ({"open_mode": "READ WRITE", "database_role": "PRIMARY", "force_logging": "YES"}, "force-logging", "note"),
        (
            {"open_mode": "READ WRITE", "database_role": "PRIMARY",
             "force_logging": "STANDBY NOLOGGING FOR LOAD PERFORMANCE"}, "force-logging", "note",
        ),
        (
            {"open_mode": "READ WRITE", "database_role": "PRIMARY", "supplemental_log_data": "IMPLICIT"},
            "supplemental-logging", "warning",
        ),
    ],
)  # fmt: skip
def test_the_state_of_the_database_is_judged(row: Row, name: str, state: str) -> None:
    found = {check.name: check for check in DIALECT.checks(assumed(doctor_database=(row,)))}
    assert found[name].state == state


@pytest.mark.parametrize(
    ("name", "value", "check"),
    [
        ("parallel_adaptive_multi_user", "TRUE", "parallel-adaptive-multi-user"),
        ("optimizer_ignore_hints", "TRUE", "optimizer-ignore-hints"),
        ("resource_manager_plan", "DEFAULT_MAINTENANCE_PLAN", "resource-plan"),
        ("resumable_timeout", "7200", "resumable"),
    ],
)
def test_what_slows_parallel_work_without_a_word_is_said(name: str, value: str, check: str) -> None:
    rows: tuple[Row, ...] = ({"name": name, "value": value},)
    assert check in {found.name for found in DIALECT.checks(assumed(doctor_parameters=rows))}
    assert check not in {found.name for found in DIALECT.checks(assumed())}


def test_the_root_container_is_no_place_for_tables() -> None:
    row: Row = {"container_name": "CDB$ROOT", "container_id": "1"}
    found = {check.name: check for check in DIALECT.checks(assumed(doctor_container=(row,)))}
    assert found["container"].state == "problem"


def test_a_release_the_thin_driver_does_not_reach_is_said() -> None:
    assert "driver" in {check.name for check in DIALECT.checks(assumed("11.2-ee"))}
    assert "driver" not in {check.name for check in DIALECT.checks(assumed("12.1-ee"))}


def test_every_file_doctor_names_is_there() -> None:
    assert all((sql_root() / "oracle" / f"{file}.sql").exists() for file in DIALECT.doctor_files)
