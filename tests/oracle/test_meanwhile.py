"""What somebody else sets on an object between our statements stays as it is, and is said with both values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, somebody
from tests.tiers import thinned
from toolkit.errors import ExitCode

IX, ORDERS, MADE = "INDEX DBATK.GTEST_IX", "TABLE APP.ORDERS", "TABLE DBATK.MADE"
LIVE = (
    "index",
    "rebuild",
    "--index",
    "GTEST_IX",
    "--degree",
    "1,4",
    "--repeat",
    "2",
    "--on-live-objects",
    "--restore",
    "found",
)
EIGHT, NOLOG = 'ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 8', 'ALTER INDEX "DBATK"."GTEST_IX" NOLOGGING'
JOB = wreck.OPERATIONS

CHANGED = {
    "degree, before a trial puts it back": (LIVE, EIGHT, "REBUILD", AFTER, 0, IX, ("8", "YES")),
    "degree, between two trials": (LIVE, EIGHT, "PARALLEL 2", AFTER, 0, IX, ("8", "YES")),
    "degree, before the last trial puts it back": (LIVE, EIGHT, "REBUILD", AFTER, 3, IX, ("8", "YES")),
    "logging, between two trials": (LIVE, NOLOG, "PARALLEL 2", AFTER, 0, IX, ("2", "NO")),
    "degree, in a job": (JOB["index-rebuild-job"], EIGHT, "REBUILD", AFTER, 0, IX, ("8", "YES")),
    "degree, before a job": (JOB["index-rebuild-job"], EIGHT, "'degree' AS name", BEFORE, 0, IX, ("8", "YES")),
    "degree, before the default is set": (
        ("index", "rebuild", "--index", "GTEST_IX", "--degree", "4", "--restore", "default"), EIGHT,
        "'degree' AS name", BEFORE, 0, IX, ("8", "YES"),
    ),
    "degree, of a new table": (
        JOB["ctas-job"], 'ALTER TABLE "DBATK"."MADE" PARALLEL 8', 'CREATE TABLE "DBATK"."MADE"', AFTER, 0, MADE,
        ("8", "YES"),
    ),
    "logging, before a load": (
        JOB["insert-job"], 'ALTER TABLE "APP"."ORDERS" NOLOGGING', "'degree' AS name", BEFORE, 0, ORDERS,
        ("1", "NO"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", thinned(CHANGED, 8))
def test_a_value_that_somebody_sets_in_a_run_stays_and_is_said(case: str, tmp_path: Path) -> None:
    command, statement, words, when, spared, what, values = CHANGED[case]
    with running_standin() as standin:
        wreck.prepare(standin)
        standin.engine.faults.append(Fault(somebody(statement), words=words, when=when, spared=spared))
        status, said = wreck.run(standin, tmp_path, *command, "-t", standin.url, "--not-production")
        assert standin.engine.faults[0].struck is not None
        assert wreck.look(standin)[what][1:3] == values
        assert status == ExitCode.INCOMPLETE, said
        name, (attribute, value) = what.split(".")[1], _changed(statement)
        assert name in str(said) and f"{attribute} is `{value}`" in str(said), said
        wreck.clean(standin, tmp_path)
        status, left = wreck.clean(standin, tmp_path)
        assert (status, left["left"]) == (0, [])
        assert wreck.look(standin)[what][1:3] == values


@pytest.mark.full
def test_clean_says_once_what_a_run_left_to_whoever_set_it(tmp_path: Path) -> None:
    with running_standin() as standin:
        wreck.prepare(standin)
        standin.engine.faults.append(Fault(somebody(EIGHT), words="REBUILD", when=AFTER, spared=3))
        _, said = wreck.run(standin, tmp_path, *LIVE, "-t", standin.url, "--not-production")
        (sentence,) = [each for each in said["warnings"] if "somebody else" in each]  # type: ignore[attr-defined]
        assert "degree is `8`" in sentence and "was `2`" in sentence
        status, refused = wreck.run(standin, tmp_path, *LIVE, "-t", standin.url, "--not-production")
        assert status == ExitCode.REFUSED and "dbatk clean" in str(refused)
        status, left = wreck.clean(standin, tmp_path)
        assert status == ExitCode.INCOMPLETE and sentence in str(left["left"])


@pytest.mark.full
def test_an_index_that_somebody_changes_while_others_are_rebuilt_is_not_touched(tmp_path: Path) -> None:
    several = ("index", "rebuild", "--table", "GTEST", "--degree", "4")
    with running_standin() as standin:
        standin.engine.run_as_dba('CREATE INDEX "DBATK"."SECOND_IX" ON "DBATK"."GTEST" ("AMOUNT")')
        standin.engine.faults.append(
            Fault(
                somebody(
                    'ALTER INDEX "DBATK"."SECOND_IX" PARALLEL 8', 'ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 8'
                ),
                words="REBUILD",
            )
        )
        status, said = wreck.run(standin, tmp_path, *several, "-t", standin.url, "--not-production")
        assert status == ExitCode.INCOMPLETE
        sent = [text for text in standin.statements if text.startswith("ALTER INDEX") and "REBUILD" in text]
        assert len(sent) == 1
        second = "SECOND_IX" if "GTEST_IX" in sent[0] else "GTEST_IX"
        assert wreck.look(standin)[f"INDEX DBATK.{second}"][1] == "8"
        assert f"{second}`: degree is `8`" in str(said)


def _changed(statement: str) -> tuple[str, str]:
    """Return attribute and value, as the catalogue spells them, that a statement sets."""
    return ("degree", "8") if statement.endswith("8") else ("logging", "NO")
