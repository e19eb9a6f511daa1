"""Locks of others: waited for as the user says, come back to, and never two stores at work on one database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engines.arena import Heard
from tests.postgresql.helpers import target_of
from tests.servers.postgresql import Server
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.runs.repair import clean
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Factor
from toolkit.model.words import Mode, OperationName, Role
from toolkit.rendering import sql_file
from toolkit.runner import Stop, trial
from toolkit.store import open_store
from toolkit.targets.base import SessionTag

pytestmark = pytest.mark.postgresql
_READ = "SELECT name, setting FROM pg_settings WHERE name = ANY (string_to_array(:names, ','))"
_WAITS = "SELECT pg_sleep(0.01) FROM pg_locks WHERE relation = %s::regclass AND NOT granted"
_LIMIT_SECONDS = 30.0
"""Half of what a lock is waited for."""
_NAMES = "statement_timeout,lock_timeout,default_transaction_read_only"


def job(server: Server, store: Path, operation: OperationName, options: dict[str, object],
        observe: Callable[[str], None] = lambda _: None, *more: Factor) -> list[tuple[str, str]]:  # fmt: skip
    """Run a job and return label and outcome of its items."""
    target = target_of(server)
    target.observer = observe
    experiment = Experiment(server.url, operation, options, (Factor("degree", (1,)), *more), Mode.JOB)  # type: ignore[arg-type]
    with open_store(store) as opened:
        run = start(experiment, target, store=opened, approvals=Approvals(not_production=True), events=Heard())
        (trial,) = opened.load_run(run).trials
        return [(item.label.rpartition(".")[2], item.outcome.value) for item in trial.items]


@pytest.fixture
def schema(postgresql_server: Server, postgresql_schema: str) -> str:
    with postgresql_server.connect() as session:
        for name, rows in (("big", 20_000), ("small", 100)):
            session.execute(
                f"CREATE TABLE {postgresql_schema}.{name} AS SELECT i AS id FROM generate_series(1, {rows}) i"
            )
            session.execute(f"CREATE INDEX {name}_ix ON {postgresql_schema}.{name} (id)")
    return postgresql_schema


def test_a_busy_index_is_come_back_to(postgresql_server: Server, schema: str, tmp_path: Path) -> None:
    with postgresql_server.connect() as writer:
        writer.autocommit = False
        writer.execute(f"INSERT INTO {schema}.big VALUES (0)")

        def observe(text: str) -> None:
            if text.startswith("REINDEX") and "small_ix" in text:
                writer.commit()

        items = job(
            postgresql_server, tmp_path / "store.sqlite", "index-rebuild",
            {"schema": schema, "lock_wait": "1s"}, observe,
        )  # fmt: skip
    assert sorted(items) == [("big_ix", "ok"), ("small_ix", "ok")]


_PARTITIONED = (
    "CREATE TABLE {0}.parted (id int) PARTITION BY RANGE (id)",
    "CREATE TABLE {0}.part PARTITION OF {0}.parted FOR VALUES FROM (1) TO (9)",
    "CREATE INDEX parted_ix ON {0}.parted ((id + 1))",
)


@pytest.mark.thin(3)
@pytest.mark.parametrize("operation", ["stats-gather", "index-rebuild"])
@pytest.mark.parametrize("locked", ["big", "part", "big_ix"])
def test_what_others_hold_alone_does_not_keep_the_rest_of_a_schema_from_its_work(
    postgresql_server: Server, schema: str, tmp_path: Path, operation: OperationName, locked: str
) -> None:
    with postgresql_server.connect() as holder:
        for text in _PARTITIONED:
            holder.execute(text.format(schema))
        holder.autocommit = False
        holder.execute(
            f"REINDEX INDEX {schema}.{locked}"
            if locked.endswith("_ix")
            else f"LOCK TABLE {schema}.{locked} IN ACCESS EXCLUSIVE MODE"
        )

        def observe(text: str) -> None:
            if ("REINDEX " in text or "ANALYZE " in text) and "small" in text:
                holder.commit()

        items = job(
            postgresql_server, tmp_path / "store.sqlite", operation, {"schema": schema, "lock_wait": "1s"}, observe
        )
    assert len(items) == 3
    assert {outcome for _, outcome in items} == {"ok"}


@pytest.mark.parametrize(
    ("operation", "options"),
    [
        ("ctas", {"query": "SELECT id FROM {}.big", "table": "{}.made"}),
        ("insert", {"source": "{}.small", "table": "{}.big"}),
        ("index-build", {"table": "{}.big", "columns": "id"}),
        ("index-rebuild", {"table": "{}.big"}),
        ("stats-gather", {"table": "{}.big"}),
    ],
    ids=["ctas", "insert", "index-build", "index-rebuild", "stats-gather"],
)
def test_a_run_that_is_asked_to_end_waits_for_no_lock_wherever_it_meets_one(
    operation: OperationName, options: dict[str, str], postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    given = {name: text.format(schema) for name, text in options.items()}
    experiment = Experiment(postgresql_server.url, operation, given, (Factor("degree", (1,)),), Mode.JOB)
    stop, ended, approvals = Stop(), list[str](), Approvals(not_production=True)

    def work() -> None:
        with open_store(tmp_path / "store.sqlite") as opened:
            try:
                start(
                    experiment, target_of(postgresql_server), store=opened, approvals=approvals, events=Heard(),
                    stop=stop,
                )  # fmt: skip
            except ToolkitError as error:
                ended.append(error.sentence)

    working = threading.Thread(target=work, daemon=True)
    with postgresql_server.connect() as holder, postgresql_server.connect() as looker:
        holder.autocommit = False
        holder.execute(f"LOCK TABLE {schema}.big IN ACCESS EXCLUSIVE MODE")
        try:
            working.start()
            while not looker.execute(_WAITS, [f"{schema}.big"]).fetchall():
                assert working.is_alive(), ended
            stop.request(ToolkitError("the window closed", code="TK-0310"))
            working.join(_LIMIT_SECONDS)
            assert ended == ["the window closed"], "while the lock is held"
        finally:
            holder.rollback()
            working.join()
        assert not looker.execute("SELECT to_regclass(%s)", [f"{schema}.made"]).fetchall()[0][0]


def test_an_index_that_stays_busy_fails_after_the_tries(
    postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    sent: list[str] = []
    with postgresql_server.connect() as writer:
        writer.autocommit = False
        writer.execute(f"INSERT INTO {schema}.big VALUES (0)")
        items = job(
            postgresql_server, tmp_path / "store.sqlite", "index-rebuild",
            {"schema": schema, "lock_wait": "0.1s", "lock_tries": 2}, sent.append,
        )  # fmt: skip
    assert sorted(items) == [("big_ix", "failed"), ("small_ix", "ok")]
    assert sum(text.startswith("REINDEX") and "big_ix" in text for text in sent) == 2


@pytest.mark.parametrize(
    "options", [{"table": "{}.big", "columns": "id"}, {"table": "{}.big"}], ids=["build", "rebuild"]
)
def test_what_is_read_before_the_work_waits_for_a_lock_as_asked(
    options: dict[str, str], postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    """Sizes and index texts are read under a lock of the table, a minute whatever `--lock-wait` said."""
    sent, given = list[str](), {name: text.format(schema) for name, text in options.items()}
    operation: OperationName = "index-build" if "columns" in options else "index-rebuild"
    with postgresql_server.connect() as holder:
        holder.autocommit = False
        holder.execute(f"LOCK TABLE {schema}.big IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(ToolkitError, match=r"the catalogue cannot be read .*lock timeout") as caught:
            job(
                postgresql_server,
                tmp_path / "store.sqlite",
                operation,
                {**given, "lock_wait": "0.05s"},
                sent.append,
            )
    assert caught.value.hint is not None and "--lock-wait" in caught.value.hint
    (limit,) = [text for text in sent if 'SET "lock_timeout"' in text]
    assert limit.endswith("= 50")


@pytest.mark.parametrize("taken", ["", "_ccnew"])
def test_an_index_that_is_rebuilt_online_is_not_sent_again_over_what_its_first_try_left(
    taken: str, postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    sent: list[str] = []
    with postgresql_server.connect() as session, postgresql_server.connect() as writer:
        if taken:  # by an index of the user's: what is left has a number then
            session.execute(f"CREATE INDEX big_ix{taken} ON {schema}.big (id)")
        writer.autocommit = False
        writer.execute(f"INSERT INTO {schema}.big VALUES (0)")

        def observe(text: str) -> None:
            sent.append(text)
            if "DROP INDEX" in text and "\nDO " in text:
                writer.rollback()

        items = job(
            postgresql_server, tmp_path / "store.sqlite", "index-rebuild",
            {"index": f"{schema}.big_ix", "lock_wait": "0.2s"}, observe, Factor("online", (True,)),
        )  # fmt: skip
        rows = session.execute(
            "SELECT i.relname, x.indisvalid FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid"
            " WHERE x.indrelid = %s::regclass", [f"{schema}.big"],
        ).fetchall()  # fmt: skip
    assert items == [("big_ix", "failed")]
    assert sum(text.startswith("REINDEX") for text in sent) == 1
    assert set(rows) == {("big_ix", True), (f"big_ix{taken}", True)}


@contextmanager
def role_with(server: Server, *settings: str) -> Iterator[Server]:
    with server.connect() as owner:
        owner.execute("CREATE ROLE strict LOGIN SUPERUSER")
        for setting in settings:
            owner.execute(f"ALTER ROLE strict SET {setting}".encode())
    try:
        yield replace(server, user="strict")
    finally:
        with server.connect() as owner:
            owner.execute("DROP ROLE strict")


def test_what_a_role_sets_is_kept(postgresql_server: Server) -> None:
    set_by_role = ("statement_timeout = '7s'", "lock_timeout = '3s'", "default_transaction_read_only = on")
    with role_with(postgresql_server, *set_by_role) as server:
        session = target_of(server).connect(Role.CONTROL, SessionTag("kept"))
        found = {row["name"]: row["setting"] for row in session.execute(_READ, {"names": _NAMES}).rows}
        session.close()
    assert found == {
        "statement_timeout": "7000", "lock_timeout": "3000", "default_transaction_read_only": "on",
    }  # fmt: skip


def test_a_statement_that_the_role_s_timeout_ended_failed_and_was_not_asked_to_end(
    postgresql_server: Server,
) -> None:
    with role_with(postgresql_server, "statement_timeout = '100ms'") as server:
        session = target_of(server).connect(Role.WORKER, SessionTag("kept"))
        with pytest.raises(DatabaseError) as caught:
            session.execute("SELECT pg_sleep(60)")
        session.close()
    assert (caught.value.code, caught.value.cancelled) == ("57014", False)


def test_a_cancel_that_nobody_here_asked_for_is_told_from_ours_whatever_language_the_server_speaks(
    postgresql_server: Server,
) -> None:
    session = target_of(postgresql_server).connect(Role.WORKER, SessionTag("kept"))
    timed_out = "DO 'BEGIN RAISE ''storniere Anfrage wegen Zeitüberschreitung'' USING ERRCODE = ''57014''; END'"
    with pytest.raises(DatabaseError) as caught:
        session.execute(timed_out)
    session.close()
    assert (caught.value.code, caught.value.cancelled) == ("57014", False)
    advice = dialect_of("postgresql").explain(caught.value.code, caught.value.message)
    assert advice is not None and "statement_timeout" in advice.meaning


def test_a_user_who_may_not_see_where_the_holder_is_is_told_an_unknown_host(postgresql_server: Server) -> None:
    with postgresql_server.connect() as owner:
        owner.execute("CREATE ROLE nobody_much LOGIN")
        try:
            owner.execute("SELECT pg_advisory_lock(1684169835, 1)")
            session = target_of(replace(postgresql_server, user="nobody_much")).connect(
                Role.CONTROL, SessionTag("other")
            )
            (hidden,) = session.execute(sql_file("postgresql", "claim")).rows
            session.close()
            with postgresql_server.connect() as seeing:
                shown = seeing.execute(sql_file("postgresql", "claim").encode()).fetchall()
        finally:
            owner.execute("DROP ROLE nobody_much")
    assert (hidden["taken"], hidden["host"]) == ("no", "unknown host")
    assert shown[0][3] in ("127.0.0.1", "the server")


def test_two_stores_do_not_work_on_one_database_at_once(
    postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    refused: list[ToolkitError] = []
    options = {"schema": schema}

    def observe(text: str) -> None:
        if text.startswith("REINDEX") and not refused:
            with pytest.raises(ToolkitError) as caught:
                job(postgresql_server, tmp_path / "other.sqlite", "index-rebuild", options)
            refused.append(caught.value)

    store = tmp_path / "store.sqlite"
    items = job(postgresql_server, store, "index-rebuild", options, observe)
    assert {outcome for _, outcome in items} == {"ok"}
    with open_store(store) as opened:
        (head,) = opened.list_runs()
    assert refused[0].code == "TK-0302"
    assert (
        f"run `{head.run}`, of another store or reached by another address, works on this database"
        in refused[0].message
    )
    assert "pid" in refused[0].message
    assert job(postgresql_server, tmp_path / "other.sqlite", "index-rebuild", options)


def test_clean_works_on_a_database_only_when_no_run_of_another_store_does(
    postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    store = tmp_path / "store.sqlite"
    job(postgresql_server, store, "index-rebuild", {"schema": schema})
    with open_store(store) as opened, postgresql_server.connect() as holder:
        (head,) = opened.list_runs()
        holder.execute("SET application_name = '20260101-000000-aaaa'")
        holder.execute("SELECT pg_advisory_lock(1684169835, 1)")
        with pytest.raises(ToolkitError) as caught:
            clean(target_of(postgresql_server), run=head.run, store=opened, events=Heard())
        assert caught.value.code == "TK-0302"
        assert "`20260101-000000-aaaa`, of another store or reached by another address" in caught.value.message
        holder.execute("SELECT pg_advisory_unlock(1684169835, 1)")
        assert clean(target_of(postgresql_server), run=head.run, store=opened, events=Heard()).left == ()


def test_a_table_that_is_locked_as_it_is_made_does_not_keep_its_window_open(
    postgresql_server: Server, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is held until the run has ended: only the run's end can end the wait for the new table's size."""
    stop, heard, read = Stop(), Heard(), trial._read_evidence
    target = target_of(postgresql_server)
    with postgresql_server.connect() as holder, open_store(tmp_path / "store.sqlite") as store:
        holder.autocommit = False

        def locked(*given: Any) -> None:
            holder.execute(f"LOCK TABLE {schema}.made IN ACCESS EXCLUSIVE MODE")
            stop.request(ToolkitError("the window closed", code="TK-0310"))
            read(*given)

        monkeypatch.setattr(trial, "_read_evidence", locked)
        options = {"query": f"SELECT * FROM {schema}.small", "table": f"{schema}.made"}
        experiment = Experiment(postgresql_server.url, "ctas", options, (Factor("degree", (1,)),), Mode.JOB)  # type: ignore[arg-type]
        policy = Approvals(not_production=True)
        record = store.load_run(start(experiment, target, store=store, approvals=policy, events=heard, stop=stop))
    assert [(each.outcome.value, each.error_code) for each in record.trials] == [("ok", None)]
    assert any("could not be read" in each and "user request" in each for each in record.warnings), record.warnings


@contextmanager
def _held(server: Server, table: str, application: str = "billing") -> Iterator[Any]:
    """Hold a table alone, in a session whose name is what somebody gave it."""
    with server.connect(application_name=application) as holder:
        holder.autocommit = False
        holder.execute(f"/* by hand */ LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")  # type: ignore[call-overload]
        yield holder


@pytest.mark.parametrize(
    ("operation", "options"),
    [
        ("index-rebuild", {"table": "{}.big"}),
        ("stats-gather", {"table": "{}.big"}),
        ("index-build", {"table": "{}.big", "columns": "id"}),
        ("ctas", {"source": "{}.big", "table": "{}.made"}),
    ],
    ids=["index-rebuild", "stats-gather", "index-build", "ctas"],
)
def test_who_holds_a_table_is_named_where_its_catalogue_cannot_be_read(
    operation: OperationName, options: dict[str, str], postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    given: dict[str, object] = {name: text.format(schema) for name, text in options.items()}
    sent: list[str] = []
    with _held(postgresql_server, f"{schema}.big") as holder, pytest.raises(ToolkitError) as raised:
        pid = holder.info.backend_pid
        job(
            postgresql_server, tmp_path / "store.sqlite", operation,
            {**given, "lock_wait": "1s", "lock_tries": 2}, sent.append,
        )  # fmt: skip
    told = raised.value.sentence
    assert f"it waited for pid {pid} (user `dbatk`, application `billing`, in a transaction for " in told
    assert "idle after LOCK" in told
    tried = sent.count(sql_file("postgresql", "relation"))
    assert tried in (2, 4), "of one or two tables, once for each of the tries"


def test_a_table_that_is_free_at_the_second_try_is_worked_on(
    postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    reads: list[str] = []
    with _held(postgresql_server, f"{schema}.big") as holder:

        def observe(text: str) -> None:
            reads.extend([text] if text == sql_file("postgresql", "relation") else [])
            if len(reads) == 2:
                holder.commit()

        items = job(
            postgresql_server, tmp_path / "store.sqlite", "stats-gather",
            {"table": f"{schema}.big", "lock_wait": "1s"}, observe,
        )  # fmt: skip
    assert items == [("big", "ok")]


def test_who_keeps_a_statement_from_its_lock_is_named_in_its_result(
    postgresql_server: Server, schema: str, tmp_path: Path
) -> None:
    target, store = target_of(postgresql_server), tmp_path / "store.sqlite"
    options = {"schema": schema, "lock_wait": "1s", "lock_tries": 1}
    with (
        open_store(store) as opened,
        postgresql_server.connect(application_name="pay\nroll <b>") as holder,
    ):
        holder.autocommit = False
        holder.execute(f"UPDATE {schema}.big SET id = id WHERE id < 9")  # type: ignore[call-overload]
        run = start(
            Experiment(postgresql_server.url, "index-rebuild", options, (Factor("degree", (1,)),), Mode.JOB),  # type: ignore[arg-type]
            target, store=opened, approvals=Approvals(not_production=True), events=Heard(),
        )  # fmt: skip
        pid = holder.info.backend_pid
        (trial_record,) = opened.load_run(run).trials
    told = {item.label.rpartition(".")[2]: item.reason or "" for item in trial_record.items}
    assert f"lock timeout; it waited for pid {pid} (user `dbatk`, application `" in told["big_ix"]
    assert "idle after UPDATE)" in told["big_ix"]
    assert "\n" not in told["big_ix"]
    assert told["small_ix"] == ""
