"""What bears the name of a job's object after a kill, and is another one, is not taken for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.arena import Arena, postgresql_arena
from tests.servers import forks
from tests.servers.postgresql import Server
from toolkit.model.words import Outcome
from toolkit.store import open_store

pytestmark = pytest.mark.postgresql

BUILT = {
    "a key of its own": "CREATE INDEX made ON {0}.gtest (id)",
    "unique": "CREATE UNIQUE INDEX made ON {0}.gtest (k, id)",
    "another table": "CREATE INDEX made ON {0}.other (k, id)",
    "included": "CREATE INDEX made ON {0}.gtest (k) INCLUDE (id)",
}
FILLED = {"fewer columns": "id", "another name": "id, idname, k AS amount"}


@pytest.fixture
def arena(postgresql_server: Server, postgresql_schema: str) -> Iterator[Arena]:
    with postgresql_arena(postgresql_server, postgresql_schema) as found:
        yield found


def killed_then(arena: Arena, store: Path, job: dict[str, object], words: str, anew: str) -> str:
    """Kill a job just before it makes its object, let somebody make it, and resume; return what that said."""
    told = {"url": arena.url, "store": str(store), "factors": {"degree": [1]}, "mode": "job", "die_with": words}
    forks.run("tests.runner.driver", json.dumps(told | job))
    arena.ask(anew)
    with open_store(store) as opened:
        (head,) = opened.list_runs()
    told = {"url": arena.url, "store": str(store), "resume": head.run}
    said = forks.run("tests.runner.driver", json.dumps(told))
    with open_store(store) as opened:
        trials = opened.load_run(head.run).trials
    assert (said.returncode == 0) is any(trial.outcome is Outcome.OK for trial in trials), said.stderr
    return said.stdout + said.stderr


def index(arena: Arena, name: str = "made") -> dict[str, object]:
    return {
        "operation": "index-build",
        "options": {"table": f"{arena.schema}.gtest", "columns": ["k", "id"], "name": name},
    }


def table(arena: Arena) -> dict[str, object]:
    options = {"source": f"{arena.schema}.gtest", "table": f"{arena.schema}.made"}
    return {"operation": "ctas", "options": options}


@pytest.mark.parametrize("case", BUILT)
def test_another_index_is_not_found_complete(arena: Arena, tmp_path: Path, case: str) -> None:
    arena.ask(f"CREATE TABLE {arena.schema}.other AS SELECT k, id FROM {arena.schema}.gtest")
    anew = BUILT[case].format(arena.schema)
    said = killed_then(arena, tmp_path / "store.sqlite", index(arena), "CREATE INDEX", anew)
    assert "is not what this run would have made" in said, said


@pytest.mark.parametrize("case", FILLED)
def test_another_table_is_not_found_complete(arena: Arena, tmp_path: Path, case: str) -> None:
    anew = f"CREATE TABLE {arena.schema}.made AS SELECT {FILLED[case]} FROM {arena.schema}.gtest"
    said = killed_then(arena, tmp_path / "store.sqlite", table(arena), "CREATE TABLE", anew)
    assert "is not what this run would have made" in said, said


@pytest.mark.parametrize("what", ["index", "table"])
def test_what_the_run_would_have_made_is_found_complete(arena: Arena, tmp_path: Path, what: str) -> None:
    job, words, anew = {
        "index": (index(arena), "CREATE INDEX", f"CREATE INDEX made ON {arena.schema}.gtest (k, id)"),
        "table": (table(arena), "CREATE TABLE", f"CREATE TABLE {arena.schema}.made AS TABLE {arena.schema}.gtest"),
    }[what]
    said = killed_then(arena, tmp_path / "store.sqlite", job, words, anew)
    assert "would have made" not in said
