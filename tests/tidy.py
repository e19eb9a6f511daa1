"""Nothing outlives a run of the tests: one folder for its files, a few beside it, and no process after its end.

The process that began the run makes the folder and lets `TMPDIR` point to it, so that whatever workers and servers
write lies in it. A keeper, a process of its own, waits for the end of that process, however it ends, kills what is
left of the run and removes the folder, and those beside it (`short_folder`) with what is mounted there. Those of a
run that failed are kept until the next run.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import util
from pathlib import Path

import psutil
import pytest

VARIABLE = "DBATK_TESTS_FOLDER"
_PREFIX = "dbatk-tests-"
_LOCK = "lock"
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 6 << 30
"""Twice what a run fills at its peak."""
_TIMEOUT_SECONDS = 60
_FOLDER = pytest.StashKey[Path]()
"""Where the process that began the run notes its folder."""
_ROOT = Path(__file__).resolve().parents[1]


def run_folder() -> Path | None:
    """Return the folder that all processes of this run share; None outside a run of the tests."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def short_folder(prefix: str) -> Path:
    """Make a folder beside that of the run, removed with it: paths of sockets must be short."""
    folder = run_folder()
    if folder is None:
        return Path(tempfile.mkdtemp(prefix=f"dbatk-{prefix}", dir=_disk()))
    return Path(tempfile.mkdtemp(prefix=f"{_beside(folder)}{prefix}", dir=folder.parent))


def _beside(folder: Path) -> str:
    """Return what the names of folders beside that of a run begin with."""
    return f"{folder.name.removeprefix(_PREFIX)}-"


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder in the process that began the run; its workers find it in the environment."""
    if hasattr(config, "workerinput") or VARIABLE in os.environ:
        return
    for place in (_MEMORY, _disk()):
        _remove_old(place)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_MEMORY if _memory_has_room() else _disk()))
    folder.chmod(0o711)  # root's PostgreSQL runs as somebody else
    config.stash[_FOLDER] = folder
    config.add_cleanup(_Run(folder).end)


def _memory_has_room() -> bool:
    """Tell whether the files of a run can be kept in memory, where what syncs and removes much is quick.

    Containers give 64 MiB there, and some hosts let nothing in it be executed.
    """
    try:
        there = os.statvfs(_MEMORY)
    except OSError:
        return False
    room = min(there.f_bavail * there.f_frsize, psutil.virtual_memory().available // 2)
    return room >= _ROOM_BYTES and os.access(_MEMORY, os.W_OK | os.X_OK) and not there.f_flag & os.ST_NOEXEC


def _disk() -> Path:
    return Path("/tmp" if sys.platform == "linux" else tempfile.gettempdir())


class _Run:
    """What the main process of a run owns: its folder, and the keeper."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = _locked(folder)
        self._before = os.environ.get("TMPDIR")
        os.environ |= {VARIABLE: str(folder), "TMPDIR": str(folder)}
        tempfile.tempdir = None
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.tidy", str(folder)], cwd=_ROOT, stdin=subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if name != VARIABLE}, start_new_session=True,
        )  # fmt: skip

    def end(self) -> None:
        """Let the keeper kill and remove what is left."""
        del os.environ[VARIABLE], os.environ["TMPDIR"]
        if self._before is not None:
            os.environ["TMPDIR"] = self._before
        tempfile.tempdir = None
        util._run_finalizers()  # type: ignore[attr-defined]  # its sockets lie in the folder
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait()
        os.close(self._lock)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Fail the run when one of its processes is still there at its end; keep the files of a run that failed."""
    yield
    folder = session.config.stash.get(_FOLDER, None)
    if folder is None:  # a worker, or a run inside a run: its processes are among those of the run around it
        return
    _end_helpers()
    left = _left_after(folder, _TIMEOUT_SECONDS)
    if left:
        print("\nleft by the tests:", *(f"{pid}: {command}" for pid, command in left.items()), sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        (folder / "keep").touch()


def _end_helpers() -> None:
    """End the helpers of `multiprocessing`, and of tests in this process, which otherwise end with it."""
    from multiprocessing import forkserver, resource_tracker

    util._run_finalizers(0)  # type: ignore[attr-defined]
    for helper in (forkserver._forkserver, resource_tracker._resource_tracker):
        helper._stop()  # type: ignore[attr-defined]


def processes_of(folder: Path) -> dict[int, str]:
    """Return the processes of a run, by their environment, their folder or their command."""
    found, folders = {}, (str(folder).encode(), str(folder.parent / _beside(folder)).encode())
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            pid = int(place.name)
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            traces = (place / "environ").read_bytes(), command.encode(), str((place / "cwd").readlink()).encode()
            if command and any(each in trace for each in folders for trace in traces):
                found[pid] = command
    return {pid: command for pid, command in found.items() if pid not in _ours() and "tests.tidy" not in command}


def _ours() -> set[int]:
    """This process and those above it: a run inside a run is no leftover of itself."""
    pids, pid = set(), os.getpid()
    while pid > 1:
        pids.add(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pids


def _left_after(folder: Path, seconds: float) -> dict[int, str]:
    """Return what is still there after processes that are ending had their time."""
    until = time.monotonic() + seconds
    while (left := processes_of(folder)) and time.monotonic() < until:
        time.sleep(0.1)
    return left


def _locked(folder: Path) -> int:
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def _remove_old(place: Path) -> None:
    """Remove what runs left that failed, or that were killed together with their keeper."""
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            os.close(_locked(folder))
        except OSError:
            continue  # it is at work, or somebody else's
        _sweep(folder, keep=False)


def _sweep(folder: Path, *, keep: bool) -> None:
    for pid in processes_of(folder):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if keep:
        return
    beside = [_remove(each) for each in folder.parent.glob(f"{_beside(folder)}*")]
    if all(beside):  # by the folder the next run finds those beside it
        _remove(folder)


def _remove(folder: Path) -> bool:
    """Remove a folder with what is mounted below it; tell whether it is gone."""
    with suppress(OSError):
        mounts = [line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for place in sorted((each for each in mounts if each.startswith(f"{folder}/")), reverse=True):
            subprocess.run(["umount", "--lazy", place], capture_output=True, check=False)
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _keep(folder: Path) -> None:
    """Wait until the parent process closes the pipe or is gone, then sweep."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    keep = (folder / "keep").exists()
    _sweep(folder, keep=keep)
    if keep:
        print(f"files of the failed tests: {folder}", file=sys.stderr)


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
