"""Printed scripts: for each client its own commands, terminators, and one part for each session."""

from __future__ import annotations

import pytest

from toolkit.executors import Script, print_script
from toolkit.model.engines import engines
from toolkit.model.steps import Stages, Step, Timed, TimedItem
from toolkit.model.words import Effect, EngineName, Role, StepKind

STAGES = Stages(
    Timed(
        (
            TimedItem("small", (Step("w", "WORK small", session=Role.WORKER),), 1),
            TimedItem("big", (Step("w", "WORK big", session=Role.WORKER),), 9),
            TimedItem("middle", (Step("w", "WORK middle", session=Role.WORKER),), 5),
        ),
        workers=2,
    ),
    setup=(Step("make", "MAKE copy", effect=Effect.CREATES),),
    prepare=(Step("reads", "SELECT 1", own_read=True),),
    worker_begin=(Step("b", "BEGIN NULL; END;", kind=StepKind.BLOCK),),
    worker_end=(Step("e", "RESET it", tolerates=frozenset({"X2", "X1"})),),
    conclude=(Step("c", "blockdev --setra 8", kind=StepKind.COMMAND),),
    cleanup=(Step("d", "DROP copy", effect=Effect.DROPS),),
)
OPENING = {
    "oracle": (
        "-- runs by hand in SQL*Plus\nSET ECHO ON TIMING ON DEFINE OFF SQLBLANKLINES ON\n"
        "WHENEVER SQLERROR EXIT FAILURE ROLLBACK"
    ),
    "postgresql": "-- runs by hand in psql\n\\set ON_ERROR_STOP on\n\\timing on",
    "duckdb": "-- runs by hand in the DuckDB shell\n.bail on\n.timer on",
}
MAY_FAIL = {
    "oracle": ("WHENEVER SQLERROR CONTINUE", "WHENEVER SQLERROR EXIT FAILURE ROLLBACK"),
    "postgresql": ("\\set ON_ERROR_STOP off", "\\set ON_ERROR_STOP on"),
    "duckdb": (".bail off", ".bail on"),
}
GOLDEN = """\
-- what it is
{opening}

-- setup, once
MAKE copy;

-- ==== ctas degree=2

-- prepare
-- reads sql/reads.sql

-- session 1 of 2, start together

-- worker session
BEGIN NULL; END;
/

-- timed (a free session takes the next item)
WORK big;
WORK small;

-- worker session, restored
-- may fail: X1, X2
{go_on}
RESET it;
{stop}

-- session 2 of 2, start together

-- worker session
BEGIN NULL; END;
/

-- timed (a free session takes the next item)
WORK middle;

-- worker session, restored
-- may fail: X1, X2
{go_on}
RESET it;
{stop}

-- conclude
-- command: blockdev --setra 8

-- ==== ctas degree=99
-- unsupported: too many

-- cleanup, once
DROP copy;
"""


@pytest.mark.parametrize("engine", [one.name for one in engines().values() if one.client.comment == "--"])
def test_a_script_of_two_sessions_reads_as_its_client_wants_it(engine: EngineName) -> None:
    scripts = [Script("ctas degree=2", STAGES), Script("ctas degree=99", None, "too many")]
    go_on, stop = MAY_FAIL[engine]
    expected = GOLDEN.format(opening=OPENING[engine], go_on=go_on, stop=stop)
    assert print_script(engine, ["what it is"], scripts) == expected


def test_every_item_is_printed_once_however_many_sessions_there_are() -> None:
    for workers in (1, 2, 3):
        stages = Stages(Timed(STAGES.timed.items, workers))
        text = print_script("oracle", [], [Script("x", stages)])
        assert [text.count(f"WORK {name};") for name in ("small", "big", "middle")] == [1, 1, 1]


def test_one_session_shows_its_evidence_between_the_work_and_the_way_back() -> None:
    stages = Stages(
        Timed((TimedItem("it", (Step("w", "WORK"),)),)),
        evidence=(Step("degree", "SELECT degree"),),
        worker_end=(Step("e", "RESET it"),),
    )
    text = print_script("duckdb", [], [Script("x", stages)])
    assert text.index("WORK;") < text.index("SELECT degree;") < text.index("RESET it;")
    assert "session 1 of" not in text


def test_a_script_without_a_cell_that_can_be_had_holds_no_statement() -> None:
    text = print_script("postgresql", [], [Script("x", None, "no")])
    assert [line for line in text.splitlines() if line and not line.startswith(("--", "\\"))] == []


def test_a_shortened_script_shows_of_further_cells_what_differs_and_names_the_rest() -> None:
    def cell(degree: int) -> Script:
        name = f"DBATK_RUN_{degree}"
        work = TimedItem("it", (Step("w", f"CREATE TABLE {name}"),))
        begin = (Step("b", f"SET threads = {degree}"),)
        conclude = (Step("d", f"DROP TABLE {name}"),)
        return Script(f"ctas degree={degree}", Stages(Timed((work,)), worker_begin=begin, conclude=conclude))

    scripts = [cell(1), cell(2), Script("ctas degree=9", None, "too many")]
    whole = print_script("duckdb", [], scripts)
    short = print_script("duckdb", [], scripts, full=False)
    for text in ("SET threads = 1;", "SET threads = 2;", "CREATE TABLE DBATK_RUN_1;", "DROP TABLE DBATK_RUN_1;"):
        assert text in whole and text in short
    for text in ("CREATE TABLE DBATK_RUN_2;", "DROP TABLE DBATK_RUN_2;"):
        assert text in whole and text not in short
    assert "-- as above, on its own objects: timed; conclude\n\n-- ==== ctas degree=9" in short
    assert "-- unsupported: too many" in short
    assert "the whole script" in short and "runs by hand" in whole and "runs by hand" not in short
    assert print_script("duckdb", [], scripts[:1], full=False) == print_script("duckdb", [], scripts[:1])
