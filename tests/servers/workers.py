"""Workers of a run of the tests, forked from one process that has imported what all of them need.

On its own, each of xdist's workers imports the libraries, the toolkit and all tests, and begins a server of its
own for the processes of tests (`tests.servers.forks`), which imports them once more. Here xdist begins a launcher
of a few lines instead of an interpreter. It hands its streams to the process that has imported everything, which
forks the worker, and lives as long as the worker does: where one of them is killed, the other ends.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
import warnings
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import util
from pathlib import Path
from typing import Any

import pytest

from tests.servers.forks import import_everything
from tests.servers.parent import die_with_parent
from tests.servers.programs import die_with
from tests.tidy import run_folder

_LAUNCHER = """
import socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    socket.send_fds(server, [sys.argv[-1].encode()], [0, 1, 2])
    server.recv(1)
"""
"""What xdist begins in place of an interpreter; the last argument is the line that the interpreter was to run."""
_BEGIN = """
from _pytest.config import _prepareconfig
_prepareconfig(["tests", "--capture=no"])
from tests.servers.workers import main
main()
"""
"""Assertions are rewritten in what is imported after pytest has read how it is configured."""
_SERVER = pytest.StashKey[subprocess.Popen[bytes]]()
_TESTS = Path(__file__).resolve().parents[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """Begin the process that workers are forked from, and let xdist begin launchers."""
    folder = run_folder()
    if folder is None or sys.platform != "linux":
        return
    address = str(Path(tempfile.mkdtemp(prefix="w", dir=folder)) / "s")
    asked = [str(Path(word.partition("::")[0]).resolve()) for word in config.args]
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        config.stash[_SERVER] = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, str(listening.fileno()), *asked],
            cwd=_TESTS.parent, pass_fds=[listening.fileno()], env={**os.environ, "PYTEST_XDIST_WORKER": "none"},
        )  # fmt: skip
    for spec in specs:
        spec.python = shlex.join([sys.executable, "-IS", "-c", _LAUNCHER, address])


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """End it after its last worker."""
    yield
    server = session.config.stash.get(_SERVER, None)
    if server is not None:
        server.kill()
        server.wait()


def main() -> None:
    """Import what the tests that are asked for need, then fork a worker for each launcher that calls."""
    die_with_parent()
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        _import([Path(word) for word in sys.argv[2:]])
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            launcher, _ = listening.accept()
            if os.fork() == 0:
                break
            launcher.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _become_worker(launcher)


def _import(asked: list[Path]) -> None:
    """Import the tests as workers would, and what the fork servers need.

    In a fresh clone all is compiled: another process begins at the other end.
    """
    names = [
        ".".join(file.relative_to(_TESTS.parent).with_suffix("").parts)
        for file in sorted(_TESTS.rglob("test_*.py"))
        if not {file, *file.parents}.isdisjoint(asked)
    ]
    other = os.fork()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in names if other else names[: len(names) // 2 : -1]:
            with suppress(Exception, pytest.skip.Exception):  # it is imported anew, and reported, by each worker
                importlib.import_module(name)
    if other == 0:
        os._exit(0)
    os.waitpid(other, 0)
    import_everything()


def _become_worker(launcher: socket.socket) -> None:
    """Run what the launcher was asked to run, as an interpreter of its own would."""
    die_with_parent()
    line, streams, _, _ = socket.recv_fds(launcher, 1 << 16, 3)
    die_with(launcher.fileno())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        for number, mode in enumerate(("r", "w", "w"))
    )
    random.seed()
    _begin_fork_server(launcher)
    sys.argv = ["-c"]
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        exec(line, module.__dict__)
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        os._exit(0)


def _begin_fork_server(launcher: socket.socket) -> None:
    """Let the fork server of this worker be a fork, too, taken while nothing has run in it."""
    from multiprocessing import forkserver

    def fork(executable: object, arguments: list[str], descriptors: list[int]) -> int:
        pid = os.fork()
        if pid:
            return pid
        kept = {0, 1, 2, *descriptors}
        for number in {int(place.name) for place in Path("/proc/self/fd").iterdir()} - kept:
            with suppress(OSError):
                os.close(number)
        gc.enable()
        forkserver._forkserver.__init__()  # type: ignore[attr-defined, misc]  # its lock is held here
        try:
            exec(arguments[-1], {})
        finally:
            os._exit(0)

    begun, util.spawnv_passfds = util.spawnv_passfds, fork
    try:
        forkserver.ensure_running()
    finally:
        util.spawnv_passfds = begun
