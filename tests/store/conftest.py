"""Stores to test: the same tests run on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.servers.postgresql import Server
from tests.store.make import head
from toolkit.store import open_store
from toolkit.store.store import Store


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def empty_postgresql(postgresql_server: Server) -> str:
    """The URL of a database without a store in it."""
    with postgresql_server.connect() as session:
        session.execute("DROP SCHEMA IF EXISTS dbatk CASCADE")
    return postgresql_server.url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def location(request: pytest.FixtureRequest) -> str:
    """Where a store can be made."""
    name = {"sqlite": "sqlite_path", "postgresql": "empty_postgresql"}[request.param]
    return str(request.getfixturevalue(name))


@pytest.fixture
def store(location: str) -> Iterator[Store]:
    """A store with one run in it."""
    with open_store(location) as opened:
        opened.create_run(head())
        yield opened


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Store]:
    """A second store, empty."""
    with open_store(tmp_path / "another.sqlite") as opened:
        yield opened


@pytest.fixture
def reopened(location: str) -> Iterator[Callable[[], Store]]:
    """Opens the same store once more, as another process would."""
    opened: list[Store] = []

    def again() -> Store:
        opened.append(open_store(location))
        return opened[-1]

    yield again
    for each in opened:
        each.close()
