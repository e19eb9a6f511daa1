"""Objects that need a backup, because what was written into them is not in the redo log."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.dialects.base import Dialect
from toolkit.executors import Sessions
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import JournalEntry
from toolkit.model.values import Row, Scalar
from toolkit.model.words import EntryState
from toolkit.rendering import step_of
from toolkit.runner.ownership import creates, named, ref_of


def need_backup(sessions: Sessions, dialect: Dialect, entries: Sequence[JournalEntry]) -> tuple[str, ...]:
    """Say of every object that a run wrote without redo, and that is still there, since when it needs a backup.

    Args:
        sessions: of the run; nothing is asked when no entry speaks of such a change.
        dialect: of its engine.
        entries: all entries of the run, oldest first; the latest change of an object counts.

    Raises:
        DatabaseError: the connection was lost.
    """
    latest = {named(entry): entry for entry in entries if entry.proof.get("unlogged") and not _was_dropped(entry)}
    sentences = []
    for what, entry in latest.items():
        if not _is_there(sessions, dialect, entry):
            continue
        since = entry.proof.get("born")
        said = dialect.backup_sentence(what, since, _records(sessions, dialect, since))
        if said is not None:
            sentences.append(said)
    return tuple(sentences)


def _was_dropped(entry: JournalEntry) -> bool:
    return entry.scratch and creates(entry) and entry.state is EntryState.UNDONE


def _is_there(sessions: Sessions, dialect: Dialect, entry: JournalEntry) -> bool:
    rows = sessions.run(step_of(dialect, dialect.identity(ref_of(entry)))).rows
    known = entry.identity.get("identity") or entry.proof.get("identity")
    return bool(rows) and known in (None, rows[0].get("identity"))


def _records(sessions: Sessions, dialect: Dialect, since: Scalar) -> tuple[Row, ...] | None:
    """Return what the server records of such changes; None when it may not be asked."""
    call = dialect.backup_reads(since)
    if call is None:
        return None
    try:
        return sessions.run(step_of(dialect, call)).rows
    except DatabaseError as error:
        if error.lost:
            raise
        return None
