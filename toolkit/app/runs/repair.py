"""What an interrupted run left: found, undone and reported; `resume` goes on from here, `clean` ends here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from toolkit.app.approvals import TargetPolicy, seal_for
from toolkit.app.auditing import Notes
from toolkit.app.ruling import ruled_by_address, ruled_now
from toolkit.app.runs.databases import (
    database_of,
    elsewhere,
    in_another_role,
    read_server,
    refuse_other_database,
    worked_on,
)  # fmt: skip
from toolkit.app.runs.servers import bring_server_back
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ExitCode, ToolkitError
from toolkit.executors import UNDOES, Sessions, Timeouts, refused
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.experiment import PlannedTrial
from toolkit.model.facts import facts_from_text
from toolkit.model.operations import Options, declaration
from toolkit.model.protocols import DatabaseError, Event, Events
from toolkit.model.records import IN_TURNS, MEASURED_BY, PROVENANCE, JournalEntry, RunHead, RunRecord, run_key
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.runner import Changes, PlanningContext, Stop, Undone, UndoScript, end_orphaned_sessions, interrupted
from toolkit.runner.evidence import NOT_DONE
from toolkit.runner.gathering import prove, publish
from toolkit.runner.judging import END_UNKNOWN, may_load_twice
from toolkit.runner.leftovers import (
    FOUND_COMPLETE,
    Others,
    note_completed,
    noted_before,
    of_other_stores,
    with_sessions,
)
from toolkit.runner.parts import may_be_loaded_in_part, partly_loaded
from toolkit.runner.unlogged import need_backup
from toolkit.store import Store
from toolkit.store.seals import Seal
from toolkit.targets.base import Target


def prove_after_crash(
    head: RunHead, store: Store, dialect: Dialect, sessions: Sessions, changes: Changes, events: Events
) -> tuple[str, ...]:
    """Compare the statistics with those recorded at the run's beginning, before anything is put back.

    Returns:
        What moved or could not be compared, how it is restored, and where the former statistics are kept.
    """
    experiment = head.experiment
    recorded = store.load_facts(head.run)
    unfinished = bool(store.journal(head.run).open_entries())
    if not declaration(experiment.operation).publishes_statistics or experiment.mode is not Mode.MEASUREMENT:
        return ()
    if recorded is None or not unfinished:
        return ()
    facts = facts_from_text(recorded)
    planning = PlanningContext(experiment, dialect, facts)
    found = prove(planning.planner(run_key(head.run), 0), planning.cells[0], facts, sessions, changes)
    if found is None:
        return ()
    publish(store, head.run, found, events)
    return () if found.good else found.warnings


# -- the undo script ----------------------------------------------------------------------------------------------
def undo_script(head: RunHead, store: Store, dialect: Dialect, events: Events) -> UndoScript:
    """Return the undo script of a run; its path is announced once, when the first change is about to be made."""

    def announce(path: Path) -> None:
        events.emit(Event("undo", f"undo script, in case this process dies: {path}", {"path": str(path)}))

    return UndoScript(store.undo_script(head.run), dialect, head.run, head.experiment.target, announce)


@contextmanager
def ended_in_any_case(store: Store, run: str, stop: Stop) -> Iterator[None]:
    """Let no run stay `running` that was refused (a lease, a licence), or interrupted, after it was stored."""
    try:
        yield
    except BaseException as error:
        if store.load_head(run).state is RunState.RUNNING and not stop.disowned:
            store.end_run(run, _ended_by(error), datetime.now(UTC))
        raise


def _ended_by(error: BaseException) -> RunState:
    code = error.exit_code if isinstance(error, ToolkitError) else None
    if isinstance(error, KeyboardInterrupt) or code is ExitCode.INTERRUPTED:
        return RunState.INTERRUPTED
    return RunState.REFUSED if code is ExitCode.REFUSED else RunState.FAILED


# -- clean and resume ---------------------------------------------------------------------------------------------
_ENDED_BADLY = frozenset({Outcome.FAILED, Outcome.INTERRUPTED})
_ENDED_EARLY = frozenset({RunState.FAILED, RunState.INTERRUPTED, RunState.RUNNING})  # sessions may be at work


@dataclass(frozen=True, slots=True)
class CleanReport:
    """What `clean` put back, and what it left with the statement to run by hand."""

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    backup: tuple[str, ...] = ()
    """What needs a backup, because it was written without redo."""
    others: Others = field(default_factory=Others)
    """What runs of other stores made here."""


def clean(
    target: Target, *, run: str | None, store: Store, events: Events, allow_commands: bool = False,
    policy: TargetPolicy | None = None, under: str | None = None, timeouts: Timeouts | None = None,
    locks: Options | None = None,
) -> CleanReport:  # fmt: skip
    """Undo what crashed runs left on this target.

    Args:
        target: where to look.
        run: only this run; None takes every run of this database with open journal entries.
        store: where the journal is.
        events: receives what happens.
        allow_commands: whether a setting of this host may be put back by the command its factor named.
        policy: what the target's profile says; nothing for a URL.
        under: the execution of a plan that asks; what it holds itself is not in its way.
        timeouts: how long its sessions wait.
        locks: how it waits for those of others, if not as each run did.

    Raises:
        ToolkitError: TK-0107 when the run worked on another database, TK-0313 for commands that nobody approved,
            TK-0302 when it is alive or another store's run works here, TK-0308 when its sessions do not end.
    """
    dialect = dialect_of(target.engine)
    done: list[str] = []
    left: list[str] = []
    backup: list[str] = []
    notes = Notes(store, events)
    policy = policy or TargetPolicy()
    by_address = ruled_by_address(policy, target.address)  # a server that is down cannot be asked
    seal = seal_for(approved=by_address.approved_only)
    bring_server_back(target, policy, store, run, events, seal, held=under is not None)
    words = policy.profile_name or target.display
    policy = ruled_now(policy, target, timeouts)
    seal = seal_for(approved=policy.approved_only)
    for head in _heads(target, words, run, store, timeouts):
        if under is None:
            store.refuse_live_run(head.run)
        if allow_commands and policy.approved_only:
            _refuse_commands(head, policy, store)
        with notes.around(_cleaning(head, under), AuditKind.CLEAN_END) as ending:
            undone, needs = _clean_one(
                head, target, store, events, allow_commands, under, timeouts, policy, seal, locks
            )
            ending.details += (*undone.done, *(f"left: {sentence}" for sentence in undone.left))
        done += [f"{head.run}: {sentence}" for sentence in undone.done]
        left += [f"{head.run}: {sentence}" for sentence in undone.left]
        backup += [f"{head.run}: {sentence}" for sentence in needs]
        for sentence in needs:
            store.warn(head.run, sentence)
        if undone.done or undone.left:
            told = f"run {head.run}: {len(undone.done)} cleaned, {len(undone.left)} not"
            events.emit(Event("cleanup", told))
    if run is None and under is None:
        left += elsewhere(target, words, store, timeouts)
    others = of_other_stores(target, dialect, store) if run is None and under is None else Others()
    return CleanReport(tuple(done), tuple(left), tuple(backup), others)


def shown_undo(target: Target, *, run: str | None, store: Store, policy: TargetPolicy) -> dict[str, str]:
    """Return what `clean` would run of each run, by its id, where an object is still as the run left it."""
    dialect = dialect_of(target.engine)
    scripts = {}
    for head in _heads(target, policy.profile_name or target.display, run, store, None):
        script = UndoScript(store.undo_script(head.run), dialect, head.run, head.experiment.target)
        text = script.text(store.journal(head.run).open_entries())
        scripts[head.run] = text or f"-- run {head.run}: no object to undo; its sessions and programs are ended\n"
    return scripts


def _refuse_commands(head: RunHead, policy: TargetPolicy, store: Store) -> None:
    """Refuse to undo by commands of this host what was not approved to run there."""
    for line in store.audit.events(AuditKind.RUN_BEGIN):
        if line.event.run == head.run and any(one.startswith("approved as ") for one in line.event.details):
            return
    raise ToolkitError(
        f"`--allow-commands`: run {head.run} was not approved, and only approved work may run on "
        f"`{policy.by.get('approved_only', policy.profile_name)}`",
        code="TK-0313",
        hint="omit it: what a command would undo is listed with the command",
    )


def _clean_one(
    head: RunHead, target: Target, store: Store, events: Events, allow_commands: bool, under: str | None,
    timeouts: Timeouts | None, policy: TargetPolicy, seal: Seal | None, locks: Options | None,
) -> tuple[Undone, tuple[str, ...]]:  # fmt: skip
    """Undo what one run left; return what came of it, and what needs a backup."""
    dialect = dialect_of(target.engine)
    sessions = Sessions(target, f"{head.run}{UNDOES}", timeouts=timeouts)
    sessions.administer(policy.restart, policy.sysdba)
    sessions.wait_for_locks({**head.experiment.options, **(locks or {})})
    try:
        journal = store.journal(head.run, seal)
        sealed = store.is_sealed(head.run, seal)
        orphans = end_orphaned_sessions(target, dialect, head.run, journal, timeouts, may_end=sealed)
        sessions.claim(lambda run: under is not None and store.is_of_plan_run(run, under))
        script = undo_script(head, store, dialect, events)
        changes = Changes(sessions, dialect, journal, allow_commands=allow_commands, script=script)
        moved = prove_after_crash(head, store, dialect, sessions, changes, events)
        partly = tuple(partly_loaded(head.run, head.experiment, sessions, dialect, store, removing=True))
        note_completed(head.run, head.experiment, changes, store, warning(head.run, store, events))
        undone = changes.undo_all()
        _end_broken(head.run, store)
        left = (*undone.left, *partly, *moved, *orphans.going_on)
        undone = replace(undone, done=(*orphans.of_programs, *undone.done), left=left)
        return undone, _need_backup(sessions, dialect, journal.entries())
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()


def _need_backup(sessions: Sessions, dialect: Dialect, entries: Sequence[JournalEntry]) -> tuple[str, ...]:
    """Say what needs a backup; where that cannot be seen, what was undone or left is said all the same."""
    try:
        return need_backup(sessions, dialect, entries)
    except DatabaseError as error:
        if error.lost:
            raise
        return (f"the files that need a backup could not be determined ({error.sentence})",)


def _cleaning(head: RunHead, under: str | None) -> AuditEvent:
    return AuditEvent(
        AuditKind.CLEAN_BEGIN,
        step=head.experiment.name,
        target=head.experiment.target,
        database=head.target_name,
        run=head.run,
        details=() if under is None else (f"part of {under}",),
    )


def _heads(target: Target, words: str, run: str | None, store: Store, timeouts: Timeouts | None) -> list[RunHead]:
    """Return the run named, or the runs with open entries, sessions or programs that worked on this database."""
    dialect = dialect_of(target.engine)
    here = database_of(read_server(target, dialect, timeouts), target)
    if run is not None:
        head = store.load_head(run)
        if not in_another_role(head, target, words, here):
            refuse_other_database(head, target, here)
        return [head]
    left = frozenset(entry.run for entry in store.open_entries_all())
    heads = [head for head in store.list_runs() if worked_on(head, target, here)]
    early = [head for head in heads if head.run not in left and head.state in _ENDED_EARLY]
    broken, ended = (head.run for head in early if _is_over(head, store)), {head.run for head in heads} - left
    seen = with_sessions(target, dialect, broken, ended, timeouts)
    left |= {run for run in seen if _is_over(store.load_head(run), store)}
    # parts that stay have no open entries once it is known that they are committed
    return [
        head
        for head in reversed(heads)
        if head.run in left or may_be_loaded_in_part(head.run, head.experiment, dialect, store)
    ]


def _is_over(head: RunHead, store: Store) -> bool:
    """Tell whether no process works on a run any more."""
    try:
        store.refuse_live_run(head.run)
    except ToolkitError:
        return False
    return True


def next_attempt(record: RunRecord, store: Store) -> int:
    """Return the number of the attempt that a resume begins."""
    marks = store.unended_trials(record.head.run)
    return 1 + max([*(trial.attempt for trial in record.trials), *(mark.attempt for mark in marks)], default=0)


# -- before a run goes on ---------------------------------------------------------------------------------------
def refuse_ingested(record: RunRecord) -> None:
    """Refuse a run that dbatk did not run: its own script goes on with it, or nothing does.

    Raises:
        ToolkitError: TK-0107.
    """
    if IN_TURNS in str(record.environment.get(MEASURED_BY, "")):
        raise ToolkitError(
            f"run {record.head.run} is a measurement on several targets that has ended",
            code="TK-0107",
            hint="measure again what failed",
        )
    bundle = PROVENANCE in record.environment
    if bundle or MEASURED_BY in record.environment:
        what = "came from a bundle, whose own script continues it" if bundle else "was imported"
        hint = "run its run.sh and `dbatk ingest` again" if bundle else "import the missing trials as a run"
        raise ToolkitError(f"run {record.head.run} {what}", code="TK-0107", hint=hint)


def repair(run: str, changes: Changes, store: Store, events: Events) -> bool:
    """Mark what was cut off, note what was made all the same, and undo the rest.

    Returns:
        Whether the object of a job is there: it was made although the process died before it could record that.

    Raises:
        ToolkitError: TK-0307 when something cannot be undone.
    """
    _mark_broken(run, store, events)

    experiment = store.load_head(run).experiment
    made = note_completed(run, experiment, changes, store, warning(run, store, events))
    made = made or noted_before(run, experiment, store)
    undone = changes.undo_all()
    for sentence in undone.done:
        events.emit(Event("cleanup", sentence))
    in_the_way = [sentence for sentence in undone.left if sentence not in undone.beside]
    if in_the_way:
        raise ToolkitError("; ".join(in_the_way), code="TK-0307", hint="resolve it by hand, then resume again")
    for sentence in undone.left:
        warning(run, store, events)(sentence)
    return made


def warning(run: str, store: Store, events: Events) -> Callable[[str], None]:
    """Return what keeps a warning with a run and shows it."""

    def warn(sentence: str) -> None:
        store.warn(run, sentence)
        events.emit(Event("warning", sentence))

    return warn


def lost_after_all(run: str, store: Store) -> bool:
    """Tell whether a job had done all its items when it failed, of whatever came after them.

    Its session was lost, the server could not be reached again, or its evidence was refused: to go on with it is
    to find out; to begin it anew would be to do it twice. A backup is nothing before it is read again, unless it
    was found where it stays, and a load without rows failed although its item ended.
    """
    record = store.load_run(run, samples=False)
    last = record.trials[-1] if record.trials else None
    experiment = record.head.experiment
    if last is None or experiment.mode is not Mode.JOB:
        return False
    if last.outcome not in _ENDED_BADLY or last.error_code == NOT_DONE:
        return False
    latest = {item.label: item for item in store.items_of(run, last.trial)}.values()
    known = "" if declaration(experiment.operation).complete_when_timed else FOUND_COMPLETE
    good = (item.outcome is Outcome.OK and (item.reason or "").startswith(known) for item in latest)
    return bool(latest) and all(good)


def _mark_broken(run: str, store: Store, events: Events) -> None:
    """Record the trial that a kill cut off as interrupted; it is never in the numbers."""
    unknown = END_UNKNOWN if may_load_twice(store.load_head(run).experiment) else None
    for mark in store.unended_trials(run):
        planned = PlannedTrial(mark.trial, mark.cell, mark.repeat)
        ended = replace(interrupted(planned, mark.attempt, mark.began_at), error_code=unknown)
        store.end_trial(run, ended)
        again = "" if unknown else " and will be run again"
        events.emit(Event("warning", f"trial {mark.trial} ({mark.cell}) was interrupted{again}"))
    _end_broken(run, store)


def _end_broken(run: str, store: Store) -> None:
    """Record that a run was interrupted, if its process died before it could."""
    if store.load_head(run).ended_at is None:
        store.end_run(run, RunState.INTERRUPTED, datetime.now(UTC))
