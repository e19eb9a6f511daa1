"""Who holds a lock, in words: of a session, a prepared transaction, a server process, or one that is not shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.dialects.postgresql.locks import lock_waits
from toolkit.model.values import Row


def told(*rows: Row) -> str:
    how = lock_waits({}).blocked_by
    assert how is not None
    return how.tell(rows)


def row(**given: object) -> Row:
    return {
        "session_id": "7", "blocker": "12", "backend_type": "client backend", "user_name": "ann",
        "application_name": "psql", "state": "idle in transaction", "transaction_seconds": 61.0,
        "statement": "update t set a = 1", **given,
    }  # type: ignore[dict-item] # fmt: skip


def test_a_session_is_told_by_who_it_is_how_long_and_what_it_did() -> None:
    assert told(row()) == "pid 12 (user `ann`, application `psql`, in a transaction for 61.0 s, idle after UPDATE)"
    assert "running VACUUM" in told(row(state="active", statement="-- nightly\n/* x */ vacuum full t"))
    assert "running LOCK" in told(
        row(state="active", statement="begin isolation level serializable; lock table t")
    )


def test_a_statement_that_is_made_to_take_long_to_read_is_read_at_once() -> None:
    """Nested ways to read the same comments would double with each of them."""
    assert told(row(state="active", statement="/**/" * 200 + "(select 1)")).endswith("61.0 s)")


def test_others_that_block_are_counted_once_each() -> None:
    assert told(row(), row(blocker="13"), row(blocker="13"), row()).endswith(" and 1 other session")
    assert told(row(), row(blocker="13"), row(blocker="14")).endswith(" and 2 other sessions")


def test_what_has_no_session_or_no_client_is_called_what_it_is() -> None:
    nothing = dict.fromkeys(("backend_type", "user_name", "application_name", "state", "transaction_seconds"))
    assert told(row(**nothing, blocker="0", statement=None)) == "a prepared transaction (pg_prepared_xacts)"
    worker = row(backend_type="autovacuum worker", user_name=None, application_name="", state="active",
                 statement="autovacuum: VACUUM public.t (to prevent wraparound)")  # fmt: skip
    assert told(worker) == "pid 12 (autovacuum worker, in a transaction for 61.0 s, running AUTOVACUUM)"


def test_what_a_session_of_another_user_does_is_not_guessed() -> None:
    hidden = row(backend_type=None, state=None, transaction_seconds=None, statement="<insufficient privilege>")
    assert told(hidden).endswith("user `ann`, application `psql`, what it does is shown with pg_read_all_stats)")
    gone = dict.fromkeys(("user_name", "application_name", "statement"))
    assert "pid 12 (" in told({**hidden, **gone})


@given(st.text(), st.text(), st.text(), st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)))
def test_whatever_others_call_themselves_it_is_one_printable_line(
    user: str, application: str, statement: str, spent: float | None
) -> None:
    sentence = told(
        row(user_name=user, application_name=application, statement=statement, transaction_seconds=spent)
    )
    assert sentence.isprintable() and len(sentence) < 1500


@for_each("statement", ["", "   ", "/* never ends", "'; DROP TABLE t", None])
def test_a_statement_without_a_first_word_is_left_out(statement: str | None) -> None:
    assert told(row(statement=statement)).endswith("in a transaction for 61.0 s)")
