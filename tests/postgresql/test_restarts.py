"""Settings that need a restart, on a real server that a profile lets dbatk restart."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.forks import Forked
from tests.servers.postgresql import installed
from tests.servers.restartable import AS_BEFORE, FORMER, Restartable, restartable
from toolkit.cli.main import main
from toolkit.errors import ToolkitError
from toolkit.executors.restart import put_line, start_again
from toolkit.model.records import JournalEntry
from toolkit.model.words import EntryState, Role
from toolkit.runner import restarting
from toolkit.targets.base import UnheardError

pytestmark = pytest.mark.postgresql
TOO_MUCH = "4000GB"
LINE = ("ctas", "-t", "pg", "--source", "small", "--table", "made", "--warmup", "0", "--json")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    if not installed():
        pytest.skip("no PostgreSQL binaries here")
    with restartable(tmp_path_factory.mktemp("restart")) as running:
        yield running


@pytest.fixture(autouse=True)
def place(server: Restartable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    server.write_profile(tmp_path / "config")


def test_a_sweep_restarts_the_server_verifies_and_puts_back(
    server: Restartable, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([*LINE, "--setting", f"shared_buffers=16MB,{TOO_MUCH}", "--repeat", "1"])
    trials = {trial["factors"]["shared_buffers"]: trial for trial in json.loads(capsys.readouterr().out)["trials"]}
    assert (status, trials["16MB"]["outcome"], trials[TOO_MUCH]["outcome"]) == (3, "ok", "failed")
    assert f"it was put back to `{FORMER}` and started again" in trials[TOO_MUCH]["reason"]
    assert server.state() == AS_BEFORE


@pytest.mark.full
@pytest.mark.parametrize("setting", ["shared_buffers=16MB,32MB", "checkpoint_timeout=6min,7min"])
def test_two_databases_of_one_server_do_not_change_its_settings_for_each_other(
    setting: str, server: Restartable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server.connect() as session:
        session.execute("CREATE DATABASE second")
    try:
        profile = tmp_path / "config" / "targets.toml"
        first = profile.read_text()
        profile.write_text(
            first + first.replace("[targets.pg]", "[targets.other]").replace("/postgres", "/second")
        )
        line = ("command", "-t", "pg,other", "--repeat", "2", "--warmup", "0")
        assert main([*line, "--setting", setting, "--", "true"]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "are on one server, whose settings each would change for the other" in said
        assert server.state() == AS_BEFORE
        line = ("ctas", "-t", "pg,other", "--query", str(tmp_path / "q.sql"), "--table", "made", "--repeat", "2")
        (tmp_path / "q.sql").write_text("SELECT 1 AS one")
        assert main([*line, "--warmup", "0", "--setting", "work_mem=4MB,8MB"]) == 0  # of sessions: as ever
    finally:
        with server.connect() as session:
            session.execute("DROP DATABASE second")


def test_phases_of_a_load_are_read_in_the_servers_own_log(
    server: Restartable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server.connect() as session:
        session.execute(
            "CREATE FUNCTION said(text) RETURNS text LANGUAGE plpgsql AS "
            "$$BEGIN RAISE LOG '%', $1; PERFORM pg_sleep(0.1); RETURN $1; END$$"
        )
    query = tmp_path / "said.sql"
    query.write_text("SELECT said('pass 1') AS one, said('pass 2') AS two, said('pass 3') AS three")
    status = main([
        "ctas", "-t", "pg", "--query", str(query), "--table", "made", "--warmup", "0", "--repeat", "2", "--json",
        "--server-log", str(server.folder / "l*g"),
        "--log-phase", "first=LOG:  pass 1..LOG:  pass 2", "--log-phase", "both=LOG:  pass 1..LOG:  pass 3",
    ])  # fmt: skip
    document = json.loads(capsys.readouterr().out)
    with server.connect() as session:
        session.execute("DROP FUNCTION said")
    assert status == 0
    assert not [said for said in document["warnings"] if "server log" in said]
    for trial in document["trials"]:
        found = {one["name"]: one["value"] for one in trial["metrics"] if one["source"] == "the server's log"}
        assert 0.1 <= round(found["first_seconds"], 3) < found["both_seconds"] <= trial["elapsed_seconds"]


def _killed_at_16_mb(tmp_path: Path) -> None:
    """Kill a run that has restarted the server with another `shared_buffers`, while its program is at work."""
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    reading = os.open(begun, os.O_RDONLY | os.O_NONBLOCK)
    process = Forked(
        "toolkit", "command", "-t", "pg", "--setting", "shared_buffers=16MB", "--repeat", "1", "--warmup", "0",
        "--", "sh", "-c", f"[ -e {tmp_path / 'go'} ] || {{ echo x > {begun}; exec sleep 600; }}",
    )  # fmt: skip
    import select

    assert select.select([reading], [], [], 300)[0], process.communicate(timeout=300)
    os.close(reading)
    process.kill()
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.full
def test_a_killed_run_on_a_server_that_is_down_is_put_back_by_clean(
    server: Restartable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _killed_at_16_mb(tmp_path)
    with server.connect() as session:
        assert session.execute("SHOW shared_buffers").fetchone() == ("16MB",)
        session.execute(
            f"ALTER SYSTEM SET shared_buffers = '{TOO_MUCH}'"
        )  # as if it had been killed at that level
    server.stop()
    assert main(["clean", "-t", "pg"]) == 0
    assert "restored setting `shared_buffers`" in "".join(capsys.readouterr())
    assert server.state() == AS_BEFORE


@pytest.mark.full
def test_a_run_that_restarts_the_server_takes_its_own_restart_for_no_change(
    server: Restartable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _killed_at_16_mb(tmp_path)
    (tmp_path / "go").touch()
    status = main(["runs", "resume", "last", "--allow-commands", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert status == 0, document
    assert [trial["outcome"] for trial in document["trials"]] == ["interrupted", "ok"]
    assert not [said for said in document["warnings"] if "has changed since the first attempt" in said]
    assert server.state() == AS_BEFORE


class _NotYet:
    """Sessions of a server that refuses so many times, saying so or not, and then lets dbatk in."""

    def __init__(self, refusals: int, error: type[ToolkitError]) -> None:
        self.refusals, self.error, self.restart = refusals, error, ("false",)

    def get(self, role: Role) -> None:
        self.refusals -= 1
        if self.refusals >= 0:
            raise self.error("the database system is starting up", code="TK-0201")

    def close(self) -> None:
        """Nothing is open."""


def _entry() -> JournalEntry:
    proof = {"restart": True, "file": "/nowhere", "line": "x"}
    return JournalEntry(
        1, "r", 1, EntryState.MADE, "changes", "setting", None, "shared_buffers", False, proof=proof
    )


def test_a_server_that_replays_its_log_after_a_kill_is_waited_for_and_not_started_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(restarting, "_UNDER_WAY_SECONDS", 0.0)
    sessions = _NotYet(5, ToolkitError)
    assert not restarting.bring_back(sessions, [_entry()])  # type: ignore[arg-type]
    assert sessions.refusals == -1
    with pytest.raises(ToolkitError, match="/nowhere"):  # nothing is heard: what stood in its file is put back
        restarting.bring_back(_NotYet(5, UnheardError), [_entry()])  # type: ignore[arg-type]


@pytest.mark.full
def test_a_server_that_is_up_and_lets_nobody_in_is_neither_stopped_nor_started(
    server: Restartable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Others may be at work on it: an account that was locked is no server that does not come up."""
    monkeypatch.setattr(restarting, "_UNDER_WAY_SECONDS", 0.2)
    monkeypatch.setattr(restarting, "ANSWERS_SECONDS", 0.2)
    _killed_at_16_mb(tmp_path)
    with server.connect() as other:
        began = other.execute("SELECT pg_postmaster_start_time()").fetchone()
        other.execute("ALTER ROLE dbatk NOLOGIN")
        try:
            status = main(["clean", "-t", "pg"])
            said = "".join(capsys.readouterr())
        finally:
            other.execute("ALTER ROLE dbatk LOGIN")
        assert (status, "neither stopped nor started" in " ".join(said.split())) == (1, True), said
        assert other.execute("SELECT pg_postmaster_start_time()").fetchone() == began
    assert main(["clean", "-t", "pg"]) == 0
    assert server.state() == AS_BEFORE


@pytest.mark.parametrize("setting", ["port=5999", "listen_addresses=::1", "ssl=on"])
def test_a_setting_by_which_the_server_is_found_is_refused(
    server: Restartable, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*LINE, "--setting", setting, "--repeat", "1"]) == 2
    assert "it decides how the server is reached" in capsys.readouterr().out
    assert server.state() == AS_BEFORE


def test_without_the_command_in_the_profile_it_is_refused(
    server: Restartable, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [word if word != "pg" else server.url for word in LINE]
    status = main([*line, "--setting", "shared_buffers=16MB", "--repeat", "1", "--not-production"])
    error = json.loads(capsys.readouterr().out)["error"]
    assert (status, error["code"], "restart = [...]" in error["hint"]) == (2, "TK-0107", True)
    assert server.state() == AS_BEFORE


def test_a_line_of_the_file_is_replaced_and_its_owner_stays(tmp_path: Path) -> None:
    file = tmp_path / "postgresql.auto.conf"
    ours = "Shared_Buffers= '1GB'\nshared_buffers '2GB'\n"
    file.write_text(f"# comment\nwork_mem = '4MB'\n{ours}shared_buffers_x = 1\n")
    file.chmod(0o640)
    put_line(str(file), "shared_buffers", "it's\\24MB")
    assert file.read_text().splitlines()[-2:] == ["shared_buffers_x = 1", "shared_buffers = 'it''s\\\\24MB'"]
    put_line(str(file), "shared_buffers", None)
    assert file.read_text() == "# comment\nwork_mem = '4MB'\nshared_buffers_x = 1\n"
    assert file.stat().st_mode & 0o777 == 0o640
    with pytest.raises(ToolkitError, match="cannot be written"):
        put_line(str(tmp_path / "none" / "file"), "x", None)


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [(("/none/such",), "cannot be run"), (("sh", "-c", "echo broken; exit 3"), "ended with 3: broken")],
)
def test_a_command_that_fails_is_quoted(argv: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(ToolkitError, match=sentence):
        start_again(argv)
