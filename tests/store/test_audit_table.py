"""The audit log of a store in PostgreSQL: in the store, one for all hosts, by a role that may only add to it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.servers.postgresql import Server
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.store import open_store
from toolkit.store.audit import AuditLog
from toolkit.store.audit_check import verify, verify_since_sealed

pytestmark = pytest.mark.postgresql
FREE = "ALTER TABLE dbatk.audit_line DISABLE TRIGGER ALL"


@pytest.fixture
def log(emptied_postgresql: str) -> Iterator[AuditLog]:
    """A log of six lines."""
    with open_store(emptied_postgresql) as store:
        note(store.audit, 5)
        yield store.audit


def note(log: AuditLog, count: int) -> None:
    for at in range(count):
        log.write(AuditEvent(AuditKind.STEP, step=f"s{at}", outcome="done"))


def change(server: Server, *statements: str) -> None:
    with server.connect() as session:
        for statement in statements:
            session.execute(statement)


def test_it_is_whole_in_order_and_read_from_both_ends(log: AuditLog) -> None:
    assert (verify(log).whole, verify(log).lines) == (True, 6)
    assert [each.number for each in log.events()] == [6, 5, 4, 3, 2, 1]
    assert log.mark is not None and log.mark.lines == 6 and "audit_line of postgresql://" in log.shown


def test_hosts_write_one_log_at_once_whatever_isolation_their_role_begins_with(
    log: AuditLog, emptied_postgresql: str, postgresql_server: Server
) -> None:
    name = emptied_postgresql.rpartition("/")[2].partition("?")[0]
    change(postgresql_server, f'ALTER DATABASE "{name}" SET default_transaction_isolation = "serializable"')
    try:
        with open_store(emptied_postgresql) as other, ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda one: note(one, 6), [log, other.audit, log, other.audit]))
        verdict = verify(log)
        assert verdict.whole and verdict.lines == 6 + 24, verdict.faults
    finally:
        change(postgresql_server, f'ALTER DATABASE "{name}" RESET default_transaction_isolation')


@pytest.mark.parametrize("statement", ["UPDATE dbatk.audit_line SET line = ''", "DELETE FROM dbatk.audit_line",
                                       "TRUNCATE dbatk.audit_line"])  # fmt: skip
def test_a_mistaken_change_is_refused_by_the_server(
    log: AuditLog, postgresql_server: Server, statement: str
) -> None:
    with pytest.raises(psycopg.Error, match="lines of the audit log are only added"):
        change(postgresql_server, statement)
    assert verify(log).lines == 6


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM dbatk.audit_line WHERE number > 4", "lines are missing: the store recorded 7 lines of it"),
        ("UPDATE dbatk.audit_line SET line = replace(line, 'done', 'gone') WHERE number = 3", "it was altered: "),
        (
            "UPDATE dbatk.audit_line SET line = replace(line, '{', '{ ') WHERE number = 7",
            "it was altered: the store",
        ),
        ("DELETE FROM dbatk.audit_line WHERE number = 3", "it was altered: line 3 refers to"),
        ("DELETE FROM dbatk.audit_line", "is missing: the store recorded 7 lines of it"),
    ],
)
def test_what_an_owner_changes_is_found_before_and_behind_the_seal(
    log: AuditLog, postgresql_server: Server, statement: str, told: str
) -> None:
    assert verify_since_sealed(log).whole and log.seal is not None and log.seal.lines == 5
    note(log, 1)
    change(postgresql_server, FREE, statement)
    assert any(told in sentence for _, sentence in verify(log).faults), verify(log).faults
    assert any(told in sentence for _, sentence in verify_since_sealed(log).faults)
    note(log, 1)
    assert not verify(log).whole and not verify_since_sealed(log).whole


def test_what_was_found_whole_is_only_hashed_again(log: AuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify_since_sealed(log).whole
    note(log, 2)
    read: list[bytes] = []
    real = type(log).lines
    monkeypatch.setattr(
        type(log),
        "lines",
        lambda self, after=None: (read.append(one) or one for one in real(self, after)),  # type: ignore[func-returns-value]
    )
    assert verify_since_sealed(log).whole and len(read) == 3 + 1, "behind the seal, and the first"


def test_a_role_that_may_only_select_and_insert_writes_and_verifies(
    log: AuditLog, emptied_postgresql: str, postgresql_server: Server
) -> None:
    change(
        postgresql_server,
        "DROP ROLE IF EXISTS careful",
        "CREATE ROLE careful LOGIN",
        "GRANT USAGE ON SCHEMA dbatk TO careful",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA dbatk TO careful",
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA dbatk TO careful",
        "REVOKE UPDATE, DELETE ON dbatk.audit_line FROM careful",
    )
    try:
        before, _, after = emptied_postgresql.partition("://")
        with open_store(f"{before}://careful@{after.rpartition('@')[2]}") as store:
            note(store.audit, 2)
            assert verify_since_sealed(store.audit).whole and verify(log).lines == 8
        change(postgresql_server, "REVOKE INSERT ON dbatk.audit_line FROM careful")
        with (
            open_store(f"{before}://careful@{after.rpartition('@')[2]}") as store,
            pytest.raises(ToolkitError, match="the audit log cannot be written") as caught,
        ):
            note(store.audit, 1)
        assert caught.value.code == "TK-0314" and verify(log).lines == 8
    finally:
        change(postgresql_server, "DROP OWNED BY careful", "DROP ROLE careful")
