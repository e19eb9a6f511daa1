"""Stacks of errors: the cause is told, the whole stack is kept, and what cannot go on does not go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import connect
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.oracle.errors import headline, without_secrets
from toolkit.model.protocols import DatabaseError
from toolkit.store import open_store

_SWEEP = ("ctas", "--source", "GTEST", "--table", "C", "--degree", "1,2,4", "--repeat", "2", "--warmup", "0")


def test_the_cause_of_a_parallel_servers_error_is_the_error(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"ctas": (12801, 1555)})) as standin:
        connection = connect(standin)
        with pytest.raises(DatabaseError) as caught:
            connection.execute("CREATE TABLE x NOLOGGING AS SELECT g.* FROM gtest g")
        connection.close()
    error = caught.value
    assert error.code == "ORA-01555"
    assert error.sentence.startswith("ORA-01555: snapshot too old")
    assert error.sentence.endswith("(in ORA-12801: error signaled in parallel query server P001)")
    assert "ORA-12801" in error.message


def test_a_trial_tells_the_cause_and_the_run_keeps_the_stack(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"ctas": (12801, 1555)})) as standin:
        status, run = dbatk(standin, tmp_path, *_SWEEP)
    trials = run["trials"]
    assert status == 3
    assert {trial["error_code"] for trial in trials} == {"ORA-01555"}  # type: ignore[index, attr-defined]
    assert len(trials) == 6, "another cell may do better"  # type: ignore[arg-type]
    with open_store(tmp_path / "store.db") as store:
        names = store.artifact_names(str(run["run"]))
        kept = sorted((name, trial) for name, trial, _ in names if name.startswith("errors-"))
        first = store.load_artifact(str(run["run"]), *kept[0])
    assert [trial for _, trial in kept] == [1, 2, 3, 4, 5, 6]
    assert first is not None
    text = first.content.decode()
    assert text.index("ORA-12801") < text.index("ORA-01555")


def test_what_no_cell_can_help_ends_the_run_after_two_cells(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"ctas": 1031})) as standin:
        status, run = dbatk(standin, tmp_path, *_SWEEP)
    trials = run["trials"]
    assert status == 3
    assert run["state"] == "failed"
    assert len(trials) == 2  # type: ignore[arg-type]
    assert "every trial would fail alike (ORA-01031" in " ".join(run["warnings"])  # type: ignore[arg-type]


@pytest.mark.full
def test_what_may_pass_ends_nothing(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"ctas": 54}, fail_times=2)) as standin:
        _, run = dbatk(standin, tmp_path, *_SWEEP)
    outcomes = [trial["outcome"] for trial in run["trials"]]  # type: ignore[index, attr-defined]
    assert outcomes == ["failed", "failed", "ok", "ok", "ok", "ok"]


@for_each(
    ("code", "message", "said"),
    [
        ("ORA-00942", "ORA-00942: table or view does not exist", "ORA-00942: table or view does not exist"),
        ("ORA-12801", "ORA-12801: error signaled", "ORA-12801: error signaled"),
        (
            "ORA-00604",
            "ORA-00604: error occurred at recursive SQL level 1\nORA-01653: unable to extend\nORA-06512: at 1",
            "ORA-01653: unable to extend (in ORA-00604: error occurred at recursive SQL level 1)",
        ),
        (
            "ORA-02091",
            "ORA-02091: transaction rolled back\nORA-02291: constraint (A.FK) violated - parent key not found",
            "ORA-02291: constraint (A.FK) violated - parent key not found (in ORA-02091: transaction rolled back)",
        ),
        ("ORA-02091", "ORA-02091: transaction rolled back", "ORA-02091: transaction rolled back"),
        ("ORA-01013", "", "ORA-01013"),
    ],
)
def test_the_headline_is_the_line_of_the_cause(code: str, message: str, said: str) -> None:
    assert headline(code, message) == said


# -- passwords that a server repeats ----------------------------------------------------------------------------


@for_each(
    "message",
    [
        'ORA-00922: missing option near ALTER USER a IDENTIFIED BY "s3cret Pa$$"',
        'ORA-28007: CREATE USER a IDENTIFIED  BY "new one" REPLACE "s3cret Pa$$" failed',
        "ORA-12154: cannot resolve `connect app/s3cret@dwh`",
        "ORA-20000: CREATE DATABASE LINK l CONNECT TO u IDENTIFIED BY s3cret USING 'x'",
        "ORA-31626: dbms_datapump: remote_password => 's3cret'",
    ],
)
def test_a_password_in_the_text_of_an_error_is_hidden_where_one_stands(message: str) -> None:
    shown = without_secrets(message)
    assert "s3cret" not in shown
    assert "********" in shown
    assert shown.startswith(message[:9])


@pytest.mark.parametrize(
    "message",
    ["ORA-00942: table or view does not exist", "ORA-00001: unique constraint (A.B) violated", "RMAN-06023: 3/4"],
)
def test_an_error_without_a_password_stays_as_it_is(message: str) -> None:
    assert without_secrets(message) == message


def test_the_password_of_the_session_is_hidden_wherever_the_database_repeats_it() -> None:
    with running_standin(Scenario(password="tig3rs-own")) as standin:
        connection = connect(standin)
        with pytest.raises(DatabaseError) as caught:
            connection.execute('SELECT "tig3rs-own" FROM gtest')
        connection.close()
    assert "tig3rs-own" not in caught.value.message.lower()
