"""Write trials: a mark before, everything known after, items the moment they end.

Each method is one transaction, durable when it returns. A mark without an end is how a killed trial is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Dialect, Table, func, select, update

from toolkit.errors import ToolkitError
from toolkit.model.records import ItemRecord, TrialMark, TrialRecord
from toolkit.model.values import Cell
from toolkit.store import rows, schema
from toolkit.store.database import StorePart
from toolkit.store.reading import ITEM_COLUMNS
from toolkit.store.rows import thin


class Trials(StorePart):
    """Writes trials."""

    def begin_trial(
        self, run: str, number: int, attempt: int, cell: Cell, repeat: int, began_at: datetime
    ) -> None:
        """Record that a trial begins.

        Raises:
            ToolkitError: TK-0901 when this attempt of the trial is stored, TK-0109 when its run is not.
        """
        row = rows.mark_row(run, TrialMark(number, attempt, cell, repeat, began_at))
        with self._database.write(_name(run, number, attempt)) as connection:
            _insert_trial(connection, row, cell)

    def end_trial(self, run: str, record: TrialRecord) -> None:
        """Record how a trial ended, with all that was measured.

        A trial that never began (skipped, unsupported) is stored as a whole. Items stored before are kept; where
        the record has one of the same label, the record's is the one that stays.

        Raises:
            ToolkitError: TK-0901 when the end of this attempt is stored, TK-0109 when its run is not.
        """
        with self._database.write(_name(run, record.trial, record.attempt)) as connection:
            trial_id = _end_mark(connection, run, record)
            if trial_id is None:
                trial_id = _insert_trial(connection, rows.trial_row(run, record), record.cell)
            _put_items(connection, trial_id, record.items)
            _insert(connection, schema.phase, rows.phase_rows(trial_id, record.phases))
            _insert(connection, schema.metric, rows.metric_rows(trial_id, record.metrics))
            _insert(connection, schema.sample, rows.sample_rows(trial_id, thin(record.samples)))

    def add_items(self, run: str, trial: int, attempt: int, items: Sequence[ItemRecord]) -> None:
        """Keep items of a trial the moment they ended: all of them or, where the store fails, none.

        Raises:
            ToolkitError: TK-0901 when this attempt of the trial did not begin.
        """
        what = " and others" if len(items) > 1 else ""
        with self._database.write(f"item `{items[0].label}`{what} of {_name(run, trial, attempt)}") as connection:
            trial_id = _trial_id(connection, run, trial, attempt)
            first = _next(connection, schema.item, trial_id)
            _insert(connection, schema.item, rows.item_rows(trial_id, items, first))

    def unended_trials(self, run: str) -> tuple[TrialMark, ...]:
        """Return the trials that began and of which no end is known, oldest first."""
        table = schema.trial
        query = select(table).where(table.c.run == run, table.c.outcome.is_(None)).order_by(table.c.trial_id)
        with self._database.read() as connection:
            marks = connection.execute(query).all()
            return tuple(
                TrialMark(each.trial, each.attempt, _cell(connection, each.trial_id), each.repeat, each.began_at)
                for each in marks
            )

    def items_by_attempt(self, run: str, trial: int) -> tuple[tuple[str | None, tuple[ItemRecord, ...]], ...]:
        """Return of each attempt of a trial that has items its error code and its items, in order."""
        query = (
            select(schema.item, schema.trial.c.trial_id.label("of"), schema.trial.c.error_code.label("because"))
            .join(schema.trial, schema.trial.c.trial_id == schema.item.c.trial_id)
            .where(schema.trial.c.run == run, schema.trial.c.trial == trial)
            .order_by(schema.item.c.trial_id, schema.item.c.position)
        )
        with self._database.read() as connection:
            found = list(connection.execute(query))
        attempts = groupby(found, key=lambda row: (row.of, row.because))
        return tuple((because, tuple(map(rows.item_of, each))) for (_, because), each in attempts)

    def items_of(self, run: str, trial: int) -> tuple[ItemRecord, ...]:
        """Return the items of all attempts of a trial in the order they ended."""
        query = (
            select(schema.item)
            .join(schema.trial, schema.trial.c.trial_id == schema.item.c.trial_id)
            .where(schema.trial.c.run == run, schema.trial.c.trial == trial)
            .order_by(schema.item.c.trial_id, schema.item.c.position)
        )
        with self._database.read() as connection:
            return tuple(rows.item_of(row) for row in connection.execute(query))


def _insert_trial(connection: Connection, row: dict[str, object], cell: Cell) -> int:
    done = connection.execute(schema.trial.insert(), row)
    trial_id = rows.new_key(done)
    _insert(connection, schema.trial_factor, rows.factor_rows(trial_id, cell))
    return trial_id


def _end_mark(connection: Connection, run: str, record: TrialRecord) -> int | None:
    """Fill in the end of a trial that began; None when it never did."""
    table = schema.trial
    query = select(table.c.trial_id, table.c.outcome).where(
        table.c.run == run, table.c.trial == record.trial, table.c.attempt == record.attempt
    )
    mark = connection.execute(query.with_for_update()).first()
    if mark is None:
        return None
    if mark.outcome is not None:
        raise ToolkitError(
            f"{_name(run, record.trial, record.attempt)} is already stored",
            code="TK-0901",
            hint="nothing was changed",
        )
    connection.execute(update(table).where(table.c.trial_id == mark.trial_id).values(rows.result_row(record)))
    return int(mark.trial_id)


def _put_items(connection: Connection, trial_id: int, items: Sequence[ItemRecord]) -> None:
    """Store the items of a record beside those stored before, in place of those that differ."""
    table, label = schema.item, ITEM_COLUMNS.index("label")
    query = select(table.c.position, *(table.c[name] for name in ITEM_COLUMNS)).where(table.c.trial_id == trial_id)
    stored = {at: tuple(values) for at, *values in connection.execute(query)}
    wanted = [tuple([row[name] for name in ITEM_COLUMNS]) for row in rows.item_rows(trial_id, items)]
    kept, labels = set(wanted), {values[label] for values in wanted}
    replaced = [at for at, values in stored.items() if values[label] in labels and values not in kept]
    if replaced:
        connection.execute(table.delete().where(table.c.trial_id == trial_id, table.c.position.in_(replaced)))
    there = set(stored.values())
    if new := [item for item, values in zip(items, wanted, strict=True) if values not in there]:
        _insert(connection, table, rows.item_rows(trial_id, new, _next(connection, table, trial_id)))


def _cell(connection: Connection, trial_id: int) -> Cell:
    table = schema.trial_factor
    query = select(table).where(table.c.trial_id == trial_id).order_by(table.c.position)
    return Cell(tuple((row.factor, rows.level_of(row.level, row.level_type)) for row in connection.execute(query)))


def _trial_id(connection: Connection, run: str, trial: int, attempt: int) -> int:
    """Return the key of a trial that began, and keep other writers away from it."""
    table = schema.trial
    query = select(table.c.trial_id).where(table.c.run == run, table.c.trial == trial, table.c.attempt == attempt)
    found = connection.execute(query.with_for_update()).scalar()
    if found is None:
        raise ToolkitError(f"{_name(run, trial, attempt)} did not begin", code="TK-0901")
    return int(found)


def _next(connection: Connection, table: Table, trial_id: int) -> int:
    last = connection.execute(select(func.max(table.c.position)).where(table.c.trial_id == trial_id)).scalar()
    return 0 if last is None else int(last) + 1


def _insert(connection: Connection, table: Table, new: rows.Rows) -> None:
    """Store rows that all have the same columns; of a schema with hundreds of objects there are hundreds."""
    if not new:
        return
    text, columns, by_place = _insertion(table, tuple(new[0]), connection.dialect)
    values = [{name: value(row[name]) if value else row[name] for name, value in columns} for row in new]
    connection.exec_driver_sql(text, [tuple(each.values()) for each in values] if by_place else values)


@lru_cache(maxsize=32)
def _insertion(
    table: Table, names: tuple[str, ...], dialect: Dialect
) -> tuple[str, tuple[tuple[str, Callable[[Any], Any] | None], ...], bool]:
    """Return the statement, its columns in order with what spells their values, and whether these have no names.

    SQLAlchemy would look at each value of each row anew, which takes longer than to store it.
    """
    compiled = table.insert().compile(dialect=dialect, column_keys=list(names))
    types = {name: table.c[name].type.dialect_impl(dialect) for name in names}
    order = compiled.positiontup
    columns = tuple((name, types[name].bind_processor(dialect)) for name in order or names)
    return str(compiled), columns, order is not None


def _name(run: str, trial: int, attempt: int) -> str:
    return f"trial `{trial}`, attempt `{attempt}` of run `{run}`"
