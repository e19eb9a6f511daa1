"""Writes into the audit log what is done: before it is done, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256

from toolkit.app.approvals import Approvals
from toolkit.config.actor import display_of
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.facts import Facts
from toolkit.model.protocols import Event, Events
from toolkit.model.records import RunHead
from toolkit.model.words import EntryState, RunState
from toolkit.store import Store, open_store
from toolkit.store.audit import AuditFile
from toolkit.store.location import audit_path, find_place

_SCRIPT = "script.sql"
_DONE = "done"


@dataclass(slots=True)
class Ending:
    """What is recorded when something has ended."""

    outcome: str = _DONE
    details: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Notes:
    """The log of a store, for one piece of work.

    Where an approval is needed nothing may be done that cannot be logged; else a log that cannot be written is a
    warning: who frees a full disk by `dbatk clean` must not be kept from it.
    """

    store: Store
    events: Events | None = None
    must: bool = False

    def write(self, event: AuditEvent) -> None:
        """Add a line.

        Raises:
            ToolkitError: TK-0314 when it cannot be written and must be.
        """
        try:
            self.store.audit.write(event)
        except ToolkitError as error:
            if self.must:
                raise
            self.warn(error)

    def warn(self, error: ToolkitError) -> None:
        """Say that something is missing in the log."""
        if self.events is not None:
            self.events.emit(Event("warning", f"{error.sentence}: this entry is missing there"))

    @contextmanager
    def around(self, event: AuditEvent, ends: AuditKind | None = None) -> Iterator[Ending]:
        """Note that something begins, and how it ended, as the ending given says.

        Raises:
            ToolkitError: TK-0314, as `write`, before anything is done.
        """
        self.write(replace(event, outcome=event.outcome or "begun"))
        ending, last = Ending(), replace(event, kind=ends or event.kind)
        try:
            yield ending
        except BaseException as error:
            outcome = "failed" if ending.outcome == _DONE else ending.outcome
            self._end(replace(last, outcome=outcome, reason=_sentence(error), details=tuple(ending.details)))
            raise
        self._end(replace(last, outcome=ending.outcome, details=tuple(ending.details)))

    def _end(self, event: AuditEvent) -> None:
        """Note an end; what was done is done, so that a full disk does not undo its result."""
        try:
            self.store.audit.write(event)
        except ToolkitError as error:
            self.warn(error)


def notes_of(store: Store, approvals: Approvals, events: Events | None = None) -> Notes:
    """Return the log for work that the user allowed."""
    return Notes(store, events, must=approvals.approval is not None)


def note_refusal(error: ToolkitError, store: str | None, plan: str | None, target: str | None) -> None:
    """Note that a guard refused a command; the error itself says enough where that cannot be written."""
    event = AuditEvent(
        AuditKind.REFUSE, plan=plan, target=target and display_of(target), outcome=error.code, reason=error.message
    )
    with suppress(ToolkitError):
        place = find_place(store)
        path = audit_path(place)
        if path is not None and place.path is not None and not place.path.exists():
            AuditFile(path).write(event)
            return
        with open_store(store, at_once=False) as opened:
            opened.audit.write(event)


def _sentence(error: BaseException) -> str:
    return error.sentence if isinstance(error, ToolkitError) else type(error).__name__


@contextmanager
def run_noted(
    store: Store, head: RunHead, facts: Facts, approvals: Approvals, events: Events, reason: str | None = None
) -> Iterator[None]:
    """Note that a run begins, why it continues if a person decided so, and how it ended and what it changed."""
    experiment = head.experiment
    user = facts.value("server", "user_name")
    event = AuditEvent(
        AuditKind.RUN_BEGIN,
        step=experiment.name,
        target=experiment.target,
        database=head.target_name,
        database_user=None if user is None else str(user),
        run=head.run,
        hash=_script_hash(store, head.run),
        reason=reason,
        details=_about(head, approvals),
    )
    notes = notes_of(store, approvals, events)
    with notes.around(event, AuditKind.RUN_END) as ending:
        try:
            yield
        finally:
            with suppress(ToolkitError):
                state = store.load_head(head.run).state
                # one that goes on later is interrupted, whatever its state is while the error passes through here
                ending.outcome = "interrupted" if state is RunState.RUNNING else state.value
                ending.details += changes_of(store, head.run)


def _about(head: RunHead, approvals: Approvals) -> tuple[str, ...]:
    parts = [f"{head.experiment.operation}, a {head.experiment.mode}"]
    if head.parent is not None:
        parts.append(f"part of {head.parent}")
    if approvals.approval is not None:
        parts.append(f"approved as {approvals.approval}")
    return tuple(parts)


def _script_hash(store: Store, run: str) -> str | None:
    kept = store.load_artifact(run, _SCRIPT)
    return None if kept is None else f"sha256:{sha256(kept.content).hexdigest()}"


def changes_of(store: Store, run: str) -> Sequence[str]:
    """Return what a run changed, by its journal: each change once, with what became of it."""
    words = {EntryState.UNDONE: ", undone", EntryState.INTENDED: ", completion unknown"}
    entries = store.journal(run).entries()
    return list(
        dict.fromkeys(
            f"{one.effect} {one.object_kind} {f'{one.schema}.' if one.schema else ''}{one.name}"
            f"{words.get(one.state, '')}"
            for one in entries
        )
    )
