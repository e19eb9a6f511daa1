"""The connection wrapper: what a refused, cancelled, lost or odd session looks like to the toolkit."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from tests.for_each import for_each
from tests.postgresql.helpers import RUN, Bench, target_of
from tests.servers.fixtures import missing
from tests.servers.postgresql import Server, begun_from, installed
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.executors.programs import Programs
from toolkit.model.address import Address
from toolkit.model.protocols import Connection, DatabaseError
from toolkit.model.steps import Step
from toolkit.model.words import Role, StepKind
from toolkit.targets.base import Access, SessionTag, UnheardError
from toolkit.targets.postgresql import PostgresqlTarget
from toolkit.targets.postgresql_way import cannot_connect

TAG = SessionTag(RUN)
CANARY = "canary-pa55word"


@pytest.fixture
def session(target: PostgresqlTarget) -> Iterator[Connection]:
    opened = target.connect(Role.CONTROL, TAG)
    yield opened
    opened.close()


def address_of(server: Server, **more: object) -> Address:
    given = {"database": server.database, "user": server.user, "host": server.host, "port": server.port, **more}
    return Address("postgresql", **given)


def refused(address: Address, password: str | None = None) -> ToolkitError:
    with pytest.raises(ToolkitError) as caught:
        PostgresqlTarget(Access(address, lambda: password)).connect(Role.CONTROL, TAG)
    assert caught.value.code == "TK-0201"
    assert CANARY not in f"{caught.value.message}{caught.value.hint}{caught.value!r}"
    assert caught.value.__suppress_context__
    return caught.value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# -- connecting -------------------------------------------------------------------------------------------------
def test_a_port_without_a_server_is_said_to_have_none() -> None:
    error = refused(Address("postgresql", "db", "me", "127.0.0.1", free_port()))
    assert "no server listens there" in error.hint


def test_a_server_that_says_no_in_any_language_was_heard_and_one_that_says_nothing_was_not() -> None:
    at = 'connection failed: connection to server at "h" (10.0.0.1), port 5432 failed: '
    address = Address("postgresql", "db", "me", "h", 5432)
    said = ("FATAL:  sorry, too many clients already", "ВАЖНО:  извините, уже слишком много клиентов")
    for text in said:
        assert not isinstance(cannot_connect(address, psycopg.OperationalError(at + text)), UnheardError)
    timeout = cannot_connect(address, psycopg.errors.ConnectionTimeout("zu spät"))
    assert isinstance(timeout, UnheardError) and timeout.timed_out
    closed = cannot_connect(address, psycopg.OperationalError(at + "Connection refused"))
    assert isinstance(closed, UnheardError) and not closed.timed_out


def test_an_unknown_host_is_said_to_be_unknown() -> None:
    error = refused(Address("postgresql", "db", "me", "no-such-host.invalid", 5432))
    assert "unknown host" in error.hint


def test_an_unknown_database_is_named(postgresql_server: Server) -> None:
    error = refused(address_of(postgresql_server, database="nowhere"))
    assert "nowhere" in error.message
    assert "the database does not exist" in error.hint


def test_an_unknown_user_is_named(postgresql_server: Server) -> None:
    assert "user does not exist" in refused(address_of(postgresql_server, user="nobody_here")).hint


def test_a_wrong_or_missing_password_is_told_apart_and_never_shown(
    postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    if postgresql_server.password_user is None:
        pytest.skip("the server given by URL has no user with a password of ours")
    monkeypatch.delenv("PGPASSWORD", raising=False)
    address = address_of(postgresql_server, user=postgresql_server.password_user)
    assert "user or password is wrong" in refused(address, CANARY).hint
    assert "password source" in refused(address).hint
    target = PostgresqlTarget(Access(address, lambda: postgresql_server.password))
    with_password = target.connect(Role.CONTROL, TAG)
    assert with_password.execute("SELECT current_user AS me").rows == ({"me": postgresql_server.password_user},)
    with_password.close()


def test_a_password_in_the_url_is_refused_before_connecting() -> None:
    address = Address("postgresql", "db", "me", "127.0.0.1", 1, (("password", CANARY),))
    with pytest.raises(ToolkitError) as caught:
        PostgresqlTarget(Access(address)).connect(Role.CONTROL, TAG)
    assert caught.value.code == "TK-0108"
    assert CANARY not in caught.value.message


def test_an_unknown_parameter_is_the_users_mistake(postgresql_server: Server) -> None:
    address = address_of(postgresql_server, parameters=(("sslmod", "require"),))
    with pytest.raises(ToolkitError) as caught:
        PostgresqlTarget(Access(address)).connect(Role.CONTROL, TAG)
    assert (caught.value.code, "sslmod" in caught.value.message) == ("TK-0102", True)


def test_a_missing_driver_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ToolkitError) as caught:
        PostgresqlTarget(Access(Address("postgresql", "db"))).connect(Role.CONTROL, TAG)
    assert caught.value.code == "TK-0206"
    assert "dbatk[postgresql]" in caught.value.hint


def test_too_many_clients_are_said_to_be_too_many() -> None:
    for_ten = {"max_connections": "4", "superuser_reserved_connections": "0", "max_wal_senders": "0"}
    with own_server(for_ten) as server:
        target = target_of(server)
        opened: list[Connection] = []
        try:
            with pytest.raises(ToolkitError) as caught:
                opened.extend(target.connect(Role.WORKER, TAG) for _ in range(9))
        finally:
            for each in opened:
                each.close()
        assert "all connections are in use" in caught.value.hint
        assert not isinstance(caught.value, UnheardError)


def own_server(settings: dict[str, str] | None = None):
    folders = installed()
    if not folders:
        missing("postgresql", "no server binaries here")
    return begun_from(next(iter(folders.values())), settings)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("db", "u", "LocalHost", None), ("db", "v", "127.0.0.1", 5432), True),
        (("db", "u", None, None), ("db", "u", "localhost", 5432), True),
        (("db", "u", "h", 5432), ("db", "u", "h", 5433), False),
        (("db", "u", "h", None), ("db2", "u", "h", None), False),
    ],
)
def test_the_lease_key_is_equal_for_the_same_database(
    one: tuple, other: tuple, same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGHOST", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    keys = [PostgresqlTarget(Access(Address("postgresql", *each))).lease_key for each in (one, other)]
    assert (keys[0] == keys[1]) is same


@pytest.mark.parametrize(
    ("host", "local"), [(None, True), ("127.0.0.1", True), ("db.example", False), ("/tmp", True)]
)
def test_a_server_is_local_when_its_address_says_so(
    host: str | None, local: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGHOST", raising=False)
    target = PostgresqlTarget(Access(Address("postgresql", "db", "me", host)))
    assert target.local is local


# -- sessions ---------------------------------------------------------------------------------------------------
def test_a_session_bears_the_runs_id_and_its_time_outs(session: Connection) -> None:
    rows = session.execute(
        "SELECT name, setting FROM pg_settings WHERE name IN ('application_name', 'lock_timeout', "
        "'statement_timeout', 'client_connection_check_interval') ORDER BY name"
    ).rows
    assert {row["name"]: row["setting"] for row in rows} == {
        "application_name": RUN, "client_connection_check_interval": "2000", "lock_timeout": "60000",
        "statement_timeout": "0",
    }  # fmt: skip
    assert session.identity == f"pid {session.execute('SELECT pg_backend_pid() AS pid').rows[0]['pid']}"


def test_a_service_file_leads_no_program_to_another_server_than_the_sessions(
    postgresql_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "service").write_text(
        "[elsewhere]\nhost=127.0.0.1\nport=1\nuser=me\ndbname=other\nsslmode=allow\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "service"))
    monkeypatch.setenv("PGSERVICE", "elsewhere")
    target = PostgresqlTarget(Access(address_of(postgresql_server)))
    target.connect(Role.CONTROL, TAG).close()
    show = "print(i.port, i.dbname, i.user, i.get_parameters()['sslmode'])"
    text = f"import psycopg; i = psycopg.connect('').info; {show}"
    step = Step("engine/tool", "", kind=StepKind.COMMAND, argv=(sys.executable, "-c", text))
    answer = Programs(RUN).run(step, target.programs_access(RUN), lambda name, status, lines: None)
    assert [line.text for line in answer.lines] == [
        f"{postgresql_server.port} {postgresql_server.database} {postgresql_server.user} allow"
    ]


def test_a_session_whose_network_was_cut_is_ended_by_the_server(session: Connection) -> None:
    """It waits for us and sends nothing: only TCP can find out that nobody is there any more."""
    rows = session.execute(
        "SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp%' AND inet_server_addr() IS NOT NULL"
    ).rows
    assert {row["name"]: row["setting"] for row in rows} == {
        "tcp_keepalives_idle": "60", "tcp_keepalives_interval": "15", "tcp_keepalives_count": "4",
        "tcp_user_timeout": "120000",
    }  # fmt: skip


def test_a_read_only_session_changes_nothing(target: PostgresqlTarget) -> None:
    session = target.connect(Role.CONTROL, TAG, read_only=True)
    with pytest.raises(DatabaseError) as caught:
        session.execute("CREATE TABLE public.never (a int)")
    assert caught.value.code == "25006"
    session.close()


def test_no_session_prepares_what_a_pooler_would_send_to_another_one(target: PostgresqlTarget) -> None:
    asked = "SELECT count(*) AS prepared FROM pg_prepared_statements WHERE name <> :none"
    found = []
    for role in (Role.MONITOR, Role.WORKER):
        with closing(target.connect(role, TAG)) as session:
            found.append([session.execute(asked, {"none": ""}).rows[0]["prepared"] for _ in range(3)])
    assert found == [[0, 0, 0], [0, 0, 0]]


def test_values_come_back_as_plain_scalars_under_lower_case_names(session: Connection) -> None:
    row = session.execute(
        "SELECT 1.50::numeric AS \"Half\", 3::numeric AS whole, timestamptz '2026-01-02 03:04:05+02' AS at, "
        "date '2026-01-02' AS day, true AS yes, NULL AS nothing, ARRAY[1, 2] AS list, '{\"a\": [1]}'::jsonb AS doc"
    ).rows[0]
    assert row == {
        "half": 1.5, "whole": 3, "at": "2026-01-02T01:04:05+00:00", "day": "2026-01-02", "yes": True,
        "nothing": None, "list": "[1, 2]", "doc": '{"a": [1]}',
    }  # fmt: skip
    assert isinstance(row["whole"], int)


def test_binds_are_values_and_never_text_of_the_statement(session: Connection) -> None:
    evil = "'; DROP TABLE x; --%s"
    rows = session.execute("SELECT :evil::text AS same, '50%' AS part, ':evil' AS left_alone", {"evil": evil}).rows
    assert rows == ({"same": evil, "part": "50%", "left_alone": ":evil"},)


def test_notices_belong_to_the_statement_that_raised_them(session: Connection) -> None:
    first = session.execute("DO 'BEGIN RAISE NOTICE ''look here''; END'")
    assert first.notices == ("look here",)
    assert session.execute("SELECT 1 AS one").notices == ()


def test_an_error_ends_its_transaction_and_leaves_the_session_usable(session: Connection) -> None:
    session.execute("BEGIN")
    with pytest.raises(DatabaseError) as caught:
        session.execute("SELECT * FROM nowhere")
    assert (caught.value.code, caught.value.lost, caught.value.cancelled) == ("42P01", False, False)
    assert session.execute("SELECT 1 AS one").rows == ({"one": 1},)


def test_a_commit_that_commits_nothing_is_an_error(
    target: PostgresqlTarget,
) -> None:
    with closing(target.connect(Role.WORKER, SessionTag(RUN))) as session:
        session.execute("BEGIN")
        session.execute("COMMIT")
        with pytest.raises(DatabaseError, match="nothing was committed") as caught:
            session.execute("COMMIT")
        assert caught.value.code == "25P01"
        session.execute("SET client_min_messages = error")  # so that no warning tells
        with pytest.raises(DatabaseError, match="nothing was committed"):
            session.execute("COMMIT")
        session.execute("BEGIN")
        with suppress(psycopg.Error):
            session.driver.execute("SELECT 1/0")
        with pytest.raises(DatabaseError, match="nothing was committed"):  # the server would answer ROLLBACK
            session.execute("COMMIT")
        assert session.execute("SELECT 1 AS one").rows == ({"one": 1},)


def test_every_statement_is_shown_before_it_is_sent(target: PostgresqlTarget, session: Connection) -> None:
    seen: list[str] = []
    target.observer = seen.append
    with pytest.raises(DatabaseError):
        session.execute("SELECT nonsense")
    assert seen == ["SELECT nonsense"]


# -- cancel and loss --------------------------------------------------------------------------------------------
def in_thread(action: Callable[[], object]) -> tuple[threading.Thread, list[DatabaseError]]:
    errors: list[DatabaseError] = []

    def run() -> None:
        try:
            action()
        except DatabaseError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, errors


def wait_until_active(monitor: Connection, session: Connection) -> None:
    pid = int(session.identity.removeprefix("pid "))
    query = "SELECT count(*) AS n FROM pg_stat_activity WHERE pid = :pid AND state = 'active'"
    while monitor.execute(query, {"pid": pid}).rows[0]["n"] == 0:
        pass


LONG = "SELECT pg_sleep(60)"


def test_a_cancel_from_another_thread_ends_the_statement_and_not_the_session(context: Bench) -> None:
    thread, errors = in_thread(lambda: context.worker.execute(LONG))
    wait_until_active(context.monitor, context.worker)
    context.worker.cancel()
    thread.join()
    assert [(error.code, error.cancelled, error.lost) for error in errors] == [("57014", True, False)]
    assert context.worker.execute("SELECT 1 AS one").rows == ({"one": 1},)


def test_a_cancel_when_nothing_runs_never_hits_the_next_statement(context: Bench) -> None:
    for number in range(50):
        context.worker.cancel()
        assert context.worker.execute(f"SELECT {number} AS n").rows == ({"n": number},)


def test_a_session_ended_by_an_administrator_is_lost(context: Bench) -> None:
    thread, errors = in_thread(lambda: context.worker.execute(LONG))
    wait_until_active(context.monitor, context.worker)
    context.control.execute("SELECT pg_terminate_backend(:pid::int)", {"pid": context.worker.identity[4:]})
    thread.join()
    assert [(error.code, error.lost) for error in errors] == [("57P01", True)]
    context.worker.cancel()
    context.worker.close()
    context.worker.close()
    with pytest.raises(DatabaseError) as caught:
        context.worker.execute("SELECT 1")
    assert caught.value.lost


def test_a_server_killed_in_the_middle_is_a_lost_session() -> None:
    with own_server() as server:
        target = target_of(server)
        worker, monitor = target.connect(Role.WORKER, TAG), target.connect(Role.MONITOR, TAG)
        thread, errors = in_thread(lambda: worker.execute(LONG))
        wait_until_active(monitor, worker)
        assert server.process is not None
        victims = server.backends()
        server.process.kill()
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        thread.join()
        assert [error.lost for error in errors] == [True]
        with pytest.raises(DatabaseError) as caught:
            monitor.execute("SELECT 1")
        assert caught.value.lost
        for each in (worker, monitor):
            each.cancel()
            each.close()


def test_a_close_ends_the_statement_that_another_thread_waits_for(context: Bench) -> None:
    thread, errors = in_thread(lambda: context.worker.execute(LONG))
    wait_until_active(context.monitor, context.worker)
    context.worker.close()
    thread.join()
    assert [error.lost for error in errors] == [True]
    with pytest.raises(DatabaseError):
        context.worker.execute("SELECT 1")


@for_each(
    ("said", "hint"),
    [
        ('FATAL:  database "no" does not exist', "the database does not exist"),
        ('FATAL:  role "no" does not exist', "the user does not exist"),
        ("FATAL:  the database system is starting up", "starting up or recovering"),
        (
            "FATAL:  the database system is not yet accepting connections\n"
            "DETAIL:  Consistent recovery state has not been yet reached.",
            "starting up or recovering",
        ),
        (
            "FATAL:  the database system is not accepting connections\nDETAIL:  Hot standby mode is disabled.",
            "connect to the primary",
        ),
        ("FATAL:  the database system is shutting down", "shutting down"),
        ("FATAL:  the database system is in recovery mode", "starting up or recovering"),
        ('FATAL:  role "x" is not permitted to log in', "no LOGIN"),
        ('FATAL:  die Datenbank "x" ist anders', "check host, port, service"),
    ],
)
def test_the_hint_is_of_what_the_server_said(said: str, hint: str) -> None:
    text = f'connection failed: connection to server at "127.0.0.1", port 5432 failed: {said}'
    error = cannot_connect(Address("postgresql", "db", "me", "127.0.0.1"), psycopg.OperationalError(text))
    assert hint in str(error.hint)
    assert "FATAL" in error.message


def advice_after(server: Server, *statements: str) -> str:
    """Return what is advised on the error of the last of some statements."""
    session = target_of(server).connect(Role.CONTROL, SessionTag("advised"))
    try:
        for text in statements[:-1]:
            session.execute(text)
        with pytest.raises(DatabaseError) as caught:
            session.execute(statements[-1])
    finally:
        session.close()
    found = DIALECT.explain(caught.value.code, caught.value.message)
    assert found is not None
    return found.advice


def test_a_text_without_an_operator_class_for_gin_is_told_of_trigrams(postgresql_server: Server) -> None:
    made = "CREATE TEMPORARY TABLE words (word text)"
    assert "gin_trgm_ops" in advice_after(postgresql_server, made, "CREATE INDEX ON words USING gin (word)")
    missing = advice_after(postgresql_server, "SELECT NULL::no_such_type")
    assert "gin_trgm_ops" not in missing


def test_a_role_that_is_read_only_is_not_sent_to_another_server_first(postgresql_server: Server) -> None:
    read_only = "SET default_transaction_read_only = on"
    advised = advice_after(postgresql_server, read_only, "CREATE TABLE never_made (id integer)")
    assert "default_transaction_read_only" in advised.partition("primary")[0]
