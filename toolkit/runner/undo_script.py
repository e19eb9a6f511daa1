"""The undo script: what the journal would undo, as a file for the hands of a DBA.

It is written to disk before the first change, is complete without the store, and runs in the engine's own client.
Every statement looks first, where the engine can, whether the object is still the one that was made, and its value
the one that was set.
"""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import print_steps
from toolkit.model.engines import engine as declared
from toolkit.model.records import JournalEntry
from toolkit.model.steps import Attribute, Step
from toolkit.model.words import ON_HOST, Effect, EntryState, ObjectKind, StepKind
from toolkit.rendering import step_of
from toolkit.runner.ownership import IN_CATALOGUE, creates, named, ref_of, restored_by

_FOLDER_MODE = 0o700
_Part = tuple[list[str], list[Step]]
"""Comment lines, and the statements they speak of."""


@dataclass(slots=True)
class UndoScript:
    """The file of one run; there only while something is left to undo.

    Args:
        path: where it is kept; its folder is made when needed.
        dialect: spells the statements.
        run: the run's id.
        target: what a user gives with `-t`, without secrets.
        on_first: called with the path when the file is first written.
    """

    path: Path
    dialect: Dialect
    run: str
    target: str
    on_first: Callable[[Path], None] = lambda _: None
    _announced: bool = field(default=False, init=False)
    _spelled: dict[int, tuple[JournalEntry, _Part | None]] = field(default_factory=dict, init=False)
    """What was written of each entry last: most are still as they were then."""
    _sessions_spelled: _Part | None = field(default=None, init=False)

    def write(self, entries: Sequence[JournalEntry], *, strictly: bool) -> None:
        """Bring the file in step with the open entries, newest first; nothing left removes it.

        Args:
            entries: what is open.
            strictly: a change is about to be made, which must not be when the file cannot be written. Otherwise
                an older file stays: it lists too much, and what it lists is checked again.

        Raises:
            ToolkitError: TK-0405, when `strictly`.
        """
        text = self.text(entries)
        try:
            if text is None:
                # what a kill left of a script that was about to get its name
                for each in (self.path, *self.path.parent.glob(f".{self.path.name}.*")):
                    each.unlink(missing_ok=True)
                return
            _replace(self.path, text, durable=strictly)
        except OSError as error:
            if strictly:
                raise ToolkitError(
                    f"the undo script `{self.path}` cannot be written: {(error.strerror or 'unknown').lower()}",
                    code="TK-0405",
                    hint="nothing was changed; use a writable --store with free space",
                ) from None
            return
        if not self._announced:
            self._announced = True
            self.on_first(self.path)

    def text(self, entries: Sequence[JournalEntry]) -> str | None:
        """Return the script, or None when no entry has anything to undo."""
        parts = [part for entry in _in_order(entries) if (part := self._part(entry))]
        if not parts:
            return None
        if self._by_shell:
            return print_steps(self.dialect.engine, self._head()[:2], parts)
        if self._sessions_spelled is None:
            self._sessions_spelled = self._sessions()
        return print_steps(self.dialect.engine, self._head(), [self._sessions_spelled, *parts])

    @property
    def _by_shell(self) -> bool:
        """Whether the script is a shell's: a host has no sessions to look for."""
        return declared(self.dialect.engine).client.comment == "#"

    def _head(self) -> list[str]:
        return [
            f"undoes what run {self.run} changed and has not restored, on {self.target}",
            f"`dbatk clean -t {shlex.quote(self.target)} --run {self.run}` does the same; by hand:",
            "1. check that no session of the run is active (the first statement lists them, and how to end each)",
            "2. run the rest; an object that no longer belongs to the run is left alone, and so is a value that "
            "somebody else set meanwhile: an error shows both values",
        ]

    def _part(self, entry: JournalEntry) -> _Part | None:
        spelled = self._spelled.get(entry.entry)
        if spelled is None or spelled[0] != entry:
            spelled = self._spelled[entry.entry] = entry, self._entry(entry)
        return spelled[1]

    def _sessions(self) -> _Part:
        call = self.dialect.sessions_of(self.run)
        step = step_of(self.dialect, call)
        text = step.text.replace(":run", self.dialect.literal(self.run))
        return ["sessions of the run"], [Step(step.name, text)]

    def _entry(self, entry: JournalEntry) -> _Part | None:
        """Return the heading and the steps of an entry, or None when there is nothing to undo."""
        ref = ref_of(entry)
        if entry.effect == Effect.DROPS:
            return self._heading(entry), []
        if creates(entry) and entry.scratch:
            drops = [step_of(self.dialect, call) for call in self.dialect.drop(ref)]
            if any(step.kind in ON_HOST for step in drops):
                return self._heading(entry), drops
            texts = [step.text for step in drops]
        else:
            texts = list(entry.undo)
        command = entry.proof.get("command")
        if not texts and command is None:
            return None
        guarded = ref.kind in IN_CATALOGUE
        changes = restored_by(entry) if texts == list(entry.undo) else [None] * len(texts)
        steps = [
            self._guarded(text, entry, change) if guarded else _plain(text)
            for text, change in zip(texts, changes, strict=True)
            if change is None or change.ours != change.back
        ]
        if command is not None and self._by_shell:
            steps.append(Step("undo", shlex.join(json.loads(str(command))), kind=StepKind.COMMAND))
        return self._heading(entry), steps

    def _heading(self, entry: JournalEntry) -> list[str]:
        where = f"trial {entry.trial}" if entry.trial is not None else "the setup"
        done = "made" if entry.state is EntryState.MADE else "about to be made"
        if entry.effect == Effect.DROPS:
            return [f"{named(entry)} was to be removed by the run; nothing is undone: if it is there, it is kept"]
        if entry.object_kind == ObjectKind.PROGRAM:
            lines = [f"{named(entry)} is to be run at the end, also after a failure"]
            return lines if self._by_shell else [*lines, _line(entry)]
        verb = "is a scratch object, " if entry.scratch and creates(entry) else "was changed, "
        lines = [f"{named(entry)} {verb}{done} in {where}"]
        if entry.proof.get("before"):
            lines.append(f"its former value was `{entry.proof['before']}`")
        if "command" in entry.proof and not self._by_shell:
            lines.append(_line(entry))
        return lines

    def _guarded(self, text: str, entry: JournalEntry, change: Attribute | None) -> Step:
        identity = entry.identity.get("identity") or entry.proof.get("identity")
        born = entry.proof.get("born") if creates(entry) and identity is None else None
        restores = () if change is None else (change,)
        call = self.dialect.by_hand(text, ref_of(entry), identity, born, restores)
        return _plain(text) if call is None else step_of(self.dialect, call)


def _line(entry: JournalEntry) -> str:
    return f"on the host, run: {shlex.join(json.loads(str(entry.proof['command'])))}"


def _plain(text: str) -> Step:
    block = text.lstrip()[:7].upper().startswith(("BEGIN", "DECLARE"))
    return Step("undo", text, kind=StepKind.BLOCK if block else StepKind.SQL)


def _in_order(entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """Put scratch tables first, as an undo does: their indexes and attributes go with them."""
    return sorted(entries, key=lambda each: each.object_kind != "table")


def _replace(path: Path, text: str, *, durable: bool) -> None:
    """Write a file at once or not at all, readable by its owner only."""
    path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise
