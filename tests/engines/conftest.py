"""Every engine the suites of this folder run on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines.arena import Arena, duckdb_arena, host_arena, oracle_arena, postgresql_arena
from tests.engines.test_operations import experiment, names, run
from toolkit.model.experiment import OptionValue
from toolkit.model.records import RunRecord
from toolkit.model.values import Level
from toolkit.model.words import Mode
from toolkit.store import open_store
from toolkit.store.store import Store

Made = Callable[..., RunRecord]
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


@pytest.fixture
def load(arena: Arena, store: Store, tmp_path: Path) -> Made:
    """Load files by a job into the table `filled`, made anew."""
    if arena.engine not in ("duckdb", "postgresql"):
        pytest.skip("loads of files on this engine have suites of their own")
    into = f"{arena.schema}.filled"

    def made(
        *files: Path, levels: dict[str, tuple[Level, ...]] | None = None, **options: OptionValue
    ) -> RunRecord:
        arena.ask(f"DROP TABLE IF EXISTS {into}")
        arena.ask(f"CREATE TABLE {into} (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40), k SMALLINT)")
        wanted = names(arena, table="filled") | {"files": tuple(map(str, files))} | options
        return run(arena, store, experiment(arena, "load", wanted, mode=Mode.JOB, **(levels or {})))

    return made
