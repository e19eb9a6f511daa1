"""Processes for tests that kill, interrupt or watch them, forked from a server that has imported everything.

`python -m toolkit` takes most of a second of work before the first statement, the imports of drivers and of the
store above all. A fork of a process that has them is the same program at a twentieth of the cost: a process of its
own with its own memory, signals, environment and streams, ended with the one that tests.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import multiprocessing
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from multiprocessing import forkserver, reduction
from multiprocessing.process import BaseProcess, _children  # type: ignore[attr-defined]
from pathlib import Path
from typing import IO, Any, Self
from unittest import mock

from tests.servers.parent import die_with_parent

_LIBRARIES = (
    "duckdb",
    "numpy",
    "oracledb",
    "psycopg",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.dialects.postgresql",
)


class _Stream:
    """A file descriptor that is sent to a forked process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __getstate__(self) -> Any:
        return reduction.DupFd(self.descriptor)

    def __setstate__(self, sent: Any) -> None:
        self.descriptor = sent.detach()


class Forked:
    """A process that runs a module as `python -m` would; answers as `subprocess.Popen` does."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int = subprocess.PIPE,
        output: int | None = None,
        server: OwnServer | None = None,
    ) -> None:
        """Begin it; `stdout` takes one stream in place of a pipe, `output` both."""
        self.args = [module, *arguments]
        self.returncode: int | None = None
        self.stdin: IO[str] | None = None
        self.stderr: IO[str] | None = None
        with contextlib.ExitStack() as theirs:
            self.stdout: IO[str] = io.StringIO()
            if output is not None:
                stdout, stderr = output, subprocess.STDOUT if stderr == subprocess.PIPE else stderr
            elif stdout is None:
                reading, stdout = os.pipe()
                theirs.callback(os.close, stdout)
                self.stdout = os.fdopen(reading, encoding="utf-8", errors="replace")
            streams = [_nothing(theirs), stdout, stdout]
            if stdin == subprocess.PIPE:
                streams[0], mine = os.pipe()
                theirs.callback(os.close, streams[0])
                self.stdin = os.fdopen(mine, "w", encoding="utf-8")
            if stderr == subprocess.PIPE:
                reading, streams[2] = os.pipe()
                theirs.callback(os.close, streams[2])
                self.stderr = os.fdopen(reading, encoding="utf-8", errors="replace")
            given = dict(os.environ if env is None else env)
            self._process = begin(module, arguments, streams, given, str(cwd or Path.cwd()), server=server)
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._process.exitcode
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        """Write the input, read both streams to their end, and wait for the process."""
        if self.stdin is not None and not self.stdin.closed:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                self.stdin.write(input or "")
        texts = ["", ""]

        def read(place: int, stream: IO[str]) -> None:
            texts[place] = stream.read()

        streams = [each for each in enumerate((self.stdout, self.stderr)) if each[1] and not each[1].closed]
        readers = [threading.Thread(target=read, args=each, daemon=True) for each in streams]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(timeout)
        self._close()
        return texts[0], texts[1]

    def _close(self) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if raised[0] is not None:
            self.kill()
        self._close()
        self.wait()


def run(
    module: str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    timeout: float = 300,
    server: OwnServer | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a module to its end in a forked process."""
    with Forked(module, *arguments, env=env, cwd=cwd, server=server) as process:
        out, err = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(process.args, process.wait(), out, err)


_TURN = threading.Lock()


def begin(
    module: str,
    arguments: Sequence[str],
    streams: Sequence[int],
    env: Mapping[str, str],
    cwd: str,
    ignored: Sequence[int] = (),
    server: OwnServer | None = None,
) -> BaseProcess:
    """Begin a forked process; a fourth stream is a socket whose other end lives as long as the process may."""
    given = (module, tuple(arguments), list(map(_Stream, streams)), dict(env), cwd, tuple(ignored))
    process = _CONTEXT.Process(target=_become, args=given)
    with _TURN, contextlib.nullcontext() if server is None else server.instead():
        process.start()
        _children.discard(process)  # or whoever begins another takes the status that somebody else waits for
    return process


class OwnServer:
    """A fork server beside the one of all tests, which imports another module in another environment."""

    def __init__(self, module: str, **environment: str) -> None:
        self._server = forkserver.ForkServer()
        self._server.set_forkserver_preload([module])
        with mock.patch.dict(os.environ, environment):
            self._server.ensure_running()

    @contextlib.contextmanager
    def instead(self) -> Iterator[None]:
        """Let it begin the processes that are begun meanwhile."""
        with mock.patch.object(forkserver, "connect_to_new_process", self._server.connect_to_new_process):
            yield

    def close(self) -> None:
        self._server._stop()  # type: ignore[attr-defined]


def _nothing(closing: contextlib.ExitStack) -> int:
    opened = os.open(os.devnull, os.O_RDONLY)
    closing.callback(os.close, opened)
    return opened


def _become(
    module: str,
    arguments: tuple[str, ...],
    streams: list[_Stream],
    env: dict[str, str],
    cwd: str,
    ignored: tuple[int, ...],
) -> None:
    """Run in the forked process what `python -m module` would run."""
    die_with_parent()
    if streams[3:]:
        from tests.servers.programs import die_with

        die_with(streams[3].descriptor)
    for target, stream in enumerate(streams[:3]):
        os.dup2(stream.descriptor, target)
    for stream in streams[:3]:
        os.close(stream.descriptor)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True, errors="backslashreplace"
    )
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # the environment says another one
    os.chdir(cwd)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def import_everything() -> None:
    """Import what any command may need; called in the server."""
    import toolkit

    for name in _LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for found in pkgutil.walk_packages(toolkit.__path__, "toolkit."):
        if not found.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(found.name)
    _warm_up()
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # or nanobind takes DuckDB's objects for leaks when the server ends


def _warm_up() -> None:
    """Let forks inherit what is computed once: the command line, templates, statements of a store ..."""
    import typer.main

    from tests.shared import share
    from tests.store.make import RUN, head, step, trial
    from toolkit import rendering
    from toolkit.cli import main
    from toolkit.dialects.oracle.licences.look import look
    from toolkit.dialects.registry import dialect_of
    from toolkit.executors import host_environment
    from toolkit.model.engines import engines
    from toolkit.model.records import Artifact
    from toolkit.model.words import RunState
    from toolkit.resources import sql_root, template_root
    from toolkit.store import open_store

    share()
    host_environment.read_host_environment()
    whole = main.build_app()
    typer.main.get_command(whole)
    for one in (*whole.registered_groups, *whole.registered_commands):
        typer.main.get_command(main._for((str(one.name),), main.build_app()))
    for engine in engines():
        dialect = dialect_of(engine)
        for path in (template_root() / engine).glob("*.j2"):
            rendering._environment(dialect).get_template(f"{engine}/{path.name}")
    for path in (sql_root() / "oracle").glob("*.sql"):
        look(rendering.sql_file("oracle", path.stem))
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "s", at_once=False) as store:
        store.create_run(head())
        store.set_environment(RUN, {"cpu": 2})
        store.save_facts(RUN, "{}")
        store.keep_artifact(RUN, Artifact("script.sql", "text/sql", b"SELECT 1"))
        store.load_artifact(RUN, "script.sql")
        one = trial()
        store.begin_trial(RUN, one.trial, one.attempt, one.cell, 1, datetime.now(UTC))
        entry = store.journal(RUN).intend(step(), trial=1, proof={})
        store.journal(RUN).made(entry, {})
        store.journal(RUN).undone(entry)
        store.end_trial(RUN, one)
        store.load_run(RUN)
        store.journal(RUN).entries()
        store.journal(RUN).open_entries()
        store.open_entries_all()
        store.end_run(RUN, RunState.DONE, datetime.now(UTC))


_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.servers.imported"])
