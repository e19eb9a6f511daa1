"""Workers of a run of the tests, forked from one process that has imported what all of them need: the origin.

On its own, each of xdist's workers imports the libraries, the toolkit and all tests, and begins a server of its
own for the processes of tests (`tests.servers.forks`), which imports them once more. Here xdist begins a launcher
of a few lines instead of an interpreter. It hands its streams to the origin, which forks the worker, and lives as
long as the worker does: where one of them is killed, the other ends.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import resource_tracker, util
from pathlib import Path
from typing import Any

import pytest

from tests.servers.parent import die_with_parent
from tests.servers.programs import die_with
from tests.tidy import run_folder

_LAUNCHER = """
import signal, socket, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
with socket.socket(socket.AF_UNIX) as origin:
    origin.connect(sys.argv[1])
    socket.send_fds(origin, [sys.argv[-1].encode()], [0, 1, 2])
    origin.recv(1)
"""
"""What xdist begins in place of an interpreter; the last argument is the line that the interpreter was to run."""
_ORIGIN_LINES = """
import json, sys
from _pytest.config import _prepareconfig
_prepareconfig(["tests", "--capture=no", *("-W" + each for each in json.loads(sys.argv[1])["filters"][1])])
from tests.servers.workers import be_the_origin
be_the_origin(sys.argv[1])
"""
"""Assertions are rewritten in what is imported after pytest has read how it is configured."""
_ORIGIN = pytest.StashKey[subprocess.Popen[bytes]]()
_TESTS = Path(__file__).resolve().parents[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """Begin the origin, and let xdist begin launchers."""
    folder = run_folder()
    if folder is None or sys.platform != "linux":
        return
    address = str(Path(tempfile.mkdtemp(prefix="w", dir=folder)) / "s")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        given = {
            "listening": listening.fileno(),
            "controller": os.getpid(),
            "folder": str(Path.cwd()),
            "asked": [str(Path(word.partition("::")[0]).resolve()) for word in config.args],
            "filters": [config.getini("filterwarnings"), config.known_args_namespace.pythonwarnings or []],
        }
        config.stash[_ORIGIN] = subprocess.Popen(
            [sys.executable, "-c", _ORIGIN_LINES, json.dumps(given)],
            cwd=_TESTS.parent, pass_fds=[listening.fileno()],
            env={**os.environ, "PYTEST_XDIST_WORKER": "none"},  # modules look at it when they are imported
        )  # fmt: skip
    for spec in specs:
        if spec.popen and not spec.python:
            spec.python = shlex.join([sys.executable, "-IS", "-c", _LAUNCHER, address])


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """End the origin after its last worker."""
    yield
    origin = session.config.stash.get(_ORIGIN, None)
    if origin is not None:
        origin.kill()
        origin.wait()


def be_the_origin(text: str) -> None:
    """Import what the tests that are asked for need, then fork a worker for each launcher that calls."""
    given = json.loads(text)
    die_with_parent(parent=given["controller"])
    with socket.socket(fileno=given["listening"]) as listening:
        _import([Path(word) for word in given["asked"]], given["filters"])
        os.chdir(given["folder"])
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            launcher, _ = listening.accept()
            if os.fork() == 0:
                break
            launcher.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _become_worker(launcher)


def _import(asked: Sequence[Path], filters: Sequence[Sequence[str]]) -> None:
    """Import the tests as workers would, and what their fork servers need.

    What cannot be imported is imported anew, and reported, by each worker. In a fresh clone all is compiled: there
    another process begins at the other end.
    """
    from _pytest.config import apply_warning_filters

    files = [file for file in sorted(_TESTS.rglob("test_*.py")) if not {file, *file.parents}.isdisjoint(asked)]
    names = [".".join(file.relative_to(_TESTS.parent).with_suffix("").parts) for file in files]
    other = None if sys.dont_write_bytecode or all(map(_is_compiled, files)) else os.fork()
    with warnings.catch_warnings():
        apply_warning_filters(*filters)
        for name in names[: len(names) // 2 : -1] if other == 0 else names:
            with suppress(Exception, pytest.skip.Exception, pytest.fail.Exception, SystemExit):
                importlib.import_module(name)
        if other == 0:
            os._exit(0)
        if other is not None:
            os.waitpid(other, 0)
        try:
            importlib.import_module("tests.servers.imported")
        except Exception:
            traceback.print_exc()


def _is_compiled(file: Path) -> bool:
    name = f"{file.stem}.{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    return (file.parent / "__pycache__" / name).exists()


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
    _begin_fork_server()
    sys.argv = ["-c"]
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    with _ending():
        exec(line, module.__dict__)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()


def _begin_fork_server() -> None:
    """Let the fork server of this worker be a fork, too, taken while nothing has run in it."""
    from multiprocessing import forkserver

    def fork(executable: object, arguments: list[str], descriptors: list[int]) -> int:
        pid = os.fork()
        if pid:
            return pid
        die_with_parent()
        nothing = os.open(os.devnull, os.O_RDWR)  # 0 and 1 are what the worker and the controller talk by
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        for number in {int(place.name) for place in Path("/proc/self/fd").iterdir()} - {0, 1, 2, *descriptors}:
            with suppress(OSError):
                os.close(number)
        gc.enable()
        forkserver._forkserver.__init__()  # type: ignore[attr-defined, misc]  # its lock is held here
        with _ending():
            exec(arguments[arguments.index("-c") + 1], {})
        return 0

    resource_tracker.ensure_running()
    begun, util.spawnv_passfds = util.spawnv_passfds, fork
    try:
        forkserver.ensure_running()
    finally:
        util.spawnv_passfds = begun


@contextlib.contextmanager
def _ending() -> Iterator[None]:
    """End this process after the block, whatever it raised, and show that."""
    status = 0
    try:
        yield
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
        status = 1
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
