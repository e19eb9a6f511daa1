"""Undoes what journal entries speak of, one by one: each object is looked up first, and each value compared.

What cannot be seen, is not provably ours or holds a value that somebody else gave it meanwhile is left as it is,
and said with the statement to run by hand.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, look, run_command
from toolkit.model.protocols import DatabaseError, Journal
from toolkit.model.records import JournalEntry
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Effect, EntryState, ObjectKind, StepKind
from toolkit.rendering import step_of
from toolkit.runner.condition import lacking_of, mended, put_back, unfinished, unusable, whole
from toolkit.runner.ownership import (
    IN_CATALOGUE,
    UNSEALED,
    creates,
    difference,
    drop,
    find,
    hidden_on,
    is_another,
    is_the_one,
    named,
    present,
    ref_of,
    restored_by,
)
from toolkit.runner.restarting import after_undo

_REFUSED = frozenset({"TK-0203", "TK-0207", "TK-0211", "TK-0303", "TK-0306"})
"""Errors of one entry with which the others are still undone: failed, too slow, gone, refused, not to be seen."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did, and what it left, in sentences."""

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()
    """What of it keeps nobody from going on with the run."""


class _LeftError(Exception):
    """Something stays as it is; the text says what, and which statement mends it."""


class _BesideError(_LeftError):
    """What stays keeps nobody from going on with the run."""


class Undoing:
    """Undoes entries of one run's journal.

    Args:
        sessions: of the run.
        dialect: of its engine.
        journal: of the run.
        allow_commands: whether what a command of this host changed may be put back by one.
    """

    def __init__(self, sessions: Sessions, dialect: Dialect, journal: Journal, *, allow_commands: bool) -> None:
        self._sessions = sessions
        self._dialect = dialect
        self._journal = journal
        self._allow_commands = allow_commands
        self._keep_open = False

    def run(self, entries: Sequence[JournalEntry], *, keep_open: bool = False) -> Undone:
        """Undo entries, tables first: their indexes and attributes go with them.

        Args:
            entries: what is undone.
            keep_open: whether the entry of a value that somebody else set stays open once that was said: a run
                that leaves something does not end as done.
        """
        with self._sessions.timeouts.finishing():
            return self._run(entries, keep_open=keep_open)

    def _run(self, entries: Sequence[JournalEntry], *, keep_open: bool) -> Undone:
        self._keep_open = keep_open
        done: list[str] = []
        left: list[str] = []
        beside: set[str] = set()
        # a folder must not go before the backup in it, which the database would then look for in vain
        stuck: set[int | None] = set()
        for entry in sorted(entries, key=lambda each: each.object_kind != ObjectKind.TABLE):
            if entry.entry not in {each.entry for each in self._journal.open_entries()}:
                continue
            if entry.object_kind == ObjectKind.BACKUP and entry.trial in stuck:
                left.append(f"{named(entry)} remains, along with what could not be deleted before it")
                continue
            try:
                sentence = self._undo_again(entry)
            except _LeftError as error:
                left.append(str(error))
                if isinstance(error, _BesideError):
                    beside.add(str(error))
                elif entry.object_kind == ObjectKind.BACKUP:
                    stuck.add(entry.trial)
                continue
            if sentence:
                done.append(sentence)
        return Undone(tuple(done), tuple(left), frozenset(beside))

    def gone(self, entry: JournalEntry) -> None:
        """Close all entries of an object that was dropped, and of the indexes that went with their table."""
        for other in self._journal.open_entries():
            itself = (other.object_kind, other.schema, other.name) == (entry.object_kind, entry.schema, entry.name)
            index = (other.table_schema, other.table_name) == (entry.schema, entry.name)
            if itself or (index and entry.object_kind == ObjectKind.TABLE):
                self._journal.undone(other.entry)

    def _undo_again(self, entry: JournalEntry, *, again: bool = False) -> str:
        """Undo one entry; when that is refused, the others are undone all the same.

        A session that was lost meanwhile is opened anew, once: every undo may be run twice.
        """
        try:
            return self._undo(entry)
        except DatabaseError as error:
            if error.lost and again:
                raise
            if error.lost or (not again and self._is_gone(entry)):
                return self._undo_again(entry, again=True)
            if entry.object_kind == ObjectKind.PREFERENCE and error.code == self._dialect.set_by_others:
                if not self._keep_open:
                    # Said once: from here on the value is that of whoever set it.
                    self._journal.abandon(entry.entry)
                raise _LeftError(f"{named(entry)}: {error.sentence.removeprefix(f'{error.code}: ')}") from None
            values = self._still(entry)
            raise _LeftError(f"{named(entry)}{values}: {error.sentence}{self._by_hand(entry)}") from None
        except ToolkitError as error:
            if error.code not in _REFUSED:
                raise
            hint = f"; {error.hint}" if error.code == "TK-0306" else ""
            raise _LeftError(f"{named(entry)}: {error.sentence}{hint}{self._by_hand(entry)}") from None

    def _is_gone(self, entry: JournalEntry) -> bool:
        """Tell whether an object was there when it was looked up, and is not any more: dropped, or renamed."""
        ref = ref_of(entry)
        if ref.kind not in IN_CATALOGUE or not (entry.undo or creates(entry)):
            return False
        try:
            return find(self._sessions, self._dialect, ref) is None
        except (DatabaseError, ToolkitError):
            return False

    def _undo(self, entry: JournalEntry) -> str:
        """Undo and close one entry; return a sentence, empty when there was nothing to do."""
        if entry.effect == Effect.DROPS:
            return self._removed_or_left(entry)
        if not (creates(entry) or entry.undo or entry.proof.get("command") or entry.proof.get("usable")):
            self._close(entry)
            return ""
        ref = ref_of(entry)
        if ref.kind not in IN_CATALOGUE:
            return self._put_back(entry)
        found = find(self._sessions, self._dialect, ref)
        if found is None and self._sessions.orphaned:
            raise _LeftError(f"{named(entry)} is not there, but a session that was lost may still create it")
        if found is None and (host := hidden_on(self._sessions, self._dialect, entry, self._journal)) is not None:
            sentence = f"{named(entry)} is on host `{host}`, not seen from here; run `dbatk clean` on that host"
            raise _BesideError(sentence)
        if found is None or is_another(entry, found):
            done = self._put_back_renamed(entry, ref)
            self._journal.abandon(entry.entry)
            return done
        if not creates(entry):
            return self._put_back(entry)
        return self._drop(entry, ref, found) if entry.scratch else self._leave_to_user(entry, ref, found)

    def _put_back_renamed(self, entry: JournalEntry, ref: ObjectRef) -> str:
        """Put back what the run set of an object that somebody renamed meanwhile; return a sentence, or nothing.

        Its identity is that of the journal, and its values are compared as ever. A scratch object under another
        name is left to whoever renamed it.
        """
        identity = entry.identity.get("identity") or entry.proof.get("identity")
        call = None if identity is None else self._dialect.renamed(ref, identity)
        rows = () if call is None else look(self._sessions, step_of(self._dialect, call))
        if not rows:
            return ""
        schema = rows[0].get("new_schema") or ref.name.schema
        now = QualifiedName(str(rows[0]["new_name"]), None if schema is None else str(schema))
        if creates(entry) and entry.scratch:
            if not self._keep_open:
                self._journal.abandon(entry.entry)
            raise _LeftError(f"{named(entry)} was renamed to `{now}` by somebody else, and is left as it is")
        if not entry.undo:
            return ""
        old, new = (".".join(map(self._dialect.quote, filter(None, (each.schema, each.name))))
                    for each in (ref.name, now))  # fmt: skip
        texts = tuple(text.replace(old, new) for text in entry.undo)
        if any(new not in text for text in texts):
            raise _LeftError(
                f"{named(entry)} was renamed to `{now}`; what puts it back knows its former name only"
            )
        renamed = replace(entry, schema=now.schema, name=now.name, undo=texts)
        self._refuse_unsealed(renamed)
        self._run_undo(renamed)
        return f"restored {named(entry)}, which somebody renamed to `{now}`"

    def _removed_or_left(self, entry: JournalEntry) -> str:
        """Say of an old backup that was to be removed that it is still there, which keeps nobody from his work."""
        if find(self._sessions, self._dialect, ref_of(entry)) is None:
            self._journal.abandon(entry.entry)
            return ""
        if not self._keep_open:
            self._journal.undone(entry.entry)
        raise _BesideError(f"{named(entry)} is past its time and was not removed")

    def _close(self, entry: JournalEntry) -> None:
        """Close an entry that has nothing to undo: of a COMMIT, whose rows stay, or of a change of a session."""
        if entry.effect == Effect.COMMITS:
            self._journal.abandon(entry.entry)
        else:
            self._journal.undone(entry.entry)

    def _drop(self, entry: JournalEntry, ref: ObjectRef, found: Row) -> str:
        step = step_of(self._dialect, self._dialect.drop(ref)[0])
        if not is_the_one(entry, found):
            text = f"{step.text}{self._dialect.terminator}"
            raise _LeftError(f"{named(entry)} may not belong to dbatk; if it does, run: {text}")
        if not entry.sealed:
            raise _unsealed(entry)
        try:
            drop(self._sessions, self._dialect, step, ref)
        except DatabaseError as error:
            if error.lost or whole(self._sessions, self._dialect, ref):
                raise
            raise _LeftError(f"{named(entry)} {unfinished(self._sessions, self._dialect, ref)}") from None
        self.gone(entry)
        return f"dropped {named(entry)}"

    def _leave_to_user(self, entry: JournalEntry, ref: ObjectRef, found: Row) -> str:
        """The object of a job stays; what only served its making (a degree) is put back first.

        One that was cut off in its making is dropped: it is provably the run's, and nobody has been given it yet.
        """
        if not is_the_one(entry, found):
            told = entry.proof.get("free") and entry.undo  # else nothing of it is to be put back
            if not (told and self._keep_open):
                self._journal.abandon(entry.entry)
            if told:
                raise _LeftError(
                    f"{named(entry)} is older, by the database's clock, than the look that found its name free: "
                    "somebody renamed it, or the clock was put back; it is left as it is"
                    f"{self._by_hand(entry)}"
                )
            return ""
        self._leave_stranger(entry, ref)
        lacking = lacking_of(self._sessions, self._dialect, ref)
        if lacking is not None and lacking.get("cut_off") == "yes":
            return f"{self._drop(entry, ref, found)}, which {lacking['state']}"
        if lacking is not None:
            raise _LeftError(f"{named(entry)} {mended(lacking, self._dialect)}")
        if not entry.undo:
            self._journal.abandon(entry.entry)
            return ""
        self._refuse_unsealed(entry)
        self._run_undo(entry)
        self._journal.abandon(entry.entry)
        return f"settled {named(entry)}{_by(entry)}"

    def _leave_stranger(self, entry: JournalEntry, ref: ObjectRef) -> None:
        """Leave what was made since under the name of a creation that nobody lived to record."""
        if entry.state is EntryState.MADE:
            return
        differs = difference(self._sessions, self._dialect, ref, entry.proof)
        if differs is not None:
            if not self._keep_open:
                self._journal.abandon(entry.entry)
            raise _LeftError(f"{named(entry)} {differs}; it is left as it is")

    def _put_back(self, entry: JournalEntry) -> str:
        ref = ref_of(entry)
        lacking = lacking_of(self._sessions, self._dialect, ref) if ref.kind is ObjectKind.INDEX else None
        if lacking is not None and lacking.get("half_built") == "yes":
            remedy = f"{lacking['remedy']}{self._dialect.terminator}"
            raise _LeftError(f"{named(entry)} {lacking['state']}; run: {remedy} and `dbatk clean`")
        self._refuse_unsealed(entry)
        command = entry.proof.get("command")
        if command is not None:
            argv = json.loads(str(command))
            if not self._allow_commands:
                remedy = "run it" if ref.kind is ObjectKind.PROGRAM else "restore it"
                raise _LeftError(f"{named(entry)}: {remedy} with --allow-commands, or run: {shlex.join(argv)}")
            try:
                run_command(argv, limit_seconds=3600.0)  # a server that is started again reads its log first
            except ToolkitError as error:
                if ref.kind is not ObjectKind.PROGRAM or self._keep_open:
                    raise
                # a program that cannot end well would keep its run open for ever
                self._journal.abandon(entry.entry)
                raise _LeftError(f"{named(entry)}: {error.sentence}; it is not run again") from None
        self._run_undo(entry)
        after_undo(self._sessions, entry)
        broken = lacking is not None and bool(entry.proof.get("usable"))
        if broken and entry.undo:  # all else is as it was: what stays open keeps no other run from the index
            rest = self._journal.intend(
                Step("usable", "", effect=Effect.CHANGES, object=ref),
                trial=entry.trial,
                proof={"usable": True},
            )
            self._journal.made(rest, entry.identity or {"identity": entry.proof.get("identity")})
            self._journal.undone(entry.entry)
        if broken:
            raise _BesideError(unusable(ref, lacking or {}, self._dialect))
        self._journal.undone(entry.entry)
        if not (entry.undo or entry.proof.get("command")):
            return ""
        if ref.kind is ObjectKind.PROGRAM:
            return f"ran {named(entry)}"
        return f"restored {named(entry)}" + (f" to `{was}`" if (was := entry.proof.get("before")) else _by(entry))

    def _refuse_unsealed(self, entry: JournalEntry) -> None:
        """Refuse to run what an entry says that approved work did not write; what is back already needs nothing.

        Raises:
            _LeftError: something would be run.
        """
        if entry.sealed:
            return
        changes = restored_by(entry)
        now = present(self._sessions, self._dialect, ref_of(entry)) if any(changes) else None
        back = all(
            change is not None and now is not None and now.values.get((change.name, change.part)) == change.back
            for change in changes
        )
        if not back or entry.proof.get("command") or entry.proof.get("restart"):
            raise _unsealed(entry)

    def _run_undo(self, entry: JournalEntry) -> None:
        """Put every value back that is still the one the run set; say which is not."""
        changes = restored_by(entry)
        now = present(self._sessions, self._dialect, ref_of(entry)) if any(changes) else None
        kind = StepKind.SYSDBA if entry.proof.get("sysdba") else StepKind.SQL
        steps = [
            Step("undo", text, kind, effect=Effect.CHANGES, puts_back=change)
            for text, change in zip(entry.undo, changes, strict=True)
        ]
        foreign = put_back(self._sessions, self._dialect, ref_of(entry), steps, now)
        if foreign:
            if not self._keep_open:
                # Said once: from here on the value is that of whoever set it.
                self._journal.abandon(entry.entry)
            raise _LeftError("; ".join(foreign))

    def _still(self, entry: JournalEntry) -> str:
        """Say which values an object has that it had not; nothing where it was made, or cannot be read now."""
        changes = [each for each in restored_by(entry) if each is not None]
        try:
            now = present(self._sessions, self._dialect, ref_of(entry)) if changes else None
        except (DatabaseError, ToolkitError):
            return ""
        parts = [
            f"{each.title} is `{value}`, was `{each.back}`"
            for each in changes
            if now is not None and (value := now.values.get((each.name, each.part))) != each.back
        ]
        return f" ({'; '.join(parts)})" if parts else ""

    def _by_hand(self, entry: JournalEntry) -> str:
        """Name the statements that undo an entry, for the hands of a DBA."""
        if entry.object_kind not in {ObjectKind.TABLE, ObjectKind.INDEX}:
            return ""
        drops = self._dialect.drop(ref_of(entry)) if creates(entry) and entry.scratch else ()
        texts = [step_of(self._dialect, call).text for call in drops] or list(entry.undo)
        if not texts:
            return ""
        return "; to undo it by hand, run: " + " ".join(f"{text}{self._dialect.terminator}" for text in texts)


def _unsealed(entry: JournalEntry) -> _LeftError:
    return _LeftError(
        f"{named(entry)}: {UNSEALED}, and nothing else runs here; review what `dbatk clean --run {entry.run} "
        "--dry-run` prints, and run it by hand"
    )


def _by(entry: JournalEntry) -> str:
    """Name the statements that put a change back: each by the comment that tells it, or its first line."""
    lines = [[line.strip() for line in text.strip().splitlines()] for text in entry.undo if text.strip()]
    told = [next((line for line in each if line.startswith("-- ")), each[0]).removeprefix("-- ") for each in lines]
    return f" by {'; '.join(told)}" if told else ""
