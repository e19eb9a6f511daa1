"""Nothing outlives a run of the tests, however it ends: tried with runs of their own."""

from __future__ import annotations

import os
import re
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.project.tree import ROOT
from tests.servers import programs
from tests.tidy import VARIABLE

_HEAD = """
import os, signal, subprocess, sys, tempfile
from pathlib import Path
from tests import tidy
assert tidy._TIMEOUT_SECONDS
tidy._TIMEOUT_SECONDS = 0.2

def begin():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path("pids").open("a").write(f"{os.environ['DBATK_TESTS_FOLDER']} {process.pid}\\n")
    return process
"""
_TIDY = """
def test(tmp_path):
    for folder in (Path(tempfile.mkdtemp()), tidy.short_folder("short-")):
        (folder / "file").touch()
    process = begin()
    process.kill()
    process.wait()
"""
_LEAVING = """
def test():
    begin()
"""
_KILLED = """
def test():
    folder = tidy.short_folder("short-")
    (folder / "mounted").mkdir()
    if os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder / "mounted"], capture_output=True)
    (folder / "mounted" / "file").touch()
    begin()
    os.kill(os.getpid(), signal.SIGKILL)
"""
_WORKER_KILLED = """
def test_it():
    from tests.servers.forks import Forked
    process = Forked("timeit", "-n", "1", "import time; time.sleep(600)")
    Path("pids").open("a").write(f"{os.environ['DBATK_TESTS_FOLDER']} {process.pid}\\n")
    os.kill(os.getpid(), signal.SIGKILL)

def test_another():
    pass

def test_a_third():
    pass
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
Run = Callable[..., tuple[int, str, Path, list[int]]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a file of tests; gives status, what was shown, the folder of the run, and the processes begun."""

    def one(text: str, *arguments: str) -> tuple[int, str, Path, list[int]]:
        (tmp_path / "test_one.py").write_text(_HEAD + text)
        environment = {name: value for name, value in os.environ.items() if name not in (VARIABLE, "TMPDIR")}
        environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.tidy", *arguments, "test_one.py"],
            cwd=tmp_path, env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        begun = [line.split() for line in (tmp_path / "pids").read_text().splitlines()]
        return ended.returncode, ended.stdout + ended.stderr, Path(begun[0][0]), [int(pid) for _, pid in begun]

    return one


def gone(pids: list[int]) -> bool:
    """Wait until processes are gone; zombies of a killed parent count as gone."""
    there = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, left = psutil.wait_procs(there, timeout=300)
    return not [each for each in left if each.status() != psutil.STATUS_ZOMBIE]


def files_of(folder: Path) -> list[Path]:
    """Return the folder of a run and those beside it, where they are there."""
    return [*folder.parent.glob(f"*{folder.name.removeprefix('dbatk-tests-')}*")]


@pytest.mark.full
def test_a_run_that_ends_well_leaves_no_file(run: Run) -> None:
    status, shown, folder, _ = run(_TIDY)
    assert status == 0, shown
    assert files_of(folder) == []


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "1"), marks=pytest.mark.full)])
def test_a_process_that_is_left_fails_the_run_and_is_killed(run: Run, workers: tuple[str, ...]) -> None:
    status, shown, folder, begun = run(_LEAVING, *workers)
    assert status == 1, shown
    assert re.search(rf"left by the tests:\s+{begun[0]}: ", shown)
    assert f"files of the failed tests: {folder}" in shown
    assert gone(begun)


def test_a_run_that_is_killed_takes_everything_with_it(run: Run) -> None:
    status, _, folder, begun = run(_KILLED)
    assert status == -9
    assert gone(begun)
    assert files_of(folder) == []


@pytest.mark.full
def test_a_worker_that_is_killed_takes_its_processes_along_and_another_goes_on(run: Run) -> None:
    plugins = ("-p", "tests.tiers", "-p", "tests.servers.workers")
    status, shown, folder, begun = run(_WORKER_KILLED, *plugins, "-n", "1", "--dist", "loadscope")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 2 passed" in shown, shown
    assert len(begun) == 1, "the test that crashed is not tried again"
    assert gone(begun)
    shutil.rmtree(folder, ignore_errors=True)  # kept, for the run failed, until another run begins


def test_a_program_that_is_killed_at_its_begin_leaves_none_of_its_streams_open() -> None:
    """Or who reads them would wait without an end."""
    reading, writing = os.pipe()
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(programs._address())
        socket.send_fds(caller, [(1_000).to_bytes(8, "big")], [writing] * 3)
        caller.sendall(b"part of what it was to say")
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert select.select([stream], [], [], 300)[0] and stream.read() == b""
