"""What the evidence tells: servers and skew, cost, segment, and the plan's load line."""

from __future__ import annotations

import pytest

from tests.oracle.make import assumed, work
from toolkit.dialects.oracle.dialect import DIALECT, sql_id
from toolkit.dialects.oracle.findings import read_plan
from toolkit.model.values import Row

CTAS, STATS = "ctas", "stats-gather"


def row(kind: str, name: str, value: float | None, total: float | None = None, detail: str | None = None) -> Row:
    return {"kind": kind, "name": name, "detail": detail, "value": value, "total": total}


def metrics(*rows: Row, plan: tuple[str, ...] = (), **deltas: float) -> dict[str, float]:
    kept = {"degree": rows, "plan": tuple({"line": line} for line in plan)}
    return {one.name: one.value for one in DIALECT.work.tell(work(CTAS, 4), kept, deltas, 2.0).metrics}


def dealt(role: str, *rows: int, queue: int = 0) -> tuple[Row, ...]:
    return tuple(
        row("tq", role + "\0\0", rows[number], rows[number] * 10, f"1 {queue} 1 P00{number}")
        for number in range(len(rows))
    )


def test_a_statement_is_named_as_oracle_names_it() -> None:
    assert sql_id("select * from dual") == "a5ks9fhw2v9s1"
    assert DIALECT.statement_id("COMMIT") == "8ggw94h7mvxd7"


def test_servers_are_counted_once_and_their_skew_is_the_worst_of_all_sets() -> None:
    told = metrics(*dealt("Producer", 100, 100, 100, 100), *dealt("Consumer", 300, 50, 25, 25, queue=1))
    assert told["parallel servers"] == 4
    assert told["row skew of parallel servers"] == pytest.approx(3.0)
    assert told["rows of dfo 1 queue 1 consumers"] == 400
    assert told["most rows of one of the dfo 1 queue 1 consumers"] == 300


def test_the_coordinator_and_ranging_servers_are_no_set() -> None:
    told = metrics(
        *dealt("Producer", 50, 50),
        row("tq", "Consumer", 100, 1, "1 0 1 QC"),
        row("tq", "Ranger", 4, 1, "1 0 1 P000"),
    )
    assert (told["parallel servers"], told["row skew of parallel servers"]) == (2, 1)
    assert not any("consumers" in name for name in told)


def test_a_serial_statement_has_no_servers_and_no_zero_for_them() -> None:
    assert metrics() == {}


def test_the_cost_of_a_statement_run_once_is_told_in_bytes_and_seconds() -> None:
    rows = (row("sql", "microseconds", 3_000_000, 8_000_000, "1"), row("sql", "physical bytes", 10, 0, "1"))
    told = metrics(*rows)
    assert told["CPU of the statement"] == 3
    assert told["time of the statement, all servers"] == 8
    assert (told["read by the statement"], told["written by the statement"]) == (10, 0)
    assert DIALECT.work.tell(work(CTAS, 4), {"degree": rows}, {}, 2.0).cpu_seconds == 3


def test_the_cost_of_a_statement_run_before_is_not_that_of_this_trial() -> None:
    rows = (row("sql", "microseconds", 3_000_000, 8_000_000, "2"),)
    assert metrics(*rows) == {}
    assert DIALECT.work.tell(work(CTAS, 4), {"degree": rows}, {}, 2.0).cpu_seconds is None


def test_a_segment_has_bytes_and_extents() -> None:
    rows = (row("segment", "bytes and extents", 65536, 3),)
    assert metrics(*rows) == {"segment bytes": 65536, "segment extents": 3}
    assert DIALECT.work.tell(work(CTAS), {"degree": rows}, {}, 1.0).bytes == 65536


def test_rates_are_made_only_of_what_was_read() -> None:
    told = metrics(**{"redo size": 4096, "DB time": 6, "DB CPU": 3, "host BUSY_TIME": 1, "host IDLE_TIME": 3})
    assert told == {
        "redo of the instance, per second": 2048,
        "average active sessions": 3,
        "CPU of DB time": 50,
        "host CPU busy": 25,
    }


PARALLEL = (
    "SQL_ID  f1, child number 0",
    "| Id  | Operation                            | Name     | Rows  |",
    "|   0 | CREATE TABLE STATEMENT               |          |       |",
    "|   1 |  PX COORDINATOR                      |          |       |",
    "|   2 |   PX SEND QC (RANDOM)                | :TQ10000 |   10M |",
    "|   3 |    LOAD AS SELECT (HYBRID TSM/HWMB)  | T2       |       |",
    "|   4 |     OPTIMIZER STATISTICS GATHERING   |          |   10M |",
    "|*  5 |      TABLE ACCESS FULL               | T1       |   10M |",
    "   - Degree of Parallelism is 4 because of table property",
)
SERIAL_LOAD = (
    "|   0 | INSERT STATEMENT         |          |",
    "|   1 |  LOAD AS SELECT          | T2       |",
    "|   2 |   PX COORDINATOR         |          |",
    "|   3 |    PX SEND QC (RANDOM)   | :TQ10000 |",
    "|   4 |     PX BLOCK ITERATOR    |          |",
    "   - PDML is disabled in current session",
)
SORTED_BUILD = (
    "|   1 |  PX COORDINATOR          |          |",
    "|   2 |   PX SEND QC (ORDER)     | :TQ10001 |",
    "|   3 |    INDEX BUILD NON UNIQUE| I        |",
    "|   4 |     SORT CREATE INDEX    |          |",
    "|   5 |      PX RECEIVE          |          |",
)


def test_a_load_below_the_servers_is_parallel() -> None:
    story = read_plan(PARALLEL)
    assert (story.parallel, story.method, story.statistics) == (True, "HYBRID TSM/HWMB", True)
    assert story.degree_note == "Degree of Parallelism is 4 because of table property"
    assert read_plan(SORTED_BUILD).parallel is True
    assert metrics(plan=PARALLEL)["plan: load or build below PX SEND QC"] == 1


def test_a_load_above_the_coordinator_is_serial_and_said_with_the_notes_reason() -> None:
    assert read_plan(SERIAL_LOAD).parallel is False
    (sentence,) = DIALECT.work.tell(
        work("insert", 4), {"plan": tuple({"line": line} for line in SERIAL_LOAD)}, {}, 1.0
    ).sentences
    assert "is above PX COORDINATOR" in sentence
    assert "PDML is disabled in current session" in sentence


def test_a_serial_plan_is_no_doubt_where_serial_was_asked_for() -> None:
    plan = {"plan": tuple({"line": line} for line in SERIAL_LOAD)}
    assert DIALECT.work.tell(work("insert"), plan, {}, 1.0).sentences == ()


def test_a_plan_that_cannot_be_had_is_said_in_a_sentence() -> None:
    lines = ("SQL_ID: abc, child number: 0 cannot be found", "")
    (sentence,) = DIALECT.work.tell(
        work(CTAS, 4), {"plan": tuple({"line": one} for one in lines)}, {}, 1.0
    ).sentences
    assert sentence.startswith("the plan of the ctas cannot be shown")
    (refused,) = DIALECT.work.tell(
        work(CTAS, 4), {"plan": ({"line": "User has no SELECT privilege on V$SESSION"},)}, {}, 1.0
    ).sentences
    assert "User has no SELECT privilege on V$SESSION" in refused


def test_all_files_that_are_read_together_have_the_same_columns() -> None:
    watching = DIALECT.watching(assumed())
    assert watching.together and watching.plan is not None
    for files in ((*watching.snapshots, watching.plan), watching.samples):
        assert len({columns_of(file) for file in files}) == 1


def columns_of(file: str) -> tuple[str, ...]:
    import sqlglot

    from toolkit.rendering import sql_file

    tree = sqlglot.parse_one(sql_file("oracle", file), read="oracle")
    first = tree.find(sqlglot.exp.Select)
    assert first is not None
    return tuple(first.named_selects)
