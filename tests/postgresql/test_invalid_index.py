"""An index whose CREATE INDEX CONCURRENTLY was cut off is not done: where it is ours, it is built again."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.engines.arena import Arena, postgresql_arena
from tests.servers import forks
from tests.servers.postgresql import Server
from toolkit.app.runs.repair import clean
from toolkit.model.protocols import Event
from toolkit.model.words import Outcome
from toolkit.store import open_store

pytestmark = pytest.mark.postgresql

_DEADLINE_SECONDS = 120.0
_BUILDING = "SELECT 1 FROM pg_stat_activity WHERE query ~ '^CREATE INDEX CONC'"


class Told:
    def emit(self, event: Event) -> None:
        """Forget it."""


@pytest.fixture
def arena(postgresql_server: Server, postgresql_schema: str) -> Iterator[Arena]:
    with postgresql_arena(postgresql_server, postgresql_schema) as found:
        yield found


def state_of(arena: Arena) -> object:
    """Return whether the index is valid; None while it is not there."""
    rows = arena.ask(
        "SELECT indisvalid FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid "
        f"WHERE c.relname = 'made' AND c.relnamespace = '{arena.schema}'::regnamespace"
    )
    return rows[0][0] if rows else None


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not what():
        assert time.monotonic() < deadline
        os.sched_yield()


def building(arena: Arena, store: Path) -> dict[str, object]:
    """What the driver is told: to build the index online, as a job."""
    return {
        "url": arena.url,
        "store": str(store),
        "operation": "index-build",
        "options": {"table": f"{arena.schema}.gtest", "columns": ["k"], "name": "made", "online": True},
        "factors": {"degree": [1]},
        "mode": "job",
    }


@contextmanager
def killed_while_building(arena: Arena, server: Server, store: Path, *, ends: bool) -> Iterator[str]:
    """Kill a client whose CREATE INDEX CONCURRENTLY waits for a writer; with `ends` after the index is valid."""
    told = building(arena, store)
    with server.connect() as writer, forks.Forked("tests.runner.driver", json.dumps(told)) as client:
        writer.autocommit = False
        writer.execute(f"INSERT INTO {arena.schema}.gtest VALUES (0, 'x', 0)".encode())
        client.stdout.readline()
        wait_for(lambda: state_of(arena) is False)
        if ends:
            os.kill(client.pid, signal.SIGSTOP)
            writer.commit()
            wait_for(lambda: state_of(arena) is True)
        os.kill(client.pid, signal.SIGKILL)
        client.wait(300)
        if not ends:  # as a restart of the server would
            arena.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ '^CREATE INDEX CONC'")
            wait_for(lambda: not arena.ask(_BUILDING))
            writer.rollback()
        with open_store(store) as opened:
            (head,) = opened.list_runs()
        yield head.run


def resume(arena: Arena, store: Path, run: str) -> None:
    resumed = forks.run("tests.runner.driver", json.dumps({"url": arena.url, "store": str(store), "resume": run}))
    assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)


def sweep_up(arena: Arena, store: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    with open_store(store) as opened:
        report = clean(arena.target(), run=None, store=opened, events=Told())
    return report.done, report.left


@pytest.mark.parametrize("order", ["resume", "clean, resume"])
def test_an_index_that_was_cut_off_is_built_again(
    arena: Arena, postgresql_server: Server, tmp_path: Path, order: str
) -> None:
    store = tmp_path / "store.sqlite"
    with killed_while_building(arena, postgresql_server, store, ends=False) as run:
        refused = forks.run("tests.runner.driver", json.dumps(building(arena, tmp_path / "other.sqlite")))
        assert (
            f"`{arena.schema}.made` already exists as index that is not valid" in refused.stdout + refused.stderr
        )
        if order == "clean, resume":
            done, left = sweep_up(arena, store)
            assert ["made" in sentence and "not valid" in sentence for sentence in done] == [True]
            assert left == ()
            assert state_of(arena) is None
    resume(arena, store, run)
    assert state_of(arena) is True
    with open_store(store) as opened:
        last = opened.load_run(run).trials[-1]
        assert opened.journal(run).open_entries() == ()
    assert last.outcome is Outcome.OK
    assert last.elapsed_seconds is not None


@pytest.mark.parametrize("order", ["resume", "clean, resume"])
def test_an_index_that_the_server_ended_without_its_client_is_done(
    arena: Arena, postgresql_server: Server, tmp_path: Path, order: str
) -> None:
    store = tmp_path / "store.sqlite"
    with killed_while_building(arena, postgresql_server, store, ends=True) as run:
        if order == "clean, resume":
            assert sweep_up(arena, store)[1] == ()
            assert state_of(arena) is True
    resume(arena, store, run)
    assert state_of(arena) is True
    with open_store(store) as opened:
        last = opened.load_run(run).trials[-1]
    assert last.outcome is Outcome.OK
    assert "done before the interruption" in (last.reason or "")
