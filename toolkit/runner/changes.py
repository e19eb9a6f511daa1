"""Makes changes of the database under the journal, and undoes them.

An entry is `intended` before a change and `made` after it, with what proves that the object is the one we made.
What is undone later is looked at again first: an object that is not provably ours is never touched, but listed
with the statement to run by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolkit.dialects.base import Dialect
from toolkit.executors import Sessions
from toolkit.model.protocols import DatabaseError, Journal
from toolkit.model.records import JournalEntry
from toolkit.model.runid import run_key
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import Effect, EntryState, ObjectKind
from toolkit.rendering import step_of

Kept = dict[str, tuple[Row, ...]]


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did, and what it left, in sentences."""

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Changes:
    """Runs steps of the control session; knows the journal of one run."""

    def __init__(self, sessions: Sessions, dialect: Dialect, journal: Journal) -> None:
        self._sessions = sessions
        self._dialect = dialect
        self._journal = journal

    def run(self, steps: Iterable[Step], trial: int | None = None) -> Kept:
        """Run steps in order and return the rows that are kept as evidence.

        Raises:
            DatabaseError: what the database said; entries of changes not made stay `intended`.
        """
        kept: Kept = {}
        created: list[tuple[int, ObjectRef]] = []
        for step in steps:
            if step.effect is Effect.DROPS and step.object is not None:
                self._drop(step)
                continue
            created += self.intend((step,), trial)
            answer = self._sessions.run(step)
            if step.keep_as is not None:
                kept[step.keep_as] = answer.rows
        self.made(created)
        return kept

    def intend(self, steps: Iterable[Step], trial: int | None) -> list[tuple[int, ObjectRef]]:
        """Write an entry for every step that creates something or can be undone."""
        entries = []
        for step in steps:
            if step.object is None or not (step.effect is Effect.CREATES or step.undo):
                continue
            proof = self._proof(step.object) if step.effect is Effect.CREATES else {}
            entries.append((self._journal.intend(step, trial=trial, proof=proof), step.object))
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

    def made(self, entries: Iterable[tuple[int, ObjectRef]]) -> None:
        """Write what proves that each object is ours; one that does not exist was not made."""
        for entry, ref in entries:
            if ref.kind not in {ObjectKind.TABLE, ObjectKind.INDEX}:
                self._journal.made(entry, {})
                continue
            found = self._identity(ref)
            if found is None:
                self._journal.abandon(entry)
            else:
                self._journal.made(entry, {"identity": found.get("identity")})

    def _drop(self, step: Step) -> None:
        """Drop an object that the journal says we made; nothing else is ever dropped."""
        ref = step.object
        assert ref is not None
        entry = self._journal.find(ref)
        if entry is None:
            return
        if entry.state is EntryState.INTENDED and self._identity(ref) is None:
            self._journal.abandon(entry.entry)
            return
        self._sessions.run(step)
        self._gone(entry)

    def _gone(self, entry: JournalEntry) -> None:
        """Close an entry, and those of indexes that went with their table."""
        self._journal.undone(entry.entry)
        if entry.object_kind != ObjectKind.TABLE:
            return
        for other in self._journal.open_entries():
            if (other.table_schema, other.table_name) == (entry.schema, entry.name):
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
            entry = self._journal.find(ref)
            if entry is not None:
                self._journal.abandon(entry.entry)

    def completed_job_objects(self) -> tuple[tuple[int, str], ...]:
        """Return trial and name of objects of a job (not ours) that a killed attempt provably made."""
        found = []
        for entry in self._journal.open_entries():
            if entry.ours or entry.effect != Effect.CREATES or entry.trial is None:
                continue
            now = self._identity(_ref(entry))
            if now is None or not entry.proof.get("free", False):
                continue
            birthless = entry.proof.get("born") is None and now.get("born") is None
            if birthless or born_since(entry.proof.get("born"), now.get("born")):
                found.append((entry.trial, str(QualifiedName(entry.name, entry.schema))))
        return tuple(found)

    # -- after a crash ------------------------------------------------------------------------------------------
    def alive(self) -> None:
        """Prove that the control session answers.

        Raises:
            DatabaseError: it does not.
        """
        self._sessions.run(step_of(self._dialect, self._dialect.instant()))

    def undo_trials(self, run: str) -> Undone:
        """Undo what trials made and did not drop; what setup made stays."""
        return self._undo_entries([each for each in self._journal.open_entries() if each.trial is not None], run)

    def undo_all(self, run: str) -> Undone:
        """Undo every open entry of the run that is provably ours."""
        return self._undo_entries(self._journal.open_entries(), run)

    def _undo_entries(self, entries: Sequence[JournalEntry], run: str) -> Undone:
        done: list[str] = []
        left: list[str] = []
        for entry in sorted(entries, key=lambda each: each.object_kind != ObjectKind.TABLE):
            if entry.entry not in {each.entry for each in self._journal.open_entries()}:
                continue
            try:
                sentence, gone = self._undo(entry, run)
            except DatabaseError as error:
                sentence, gone = f"{_what(entry)}: {error.message.splitlines()[0]}", False
            if sentence:
                (done if gone else left).append(sentence)
        return Undone(tuple(done), tuple(left))

    def _undo(self, entry: JournalEntry, run: str) -> tuple[str, bool]:
        if entry.effect != Effect.CREATES:
            return self._put_back(entry)
        ref = _ref(entry)
        found = self._identity(ref)
        if found is None:
            self._journal.abandon(entry.entry)
            return "", True
        if not entry.ours:
            self._journal.abandon(entry.entry)
            return "", True
        drop = step_of(self._dialect, self._dialect.drop(ref)[0])
        if not self._provably_ours(entry, found, run):
            return f"{_what(entry)} may not be ours; if it is, run: {drop.text}{self._dialect.terminator}", False
        self._sessions.run(drop)
        self._gone(entry)
        return f"dropped {_what(entry)}", True

    def _provably_ours(self, entry: JournalEntry, found: Row, run: str) -> bool:
        if entry.state is EntryState.MADE:
            return str(entry.identity.get("identity")) == str(found.get("identity"))
        if run_key(run).lower() not in entry.name.lower() or not entry.proof.get("free", False):
            return False
        if run_key(run).lower() in str(found.get("mark") or "").lower():
            return True
        return born_since(entry.proof.get("born"), found.get("born"))

    def _put_back(self, entry: JournalEntry) -> tuple[str, bool]:
        for text in entry.undo:
            self._sessions.run(Step("undo", text, effect=Effect.CHANGES))
        self._journal.undone(entry.entry)
        return f"put back {_what(entry)}", True


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
