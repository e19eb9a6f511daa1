"""Every template of Oracle's SQL is rendered, judged by both grammars, and names only what is documented."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.oracle import test_judge, test_redefinition, test_statistics_texts
from tests.oracle.judging import judge
from tests.oracle.make import EVERY_RELEASE, OURS, RUN, SOURCE, assumed, documented_parameters, steps, work
from tests.schedule.make import job
from toolkit import resources
from toolkit.dialects.oracle.calibration import CALIBRATION
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.redefinition import REDEFINITION
from toolkit.dialects.work import Call
from toolkit.executors.scripted.client import columns_of
from toolkit.model.facts import Facts
from toolkit.model.settings import Setting, SettingKind, SettingScope
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.model.words import Mode, StepKind
from toolkit.rendering import sql_file, step_of
from toolkit.resources import template_root
from toolkit.schedule.oracle import drop, jobs

BESIDE = {
    # DBMS_DATAPUMP as published scripts call it; the collected pages lack its manual.
    "DBMS_DATAPUMP.OPEN": {"operation", "job_mode", "job_name"},
    "DBMS_DATAPUMP.ADD_FILE": {"handle", "filename", "directory", "filetype"},
    "DBMS_DATAPUMP.METADATA_FILTER": {"handle", "name", "value", "object_path"},
    "DBMS_DATAPUMP.METADATA_REMAP": {"handle", "name", "old_value", "value"},
    "DBMS_DATAPUMP.DATA_FILTER": {"handle", "name", "value"},
    "DBMS_DATAPUMP.SET_PARALLEL": {"handle", "degree"},
    "DBMS_DATAPUMP.SET_PARAMETER": {"handle", "name", "value"},
    "DBMS_DATAPUMP.START_JOB": {"handle"},
    "DBMS_DATAPUMP.WAIT_FOR_JOB": {"handle", "job_state"},
    "DBMS_DATAPUMP.STOP_JOB": {"handle", "immediate", "keep_master", "delay"},
    "DBMS_DATAPUMP.ATTACH": {"job_name", "job_owner"},
    # PL/SQL Packages and Types Reference, DBMS_SESSION and DBMS_APP_CONT; the collected pages lack these two.
    "DBMS_SESSION.SESSION_TRACE_ENABLE": {"waits", "binds", "plan_stat"},
    "DBMS_APP_CONT.GET_LTXID_OUTCOME": {"client_ltxid", "committed", "user_call_completed"},
    # The collected page has its syntax, but no table of its parameters.
    "DBMS_REDEFINITION.FINISH_REDEF_TABLE": {
        "uname", "orig_table", "int_table", "part_name", "dml_lock_timeout", "continue_after_errors",
        "disable_rollback",
    },
}  # fmt: skip


@functools.cache
def known(release: str) -> Facts:
    """Return what is known of a table with columns that make their own values, keys, conditions and defaults."""
    keys: list[Row] = [
        {"constraint_type": kind, "column_list": '"ID", "IDNAME"', "deferrable": how, "deferred": how,
         "enforcing_index": index, "condition_text": None}
        for kind, how, index in (("P", "NOT DEFERRABLE", "GTEST_IX"), ("U", "DEFERRABLE", None))
    ]  # fmt: skip
    condition: Row = {"constraint_type": "C", "condition_text": "\"AMOUNT\" > 0 OR \"IDNAME\" = 'it''s'"}
    index: Row = {
        "schema_name": "DBATK", "index_name": "GTEST_IX", "table_schema": "DBATK", "table_name": "GTEST",
        "is_unique": "yes", "definition": '("ID", "IDNAME")',
    }  # fmt: skip
    answers: dict[str, tuple[Row, ...]] = {
        "columns": tuple({"column_name": name} for name in ("ID", "IDNAME", "AMOUNT", "N", "WHEN")),
        "virtual_columns": ({"column_name": "TWICE", "expression": '"AMOUNT"*2'},
                            {"column_name": "BIG", "expression": "UPPER(\"IDNAME\")||'x'"}),
        "identity_columns": ({"column_name": "N"},),
        "column_defaults": ({"column_name": "WHEN", "default_text": "SYSDATE\n"},
                            {"column_name": "IDNAME", "default_text": "'it''s'"}),
        "constraints": (*keys, condition),
        "table_indexes": (index,),
        "setting_rights": ({"privilege": "ALTER SYSTEM"},),
    }  # fmt: skip
    return assumed(release, **answers)


def rest(release: str) -> Iterator[Step]:
    """Render what neither the works of `test_judge` nor those of `test_statistics_texts` come to."""
    facts, settings = known(release), DIALECT.settings
    assert settings is not None
    yield from steps(DIALECT.empty_copy(SOURCE, OURS, "mark", facts, bare=False))
    for level in ("cold", "warm"):
        item = work("ctas", 2, cache=level, consumer_group="batch", sql_trace=True)
        for part in (DIALECT.work.prepare, DIALECT.work.worker_begin, DIALECT.work.worker_end):
            yield from steps(part(item, facts))
    yield from steps((Call("auxiliary_check", {"name": "AUX", "tables": (SOURCE,)}),))
    for wanted, of_table in test_redefinition.forms():
        yield from steps(call for one in REDEFINITION.scripts(wanted, of_table) for call in one.calls)
    spelled = {"name": "SORT_AREA_SIZE", "word": None, "number": 65536, "text": None}
    yield from steps((Call("session_set", spelled),))
    yield from steps((Call("last_value", {"table": SOURCE, "column": "ID"}),))
    yield from steps((Call("query_rows", {"query": "SELECT g.id FROM dbatk.gtest g"}),))
    yield from steps(call for call in DIALECT.transaction_end({"transaction_id": "0A1B"}) if not call.file)
    noted = {"notes_schema": "DBATK", "notes_table": "NOTES", "item": "it's.csv bytes 1-2"}
    yield from steps((*DIALECT.transaction_end(noted), *DIALECT.work.of("load").make_notes(OURS, "mark")))
    for kind, former, level in (
        (SettingKind.INTEGER, "1073741824", "2G"), (SettingKind.CHOICE, "AUTO", "MANUAL"),
        (SettingKind.TEXT, "19.1.0", "12.2.0.1"),
    ):  # fmt: skip
        words, scopes = ("AUTO", "MANUAL"), frozenset({SettingScope.SYSTEM})
        setting = Setting("pga_aggregate_target", former, kind, unit="B", choices=words, scopes=scopes)
        for change in (
            settings.in_system(setting, level, facts, RUN),
            settings.in_script(setting, level, (level, former), facts),
        ):
            assert change is not None
            yield from steps((*change.calls, *change.undo))
    yield from in_spfile(facts)
    for call in (CALIBRATION.measure("it's/FREE/F", 8, 20), CALIBRATION.read()):
        yield step_of(DIALECT, call)
    scheduled = job(command=("/opt/it's/dbatk", "run", 'a "plan" & 100%.toml'))
    yield from steps((*jobs(scheduled, "DBATK_OS", datetime(2026, 11, 21, tzinfo=UTC)), drop("DBATK_NIGHTLY")))


def in_spfile(facts: Facts) -> Iterator[Step]:
    """Render what SYSDBA's client is given for a parameter that needs a restart; of a script its last line."""
    settings = DIALECT.settings
    assert settings is not None and settings.client is not None
    setting = Setting("processes", "300", SettingKind.INTEGER, scopes=frozenset({SettingScope.RESTART}))
    yield from steps((settings.client.look(setting),))
    for written in (None, "300"):
        row: Row = {"name": "processes", "place": "h/FREE/F", "spfile": "+DATA/s.ora", "folder": "/it's",
                    "cluster": False, "written": written}  # fmt: skip
        answers = {**facts.answers, "setting_spfile": (row,), "setting_instance": ({"place": "h/FREE/F"},)}
        change = settings.in_system(setting, "400", replace(facts, answers=answers), RUN)
        assert change.copy is not None and change.offline is not None
        yield from steps((change.copy, *change.calls, *change.undo))
        assert change.up is not None
        for step in steps((change.offline, change.up)):
            yield replace(step, text=step.text.splitlines()[-1])


def bundled() -> Iterator[Step]:
    """Render what only scripts for SQL*Plus hold: marks, rows that are spooled, and values of its variables."""
    query = sql_file("oracle", "segment_bytes_own")
    yield from steps(
        (
            Call("bundle_mark", {"mark": "DBATK|it's|1|"}),
            Call("bundle_tag", {"action": "it's", "run": RUN}, kind=StepKind.BLOCK),
            Call("bundle_rows", {"mark": "DBATK|", "columns": columns_of(query), "query": query}),
            *(Call("bundle_bind", {"name": "N", "value": value}, kind=StepKind.BLOCK) for value in (1, "it's")),
        )
    )


EXAMPLE = (
    "CREATE TABLE emp_load (first_name CHAR(15), last_name CHAR(20)) ORGANIZATION EXTERNAL (TYPE ORACLE_LOADER "
    "DEFAULT DIRECTORY def_dir1 ACCESS PARAMETERS (RECORDS DELIMITED BY NEWLINE FIELDS (first_name CHAR(7), "
    "last_name CHAR(15))) LOCATION ('info.dat'))"
)
"""An external table as the manual has it (Database Utilities, ORACLE_LOADER), which neither grammar knows."""


def external() -> Iterator[Step]:
    """Render tables through which files of the server are read."""
    row: Row = {"column_name": "ID", "data_type": "NUMBER", "byte_length": 22}
    for mode in Mode:
        item = work(
            "insert", 2, mode, external_files=("a.csv", "it's.csv"), directory='"Load dir"', null="-",
            header="yes", max_rejects=5,
        )  # fmt: skip
        item = replace(item, source=OURS.name, columns=("ID",))
        yield from steps(DIALECT.work.of("insert").make_source(OURS, item, assumed(column_sizes=(row,)), "mark"))


@functools.cache
def further() -> dict[str, str]:
    """Return every distinct statement of these with where it comes from."""
    found: dict[str, str] = {}
    for step in (*(step for release in EVERY_RELEASE for step in rest(release)), *bundled()):
        for text in (step.text, *step.undo):
            found.setdefault(text, step.name)
    return found


@pytest.mark.full
def test_no_template_of_sql_is_left_out_of_what_is_judged() -> None:
    with resources.noting() as used:
        test_judge.statements()
        test_statistics_texts.statements.__wrapped__()
        further.__wrapped__()
        list(external())
        list(test_judge.changes_of_partitions(known=False))
    every = {f"templates/oracle/{path.name}" for path in (template_root() / "oracle").glob("*.sql.j2")}
    assert every - used == set()


@pytest.mark.full
def test_what_no_work_comes_to_stands_before_two_grammars() -> None:
    assert len(further()) > 35
    assert judge(further()) == {}


@pytest.mark.full
def test_external_tables_fall_before_two_grammars() -> None:
    """What they say of ours tells nothing: the stand-in reads it clause by clause, as the manual orders them."""
    assert judge({EXAMPLE: "the manual's"})


@pytest.mark.full
def test_partitions_merged_or_split_in_parallel_fall_before_two_grammars() -> None:
    """What they say of ours tells nothing: the stand-in reads it clause by clause, as the manual orders them."""
    manual = {
        "ALTER TABLE t1 MERGE PARTITIONS p01, p02, p03, p04 INTO PARTITION p0": "merge",
        "ALTER TABLE t1 SPLIT PARTITION p1 AT (10) INTO (PARTITION p1, PARTITION p2) PARALLEL 4": "split",
        "ALTER TABLE t1 EXCHANGE PARTITION p1 WITH TABLE t2 UPDATE GLOBAL INDEXES": "exchange",
    }
    assert len(judge(manual)) == 3


def test_packages_are_called_with_documented_parameters() -> None:
    documented = {**documented_parameters(), **BESIDE}
    called: set[str] = set()
    for text in further():
        plain = re.sub(r"'(?:[^']|'')*'", "''", text)
        for name, inside in re.findall(r"(DBMS_\w+\.\w+)(?:\(([^;]*)\))?;", plain):
            called.add(name)
            assert name in documented, f"{name}: {text}"
            assert set(re.findall(r"(\w+)\s*=>", inside)) <= documented[name], text
    assert len(called) > 9, called
