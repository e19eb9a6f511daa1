"""Names we use of Oracle's catalogue, held against its documentation."""

from __future__ import annotations

import re

import pytest
import sqlglot
from sqlglot import exp

from tests.oracle.make import assumed, documented_columns, documented_parameters, realdata, texts
from tests.oracle.standin import grammar, observed, repository
from tests.oracle.standin.catalogue import VIEWS
from tests.oracle.test_judge import works
from tests.tiers import thinned
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.rendering import sql_file
from toolkit.resources import sql_root, sql_text

FILES = sorted(path.stem for path in (sql_root() / "oracle").glob("*.sql"))


def columns_read(text: str) -> set[tuple[str, str]]:
    """Return (view, column) of every column a query reads; each must name its table."""
    found: set[tuple[str, str]] = set()
    tree = sqlglot.parse_one(text, read="oracle")
    for column in tree.find_all(exp.Column):
        if column.table.upper() == "DBMS_STATS":
            assert f"DBMS_STATS.{column.name.upper()}" in documented_parameters()  # a function without arguments
            continue
        if column.name.upper() in ("ROWNUM", "SYSDATE", "LEVEL"):
            continue
        assert column.table, f"`{column.sql()}` does not say of which view it is"
        view = _view_of(column)
        if view is not None:
            found.add((view, column.name.upper()))
    return found


def _view_of(column: exp.Column) -> str | None:
    """Return the view a column is of; None for an inline view, whose own columns are looked at by themselves."""
    scope = column.find_ancestor(exp.Select)
    while scope is not None:
        for table in scope.find_all(exp.Table):
            if table.alias == column.table and table.find_ancestor(exp.Select) is scope:
                return table.name.upper()
        if any(each.alias == column.table for each in scope.find_all(exp.Subquery)):
            return None
        scope = scope.find_ancestor(exp.Select)
    raise AssertionError(f"no table is called `{column.table}`")


BESIDE = {
    # Database PL/SQL Packages and Types Reference, DBMS_XPLAN: its functions return rows of one column.
    # (a table function has no name here).
    "": {"PLAN_TABLE_OUTPUT"},
    # Statspack's tables are in no documentation; public listings of spctab.sql have them.
    **{
        name: {word.partition(":")[0] for word in columns.split()}
        for name, columns in repository.STATSPACK.items()
    },
    # Database Reference, REDACTION_COLUMNS; the collected pages lack it.
    "REDACTION_COLUMNS": {"OBJECT_OWNER", "OBJECT_NAME", "COLUMN_NAME"},
}


def documented_and_beside() -> dict[str, set[str]]:
    """Return the columns of each view; a GV$ view has those of its V$ view and INST_ID (Database Reference)."""
    documented = documented_columns()
    # Database Reference, ALL_TAB_PARTITIONS: a column that statistics fill, marked with an asterisk there. The
    # collected page lost those of this view (NUM_ROWS to AVG_ROW_LEN); that of ALL_TAB_SUBPARTITIONS has them.
    documented["ALL_TAB_PARTITIONS"].add("BLOCKS")
    # Database Reference, ALL_TABLES: marked with an asterisk, too; ANALYZE fills it.
    for view in ("ALL_TABLES", "DBA_TABLES"):
        documented[view].add("CHAIN_CNT")
    everywhere = {
        f"G{view}": columns | {"INST_ID"} for view, columns in documented.items() if view.startswith("V$")
    }
    # Database Reference: these DBA_ views have the columns of their ALL_ views; the collected pages lack them.
    partitions = {f"DBA_TAB_{parts}": documented[f"ALL_TAB_{parts}"] for parts in ("PARTITIONS", "SUBPARTITIONS")}
    return {**everywhere, **partitions, **documented, **BESIDE}


@pytest.mark.parametrize("file", thinned(FILES, 4))
def test_a_script_reads_documented_columns_only(file: str) -> None:
    documented = documented_and_beside()
    for view, column in columns_read(sql_file("oracle", file)):
        assert column in documented.get(view, set()), f"{view} has no column {column}"


def test_the_standin_has_no_column_that_oracle_has_not() -> None:
    documented = documented_and_beside()
    for view, columns in VIEWS.items():
        if view not in ("DUAL", observed.PLANS):
            assert {name for name, _ in columns} <= documented[view], view


def test_user_views_are_read_without_an_owner() -> None:
    read = {pair for file in FILES for pair in columns_read(sql_file("oracle", file))}
    assert not [pair for pair in read if pair[0].startswith("USER_") and pair[1] == "OWNER"]


OF_EVERY_RELEASE = [file for file in FILES if "-- Versions: 11.2 to" in sql_text(f"oracle/{file}.sql")]


@pytest.mark.parametrize("file", thinned(OF_EVERY_RELEASE, 4))
def test_no_script_for_11g_reads_what_newer_releases_brought(file: str) -> None:
    newer = {"ORACLE_MAINTAINED", "VERSION_FULL", "BANNER_FULL", "CON_ID", "CON_DBID", "CDB", "USER_GENERATED",
             "IDENTITY_COLUMN", "SEARCH_CONDITION_VC"}  # fmt: skip
    assert not {column for _, column in columns_read(sql_file("oracle", file))} & newer


def test_package_calls_use_documented_parameters_only() -> None:
    documented = documented_parameters()
    blocks = {text for item in works() if item.operation == "stats-gather"
              for text in texts(DIALECT.work.timed(item, assumed()))}  # fmt: skip
    assert len(blocks) > 10
    for block in blocks:
        match = re.fullmatch(r"BEGIN (DBMS_STATS\.\w+)\((.*)\); END;", block)
        assert match, block
        assert set(grammar.arguments(match[2])) <= documented[match[1]]


@pytest.mark.parametrize("file", ["snapshot_vstat", "snapshot_vstat_session"])
def test_statistics_read_for_a_delta_are_names_real_databases_print(file: str) -> None:
    listed = re.search(r"\.name IN \((.*?'\s*)\)", sql_file("oracle", file), re.DOTALL)
    assert listed
    names = set(re.findall(r"'((?:[^'])*)'", listed[1]))
    printed = realdata("dict/awr_sysstat_names_share.csv").read_text(encoding="utf-8").splitlines()
    unseen = {name for name in names if not any(line.startswith((f"{name},", f'"{name}"')) for line in printed)}
    # Documented (VLDB and Partitioning Guide, monitoring system statistics), but no report at hand prints them; a
    # maximum of each session (Database Reference, statistics descriptions) is in no report of an instance.
    assert unseen <= {"session pga memory max"} | {
        f"Parallel operations downgraded {share} pct" for share in ("75 to 99", "1 to 25")
    }
