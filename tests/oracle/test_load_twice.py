"""A load of the user's own table is never done twice because nobody knows how it ended."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection
from tests.oracle.test_command_line import dbatk
from tests.servers import forks


def rows_of(standin: Standin) -> int:
    """Count the rows of the user's table."""
    counted = standin.engine.cursor().execute('SELECT COUNT(*) FROM "DBATK"."GTEST"').fetchone()
    assert counted is not None
    return int(counted[0])


def load(standin: Standin, folder: Path) -> dict[str, object]:
    """Load the user's table as a job."""
    query = folder / "q.sql"
    query.write_text("SELECT g.id, g.idname, g.amount FROM gtest g WHERE g.id < 10", encoding="ascii")
    _, run = dbatk(
        standin, folder, "insert", "--query", str(query), "--table", "GTEST", "--columns", "ID,IDNAME,AMOUNT"
    )
    return run


@pytest.mark.thin(2)
@pytest.mark.parametrize(("when", "added"), [(AFTER, 10), (BEFORE, 0)])
def test_a_job_whose_connection_broke_is_not_loaded_again_unasked(when: str, added: int, tmp_path: Path) -> None:
    with running_standin() as standin:
        before = rows_of(standin)
        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=when))
        run = load(standin, tmp_path)
        (trial,) = run["trials"]  # type: ignore[misc]
        assert (trial["outcome"], trial["error_code"]) == ("interrupted", "TK-0209"), run
        assert rows_of(standin) == before + added
        status, told = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert status == 5
        assert told["error"]["code"] == "TK-0209"  # type: ignore[index]
        assert "count the rows of `GTEST`" in told["error"]["hint"]  # type: ignore[index]
        assert rows_of(standin) == before + added


@pytest.mark.full
def test_a_job_whose_connection_broke_before_its_commit_was_sent_is_loaded_without_a_question(
    tmp_path: Path,
) -> None:
    with running_standin() as standin:
        before = rows_of(standin)
        standin.engine.faults.append(Fault(break_connection, words="INSERT /*+", when=BEFORE))
        run = load(standin, tmp_path)
        assert rows_of(standin) == before
        status, told = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, rows_of(standin)) == (0, before + 10), told


@pytest.mark.full
def test_a_measurement_goes_on_for_its_copies_are_its_own(tmp_path: Path) -> None:
    with running_standin() as standin:
        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=AFTER))
        status, run = dbatk(
            standin, tmp_path, "insert", "--source", "GTEST", "--table", "GTEST", "--degree", "1,2",
            "--repeat", "2", "--warmup", "0",
        )  # fmt: skip
        assert status == 0
        assert [trial["outcome"] for trial in run["trials"]].count("failed") == 1  # type: ignore[index, attr-defined]


@pytest.mark.thin(2)
@pytest.mark.parametrize(("when", "added"), [(AFTER, 10), (BEFORE, 0)])
def test_a_service_with_transaction_guard_tells_how_a_lost_commit_ended(
    when: str, added: int, tmp_path: Path
) -> None:
    with running_standin(Scenario(commit_outcome=True)) as standin:
        before = rows_of(standin)
        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=when))
        run = load(standin, tmp_path)
        assert rows_of(standin) == before + added
        status, told = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, rows_of(standin)) == (0, before + 10), told
        assert sum("GET_LTXID_OUTCOME" in text for text in standin.statements) == 1
        assert len(standin.engine.state.ended_ids) == (0 if added else 1), "it can never be committed any more"


def test_where_the_package_may_not_be_executed_a_person_is_asked(tmp_path: Path) -> None:
    with running_standin(Scenario(commit_outcome=True, denied=frozenset({"DBMS_APP_CONT"}))) as standin:
        before = rows_of(standin)
        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=AFTER))
        run = load(standin, tmp_path)
        status, told = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, rows_of(standin)) == (5, before + 10)
        assert told["error"]["code"] == "TK-0209"  # type: ignore[index]


def test_what_a_service_may_have_forgotten_is_not_taken_for_not_committed(
    tmp_path: Path,
) -> None:
    with running_standin(Scenario(commit_outcome=True)) as standin:
        before = rows_of(standin)
        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=BEFORE))
        run = load(standin, tmp_path)
        with sqlite3.connect(tmp_path / "store.db") as store:
            store.execute(
                "UPDATE journal SET identity = json_set(identity, '$.recorded_at', 0)"
                " WHERE json_extract(identity, '$.recorded_at') IS NOT NULL"
            )
        status, told = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, rows_of(standin)) == (5, before)
        assert told["error"]["code"] == "TK-0209"  # type: ignore[index]


PLAN = """[plan]
name = "n"
target = "ora"
[[step]]
name = "load"
operation = "insert"
query = "SELECT g.id, g.idname, g.amount FROM gtest g WHERE g.id < 10"
table = "GTEST"
columns = "ID,IDNAME,AMOUNT"
"""
PROFILE = (
    '[targets.ora]\nurl = "{}"\npassword = {{env = "DBATK_PASSWORD"}}\nproduction = false\napproved_only = true\n'
)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("when", "answer", "status"), [(AFTER, "there", 0), (BEFORE, "missing", 5)], ids=["there", "missing"]
)
def test_a_person_answers_where_only_approved_work_may_run_and_the_next_approved_night_does_it(
    when: str, answer: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "approvals.toml").write_text('key = {env = "APPROVAL_KEY"}\n')
    (tmp_path / "n.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    with running_standin() as standin:
        (tmp_path / "targets.toml").write_text(PROFILE.format(standin.url))
        own = {
            "DBATK_STORE": str(tmp_path / "store.db"), "DBATK_CONFIG": str(tmp_path),
            "DBATK_PASSWORD": standin.password, "APPROVAL_KEY": "k" * 32,
        }  # fmt: skip

        def said(*words: str) -> tuple[int, str]:
            done = forks.run("toolkit", *words, env={**os.environ, **own})
            return done.returncode, done.stderr

        before = rows_of(standin)
        assert said("plan", "approve", "n.toml", "--approved-by", "J. Doe")[0] == 0
        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=when))
        assert said("run", "n.toml", "--approved-only")[0] == 3
        there, told = rows_of(standin), said("runs", "resume", "last", "--rows", answer)
        assert told[0] == status, told
        assert ("the answer is recorded: the next approved run of its plan" in told[1]) is (status == 5)
        assert rows_of(standin) == there, "nothing was loaded that nobody approved"
        assert said("run", "n.toml", "--approved-only")[0] == 0
        assert rows_of(standin) == before + 10
