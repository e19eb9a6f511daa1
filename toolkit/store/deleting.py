"""Delete whole runs, but none that still owes something to a database or is at work."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from toolkit.errors import ToolkitError
from toolkit.store import schema
from toolkit.store.journal import OPEN_STATES
from toolkit.store.leases import refuse_live
from toolkit.store.part import StorePart, require_run


class Deleting(StorePart):
    """Deletes runs."""

    def delete_run(self, run: str) -> None:
        """Delete a run and the child runs of a plan, with everything kept of them.

        Raises:
            ToolkitError: TK-0109 when no such run is stored, TK-0302 when a live process works on it,
                TK-0307 when entries of its journal are open. Nothing is deleted then.
        """
        with self._database.write(f"run `{run}`") as connection:
            self._database.serialize(connection)
            require_run(connection, run)
            family = _family(connection, run)
            now = self._database.now(connection)
            for each in family:
                refuse_live(connection, each, now)
                _refuse_open_entries(connection, each)
            for each in family:
                connection.execute(schema.lease.delete().where(schema.lease.c.run == each))
                connection.execute(schema.run.delete().where(schema.run.c.run == each))


def _family(connection: Connection, run: str) -> list[str]:
    """Return the run and all runs below it."""
    tree = select(schema.run.c.run).where(schema.run.c.run == run).cte("family", recursive=True)
    tree = tree.union(select(schema.run.c.run).where(schema.run.c.parent_run == tree.c.run))
    return list(connection.execute(select(tree.c.run)).scalars())


def _refuse_open_entries(connection: Connection, run: str) -> None:
    table = schema.journal
    query = select(func.count()).select_from(table).where(table.c.run == run, table.c.state.in_(OPEN_STATES))
    entries = connection.execute(query).scalar_one()
    if entries:
        raise ToolkitError(
            f"run `{run}` has {entries} change(s) of the database still to be undone",
            code="TK-0307",
            hint=f"`dbatk clean --run {run}` first",
        )
