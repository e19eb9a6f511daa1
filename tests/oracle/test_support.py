"""What a target can do, and the sentence when it cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.oracle.make import INDEX, ON_TABLES, SCHEMA, assumed, work
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import ObjectKind, OperationName, SupportState

CTAS, INSERT = "ctas", "insert"
BUILD, REBUILD, STATS = "index-build", "index-rebuild", "stats-gather"


@for_each("edition", ["se2", "xe", "free"])
@for_each("operation", ON_TABLES)
@for_each("degree", [2, "default", "auto"])
def test_an_edition_without_parallel_execution_refuses_a_degree(
    edition: str, operation: OperationName, degree: int | str
) -> None:
    answer = DIALECT.work.support(work(operation, degree), assumed(f"19-{edition}"))
    assert answer.state is SupportState.UNSUPPORTED
    assert "serially" in answer.sentence
    assert DIALECT.work.support(work(operation, 1), assumed(f"19-{edition}")).ok


def test_enterprise_edition_may_work_in_parallel_unless_its_options_say_no() -> None:
    assert DIALECT.work.support(work(CTAS, 8), assumed()).ok
    off = assumed(doctor_options=({"parameter": "Parallel execution", "value": "FALSE"},))
    assert DIALECT.work.support(work(CTAS, 8), off).state is SupportState.UNSUPPORTED


@for_each(
    ("operation", "release", "level", "state"),
    [
        (CTAS, "19-ee", "basic", SupportState.SUPPORTED),
        (CTAS, "19-ee", "query_high", SupportState.SUPPORTED),
        (CTAS, "19-ee", "oltp", SupportState.NEEDS_LICENCE),
        (CTAS, "11.2-ee", "advanced", SupportState.NEEDS_LICENCE),
        (CTAS, "23-free", "advanced", SupportState.SUPPORTED),
        (CTAS, "19-se2", "basic", SupportState.UNSUPPORTED),
        (CTAS, "19-se2", "none", SupportState.SUPPORTED),
        (CTAS, "19-ee", "zstd", SupportState.UNSUPPORTED),
        (CTAS, "19-ee", "low", SupportState.UNSUPPORTED),
        (BUILD, "11.2-ee", "low", SupportState.UNSUPPORTED),
        (BUILD, "12.1-ee", "low", SupportState.NEEDS_LICENCE),
        (BUILD, "12.1-ee", "high", SupportState.UNSUPPORTED),
        (BUILD, "12.2-ee", "high", SupportState.NEEDS_LICENCE),
        (BUILD, "19-se2", "basic", SupportState.SUPPORTED),
        (BUILD, "19-ee", "oltp", SupportState.UNSUPPORTED),
    ],
)
def test_compression_of_tables_and_indexes_depends_on_release_edition_and_option(
    operation: OperationName, release: str, level: str, state: SupportState
) -> None:
    answer = DIALECT.work.support(work(operation, compression=level), assumed(release))
    assert answer.state is state
    assert answer.ok or answer.sentence


def test_the_prefix_of_a_unique_index_of_one_column_is_not_compressed() -> None:
    item = replace(work(BUILD, compression="basic", unique=True), columns=("ID",))
    assert not DIALECT.work.support(item, assumed()).ok
    assert DIALECT.work.support(replace(item, columns=("ID", "IDNAME")), assumed()).ok


def test_a_declared_option_needs_no_other_word() -> None:
    declared = assumed(licences=({"licence": "advanced_compression"},))
    assert DIALECT.work.support(work(CTAS, compression="oltp"), declared).ok
    assert DIALECT.work.support(work(BUILD, compression="low"), declared).ok


@pytest.mark.parametrize("operation", [BUILD, REBUILD])
def test_online_needs_enterprise_edition(operation: OperationName) -> None:
    assert DIALECT.work.support(work(operation, online=True), assumed()).ok
    assert "ONLINE" in DIALECT.work.support(work(operation, online=True), assumed("19-se2")).sentence


@pytest.mark.parametrize("schema", ["SYS", "SYSTEM", "XDB"])
def test_schemas_of_the_database_software_are_refused(schema: str) -> None:
    item = work(CTAS, ref=ObjectRef(ObjectKind.TABLE, QualifiedName("T", schema)))
    assert "software" in DIALECT.work.support(item, assumed()).sentence
    statistics = work(STATS, ref=ObjectRef(ObjectKind.STATISTICS, QualifiedName(schema)))
    assert not DIALECT.work.support(statistics, assumed()).ok


def test_a_schema_the_catalogue_calls_maintained_is_refused_too() -> None:
    row: Row = {"schema_name": "APP", "oracle_maintained": "Y"}
    assert not DIALECT.work.support(work(STATS, ref=SCHEMA), assumed(schema=(row,))).ok
    assert DIALECT.work.support(work(STATS, ref=SCHEMA), assumed()).ok


def test_a_partitioned_index_is_not_rebuilt_in_one_statement() -> None:
    row: Row = {"schema_name": "DBATK", "index_name": INDEX.name.name, "partitioned": "YES"}
    assert "ORA-14086" in DIALECT.work.support(work(REBUILD), assumed(indexes=(row,))).sentence


def test_the_same_columns_are_not_indexed_by_two_sessions() -> None:
    assert "ORA-01408" in DIALECT.work.support(replace(work(BUILD), concurrency=2), assumed()).sentence


def test_oracles_own_choice_of_objects_does_not_go_with_a_degree() -> None:
    assert not DIALECT.work.support(work(STATS, 4, ref=SCHEMA, gather="auto"), assumed()).ok
    assert not DIALECT.work.support(work(STATS, gather="stale"), assumed()).ok


@pytest.mark.parametrize("column", ["cluster_name", "iot_type"])
def test_a_target_that_oracle_loads_serially_refuses_a_degree(column: str) -> None:
    item = work(INSERT, 4)
    row: Row = {"schema_name": "DBATK", "table_name": item.object.name.name, column: "X"}
    assert not DIALECT.work.support(item, assumed(target=(row,))).ok
    assert DIALECT.work.support(work(INSERT), assumed(target=(row,))).ok


def test_what_oracle_has_instead_of_a_restore_into_a_scratch_place_is_said() -> None:
    said = DIALECT.work.absence("restore-try")
    assert "backup run --action restore_validate" in said and "dbatk restore script" in said
