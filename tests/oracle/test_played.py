"""Every database played, every misfortune played: what a DBA is told, and what is left behind."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import Fault, break_connection
from tests.oracle.standin.scenarios import EVERY
from tests.tiers import thinned
from toolkit.cli.main import main
from toolkit.errors import ExitCode

_ONCE = ("--repeat", "1", "--warmup", "0")
_BEFORE = {"DBATK.GTEST", "APP.ORDERS"}
OPERATIONS: dict[str, tuple[str, ...]] = {
    "ctas": ("ctas", "--source", "GTEST", "--table", "GTEST_COPY"),
    "insert": ("insert", "--source", "GTEST", "--table", "GTEST"),
    "index-build": ("index", "build", "--table", "GTEST", "--columns", "ID,AMOUNT"),
    "index-rebuild": ("index", "rebuild", "--table", "GTEST"),
    "stats-gather": ("stats", "gather", "--table", "GTEST"),
}
# Where a degree above 1 cannot be had at all, and where nothing can be made at all.
_SERIAL = {"se2", "free"}
_NO_WORK = {"standby"}


Dbatk = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(name="dbatk")
def _dbatk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dbatk:
    """Run a command line in this process; give its exit status and its JSON document."""
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.db"))

    def run(standin: Standin, *arguments: str) -> tuple[int, dict[str, Any]]:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        capsys.readouterr()
        status = main([*arguments, "-t", standin.url, "--json"])
        return status, json.loads(capsys.readouterr().out)

    return run


@pytest.fixture(name="sweep")
def _sweep(dbatk: Dbatk) -> Dbatk:
    """Run one sweep of an operation."""

    def run(standin: Standin, operation: str, *extra: str) -> tuple[int, dict[str, Any]]:
        said = extra or ("--degree", "1,2")
        repeats = () if "--repeat" in said else _ONCE
        return dbatk(standin, *OPERATIONS[operation], *said, *repeats, "--not-production")

    return run


def nothing_is_left(standin: Standin) -> None:
    """Hold that tables, indexes and sessions are as before."""
    assert standin.tables() == _BEFORE
    assert {made.name[1] for made in standin.engine.state.indexes()} == {"GTEST_IX", "ORDERS_IX"}


@pytest.mark.thin(3)
@pytest.mark.parametrize(("name", "operation"), thinned(itertools.product(EVERY, OPERATIONS), 7))
def test_each_operation_on_each_database_is_measured_or_refused_in_a_sentence(
    name: str, operation: str, sweep: Dbatk
) -> None:
    with running_standin(EVERY[name]()) as standin:
        status, run = sweep(standin, operation)
        if name in _NO_WORK:
            assert status in (2, 5)
            assert run["error"]["message"] and run["error"]["hint"]
            assert not any(text.startswith(("CREATE", "INSERT", "ALTER TABLE")) for text in standin.statements)
        else:
            outcomes = {trial["requested_degree"]: trial["outcome"] for trial in run["trials"]}
            expected = "unsupported" if name in _SERIAL else "ok"
            assert outcomes == {1: "ok", 2: expected}, run["trials"]
            assert status == (3 if name in _SERIAL else 0)
        nothing_is_left(standin)


@pytest.mark.thin(4)
@pytest.mark.parametrize("name", EVERY)
def test_doctor_answers_on_each_database(name: str, dbatk: Dbatk) -> None:
    with running_standin(EVERY[name]()) as standin:
        status, found = dbatk(standin, "doctor")
        problems = [check for check in found["checks"] if check["state"] == "problem"]
        assert status == (ExitCode.INCOMPLETE if problems else ExitCode.DONE)
        assert found["checks"]
        assert not [
            text for text in standin.statements if not text.lstrip("-( ").upper().startswith(("SELECT", "WITH"))
        ]


# (what goes wrong, the operation, the outcome of the trials, the code they fail with)
MISFORTUNES: dict[str, tuple[Scenario, str, str, str | None]] = {
    "no temporary space": (Scenario(fail={"index_build": (12801, 1652)}), "index-build", "failed", "ORA-01652"),
    "the table is busy": (Scenario(fail={"index_build": 54}), "index-build", "failed", "ORA-00054"),
    "the PGA limit": (Scenario(fail={"ctas": (12801, 4036)}), "ctas", "failed", "ORA-04036"),
    "the undo is too old": (Scenario(fail={"ctas": (12801, 1555)}), "ctas", "failed", "ORA-01555"),
    "no quota": (Scenario(fail={"ctas": 1950}), "ctas", "failed", "ORA-01950"),
    "the quota is used up": (Scenario(fail={"insert": 1536}), "insert", "failed", "ORA-01536"),
    "statistics are locked": (Scenario(fail={"stats": 20005}), "stats-gather", "failed", "ORA-20005"),
}


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", thinned(MISFORTUNES, 3))
def test_a_misfortune_is_told_by_its_code_and_leaves_nothing(name: str, sweep: Dbatk) -> None:
    scenario, operation, outcome, code = MISFORTUNES[name]
    with running_standin(scenario) as standin:
        status, run = sweep(standin, operation, "--degree", "2")
        trials = run["trials"]
        assert status == 3
        assert {(trial["outcome"], trial["error_code"]) for trial in trials} == {(outcome, code)}, trials
        assert all(trial["elapsed_seconds"] is None for trial in trials)
        nothing_is_left(standin)


@pytest.mark.full
def test_too_few_servers_are_tried_once_more_and_then_a_downgrade(sweep: Dbatk) -> None:
    with running_standin(Scenario(max_servers=4)) as standin:
        _, run = sweep(standin, "ctas", "--degree", "8")
        (trial,) = run["trials"]
        assert (trial["outcome"], trial["elapsed_seconds"]) == ("downgraded", None)
        assert "ORA-12827" in trial["reason"]
        tried = [text for text in standin.statements if text.startswith("CREATE TABLE") and "PARALLEL 8" in text]
        assert len(tried) == 2
        nothing_is_left(standin)


_READ_BY_ALL = ("V$PARAMETER", "V$OPTION", "V$PQ_SESSTAT", "V$PX_SESSION", "V$SESSION", "V$SYSSTAT", "V$OSSTAT",
                "V$SYSTEM_EVENT", "V$SYS_TIME_MODEL", "DBA_FREE_SPACE", "DBA_DATA_FILES", "DBA_TABLESPACES",
                "DBA_SEGMENTS", "V$INSTANCE", "V$DATABASE", "V$SESSTAT", "V$SESSION_LONGOPS", "V$PQ_TQSTAT",
                "V$IOSTAT_FUNCTION", "DBA_USERS", "V$SQL")  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(
    ("view", "code"), thinned([("V$PARAMETER", 942), *((view, 1031) for view in _READ_BY_ALL)], 12)
)
def test_a_catalogue_view_that_is_refused_costs_evidence_never_the_run(view: str, code: int, sweep: Dbatk) -> None:
    with running_standin(Scenario(denied=frozenset({view}), denied_code=code)) as standin:
        status, run = sweep(standin, "ctas")
        assert status == 0, run
        assert [trial["outcome"] for trial in run["trials"]] == ["ok", "ok"]
        nothing_is_left(standin)


@pytest.mark.full
@pytest.mark.parametrize(
    ("strikes", "when", "spared"),
    thinned([("CREATE TABLE", "before", 0), ("CREATE TABLE", "after", 0), ("pq_sesstat", "before", 1)], 3),
)
def test_a_connection_lost_during_and_after_the_clock_fails_one_trial_only(
    strikes: str, when: str, spared: int, sweep: Dbatk
) -> None:
    """What is refused is learnt once before the first trial, by the same reads as after it: that one is spared."""
    with running_standin() as standin:
        standin.engine.faults.append(Fault(break_connection, words=strikes, when=when, spared=spared))
        status, run = sweep(standin, "ctas", "--degree", "1,2", "--repeat", "2")
        outcomes = [trial["outcome"] for trial in run["trials"]]
        assert outcomes.count("failed") == 1 and outcomes.count("ok") == len(outcomes) - 1, run["trials"]
        assert status == 0, "every cell has a good repetition"
        assert any("connection was lost" in sentence for sentence in run["warnings"])
        nothing_is_left(standin)


@pytest.mark.full
def test_a_connection_lost_before_the_clock_costs_one_trial_at_most(sweep: Dbatk) -> None:
    with running_standin() as standin:
        standin.engine.faults.append(Fault(break_connection, words="ALTER SESSION SET"))
        status, run = sweep(standin, "ctas", "--degree", "1,2", "--repeat", "2")
        assert [trial["outcome"] for trial in run["trials"]].count("ok") >= 5
        assert status == 0
        nothing_is_left(standin)


@pytest.mark.full
def test_a_slow_statement_meets_its_time_limit(sweep: Dbatk) -> None:
    with running_standin(Scenario(delay_seconds=60)) as standin:
        status, run = sweep(standin, "ctas", "--degree", "2", "--time-limit", "1s")
        (trial,) = run["trials"]
        assert status == 3
        assert (trial["outcome"], trial["error_code"]) == ("failed", "TK-0207")
        nothing_is_left(standin)
