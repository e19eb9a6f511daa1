"""Runs experiments: begin, resume, clean. Everything a front end needs, without printing anything."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime

from toolkit import __version__
from toolkit.app.approvals import Approvals, TargetPolicy, check_experiment, check_production
from toolkit.app.auditing import run_noted
from toolkit.app.runs import backup_client, licensing
from toolkit.app.runs.doubt import LoadInDoubt
from toolkit.app.runs.drift import warn_of_drift
from toolkit.app.runs.explaining import keep_explanation
from toolkit.app.runs.keeping import keep_best
from toolkit.app.runs.planning import (
    Plan,
    cells_in_order,
    describe,
    facts_of,
    planned_trials,
    planner_of,
    script,
    scripts_of,
    support_table,
)
from toolkit.app.runs.repair import (
    database_of,
    next_attempt,
    read_server,
    refuse_ingested,
    refuse_other_database,
    repair,
)
from toolkit.app.runs.space import check_space, free_disk_bytes, needed_bytes
from toolkit.app.runs.undoing import undo_script
from toolkit.app.snapshots.providers import providers_of, snapshot_source_of_run
from toolkit.app.snapshots.sources import keep_snapshot_source
from toolkit.app.within import check_approved, check_within
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.repositories import SnapshotSource
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, refused
from toolkit.model.bill import Bill
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError, Event, Events, TaggedEvents
from toolkit.model.records import RunHead, TrialRecord
from toolkit.model.runid import new_run_id
from toolkit.model.words import CountedRows, Keep, RunState
from toolkit.operations import operation
from toolkit.operations.place import check_work
from toolkit.runner import (
    Changes,
    RunContext,
    Stop,
    Sweep,
    end_orphaned_sessions,
    holding_lease,
    missing,
)
from toolkit.runner.backup import need_backup
from toolkit.store import Store
from toolkit.targets.base import Target

__all__ = [
    "Approvals",
    "Plan",
    "TargetPolicy",
    "describe",
    "resume",
    "script",
    "start",
]


def start(
    experiment: Experiment,
    target: Target,
    *,
    store: Store,
    approvals: Approvals,
    events: Events,
    policy: TargetPolicy | None = None,
    stop: Stop | None = None,
    under: str | None = None,
) -> str:
    """Run an experiment and return the run's id; outcomes of trials are in the store, not exceptions.

    Args:
        experiment: what is run.
        target: where.
        store: where results go.
        approvals: what the user allowed.
        events: told what happens.
        policy: what the target's profile says; nothing for a URL.
        stop: asked between and during trials; signals set it when this is the main thread.
        under: the execution of a plan that this run is part of; it holds the target's lease.

    Raises:
        ToolkitError: whatever refuses the run before it begins, and TK-0202 when the server does not come back.
    """
    policy = policy or TargetPolicy()
    check_approved(policy, approvals)
    check_experiment(experiment, policy, approvals)
    run = new_run_id(datetime.now(UTC), random.Random(secrets.randbits(64)))  # noqa: S311 (an id, no secret)
    events = TaggedEvents(events, {"run": run})
    sessions = Sessions(target, run)
    stop = stop or Stop()
    try:
        dialect = dialect_of(target.engine)
        facts = facts_of(experiment, dialect, sessions, policy)
        _approve(target, facts, policy, approvals)
        _check(experiment, dialect, facts, target, sessions)
        _check_scripts(experiment, dialect, facts, target, policy, approvals)
        snapshot_source = snapshot_source_of_run(experiment, dialect, facts, sessions)
        head = _head(run, experiment, target, facts, under)
        store.create_run(head)
        with _ended_in_any_case(store, run, stop), _lease(store, target, run, stop, under):
            changes = _changes(head, sessions, dialect, store, approvals, events, stop)
            context = _context(
                run,
                experiment,
                dialect,
                facts,
                sessions,
                store,
                events,
                stop,
                target,
                changes,
                snapshot_source=snapshot_source,
            )
            keep_explanation(context, facts, target, policy)
            keep_snapshot_source(store, run, snapshot_source, events)
            with (
                licensing.sent_kept(store, run, target, facts, policy),
                run_noted(store, head, facts, approvals, events),
            ):
                return _sweep(context, target, planned_trials(experiment), ())
    except DatabaseError as error:
        raise refused(dialect_of(target.engine), error) from None
    finally:
        sessions.close()


@contextmanager
def _ended_in_any_case(store: Store, run: str, stop: Stop) -> Iterator[None]:
    """Let no run stay `running` that was refused (a lease, a licence) after it was stored."""
    try:
        yield
    except BaseException:
        if store.load_head(run).state is RunState.RUNNING and not stop.disowned:
            store.end_run(run, RunState.FAILED, datetime.now(UTC))
        raise


def _approve(target: Target, facts: Facts, policy: TargetPolicy, approvals: Approvals) -> None:
    names = {policy.profile_name, str(facts.value("server", "database_name", "") or "")}
    check_production(target.engine, policy, approvals, frozenset(name for name in names if name))


def _check(
    experiment: Experiment, dialect: Dialect, facts: Facts, target: Target, sessions: Sessions
) -> None:  # fmt: skip
    """Refuse what cannot work before anything is written."""
    planner = planner_of(experiment, dialect, facts)
    work = operation(experiment.operation)
    check_work(work, planner)
    support_table(experiment, planner, work, cells_in_order(experiment))
    check_space(experiment, facts, target)
    backup_client.check(experiment, facts, sessions, scripts_of(experiment, dialect, facts), target)


def _check_scripts(
    experiment: Experiment,
    dialect: Dialect,
    facts: Facts,
    target: Target,
    policy: TargetPolicy,
    approvals: Approvals,
) -> Bill | None:
    """Refuse what nobody declared or approved before anything is written; tell the guard what was read."""
    scripts = scripts_of(experiment, dialect, facts)
    if approvals.approval is not None:
        check_within(scripts, experiment, dialect, facts)
    bill = licensing.check(scripts, experiment, facts, policy)
    licensing.teach(target, facts, policy)
    return bill


def _lease(store: Store, target: Target, run: str, stop: Stop, under: str | None) -> AbstractContextManager[None]:
    return holding_lease(store, target.lease_key, run, stop) if under is None else nullcontext()


def _head(run: str, experiment: Experiment, target: Target, facts: Facts, under: str | None) -> RunHead:
    return RunHead(
        run,
        experiment,
        target.engine,
        RunState.RUNNING,
        datetime.now(UTC),
        operation_version=operation(experiment.operation).version,
        tool_version=__version__,
        parent=under,
        trials_planned=len(planned_trials(experiment)),
        target_name=database_of(facts, target),
    )


def _changes(
    head: RunHead, sessions: Sessions, dialect: Dialect, store: Store, approvals: Approvals, events: Events,
    stop: Stop,
) -> Changes:  # fmt: skip
    script = undo_script(head, store, dialect, events)
    journal = store.journal(head.run)
    may = approvals.allow_commands
    return Changes(sessions, dialect, journal, allow_commands=may, script=script, stop=stop)


def _context(
    run: str,
    experiment: Experiment,
    dialect: Dialect,
    facts: Facts,
    sessions: Sessions,
    store: Store,
    events: Events,
    stop: Stop,
    target: Target,
    changes: Changes,
    attempt: int = 1,
    snapshot_source: SnapshotSource | None = None,
) -> RunContext:
    sessions.programs.asked_to_end = lambda: stop.requested
    return RunContext(
        run,
        experiment,
        operation(experiment.operation),
        dialect,
        facts,
        sessions,
        store,
        changes,
        providers_of(experiment, dialect, facts, sessions, run, target, events, snapshot_source),
        stop,
        events,
        attempt,
        needed_bytes=needed_bytes(experiment, facts),
        free_bytes=lambda: free_disk_bytes(facts, target),
    )


def _sweep(
    context: RunContext, target: Target, planned: Sequence[PlannedTrial], done: Sequence[TrialRecord]
) -> str:
    with context.stop.listening():
        state = Sweep(context, target, planned, done).run()
        if state is RunState.DONE and context.experiment.keep is Keep.BEST:
            keep_best(context)
    _say_what_needs_a_backup(context)
    context.events.emit(Event("run-ended", state.value, {"run": context.run, "state": state.value}))
    if context.stop.because is not None and state is RunState.INTERRUPTED:
        raise context.stop.because
    if context.stop.requested and state is RunState.INTERRUPTED:
        raise ToolkitError(
            f"run {context.run} was interrupted", code="TK-0130", hint=f"`dbatk runs resume {context.run}` goes on"
        )
    return context.run


def _say_what_needs_a_backup(context: RunContext) -> None:
    """Warn of every object that stays and was written without redo."""
    entries = context.store.journal(context.run).entries()
    try:
        for sentence in need_backup(context.sessions, context.dialect, entries):
            context.warn(sentence)
    except (DatabaseError, ToolkitError) as error:
        context.warn(f"what needs a backup could not be looked up ({error.sentence}); run `dbatk clean`")


# -- after an interruption --------------------------------------------------------------------------------------
def resume(
    run: str,
    target: Target,
    *,
    store: Store,
    approvals: Approvals,
    events: Events,
    policy: TargetPolicy | None = None,
    stop: Stop | None = None,
    under: str | None = None,
    rows: CountedRows | None = None,
) -> str:
    """Run exactly the trials (of a job: the items) that are missing.

    Orphaned sessions are ended first, what was left is undone, the broken trial is marked `interrupted`, and other
    facts or another environment are warned of. `under` as in `start`; `rows` answers for a load that was cut off.

    Raises:
        ToolkitError: TK-0107 when the run worked on another database, TK-0209 when nobody knows whether its rows
            are there, TK-0302 when it is alive, TK-0307 when something cannot be undone, TK-0308 when its sessions
            cannot be ended; as `start`.
    """
    policy = policy or TargetPolicy()
    events = TaggedEvents(events, {"run": run})
    record = store.load_run(run)
    refuse_ingested(record)
    dialect = dialect_of(target.engine)
    check_approved(policy, approvals)
    check_experiment(record.head.experiment, policy, approvals)
    if under is None:
        store.refuse_live_run(run)
    doubt = LoadInDoubt(run, store, rows)
    doubt.refuse_needless()
    sessions = Sessions(target, run)
    stop = stop or Stop()
    try:
        with _lease(store, target, run, stop, under), ExitStack() as noted:
            server = read_server(target, dialect)
            refuse_other_database(record.head, target, database_of(server, target))
            _approve(target, server, policy, approvals)
            noted.enter_context(run_noted(store, record.head, server, approvals, events, doubt.sentence))
            ended = end_orphaned_sessions(target, dialect, run)
            attempt = next_attempt(record, store)
            # The catalogue is read after the repair: what a killed attempt left there is nobody's former value.
            changes = _changes(record.head, sessions, dialect, store, approvals, events, stop)
            made = repair(run, changes, store, events)
            if doubt.settle(attempt, ended):
                return run
            return _go_on(
                record.head, target, sessions, store, approvals, events, policy, stop, changes, attempt,
                made=made,
            )  # fmt: skip
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()


def _go_on(
    head: RunHead,
    target: Target,
    sessions: Sessions,
    store: Store,
    approvals: Approvals,
    events: Events,
    policy: TargetPolicy,
    stop: Stop,
    changes: Changes,
    attempt: int,
    *,
    made: bool,
) -> str:
    """Begin the next attempt; `made` tells that the object of a job is there already."""
    run, experiment, dialect = head.run, head.experiment, dialect_of(target.engine)
    facts = facts_of(experiment, dialect, sessions, policy)
    licensing.keep(store, run, _check_scripts(experiment, dialect, facts, target, policy, approvals))
    snapshot_source = snapshot_source_of_run(experiment, dialect, facts, sessions)
    context = _context(
        run, experiment, dialect, facts, sessions, store, events, stop, target, changes, attempt, snapshot_source
    )
    if store.load_facts(run) is None:
        keep_explanation(context, facts, target, policy)
        keep_snapshot_source(store, run, snapshot_source, events)
    warn_of_drift(context, facts, target)
    store.reopen_run(run)
    planned, done = planned_trials(experiment), store.load_run(run).trials
    if not made and missing(planned, done, experiment.mode):
        _check(experiment, dialect, facts, target, sessions)
    with licensing.sent_kept(store, run, target, facts, policy):
        return _sweep(context, target, planned, done)
