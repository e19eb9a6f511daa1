"""Runs that leave a store or come into it whole: the document of `runs export`, and runs that others measured.

`format` counts the versions of the document. Keys of trials are numbered anew in it, so that a run gives the same
bytes wherever it is stored.

| format | what changed |
| --- | --- |
| 1 | first; keys of trials were those of the store, so that it could not be imported |
| 2 | trials are numbered from 1; `sha256` of the tables |
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NoReturn

from sqlalchemy import Boolean, Column, Connection, Double, Integer, LargeBinary, Table, select
from sqlalchemy.exc import DataError, IntegrityError

from toolkit.errors import ToolkitError
from toolkit.model.records import RunRecord
from toolkit.model.words import RunState
from toolkit.store import rows, schema
from toolkit.store.database import StorePart, require_run
from toolkit.store.journal import OPEN_STATES
from toolkit.store.reading import read_run
from toolkit.store.rows import instant_of, instant_text
from toolkit.store.runs import run_row

KIND, FORMAT = "dbatk run", 2
_OF_RUN = (schema.artifact, schema.environment, schema.facts, schema.journal, schema.warning)
_OF_TRIAL = (schema.trial_factor, schema.item, schema.phase, schema.metric, schema.sample)
_TABLES = (schema.run, schema.trial, *_OF_TRIAL, *_OF_RUN)
_AGAIN = "export the run again, and give the file as it was written"
_KINDS = ((Boolean, (bool,)), (Integer, (int,)), (Double, (int, float)), (LargeBinary, ()), (schema.Instant, ()))
"""What JSON holds of a column; text of all others."""
Tables = Mapping[str, list[dict[str, object]]]


class Exchange(StorePart):
    """Gives runs away and takes them."""

    def export_run(self, run: str) -> bytes:
        """Return a run as one JSON document (UTF-8), its rows by table; leases and snapshots stay behind.

        `schema_version` counts the versions of the tables.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        with self._database.read() as connection:
            require_run(connection, run)
            return _document(connection, run)

    def import_run(self, content: bytes) -> str:
        """Store what `export_run` gave, all of it or nothing; return the run's id.

        The document that this run gives afterwards is compared with the one that came before anything is kept.

        Raises:
            ToolkitError: TK-0117 for a damaged document, one of another format, a run that is at work or has
                changes to undo, and a run that is stored already.
        """
        document = _read(content)
        run, tables = str(document["run"]), _rows_read(document["tables"])
        _refuse_unended(run, tables)
        with self._database.write(f"run `{run}`") as connection:
            self._database.serialize(connection)
            refuse_stored(connection, run)
            try:
                _insert(connection, tables)
                read_run(connection, run)
                same = json.loads(_document(connection, run)) == document
            except (ValueError, KeyError, TypeError, OverflowError, ToolkitError, IntegrityError, DataError):
                same = False
            if not same:
                _refuse("the document does not hold together: a run in it is damaged")
        return run

    def put_runs(self, runs: Sequence[RunRecord]) -> None:
        """Store runs that others measured, with all their trials: all of them or, where anything fails, none.

        Args:
            runs: the name of each artifact begins with what tells its file from all others, before the last `/`.

        Raises:
            ToolkitError: TK-0117 when one of them, or a file of one, is stored.
        """
        with self._database.write("the runs") as connection:
            self._database.serialize(connection)
            for each in runs:
                refuse_stored(connection, each.head.run)
                _refuse_known(connection, each)
            for each in runs:
                _put(connection, each)


# -- out ----------------------------------------------------------------------------------------------------------
def _document(connection: Connection, run: str) -> bytes:
    query = select(schema.trial.c.trial_id).where(schema.trial.c.run == run).order_by(schema.trial.c.trial_id)
    numbers = {key: number for number, key in enumerate(connection.execute(query).scalars(), 1)}
    tables = {table.name: _rows_of(connection, table, run, numbers) for table in _TABLES}
    document = {
        "kind": KIND,
        "format": FORMAT,
        "schema_version": schema.SCHEMA_VERSION,
        "run": run,
        "sha256": _digest(tables),
        "tables": tables,
    }
    return json.dumps(document).encode()


def _digest(tables: object) -> str:
    return hashlib.sha256(json.dumps(tables).encode()).hexdigest()


def _rows_of(
    connection: Connection, table: Table, run: str, numbers: Mapping[int, int]
) -> list[dict[str, object]]:
    """Return the rows of a run in one table, in an order that does not depend on how a server sorts text."""
    query = select(table)
    if table in _OF_TRIAL:
        query = query.join(schema.trial, schema.trial.c.trial_id == table.c.trial_id)
        query = query.where(schema.trial.c.run == run)
    else:
        query = query.where(table.c.run == run)
    found = [{name: _plain(value) for name, value in row._mapping.items()} for row in connection.execute(query)]
    for row in found:
        if "trial_id" in row:
            row["trial_id"] = numbers[int(str(row["trial_id"]))]
    keys = [column.name for column in table.primary_key.columns]
    return sorted(found, key=lambda row: tuple(row[key] for key in keys))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return instant_text(value)
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value


# -- in -----------------------------------------------------------------------------------------------------------
def _read(content: bytes) -> dict[str, object]:
    """Return a document of this format whose tables are as they were written."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        line = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        _refuse(f"the document of a run is damaged or cut off{line}")
    if not isinstance(document, dict) or document.get("kind") != KIND:
        _refuse("this is not the document of a run")
    for name, known in (("format", FORMAT), ("schema_version", schema.SCHEMA_VERSION)):
        found = document.get(name)
        if not isinstance(found, int) or isinstance(found, bool):
            _refuse(f"the document of a run is damaged: its `{name}` cannot be read")
        if found > known:
            _refuse(f"a newer dbatk wrote this run ({name} {found}, this one reads {known})", "upgrade dbatk")
        if found < known:
            _refuse(
                f"an older dbatk wrote this run ({name} {found}, this one reads {known})",
                "open its store with this dbatk and export the run again",
            )
    if set(document) != {"kind", "format", "schema_version", "run", "sha256", "tables"}:
        _refuse("the document of a run is damaged: keys are missing or unknown")
    if document["sha256"] != _digest(document["tables"]):
        _refuse("the document of a run was altered: its tables do not fit their `sha256`")
    return document


def _rows_read(tables: object) -> Tables:
    """Return rows as the database takes them."""
    if not isinstance(tables, dict) or set(tables) != {table.name for table in _TABLES}:
        _refuse("the document of a run is damaged: tables are missing or unknown")
    return {table.name: [_row(table, row) for row in _list(tables[table.name])] for table in _TABLES}


def _row(table: Table, row: object) -> dict[str, object]:
    if not isinstance(row, dict) or set(row) != set(table.c.keys()):
        _refuse(f"the document of a run is damaged: a row of `{table.name}` has other columns")
    return {column.name: _value(table, column, row[column.name]) for column in table.c}


def _value(table: Table, column: Column[object], value: object) -> object:
    kind = column.type
    try:
        if value is None and column.nullable:
            return None
        if isinstance(value, str) and isinstance(kind, LargeBinary):
            return base64.b64decode(value, validate=True)
        if isinstance(value, str) and isinstance(kind, schema.Instant):
            return instant_of(value)
    except ValueError:
        _refuse(f"the document of a run is damaged: `{column.name}` of `{table.name}` cannot be read")
    kinds = next((known for of, known in _KINDS if isinstance(kind, of)), (str,))
    if type(value) not in kinds:
        _refuse(f"the document of a run is damaged: `{column.name}` of `{table.name}` cannot be read")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        _refuse("the document of a run is damaged: a table is not a list")
    return value


def _refuse_unended(run: str, tables: Tables) -> None:
    """Refuse what is still to be done where the run took place, lest statements of a file are run by `clean`."""
    if any(row["state"] == RunState.RUNNING.value for row in tables["run"]):
        _refuse(f"run `{run}` had not ended when it was exported", "export it again when it has")
    if any(row["state"] in OPEN_STATES for row in tables["journal"]):
        _refuse(
            f"run `{run}` had changes of a database not yet undone when it was exported",
            f"`dbatk clean --run {run}` where it ran, then export it again",
        )


def _insert(connection: Connection, tables: Tables) -> None:
    numbers: dict[object, int] = {}
    for table in _TABLES:
        for row in tables[table.name]:
            if table is schema.trial:
                own = {name: value for name, value in row.items() if name != "trial_id"}
                numbers[row["trial_id"]] = rows.new_key(connection.execute(table.insert(), own))
            elif table in _OF_TRIAL and row["trial_id"] not in numbers:
                _refuse(f"the document of a run is damaged: a row of `{table.name}` belongs to no trial")
        if table is not schema.trial and tables[table.name]:
            own_rows = [
                row | {"trial_id": numbers[row["trial_id"]]} if table in _OF_TRIAL else row
                for row in tables[table.name]
            ]
            connection.execute(table.insert(), own_rows)


def refuse_stored(connection: Connection, run: str) -> None:
    """Refuse a run that is stored already.

    Raises:
        ToolkitError: TK-0117.
    """
    if connection.execute(select(schema.run.c.run).where(schema.run.c.run == run)).first() is not None:
        _refuse(f"run `{run}` is already stored", "nothing was changed; `dbatk runs show` shows it")


def _refuse_known(connection: Connection, record: RunRecord) -> None:
    """Refuse a file that a stored run was taken from."""
    for each in record.artifacts:
        name = schema.artifact.c.name
        query = select(schema.artifact.c.run).where(name.startswith(f"{each.name.rpartition('/')[0]}/"))
        for run in connection.execute(query).scalars():
            _refuse(
                f"`{each.name.rpartition('/')[2]}` was imported before, as run `{run}`",
                f"nothing was changed; `dbatk runs delete {run}` first to import it anew",
            )


def _put(connection: Connection, record: RunRecord) -> None:
    run = record.head.run
    connection.execute(schema.run.insert(), run_row(record.head))
    for trial in record.trials:
        key = rows.new_key(connection.execute(schema.trial.insert(), rows.trial_row(run, trial)))
        for table, found in (
            (schema.trial_factor, rows.factor_rows(key, trial.cell)),
            (schema.metric, rows.metric_rows(key, trial.metrics)),
        ):
            if found:
                connection.execute(table.insert(), found)
    for position, (name, value) in enumerate(record.environment.items()):
        text, kind = rows.pack(value)
        row = {"run": run, "position": position, "name": name, "value": text, "value_type": kind}
        connection.execute(schema.environment.insert(), row)
    for position, sentence in enumerate(record.warnings):
        row = {"run": run, "position": position, "text": sentence, "warned_at": record.head.began_at}
        connection.execute(schema.warning.insert(), row)
    for each in record.artifacts:
        row = {
            "run": run,
            "trial": each.trial or 0,
            "name": each.name,
            "media_type": each.media_type,
            "size_bytes": len(each.content),
            "content": each.content,
        }
        connection.execute(schema.artifact.insert(), row)


def _refuse(sentence: str, hint: str = _AGAIN) -> NoReturn:
    raise ToolkitError(sentence, code="TK-0117", hint=hint)
