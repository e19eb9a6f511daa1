"""Makes changes of the database under the journal, and undoes them.

An entry is `intended` before a change and `made` after it, with what proves that the object is the one we made.
What is undone later is looked at again first: an object that is not provably ours is never touched, but listed
with the statement to run by hand.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, run_command
from toolkit.model.protocols import DatabaseError, Journal
from toolkit.model.records import JournalEntry
from toolkit.model.runid import run_key
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import Effect, EntryState, ObjectKind
from toolkit.rendering import step_of

Kept = dict[str, tuple[Row, ...]]
_REFUSED = frozenset({"TK-0203", "TK-0207", "TK-0303"})
"""What is said of one entry, while the others are still undone: a command failed, a guard refused."""
_IN_CATALOGUE = frozenset({ObjectKind.TABLE, ObjectKind.INDEX})


@dataclass(frozen=True, slots=True)
class Intended:
    """A change about to be made: its entry, its object, and whether the name was free before."""

    entry: int
    object: ObjectRef
    free: bool = True


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did, and what it left, in sentences."""

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Changes:
    """Runs steps of the control session; knows the journal of one run.

    Args:
        sessions: of the run.
        dialect: of its engine.
        journal: of the run.
        allow_commands: whether what a command of this host changed may be put back by one.
    """

    def __init__(
        self, sessions: Sessions, dialect: Dialect, journal: Journal, *, allow_commands: bool = False
    ) -> None:
        self._sessions = sessions
        self._dialect = dialect
        self._journal = journal
        self._allow_commands = allow_commands

    def run(self, steps: Iterable[Step], trial: int | None = None) -> Kept:
        """Run steps in order and return the rows that are kept as evidence.

        Raises:
            DatabaseError: what the database said; entries of changes not made stay `intended`.
            ToolkitError: TK-0205 when a generated name is in use.
        """
        kept: Kept = {}
        created: list[Intended] = []
        for step in steps:
            if step.effect is Effect.DROPS and step.object is not None:
                self._drop(step, step.object)
                continue
            created += self.intend((step,), trial)
            answer = self._sessions.run(step)
            if step.keep_as is not None:
                kept[step.keep_as] = answer.rows
        self.made(created)
        return kept

    def intend(self, steps: Iterable[Step], trial: int | None) -> list[Intended]:
        """Write an entry for every step that creates something or can be undone.

        Raises:
            ToolkitError: TK-0205 when something that is not ours bears a generated name.
        """
        entries = []
        for step in steps:
            if step.object is None or not (step.effect is Effect.CREATES or step.undo):
                continue
            proof = self._proof(step.object) if step.effect is Effect.CREATES else {}
            free = bool(proof.get("free", True))
            if step.object.ours and not free:
                raise ToolkitError(
                    f"`{step.object.name}` is there already, and not made by this run",
                    code="TK-0205",
                    hint="look at it; dbatk neither replaces nor drops it",
                )
            entries.append(Intended(self._journal.intend(step, trial=trial, proof=proof), step.object, free))
        return entries

    def _proof(self, ref: ObjectRef) -> Mapping[str, Scalar]:
        """Prove that the name is free, and note the database's instant."""
        found = self._identity(ref)
        instant = self._sessions.run(step_of(self._dialect, self._dialect.instant())).rows
        born = instant[0].get("born") if instant else None
        return {"free": found is None, "born": born}

    def _identity(self, ref: ObjectRef) -> Row | None:
        rows = self._sessions.run(step_of(self._dialect, self._dialect.identity(ref))).rows
        return rows[0] if rows else None

    def made(self, entries: Iterable[Intended]) -> None:
        """Write what proves that each object is ours; what does not exist, or did before, was not made by us."""
        for each in entries:
            if each.object.kind not in _IN_CATALOGUE:
                self._journal.made(each.entry, {})
                continue
            found = self._identity(each.object) if each.free else None
            if found is None:
                self._journal.abandon(each.entry)
            else:
                self._journal.made(each.entry, {"identity": found.get("identity")})

    def _drop(self, step: Step, ref: ObjectRef) -> None:
        """Drop an object that the journal says we made; nothing else is ever dropped.

        An object that is no longer provably the one stays: the entry remains open, and cleanup lists it.
        """
        entry = self._creation_of(ref)
        if entry is None:
            return
        found = self._identity(ref)
        if found is None:
            self._journal.abandon(entry.entry)
        elif _is_the_one(entry, found):
            self._sessions.run(step)
            if entry.ours:
                self._gone(entry)

    def _creation_of(self, ref: ObjectRef) -> JournalEntry | None:
        """Return the open entry of the object's creation; changes made to it later have entries of their own."""
        return next((each for each in self._open_of(ref) if each.effect == Effect.CREATES), None)

    def _open_of(self, ref: ObjectRef) -> list[JournalEntry]:
        return [
            each
            for each in self._journal.open_entries()
            if (each.object_kind, each.schema, each.name) == (ref.kind, ref.name.schema, ref.name.name)
        ]

    def _gone(self, entry: JournalEntry) -> None:
        """Close all entries of an object that was dropped, and of the indexes that went with their table."""
        for other in self._journal.open_entries():
            itself = (other.object_kind, other.schema, other.name) == (entry.object_kind, entry.schema, entry.name)
            index = (other.table_schema, other.table_name) == (entry.schema, entry.name)
            if itself or (index and entry.object_kind == ObjectKind.TABLE):
                self._journal.undone(other.entry)

    def close_trial(self, trial: int) -> None:
        """Close what conclude has settled: changes that were put back, objects that are the user's now."""
        for entry in self._journal.open_entries():
            if entry.trial != trial:
                continue
            if entry.effect == Effect.CHANGES:
                self._journal.undone(entry.entry)
            elif not entry.ours:
                self._journal.abandon(entry.entry)

    def release(self, refs: Iterable[ObjectRef]) -> None:
        """Give objects of ours to the user (`--keep all`): they are no longer ours to drop."""
        for ref in refs:
            for entry in self._open_of(ref):
                self._journal.abandon(entry.entry)

    # -- after a crash ------------------------------------------------------------------------------------------
    def completed_job_objects(self) -> tuple[tuple[int, str], ...]:
        """Return trial and name of objects of a job (not ours) that a killed attempt provably made."""
        found = []
        for entry in self._journal.open_entries():
            if entry.ours or entry.effect != Effect.CREATES or entry.trial is None:
                continue
            now = self._identity(_ref(entry))
            if now is not None and _is_the_one(entry, now):
                found.append((entry.trial, str(QualifiedName(entry.name, entry.schema))))
        return tuple(found)

    def undo_trial(self, trial: int) -> Undone:
        """Undo what one trial made and did not settle."""
        return self._undo_entries([each for each in self._journal.open_entries() if each.trial == trial])

    def undo_trials(self) -> Undone:
        """Undo what trials made and did not drop; what setup made stays."""
        return self._undo_entries([each for each in self._journal.open_entries() if each.trial is not None])

    def undo_all(self) -> Undone:
        """Undo every open entry of the run that is provably ours."""
        return self._undo_entries(self._journal.open_entries())

    def _undo_entries(self, entries: Sequence[JournalEntry]) -> Undone:
        done: list[str] = []
        left: list[str] = []
        for entry in sorted(entries, key=lambda each: each.object_kind != ObjectKind.TABLE):
            if entry.entry not in {each.entry for each in self._journal.open_entries()}:
                continue
            try:
                sentence, gone = self._undo(entry)
            except (DatabaseError, ToolkitError) as error:
                if isinstance(error, ToolkitError) and error.code not in _REFUSED:
                    raise
                sentence, gone = f"{_what(entry)}: {error.sentence}", False
            if sentence:
                (done if gone else left).append(sentence)
        return Undone(tuple(done), tuple(left))

    def _undo(self, entry: JournalEntry) -> tuple[str, bool]:
        """Undo one entry; return a sentence (empty when there was nothing to do) and whether it is closed."""
        ref = _ref(entry)
        if ref.kind not in _IN_CATALOGUE:
            return self._put_back(entry)
        found = self._identity(ref)
        if found is None or _is_another(entry, found):
            self._journal.abandon(entry.entry)
            return "", True
        if entry.effect != Effect.CREATES:
            return self._put_back(entry)
        return self._undo_creation(entry, ref, found) if entry.ours else self._leave_to_user(entry, found)

    def _undo_creation(self, entry: JournalEntry, ref: ObjectRef, found: Row) -> tuple[str, bool]:
        drop = step_of(self._dialect, self._dialect.drop(ref)[0])
        if not _is_the_one(entry, found):
            return f"{_what(entry)} may not be ours; if it is, run: {drop.text}{self._dialect.terminator}", False
        self._sessions.run(drop)
        self._gone(entry)
        return f"dropped {_what(entry)}", True

    def _leave_to_user(self, entry: JournalEntry, found: Row) -> tuple[str, bool]:
        """The object of a job stays; what only served its making (a degree) is put back first."""
        settled = bool(entry.undo) and _is_the_one(entry, found)
        if settled:
            self._run_undo(entry)
        self._journal.abandon(entry.entry)
        return (f"settled {_what(entry)}", True) if settled else ("", True)

    def _put_back(self, entry: JournalEntry) -> tuple[str, bool]:
        command = entry.proof.get("command")
        if command is not None:
            argv = json.loads(str(command))
            if not self._allow_commands:
                return f"{_what(entry)}: put it back with --allow-commands, or run: {shlex.join(argv)}", False
            run_command(argv)
        self._run_undo(entry)
        self._journal.undone(entry.entry)
        return f"put back {_what(entry)}", True

    def _run_undo(self, entry: JournalEntry) -> None:
        for text in entry.undo:
            self._sessions.run(Step("undo", text, effect=Effect.CHANGES))


def _is_the_one(entry: JournalEntry, found: Row) -> bool:
    """Tell whether what bears the name now is what the entry speaks of.

    `made` decides by identity. `intended` needs a name that was free, and then: for a generated name the run's
    mark or a birth after the intention; for a job's name a birth after it, or (DuckDB, whose objects carry no
    birth and whose file is one process's alone) no birth at all.
    """
    if entry.state is EntryState.MADE:
        return str(entry.identity.get("identity")) == str(found.get("identity"))
    if not entry.proof.get("free", False):
        return False
    before, born = entry.proof.get("born"), found.get("born")
    if not entry.ours:
        return born_since(before, born) or (before is None and born is None)
    key = run_key(entry.run).lower()
    if key not in entry.name.lower():
        return False
    return key in str(found.get("mark") or "").lower() or born_since(before, born)


def _is_another(entry: JournalEntry, found: Row) -> bool:
    """Tell whether another object bears a name of the user's by now: what we changed is gone then."""
    return not entry.ours and entry.state is EntryState.MADE and not _is_the_one(entry, found)


def born_since(before: Scalar, born: Scalar) -> bool:
    """Tell whether an object was born at or after an instant, both in the engine's own count."""
    if before is None or born is None:
        return False
    return float(born) >= float(before)


def _ref(entry: JournalEntry) -> ObjectRef:
    table = QualifiedName(entry.table_name, entry.table_schema) if entry.table_name else None
    name = QualifiedName(entry.name, entry.schema)
    return ObjectRef(ObjectKind(entry.object_kind), name, entry.ours, table)


def _what(entry: JournalEntry) -> str:
    name = QualifiedName(entry.name, entry.schema)
    return f"{entry.object_kind} `{name}`"
