"""A PostgreSQL server, and a cluster of dask with two hosts of which one has another clock."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.servers.dask import ROOT, TIMEOUT_SECONDS, DaskCluster
from tests.servers.forks import Forked
from tests.servers.postgresql import Server

AHEAD_SECONDS = 1000
"""By how much the clock of `beta` that only goes forward is ahead, as that of a host that was begun earlier."""


@cache
def other_clock() -> tuple[str, ...]:
    """Return what begins a program with another clock (time namespaces, Linux 5.6); nothing where none can be."""
    how = ("unshare", "--user", "--map-root-user", "--time", "--monotonic", str(AHEAD_SECONDS))
    try:
        done = subprocess.run([*how, "true"], capture_output=True, check=False, timeout=60)
    except FileNotFoundError:
        return ()
    return how if done.returncode == 0 else ()


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory, postgresql_server: Server) -> Path:
    made = tmp_path_factory.mktemp("hosts")
    profile(made / "config", postgresql_server.url)
    return made


def profile(folder: Path, url: str, name: str = "crm", more: str = "production = false") -> Path:
    """Write the profiles of a host."""
    folder.mkdir(mode=0o700)
    file = folder / "targets.toml"
    file.write_text(f'[targets.{name}]\nurl = "{url}"\n{more}\n')
    file.chmod(0o600)
    return folder


def variables(folder: Path) -> dict[str, str]:
    return {"DBATK_CONFIG": str(folder / "config"), "XDG_DATA_HOME": str(folder)}


@pytest.fixture(scope="package")
def _cluster(folder: Path) -> Iterator[DaskCluster]:
    with DaskCluster(folder, {**variables(folder), "DBATK_STORE": ""}) as begun:
        yield begun


@pytest.fixture
def cluster(_cluster: DaskCluster) -> DaskCluster:
    """Both hosts, begun anew where the test before ended them."""
    for host, within in (("alpha", ()), ("beta", other_clock())):
        process = _cluster.workers.get(host)
        if process is None or process.poll() is not None:
            _cluster.begin_worker(host, within=within)
    _cluster.wait_for_workers(2)
    return _cluster


Begin = Callable[..., Forked]


@pytest.fixture
def begin(folder: Path, tmp_path: Path) -> Iterator[Begin]:
    """Begin a command in a process of its own; what is still there in the end is killed."""
    begun: list[Forked] = []
    own = {**variables(folder), "DBATK_STORE": str(tmp_path / "store.sqlite")}

    def run(*arguments: str) -> Forked:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **own}
        begun.append(Forked("toolkit", *arguments, cwd=tmp_path, env=environment))
        return begun[-1]

    yield run
    for each in begun:
        each.kill()
        each.communicate(timeout=TIMEOUT_SECONDS)


def processes_of(cluster: DaskCluster, host: str) -> list[psutil.Process]:
    return psutil.Process(cluster.workers[host].pid).children(recursive=True)


def until(what: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not what():
        assert time.monotonic() < end
        threading.Event().wait(0.05)


def of_runs(server: psycopg.Connection) -> int:
    """How many sessions of runs the server has."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name ~ '^[0-9]{8}-[0-9]{6}-'"
    row = server.execute(asked).fetchone()
    return 0 if row is None else int(row[0])


def scratch(server: psycopg.Connection) -> int:
    """How many scratch objects the server has."""
    row = server.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'dbatk%'").fetchone()
    return 0 if row is None else int(row[0])
