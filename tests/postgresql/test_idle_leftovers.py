"""Sessions of a run that was cut off, and changed nothing that its journal holds, are ended by `clean`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from tests.engines.arena import Heard
from tests.postgresql.helpers import target_of
from tests.servers.postgresql import Server
from tests.store.make import head
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.runs.repair import clean
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Mode, Role, RunState
from toolkit.runner.leftovers import end_sessions_of_others
from toolkit.store import open_store

pytestmark = pytest.mark.postgresql


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.DONE])
def test_clean_ends_the_idle_sessions_of_a_run_without_open_entries(
    postgresql_server: Server, postgresql_schema: str, tmp_path: Path, state: RunState
) -> None:
    """A network that was cut as a run ended in order leaves its sessions, too, with the database's lock."""
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".t AS SELECT 1 AS id'.encode())
    options = {"table": f"{postgresql_schema}.t"}
    gather = Experiment(postgresql_server.url, "stats-gather", options, (Factor("degree", (1,)),), Mode.JOB)
    with open_store(tmp_path / "store.sqlite") as store:
        approvals, target = Approvals(not_production=True), target_of(postgresql_server)
        run = start(gather, target, store=store, approvals=approvals, events=Heard())
        store.end_run(run, state, datetime.now(UTC))
        with postgresql_server.connect() as left:
            left.execute("SELECT set_config('application_name', %s, false)", [run])
            left.execute("SELECT pg_advisory_lock(1684169835, 1)")
            report = clean(target, run=None, store=store, events=Heard())
            assert report.left == ()
            with pytest.raises(psycopg.OperationalError):
                left.execute("SELECT 1")


@pytest.mark.parametrize(("known", "idle"), [(False, True), (True, True), (False, False)])
def test_clean_names_a_session_that_waits_for_a_run_of_another_store(
    postgresql_server: Server, tmp_path: Path, known: bool, idle: bool
) -> None:
    """Cut off before its run was stored, or its store was lost: no journal knows it, and it may hold the lock."""
    run, target = "20260101-000000-abcd", target_of(postgresql_server)
    with open_store(tmp_path / "store.sqlite") as store, postgresql_server.connect() as left:
        if known:
            store.create_run(head(run))
        left.execute("SELECT set_config('application_name', %s, false)", [run])
        if not idle:
            left.autocommit = False
            left.execute("SELECT 1")
        report = clean(target, run=None, store=store, events=Heard())
        left.execute("SELECT 1")
        said = [sentence for sentence in report.others.at_work if run in sentence]
        pid = left.info.backend_pid
    assert report.left == report.others.left == ()
    if known or not idle:
        assert said == []
        return
    (sentence,) = said
    assert f"pid {pid}" in sentence and "is not in this store" in sentence
    assert f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {pid} " in sentence


def test_the_refusal_for_a_run_of_another_store_says_how_to_end_one_that_is_gone(
    postgresql_server: Server, postgresql_schema: str, tmp_path: Path
) -> None:
    options = {"table": f"{postgresql_schema}.t"}
    gather = Experiment(postgresql_server.url, "stats-gather", options, (Factor("degree", (1,)),), Mode.JOB)
    with open_store(tmp_path / "store.sqlite") as store, postgresql_server.connect() as left:
        left.execute(f'CREATE TABLE "{postgresql_schema}".t AS SELECT 1 AS id'.encode())
        left.execute("SELECT set_config('application_name', '20260101-000000-abcd', false)")
        left.execute("SELECT pg_advisory_lock(1684169835, 1)")
        with pytest.raises(ToolkitError) as caught:
            start(gather, target_of(postgresql_server), store=store, approvals=Approvals(not_production=True),
                  events=Heard())  # fmt: skip
    assert caught.value.code == "TK-0302"
    assert "`dbatk clean` names the session" in str(caught.value.hint)


def test_the_look_at_who_blocks_is_not_ended_with_the_sessions_of_a_lost_host(postgresql_server: Server) -> None:
    target, dialect = target_of(postgresql_server), dialect_of("postgresql")
    ours, lost = Sessions(target, "20260101-000000-abcd"), Sessions(target, "20260101-000000-abcd")
    try:
        ours.get(Role.CONTROL)
        ours._blockers._ask()
        assert ours._blockers.identity is not None
        lost.get(Role.WORKER)
        assert end_sessions_of_others(target, dialect, "20260101-000000-abcd", ours.ids) == 1
        ours._blockers._ask()
        assert ours._blockers._how is not None, "it was not refused"
    finally:
        ours.close()
        lost.close()
