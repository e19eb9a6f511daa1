"""pg_basebackup on a real server: verified, kept or removed, refused with a reason, gone when stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.servers import forks
from tests.servers.postgresql import PASSWORD_USER, Server
from tests.tiers import thinned
from toolkit.cli.main import main

pytestmark = pytest.mark.postgresql

Run = Callable[..., tuple[int, dict[str, object]]]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


@pytest.fixture
def programs(postgresql_server: Server) -> str:
    if postgresql_server.bin_dir is None:
        pytest.skip("the server is not begun here, so its programs are not known")
    return str(postgresql_server.bin_dir)


@pytest.fixture
def backup(
    postgresql_server: Server, programs: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Run]:  # fmt: skip
    """Run `dbatk backup run` in this process and return its exit status and JSON."""
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))

    def run(*arguments: str, to: Path | None = place, bin_dir: str = programs) -> tuple[int, dict[str, object]]:
        capsys.readouterr()
        where = () if to is None else ("--destination", str(to))
        common = ("-t", postgresql_server.url, "--not-production", "--bin-dir", bin_dir, "--snapshot", "none")
        status = main(["backup", "run", *common, *where, "--json", *arguments])
        return status, json.loads(capsys.readouterr().out)

    yield run


def trial(document: dict[str, object]) -> dict[str, object]:
    trials = document["trials"]
    assert isinstance(trials, list)
    found: dict[str, object] = trials[-1]
    return found


def metrics(document: dict[str, object]) -> dict[str, float]:
    found = trial(document)["metrics"]
    assert isinstance(found, list)
    return {each["name"]: each["value"] for each in found}


def error(document: dict[str, object]) -> dict[str, str]:
    found = document["error"]
    assert isinstance(found, dict)
    return found


def test_a_job_leaves_a_verified_backup_under_its_tag_and_nothing_else(backup: Run, place: Path) -> None:
    status, document = backup("--tag", "sunday", "--checkpoint", "fast")
    assert status == 0, document
    assert [each.name for each in place.iterdir()] == ["sunday"]
    assert (place / "sunday" / "backup_manifest").is_file()
    assert not (place / "sunday" / ".dbatk").exists()
    told = metrics(document)
    assert told["verified"] == 1
    assert told["bytes_written"] > 1_000_000
    assert told["bytes_read"] > 1_000_000
    assert told["program_cpu_seconds"] > 0


@pytest.mark.full
def test_a_measurement_sweeps_compressions_and_leaves_nothing(backup: Run, place: Path) -> None:
    status, document = backup("--compression", "none,lz4,zstd", "--repeat", "1", "--warmup", "0")
    trials = document["trials"]
    assert isinstance(trials, list)
    assert status == 0, [each["reason"] for each in trials]
    assert [each["outcome"] for each in trials] == ["ok"] * 3
    sizes = {each["factors"]["compression"]: each["bytes"] for each in trials}
    assert sizes["zstd"] < sizes["none"]
    assert list(place.iterdir()) == []


def test_workers_of_zstd_are_the_channels_and_what_was_granted_is_not_claimed(backup: Run) -> None:
    status, document = backup("--compression", "zstd", "--channels", "2", "--repeat", "1", "--warmup", "0")
    found = trial(document)
    assert (status, found["outcome"], found["requested_degree"]) == (0, "ok", 2), found["reason"]
    assert found["granted_degree"] is None


def test_names_with_quotes_blanks_and_signs_of_a_shell_are_taken_as_they_are(backup: Run, place: Path) -> None:
    odd = place / 'o\'dd "$(touch x)" `id`'
    odd.mkdir()
    status, document = backup("--tag", "it's $HOME", "--checkpoint", "fast", to=odd)
    assert status == 0, trial(document)["reason"]
    assert [each.name for each in odd.iterdir()] == ["it's $HOME"]


def test_the_password_is_in_no_argument_and_no_output(
    postgresql_server: Server, programs: str, place: Path, tmp_path: Path
) -> None:
    server = postgresql_server
    if server.password_user is None or server.password is None:
        pytest.skip("the server is not ours, so it has no user with a known password")
    with server.connect() as session:
        session.execute(f"ALTER ROLE {PASSWORD_USER} REPLICATION")
        session.execute(f"GRANT pg_read_all_settings TO {PASSWORD_USER}")
    url = f"postgresql://{PASSWORD_USER}@127.0.0.1:{server.port}/{server.database}"
    own = {**os.environ, "DBATK_PASSWORD": server.password, "DBATK_STORE": str(tmp_path / "s.sqlite")}
    command = ["backup", "run", "-t", url, "--not-production", "--destination", str(place), "--bin-dir", programs,
               "--checkpoint", "fast", "--debug"]  # fmt: skip
    done = forks.run("toolkit", *command, env=own)
    assert done.returncode == 0, done.stderr
    assert server.password not in done.stdout + done.stderr
    assert server.password not in (tmp_path / "s.sqlite").read_bytes().decode(errors="replace")


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (("--channels", "4"), 5, "one process"),
        (("--channels", "0"), 2, "cannot be `0`"),
        (("--channels", "2", "--compression", "gzip"), 5, "no workers"),
        (("--compression", "bzip2"), 5, "gzip, lz4, zstd"),
        (("--compression", "lz4", "--compression-level", "20"), 5, "1 to 12"),
        (("--compression", "lz4", "--compress-at", "client", "--file-format", "plain"), 5, "only tar"),
        (("--compress-at", "client"), 5, "needs --compression"),
        (("--file-format", "parquet"), 5, "plain or tar"),
        (("--stanza", "demo"), 2, "are for pgBackRest"),
        (("--tag", "a/b"), 2, "cannot be the name"),
        (("--tag", "dbatk_x"), 2, "cannot be the name"),
        (("--tag", "x", "--repeat", "2"), 2, "is for a backup that is kept"),
        (("--section-size", "1G"), 5, "does not exist on postgresql"),
        (("--window", "soon"), 2, "not a duration"),
    ],
)
def test_what_cannot_be_had_is_refused_before_anything_is_made(
    backup: Run, place: Path, arguments: tuple[str, ...], status: int, sentence: str
) -> None:
    found, document = backup(*arguments)
    assert sentence in error(document)["message"]
    assert (found, error(document)["hint"] != "") == (status, True)
    assert list(place.iterdir()) == []


def test_places_that_cannot_take_a_backup_are_refused(backup: Run, place: Path, postgresql_server: Server) -> None:
    (place / "file").touch()
    (place / "there").mkdir()
    data = postgresql_server.data
    assert data is not None
    told = {
        "nowhere": (place / "nowhere", 2, "there is no folder"),
        "file": (place / "file", 2, "is not a folder"),
        "data": (data, 5, "the backup would contain itself"),
        "inside": (data / "base", 5, "the backup would contain itself"),
    }
    for path, status, sentence in told.values():
        found, document = backup(to=path)
        assert (found, sentence in error(document)["message"]) == (status, True), document
    status, document = backup("--tag", "there")
    assert (status, "already exists" in error(document)["message"]) == (2, True)
    status, document = backup(to=None)
    assert (status, "needs a destination folder" in error(document)["message"]) == (2, True)
    status, document = backup("--destination", "a\nb", to=None)
    assert (status, "control characters" in error(document)["message"]) == (2, True)


def test_a_program_that_is_not_where_the_user_says_is_said(backup: Run, place: Path) -> None:
    status, document = backup(bin_dir=str(place))
    assert (status, error(document)["code"]) == (5, "TK-0304")
    assert f"`pg_basebackup` is not in `{place}`" in error(document)["message"]


def test_a_client_older_than_the_server_is_refused(backup: Run, place: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for name in ("pg_basebackup", "pg_verifybackup"):
        (old / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) 13.4'\n")
        (old / name).chmod(0o755)
    status, document = backup(bin_dir=str(old))
    assert (status, "is older than the server" in error(document)["message"]) == (5, True)
    assert list(place.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_fails_the_job_and_leaves_nothing(backup: Run, place: Path) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", str(place)], check=False)
    if mounted.returncode != 0:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        status, document = backup("--compression", "zstd", "--checkpoint", "fast")
        if "error" in document:
            assert (status, error(document)["code"]) == (5, "TK-0305")
        else:
            assert (status, trial(document)["outcome"]) == (3, "failed")
            assert "No space left" in str(trial(document)["reason"])
        assert list(place.iterdir()) == []
    finally:
        subprocess.run(["umount", str(place)], check=True)


SLOW = """#!{python}
import os, sys, time
target = next(each.partition("=")[2] for each in sys.argv if each.startswith("--pgdata="))
os.mkdir(target)
open(target + "/half", "w").write("x" * 1000)
print("waiting", flush=True)
time.sleep(600)
"""


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """A pg_basebackup of ours that never ends, so that it is met in the middle."""
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "pg_basebackup").write_text(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'pg_basebackup (PostgreSQL) 18.0' && exit\n"
        f'exec {sys.executable} {folder}/body.py "$@"\n'
    )
    (folder / "body.py").write_text(SLOW.format(python=sys.executable))
    (folder / "pg_basebackup").chmod(0o755)
    return str(folder)


def begun(server: Server, place: Path, slow: str, tmp_path: Path, *more: str) -> forks.Forked:
    """Begin a job and return it when its program has written something."""
    own = {**os.environ, "DBATK_STORE": str(tmp_path / "store.sqlite"), "DBATK_CONFIG": str(tmp_path / "config")}
    command = ["backup", "run", "-t", server.url, "--not-production", "--destination", str(place),
               "--bin-dir", slow, "--snapshot", "none", "-q", *more]  # fmt: skip
    process = forks.Forked("toolkit", *command, env=own, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 300
    while not list(place.glob("*/backup/half")):
        assert process.poll() is None, process.stdout and process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def programs_of(slow: str) -> list[psutil.Process]:
    found = []
    for each in psutil.process_iter(["cmdline"]):
        if any(slow in word for word in each.info["cmdline"] or ()) and "toolkit" not in each.info["cmdline"]:
            found.append(each)
    return found


@pytest.mark.parametrize("sent", thinned([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 3))
def test_a_signal_ends_the_program_and_removes_what_it_wrote(
    postgresql_server: Server, place: Path, slow: str, tmp_path: Path, sent: signal.Signals
) -> None:
    process = begun(postgresql_server, place, slow, tmp_path)
    assert len(programs_of(slow)) == 1
    process.send_signal(sent)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 130, out
    assert list(place.iterdir()) == []
    assert programs_of(slow) == []


def test_a_time_limit_ends_it_too(postgresql_server: Server, place: Path, slow: str, tmp_path: Path) -> None:
    process = begun(postgresql_server, place, slow, tmp_path, "--time-limit", "3s")
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 3
    assert "time limit of 3 s passed" in out
    assert (list(place.iterdir()), programs_of(slow)) == ([], [])


def test_a_killed_program_is_a_failure_that_leaves_nothing(
    postgresql_server: Server, place: Path, slow: str, tmp_path: Path
) -> None:
    process = begun(postgresql_server, place, slow, tmp_path)
    programs_of(slow)[0].kill()
    out, _ = process.communicate(timeout=300)
    assert (process.returncode, "ended by signal 9" in out, list(place.iterdir())) == (3, True, []), out


def test_after_a_kill_clean_ends_the_program_and_removes_exactly_its_folder(
    postgresql_server: Server, place: Path, slow: str, tmp_path: Path
) -> None:
    process = begun(postgresql_server, place, slow, tmp_path)
    process.kill()
    process.communicate(timeout=300)
    assert len(programs_of(slow)) == 1
    (place / "mine").mkdir()
    other = place / "dbatk_0000000000000000_1"
    other.mkdir()
    (other / "precious").touch()
    own = {**os.environ, "DBATK_STORE": str(tmp_path / "store.sqlite"), "DBATK_CONFIG": str(tmp_path / "config")}
    done = forks.run("toolkit", "clean", "-t", postgresql_server.url, env=own)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "dropped backup" in done.stdout
    assert programs_of(slow) == []
    assert sorted(each.name for each in place.iterdir()) == [other.name, "mine"]


def test_the_script_shows_the_command_line_and_no_secret(
    postgresql_server: Server, programs: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.setenv("DBATK_PASSWORD", "tiger-42")
    odd = place / "with blank"
    odd.mkdir()
    arguments = ["backup", "run", "-t", postgresql_server.url, "--destination", str(odd), "--bin-dir", programs,
                 "--compression", "zstd", "--channels", "2", "--dry-run"]  # fmt: skip
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert f"'--pgdata={odd}/dbatk_run_1/backup'" in shown
    assert "--compress=server-zstd:workers=2" in shown
    assert "PGPASSWORD" in shown
    assert "tiger-42" not in shown
    assert list(odd.iterdir()) == []
