"""A cluster of dask and four databases for plans that are spread over targets, begun once for all their tests.

They end after the last of them: three processes of dask that wait take a twelfth of a processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.dask import DaskCluster
from tests.servers.postgresql import Server

TARGETS = ("pg0", "pg1", "pg2", "pg3")


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="package")
def _made(postgresql_server: Server) -> Iterator[Server]:
    """The server with four databases, which are more costly to make than to empty."""
    with postgresql_server.connect() as session:
        for name in TARGETS:
            session.execute(f"CREATE DATABASE {name}")
    yield postgresql_server
    with postgresql_server.connect() as session:
        for name in TARGETS:
            session.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def databases(_made: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Four empty databases beside the store, under names."""
    server = _made
    with server.connect() as session:
        session.execute("DROP SCHEMA IF EXISTS dbatk CASCADE")
    for name in TARGETS:
        with psycopg.connect(
            host=server.host, port=server.port, dbname=name, user=server.user, autocommit=True
        ) as session:
            session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            session.execute("DROP SCHEMA public CASCADE")
            session.execute("CREATE SCHEMA public")
    profiles = "".join(
        f'[targets.{name}]\nurl = "postgresql://{server.user}@{server.host}:{server.port}/{name}"\n'
        "production = false\n"
        for name in TARGETS
    )
    (folder / "config").mkdir(mode=0o700, exist_ok=True)
    (folder / "config/targets.toml").write_text(profiles)
    (folder / "config/targets.toml").chmod(0o600)
    monkeypatch.setenv("DBATK_CONFIG", str(folder / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.delenv("DBATK_STORE", raising=False)
    return server


def environment(folder: Path) -> dict[str, str]:
    """What workers find: profiles, no store of their own, and a folder for what they write."""
    return {"DBATK_CONFIG": str(folder / "config"), "DBATK_STORE": "", "XDG_DATA_HOME": str(folder)}


@pytest.fixture(scope="package")
def cluster(folder: Path) -> Iterator[DaskCluster]:
    """A scheduler with two workers of two hosts."""
    with DaskCluster(folder, environment(folder)) as begun:
        for host in ("alpha", "beta"):
            begun.begin_worker(host)
        begun.wait_for_workers(2)
        yield begun
