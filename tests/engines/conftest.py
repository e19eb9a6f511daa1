"""Every engine the suites of this folder run on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.arena import Arena, duckdb_arena, host_arena, oracle_arena, postgresql_arena
from toolkit.store import open_store
from toolkit.store.store import Store

ENGINES = ["duckdb", pytest.param("postgresql", marks=pytest.mark.postgresql)]


@pytest.fixture(params=[*ENGINES, "oracle", "host"])
def any_arena(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Arena]:
    """Every engine; of Oracle the stand-in."""
    yield from arena_of(request, tmp_path)


@pytest.fixture(params=ENGINES)
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Arena]:
    """Every engine whose own database is at hand."""
    yield from arena_of(request, tmp_path)


def arena_of(request: pytest.FixtureRequest, folder: Path) -> Iterator[Arena]:
    if request.param == "duckdb":
        with duckdb_arena(folder) as found:
            yield found
    elif request.param == "host":
        with host_arena() as found:
            yield found
    elif request.param == "oracle":
        with oracle_arena() as found:
            yield found
    else:
        server = request.getfixturevalue("postgresql_server")
        schema = request.getfixturevalue("postgresql_schema")
        with postgresql_arena(server, schema) as found:
            yield found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store" / "store.sqlite") as opened:
        yield opened
