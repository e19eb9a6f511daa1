"""What `doctor` says of a server, from what could be read and from what was refused."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.oracle.make import assumed, target
from tests.oracle.standin import Scenario, running_standin, scenarios
from tests.oracle.standin.privileges import PRIVILEGES
from tests.oracle.standin.readings import servers
from tests.tiers import thinned
from toolkit.app.doctor import Doctor, doctor
from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.operations import operations
from toolkit.model.values import QualifiedName, Row
from toolkit.resources import sql_root

FILES = ("settings", *DIALECT.place_files, *DIALECT.doctor_files)


def examined(scenario: Scenario, declared: frozenset[str] = frozenset()) -> Doctor:
    """Let doctor look at a stand-in."""
    with running_standin(scenario) as standin:
        return doctor(target(standin), declared=declared)


def by_name(checks: tuple[Check, ...]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def judged(**answers: tuple[Row, ...]) -> dict[str, Check]:
    """Judge assumed facts with some answers beside them."""
    return by_name(DIALECT.checks(assumed(**answers)))


def settings(**values: object) -> tuple[Row, ...]:
    return tuple({"name": name, "value": str(value)} for name, value in values.items())


def test_a_healthy_enterprise_edition_has_no_problem() -> None:
    found = examined(Scenario())
    assert not [check for check in (*found.checks, *found.support) if check.state in ("problem", "warning")]
    assert found.degree_limit.degree == 40


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("name", "check", "state"),
    [
        ("se2", "edition", "warning"),
        ("free", "edition", "warning"),
        ("11g", "driver", "problem"),
        ("ee-19c-rac", "cluster", "note"),
        ("autonomous", "optimizer-ignore-hints", "note"),
        ("autonomous", "service", "note"),
        ("rds", "service", "note"),
        ("standby", "role", "problem"),
    ],
)
def test_each_database_shows_what_is_particular_to_it(name: str, check: str, state: str) -> None:
    assert by_name(examined(scenarios.EVERY[name]()).checks)[check].state == state


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", thinned(scenarios.EVERY, 3))
def test_what_is_not_of_a_release_is_nothing_to_be_granted(name: str) -> None:
    scenario = scenarios.EVERY[name]()
    offered = " ".join(grant.statement for grant in examined(scenario).grants)
    missing = {view.replace("V$", "V_$") for view in scenario.lacking if "." not in view}
    assert not [view for view in missing if f"SYS.{view} " in offered]


# -- one thing at a time ----------------------------------------------------------------------------------------
def test_the_root_the_seed_and_a_restricted_database_are_no_place_for_tables() -> None:
    for name in ("CDB$ROOT", "PDB$SEED"):
        assert judged(doctor_container=({"container_name": name},))["container"].state == "problem"
    restricted = judged(
        doctor_container=({"container_name": "SALES"},),
        doctor_pdb=({"open_mode": "READ WRITE", "restricted": "YES"},),
    )
    assert "RESTRICTED SESSION" in restricted["container"].consequence
    assert judged(doctor_instance=({"logins": "RESTRICTED"},))["restricted"].state == "problem"


@for_each(
    ("answers", "by"),
    [
        ({"doctor_database": ({"force_logging": "YES"},)}, "the database"),
        (
            {"doctor_database": ({"force_logging": "STANDBY NOLOGGING FOR DATA AVAILABILITY"},)},
            "STANDBY NOLOGGING",
        ),
        ({"doctor_pdb_logging": ({"force_logging": "YES"},)}, "the PDB"),
        ({"space_free": ({"tablespace_name": "USERS", "force_logging": "YES"},)}, "tablespace USERS"),
    ],
)
def test_forced_logging_has_three_forms(answers: dict[str, tuple[Row, ...]], by: str) -> None:
    assert by in judged(**answers)["force-logging"].evidence


def test_a_standby_that_is_fed_and_a_replication_are_warned_of() -> None:
    found = judged(
        doctor_standbys=({"destination_id": 2, "db_unique_name": "DWH_DR"},),
        doctor_database=({"supplemental_log_data": "IMPLICIT", "force_logging": "NO"},),
    )
    assert "DWH_DR" in found["standby"].evidence
    assert found["supplemental-logging"].state == "warning"


@for_each(
    ("name", "value", "check"),
    [
        ("parallel_adaptive_multi_user", "TRUE", "parallel-adaptive-multi-user"),
        ("optimizer_ignore_hints", "TRUE", "optimizer-ignore-hints"),
        ("optimizer_ignore_parallel_hints", "TRUE", "optimizer-ignore-parallel-hints"),
        ("parallel_degree_policy", "AUTO", "parallel-degree-policy"),
        ("parallel_degree_policy", "ADAPTIVE", "parallel-degree-policy"),
        ("parallel_force_local", "TRUE", "parallel-force-local"),
        ("parallel_instance_group", "ETL", "parallel-instance-group"),
        ("resource_manager_plan", "DEFAULT_MAINTENANCE_PLAN", "resource-plan"),
        ("resumable_timeout", "7200", "resumable"),
        ("optimizer_use_pending_statistics", "TRUE", "pending-statistics-used"),
    ],
)
def test_what_slows_or_stops_work_without_a_word_is_said(name: str, value: str, check: str) -> None:
    assert check in judged(settings=settings(**{name: value}))
    assert check not in judged()


def test_the_directive_of_this_sessions_group_is_said() -> None:
    found = judged(
        settings=settings(resource_manager_plan="DAYTIME"),
        doctor_session=({"consumer_group": "BATCH"},),
        doctor_directives=(
            {"plan_name": "DAYTIME", "group_name": "BATCH", "degree_limit": 4, "switch_seconds": 600},
            {"plan_name": "DAYTIME", "group_name": "OTHER_GROUPS", "degree_limit": 1},
        ),
    )
    assert "4 degree" in found["resource-plan"].consequence
    assert "600 s until" in found["resource-plan"].consequence


def test_a_session_whose_parallelism_was_switched_off_is_warned_of() -> None:
    row: Row = {"pdml_status": "DISABLED", "pddl_status": "ENABLED", "pq_status": "DISABLED"}
    assert judged(doctor_session=(row,))["session-switches"].state == "warning"


def test_the_packs_are_what_the_profile_declares_not_what_the_parameter_says() -> None:
    said = settings(control_management_pack_access="DIAGNOSTIC+TUNING")
    assert "not proof of a licence" in judged(settings=said)["awr"].consequence
    declared: tuple[Row, ...] = ({"licence": "diagnostics_pack"},)
    assert judged(settings=said, licences=declared)["awr"].state == "ok"
    off = settings(control_management_pack_access="NONE")
    assert judged(settings=off, licences=declared)["awr"].state == "warning"
    assert judged(settings=said, cloud_service=({"cloud_service": "OLTP"},))["awr"].state == "ok"


def test_declared_licences_reach_doctor() -> None:
    found = examined(Scenario(), declared=frozenset({"diagnostics_pack"}))
    assert "you declared diagnostics_pack" in by_name(found.checks)["awr"].evidence


def test_statspack_is_told_installed_readable_or_absent() -> None:
    marks: tuple[Row, ...] = ({"schema_mark": "PERFSTAT"},)
    seen = tuple({"owner_name": "PERFSTAT", "object_name": name} for name in ("STATSPACK", "STATS$SNAPSHOT"))
    assert judged(doctor_marks=())["statspack"].evidence.startswith("not installed")
    assert judged(doctor_marks=marks, doctor_visible=())["statspack"].evidence == "installed, not readable"
    assert judged(doctor_marks=marks, doctor_visible=seen)["statspack"].state == "ok"
    grants = DIALECT.grants(assumed(doctor_marks=marks, doctor_visible=()))
    assert "GRANT EXECUTE ON PERFSTAT.STATSPACK TO the_user" in {grant.statement for grant in grants}


def test_room_is_judged_by_tablespace_quota_and_temporary_space() -> None:
    user: Row = {"default_tablespace": "APP", "temporary_tablespace": "TEMPS", "quota_byte_count": 2**20}
    found = judged(
        doctor_user=({**user, "used_byte_count": 0},),
        space_free=(
            {"tablespace_name": "APP", "free_byte_count": 2**20, "growth_byte_count": 0},
            {"tablespace_name": "OTHER", "free_byte_count": 2**20, "growth_byte_count": 0},
        ),
        doctor_temp=tuple({"tablespace_name": f"T{n}", "free_byte_count": 3 * 2**30} for n in (1, 2)),
    )
    assert found["tablespace APP"].state == "warning"
    assert found["tablespace OTHER"].state == "ok", "not where this user's tables go"
    assert found["quota"].state == "warning"
    assert found["temp"].evidence == "6.00 GiB free in T1, T2, group TEMPS"


def test_a_user_without_quota_is_told_the_statement() -> None:
    row: Row = {"default_tablespace": "APP", "quota_byte_count": None}
    assert 'QUOTA 50G ON "APP"' in judged(doctor_user=(row,))["quota"].action
    unlimited = judged(doctor_user=(row,), doctor_privileges=({"privilege": "UNLIMITED TABLESPACE"},))
    assert unlimited["quota"].state == "ok"


def test_an_open_window_is_a_warning_with_the_tasks_that_run_in_it() -> None:
    found = judged(
        doctor_windows=(
            {"what": "window", "item": "SUNDAY_WINDOW", "resource_plan": "DEFAULT_MAINTENANCE_PLAN"},
            {"what": "task", "item": "auto optimizer stats collection"},
        )
    )["maintenance-window"]
    assert found.state == "warning"
    assert "auto optimizer stats collection" in found.consequence
    assert judged(doctor_windows=())["maintenance-window"].state == "ok"


def test_logon_triggers_statistics_and_an_expiring_password_are_said() -> None:
    found = judged(
        doctor_logon_triggers=({"owner_name": "SYS", "trigger_name": "SET_POLICY"},),
        doctor_statistics=(
            {"what": "locked", "table_count": 3, "example": "ORDERS"},
            {"what": "pending", "table_count": 1, "example": "ORDERS"},
            {"what": "preference PUBLISH", "table_count": 2, "example": "ORDERS"},
            {"what": "preference DEGREE", "table_count": 0, "example": None},
        ),
        doctor_user=({"expires_at": "2026-11-25T00:00:00", "read_at": "2026-11-21T06:00:00"},),
    )
    assert found["logon-trigger"].evidence == "SYS.SET_POLICY"
    assert {"statistics-locked", "statistics-pending", "statistics-preference-publish"} <= set(found)
    assert "statistics-preference-degree" not in found
    assert found["password"].evidence == "expires in 3 days"
    grace = judged(doctor_user=({"account_status": "EXPIRED(GRACE)"},))
    assert grace["password"].state == "warning"


# -- what is refused --------------------------------------------------------------------------------------------
def _views() -> list[str]:
    from tests.oracle.test_dictionary import columns_read
    from toolkit.rendering import sql_file

    return sorted({view for file in FILES for view, _ in columns_read(sql_file("oracle", file))} - {"DUAL"})


@pytest.mark.thin(3)
@pytest.mark.parametrize(("view", "code"), thinned(itertools.product(_views(), [942, 1031]), 12))
def test_a_view_that_is_refused_is_a_line_and_no_failure(view: str, code: int) -> None:
    found = examined(Scenario(denied=frozenset({view}), denied_code=code))
    lines = [check for check in found.checks if check.read]
    assert lines
    for check in lines:
        assert f"ORA-{code:05d}" in check.evidence
        assert check.consequence
    real = view.replace("V$", "V_$") if view.startswith("V$") else view
    granted = " ".join(check.action for check in lines)
    assert (f"GRANT SELECT ON SYS.{real} TO DBATK" in granted) == view.startswith(("V$", "DBA_"))
    assert "SYS.V$" not in granted, "a synonym cannot be granted on (ORA-02030)"


def test_everything_refused_still_answers() -> None:
    found = examined(Scenario(denied=frozenset(_views())))
    assert found.facts.release.edition == "ee"
    assert found.degree_limit.degree is None
    assert "GRANT SELECT ON SYS.V_$PARAMETER TO DBATK" in {grant.statement for grant in found.grants}


def test_a_read_that_failed_otherwise_is_no_missing_grant() -> None:
    facts = replace(assumed(), refused={"doctor_servers": "ORA-04031: unable to allocate"})
    (line,) = [check for check in DIALECT.checks(facts) if check.read]
    assert (line.state, line.action) == ("note", "")


# -- grants -----------------------------------------------------------------------------------------------------
def facts_of_a_poor_user(**answers: tuple[Row, ...]) -> Facts:
    return assumed(doctor_visible=(), doctor_privileges=({"privilege": "CREATE SESSION"},), **answers)


def test_a_poor_user_is_offered_each_grant_once_with_what_it_is_for() -> None:
    grants = DIALECT.grants(facts_of_a_poor_user())
    statements = [grant.statement for grant in grants]
    assert len(statements) == len(set(statements))
    assert {"GRANT SELECT ON SYS.V_$PQ_SESSTAT TO the_user", "GRANT CREATE TABLE TO the_user"} <= set(statements)
    assert all(grant.purpose for grant in grants)


def test_who_reads_the_whole_dictionary_needs_no_grant_on_views() -> None:
    facts = assumed(
        doctor_visible=(),
        doctor_privileges=tuple(
            {"privilege": name} for name in ("SELECT ANY DICTIONARY", "ALTER SESSION", *PRIVILEGES)
        ),
    )
    assert DIALECT.grants(facts) == ()


def test_a_name_that_must_be_quoted_is_quoted_in_the_grant() -> None:
    facts = facts_of_a_poor_user(server=({"user_name": "dba-tools"},))
    assert 'GRANT CREATE TABLE TO "dba-tools"' in {grant.statement for grant in DIALECT.grants(facts)}


@pytest.mark.parametrize(
    ("scenario", "busy"), [(lambda: Scenario(views={"V$PX_PROCESS": servers(60, 4)}), 60), (Scenario, 0)]
)
def test_busy_servers_are_counted_through_padded_words(scenario: Callable[[], Scenario], busy: int) -> None:
    assert examined(scenario()).facts.value("doctor_servers", "busy_count") == busy


def test_every_file_doctor_names_is_there_and_no_other() -> None:

    named = {
        *FILES,
        *(file for operation in operations() for file in DIALECT.object_files(operation, calls=True)),
    }
    there = {path.stem for path in (sql_root() / "oracle").glob("doctor_*.sql")}
    assert {file for file in named if file.startswith("doctor_")} == there


def test_what_waits_for_a_job_is_named_with_the_way_it_was_found() -> None:
    def row(kind: str, name: str, schema: str = "SHOP", count: int = 1) -> Row:
        table = f"{schema}.ORDERS"
        return {"kind": kind, "schema_name": schema, "object_name": name, "of_table": table, "number_of": count}

    found = judged(
        doctor_maintained=({"schema_name": "SYS", "oracle_maintained": "Y"},),
        doctor_waiting=(
            row("unusable index", "I_OBJ1", "SYS"),
            *(row("unusable index", f"ORDERS_IX partition P{number}") for number in range(7)),
            row("unvalidated constraint", "ORDERS_FK"),
            row("chained rows", "ORDERS", count=1200),
        ),
    )
    index, constraint, chained = (
        found[name] for name in ("unusable-index", "unvalidated-constraint", "chained-rows")
    )
    assert (index.state, index.action) == ("warning", "dbatk index rebuild --schema SHOP --unusable-only")
    assert "ORDERS_IX partition P4 and 2 more" in index.evidence and "SYS" not in index.evidence
    assert "VALIDATED of ALL_CONSTRAINTS" in constraint.evidence and "--schema SHOP" in constraint.action
    assert "SHOP.ORDERS with 1,200 rows" in chained.evidence and "ANALYZE fills" in chained.evidence


def test_a_command_for_a_shell_has_names_as_they_must_be_typed() -> None:
    row: Row = {
        "kind": "chained rows", "schema_name": "Web Shop", "object_name": "O'Neil", "of_table": "", "number_of": 3,
    }  # fmt: skip
    said = judged(doctor_waiting=(row,))["chained-rows"].action
    assert shlex.split(said)[:5] == ["dbatk", "table", "move", "--table", '"Web Shop"."O\'Neil"']
    assert DIALECT.parse_name(shlex.split(said)[4]) == QualifiedName("O'Neil", "Web Shop")


def test_an_unusable_index_and_a_constraint_are_found_in_the_catalogue() -> None:
    with running_standin(Scenario()) as standin:
        objects = standin.engine.state.objects
        objects["INDEX", ("DBATK", "GTEST_IX")].status = "UNUSABLE"
        objects["TABLE", ("DBATK", "GTEST")].constraints = [
            {"OWNER": "DBATK", "TABLE_NAME": "GTEST", "CONSTRAINT_NAME": "GTEST_FK", "CONSTRAINT_TYPE": "R",
             "STATUS": "ENABLED", "VALIDATED": "NOT VALIDATED"},
        ]  # fmt: skip
        found = by_name(doctor(target(standin), declared=frozenset()).checks)
    assert "DBATK.GTEST_IX" in found["unusable-index"].evidence
    assert "DBATK.GTEST_FK" in found["unvalidated-constraint"].evidence
    assert "chained-rows" not in found
