"""Backups by RMAN from the command line: a program of ours answers as rman does, the stand-in as its database."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from tests.oracle.make import connect
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import AFTER, Fault
from tests.oracle.standin.rman import Home, is_alive, oracle_home
from tests.oracle.standin.scenario import ViewRow
from tests.tiers import thinned
from toolkit.cli.main import main
from toolkit.rendering import sql_file
from toolkit.snapshots import counters

_MB = 2**20
_WINDOW = "TO RECOVERY WINDOW OF 7 DAYS"
_ONCE = ("--repeat", "1", "--warmup", "0")
_FILES = [{"number": n, "name": f"/u01/oradata/FREE/d{n}.dbf", "bytes": 8 * _MB} for n in range(1, 9)]
_FAST = {"files": _FILES, "bytes_per_second": 4 * 2**30}
_SLOW = {"files": _FILES, "bytes_per_second": 256 * _MB}


class Site:
    """A database, its ORACLE_HOME, and a folder to write to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home: Home = oracle_home(folder / "home")
        self.context = folder / "bench"
        self.context.mkdir()
        self.standin: Standin
        self.begun: list[subprocess.Popen[bytes]] = []

    def close(self) -> None:
        """End what a test that failed left running."""
        for process in self.begun:
            process.kill()
            process.wait()

    def left(self) -> list[str]:
        """Return what lies in the folder."""
        return sorted(str(path.relative_to(self.context)) for path in self.context.rglob("*"))

    def nothing_is_left(self) -> None:
        assert self.left() == []
        assert self.home.pieces() == []


Dbatk = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(name="site")
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site(tmp_path)
    site.home.tell(**_FAST)
    for name, value in site.home.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.db"))
    with running_standin(Scenario(views=site.home.views(), beside=site.home.beside())) as standin:
        site.standin = standin
        try:
            yield site
        finally:
            site.close()


@pytest.fixture(name="dbatk")
def _dbatk(site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dbatk:
    """Run a command line in this process; give its exit status and its JSON document."""

    def run(
        *arguments: str, standin: Standin | None = None, edition: str | None = None
    ) -> tuple[int, dict[str, Any]]:
        used = standin or site.standin
        monkeypatch.setenv("DBATK_PASSWORD", used.password)
        capsys.readouterr()
        status = main([*arguments, "-t", used.url, "--json"])
        out, err = capsys.readouterr()
        document = json.loads(out)
        if status:  # shown when the test fails: why it ended so is told by the trials, and by what was said
            unwell = [trial for trial in document.get("trials", ()) if trial["outcome"] != "ok"]
            print(err, json.dumps(unwell, indent=1), sep="\n", file=sys.stderr)
        return status, document

    return run


def sweep(dbatk: Dbatk, *extra: str, **more: Any) -> tuple[int, dict[str, Any]]:
    said = () if "--repeat" in extra else _ONCE
    return dbatk("backup", "run", *extra, *said, "--not-production", **more)


def metrics(trial: dict[str, Any]) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in trial["metrics"]}


@pytest.mark.full
# -- measuring ----------------------------------------------------------------------------------------------------
def test_a_validating_sweep_reads_with_each_number_of_channels_and_writes_nothing(
    site: Site, dbatk: Dbatk
) -> None:
    status, run = sweep(dbatk, "--channels", "1,2,4")
    assert status == 0
    trials = run["trials"]
    assert {(trial["requested_degree"], trial["granted_degree"], trial["outcome"]) for trial in trials} == {
        (1, 1, "ok"), (2, 2, "ok"), (4, 4, "ok"),
    }  # fmt: skip
    for trial in trials:
        assert metrics(trial)["bytes_read"] == 64 * _MB
        assert "bytes_written" not in metrics(trial)
        sets = [item for item in trial["items"] if item["label"].startswith("set")]
        assert {item["worker"] for item in sets} == set(range(trial["requested_degree"]))
    site.nothing_is_left()
    assert all("VALIDATE" in status["operation"] or status["output"] == 0 for status in site.home.state["status"])


@pytest.mark.full
def test_of_a_part_it_is_told_what_its_rate_means_for_the_whole_database(
    site: Site, dbatk: Dbatk, capsys: pytest.CaptureFixture[str]
) -> None:
    status, run = sweep(dbatk, "--scope", "datafile", "--of", "1", "--channels", "1,2", "--window", "4h")
    assert status == 0, run
    read = metrics(run["trials"][0])["bytes_read"]
    assert run["environment"]["database_bytes"] > read
    assert main(["report", run["run"], "--format", "text"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "reading the whole database (64.0 MiB) takes about" in told and "it fits the window" not in told
    assert "whether a backup fits the window of 4 h 00 min was not measured" in told and "unused blocks" in told


@pytest.mark.full
def test_a_written_sweep_shows_what_compression_gives_and_deletes_its_pieces(site: Site, dbatk: Dbatk) -> None:
    theirs = site.folder / "theirs.bkp"
    site.home.foreign_piece(theirs, "NIGHTLY")
    site.home.configure(RETENTION_POLICY=_WINDOW)
    status, run = sweep(
        dbatk, "--channels", "1,2", "--compression", "none,basic", "--write", "--destination", str(site.context)
    )
    assert status == 0, run
    ratios = {trial["factors"]["compression"]: metrics(trial)["compression_ratio"] for trial in run["trials"]}
    assert ratios == {"none": 1.0, "basic": 4.0}
    pieces = [item for trial in run["trials"] for item in trial["items"] if item["label"].startswith("DBATK_")]
    assert pieces and all(item["bytes"] and item["elapsed_seconds"] is not None for item in pieces)
    assert site.left() == [] and len(site.home.pieces(deleted=True)) == len(pieces)
    assert theirs.exists() and [piece["tag"] for piece in site.home.pieces()] == ["NIGHTLY"]


@pytest.mark.full
def test_sets_that_compression_does_nothing_for_are_named(site: Site, dbatk: Dbatk) -> None:
    """Two of eight files hold what is compressed already: nobody sees it in the ratio of the whole."""
    site.home.tell(**_FAST, stubborn=[1, 2])
    status, run = sweep(
        dbatk, "--channels", "2", "--compression", "basic", "--files-per-set", "1", "--write", "--destination",
        str(site.context),
    )  # fmt: skip
    assert status == 0, run
    [trial] = run["trials"]
    assert metrics(trial)["backup_sets"] == 8
    said = " ".join(run["warnings"])
    assert (
        "2 of 8 backup sets (16.0 MiB of 64.0 MiB, data file 1, 2) hardly shrank, the others 4.00 times" in said
    ), run["warnings"]


@pytest.mark.full
def test_without_the_view_of_sets_the_rest_is_told_all_the_same(site: Site, dbatk: Dbatk) -> None:
    with running_standin(Scenario(views=site.home.views(), denied=frozenset({"V$BACKUP_SET_DETAILS"}))) as standin:
        status, run = sweep(
            dbatk, "--channels", "1", "--write", "--destination", str(site.context), standin=standin
        )
    [trial] = run["trials"]
    assert (status, trial["outcome"]) == (0, "ok")
    assert metrics(trial)["bytes_read"] == 64 * _MB and "backup_sets" not in metrics(trial)
    assert any("backup_sets" in warning or "BACKUP_SET_DETAILS" in warning for warning in run["warnings"])


@pytest.mark.full
def test_a_section_size_divides_files_among_the_channels(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(files=[_FILES[0] | {"bytes": 64 * _MB}], bytes_per_second=4 * 2**30)
    status, run = sweep(
        dbatk, "--channels", "4", "--section-size", "8M", "--write", "--destination", str(site.context)
    )
    assert status == 0, run
    [trial] = run["trials"]
    pieces = [item for item in trial["items"] if item["label"].startswith("DBATK_")]
    assert len(pieces) == 8 and {item["worker"] for item in pieces} == {0, 1, 2, 3}
    site.nothing_is_left()


@pytest.mark.full
def test_one_file_for_four_channels_is_said_before_and_after(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(files=_FILES[:1], bytes_per_second=2**30)
    _, run = sweep(dbatk, "--channels", "4")
    said = " ".join(run["warnings"])
    assert "4 channels for 1 data file" in said and "3 of 4 channels were idle" in said


@pytest.mark.full
def test_the_published_sweep_rises_with_the_channels_to_its_ceiling(site: Site, dbatk: Dbatk) -> None:
    """Sun T5240, 2008: 20 data files, compressed, 5 MB/s at one channel, 80 MB/s at 20, one format a channel."""
    files = [{"number": n, "name": f"/u01/t{n}.dbf", "bytes": 10 * _MB} for n in range(1, 21)]
    # the same ratio of one channel to the ceiling, thirty times as fast
    site.home.tell(files=files, bytes_per_second=150 * _MB, most_bytes_per_second=2400 * _MB)
    folders = [site.folder / f"disk{n}" for n in range(1, 21)]
    for folder in folders:
        folder.mkdir()
    status, run = sweep(
        dbatk, "--channels", "1,4,20", "--compression", "basic", "--write", "--destination",
        ",".join(map(str, folders)), "--max-piece-size", "1024M", "--files-per-set", "1",
    )  # fmt: skip
    assert status == 0, run
    seconds = {trial["requested_degree"]: trial["elapsed_seconds"] for trial in run["trials"]}
    assert seconds[1] > max(seconds[4], seconds[20])
    widest = next(trial for trial in run["trials"] if trial["requested_degree"] == 20)
    pieces = [item for item in widest["items"] if item["label"].startswith("DBATK_")]
    assert len(pieces) == 20 and {item["worker"] for item in pieces} == set(range(20))
    assert not any(any(folder.iterdir()) for folder in folders)


# -- while it works -----------------------------------------------------------------------------------------------
@pytest.mark.full
def test_a_terminal_shows_how_far_rman_is(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """V$SESSION_LONGOPS has a row for all input, one for the output without a total, and one for each set."""
    site.home.tell(files=_FILES, bytes_per_second=32 * _MB)
    monkeypatch.setattr(counters, "FIRST_SECONDS", 0.1)
    monkeypatch.setattr(counters, "APART_SECONDS", 0.1)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("DBATK_PASSWORD", site.standin.password)
    scratch, theirs = os.openpty()
    with os.fdopen(theirs, "w") as screen, os.fdopen(scratch, "rb", buffering=0) as terminal:
        monkeypatch.setattr(sys, "stderr", screen)
        shown = _Shown(terminal)
        status = main(
            ["backup", "run", "--files-per-set", "1", *_ONCE, "--not-production", "-t", site.standin.url]
        )
        monkeypatch.undo()
    text = shown.text()
    assert status == 0, capsys.readouterr()
    percents = [int(each) for each in re.findall(r"(\d+) % RMAN backup", text)]
    eighths = {percent for part in range(8) for percent in (int(12.5 * part), int(12.5 * part + 0.5))}
    assert percents and percents == sorted(percents) and set(percents) <= eighths, text


class _Shown:
    """Reads what comes to a terminal while somebody writes there."""

    def __init__(self, terminal: IO[bytes]) -> None:
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read, args=(terminal,), daemon=True)
        self._thread.start()

    def text(self) -> str:
        self._thread.join(10)
        return b"".join(self._parts).decode(errors="replace")

    def _read(self, terminal: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while part := terminal.read(4096):
                self._parts.append(part)


# -- a job --------------------------------------------------------------------------------------------------------
def test_a_job_leaves_its_backup_under_the_users_tag(site: Site, dbatk: Dbatk) -> None:
    status, run = dbatk(
        "backup", "run", "--channels", "2", "--tag", "NIGHTLY", "--incremental", "0", "--plus-archivelog",
        "--destination", str(site.context), "--not-production",
    )  # fmt: skip
    assert status == 0, run
    assert {piece["tag"] for piece in site.home.pieces()} == {"NIGHTLY"}
    assert len(site.left()) == len(site.home.pieces()) == 2
    assert not site.home.pieces(deleted=True)
    status, run = dbatk("backup", "run", "--action", "restore_validate", "--not-production")
    assert status == 0, run


# -- misfortunes --------------------------------------------------------------------------------------------------
def test_one_channel_that_fails_is_a_downgrade_with_its_cause(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(
        **_FAST, fail_channels=["dbatk2"], fail_lines=["ORA-19502: write error on file", "ORA-27072: I/O"]
    )
    status, run = sweep(dbatk, "--channels", "2", "--write", "--destination", str(site.context))
    [trial] = run["trials"]
    assert (status, trial["outcome"]) == (3, "downgraded")
    assert "1 of 2 channels failed" in trial["reason"] and "ORA-" in trial["reason"]
    site.nothing_is_left()


@pytest.mark.full
@pytest.mark.parametrize(
    ("lines", "attempts"),
    # a full recovery area is not the channels' doing: that trial is repeated once
    thinned([(["ORA-19809: limit exceeded"], 2), (["RMAN-06059: expected archived log not found"], 1)], 2),
)
def test_a_backup_that_fails_wholly_is_told_by_its_code_and_leaves_nothing(
    lines: list[str], attempts: int, site: Site, dbatk: Dbatk
) -> None:
    site.home.tell(**_FAST, fail_all=True, fail_lines=lines)
    status, run = sweep(dbatk, "--channels", "2", "--write", "--destination", str(site.context))
    assert (status, [trial["attempt"] for trial in run["trials"]]) == (3, [*range(1, attempts + 1)])
    for trial in run["trials"]:
        assert trial["outcome"] == "failed"
        assert trial["error_code"] == lines[0].split(":")[0]
        assert trial["elapsed_seconds"] is None
    site.nothing_is_left()


@pytest.mark.full
def test_a_backup_that_cannot_be_deleted_keeps_its_folder_and_is_listed(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_FAST, cannot_delete=True)
    status, run = sweep(dbatk, "--channels", "1", "--write", "--destination", str(site.context))
    assert status == 3
    assert any("RMAN-03014" in warning for warning in run["warnings"]), run["warnings"]
    assert all(Path(str(piece["handle"])).exists() for piece in site.home.pieces()) and site.home.pieces()
    site.home.tell(**_FAST)
    status, _ = dbatk("clean", "--run", "last")
    assert status == 0
    site.nothing_is_left()


@pytest.mark.full
def test_a_configuration_that_changed_meanwhile_is_said(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_FAST, configures=True)
    _, run = sweep(dbatk, "--channels", "1")
    assert any("COMPRESSION ALGORITHM 'HIGH'` was added" in warning for warning in run["warnings"])


@pytest.mark.full
def test_channels_that_outlive_their_client_are_looked_for_after_every_trial(site: Site, dbatk: Dbatk) -> None:
    _, run = sweep(dbatk, "--channels", "1")
    [trial] = run["trials"]
    asked = [text for text in site.standin.statements if "rman channel=" in text and "kill_text" in text]
    assert trial["outcome"] == "ok" and asked


# -- interruptions ------------------------------------------------------------------------------------------------
def begin(site: Site, *arguments: str) -> subprocess.Popen[bytes]:
    """Begin a command line as a process of its own."""
    command = [
        sys.executable,
        "-m",
        "toolkit",
        "backup",
        "run",
        *arguments,
        "--not-production",
        "-t",
        site.standin.url,
    ]
    variables = {**os.environ, **site.home.variables, "DBATK_PASSWORD": site.standin.password}
    process = subprocess.Popen(
        command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    site.begun.append(process)
    return process


def wait_for(there: Callable[[], bool], seconds: float = 300.0) -> None:
    until = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.02)


def test_a_kill_in_the_middle_leaves_an_undo_script_and_clean_deletes_what_is_ours(
    site: Site, dbatk: Dbatk
) -> None:
    theirs = site.folder / "theirs.bkp"
    site.home.foreign_piece(theirs, "NIGHTLY")
    site.home.configure(RETENTION_POLICY=_WINDOW)
    site.home.tell(**_FAST, hang=True)
    process = begin(site, "--channels", "2", "--write", "--destination", str(site.context), *_ONCE)
    wait_for((site.home.path / "hanging").exists)
    rman = int((site.home.path / "hanging").read_text())
    process.kill()
    process.wait()
    assert any(path.startswith("dbatk_") for path in site.left())
    [script] = (site.folder / "undo").glob("*.sql")
    text = script.read_text()
    assert "DELETE NOPROMPT BACKUPPIECE TAG 'DBATK_" in text and "rm -r" in text
    assert not [line for line in text.splitlines() if line.startswith("RUN")], "SQL*Plus has a command RUN"
    site.home.tell(**_FAST)
    status, _ = dbatk("clean", "--run", "last")
    assert status == 0
    wait_for(lambda: not is_alive(rman))
    assert site.left() == []
    assert theirs.exists() and [piece["tag"] for piece in site.home.pieces()] == ["NIGHTLY"]


@pytest.mark.full
def test_pieces_finished_before_a_kill_are_deleted_by_their_tag(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_SLOW)
    process = begin(
        site, "--channels", "1", "--files-per-set", "1", "--write", "--destination", str(site.context), *_ONCE
    )
    wait_for(lambda: len(site.home.pieces()) >= 2)
    process.kill()
    process.wait()
    status, _ = dbatk("clean", "--run", "last")
    assert status == 0
    site.nothing_is_left()
    assert len(site.home.pieces(deleted=True)) >= 2


def test_ctrl_c_ends_the_client_and_leaves_nothing(site: Site) -> None:
    site.home.tell(**_FAST, hang=True)
    process = begin(site, "--channels", "2", "--write", "--destination", str(site.context), *_ONCE)
    wait_for((site.home.path / "hanging").exists)
    site.home.tell(**_FAST)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(300) == 130
    site.nothing_is_left()


@pytest.mark.full
def test_a_time_limit_ends_a_client_that_hangs(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_FAST, hang=True)
    status, run = sweep(dbatk, "--channels", "1", "--time-limit", "1s")
    [trial] = run["trials"]
    assert (status, trial["outcome"], trial["error_code"]) == (3, "failed", "TK-0207")
    site.nothing_is_left()


# -- refusals -----------------------------------------------------------------------------------------------------
def refusal(dbatk: Dbatk, *extra: str, **more: Any) -> tuple[int, str, str]:
    status, said = sweep(dbatk, *extra, **more)
    return status, said["error"]["message"], said["error"]["hint"]


def calls(site: Site) -> list[list[str]]:
    """Return how the program was called, but for the question of what it is."""
    return [call for call in site.home.state["calls"] if call != ["checksyntax"]]  # type: ignore[comparison-overlap]


@pytest.mark.full
def test_standard_edition_is_refused_more_channels_than_it_uses(site: Site, dbatk: Dbatk) -> None:
    with running_standin(Scenario(edition="se2", views=site.home.views())) as standin:
        status, message, _ = refusal(dbatk, "--channels", "4", standin=standin)
        assert status == 5 and "RMAN-06908" in message
        status, run = sweep(dbatk, "--channels", "1,2", standin=standin)
        assert status == 3
        assert {trial["requested_degree"]: trial["outcome"] for trial in run["trials"]} == {
            1: "ok",
            2: "unsupported",
        }


@pytest.mark.full
def test_an_installation_that_uses_one_channel_all_the_same_is_a_downgrade(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_FAST, edition="se2")
    status, run = sweep(dbatk, "--channels", "2")
    [trial] = run["trials"]
    assert (status, trial["outcome"], trial["granted_degree"]) == (3, "downgraded", 1)
    assert "RMAN-06908" in trial["reason"]


def test_compression_that_is_paid_for_needs_the_declared_option(site: Site, dbatk: Dbatk) -> None:
    status, message, hint = refusal(
        dbatk, "--channels", "1", "--compression", "low", "--write", "--destination", str(site.context)
    )
    assert status == 5 and "Advanced Compression" in message and "licenses.advanced_compression" in hint
    assert calls(site) == []


def test_a_folder_in_the_recovery_area_or_missing_is_refused_with_nothing_begun(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_FAST, area=str(site.folder))
    status, message, _ = refusal(dbatk, "--write", "--destination", str(site.context))
    assert status in (2, 5) and "recovery area" in message
    site.home.tell(**_FAST)
    status, message, _ = refusal(dbatk, "--write", "--destination", str(site.folder / "nowhere"))
    assert status == 2 and "there is no folder" in message
    assert calls(site) == []


def test_a_folder_of_this_host_is_not_the_servers_where_that_is_another(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The stand-in's V$INSTANCE names another host; by the operating system RMAN could not reach it."""
    profiles = site.folder / "config" / "targets.toml"
    profiles.parent.mkdir()
    profiles.write_text(
        f'[targets.far]\nurl = "{site.standin.url}"\npassword = {{env = "DBATK_PASSWORD"}}\n'
        '[targets.far.options]\nrman_connect = "/@dwh as sysbackup"\n'
    )
    profiles.chmod(0o600)
    monkeypatch.setenv("DBATK_PASSWORD", site.standin.password)
    status = main(["backup", "run", "--write", "--destination", str(site.context), *_ONCE, "--not-production",
                   "-t", "far"])  # fmt: skip
    said = capsys.readouterr().err
    assert status == 5 and "RMAN's channels write on `standin`" in said and "on the database server" in said
    assert calls(site) == []


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("policy", "used", "words"),
    thinned(
        [
            (None, 0, "`TO REDUNDANCY 1`"),
            ("TO REDUNDANCY 1", 0, "there are real backups"),
            ("TO REDUNDANCY 3", 0.9, "recovery area is nearly full"),
            ("TO REDUNDANCY 3", 0.5, None),
            (_WINDOW, 0.9, None),
            ("TO NONE", 0.9, None),
        ],
        3,
    ),
)
def test_trials_that_could_cost_a_real_backup_are_refused(
    policy: str | None, used: float, words: str | None, site: Site, dbatk: Dbatk
) -> None:
    """While a trial's full backup exists, REDUNDANCY 1 makes the only real one obsolete."""
    site.home.tell(**_FAST, area="/u01/area", area_used=int(used * 2**40))
    arguments = ("--write", "--destination", str(site.context), "--channels", "1")
    assert sweep(dbatk, *arguments)[0] == 0, "there is nothing to lose without a real backup"
    site.home.foreign_piece(site.folder / "theirs.bkp", "NIGHTLY")
    site.home.configure(**({} if policy is None else {"RETENTION_POLICY": policy}))
    begun = len(calls(site))
    if words is None:
        assert sweep(dbatk, *arguments)[0] == 0
        return
    status, message, hint = refusal(dbatk, *arguments)
    assert status == 5 and words in message and "without `--write`" in hint
    assert len(calls(site)) == begun and (site.folder / "theirs.bkp").exists()


@pytest.mark.full
@pytest.mark.parametrize("becomes", ["TO REDUNDANCY 1", "full", "revoked"])
def test_no_further_trial_is_written_once_it_could_cost_a_real_backup(
    becomes: str, site: Site, dbatk: Dbatk
) -> None:
    """Somebody changes the policy, fills the recovery area or revokes a grant after the first trial."""
    site.home.tell(**_FAST, area="/u01/area", area_used=0)
    site.home.foreign_piece(site.folder / "theirs.bkp", "NIGHTLY")
    site.home.configure(RETENTION_POLICY="TO REDUNDANCY 3")

    def strike(*_: object) -> None:
        if becomes == "full":
            site.home.tell(**_FAST, area="/u01/area", area_used=2**40)
        elif becomes == "revoked":
            engine = site.standin.engine
            engine.scenario = engine.state.scenario = replace(
                engine.scenario, denied=frozenset({"V$RMAN_CONFIGURATION"})
            )
        else:
            site.home.configure(RETENTION_POLICY=becomes)

    site.standin.engine.faults.append(Fault(strike, words="v$rman_backup_job_details", when=AFTER))
    status, run = sweep(dbatk, "--write", "--destination", str(site.context), "--channels", "1", "--repeat", "3")
    said = " ".join(run["warnings"])
    assert status == 3 and run["state"] == "interrupted", run
    assert len([trial for trial in run["trials"] if trial["outcome"] == "ok"]) == 1
    assert "no further trial is begun" in said and "then `dbatk runs resume " in said, said
    assert site.left() == [] and (site.folder / "theirs.bkp").exists()
    status, run = dbatk("runs", "resume", "last", "--not-production")
    assert status == 5 and "retention policy" in run["error"]["message"], run


@pytest.mark.parametrize(
    ("kind", "keep", "lost"), thinned([("copy", False, True), ("copy", True, False), ("piece", True, False)], 3)
)
def test_image_copies_are_real_backups_and_those_with_keep_are_not_made_obsolete(
    kind: str, keep: bool, lost: bool, site: Site, dbatk: Dbatk
) -> None:
    if kind == "copy":
        site.home.foreign_copy("NIGHTLY", keep=keep)
    else:
        site.home.foreign_piece(site.folder / "theirs.bkp", "ARCHIVE", keep=keep)
    arguments = ("--write", "--destination", str(site.context), "--channels", "1")
    if not lost:
        assert sweep(dbatk, *arguments)[0] == 0
        return
    status, message, _ = refusal(dbatk, *arguments)
    assert status == 5 and "there are real backups" in message and calls(site) == []


def test_level_1_is_refused_before_it_begins_where_the_edition_has_none(site: Site, dbatk: Dbatk) -> None:
    scenario = Scenario(views=site.home.views(), options={"Incremental backup and recovery": "FALSE"})
    job = ("backup", "run", "--tag", "NIGHTLY", "--destination", str(site.context), "--not-production")
    with running_standin(scenario) as standin:
        status, run = dbatk(*job, "--incremental", "1", standin=standin)
        assert status == 5 and "RMAN-06180" in run["error"]["message"], run
        assert "--incremental 0" in run["error"]["hint"] and calls(site) == []


def test_a_backup_of_many_image_copies_is_told_as_there_and_not_counted(site: Site) -> None:
    def told() -> object:
        with (
            running_standin(Scenario(views=site.home.views())) as standin,
            contextlib.closing(connect(standin)) as session,
        ):
            return session.execute(sql_file("oracle", "backup_full")).rows

    assert told() == ({"full_backup": "no"},)
    for _ in range(3):
        site.home.foreign_copy("NIGHTLY")
    assert told() == ({"full_backup": "yes"},)


@pytest.mark.parametrize("view", thinned(["V$BACKUP_DATAFILE", "V$RMAN_CONFIGURATION", "V$DATAFILE_COPY"], 3))
def test_backups_or_a_policy_that_cannot_be_read_are_not_taken_for_none(
    view: str, site: Site, dbatk: Dbatk
) -> None:
    site.home.foreign_piece(site.folder / "theirs.bkp", "NIGHTLY")
    with running_standin(Scenario(views=site.home.views(), denied=frozenset({view}))) as standin:
        status, message, _ = refusal(dbatk, "--write", "--destination", str(site.context), standin=standin)
    assert status == 5 and ("unknown" in message or "cannot be read" in message)
    assert calls(site) == []


def test_a_job_without_a_place_is_refused_where_pieces_would_lie_in_oracle_home(site: Site, dbatk: Dbatk) -> None:
    site.home.configure(CHANNEL="DEVICE TYPE DISK FORMAT '/nfs/%U'")
    status, run = dbatk("backup", "run", "--tag", "NIGHTLY", "--not-production")
    assert status == 5 and "no destination and no recovery area" in run["error"]["message"]
    assert "CONFIGURE CHANNEL" in run["error"]["hint"] and calls(site) == []
    site.home.tell(**_FAST, area=str(site.folder / "area"))
    status, run = dbatk("backup", "run", "--tag", "NIGHTLY", "--not-production", "--dry-run")
    assert status == 0, run


@pytest.mark.full
def test_configured_channels_that_ours_replace_are_named_without_their_values(site: Site, dbatk: Dbatk) -> None:
    site.home.configure(
        CHANNEL="DEVICE TYPE DISK FORMAT '/nfs/%U' MAXPIECESIZE 8 G PARMS 'ENV=(PW=s3cret)'",
        DEFAULT_DEVICE_TYPE="'SBT_TAPE'",
    )
    status, run = sweep(dbatk, "--channels", "1")
    said = " ".join(run["warnings"])
    assert status == 0 and "CONFIGURE CHANNEL settings (FORMAT, PARMS, MAXPIECESIZE) do not apply" in said
    assert "your default device type is SBT, but this uses DISK" in said and "s3cret" not in json.dumps(run)


@pytest.mark.full
def test_an_open_database_without_archived_redo_is_only_read(site: Site, dbatk: Dbatk) -> None:
    from tests.oracle.standin.scenarios import database

    views = site.home.views(V__DATABASE=[database(log_mode="NOARCHIVELOG")])
    with running_standin(Scenario(views=views)) as standin:
        status, message, _ = refusal(dbatk, "--write", "--destination", str(site.context), standin=standin)
        assert status == 5 and "NOARCHIVELOG" in message
        status, run = sweep(dbatk, "--channels", "2", standin=standin)
        assert status == 0 and any("VALIDATE is measured" in warning for warning in run["warnings"])


def test_a_measurement_waits_for_no_running_backup_but_refuses(site: Site, dbatk: Dbatk) -> None:
    running: ViewRow = {"OPERATION": "BACKUP", "STATUS": "RUNNING", "ROW_LEVEL": 1, "COMMAND_ID": "X", "RECID": 1,
                        "STAMP": 1}  # fmt: skip
    with running_standin(Scenario(views=site.home.views(V__RMAN_STATUS=[running]))) as standin:
        status, message, _ = refusal(dbatk, "--channels", "1", standin=standin)
    assert status == 5 and "already working on this database" in message


def test_rman_of_another_database_is_refused_before_anything_is_begun(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_FAST, dbid=4711)
    status, message, hint = refusal(dbatk, "--channels", "1")
    assert status == 5 and "DBID 4711" in message and "ORACLE_SID" in hint


def test_a_login_that_fails_is_said_with_its_code(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_FAST, cannot_connect=True)
    status, message, _ = refusal(dbatk, "--channels", "1")
    assert status == 1 and "ORA-01017" in message


def test_a_host_without_rman_is_told_of_the_bundle(
    site: Site, dbatk: Dbatk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORACLE_HOME")
    status, message, hint = refusal(dbatk, "--channels", "1")
    assert status != 0 and "`rman` was not found on this host" in message and "dbatk export" in hint


@pytest.mark.parametrize("keep", thinned(["best", "all"], 2))
def test_backups_of_a_measurement_are_never_kept(keep: str, site: Site, dbatk: Dbatk) -> None:
    status, message, hint = refusal(
        dbatk, "--channels", "1,2", "--write", "--destination", str(site.context), "--keep", keep
    )
    assert status == 2 and "retention policy" in message and "as a job" in hint
    assert calls(site) == []
    assert main(["backup", "run", "--channels", "1,2", "--keep", keep, "--assume", "19-ee", "--dry-run", "-t",
                 site.standin.url]) == 2  # fmt: skip
    site.nothing_is_left()


def test_a_tablespace_that_is_not_there_is_refused(site: Site, dbatk: Dbatk) -> None:
    status, message, _ = refusal(dbatk, "--scope", "tablespace", "--of", "NOWHERE")
    assert status == 2 and "no data file belongs to `NOWHERE`" in message


def test_autonomous_database_says_that_it_backs_up_by_itself(site: Site, dbatk: Dbatk) -> None:
    from tests.oracle.standin.scenarios import autonomous

    with running_standin(autonomous()) as standin:
        status, message, _ = refusal(dbatk, "--channels", "1", standin=standin)
    assert status == 5 and "makes its own backups" in message


# -- secrets ------------------------------------------------------------------------------------------------------
def test_no_password_is_in_arguments_script_or_log(site: Site, dbatk: Dbatk) -> None:
    status, run = sweep(dbatk, "--channels", "1")
    assert status == 0
    told = json.dumps(run) + json.dumps(site.home.state["calls"]) + "\n".join(site.standin.statements)
    assert site.standin.password not in told.replace("tigers", "")
    assert all(set(call) <= {"nocatalog", "msgno", "checksyntax"} for call in calls(site))
