"""The journal: what was changed in a database, written before and after each change.

An entry goes from intended to made to undone, or is abandoned on the way. Entries of one run count from 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from sqlalchemy import Connection, Row, Select, func, select, update

from toolkit.errors import ToolkitError
from toolkit.model.records import JournalEntry
from toolkit.model.values import Scalar
from toolkit.model.words import Effect, EntryState, ObjectKind
from toolkit.store import schema
from toolkit.store.database import Database, StorePart
from toolkit.store.seals import Seal, is_entry_sealed, is_run_sealed, seal_entries, without_seal

if TYPE_CHECKING:
    from toolkit.model.steps import ObjectRef, Step

OPEN_STATES = (EntryState.INTENDED.value, EntryState.MADE.value)
_BEFORE = {
    EntryState.MADE: (EntryState.INTENDED,),
    EntryState.UNDONE: (EntryState.INTENDED, EntryState.MADE),
    EntryState.ABANDONED: (EntryState.INTENDED, EntryState.MADE),
}
_table = schema.journal


class Journals(StorePart):
    """Gives the journals of runs."""

    def journal(self, run: str, seal: Seal | None = None) -> RunJournal:
        """Return the journal of a run (`protocols.Journal`); with a seal, what seals and tells its entries."""
        return RunJournal(self._database, run, seal)

    def is_sealed(self, run: str, seal: Seal | None) -> bool:
        """Tell whether a run has the seal that is asked for; where none is, it needs none."""
        if seal is None:
            return True
        with self._database.read() as connection:
            return is_run_sealed(connection, run, seal)

    def open_entries_all(self, seal: Seal | None = None) -> tuple[JournalEntry, ...]:
        """Return the open entries of all runs, newest run and newest entry first."""
        query = _open_entries().order_by(_table.c.run.desc(), _table.c.entry.desc())
        return _read(self._database, query, seal)

    def given_backups(self, seal: Seal | None = None) -> tuple[JournalEntry, ...]:
        """Return the entries of all backups that jobs of this store made and gave to the user, oldest first."""
        query = select(_table).where(
            _table.c.object_kind == ObjectKind.BACKUP.value,
            _table.c.effect == Effect.CREATES.value,
            _table.c.scratch.is_(False),
            _table.c.state.in_((EntryState.MADE.value, EntryState.ABANDONED.value)),
        )
        return _read(self._database, query.order_by(_table.c.run, _table.c.entry), seal)


class RunJournal:
    """The journal of one run.

    Args:
        database: where it is.
        run: whose.
        seal: seals what is written, and says of what is read whether it was; None where no seal is asked for.
    """

    def __init__(self, database: Database, run: str, seal: Seal | None = None) -> None:
        self._database = database
        self.run = run
        self._seal = seal

    def intend(self, step: Step, *, trial: int | None, proof: Mapping[str, Scalar]) -> int:
        """Record a change about to be made; return the entry's number. Durable on return.

        Raises:
            ToolkitError: TK-0901 when the step does not say what it changes, TK-0109 when the run is not stored.
        """
        return self.intend_all([(step, proof)], trial=trial)[0]

    def intend_all(
        self, changes: Sequence[tuple[Step, Mapping[str, Scalar]]], *, trial: int | None
    ) -> Sequence[int]:
        """Record several at once, each with its proof; as `intend`."""
        if not changes:
            return ()
        with self._database.write(f"a change by run `{self.run}`") as connection:
            self._database.serialize(connection)
            last = connection.execute(select(func.max(_table.c.entry)).where(_table.c.run == self.run)).scalar()
            now = self._database.now(connection)
            numbers = range((last or 0) + 1, (last or 0) + 1 + len(changes))
            rows = [
                {"run": self.run, "entry": entry, "trial": trial, "intended_at": now, **_row(step, proof)}
                for entry, (step, proof) in zip(numbers, changes, strict=True)
            ]
            connection.execute(_table.insert(), rows)
            if self._seal is not None:
                seal_entries(connection, self.run, numbers, self._seal)
        return numbers

    def made(self, entry: int, identity: Mapping[str, Scalar]) -> None:
        """Record that it was made, and what proves that this run made it."""
        self._move(entry, EntryState.MADE, identity=_pack(identity))

    def undone(self, entry: int) -> None:
        """Record that it was put back."""
        self._move(entry, EntryState.UNDONE)

    def abandon(self, entry: int) -> None:
        """Record that the intended change never happened or is no longer to be undone."""
        self._move(entry, EntryState.ABANDONED)

    def entries(self) -> Sequence[JournalEntry]:
        """Return all entries of this run, oldest first."""
        return self._read(select(_table).where(_table.c.run == self.run).order_by(_table.c.entry))

    def open_entries(self) -> Sequence[JournalEntry]:
        """Return the entries of this run not yet undone, newest first."""
        return self._read(_open_entries().where(_table.c.run == self.run).order_by(_table.c.entry.desc()))

    def find(self, ref: ObjectRef) -> JournalEntry | None:
        """Return the newest open entry of an object, or None."""
        query = _open_entries().where(
            _table.c.run == self.run,
            _table.c.object_kind == ref.kind.value,
            _table.c.name == ref.name.name,
            _table.c.schema_name.is_not_distinct_from(ref.name.schema),
        )
        found = self._read(query.order_by(_table.c.entry.desc()).limit(1))
        return found[0] if found else None

    def _read(self, query: Select[*tuple[object, ...]]) -> Sequence[JournalEntry]:
        return _read(self._database, query, self._seal)

    def _move(self, entry: int, state: EntryState, **values: object) -> None:
        """Move an entry on; saying the same twice is no harm, going back is a fault."""
        before = [each.value for each in (*_BEFORE[state], state)]
        here = (_table.c.run == self.run, _table.c.entry == entry, _table.c.state.in_(before))
        with self._database.write(f"entry `{entry}` of run `{self.run}`") as connection:
            # what nobody sealed is not sealed by moving it on
            seal = self._seal if values and self._is_sealed(connection, entry) else None
            now = self._database.now(connection)
            moved = connection.execute(
                update(_table).where(*here).values(state=state.value, changed_at=now, **values)
            )
            if moved.rowcount == 0:
                raise ToolkitError(
                    f"entry `{entry}` of the journal of run `{self.run}` cannot become `{state}`",
                    code="TK-0901",
                )
            if seal is not None:
                seal_entries(connection, self.run, [entry], seal)

    def _is_sealed(self, connection: Connection, entry: int) -> bool:
        query = select(_table).where(_table.c.run == self.run, _table.c.entry == entry)
        row = None if self._seal is None else connection.execute(query).one_or_none()
        return row is not None and self._seal is not None and is_entry_sealed(row, self._seal)


def _read(database: Database, query: Select[*tuple[object, ...]], seal: Seal | None) -> tuple[JournalEntry, ...]:
    """Return entries; with a seal, each says whether it and its run have it."""
    with database.read() as connection:
        rows = connection.execute(query).all()
        runs = {row._mapping["run"] for row in rows}
        sealed = runs if seal is None else {run for run in runs if is_run_sealed(connection, run, seal)}
    return tuple(
        _entry_of(row, row._mapping["run"] in sealed and (seal is None or is_entry_sealed(row, seal)))
        for row in rows
    )


def _open_entries() -> Select[*tuple[object, ...]]:
    return select(_table).where(_table.c.state.in_(OPEN_STATES))


def _row(step: Step, proof: Mapping[str, Scalar]) -> dict[str, object]:
    ref = step.object
    if ref is None:
        raise ToolkitError(f"step `{step.name}` does not say what it changes", code="TK-0901")
    return {
        "state": EntryState.INTENDED.value,
        "effect": step.effect.value,
        "object_kind": ref.kind.value,
        "schema_name": ref.name.schema,
        "name": ref.name.name,
        "scratch": ref.scratch,
        "table_schema": ref.table.schema if ref.table else None,
        "table_name": ref.table.name if ref.table else None,
        "undo": json.dumps(step.undo),
        "proof": _pack(proof),
        "identity": _pack({}),
    }


def _entry_of(row: Row[*tuple[object, ...]], sealed: bool) -> JournalEntry:
    values = row._mapping
    return JournalEntry(
        entry=values["entry"],
        run=values["run"],
        trial=values["trial"],
        state=EntryState(values["state"]),
        effect=values["effect"],
        object_kind=values["object_kind"],
        schema=values["schema_name"],
        name=values["name"],
        scratch=values["scratch"],
        undo=tuple(json.loads(values["undo"])),
        proof=cast("Mapping[str, Scalar]", without_seal(values["proof"])),
        identity=_unpack(values["identity"]),
        table_schema=values["table_schema"],
        table_name=values["table_name"],
        sealed=sealed,
    )


def _pack(values: Mapping[str, Scalar]) -> str:
    return json.dumps(dict(values))


def _unpack(text: str) -> Mapping[str, Scalar]:
    return cast("Mapping[str, Scalar]", json.loads(text))
