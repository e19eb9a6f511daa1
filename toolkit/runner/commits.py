"""The commits of a load, in the journal before they are sent, so that the database can tell later how they ended.

One entry for each item on the clock: `intended` before the first of them begins, `made` just before its COMMIT is
sent, with what identifies the transaction. After a kill or a lost connection an entry that is only intended says
that nothing was committed, and the database answers for the others. A list, since several sessions may load.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from toolkit.dialects.base import Dialect
from toolkit.executors import Sessions
from toolkit.model.protocols import DatabaseError, Journal
from toolkit.model.records import ItemRecord, JournalEntry
from toolkit.model.steps import TimedItem
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Effect, EntryState, Outcome, Role
from toolkit.rendering import step_of
from toolkit.store import Store

_ROWS = "rows"
_ITEM = "item"
_RECORDED = "recorded_at"
_KEPT_SECONDS = 3600.0
"""How long a server surely knows what it told a driver of: Oracle keeps an outcome for RETENTION_TIMEOUT of the
service, a day if not set. What it does not know any more must not be taken for aborted."""


class Ended(StrEnum):
    """How the transaction of an item ended."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Commits:
    """Journals the commits of one trial.

    Args:
        sessions: of the run.
        dialect: of its engine.
        journal: of the run.
    """

    sessions: Sessions
    dialect: Dialect
    journal: Journal
    _entries: dict[str, int] = field(default_factory=dict)

    def intend(self, items: Iterable[TimedItem], trial: int, shared: Mapping[str, Scalar]) -> None:
        """Write an entry for every item that ends with a COMMIT of its own.

        Args:
            items: of the trial.
            trial: its number.
            shared: what is known of the snapshot that all items read.

        Raises:
            ToolkitError: the store cannot be written.
        """
        labels, changes = [], []
        for item in items:
            filled = next((step.object for step in item.steps if step.object is not None), None)
            if filled is not None and item.steps[-1].effect is Effect.COMMITS:
                commit = replace(item.steps[-1], object=filled, undo=())
                labels.append(item.label)
                changes.append((commit, {**shared, **_notes_of(item), _ITEM: item.label}))
        self._entries.update(zip(labels, self.journal.intend_all(changes, trial=trial), strict=True))

    def about_to(self, item: TimedItem, rows: int | None, worker: int) -> None:
        """Record the transaction of an item whose COMMIT is the next to be sent; called in the worker's thread.

        What another session is not told of it is not recorded: then a person is asked in the end.

        Raises:
            DatabaseError: the item's own session was lost or its question failed, which may have ended its
                transaction (PostgreSQL, "Transactions"); or the run is to end.
            ToolkitError: the store cannot be written, so nothing is committed.
        """
        if item.label in self._entries:
            self.journal.made(self._entries[item.label], {_ROWS: rows, **self._transaction(worker)})

    def _transaction(self, worker: int) -> Mapping[str, Scalar]:
        found: dict[str, Scalar] = {}
        own = self.sessions.get(Role.WORKER, worker).transaction_id
        if own is not None:
            found |= {"transaction_id": own, _RECORDED: time.time()}
        for call in self.dialect.transaction():
            step = step_of(self.dialect, call)
            try:
                rows = self.sessions.run(step, worker).rows
            except DatabaseError as error:
                if error.lost or error.cancelled or step.session is Role.WORKER:
                    raise
                return {}
            if step.keep_as is not None and rows:
                found |= rows[0]
        return found


def _notes_of(item: TimedItem) -> dict[str, Scalar]:
    """Return the name of the run's own table in which the item is noted by its transaction; nothing without."""
    for step in item.steps:
        if step.object is not None and step.object.scratch:
            return {"notes_schema": step.object.name.schema, "notes_table": step.object.name.name}
    return {}


@dataclass(frozen=True, slots=True)
class EndedItem:
    """An item whose COMMIT is in the journal: how it ended, and how many rows it has."""

    label: str
    ended: Ended
    rows: int | None = None


def commits_of(entries: Iterable[JournalEntry], trial: int) -> tuple[JournalEntry, ...]:
    """Return the newest entry of each item of a trial that ends with a COMMIT; none of an engine without.

    Args:
        entries: all of a run, oldest first.
        trial: its number.
    """
    newest = {
        item_of(entry): entry for entry in entries if entry.effect == Effect.COMMITS and entry.trial == trial
    }
    return tuple(newest.values())


def item_of(entry: JournalEntry) -> str:
    """Return the label of the item whose COMMIT an entry speaks of."""
    return str(entry.proof.get(_ITEM))


def done_items(run: str, trial: int, store: Store) -> dict[str, ItemRecord]:
    """Return the items of a trial that are known to be done, by label."""
    return {item.label: item for item in store.items_of(run, trial) if item.outcome is Outcome.OK}


def how_ended(run: str, trial: int, sessions: Sessions, dialect: Dialect, store: Store) -> tuple[EndedItem, ...]:
    """Ask the database how the transactions ended of the items that are not known to be done.

    No session of the run may be at work any more.

    Raises:
        DatabaseError: the connection was lost.
    """
    done, journal = done_items(run, trial, store), store.journal(run).entries()
    return tuple(
        EndedItem(item_of(entry), Ended.ABORTED) if _notes_are_gone(entry, journal)
        else _ended(entry, sessions, dialect)
        for entry in commits_of(journal, trial) if item_of(entry) not in done
    )  # fmt: skip


def _notes_are_gone(entry: JournalEntry, journal: Sequence[JournalEntry]) -> bool:
    """Tell whether the run dropped the table that an item would be noted in.

    That is done after every item noted there was recorded as done: what was not recorded, was not there.
    """
    name = (entry.proof.get("notes_schema"), entry.proof.get("notes_table"))
    made = [each for each in journal if each.effect == Effect.CREATES and (each.schema, each.name) == name]
    return bool(made) and made[-1].state in (EntryState.UNDONE, EntryState.ABANDONED)


def _ended(entry: JournalEntry, sessions: Sessions, dialect: Dialect) -> EndedItem:
    rows = entry.identity.get(_ROWS)
    count = int(rows) if isinstance(rows, int) else None
    if not entry.identity:
        return EndedItem(item_of(entry), Ended.ABORTED)  # its COMMIT was never sent
    noted = {name: value for name, value in entry.identity.items() if name not in (_ROWS, _RECORDED)}
    if "notes_table" in entry.proof:
        noted |= {name: entry.proof[name] for name in ("notes_schema", "notes_table", _ITEM)}
    calls = dialect.transaction_end(noted) if noted else ()
    answer: Sequence[Row] = ()
    try:
        for call in calls:
            answer = sessions.run(step_of(dialect, call)).rows
    except DatabaseError as error:
        if error.lost:
            raise
        answer = ()
    state = str(answer[0]["transaction_state"]) if answer else ""
    if state == Ended.ABORTED and not _is_kept(entry.identity.get(_RECORDED)):
        state = ""
    return EndedItem(item_of(entry), Ended(state) if state in _SETTLED else Ended.UNKNOWN, count)


def _is_kept(recorded: Scalar) -> bool:
    return recorded is None or 0 <= time.time() - float(recorded) < _KEPT_SECONDS


_SETTLED = frozenset({Ended.COMMITTED.value, Ended.ABORTED.value})
