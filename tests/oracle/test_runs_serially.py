"""What would make a statement on a named table run serially without a word: each cause is a line of doctor."""

from __future__ import annotations

import pytest

from tests.oracle.make import ON_TABLES, assumed, target
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.scenario import ViewRow
from tests.tiers import thinned
from toolkit.app.doctor import Doctor, doctor
from toolkit.design.build import General, build_experiment
from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.values import Row
from toolkit.model.words import OperationName

INSERT, CTAS, BUILD, STATS = (
    "insert",
    "ctas",
    "index-build",
    "stats-gather",
)
_NAMED: dict[OperationName, dict[str, OptionValue]] = {
    INSERT: {"source": "APP.ORDERS", "table": "GTEST"},
    CTAS: {"source": "GTEST", "table": "GTEST_COPY"},
    BUILD: {"table": "GTEST", "columns": ("ID",)},
    STATS: {"table": "GTEST"},
}
_ON: ViewRow = {"OWNER": "DBATK", "TABLE_NAME": "GTEST"}
_TABLE: ViewRow = {**_ON, "TABLESPACE_NAME": "USERS", "LOGGING": "YES", "DEGREE": "         1",
                   "PARTITIONED": "NO", "TEMPORARY": "N", "NESTED": "NO", "DROPPED": "NO"}  # fmt: skip
_INDEX: ViewRow = {"OWNER": "DBATK", "INDEX_NAME": "GTEST_IX", "TABLE_OWNER": "DBATK", "TABLE_NAME": "GTEST",
                   "INDEX_TYPE": "NORMAL", "UNIQUENESS": "NONUNIQUE", "STATUS": "VALID", "DEGREE": "1",
                   "PARTITIONED": "NO", "DROPPED": "NO", "LOGGING": "YES"}  # fmt: skip
_COLUMN: ViewRow = {**_ON, "COLUMN_NAME": "DOC", "DATA_TYPE": "CLOB", "NULLABLE": "Y", "COLUMN_ID": 9,
                    "HIDDEN_COLUMN": "NO", "VIRTUAL_COLUMN": "NO"}  # fmt: skip
_PLAIN: list[ViewRow] = [
    {**_COLUMN, "OWNER": owner, "TABLE_NAME": table, "COLUMN_NAME": "ID", "DATA_TYPE": "NUMBER", "COLUMN_ID": 1}
    for owner, table in (("DBATK", "GTEST"), ("APP", "ORDERS"))
]
_LOB: ViewRow = {**_ON, "COLUMN_NAME": "DOC", "PARTITIONED": "NO", "SECUREFILE": "NO"}
_KEY: ViewRow = {**_ON, "CONSTRAINT_NAME": "C1", "CONSTRAINT_TYPE": "R", "STATUS": "ENABLED", "R_OWNER": "APP",
                 "R_CONSTRAINT_NAME": "PK", "DELETE_RULE": "NO ACTION", "DEFERRED": "IMMEDIATE"}  # fmt: skip
_PRIMARY: ViewRow = {**_ON, "CONSTRAINT_NAME": "PK_G", "CONSTRAINT_TYPE": "P", "STATUS": "ENABLED",
                     "DEFERRED": "IMMEDIATE"}  # fmt: skip
_TRIGGER: ViewRow = {"OWNER": "DBATK", "TRIGGER_NAME": "GTEST_BI", "TABLE_OWNER": "DBATK", "TABLE_NAME": "GTEST",
                     "TRIGGERING_EVENT": "INSERT OR UPDATE", "BASE_OBJECT_TYPE": "TABLE", "STATUS": "ENABLED",
                     "TRIGGER_TYPE": "BEFORE EACH ROW"}  # fmt: skip
_PARTS: ViewRow = {**_ON, "PARTITIONING_TYPE": "RANGE", "PARTITION_COUNT": 12}
_POLICY: ViewRow = {"OBJECT_OWNER": "DBATK", "OBJECT_NAME": "GTEST", "POLICY_NAME": "REGION", "SEL": "YES",
                    "INS": "YES", "ENABLE": "YES"}  # fmt: skip
_VIEW_LOG: ViewRow = {"LOG_OWNER": "DBATK", "MASTER": "GTEST", "LOG_TABLE": "M"}
_LOCKED: ViewRow = {**_ON, "OBJECT_TYPE": "TABLE", "STATTYPE_LOCKED": "ALL"}

CAUSES: list[tuple[str, OperationName, dict[str, list[ViewRow]], str]] = [
    ("trigger", INSERT, {"ALL_TRIGGERS": [_TRIGGER]}, "warning"),
    ("foreign-key", INSERT, {"ALL_CONSTRAINTS": [_KEY]}, "warning"),
    ("cascade", INSERT, {"ALL_CONSTRAINTS": [{**_KEY, "DELETE_RULE": "CASCADE"}]}, "warning"),
    (
        "self-reference",
        INSERT,
        {"ALL_CONSTRAINTS": [{**_KEY, "R_OWNER": "DBATK", "R_CONSTRAINT_NAME": "PK_G"}, _PRIMARY]},
        "warning",
    ),
    ("deferred-constraint", INSERT, {"ALL_CONSTRAINTS": [{**_PRIMARY, "DEFERRED": "DEFERRED"}]}, "warning"),
    ("clustered-table", INSERT, {"ALL_TABLES": [{**_TABLE, "CLUSTER_NAME": "CL"}]}, "warning"),
    ("index-organized", INSERT, {"ALL_TABLES": [{**_TABLE, "IOT_TYPE": "IOT"}]}, "warning"),
    ("temporary-table", INSERT, {"ALL_TABLES": [{**_TABLE, "TEMPORARY": "Y"}]}, "note"),
    ("table-degree", INSERT, {"ALL_TABLES": [{**_TABLE, "DEGREE": "   DEFAULT"}]}, "note"),
    ("no-degree", INSERT, {}, "note"),
    ("parallel-dml", INSERT, {}, "note"),
    ("partitions", CTAS, {"ALL_TABLES": [{**_TABLE, "PARTITIONED": "YES"}], "ALL_PART_TABLES": [_PARTS]}, ""),
    ("partitions", BUILD, {"ALL_TABLES": [{**_TABLE, "PARTITIONED": "YES"}], "ALL_PART_TABLES": [_PARTS]}, "note"),
    (
        "interval",
        INSERT,
        {"ALL_TABLES": [{**_TABLE, "PARTITIONED": "YES"}], "ALL_PART_TABLES": [{**_PARTS, "INTERVAL": "1"}]},
        "note",
    ),
    ("basicfile-lob", INSERT, {"ALL_TAB_COLS": [*_PLAIN, _COLUMN], "ALL_LOBS": [_LOB]}, "warning"),
    ("lob", BUILD, {"ALL_TAB_COLS": [*_PLAIN, _COLUMN], "ALL_LOBS": [{**_LOB, "SECUREFILE": "YES"}]}, "warning"),
    ("long", CTAS, {"ALL_TAB_COLS": [*_PLAIN, {**_COLUMN, "DATA_TYPE": "LONG"}]}, "warning"),
    (
        "object-type",
        INSERT,
        {"ALL_TAB_COLS": [*_PLAIN, {**_COLUMN, "DATA_TYPE": "SDO_GEOMETRY", "DATA_TYPE_OWNER": "MDSYS"}]},
        "warning",
    ),
    ("bitmap-index", INSERT, {"ALL_INDEXES": [{**_INDEX, "INDEX_TYPE": "BITMAP"}]}, "warning"),
    ("domain-index", INSERT, {"ALL_INDEXES": [{**_INDEX, "INDEX_TYPE": "DOMAIN"}]}, "warning"),
    (
        "global-index",
        INSERT,
        {"ALL_TABLES": [{**_TABLE, "PARTITIONED": "YES"}], "ALL_INDEXES": [_INDEX]},
        "note",
    ),
    ("policy", INSERT, {"ALL_POLICIES": [_POLICY]}, "warning"),
    ("policy", CTAS, {"ALL_POLICIES": [_POLICY]}, "warning"),
    ("log-group", INSERT, {"ALL_LOG_GROUPS": [{**_ON, "LOG_GROUP_NAME": "GG", "ALWAYS": "ALWAYS"}]}, "note"),
    ("view-log", INSERT, {"ALL_MVIEW_LOGS": [_VIEW_LOG]}, "warning"),
    (
        "flashback-archive",
        INSERT,
        {"DBA_FLASHBACK_ARCHIVE_TABLES": [{"OWNER_NAME": "DBATK", "TABLE_NAME": "GTEST",
                                           "FLASHBACK_ARCHIVE_NAME": "FDA"}]},
        "note",
    ),
    (
        "database-link",
        INSERT,
        {"ALL_SYNONYMS": [{"OWNER": "APP", "SYNONYM_NAME": "ORDERS", "TABLE_NAME": "ORDERS", "DB_LINK": "FAR"}]},
        "warning",
    ),
    (
        "editioning-view",
        INSERT,
        {"ALL_EDITIONING_VIEWS": [{"OWNER": "DBATK", "VIEW_NAME": "GTEST", "TABLE_NAME": "GTEST_T"}]},
        "warning",
    ),
    ("locked", STATS, {"ALL_TAB_STATISTICS": [_LOCKED]}, "warning"),
    ("pending", STATS, {"ALL_TAB_PENDING_STATS": [{**_ON, "NUM_ROWS": 1}]}, "warning"),
    (
        "preference",
        STATS,
        {"ALL_TAB_STAT_PREFS": [{**_ON, "PREFERENCE_NAME": "PUBLISH", "PREFERENCE_VALUE": "FALSE"}]},
        "note",
    ),
]  # fmt: skip


def asked(operation: OperationName) -> Experiment:
    return build_experiment(operation, dict(_NAMED[operation]), {"degree": (1, 4)}, General(target="t"))


def examined(operation: OperationName, scenario: Scenario | None = None) -> Doctor:
    with running_standin(scenario) as standin:
        return doctor(target(standin), asked(operation))


def by_name(found: Doctor) -> dict[str, Check]:
    return {check.name: check for check in found.checks}


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("name", "operation", "views", "state"), thinned(CAUSES, 4), ids=lambda value: str(value)[:20]
)
def test_each_cause_is_found_in_the_catalogue(
    name: str, operation: OperationName, views: dict[str, list[ViewRow]], state: str
) -> None:
    found = by_name(examined(operation, Scenario(views=views)))
    if not state:
        assert name not in found, "the table that CTAS makes is not there yet"
        return
    assert found[name].state == state
    assert found[name].consequence


def test_a_plain_table_has_nothing_in_its_way_but_what_our_sessions_do_themselves() -> None:
    found = by_name(examined(INSERT))
    causes = {name for name, _, _, _ in CAUSES}
    assert causes & set(found) == {"no-degree", "parallel-dml"}


@pytest.mark.parametrize("operation", [CTAS, BUILD])
def test_what_hinders_a_load_is_not_said_of_another_operation(operation: OperationName) -> None:
    found = by_name(examined(operation, Scenario(views={"ALL_TRIGGERS": [_TRIGGER], "ALL_CONSTRAINTS": [_KEY]})))
    assert not {"trigger", "foreign-key", "parallel-dml"} & set(found)


def test_the_objects_of_somebody_else_are_not_confused_with_those_named() -> None:
    other = {**_TRIGGER, "TABLE_OWNER": "APP"}
    assert "trigger" not in by_name(examined(INSERT, Scenario(views={"ALL_TRIGGERS": [other]})))


def test_a_function_that_is_not_parallel_is_found_in_the_query() -> None:
    rows: list[ViewRow] = [
        {"OWNER": "APP", "OBJECT_NAME": name, "PROCEDURE_NAME": inner, "OBJECT_TYPE": kind, "PARALLEL": parallel}
        for name, inner, kind, parallel in (
            ("TAX", None, "FUNCTION", "NO"), ("RATES", "TODAY", "PACKAGE", "NO"), ("NET", None, "FUNCTION", "YES"),
            ("UNUSED", None, "FUNCTION", "NO"),
        )
    ]  # fmt: skip
    query = "SELECT g.id, tax(g.id) AS t, rates.today (1) AS r, net(2) AS n, 'unused(1)' AS s FROM dbatk.gtest g"
    experiment = build_experiment(CTAS, {"query": query, "table": "N"}, {"degree": (4,)}, General(target="t"))
    with running_standin(Scenario(views={"ALL_PROCEDURES": rows})) as standin:
        found = doctor(target(standin), experiment).checks
    said = {check.evidence for check in found if check.name == "function"}
    assert said == {"APP.TAX is not PARALLEL_ENABLE", "APP.RATES.TODAY is not PARALLEL_ENABLE"}


@pytest.mark.parametrize(
    ("text", "told"), [("dbatk.gtest@far g", True), ("dbatk.gtest g WHERE 'a@b' = 'c'", False)]
)
def test_a_database_link_in_the_query_is_told_from_a_literal(text: str, told: bool) -> None:
    work: dict[str, OptionValue] = {"query": f"SELECT g.id FROM {text}", "table": "N"}
    experiment = build_experiment(CTAS, work, {"degree": (4,)}, General(target="t"))
    with running_standin() as standin:
        found = doctor(target(standin), experiment).checks
    assert ("database-link" in {check.name for check in found}) == told


def test_a_trigger_on_updates_only_leaves_a_load_parallel() -> None:
    update = {**_TRIGGER, "TRIGGERING_EVENT": "UPDATE"}
    assert "trigger" not in by_name(examined(INSERT, Scenario(views={"ALL_TRIGGERS": [update]})))


def test_a_securefile_is_a_brake_of_old_releases_only() -> None:
    work: Row = {"operation": "index-build", "schema": "DBATK", "table": "GTEST"}
    column: Row = {"on_schema": "DBATK", "on_table": "GTEST", "item": "DOC", "data_type": "CLOB",
                   "securefile": "YES", "partitioned": "NO"}  # fmt: skip
    for release, said in (("12.1-ee", True), ("19-ee", True), ("23-ee", False)):
        facts = assumed(release, doctor_work=(work,), doctor_object_columns=(column,))
        assert ("lob" in {check.name for check in DIALECT.checks(facts)}) == said


@pytest.mark.parametrize(
    "view", thinned(["ALL_TRIGGERS", "ALL_LOBS", "ALL_SYNONYMS", "DBA_FLASHBACK_ARCHIVE_TABLES"], 4)
)
def test_a_view_on_objects_that_is_refused_is_a_line_too(view: str) -> None:
    found = examined(INSERT, Scenario(denied=frozenset({view})))
    assert [check for check in found.checks if check.read.startswith("doctor_object_")]


@pytest.mark.parametrize("operation", thinned(ON_TABLES, 3))
def test_fewer_than_forty_round_trips(operation: OperationName) -> None:
    other: dict[OperationName, dict[str, OptionValue]] = {
        "index-rebuild": {"table": "GTEST"},
        "table-move": {"table": "GTEST"},
        "load": {"table": "GTEST", "files": ("lines.csv",)},
        "purge": {"table": "GTEST", "where": "AMOUNT < 30"},
        "mview-refresh": {"table": "GTEST", "method": "complete", "on_live_objects": True},
        "stats-extend": {"table": "GTEST", "columns": ("AMOUNT", "ID")},
    }
    named = {**_NAMED, **other}[operation]
    experiment = build_experiment(operation, dict(named), {"degree": (1, 4)}, General(target="t"))
    with running_standin() as standin:
        doctor(target(standin), experiment)
        assert len(standin.statements) < 40


def test_a_server_alone_takes_thirty_at_most() -> None:
    with running_standin() as standin:
        doctor(target(standin))
        assert len(standin.statements) <= 30


def test_a_degree_that_cannot_be_had_is_said_of_the_work_asked_about() -> None:
    experiment = build_experiment(INSERT, dict(_NAMED[INSERT]), {"degree": (2, 64)}, General(target="t"))
    with running_standin(Scenario(max_servers=8)) as standin:
        found = doctor(target(standin), experiment)
    (sentence,) = [check.evidence for check in found.support if check.name.endswith("degree=64")]
    assert sentence.startswith("degree 64 is above 8, the highest available now: parallel_max_servers is 8")
