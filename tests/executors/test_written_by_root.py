"""Files that root writes into a folder of another user: a link of that user's leads root nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.executors import dump_list, scratch_server

LIST = "1; 3079 16561 EXTENSION - hstore \n2; 1259 16612 TABLE public x dba\n"
SCRIPT = "CREATE EXTENSION IF NOT EXISTS hstore WITH SCHEMA public;\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file to which that user may not write."""
    file = tmp_path / "victim"
    file.write_text("as it was")
    return file


@pytest.fixture
def pg_restore(tmp_path: Path) -> Path:
    """A program that lists, and writes what it is told by the list on its standard input."""
    program = tmp_path / "pg_restore"
    program.write_text(
        f"#!/bin/sh\nif [ $1 = --list ]; then printf '{LIST}'; exit; fi\n"
        f"case \"$(cat)\" in *EXTENSION*) printf '{SCRIPT}';; *) exit 1;; esac\n"
    )
    program.chmod(0o755)
    return program


def divided(pg_restore: Path, folder: Path) -> int:
    dump = folder.parent / "dump"
    dump.mkdir(exist_ok=True)
    return dump_list.main(["--pg-restore", str(pg_restore), "--into", str(folder), str(dump)])


def test_a_dump_is_divided_into_files_of_the_owner_of_the_folder(tmp_path: Path, pg_restore: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, 12345, 12345)
    assert divided(pg_restore, folder) == 0
    assert (folder / "before.sql").read_text() == SCRIPT
    assert sorted(each.name for each in folder.iterdir()) == ["before.sql", "dump.list"]
    for each in folder.iterdir():
        assert (each.stat().st_uid, each.stat().st_mode & 0o777) == (folder.stat().st_uid, 0o600)


@pytest.mark.parametrize("name", ["before.sql", "dump.list"])
def test_a_link_where_a_dump_is_divided_is_not_followed(
    tmp_path: Path, pg_restore: Path, victim: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).symlink_to(victim)
    assert divided(pg_restore, folder) == 1
    assert "file exists" in capsys.readouterr().out
    assert victim.read_text() == "as it was"


def test_a_link_that_replaces_a_file_of_the_configuration_is_not_followed(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    unlink = os.unlink

    def linked(path: str | Path, *, dir_fd: int | None = None) -> None:
        unlink(path, dir_fd=dir_fd)
        os.symlink(victim, path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", linked)
    (data / "postgresql.conf").write_text("")
    with pytest.raises(FileExistsError):
        scratch_server.configure(data, "port = 1\n", new=True)
    assert victim.read_text() == "as it was"


def test_the_folder_of_the_socket_is_given_to_nobody_through_a_link(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    data.mkdir()
    other.mkdir()
    (tmp_path / "socket").symlink_to(other)
    if os.geteuid() == 0:
        os.chown(data, 12345, 12345)
    with pytest.raises(NotADirectoryError):
        scratch_server.configure(data, "port = 1\n", new=True)
    assert other.stat().st_uid == os.geteuid()


@for_each("kind", ["link", "pipe", "folder"])
def test_a_dump_has_plain_files_only(
    tmp_path: Path, pg_restore: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """pg_restore reads as root what the table of contents names: a link may lead to a file of somebody else's."""
    folder, odd = tmp_path / f"folder-{kind}", tmp_path / "dump" / "4242.dat"
    folder.mkdir()
    odd.parent.mkdir(exist_ok=True)
    {"link": lambda: odd.symlink_to("/etc/passwd"), "pipe": lambda: os.mkfifo(odd), "folder": odd.mkdir}[kind]()
    assert divided(pg_restore, folder) == 1
    assert "`4242.dat` in the dump is not a plain file" in capsys.readouterr().out
    assert list(folder.iterdir()) == []
    odd.rmdir() if kind == "folder" else odd.unlink()
