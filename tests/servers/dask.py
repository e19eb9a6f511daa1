"""A cluster of dask on this machine: scheduler and workers are processes, as an operator begins them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.servers.forks import Forked
from tests.servers.parent import die_with_parent

Process = subprocess.Popen[bytes] | Forked

TIMEOUT_SECONDS = 240
"""Processes begin slowly on a machine that is busy with other tests."""
ROOT = Path(__file__).parents[2]
_QUIET = {
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
    "DASK_DISTRIBUTED__SCHEDULER__ACTIVE_MEMORY_MANAGER__START": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "10s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
"""What dask looks at many times a second while it waits, most of the CPU time of one that does nothing."""
_NAMED = "import socket\nsocket.gethostname = lambda: {host!r}\n"


@dataclass
class DaskCluster:
    """A scheduler in a folder of its own; leaving the block ends all that was begun."""

    folder: Path
    environment: Mapping[str, str]
    workers: dict[str, Process] = field(default_factory=dict)
    _scheduler: Process | None = None

    def __enter__(self) -> Self:
        self._scheduler = self._begin(
            "scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", self._file
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (*self.workers.values(), self._scheduler):
            if process is not None:
                process.kill()
                process.wait()

    @property
    def _file(self) -> str:
        return str(self.folder / "scheduler.json")

    @property
    def url(self) -> str:
        """The address as users write it."""
        import json

        until = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < until:
            # The file is there before it is written.
            with suppress(FileNotFoundError, json.JSONDecodeError):
                return str(json.loads(Path(self._file).read_text())["address"]).replace("tcp://", "dask://")
            time.sleep(0.05)
        raise TimeoutError("the scheduler of dask did not begin")

    def begin_worker(self, host: str, *, within: tuple[str, ...] = (), **environment: str) -> None:
        """Begin a worker that believes to be on a host of this name, without waiting for it.

        Args:
            host: the name.
            within: a program and its arguments that begins the worker (`unshare`).
            environment: of the worker, besides that of all.
        """
        assert self.url
        preload = self.folder / f"{host}.py"
        preload.write_text(_NAMED.format(host=host))
        self.workers[host] = self._begin(
            "worker", "--scheduler-file", self._file, "--nthreads", "2", "--no-nanny", "--name", host,
            "--preload", str(preload), "--local-directory", str(self.folder), within=within, **environment,
        )  # fmt: skip

    @property
    def pids(self) -> list[int]:
        """The processes of the cluster that are alive."""
        begun = (self._scheduler, *self.workers.values())
        return [process.pid for process in begun if process is not None and process.poll() is None]

    def wait_for_workers(self, number: int) -> None:
        from distributed import Client

        with Client(self.url.replace("dask://", "tcp://"), set_as_default=False) as client:
            client.wait_for_workers(number, timeout=TIMEOUT_SECONDS)

    def wait_for_as_many_workers(self, number: int) -> None:
        """Wait until the scheduler knows that the others are gone."""
        from distributed import Client

        until = time.monotonic() + TIMEOUT_SECONDS
        with Client(self.url.replace("dask://", "tcp://"), set_as_default=False) as client:
            while len(client.scheduler_info()["workers"]) != number:
                assert time.monotonic() < until, "the workers that were ended are still known"
                time.sleep(0.05)

    def kill_scheduler(self) -> None:
        """End the scheduler as a power failure would."""
        assert self._scheduler is not None
        self._scheduler.kill()
        self._scheduler.wait()

    def kill(self, host: str) -> None:
        """End a worker as a power failure would."""
        self.workers[host].send_signal(signal.SIGKILL)
        self.workers[host].wait()

    def _begin(self, *arguments: str, within: tuple[str, ...] = (), **environment: str) -> Process:
        given = [*arguments, "--no-dashboard"]
        env = {**os.environ, "PYTHONPATH": str(ROOT), **_QUIET, **self.environment, **environment}
        with (self.folder / f"{arguments[0]}.log").open("ab") as log:
            if not within:
                return Forked("tests.servers.dask", *given, env=env, cwd=self.folder, output=log.fileno())
            return subprocess.Popen(
                [*within, sys.executable, "-m", "dask", *given],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                env=env,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - nothing else can ask for it
            )


def main() -> None:
    """Be `dask`, in a fork of a process that may have read how dask is configured for somebody else."""
    import dask.__main__

    dask.config.refresh()
    dask.__main__.main()


if __name__ == "__main__":
    main()
