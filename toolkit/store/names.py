"""What a user may call a run: its id, the beginning of it, `last`, or its label."""

from __future__ import annotations

from difflib import get_close_matches

from sqlalchemy import Connection, select

from toolkit.errors import ToolkitError
from toolkit.store import schema
from toolkit.store.part import StorePart

_LOOKED_AT = 500
_SAME_RUN = 0.9
_AFTER_ANY = "\x7f"
"""Sorts behind every character of a run id."""


class Names(StorePart):
    """Finds runs by name."""

    def resolve(self, ref: str) -> str:
        """Return the id of the run that a user means.

        Args:
            ref: a run id, a label (the newest run of it), a unique beginning of an id, or `last`.

        Raises:
            ToolkitError: TK-0109 when there is none, or more than one of that beginning.
        """
        with self._database.read() as connection:
            found = _exact(connection, ref) or _labelled(connection, ref) or _beginning(connection, ref)
            if found is None:
                raise _unknown(connection, ref)
        return found


def _exact(connection: Connection, ref: str) -> str | None:
    table = schema.run
    query = select(table.c.run)
    if ref == "last":
        return connection.execute(query.order_by(table.c.began_at.desc(), table.c.run.desc()).limit(1)).scalar()
    return connection.execute(query.where(table.c.run == ref)).scalar()


def _labelled(connection: Connection, ref: str) -> str | None:
    table = schema.run
    query = select(table.c.run).where(table.c.label == ref)
    return connection.execute(query.order_by(table.c.began_at.desc(), table.c.run.desc()).limit(1)).scalar()


def _beginning(connection: Connection, ref: str) -> str | None:
    if not ref:
        return None
    table = schema.run
    query = select(table.c.run).where(table.c.run >= ref, table.c.run < ref + _AFTER_ANY)
    found = connection.execute(query.order_by(table.c.run.desc()).limit(6)).scalars().all()
    if len(found) > 1:
        more = " ..." if len(found) > 5 else ""
        raise ToolkitError(
            f"several runs begin with `{ref}`",
            code="TK-0109",
            hint="write more of it: " + ", ".join(f"`{run}`" for run in found[:5]) + more,
        )
    return found[0] if found else None


def _unknown(connection: Connection, ref: str) -> ToolkitError:
    if ref == "last":
        return ToolkitError("no run is stored yet", code="TK-0109", hint="`dbatk demo` makes some")
    table = schema.run
    query = select(table.c.run, table.c.label).order_by(table.c.began_at.desc()).limit(_LOOKED_AT)
    found = connection.execute(query).all()
    labels = dict.fromkeys(row.label for row in found if row.label)
    # Runs of one day differ in a few characters only: another one is meant only where next to nothing differs.
    near = get_close_matches(ref, [row.run for row in found], n=1, cutoff=_SAME_RUN)
    near = near or get_close_matches(ref, labels, n=3, cutoff=0.5)
    hint = "did you mean " + " or ".join(f"`{word}`" for word in near) + "?" if near else None
    return ToolkitError(f"no run is called `{ref}`", code="TK-0109", hint=hint)
