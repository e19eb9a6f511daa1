"""Looks objects up, and tells whether one is what a journal entry speaks of: by identity, mark and birth."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from toolkit.dialects.backups import listing
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, look
from toolkit.model.protocols import DatabaseError, Journal
from toolkit.model.records import JournalEntry, run_key
from toolkit.model.steps import Attribute, ObjectRef, Step, path_of
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import Effect, EntryState, ObjectKind, Role
from toolkit.rendering import step_of
from toolkit.store import this_host

UNSEEN = "TK-0306"
IN_CATALOGUE = frozenset({ObjectKind.TABLE, ObjectKind.INDEX, ObjectKind.BACKUP})
"""Kinds that are looked up again before anything of them is undone."""


def find(sessions: Sessions, dialect: Dialect, ref: ObjectRef) -> Row | None:
    """Return what identifies an object; None when it is not there.

    Raises:
        DatabaseError: of the database.
        ToolkitError: TK-0306 when the session cannot see whether it is there.
    """
    rows = look(sessions, step_of(dialect, dialect.identity(ref)))
    return rows[0] if rows else None


@dataclass(frozen=True, slots=True)
class Present:
    """What an object is now: identity (None where only `find` can tell), and attributes by name and part."""

    identity: Scalar
    values: Mapping[tuple[str, str | None], str]

    @property
    def usable(self) -> bool:
        """Whether nothing of it is unusable: only what is has a status among its values."""
        return all(name != "status" for name, _ in self.values)


def present(sessions: Sessions, dialect: Dialect, ref: ObjectRef, worker: int | None = None) -> Present | None:
    """Return what an object is now, in one statement; None where the engine has no such attributes.

    Args:
        sessions: of the run.
        dialect: of its engine.
        ref: the object.
        worker: the number of the worker whose session asks; None for the control session.

    Raises:
        DatabaseError: of the database.
        ToolkitError: TK-0306 when this user cannot see any (any more), so that nothing can be compared; TK-0211
            when it is gone.
    """
    call = dialect.attributes(ref)
    if call is None:
        return None
    step, remedy = step_of(dialect, call), "grant SELECT on its table again"
    rows: tuple[Row, ...] = ()
    try:
        rows = look(sessions, step if worker is None else replace(step, session=Role.WORKER), worker or 0)
    except ToolkitError as error:
        if error.code != UNSEEN:
            raise
        remedy = error.hint or remedy
    values = {
        (str(row["name"]), None if row["part"] is None else str(row["part"])): str(row["value"]) for row in rows
    }
    identity = values.pop(("identity", None), None)
    if not values:
        if find(sessions, dialect, ref) is None:
            raise ToolkitError(f"{name_of(ref)} is gone: somebody dropped or renamed it", code="TK-0211")
        raise ToolkitError(
            f"this user can no longer see what {name_of(ref)} is set to, so it cannot be compared",
            code=UNSEEN,
            hint=remedy,
        )
    return Present(identity, values)


def refuse_blind(sessions: Sessions, dialect: Dialect, ref: ObjectRef) -> None:
    """Refuse to make an object whose attributes nobody could see, and so not restore, once it is there.

    Raises:
        DatabaseError: of the database.
        ToolkitError: TK-0306.
    """
    call = dialect.attributes(ref)
    try:
        if call is not None:
            look(sessions, step_of(dialect, call))
    except ToolkitError as error:
        if error.code != UNSEEN:
            raise
        raise ToolkitError(
            f"this user could not see what {name_of(ref)} is set to, and so not restore it once it is made",
            code=UNSEEN,
            hint=error.hint,
        ) from None


def difference(
    sessions: Sessions, dialect: Dialect, ref: ObjectRef, proof: Mapping[str, Scalar], *, thoroughly: bool = True
) -> str | None:
    """Say in what an object is not the one that its creation would have made.

    Args:
        sessions: of the run.
        dialect: of its engine.
        ref: the object that bears the name now.
        proof: what the journal noted before the creation.
        thoroughly: whether the columns of another table are looked up too; what is not shown counts as no
            difference without it.

    Returns:
        The rest of a sentence; None where nothing differs, or nothing was noted.

    Raises:
        DatabaseError: of the database.
        ToolkitError: TK-0306 where it is not shown, if it is to be looked at thoroughly.
    """
    noted = json.loads(str(proof.get("definition") or "[]"))
    like = json.loads(str(proof["like"])) if thoroughly and proof.get("like") else None
    call = dialect.definition(ref) if noted or like else None
    if call is None:
        return None
    seen: tuple[Row, ...] = ()
    try:
        seen = look(sessions, step_of(dialect, call))
    except ToolkitError as error:
        if thoroughly or error.code != UNSEEN:
            raise
    found = _grouped((row["name"], row["value"]) for row in seen)
    if not found and thoroughly:
        raise ToolkitError(
            f"this user cannot see {name_of(ref)} well enough to know it again",
            code=UNSEEN,
            hint="grant SELECT on its table again",
        )
    if not found:
        return None
    wanted = _grouped(noted)
    if like is not None:
        source = dialect.definition(ObjectRef(ObjectKind.TABLE, QualifiedName(like[1], like[0])))
        rows = () if source is None else look(sessions, step_of(dialect, source))
        wanted |= _grouped((row["name"], row["value"]) for row in rows if row["name"] == "column")
    for name, values in wanted.items():
        if found.get(name, []) != values:
            was, due = (", ".join(each) or "none" for each in (found.get(name, []), values))
            return f"is not what this run would have made: its {name} is `{was}`, not `{due}`"
    return None


def proved(sessions: Sessions, dialect: Dialect, ref: ObjectRef, proof: Mapping[str, Scalar]) -> bool:
    """Tell whether an object is what its creation would have made; what cannot be seen proves nothing."""
    try:
        return not difference(sessions, dialect, ref, proof)
    except ToolkitError as error:
        if error.code != UNSEEN:
            raise
        return False


def _grouped(pairs: Iterable[tuple[Scalar, Scalar]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(str(name), []).append(str(value))
    return {name: sorted(values) for name, values in found.items()}


UNSEALED = "its entry in the journal has no seal of approved work"


def drop(sessions: Sessions, dialect: Dialect, step: Step, ref: ObjectRef) -> None:
    """Drop an object by a step; that it is not there counts only if the catalogue does not show it either.

    A user who lost his privileges gets the same answer (ORA-00942, ORA-01418) for an object that is there.

    Raises:
        DatabaseError: of the database; also one that the step tolerates, if the object is still there.
        ToolkitError: TK-0306 when the session cannot see whether it is there.
    """
    try:
        sessions.run(replace(step, tolerates=frozenset()))
    except DatabaseError as error:
        if error.code not in step.tolerates or find(sessions, dialect, ref) is not None:
            raise


def is_the_one(entry: JournalEntry, found: Row) -> bool:
    """Tell whether what bears the name now is what the entry speaks of.

    `made` decides by identity. `intended` needs a name that was free, and then: for a generated name the run's
    mark or a birth after the intention; for a job's name a birth after it, or (DuckDB, whose objects carry no
    birth and whose file is one process's alone) no birth at all. What was moved to its name keeps its identity.
    """
    if entry.state is EntryState.MADE:
        return _is_same(entry, entry.identity.get("identity"), found)
    if not entry.proof.get("free", False):
        return False
    before, born = entry.proof.get("born"), found.get("born")
    if not entry.scratch and entry.proof.get("moved") is not None:
        return _is_same(entry, entry.proof["moved"], found)
    if not entry.scratch:
        return born_since(before, born) or (before is None and born is None)
    key = run_key(entry.run).lower()
    if key not in entry.name.lower():
        return False
    return key in str(found.get("mark") or "").lower() or born_since(before, born)


def _is_same(entry: JournalEntry, known: Scalar, found: Row) -> bool:
    """Compare identities; a folder that hosts share has another device on each, and one number."""
    pair = (str(known), str(found.get("identity")))
    if host_elsewhere(entry) is not None:
        pair = (pair[0].partition(":")[2], pair[1].partition(":")[2])
    return pair[0] == pair[1]


def is_another(entry: JournalEntry, found: Row) -> bool:
    """Tell whether another object bears a name of the user's by now: what we changed is gone then."""
    if entry.scratch:
        return False
    if entry.state is EntryState.MADE:
        return not is_the_one(entry, found)
    before = entry.proof.get("identity")
    return before is not None and str(before) != str(found.get("identity"))


def born_since(before: Scalar, born: Scalar) -> bool:
    """Tell whether an object was born at or after an instant, both in the engine's own count."""
    if before is None or born is None:
        return False
    return float(born) >= float(before)


def ref_of(entry: JournalEntry) -> ObjectRef:
    """Return what an entry speaks of."""
    table = QualifiedName(entry.table_name, entry.table_schema) if entry.table_name else None
    name = QualifiedName(entry.name, entry.schema)
    return ObjectRef(ObjectKind(entry.object_kind), name, entry.scratch, table)


def named(entry: JournalEntry) -> str:
    """Name the object of an entry in a sentence."""
    return name_of(ref_of(entry))


def name_of(ref: ObjectRef) -> str:
    """Name an object in a sentence."""
    if ref.kind is ObjectKind.PREFERENCE and ref.table is not None:
        return f"{ref.kind} `{ref.name.name}` of `{ref.table}`"
    return f"{ref.kind} `{label_of(ref)}`"


def label_of(ref: ObjectRef) -> str:
    """Return how an item is called that makes an object: a backup in a folder by its path."""
    return path_of(ref) if is_folder(ref) else str(ref.name)


def is_folder(ref: ObjectRef) -> bool:
    """Tell whether an object is a backup in a folder of a host."""
    return ref.kind is ObjectKind.BACKUP and (ref.name.schema or "").startswith("/")


def host_of(ref: ObjectRef) -> dict[str, Scalar]:
    """Note on which host a folder is made: where it is not found later, another host may have looked."""
    return {"host": this_host()} if is_folder(ref) else {}


def moved_proof(sessions: Sessions, dialect: Dialect, content: ObjectRef) -> dict[str, Scalar]:
    """Note which folder is about to get its final name, and what is in it."""
    rows = sessions.run(step_of(dialect, listing(content))).rows
    seen = find(sessions, dialect, content) or {}
    return {"moved": seen.get("identity"), "listing": rows[0]["listing"] if rows else None}


def host_elsewhere(entry: JournalEntry) -> str | None:
    """Return the other host that made a folder; None for this one, and for what is in a database."""
    host = entry.proof.get("host")
    return None if host is None or host == this_host() else str(host)


def hidden_on(sessions: Sessions, dialect: Dialect, entry: JournalEntry, journal: Journal) -> str | None:
    """Return the other host that may still have a folder that is not found here.

    None where this host would see it: a backup that the run moved out beside it is there, by its number.
    """
    host = host_elsewhere(entry)
    if host is None:
        return None
    for beside in journal.entries():
        if (beside.schema, host_elsewhere(beside)) == (entry.schema, host) and "moved" in beside.proof:
            found = find(sessions, dialect, ref_of(beside))
            if found is not None and is_the_one(beside, found):
                return None
    return host


def creates(entry: JournalEntry) -> bool:
    """Tell whether an entry speaks of an object that was made, not of a change of one."""
    return entry.effect == Effect.CREATES


def restored_by(entry: JournalEntry) -> list[Attribute | None]:
    """Return what each statement of an entry's undo restores; None where it is no attribute of the catalogue."""
    written = entry.proof.get("attributes")
    known = json.loads(str(written)) if written is not None else [None] * len(entry.undo)
    return [None if each is None else Attribute(*each) for each in known]
