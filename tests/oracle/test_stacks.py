"""Stacks of errors: the cause is told, the whole stack is kept, and what cannot go on does not go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.make import connect
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.oracle.errors import headline
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


def test_what_may_pass_ends_nothing(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"ctas": 54}, fail_times=2)) as standin:
        _, run = dbatk(standin, tmp_path, *_SWEEP)
    outcomes = [trial["outcome"] for trial in run["trials"]]  # type: ignore[index, attr-defined]
    assert outcomes == ["failed", "failed", "ok", "ok", "ok", "ok"]


@pytest.mark.parametrize(
    ("code", "message", "said"),
    [
        ("ORA-00942", "ORA-00942: table or view does not exist", "ORA-00942: table or view does not exist"),
        ("ORA-12801", "ORA-12801: error signaled", "ORA-12801: error signaled"),
        (
            "ORA-00604",
            "ORA-00604: error occurred at recursive SQL level 1\nORA-01653: unable to extend\nORA-06512: at 1",
            "ORA-01653: unable to extend (in ORA-00604: error occurred at recursive SQL level 1)",
        ),
        ("ORA-01013", "", "ORA-01013"),
    ],
)
def test_the_headline_is_the_line_of_the_cause(code: str, message: str, said: str) -> None:
    assert headline(code, message) == said
