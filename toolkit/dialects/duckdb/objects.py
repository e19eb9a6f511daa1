"""Scratch objects in DuckDB: names, comments and transactions."""

from __future__ import annotations

from toolkit.dialects.names import bad_name
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.steps import ObjectRef
from toolkit.model.words import Effect, ObjectKind, Role


def quote(name: str) -> str:
    """Quote one catalogue name, always.

    Raises:
        ToolkitError: TK-0104 for an empty name or a NUL.
    """
    if not name or "\0" in name:
        raise bad_name(name.replace("\0", "\\0"), "it is empty or contains a NUL character")
    return '"' + name.replace('"', '""') + '"'


def keyword(ref: ObjectRef) -> str:
    """Return the SQL word for the kind of an object."""
    return "INDEX" if ref.kind is ObjectKind.INDEX else "TABLE"


def comment(ref: ObjectRef, mark: str | None, session: Role) -> tuple[Call, ...]:
    """Mark an object as created by dbatk; nothing without a mark (a job)."""
    if mark is None:
        return ()
    values: dict[str, ContextValue] = {"kind": keyword(ref), "name": ref.name, "text": mark}
    return (Call("comment", values, session=session, effect=Effect.CHANGES, object=ref),)


def transaction(*calls: Call) -> tuple[Call, ...]:
    """Put calls into one transaction."""
    session = calls[0].session
    begin = Call("begin", session=session, effect=Effect.COMMITS)
    return (begin, *calls, Call("commit", session=session, effect=Effect.COMMITS))


def marked(make: Call, mark: str | None) -> tuple[Call, ...]:
    """Create and mark in one transaction, so that every scratch object has its mark."""
    assert make.object is not None
    marks = comment(make.object, mark, make.session)
    return transaction(make, *marks) if marks else (make,)


# -- what says after a crash whether a transaction was committed --------------------------------------------------
def make_notes(notes: ObjectRef, mark: str) -> tuple[Call, ...]:
    """Make the table of a run in which its transactions are noted."""
    return marked(Call("notes_create", {"table": notes.name}, effect=Effect.CREATES, object=notes), mark)


def note(work: Work) -> tuple[Call, ...]:
    """Note a transaction within itself, where a work keeps notes."""
    if work.notes is None:
        return ()
    values: dict[str, ContextValue] = {"table": work.notes.name, "item": work.label}
    return (Call("note_transaction", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.notes),)
