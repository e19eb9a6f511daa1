"""The stand-in has teeth: it refuses what Oracle refuses, and does what it is told to do."""

from __future__ import annotations

import pytest

from tests.catalogue import CATALOGUE
from tests.oracle.make import RUN, connect, steps, work
from tests.oracle.standin import Scenario, Standin, running_standin
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError
from toolkit.rendering import sql_file
from toolkit.targets.oracle import OracleConnection

CTAS, INSERT = "ctas", "insert"
BINDS = {"schema": "DBATK", "name": "GTEST", "kind": "TABLE", "run": RUN}


def code_of(connection: OracleConnection, text: str) -> str:
    """Return the code a statement is refused with."""
    with pytest.raises(DatabaseError) as error:
        connection.execute(text)
    return error.value.code


@pytest.fixture(name="standin")
def _standin() -> object:
    with running_standin() as standin:
        yield standin


@pytest.mark.parametrize("file", sorted(CATALOGUE))
def test_every_catalogue_read_is_answered_with_its_columns(standin: Standin, file: str) -> None:
    connection = connect(standin)
    binds = {**BINDS, "name": "GTEST_IX"} if file == "index" else BINDS
    answer = connection.execute(sql_file("oracle", file), binds)
    assert answer.rows
    assert set(CATALOGUE[file]) <= set(answer.rows[0])
    connection.close()


def test_a_name_without_a_schema_is_looked_up_in_the_sessions_own(standin: Standin) -> None:
    connection = connect(standin)
    answer = connection.execute(sql_file("oracle", "relation"), {"schema": None, "name": "GTEST"})
    assert answer.rows[0]["schema_name"] == "DBATK"
    assert answer.rows[0]["row_estimate"] == 2000
    connection.close()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT s.sid FROM nothing_there s", "ORA-00942"),
        ("SELECT s.nothing FROM v$session s", "ORA-00904"),
        ("SELECT nothing(1) AS x FROM dual", "ORA-00904"),
        ("SELECT SYS_CONTEXT('USERENV', 'NOTHING') AS x FROM dual", "ORA-02003"),
        ("CREATE TABLE t AS SELECT 1 AS a FROM dual LIMIT", "ORA-00900"),
        ("CREATE TABLE t PARALLEL 4 NOLOGGING AS SELECT 1 AS a FROM dual", "ORA-00922"),
        ("CREATE TABLE gtest AS SELECT 1 AS a FROM dual", "ORA-00955"),
        ("CREATE TABLE t AS SELECT s.* FROM nowhere s", "ORA-00942"),
        ("CREATE INDEX i ON gtest (nothing)", "ORA-00904"),
        ("CREATE INDEX i ON gtest (idname)", "ORA-01408"),
        ("CREATE UNIQUE INDEX i ON gtest (amount)", "ORA-01452"),
        ("ALTER INDEX nothing REBUILD", "ORA-01418"),
        ("ALTER SESSION SET nothing = 1", "ORA-02248"),
        ("DROP TABLE nothing PURGE", "ORA-00942"),
        ("BEGIN DBMS_STATS.GATHER_TABLE_STATS('DBATK', 'GTEST'); END;", "ORA-06550"),
        ("BEGIN DBMS_STATS.GATHER_TABLE_STATS(owner => 'DBATK', tabname => 'GTEST'); END;", "ORA-06550"),
        ("BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => 'DBATK', tabname => 'NOTHING'); END;", "ORA-20000"),
        ("TRUNCATE TABLE gtest", "ORA-00900"),
    ],
)
def test_what_oracle_refuses_is_refused_with_its_code(standin: Standin, text: str, code: str) -> None:
    connection = connect(standin)
    assert code_of(connection, text) == code
    assert connection.execute("SELECT 1 AS one FROM dual").rows == ({"one": 1},)
    connection.close()


def test_a_direct_load_must_be_committed_before_it_is_read(standin: Standin) -> None:
    connection = connect(standin)
    connection.execute("INSERT /*+ APPEND */ INTO gtest t SELECT s.* FROM gtest s")
    assert code_of(connection, "SELECT COUNT(*) AS n FROM gtest") == "ORA-12838"
    assert code_of(connection, "ALTER SESSION ENABLE PARALLEL DML") == "ORA-12841"
    connection.execute("COMMIT")
    assert connection.execute("SELECT COUNT(*) AS n FROM gtest").rows == ({"n": 4000},)
    connection.close()


def test_a_load_that_is_not_committed_is_gone_with_its_session(standin: Standin) -> None:
    connection, other = connect(standin), connect(standin)
    connection.execute("INSERT /*+ NOAPPEND */ INTO gtest t SELECT s.* FROM gtest s")
    connection.execute("ROLLBACK")
    connection.close()
    assert other.execute("SELECT COUNT(*) AS n FROM gtest").rows == ({"n": 2000},)
    other.close()


def test_a_view_that_is_not_granted_does_not_exist() -> None:
    with running_standin(Scenario(denied=frozenset({"V$PQ_SESSTAT"}))) as standin:
        connection = connect(standin)
        assert code_of(connection, sql_file("oracle", "pq_sesstat")) == "ORA-00942"
        connection.close()


def test_a_parameter_may_be_refused_in_a_container() -> None:
    with running_standin(Scenario(parameters_refused=frozenset({"parallel_min_percent"}))) as standin:
        connection = connect(standin)
        for step in steps(
            DIALECT.work.worker_begin(work(CTAS, 4), Facts("oracle", DIALECT.assume("19-ee").release))
        ):
            try:
                connection.execute(step.text)
            except DatabaseError as refused:
                assert refused.code in step.tolerates
        connection.close()


def test_a_fault_may_pass_after_some_times() -> None:
    with running_standin(Scenario(fail={"ctas": 1652}, fail_times=1)) as standin:
        connection = connect(standin)
        text = "CREATE TABLE t AS SELECT 1 AS a FROM dual"
        assert code_of(connection, text) == "ORA-01652"
        connection.execute(text)
        assert "DBATK.T" in standin.tables()
        connection.close()


def test_servers_at_work_are_seen_from_another_session() -> None:
    with running_standin() as standin:
        worker, monitor = connect(standin), connect(standin)
        worker.execute("SELECT 1 AS one FROM dual")
        with standin.engine._working(standin.sessions()[0], 4, 4):
            rows = monitor.execute(sql_file("oracle", "sample_parallel"), {"run": RUN}).rows
        assert {row["metric_name"]: row["metric_value"] for row in rows} == {
            "parallel_workers": 4,
            "parallel_degree": 4,
            "parallel_degree_missing": 0,
        }
        worker.close()
        monitor.close()


def test_sessions_of_a_run_are_listed_with_the_statement_that_ends_them(standin: Standin) -> None:
    one, two = connect(standin), connect(standin)
    one.execute("SELECT 1 AS one FROM dual")
    (row,) = two.execute(sql_file("oracle", "sessions_of"), {"run": RUN}).rows
    assert one.identity == f"sid {row['session_id']}"
    assert row["kill_text"] == f"ALTER SYSTEM KILL SESSION '{row['session_id']}' IMMEDIATE"
    one.close()
    two.close()
