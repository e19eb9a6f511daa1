"""What PostgreSQL answers, as plain rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from toolkit.model.values import Row
from toolkit.targets.base import plain_rows

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow


def rows_of(cursor: psycopg.Cursor[TupleRow]) -> tuple[Row, ...]:
    """Return the rows of an answer; none of a statement that returns none."""
    if cursor.description is None:
        return ()
    return plain_rows([column.name for column in cursor.description], map(_jsonable, cursor.fetchall()))


def _jsonable(row: TupleRow) -> list[object]:
    """Spell arrays and documents as JSON: a scalar is all that a row may hold."""
    return [json.dumps(value, default=str) if isinstance(value, list | dict) else value for value in row]


def register_texts(session: psycopg.Connection[TupleRow]) -> None:
    """Take documents as the text the server sent, a plan among them."""
    from psycopg.types.string import TextLoader

    for name in ("json", "jsonb", "xml"):
        session.adapters.register_loader(name, TextLoader)
