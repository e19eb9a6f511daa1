"""Makes changes of the database under the journal, and undoes them.

An entry is `intended` before a change and `made` after it, with what proves that the object is the one we made.
What is undone later is looked up again first: an object that this run did not provably make is never touched, but
listed with the statement to run by hand. The undo script on disk is written before what it undoes, and kept in
step.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, look
from toolkit.model.protocols import DatabaseError, Journal
from toolkit.model.records import JournalEntry
from toolkit.model.steps import ObjectRef, Step, TimedItem, moved_by
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Effect, EntryState, ObjectKind
from toolkit.rendering import step_of
from toolkit.runner.condition import lacking_of, put_back, refuse_changed, unusable, whole
from toolkit.runner.ownership import (
    IN_CATALOGUE,
    Present,
    creates,
    difference,
    drop,
    find,
    host_elsewhere,
    host_of,
    is_the_one,
    label_of,
    moved_proof,
    name_of,
    present,
    proved,
    ref_of,
)
from toolkit.runner.stop import Stop
from toolkit.runner.undo_script import UndoScript
from toolkit.runner.undoing import Undoing, Undone

Kept = dict[str, tuple[Row, ...]]


@dataclass(frozen=True, slots=True)
class Intended:
    """A change about to be made: its entry, its object, whether the name was free, and which object it was."""

    entry: int
    object: ObjectRef
    free: bool = True
    identity: Scalar = None
    creates: bool = False
    proof: Mapping[str, Scalar] = field(default_factory=dict)


class Changes:
    """Runs steps of the control session; knows the journal of one run.

    Args:
        sessions: of the run.
        dialect: of its engine.
        journal: of the run.
        allow_commands: whether what a command of this host changed may be put back by one.
        script: the undo script on disk; None where nobody is to have one.
        stop: knows when another process has taken the run over; the journal is that one's then.
    """

    def __init__(
        self,
        sessions: Sessions,
        dialect: Dialect,
        journal: Journal,
        *,
        allow_commands: bool = False,
        script: UndoScript | None = None,
        stop: Stop | None = None,
    ) -> None:
        self._sessions = sessions
        self._dialect = dialect
        self._journal = journal
        self._undoing = Undoing(sessions, dialect, journal, allow_commands=allow_commands)
        self._script = script
        self._stop = stop or Stop()

    def run(self, steps: Iterable[Step], trial: int | None = None) -> Kept:
        """Run steps in order and return the rows that are kept as evidence.

        Raises:
            DatabaseError: of the database; entries of changes not made stay `intended`.
            ToolkitError: TK-0205 when a generated name is in use.
        """
        kept: Kept = {}
        created: list[Intended] = []
        for step in steps:
            if step.effect is Effect.DROPS and step.object is not None:
                self._drop(step, step.object)
                continue
            if step.effect is Effect.CREATES:  # what is recorded late may be another's by then
                self.made(created)
                created = []
            created += self.intend((step,), trial)
            try:
                answer = self._sessions.run(step)
            except DatabaseError as error:
                if not error.lost:
                    # what a change of an object failed for has no say in whether that was made before
                    failed = {step.object} if step.effect is Effect.CREATES else set[ObjectRef | None]()
                    self.made(created, {each.object for each in created} - failed)
                raise
            if step.keep_as is not None:
                kept[step.keep_as] = answer.rows
        self.made(created)
        return kept

    def intend(self, steps: Iterable[Step], trial: int | None) -> list[Intended]:
        """Write an entry for every step that creates something, can be undone, or is missing in the redo log.

        The undo script is on disk when this returns.

        Raises:
            ToolkitError: TK-0205 when something that this run did not make bears a generated name, TK-0211 when
                somebody else has changed what would be overwritten, TK-0405 when the undo script cannot be
                written.
        """
        self._stop.refuse_if_disowned()
        entries = []
        known: set[tuple[object, ...]] = set()  # many partitions of one index are put back by one statement
        seen: dict[ObjectRef, Present | None] = {}
        for step in steps:
            undone = (*step.undo, *step.undo_argv)
            if step.object is None or not (step.effect is Effect.CREATES or undone or step.unlogged):
                if step.object is not None:
                    self._unchanged(step, step.object, seen)
                continue
            change = (step.effect, step.object, undone, step.unlogged)
            if change in known and step.effect is not Effect.CREATES:
                continue
            known.add(change)
            proof = self._proof(step, step.object, seen)
            free = bool(proof.get("free", True))
            if step.object.scratch and not free:
                raise ToolkitError(
                    f"`{step.object.name}` already exists and was not created by this run",
                    code="TK-0205",
                    hint="check it; dbatk neither replaces nor drops it",
                )
            entry = self._journal.intend(step, trial=trial, proof=proof)
            made = step.effect is Effect.CREATES
            entries.append(Intended(entry, step.object, free, proof.get("identity"), made, proof))
        if entries:
            self._tell(before_a_change=True)
        return entries

    def note(self, step: Step, trial: int | None, proof: Mapping[str, Scalar]) -> int:
        """Write the entry of a change that is made elsewhere: by a command, or in a worker's session."""
        entry = self._journal.intend(step, trial=trial, proof=proof)
        self._tell(before_a_change=True)
        return entry

    def settled(self, entry: int) -> None:
        """Close the entry of a change that was put back."""
        self._journal.undone(entry)
        self._tell()

    def _tell(self, *, before_a_change: bool = False) -> None:
        """Bring the undo script in step with the journal."""
        if self._script is not None:
            self._script.write(self._journal.open_entries(), strictly=before_a_change)

    def _proof(self, step: Step, ref: ObjectRef, seen: dict[ObjectRef, Present | None]) -> Mapping[str, Scalar]:
        """Note what proves later that this run made the object, what it was before, and what redo will lack."""
        proof: dict[str, Scalar] = {}
        if step.effect is Effect.CREATES:
            proof = {**self._absence(ref), **host_of(ref)}
            if (content := moved_by(step)) is not None:
                proof |= moved_proof(self._sessions, self._dialect, content)
            if step.definition and not ref.scratch:
                proof["definition"] = json.dumps(step.definition)
            if step.like is not None and not ref.scratch:
                proof["like"] = json.dumps((step.like.schema, step.like.name))
        elif ref.kind in IN_CATALOGUE:
            now = self._unchanged(step, ref, seen)
            if self._dialect.keeps_identity:
                # What this run made is known already: no look for it.
                proof = self._made_before(ref) or {"identity": self._known(ref, now)}
            if ref.kind is ObjectKind.INDEX and now is not None and now.usable:
                proof["usable"] = True
        noted = {"before": step.before, "command": json.dumps(step.undo_argv) if step.undo_argv else None}
        proof |= {name: value for name, value in noted.items() if value is not None}
        if any(step.restores):
            proof["attributes"] = json.dumps([each and astuple(each) for each in step.restores])
        if step.unlogged:
            proof |= {"unlogged": True, "born": proof["born"] if "born" in proof else self._instant()}
        return proof

    def _known(self, ref: ObjectRef, now: Present | None) -> Scalar:
        return (now and now.identity) or (self._identity(ref) or {}).get("identity")

    def _unchanged(self, step: Step, ref: ObjectRef, seen: dict[ObjectRef, Present | None]) -> Present | None:
        """Refuse to overwrite what somebody else has set; return what was looked at for that."""
        if not step.overwrites:
            return None
        now = seen[ref] if ref in seen else seen.setdefault(ref, present(self._sessions, self._dialect, ref))
        refuse_changed(ref, step.overwrites, now)
        return now

    def look_again(self, item: TimedItem, worker: int) -> None:
        """Look, when the turn of an item comes, whether somebody else has changed what it overwrites.

        Raises:
            DatabaseError: of the database.
            ToolkitError: TK-0211, TK-0306.
        """
        for step in item.steps:
            if step.object is not None and step.overwrites:
                now = present(self._sessions, self._dialect, step.object, worker)
                refuse_changed(step.object, step.overwrites, now, begun=True)

    def _made_before(self, ref: ObjectRef) -> dict[str, Scalar]:
        """Return what is known of an object that this run made; the instant before its birth is early enough."""
        entry = self._creation_of(ref) if ref.scratch else None
        identity = None if entry is None else entry.identity.get("identity")
        if entry is None or identity is None:
            return {}
        return {"identity": identity, "born": entry.proof.get("born")}

    def _absence(self, ref: ObjectRef) -> dict[str, Scalar]:
        """Note whether the name is free, and the database's present instant."""
        call = self._dialect.absence(ref)
        if call is None:
            return {"free": self._identity(ref) is None, "born": self._instant()}
        row = look(self._sessions, step_of(self._dialect, call))[0]
        return {"free": row.get("identity") is None, "born": row.get("born")}

    def _instant(self) -> Scalar:
        """Return the database's present instant, in its own count."""
        rows = self._sessions.run(step_of(self._dialect, self._dialect.instant())).rows
        return rows[0].get("born") if rows else None

    def _identity(self, ref: ObjectRef) -> Row | None:
        return find(self._sessions, self._dialect, ref)

    def made(self, entries: Iterable[Intended], done: Collection[ObjectRef] | None = None) -> None:
        """Write what proves that this run made each object that exists and did not exist before.

        Args:
            entries: of changes whose statements were sent, and whose answers came.
            done: the objects whose statements ended well; None for all. What bears the name of another is not
                ours: a statement that failed made nothing, unless the engine knows such an object as unfinished.
        """
        self._stop.refuse_if_disowned()
        made = tuple(entries)
        for each in made:
            if each.object.kind not in IN_CATALOGUE:
                self._journal.made(each.entry, {})
                continue
            failed = each.creates and done is not None and each.object not in done
            identity = each.identity
            if identity is None and each.free and not (failed and self._left_nothing(each.object)):
                identity = (self._identity(each.object) or {}).get("identity")
            if identity is None:
                self._journal.abandon(each.entry)
            elif each.creates and difference(
                self._sessions, self._dialect, each.object, each.proof, thoroughly=False
            ):
                continue  # somebody else's, made since: what settles or undoes it says so
            else:
                self._journal.made(each.entry, {"identity": identity})
        if made:
            self._tell()

    def _left_nothing(self, ref: ObjectRef) -> bool:
        return ref.kind is not ObjectKind.BACKUP and whole(self._sessions, self._dialect, ref)

    def _drop(self, step: Step, ref: ObjectRef) -> None:
        """Drop an object that the journal says this run made; nothing else is ever dropped.

        An object that is no longer provably the one stays: the entry remains open, and cleanup lists it.
        """
        self._stop.refuse_if_disowned()
        entry = self._creation_of(ref)
        if entry is None:
            return
        found = self._identity(ref)
        if found is None:
            self._journal.abandon(entry.entry)
        elif is_the_one(entry, found):
            drop(self._sessions, self._dialect, step, ref)
            if entry.scratch:
                self._undoing.gone(entry)
        self._tell()

    def _creation_of(self, ref: ObjectRef) -> JournalEntry | None:
        """Return the open entry of the object's creation; changes made to it later have entries of their own."""
        return next((each for each in self._open_of(ref) if creates(each)), None)

    def _open_of(self, ref: ObjectRef) -> list[JournalEntry]:
        return [
            each
            for each in self._journal.open_entries()
            if (each.object_kind, each.schema, each.name) == (ref.kind, ref.name.schema, ref.name.name)
        ]

    def conclude(
        self, steps: Iterable[Step], trial: int, *, but: Collection[ObjectRef] = ()
    ) -> tuple[Kept, tuple[str, ...]]:
        """Settle or drop what a trial made, and close its entries, but those of some objects.

        Returns:
            What was kept, and a sentence for each value or object that is somebody else's by now: it is left as
            it is, and its entry stays open.

        Raises:
            DatabaseError, ToolkitError: as `run`.
        """
        kept, left, seen = Kept(), dict[ObjectRef, list[str]](), dict[ObjectRef, Present | None]()
        for step in steps:
            ref = step.object
            if ref is None or step.puts_back is None or step.effect is Effect.DROPS:
                kept |= self.run((step,), trial)
                continue
            if ref not in seen:
                seen[ref] = present(self._sessions, self._dialect, ref)
            left.setdefault(ref, []).extend(self._settle(step, ref, seen[ref]))
        self.close_trial(trial, but={*but, *(ref for ref, sentences in left.items() if sentences)})
        return kept, tuple(dict.fromkeys(each for sentences in left.values() for each in sentences))

    def _settle(self, step: Step, ref: ObjectRef, now: Present | None) -> list[str]:
        """Restore one attribute of an object that is still the one of the journal."""
        entry = self._creation_of(ref)
        if entry is not None and entry.state is not EntryState.MADE:
            differs = difference(self._sessions, self._dialect, ref, entry.proof)
            return [] if differs is None else [f"{name_of(ref)} {differs}; it is left as it is"]
        known = {each.identity.get("identity") for each in self._open_of(ref)} - {None}
        if now is not None and now.identity is not None and known and str(now.identity) not in map(str, known):
            return [f"{name_of(ref)} is not the object that this run made or changed; it is left as it is"]
        foreign = put_back(self._sessions, self._dialect, ref, (step,), now)
        if now is not None and not now.usable and any(each.proof.get("usable") for each in self._open_of(ref)):
            foreign.append(unusable(ref, lacking_of(self._sessions, self._dialect, ref) or {}, self._dialect))
        return foreign

    def close_trial(self, trial: int, *, but: Collection[ObjectRef] = ()) -> None:
        """Close what conclude has settled: changes that were put back, objects that are the user's now."""
        self._stop.refuse_if_disowned()
        stays = {(ref.kind, ref.name.schema, ref.name.name) for ref in but}
        for entry in self._journal.open_entries():
            here = entry.trial == trial and host_elsewhere(entry) is None
            if not here or (entry.object_kind, entry.schema, entry.name) in stays:
                continue
            if entry.effect == Effect.CHANGES:
                self._journal.undone(entry.entry)
            elif not entry.scratch:
                self._journal.abandon(entry.entry)
        self._tell()

    def release(self, refs: Iterable[ObjectRef]) -> None:
        """Give scratch objects to the user (`--keep all`): the run no longer drops them."""
        for ref in refs:
            for entry in self._open_of(ref):
                self._journal.abandon(entry.entry)
        self._tell()

    # -- after a crash ------------------------------------------------------------------------------------------
    def completed_job_objects(self) -> tuple[tuple[JournalEntry, str], ...]:
        """Return entry and label of objects of a job (no scratch objects) that a killed attempt provably made."""
        found = []
        for entry in self._journal.open_entries():
            if entry.scratch or not creates(entry) or entry.trial is None:
                continue
            ref = ref_of(entry)
            now = self._identity(ref)
            if now is None or not is_the_one(entry, now) or not whole(self._sessions, self._dialect, ref):
                continue
            if entry.state is EntryState.MADE or proved(self._sessions, self._dialect, ref, entry.proof):
                found.append((entry, label_of(ref)))
        return tuple(found)

    def undo_trial(self, trial: int) -> Undone:
        """Undo what one trial made and did not settle."""
        return self._undo([each for each in self._journal.open_entries() if each.trial == trial])

    def undo_trials(self) -> Undone:
        """Undo what trials made and did not drop; what setup made stays."""
        return self._undo([each for each in self._journal.open_entries() if each.trial is not None])

    def undo_all(self, *, keep_open: bool = False) -> Undone:
        """Undo every open entry of the run whose object it provably made; `keep_open` as in `Undoing.run`."""
        return self._undo(self._journal.open_entries(), keep_open=keep_open)

    def _undo(self, entries: Sequence[JournalEntry], *, keep_open: bool = True) -> Undone:
        self._stop.refuse_if_disowned()
        try:
            return self._undoing.run(entries, keep_open=keep_open)
        finally:
            self._tell()
