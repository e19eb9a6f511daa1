"""What the parts of the store share."""

from __future__ import annotations

from sqlalchemy import Connection, select

from toolkit.errors import ToolkitError
from toolkit.store import schema
from toolkit.store.database import Database


class StorePart:
    """One side of the store: a few methods on the same database."""

    def __init__(self, database: Database) -> None:
        self._database = database


def require_run(connection: Connection, run: str) -> None:
    """Refuse a run that is not in this store.

    Raises:
        ToolkitError: TK-0109.
    """
    if connection.execute(select(schema.run.c.run).where(schema.run.c.run == run)).first() is None:
        raise unknown_run(run)


def unknown_run(run: str) -> ToolkitError:
    """Say that no such run is stored."""
    return ToolkitError(f"run `{run}` is not in this store", code="TK-0109")
