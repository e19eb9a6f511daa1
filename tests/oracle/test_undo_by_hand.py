"""Undo scripts as a DBA runs them, without dbatk: they put back what is still the run's, and leave the rest."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, indexes, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection
from tests.oracle.test_unseen import BLIND, REBUILD, SEEING, prepared
from tests.tiers import thinned
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.steps import Attribute, ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.rendering import step_of

ORDERS_IX = ("APP", "ORDERS_IX")


def by_hand(standin: Standin, folder: Path, user: str = "dbatk") -> str:
    """Run the only undo script in a client; return what it shows."""
    (script,) = wreck.undo_scripts(folder)
    where = f"127.0.0.1:{standin.port}/{standin.engine.scenario.service}"
    text = f'CONNECT {user}/"{standin.password}"@{where}\n@{script}\nEXIT\n'
    done = subprocess.run(
        [sys.executable, "-c", "from tests.bundle.sqlplus import main; main()", "-S", "/nolog"],
        input=text, text=True, check=True, capture_output=True, timeout=300, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert "SP2-" not in done.stdout and "ORA-06550" not in done.stdout and "ORA-009" not in done.stdout, (
        done.stdout
    )
    return done.stdout


def killed(standin: Standin, folder: Path, words: str, *command: str, when: str = AFTER) -> None:
    assert wreck.kill(standin, folder, Fault(break_connection, words=words, when=when), *command)


@pytest.mark.parametrize(
    ("operation", "words"),
    thinned(
        [
            ("index-rebuild-job", "REBUILD"),
            ("ctas-sweep", 'CREATE TABLE "DBATK"."DBATK_'),
            ("insert-job", "INSERT /*+"),
        ],
        3,
    ),
)
def test_an_undo_script_puts_everything_back(operation: str, words: str, tmp_path: Path) -> None:
    with running_standin() as standin:
        wreck.prepare(standin)
        before = wreck.look(standin)
        killed(standin, tmp_path, words, *wreck.OPERATIONS[operation], when=BEFORE if "INSERT" in words else AFTER)
        assert wreck.look(standin) != before
        assert "ORA-" not in by_hand(standin, tmp_path)
        assert wreck.look(standin) == before
        assert "ORA-" not in by_hand(standin, tmp_path)
        assert wreck.look(standin) == before


@pytest.mark.full
def test_an_undo_script_leaves_a_value_that_somebody_set_meanwhile_and_shows_it(tmp_path: Path) -> None:
    with running_standin(SEEING) as standin:
        prepared(standin)
        killed(standin, tmp_path, "REBUILD", *REBUILD)
        index = standin.engine.state.objects["INDEX", ORDERS_IX]
        assert (index.degree, index.logging) == ("4", "YES")
        standin.engine.run_as_dba('ALTER INDEX "APP"."ORDERS_IX" PARALLEL 8')
        shown = by_hand(standin, tmp_path)
        assert (index.degree, index.logging) == ("8", "NO")
        assert shown.count("ORA-20002") == 1
        for part in ("degree is `8`", "it was `3`", "the run set `4`", 'ALTER INDEX "APP"."ORDERS_IX" PARALLEL 3'):
            assert part in shown


@pytest.mark.full
def test_an_undo_script_compares_the_logging_of_each_partition(tmp_path: Path) -> None:
    load = ("insert", "--source", "GTEST", "--table", "SALES", "--degree", "4", "--nologging")
    with running_standin(Scenario(partitioned=True)) as standin:
        table = standin.engine.state.objects["TABLE", ("DBATK", "SALES")]
        before = [part.logging for part in indexes.table_parts(table)]
        killed(standin, tmp_path, "INSERT /*+", *load, when=BEFORE)
        assert {part.logging for part in indexes.table_parts(table)} == {"NO"}
        assert "ORA-" not in by_hand(standin, tmp_path)
        assert [part.logging for part in indexes.table_parts(table)] == before


@pytest.mark.full
def test_an_undo_script_takes_nothing_that_it_is_not_shown_for_what_the_run_set(tmp_path: Path) -> None:
    with running_standin(SEEING) as standin:
        prepared(standin)
        killed(standin, tmp_path, "REBUILD", *REBUILD)
        seen = wreck.look(standin)
        standin.engine.scenario = standin.engine.state.scenario = replace(SEEING, grants={})
        shown = by_hand(standin, tmp_path)
        assert "ORA-20001" in shown and "not shown to this user; let somebody who sees its table run this" in shown
        standin.engine.scenario = standin.engine.state.scenario = replace(BLIND, grants={})
        assert "not shown to this user, grant SELECT on SYS.DBA_OBJECTS" in by_hand(standin, tmp_path)
        assert wreck.look(standin) == seen


def test_a_statement_that_undoes_several_configurations_knows_the_value_of_each() -> None:
    ref = ObjectRef(ObjectKind.INDEX, QualifiedName("IX", "APP"))
    values = [Attribute("degree", each, "2") for each in ("4", "2", "8", "4")]
    call = DIALECT.by_hand('ALTER INDEX "APP"."IX" PARALLEL 2', ref, None, None, values)
    assert call is not None
    text = step_of(DIALECT, call).text
    assert text.count("ELSIF value_now = '4' THEN") == text.count("ELSIF value_now = '8' THEN") == 1
    assert "value_now = '2'" not in text and "ELSIF value_now <> '2' THEN" in text
