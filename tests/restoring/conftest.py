"""Backups to restore, each made once, and a place of the test's own that the server's user may enter."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.servers.postgresql import Server, unprivileged
from tests.tidy import short_folder
from toolkit.cli.main import main

Document = dict[str, object]


@dataclass(frozen=True)
class Place:
    """Where backups are and where copies go, and the command line with both."""

    folder: Path
    run: Callable[..., tuple[int, Document]]

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    def restore(self, backup: Path, *arguments: str) -> tuple[int, Document]:
        return self.run("restore", "try", "--backup", str(backup), "--destination", str(self.scratch), *arguments)

    def left(self) -> list[str]:
        """Return what is left of restores: folders, and processes that work in one."""
        names = [each.name for each in self.scratch.iterdir()]
        for process in psutil.process_iter():
            try:
                where = process.cwd()
            except (psutil.Error, OSError):
                continue
            names += [f"{process.pid} in {where}"] if where.startswith(str(self.scratch)) else []
        return names


def trial(document: Document) -> dict[str, object]:
    trials = document["trials"]
    assert isinstance(trials, list)
    found: dict[str, object] = trials[-1]
    return found


def metrics(document: Document) -> dict[str, float]:
    found = trial(document)["metrics"]
    assert isinstance(found, list)
    return {each["name"]: each["value"] for each in found}


def reason(document: Document) -> str:
    """Return why it did not end well: of a trial, or of the whole command."""
    error = document.get("error")
    if isinstance(error, dict):
        return str(error["message"])
    return str(trial(document)["reason"])


@pytest.fixture(scope="package")
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter: root's server runs as another one."""
    folder = short_folder("r")
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def place_of(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Place]:
    """Make a place from the arguments that name the target."""
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    folder = Path(tempfile.mkdtemp(dir=open_folder))
    folder.chmod(0o755)
    (folder / "scratch").mkdir()

    def made(*target: str) -> Place:
        def run(first: str, second: str, *arguments: str) -> tuple[int, Document]:
            capsys.readouterr()
            status = main([first, second, *target, "--snapshot", "none", "--json", *arguments])
            return status, json.loads(capsys.readouterr().out)

        return Place(folder, run)

    return made


@pytest.fixture(scope="package")
def loaded(postgresql_server: Server) -> Iterator[Server]:
    """The server, with a table that nobody writes after its backup."""
    if postgresql_server.bin_dir is None:
        pytest.skip("the server is not begun here, so its programs are not known")
    with postgresql_server.schema(
        "restoring",
        "CREATE TABLE restoring.orders AS SELECT i AS id, md5(i::text) AS name, i * 1.5::float8 AS amount,"
        " '2026-01-01'::timestamptz + i * interval '1 min' AS at FROM generate_series(1, 3000) AS i",
        "CREATE INDEX ON restoring.orders (id)",
    ):
        yield postgresql_server


def target_of(server: Server) -> tuple[str, ...]:
    return ("-t", server.url, "--not-production", "--bin-dir", str(server.bin_dir))


@pytest.fixture(scope="package")
def backups(loaded: Server, open_folder: Path) -> Path:
    """Base backups of the server: plain, tar, and compressed tar."""
    import subprocess

    from tests.servers.postgresql import as_user

    folder = open_folder / "backups"
    folder.mkdir()
    user = unprivileged()
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    for name, more in (("plain", ["--format=plain"]), ("tar", ["--format=tar"]), ("gzip", ["--format=tar", "-z"])):
        subprocess.run(
            [f"{loaded.bin_dir}/pg_basebackup", "--pgdata", str(folder / name), "--checkpoint=fast", *more,
             "-h", loaded.host, "-p", str(loaded.port), "-U", loaded.user],
            check=True, capture_output=True, cwd="/", **as_user(user),
        )  # fmt: skip
    return folder


@pytest.fixture
def postgresql(place_of: Callable[..., Place], loaded: Server) -> Place:
    return place_of(*target_of(loaded))
