"""Parameters that need a restart on Oracle: set in the SPFILE, verified, put back, also where it stays down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import running_standin
from tests.oracle.standin.administrator import Administrator, administered
from tests.oracle.standin.faults import AFTER, Fault, break_connection
from tests.oracle.standin.scenario import Scenario
from tests.tiers import thinned
from toolkit.runner import restarting

SWEEP = ("ctas", "-t", "ora", "--source", "GTEST", "--table", "MADE", "--repeat", "1", "--warmup", "0")
BEFORE = {"processes": "300", "open_cursors": "50"}


@pytest.fixture
def dba() -> Iterator[Administrator]:
    with running_standin(Scenario(parameters={**BEFORE, "cursor_sharing": "EXACT"})) as standin:
        state = standin.engine.state
        state.spfile = {"processes": "300"}
        state.started_with = dict(state.spfile)
        with administered(standin) as administrator:
            yield administrator


def run(dba: Administrator, folder: Path, *arguments: str) -> tuple[int, dict[str, dict[str, object]], str]:
    dba.write_profile(folder / "config")
    return told(*wreck.run(dba.standin, folder, *arguments))


def told(status: int, document: dict[str, object]) -> tuple[int, dict[str, dict[str, object]], str]:
    trials = document.get("trials")
    by_level = {str(trial["factors"]): trial for trial in trials} if isinstance(trials, list) else {}
    return status, by_level, " ".join(str(document).split())


def spfile(dba: Administrator) -> dict[str, str] | None:
    assert not dba.standin.engine.state.down
    assert dba.standin.engine.state.started_with == dba.standin.engine.state.spfile
    return dba.standin.engine.state.spfile


def test_levels_are_set_in_the_spfile_after_a_copy_and_put_back(dba: Administrator, tmp_path: Path) -> None:
    status, trials, said = run(dba, tmp_path, *SWEEP, "--setting", "processes=400", "--setting", "open_cursors=60")
    assert (status, {trial["outcome"] for trial in trials.values()}, len(trials)) == (0, {"ok"}, 1), said
    assert spfile(dba) == {"processes": "300"}
    asked = [each for each in dba.said if not each.startswith("SELECT")]
    copies = [place for place, each in enumerate(asked) if each.startswith("CREATE PFILE")]
    changes = [place for place, each in enumerate(asked) if "SYSTEM SET PROCESSES" in each]
    assert len(copies) == 2 and copies[0] < changes[0]
    assert "ALTER SYSTEM SET PROCESSES = 300 SCOPE=SPFILE SID='*'" in asked
    assert any("RESET OPEN_CURSORS" in each for each in asked)
    assert "a copy of the SPFILE as it was stays on the server" in said
    assert {"processes": "300"} in dba.standin.engine.state.pfiles.values()


@pytest.mark.thin(2)
@pytest.mark.parametrize("half", [False, True])
def test_an_instance_that_does_not_come_up_is_put_back_from_the_copy(
    dba: Administrator, tmp_path: Path, half: bool
) -> None:
    dba.half = half
    status, trials, said = run(dba, tmp_path, *SWEEP, "--setting", "processes=5000,400")
    outcomes = {level: trial["outcome"] for level, trial in trials.items()}
    assert (status, sorted(outcomes.values())) == (3, ["failed", "ok"]), said
    assert "did not start with `processes` = `5000`" in said and "put back to `300` and started again" in said
    assert spfile(dba) == {"processes": "300"}


@pytest.mark.full
def test_a_restart_that_tells_of_no_failure_is_seen_to_have_failed(
    dba: Administrator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from toolkit.cli.main import main

    dba.lame = True
    dba.write_profile(tmp_path / "config")
    for name, value in wreck.environment(dba.standin, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(restarting, "ANSWERS_SECONDS", 0.2)
    assert main([*SWEEP, "--setting", "processes=5000", "--json"]) == 3
    assert "did not start with `processes` = `5000`" in capsys.readouterr().out
    assert spfile(dba) == {"processes": "300"}


@pytest.mark.full
def test_a_copy_that_cannot_be_used_leaves_the_change_in_the_journal_with_what_to_run(
    dba: Administrator, tmp_path: Path
) -> None:
    gone = dba.standin.engine.state.pfiles

    class Gone(dict[str, dict[str, str]]):
        def __contains__(self, _: object) -> bool:
            return False

    dba.standin.engine.state.pfiles = Gone()
    status, _, said = run(dba, tmp_path, *SWEEP, "--setting", "processes=5000")
    assert status != 0 and "ORA-01078" in said and "CREATE SPFILE" in said and "start the server" in said, said
    assert dba.standin.engine.state.down
    dba.standin.engine.state.pfiles = {**gone, **dba.standin.engine.state.pfiles}
    status, document = wreck.run(dba.standin, tmp_path, "clean", "-t", "ora")
    assert (status, spfile(dba)) == (0, {"processes": "300"}), document


_CLEAN, _RESUME = ("clean", "-t", "ora"), ("runs", "resume", "last")


@pytest.mark.parametrize(
    ("down", "command"), thinned([(False, _CLEAN), (True, _CLEAN), (True, _RESUME), (False, _RESUME)], 2)
)
def test_a_killed_run_is_put_back_by_clean_and_by_resume(
    dba: Administrator, tmp_path: Path, down: bool, command: tuple[str, ...]
) -> None:
    dba.write_profile(tmp_path / "config")
    line = (*SWEEP, "--setting", "open_cursors=60", "--setting", "processes=400")
    fault = Fault(break_connection, words="CREATE TABLE", when=AFTER)
    assert wreck.kill(dba.standin, tmp_path, fault, *line, url=False)
    state = dba.standin.engine.state
    assert state.spfile == {"processes": "400", "open_cursors": "60"}
    if down:  # as if it had been killed at a level with which the instance does not come up
        state.spfile["processes"] = "5000"
        assert dba.answer("restart").startswith("1")
    status, document = wreck.run(dba.standin, tmp_path, *command)
    assert (status, spfile(dba)) == (0, {"processes": "300"}), document


@pytest.mark.full
def test_no_copy_takes_the_name_of_an_earlier_one(dba: Administrator, tmp_path: Path) -> None:
    """Neither after a level that did not start, nor in a run that goes on: the first may be all that is left."""
    dba.write_profile(tmp_path / "config")
    line = (*SWEEP, "--setting", "processes=5000,400,450")
    fault = Fault(break_connection, words="CREATE TABLE", when=AFTER)
    assert wreck.kill(dba.standin, tmp_path, fault, *line, url=False)
    state = dba.standin.engine.state
    before = dict(state.pfiles)
    assert {"processes": "300"} in before.values()
    status, document = wreck.run(dba.standin, tmp_path, "clean", "-t", "ora")
    assert (status, spfile(dba)) == (0, {"processes": "300"}), document
    state.spfile = {"processes": "310"}  # a DBA's own change
    assert dba.answer("restart").startswith("0")
    wreck.run(dba.standin, tmp_path, "runs", "resume", "last")
    assert spfile(dba) == {"processes": "310"}
    assert {place: state.pfiles[place] for place in before} == before
    made = [each for each in dba.said if each.startswith("CREATE PFILE")]
    assert len(made) == len(set(made)) == len(state.pfiles)


@pytest.mark.thin(2)
@pytest.mark.parametrize(("logon", "deaf"), [(28000, False), (1017, True)])
def test_an_instance_that_is_up_and_lets_nobody_in_is_never_ended(
    dba: Administrator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    logon: int, deaf: bool,
) -> None:  # fmt: skip
    """The account is locked, or nobody can see whether it is up: others may be at work on it."""
    from toolkit.cli.main import main

    dba.write_profile(tmp_path / "config")
    fault = Fault(break_connection, words="CREATE TABLE", when=AFTER)
    assert wreck.kill(dba.standin, tmp_path, fault, *SWEEP, "--setting", "processes=400", url=False)
    engine, before = dba.standin.engine, dba.standin.engine.scenario
    engine.scenario, dba.deaf = replace(before, logon=logon), deaf
    dba.said.clear()
    for name, value in wreck.environment(dba.standin, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(restarting, "_UNDER_WAY_SECONDS", 0.2)
    status = main(["clean", "-t", "ora", "--json"])
    said = "".join(capsys.readouterr())
    assert status == 1 and ("cannot be seen" if deaf else "is up") in said, said
    assert (engine.state.down, engine.state.spfile) == (False, {"processes": "400"})
    assert all(each.startswith("SELECT") for each in dba.said), dba.said
    engine.scenario, dba.deaf = before, False
    status, document = wreck.run(dba.standin, tmp_path, "clean", "-t", "ora")
    assert (status, spfile(dba)) == (0, {"processes": "300"}), document


def _no_spfile(dba: Administrator) -> None:
    dba.standin.engine.state.spfile = None


def _of_one(dba: Administrator) -> None:
    dba.standin.engine.state.spfile_of_one = {"processes": "300"}


def _deaf(dba: Administrator) -> None:
    dba.deaf = True


def _elsewhere(dba: Administrator) -> None:
    dba.host = "another"


def _cluster(dba: Administrator) -> None:
    dba.standin.engine.state.started_with["cluster_database"] = "TRUE"


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [(_no_spfile, "without an SPFILE"), (_of_one, "for the instance `FREE` alone"), (_deaf, "ORA-01017"),
     (_elsewhere, "is on `another/FREE/FREE`"), (_cluster, "is a cluster")],
)  # fmt: skip
def test_what_could_not_be_put_back_is_refused_before_anything_is_changed(
    dba: Administrator, tmp_path: Path, wrong: object, words: str
) -> None:
    assert callable(wrong)
    wrong(dba)
    before = (dba.standin.engine.state.spfile, wreck.look(dba.standin))
    status, _, said = run(dba, tmp_path, *SWEEP, "--setting", "processes=400")
    assert (status, "TK-0107" in said, words in said) == (2, True, True), said
    assert (dba.standin.engine.state.spfile, wreck.look(dba.standin)) == before
    assert all(each.startswith("SELECT") for each in dba.said)


@pytest.mark.parametrize(
    ("lacking", "hint"), [({"restart": ""}, "restart = [...]"), ({"sysdba": ""}, 'sysdba = ["sqlplus"')]
)
def test_what_the_profile_does_not_allow_is_refused(
    dba: Administrator, tmp_path: Path, lacking: dict[str, str], hint: str
) -> None:
    dba.write_profile(tmp_path / "config", **lacking)
    status, _, said = told(*wreck.run(dba.standin, tmp_path, *SWEEP, "--setting", "processes=400"))
    assert (status, "TK-0107" in said, hint in said) == (2, True, True), said
    assert spfile(dba) == {"processes": "300"}


@pytest.mark.parametrize("way", ["unwritable", "refusing"])
def test_a_copy_or_change_that_is_refused_fails_the_trial_and_changes_nothing(
    dba: Administrator, tmp_path: Path, way: str
) -> None:
    setattr(dba, way, True)
    status, trials, said = run(dba, tmp_path, *SWEEP, "--setting", "processes=400")
    assert status == 3 and [trial["outcome"] for trial in trials.values()] == ["failed"], said
    assert ("ORA-09925" if way == "unwritable" else "ORA-01031") in said
    assert spfile(dba) == {"processes": "300"}


def test_a_dry_run_shows_what_runs_and_changes_nothing(dba: Administrator, tmp_path: Path) -> None:
    dba.write_profile(tmp_path / "config")
    process = wreck.begin(dba.standin, tmp_path, *SWEEP, "--setting", "processes=400", "--dry-run", json=False)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "as SYSDBA" in out and "CREATE PFILE = '" in out
    assert "ALTER SYSTEM SET PROCESSES = 400 SCOPE=SPFILE SID='*';" in out
    assert all(each.startswith("SELECT") for each in dba.said)
