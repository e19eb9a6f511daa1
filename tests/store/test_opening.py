"""Opening a store: a new one is private, and what is not ours is refused and left as it was."""

from __future__ import annotations

import os
import resource
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.for_each import for_each
from tests.store.make import BEGAN, CELL, RUN, head, trial
from tests.tiers import thinned
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.store import database, location, open_store
from toolkit.store.location import default_path, file_system_of, find_place, refuse_network


def refusal(location: str | Path, **options: float) -> ToolkitError:
    with pytest.raises(ToolkitError) as caught:
        open_store(location, **options)
    assert caught.value.hint
    return caught.value


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def filled(path: Path) -> Path:
    """Make a store of one run, and close it."""
    with open_store(path) as store:
        store.create_run(head())
        for number in range(1, 40):
            store.end_trial(RUN, trial(number))
    return path


def content(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


def test_importing_the_package_loads_no_sqlalchemy() -> None:
    code = "import sys, toolkit.store; sys.exit('sqlalchemy' in sys.modules or 'psutil' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_one_store_has_compiled_serves_the_next_of_this_process(tmp_path: Path) -> None:
    filled(tmp_path / "first.sqlite")
    _, compiled = database._of_sqlite()
    before = set(compiled)
    filled(tmp_path / "second.sqlite")
    assert set(compiled) == before
    assert before


def test_a_new_store_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "store.sqlite"
    mask = os.umask(0)
    try:
        with open_store(path) as store:
            store.create_run(head())
            assert mode(path.parent) == 0o700
            for each in path.parent.iterdir():
                assert mode(each) == 0o600, each.name
    finally:
        os.umask(mask)


def test_a_folder_that_was_there_keeps_its_mode_and_a_store_loses_others_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    path = filled(tmp_path / "store.sqlite")
    path.chmod(0o664)
    open_store(path).close()
    assert (mode(tmp_path), mode(path)) == (0o755, 0o600)


def test_commits_survive_a_power_cut_and_readers_do_not_block(sqlite_path: Path) -> None:
    with open_store(sqlite_path) as store, store._database.read() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30000}


def test_without_a_location_the_environment_then_the_users_folder_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("DBATK_STORE", raising=False)
    assert find_place(None).path == default_path()
    monkeypatch.setenv("DBATK_STORE", "")
    assert find_place(None).path == default_path()
    assert default_path().name == "store.sqlite"
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "mine"))
    assert find_place(None).path == tmp_path / "mine"
    assert find_place(tmp_path / "other").path == tmp_path / "other"


@for_each(
    ("location", "path"),
    [
        ("sqlite:////abs/store", "/abs/store"),
        ("sqlite:///rel/store", "{here}/rel/store"),
        ("rel/store", "{here}/rel/store"),
        ("~/store", "{home}/store"),
    ],
)
def test_a_file_can_be_named_as_path_or_url(location: str, path: str) -> None:
    assert str(find_place(location).path) == path.format(here=Path.cwd(), home=Path.home())


@for_each(
    "location",
    [
        "mysql://host/db",
        "sqlite://",
        "sqlite:///:memory:",
        ":memory:",
        "sqlite:///x?mode=ro",
        "http://x",
        "; drop://",
    ],
)
def test_other_urls_are_refused(location: str) -> None:
    assert refusal(location).code == "TK-0102"


@pytest.mark.parametrize("first", [b"PK\x03\x04", b"hello", b"SQLite format 2\0", b"\0" * 5000, b"S"])
def test_a_file_of_another_program_is_refused_and_left_as_it_was(sqlite_path: Path, first: bytes) -> None:
    sqlite_path.write_bytes(first)
    assert refusal(sqlite_path).code == "TK-0402"
    assert content(sqlite_path) == {"store.sqlite": first}


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE run (run TEXT)",
        "CREATE TABLE schema_version (version INTEGER); INSERT INTO schema_version VALUES (1)",
        "PRAGMA application_id = 7; PRAGMA user_version = 1",
        f"PRAGMA application_id = {0x64626174}",
    ],
)
def test_a_sqlite_database_of_another_program_is_refused_and_left_as_it_was(
    sqlite_path: Path, script: str
) -> None:
    connection = sqlite3.connect(sqlite_path)
    connection.executescript(script)
    connection.close()
    before = content(sqlite_path)
    assert refusal(sqlite_path).code == "TK-0402"
    assert content(sqlite_path) == before


@pytest.mark.parametrize(
    "name", ["%73.sqlite", "s.sqlite?mode=memory&uri=true", "s.sqlite?nolock=1", "s#1.sqlite"]
)
def test_a_file_of_an_odd_name_is_the_store_and_has_the_log(name: str, tmp_path: Path) -> None:
    with open_store(tmp_path / name) as store:
        store.audit.write(AuditEvent(AuditKind.STEP))
    assert {each.name for each in tmp_path.iterdir()} == {name, f"{name}.audit.jsonl"}
    assert (tmp_path / name).read_bytes().startswith(b"SQLite format 3")


def test_an_empty_file_becomes_a_store(sqlite_path: Path) -> None:
    sqlite_path.touch()
    with open_store(sqlite_path) as store:
        assert store.list_runs() == []


@pytest.mark.parametrize("kept", [50, 100, 4096, 4097, 30_000])
def test_a_truncated_store_is_refused(sqlite_path: Path, kept: int) -> None:
    filled(sqlite_path)
    os.truncate(sqlite_path, kept)
    before = content(sqlite_path)
    assert refusal(sqlite_path).code == "TK-0402"
    assert content(sqlite_path) == before


def test_garbage_in_the_middle_is_told_when_it_is_met(sqlite_path: Path) -> None:
    size = filled(sqlite_path).stat().st_size
    with sqlite_path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xa5" * (size - 4096 * 3))
    with pytest.raises(ToolkitError) as caught, open_store(sqlite_path) as store:
        store.load_run(RUN)
    assert caught.value.code == "TK-0402"
    assert str(sqlite_path) in caught.value.message


def test_a_store_whose_table_was_dropped_is_damaged(sqlite_path: Path) -> None:
    connection = sqlite3.connect(filled(sqlite_path))
    connection.execute("DROP TABLE metric")
    connection.close()
    with open_store(sqlite_path) as store, pytest.raises(ToolkitError) as caught:
        store.load_run(RUN)
    assert caught.value.code == "TK-0402"


def test_a_store_without_its_version_is_damaged(sqlite_path: Path) -> None:
    connection = sqlite3.connect(filled(sqlite_path), isolation_level=None)
    connection.execute("DELETE FROM schema_version")
    connection.close()
    assert refusal(sqlite_path).code == "TK-0402"


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused(sqlite_path: Path, make: Callable[[Path], None]) -> None:
    make(sqlite_path)
    assert refusal(sqlite_path).code == "TK-0402"


def test_a_socket_or_a_device_is_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert refusal("s").code == "TK-0402"
    assert refusal("/dev/full").code == "TK-0402"


def test_a_folder_where_nothing_can_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file" / "store.sqlite").code == "TK-0401"
    assert refusal("/proc/1/store.sqlite").code == "TK-0401"


WRITE_AS_NOBODY = """
import os, sys, tempfile
from toolkit.errors import ToolkitError
from toolkit.store import open_store
with tempfile.TemporaryDirectory() as folder:
    open_store(folder + "/loads-all-modules").close()
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    open_store(sys.argv[1])
except ToolkitError as error:
    sys.exit(error.code + " " + error.message)
"""


@pytest.mark.parametrize("closed", thinned(["folder", "file"], 2))
def test_a_read_only_folder_or_file_is_refused(tmp_path: Path, closed: str) -> None:
    # pytest's own folders are closed to other users already
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = filled(folder / "store.sqlite")
        folder.chmod(0o555 if closed == "folder" else 0o777)
        path.chmod(0o444 if closed == "file" else 0o666)
        ended = subprocess.run(
            [sys.executable, "-c", WRITE_AS_NOBODY, path], check=False, capture_output=True, text=True
        )
        folder.chmod(0o700)
    assert ended.stderr.startswith("TK-0401"), ended.stderr


def test_a_store_that_turns_read_only_is_told_and_keeps_what_it_has(sqlite_path: Path) -> None:
    with open_store(filled(sqlite_path)) as store:
        with store._database.bare() as connection:
            connection.exec_driver_sql("PRAGMA query_only = ON")
        with pytest.raises(ToolkitError) as caught:
            store.warn(RUN, "noise")
        assert caught.value.code == "TK-0401"
        assert len(store.load_run(RUN).trials) == 39


def test_a_full_disk_is_told_and_the_trial_is_there_as_a_whole_or_not_at_all(sqlite_path: Path) -> None:
    with open_store(sqlite_path) as store:
        store.create_run(head())
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, before[1]))
        try:
            with pytest.raises(ToolkitError) as caught:
                for number in range(1, 1000):
                    store.begin_trial(RUN, number, 1, CELL, 1, BEGAN)
                    store.end_trial(RUN, trial(number))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert caught.value.code == "TK-0401"
        kept = store.load_run(RUN).trials
        assert 0 < len(kept) < 999
        assert kept == tuple(trial(number) for number in range(1, len(kept) + 1))
        store.warn(RUN, "there is room again")


def test_a_locked_store_is_told(sqlite_path: Path) -> None:
    holder = sqlite3.connect(filled(sqlite_path), isolation_level=None)
    with open_store(sqlite_path, busy_seconds=0) as store:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(ToolkitError) as caught:
            store.warn(RUN, "noise")
        assert caught.value.code == "TK-0404"
        assert len(store.load_run(RUN).trials) == 39, "a reader need not wait"
        holder.execute("ROLLBACK")
        store.warn(RUN, "noise")
    holder.close()


def test_a_new_store_that_another_process_locks_is_told(sqlite_path: Path) -> None:
    holder = sqlite3.connect(sqlite_path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert refusal(sqlite_path, busy_seconds=0).code == "TK-0404"
    holder.close()


MOUNTS = [("/", "ext4"), ("/mnt", "nfs4"), ("/mnt/local", "xfs"), ("/share", "ext4"), ("/share", "cifs")]


@for_each(
    ("path", "kind"),
    [
        ("/home/x", "ext4"),
        ("/mnt/x/y", "nfs4"),
        ("/mnt", "nfs4"),
        ("/mnt2/x", "ext4"),
        ("/mnt/local/x", "xfs"),
        ("/share/x", "cifs"),
    ],
)
def test_the_innermost_and_last_mount_decides(path: str, kind: str) -> None:
    assert file_system_of(Path(path), MOUNTS) == kind


def test_a_network_file_system_is_refused_and_nothing_is_made_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkit.store.location._mounts", lambda: [("/", "ext4"), (str(tmp_path), "NFS4")])
    error = refusal(tmp_path / "new" / "store.sqlite")
    assert error.code == "TK-0401"
    assert "`nfs4`" in error.message
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_network_file_system_is_seen_through(tmp_path: Path) -> None:
    (tmp_path / "share").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "share")
    with pytest.raises(ToolkitError):
        refuse_network(tmp_path / "link" / "store", [("/", "ext4"), (str(tmp_path / "share"), "fuse.sshfs")])
    refuse_network(tmp_path / "store", [("/", "ext4"), (str(tmp_path / "share"), "fuse.sshfs")])


def test_this_host_knows_its_mounts(tmp_path: Path) -> None:
    assert file_system_of(tmp_path, location._mounts())
    refuse_network(tmp_path)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_or_folder_for_a_store_is_refused_by_what_it_is(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    make(path)
    with pytest.raises(ToolkitError, match="is a pipe, a device or a folder, not a file") as caught:
        open_store(str(path))
    assert caught.value.code == "TK-0402"


def test_a_store_that_is_made_by_its_first_write_is_empty_until_then(location: str) -> None:
    with open_store(location, at_once=False) as store, open_store(location, at_once=False) as beside:
        assert store.list_runs() == beside.list_runs() == []
        store.create_run(head())
        assert [one.run for one in store.list_runs()] == [RUN]
        assert [one.run for one in beside.list_runs()] == [RUN]
        beside.create_run(head(run="20261121-051342-ab40"))
        assert {one.run for one in beside.list_runs()} == {RUN, "20261121-051342-ab40"}
    with open_store(location) as store:
        assert len(store.list_runs()) == 2


def test_a_full_folder_for_temporary_files_is_told_where_there_is_no_store_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(ToolkitError, match="no temporary file can be written") as caught:
            open_store(tmp_path / "new" / "store.sqlite", at_once=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (caught.value.code, "TMPDIR" in caught.value.hint) == ("TK-0401", True)
    assert list(tmp_path.iterdir()) == []
