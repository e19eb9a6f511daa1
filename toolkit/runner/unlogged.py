"""Objects whose content is not in the redo log: until a backup was made, nothing can bring it back."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import JournalEntry
from toolkit.model.values import Row, Scalar
from toolkit.model.words import EntryState
from toolkit.rendering import step_of
from toolkit.runner.context import RunContext
from toolkit.runner.ownership import creates, find, named, ref_of


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
        sentence = dialect.backup_sentence(what, since, _records(sessions, dialect, since))
        if sentence is not None:
            sentences.append(sentence)
    return tuple(sentences)


def say_what_needs_a_backup(context: RunContext) -> None:
    """Warn of every object that stays and was written without redo."""
    entries = context.store.journal(context.run).entries()
    try:
        for sentence in need_backup(context.sessions, context.dialect, entries):
            context.warn(sentence)
    except (DatabaseError, ToolkitError) as error:
        context.warn(f"the files that need a backup could not be determined ({error.sentence}); run `dbatk clean`")


def _was_dropped(entry: JournalEntry) -> bool:
    return entry.scratch and creates(entry) and entry.state is EntryState.UNDONE


def _is_there(sessions: Sessions, dialect: Dialect, entry: JournalEntry) -> bool:
    try:
        found = find(sessions, dialect, ref_of(entry))
    except ToolkitError as error:
        if error.code != "TK-0306":
            raise
        return True  # what cannot be seen may well be there
    known = entry.identity.get("identity") or entry.proof.get("identity")
    return found is not None and known in (None, found.get("identity"))


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
