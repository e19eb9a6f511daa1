"""What PostgreSQL answers, as plain rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from toolkit.model.values import Row, Scalar
from toolkit.targets.base import plain, plain_rows

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow


_COMMAND_OK = 1
"""libpq's `PGRES_COMMAND_OK` (`psycopg.pq.ExecStatus`)."""


def rows_of(cursor: psycopg.Cursor[TupleRow]) -> tuple[tuple[Row, ...], int | None]:
    """Return the rows of an answer, none of a statement that returns none, and the server's count of rows."""
    count = cursor.rowcount if cursor.rowcount >= 0 else None
    if cursor.description is None:
        return (), count
    return plain_rows([column.name for column in cursor.description], cursor.fetchall(), _spelled), count


def completed(session: psycopg.Connection[TupleRow], text: str) -> tuple[tuple[Row, ...], int | None]:
    """Run a statement without parameters that returns no rows, by one call of libpq: cheaper than a cursor.

    It is for a thread of its own: a signal does not end the wait, a request to cancel does.

    Returns:
        As `rows_of`.

    Raises:
        psycopg.Error: as a cursor does.
    """
    result = session.pgconn.exec_(text.encode(session.info.encoding))
    if result.status != _COMMAND_OK:
        from psycopg.errors import error_from_result

        raise error_from_result(result, encoding=session.info.encoding)
    return (), result.command_tuples


def _spelled(value: object) -> Scalar:
    """Spell arrays and documents as JSON: a scalar is all that a row may hold."""
    return json.dumps(value, default=str) if isinstance(value, list | dict) else plain(value)


def register_texts(session: psycopg.Connection[TupleRow]) -> None:
    """Take documents as the text the server sent, a plan among them."""
    from psycopg.types.string import TextLoader

    for name in ("json", "jsonb", "xml"):
        session.adapters.register_loader(name, TextLoader)
