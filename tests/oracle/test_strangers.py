"""What bears the name of a job's object by now, and is another one, is neither taken for it nor changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Act, Fault, break_connection, somebody
from tests.tiers import thinned
from toolkit.errors import ExitCode

JOB = wreck.OPERATIONS
MADE, NEW_IX = 'CREATE TABLE "DBATK"."MADE"', 'CREATE INDEX "DBATK"."NEW_IX"'
TABLE, INDEX = "TABLE DBATK.MADE", "INDEX DBATK.NEW_IX"
AGAIN = {
    "other columns": (JOB["ctas-job"], MADE, f'{MADE} PARALLEL 4 AS SELECT s.ID FROM "DBATK"."GTEST" s', TABLE),
    "another partitioning": (
        JOB["ctas-job"], MADE,
        f'{MADE} PARTITION BY HASH ("ID") PARTITIONS 4 PARALLEL 4 AS SELECT s.* FROM "DBATK"."GTEST" s', TABLE,
    ),
    "other columns than chosen": (
        (*JOB["ctas-job"], "--columns", "ID,AMOUNT"), MADE,
        f"{MADE} PARALLEL 4 AS SELECT s.* FROM \"DBATK\".\"GTEST\" s", TABLE,
    ),
    "another key": (JOB["index-build-job"], NEW_IX, f'{NEW_IX} ON "DBATK"."GTEST" ("AMOUNT") PARALLEL 4', INDEX),
    "another order of the key": (
        JOB["index-build-job"], NEW_IX, f'{NEW_IX} ON "DBATK"."GTEST" ("AMOUNT", "ID") PARALLEL 4', INDEX
    ),
    "another table": (
        JOB["index-build-job"], NEW_IX, f'{NEW_IX} ON "APP"."ORDERS" ("ID", "AMOUNT") PARALLEL 4', INDEX,
    ),
    "unique": (
        JOB["index-build-job"], NEW_IX,
        f'{NEW_IX.replace("INDEX", "UNIQUE INDEX")} ON "DBATK"."GTEST" ("ID", "AMOUNT") PARALLEL 4', INDEX,
    ),
    "another partitioning of the index": (
        JOB["index-build-job"], NEW_IX,
        f'{NEW_IX} ON "DBATK"."GTEST" ("ID", "AMOUNT") GLOBAL PARTITION BY HASH ("ID") PARTITIONS 2 PARALLEL 4',
        INDEX,
    ),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("case", thinned(AGAIN, 4))
def test_a_stranger_is_not_found_complete_after_a_kill(case: str, tmp_path: Path) -> None:
    command, words, anew, what = AGAIN[case]
    with running_standin() as standin:
        assert wreck.kill(standin, tmp_path, Fault(break_connection, words=words, when=BEFORE), *command)
        standin.engine.run_as_dba(anew)
        status, said = wreck.run(standin, tmp_path, "runs", "resume", "last", "--not-production")
        assert status != ExitCode.DONE
        assert what.split(".")[1] in str(said) and "is not what this run would have made" in str(said), said
        assert wreck.look(standin)[what][1] == "4"
        _, run = wreck.run(standin, tmp_path, "runs", "show", "last")
        assert all(trial["outcome"] != "ok" for trial in run["trials"])  # type: ignore[attr-defined]
        status, said = wreck.run(standin, tmp_path, "runs", "resume", "last", "--not-production")
        assert (status, "TK-0205" in str(said)) == (ExitCode.USAGE, True), said


@pytest.mark.thin(2)
@pytest.mark.parametrize("case", thinned(AGAIN, 4))
def test_a_stranger_made_right_after_our_creation_is_left_and_said(case: str, tmp_path: Path) -> None:
    command, words, anew, what = AGAIN[case]
    gone = 'DROP TABLE "DBATK"."MADE" PURGE' if what == TABLE else 'DROP INDEX "DBATK"."NEW_IX"'
    with running_standin() as standin:
        standin.engine.faults.append(Fault(somebody(gone, anew), words=words, when=AFTER))
        status, said = wreck.run(standin, tmp_path, *command, "-t", standin.url, "--not-production")
        assert status == ExitCode.INCOMPLETE, said
        assert "is not what this run would have made" in str(said)
        assert wreck.look(standin)[what][1] == "4"
        assert wreck.clean(standin, tmp_path)[0] == ExitCode.INCOMPLETE
        assert wreck.clean(standin, tmp_path)[0] == ExitCode.DONE
        assert wreck.look(standin)[what][1] == "4"


def remade(standin: Standin) -> Act:
    """Let somebody drop the run's scratch table and make another one of its name."""

    def act(*_: object) -> None:
        (name,) = [made.name for made in standin.engine.state.tables() if made.name[1].startswith("DBATK_")]
        table = f'"{name[0]}"."{name[1]}"'
        standin.engine.run_as_dba(
            f"DROP TABLE {table} PURGE", f'CREATE TABLE {table} PARALLEL 4 AS SELECT s.* FROM "APP"."ORDERS" s'
        )

    return act


@pytest.mark.full
@pytest.mark.parametrize(
    ("command", "words"),
    thinned(
        [
            (JOB["ctas-sweep"], 'FROM "DBATK"."DBATK_'),
            (
                (
                    "ctas",
                    "--source",
                    "GTEST",
                    "--table",
                    "MADE",
                    "--degree",
                    "4",
                    "--repeat",
                    "1",
                    "--keep",
                    "all",
                ),
                'FROM "DBATK"."DBATK_',
            ),
            (JOB["index-rebuild-sweep"], 'CREATE INDEX "DBATK"."DBATK_'),
        ],
        3,
    ),
    ids=["sweep", "kept", "copy"],
)
def test_a_scratch_table_that_somebody_makes_anew_is_neither_dropped_nor_changed(
    command: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    with running_standin(Scenario()) as standin:
        standin.engine.faults.append(Fault(remade(standin), words=words, when=BEFORE))
        status, _ = wreck.run(standin, tmp_path, *command, "-t", standin.url, "--not-production")
        assert standin.engine.faults[0].struck is not None
        assert "4" in [made.degree for made in standin.engine.state.tables() if made.name[1].startswith("DBATK_")]
        assert status != ExitCode.DONE
