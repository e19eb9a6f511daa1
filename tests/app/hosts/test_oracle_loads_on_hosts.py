"""A load into Oracle's stand-in whose sessions are on two hosts: by array INSERT, each chunk noted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.hosts.conftest import profile, until
from tests.oracle import wreck
from tests.oracle.standin import Standin, running_standin
from tests.oracle.test_load_files import _LINES, written
from tests.oracle.test_load_kills import rows
from tests.servers.dask import TIMEOUT_SECONDS, DaskCluster
from toolkit.errors import ExitCode

MANY = ("--commit-every", "4K", "--batch-rows", "50", "--degree", "2")


@pytest.fixture
def standin() -> Iterator[Standin]:
    with running_standin() as begun:
        yield begun


@pytest.fixture
def cluster(standin: Standin, tmp_path: Path) -> Iterator[DaskCluster]:
    """Two hosts that know the stand-in by a profile, and its password by a variable of their own."""
    profile(tmp_path / "config", standin.url)
    own = wreck.environment(standin, tmp_path)
    with DaskCluster(tmp_path, {name: own[name] for name in ("DBATK_CONFIG", "DBATK_PASSWORD")}) as begun:
        for host in ("alpha", "beta"):
            begun.begin_worker(host)
        begun.wait_for_workers(2)
        yield begun


def line(cluster: DaskCluster, file: Path) -> tuple[str, ...]:
    return ("load", "-t", "crm", str(file), "--table", "GTEST", *MANY, "--on", cluster.url)


def left(standin: Standin) -> list[str]:
    found = standin.engine.cursor().execute("SELECT table_name FROM duckdb_tables()").fetchall()
    return [str(name) for (name,) in found if str(name).startswith("DBATK_")]


def test_both_hosts_insert_and_each_row_is_there_once(
    standin: Standin, cluster: DaskCluster, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.csv", [*_LINES])
    status, told = wreck.run(standin, tmp_path, *line(cluster, file))
    assert status == 0, told
    (trial,) = told["trials"]  # type: ignore[attr-defined]
    found = {each["name"]: each["value"] for each in trial["metrics"]}
    assert found["host.alpha.loaded_rows"] > 0 < found["host.beta.loaded_rows"]
    assert found["host.alpha.loaded_rows"] + found["host.beta.loaded_rows"] == len(_LINES)
    assert rows(standin) == _LINES and left(standin) == []


@pytest.mark.full
def test_a_host_that_is_killed_fails_the_job_and_resume_loads_the_rest_once(
    standin: Standin, cluster: DaskCluster, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.csv", [*_LINES])
    run = wreck.begin(standin, tmp_path, *line(cluster, file))
    until(lambda: run.poll() is not None or len(rows(standin)) > 0)
    assert run.poll() is None
    cluster.kill("beta")
    out, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == ExitCode.INCOMPLETE, err
    (trial,) = json.loads(out)["trials"]
    assert "host `beta` was lost" in trial["reason"]
    cluster.begin_worker("beta")
    cluster.wait_for_workers(2)
    status, told = wreck.run(standin, tmp_path, "runs", "resume", "last")
    assert status == 0, told
    assert rows(standin) == _LINES and left(standin) == []
