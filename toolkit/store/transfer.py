"""Take a run out of one store and put it into another: one JSON document with its rows, table by table.

`format` counts the versions of the document, `schema_version` those of the tables. Leases stay behind. Changes
that the exporting store still has to undo arrive as abandoned: only one store may undo them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Boolean, Connection, Double, Integer, LargeBinary, Select, Table, select

from toolkit.errors import ToolkitError
from toolkit.model.words import EntryState
from toolkit.store import rows, schema
from toolkit.store.database import StorePart, require_run
from toolkit.store.journal import OPEN_STATES
from toolkit.store.reading import read_run
from toolkit.store.rows import instant_of, instant_text

FORMAT = 1
_KIND = "dbatk run"
_OF_RUN = (schema.artifact, schema.environment, schema.facts, schema.journal, schema.warning)
_OF_TRIAL = (schema.trial_factor, schema.item, schema.phase, schema.metric, schema.sample)
_RENAMED = {("journal", "ours"): "scratch"}
"""Columns that documents of older versions name otherwise."""
_Rows = list[dict[str, object]]


class Transfer(StorePart):
    """Exports and imports runs."""

    def export_run(self, run: str) -> bytes:
        """Return a run as a JSON document (UTF-8) that `import_run` of any store takes.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        with self._database.read() as connection:
            require_run(connection, run)
            tables = {table.name: _rows(connection, _select(table, run)) for table in _tables()}
        document = {
            "kind": _KIND,
            "format": FORMAT,
            "schema_version": schema.SCHEMA_VERSION,
            "run": run,
            "tables": tables,
        }
        return json.dumps(document).encode()

    def import_run(self, document: bytes) -> str:
        """Put an exported run into this store and return its id.

        Raises:
            ToolkitError: TK-0106 when the document is damaged or not an exported run, TK-0403 when a newer version
                wrote it, TK-0901 when the run is stored already. Nothing is changed then.
        """
        try:
            tables = _checked(document)
            run = str(tables["run"][0]["run"])
            with self._database.write(f"run `{run}`") as connection:
                _put(connection, tables)
                read_run(connection, run)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise _damaged(str(error)) from error
        return run


def _tables() -> tuple[Table, ...]:
    return (schema.run, schema.trial, *_OF_TRIAL, *_OF_RUN)


def _select(table: Table, run: str) -> Select[*tuple[object, ...]]:
    order = table.primary_key.columns
    if table in _OF_TRIAL:
        joined = select(table).join(schema.trial, schema.trial.c.trial_id == table.c.trial_id)
        return joined.where(schema.trial.c.run == run).order_by(*order)
    return select(table).where(table.c.run == run).order_by(*order)


def _rows(connection: Connection, query: Select[*tuple[object, ...]]) -> _Rows:
    return [{name: _plain(value) for name, value in row._mapping.items()} for row in connection.execute(query)]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return instant_text(value)
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value


def _checked(document: bytes) -> Mapping[str, _Rows]:
    """Return the rows of a document by table, with the columns of this version and values of their types."""
    read = json.loads(document)
    if not isinstance(read, dict) or read.get("kind") != _KIND:
        raise _damaged("it is not an exported run")
    newest = (FORMAT, schema.SCHEMA_VERSION)
    if read["format"] > newest[0] or read["schema_version"] > newest[1]:
        raise ToolkitError("the document was written by a newer version of dbatk", code="TK-0403")
    tables = {table.name: [_row(table, row) for row in read["tables"].get(table.name, [])] for table in _tables()}
    if len(tables["run"]) != 1:
        raise _damaged("it does not contain exactly one run")
    run = tables["run"][0]["run"]
    strangers = [row for table in (schema.trial, *_OF_RUN) for row in tables[table.name] if row["run"] != run]
    if strangers:
        raise _damaged("it contains rows of another run")
    return tables


def _row(table: Table, row: Mapping[str, object]) -> dict[str, object]:
    known = {column.name for column in table.columns}
    named = {_RENAMED.get((table.name, name), name): value for name, value in row.items()}
    return {name: _value(table, name, value) for name, value in named.items() if name in known}


def _value(table: Table, name: str, value: object) -> object:
    """Return a value as its column takes it.

    Raises:
        ValueError: it is none of the column's type.
    """
    column = table.columns[name]
    if value is None:
        return None
    if isinstance(column.type, Integer | Boolean | Double):
        right = isinstance(value, int) or (isinstance(column.type, Double) and isinstance(value, float))
    else:
        right = isinstance(value, str)
    if not right:
        raise ValueError(f"`{name}` of `{table.name}` has a wrong type")
    if isinstance(column.type, schema.Instant):
        return instant_of(str(value))
    return base64.b64decode(str(value), validate=True) if isinstance(column.type, LargeBinary) else value


def _put(connection: Connection, tables: Mapping[str, _Rows]) -> None:
    connection.execute(schema.run.insert(), tables["run"])
    keys = {row.pop("trial_id"): _put_trial(connection, row) for row in tables["trial"]}
    for table in _OF_TRIAL:
        _insert(connection, table, [row | {"trial_id": keys[row["trial_id"]]} for row in tables[table.name]])
    for row in tables["journal"]:
        if row["state"] in OPEN_STATES:
            row["state"] = EntryState.ABANDONED.value
    for table in _OF_RUN:
        _insert(connection, table, tables[table.name])


def _put_trial(connection: Connection, row: Mapping[str, object]) -> int:
    done = connection.execute(schema.trial.insert(), dict(row))
    return rows.new_key(done)


def _insert(connection: Connection, table: Table, new: Sequence[dict[str, object]]) -> None:
    if new:
        connection.execute(table.insert(), list(new))


def _damaged(reason: str) -> ToolkitError:
    return ToolkitError(
        f"the document cannot be imported: {reason}",
        code="TK-0106",
        hint="use a file written by `dbatk runs export`",
    )
