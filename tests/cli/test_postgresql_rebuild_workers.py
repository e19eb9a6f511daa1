"""`parallel_workers` of tables whose indexes are rebuilt: set for the run, put back, also after a kill."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.engines.arena import ROWS, Arena, postgresql_arena
from tests.servers import forks
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit.app.runs.repair import clean
from toolkit.executors import sessions
from toolkit.model.protocols import Event
from toolkit.model.steps import Step
from toolkit.store import open_store

pytestmark = pytest.mark.postgresql


class Told:
    def emit(self, event: Event) -> None:
        """Forget it."""


@pytest.fixture
def arena(postgresql_server: Server, postgresql_schema: str) -> Iterator[Arena]:
    """Two tables with indexes; one has a value of its own for the parameter."""
    with postgresql_arena(postgresql_server, postgresql_schema) as found:
        found.ask(f"CREATE TABLE {found.schema}.beside (i int PRIMARY KEY) WITH (parallel_workers = 1)")
        found.ask(f"INSERT INTO {found.schema}.beside SELECT generate_series(1, {ROWS})")
        yield found


def parameters(arena: Arena) -> dict[str, str | None]:
    rows = arena.ask(
        "SELECT relname, array_to_string(reloptions, ',') FROM pg_class WHERE relkind = 'r' "
        f"AND relname IN ('gtest', 'beside') AND relnamespace = '{arena.schema}'::regnamespace"
    )
    return {str(name): value or None for name, value in rows}


BEFORE = {"gtest": None, "beside": "parallel_workers=1"}
DURING = {"gtest": "parallel_workers=3", "beside": "parallel_workers=3"}


@pytest.mark.thin(2)
@pytest.mark.parametrize("form", thinned(["schema", "table", "index"], 2))
def test_tables_have_the_workers_while_their_indexes_are_rebuilt_and_their_own_again_after(
    arena: Arena, dbatk: Dbatk, postgresql_url: str, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    name = {"schema": arena.schema, "table": f"{arena.schema}.beside", "index": f"{arena.schema}.beside_pkey"}[
        form
    ]
    seen: list[dict[str, str | None]] = []
    real = sessions.Sessions.run

    def looking(self: sessions.Sessions, step: Step, number: int = 0) -> object:
        if step.text.startswith("REINDEX"):
            seen.append(parameters(arena))
        return real(self, step, number)

    monkeypatch.setattr(sessions.Sessions, "run", looking)
    line = ("index", "rebuild", "-t", postgresql_url, f"--{form}", name, "--not-production")
    answer = dbatk(*line, "--degree", "4", "--parallel-workers", "3", "--restore", "found", "--json")
    assert answer.status in (0, 3), answer.out + answer.err  # small indexes are built without workers
    (trial,) = json.loads(answer.out)["trials"]
    assert {item["outcome"] for item in trial["items"]} <= {"ok", "downgraded"}
    assert seen
    changed = DURING if form == "schema" else DURING | {"gtest": None}
    assert all(each == changed for each in seen)
    assert parameters(arena) == BEFORE
    shown = " ".join(dbatk("report", "last").out.split())
    assert "parallel_workers of `beside` is 3 during the run, and set back to 1 when it ends" in shown


@pytest.mark.parametrize("ending", ["resume", "clean"])
def test_after_a_kill_each_table_gets_its_own_value_back(arena: Arena, tmp_path: Path, ending: str) -> None:
    store = tmp_path / "store.sqlite"
    told = {"url": arena.url, "store": str(store)}
    job = {
        "operation": "index-rebuild",
        "options": {"schema": [arena.schema], "parallel_workers": 3, "restore": "found"},
        "factors": {"degree": [4]},
        "mode": "job",
        "die_with": "REINDEX INDEX",
    }
    killed = forks.run("tests.runner.driver", json.dumps(told | job))
    assert killed.returncode < 0, (killed.stdout, killed.stderr)
    assert parameters(arena) == DURING
    with open_store(store) as opened:
        (head,) = opened.list_runs()
        if ending == "clean":
            clean(arena.target(), run=head.run, store=opened, events=Told())
    if ending == "resume":
        resumed = forks.run("tests.runner.driver", json.dumps(told | {"resume": head.run}))
        assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)
    assert parameters(arena) == BEFORE
    with open_store(store) as opened:
        assert opened.journal(head.run).open_entries() == ()


def test_a_measurement_sets_it_on_the_copies_only(arena: Arena, dbatk: Dbatk, postgresql_url: str) -> None:
    line = ("index", "rebuild", "-t", postgresql_url, "--schema", arena.schema, "--not-production")
    script = dbatk(*line, "--degree", "2,4", "--repeat", "1", "--parallel-workers", "3", "--dry-run").out
    changes = [line for line in script.splitlines() if line.startswith("ALTER TABLE")]
    assert changes
    assert all('"dbatk_' in line and "SET (parallel_workers = 3)" in line for line in changes)
    assert "during the run" not in script


def test_who_does_not_own_a_table_of_the_schema_is_told_which(
    arena: Arena, dbatk: Dbatk, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = postgresql_server.password_user
    arena.ask(f"GRANT USAGE, CREATE ON SCHEMA {arena.schema} TO {user}")
    monkeypatch.setenv("DBATK_PASSWORD", str(postgresql_server.password))
    url = f"postgresql://{user}@{postgresql_server.host}:{postgresql_server.port}/{postgresql_server.database}"
    line = ("index", "rebuild", "-t", url, "--table", f"{arena.schema}.beside", "--not-production")
    answer = dbatk(*line, "--parallel-workers", "3")
    assert (answer.status, "only the owner of `beside`" in answer.err) == (5, True), answer.err
