"""A bundle of backups: its driver runs on a server without Python, and its logs come back as a run."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.rman import Home, oracle_home
from toolkit.cli.main import main

_MB = 2**20
_ONCE = "repeat = 1\nwarmup = 0\n"
_FILES = [{"number": n, "name": f"/u01/oradata/FREE/d{n}.dbf", "bytes": 8 * _MB} for n in range(1, 9)]


@pytest.fixture(name="home")
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = oracle_home(tmp_path / "home")
    home.tell(files=_FILES, bytes_per_second=2**30)
    for name, value in home.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.db"))
    return home


def export(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str) -> Path:
    with running_standin(Scenario(views=home.views())) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        file = tmp_path / "backup.toml"
        file.write_text(
            f'[experiment]\nname = "b"\ntarget = "{standin.url}"\noperation = "backup"\n'
            f"{'' if more.startswith('mode') else _ONCE}{more}"
        )
        assert main(["export", str(file), "--out", str(tmp_path / "bundle")]) == 0
    return tmp_path / "bundle"


def drive(bundle: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", "run.sh", *arguments]
    return subprocess.run(command, cwd=bundle, capture_output=True, text=True, check=False, umask=0)


@pytest.mark.full
def test_a_bundle_runs_deletes_what_it_wrote_and_comes_back_as_a_run(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    context = tmp_path / "bench"
    context.mkdir()
    bundle = export(
        home, tmp_path, monkeypatch,
        f'write = true\ndestination = ["{context}"]\n'
        '[factors]\nchannels = [1, 2]\ncompression = ["none", "basic"]\n',
    )  # fmt: skip
    done = drive(bundle, "-y")
    assert done.returncode == 0, done.stderr
    assert list(context.iterdir()) == [] and home.pieces() == []
    assert drive(bundle, "-y").returncode == 0, "begun again it has nothing to do"
    assert [path for path in bundle.rglob("*") if path.stat().st_mode & 0o077] == []
    told = [log.read_text() for log in (bundle / "spool").glob("t000?.log")]
    assert len(home.pieces(deleted=True)) == sum(text.count("finished piece") for text in told)
    capsys.readouterr()
    assert main(["ingest", str(bundle), "--json"]) == 0
    run = json.loads(capsys.readouterr().out)
    assert {trial["outcome"] for trial in run["trials"]} == {"ok"}
    assert {trial["granted_degree"] for trial in run["trials"]} == {1, 2}
    assert all(item["label"].startswith("DBATK_") for trial in run["trials"] for item in trial["items"])


_DELETES = 'mode = "job"\nscope = "archivelog"\nlogs_until = "1h"\ndelete_input = true\ndestination = ["{}"]\n'


def test_what_a_job_deletes_stands_in_the_words_of_its_bundle(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = [tmp_path / f"log_{number}.arc" for number in (1, 2, 3)]
    for path in logs:
        path.write_bytes(b"redo")
    home.tell(files=_FILES, bytes_per_second=2**30, logs=[str(path) for path in logs])
    bundle = export(home, tmp_path, monkeypatch, _DELETES.format(tmp_path))
    assert "DELETE INPUT" in (bundle / "rman/t0001.rman").read_text()
    told = " ".join((bundle / "README.txt").read_text().split())
    assert "a backup, which is kept What is deleted: the archived logs that it backed up (DELETE INPUT)" in told
    assert "at the export 3 archived logs (3.00 MiB: thread 1 101 to 103)" in told


def test_nothing_is_deleted_where_nothing_is_said_of_it(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = export(home, tmp_path, monkeypatch, "[factors]\nchannels = [1]\n")
    assert "What is deleted: nothing of yours" in (bundle / "README.txt").read_text()


def test_archived_logs_that_nobody_read_are_not_deleted_by_a_bundle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, bundle = tmp_path / "d.toml", tmp_path / "bundle"
    file.write_text(
        '[experiment]\nname = "b"\ntarget = "oracle://u@h/s"\noperation = "backup"\n' + _DELETES.format("/b")
    )
    assert main(["export", str(file), "--out", str(bundle), "--assume", "19-ee"]) == 5
    told = " ".join(capsys.readouterr().err.split())
    assert "the archived logs that `delete_input` would delete were not read" in told and "hint:" in told
    assert not bundle.exists()


def test_a_failure_is_told_with_its_cause(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = export(home, tmp_path, monkeypatch, "[factors]\nchannels = [2]\n")
    home.tell(files=_FILES, bytes_per_second=2**30, fail_all=True, fail_lines=["ORA-19502: write error"])
    assert drive(bundle, "-y").returncode == 3
    capsys.readouterr()
    assert main(["ingest", str(bundle), "--json"]) == 3
    [trial] = json.loads(capsys.readouterr().out)["trials"]
    assert (trial["outcome"], trial["error_code"]) == ("failed", "ORA-19502")


@pytest.mark.parametrize("connect", ["sys/secret@db", "/ as sysbackup; rm"])
def test_the_driver_takes_no_password_as_an_argument(
    connect: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = export(home, tmp_path, monkeypatch, "[factors]\nchannels = [1]\n")
    done = drive(bundle, "-y", connect)
    assert done.returncode == 2 and "process list" in done.stderr and "secret" not in done.stderr


@pytest.mark.parametrize("name", ["spool/t0001.log", "spool/t0001.times", "MANIFEST.json"])
def test_a_file_that_is_a_pipe_is_named_and_not_waited_for(
    name: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = export(home, tmp_path, monkeypatch, "[factors]\nchannels = [1]\n")
    assert drive(bundle, "-y").returncode == 0
    (bundle / name).unlink()
    os.mkfifo(bundle / name)
    capsys.readouterr()
    assert main(["ingest", str(bundle)]) == 2
    assert f"`{name}` of the bundle is a pipe or a device: it is not a file" in capsys.readouterr().err


def test_an_altered_script_is_not_run(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = export(home, tmp_path, monkeypatch, "[factors]\nchannels = [1]\n")
    script = bundle / "rman" / "t0001.rman"
    script.write_text(script.read_text().replace("VALIDATE", ""))
    assert "altered" in drive(bundle, "-y").stderr
