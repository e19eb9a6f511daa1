"""Runs experiments: begin, resume, clean. Everything a front end needs, without printing anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial

from toolkit.analysis.sequential import left_to_do, sure_to_run
from toolkit.app.approvals import Approvals, TargetPolicy
from toolkit.app.auditing import run_noted
from toolkit.app.environments import Host, host_of
from toolkit.app.history import what_it_needs
from toolkit.app.ruling import ruled_now
from toolkit.app.runs import backup_client, licensing
from toolkit.app.runs.databases import database_of, read_server, refuse_other_database
from toolkit.app.runs.differing import warn_of_drift
from toolkit.app.runs.doubt import LoadInDoubt, going_on_with_parts
from toolkit.app.runs.finished import found_done
from toolkit.app.runs.keeping import interrupted_where_cut_off, keep_best
from toolkit.app.runs.launching import Launch, end_asked_for, launch_of
from toolkit.app.runs.mixes import begun_before, mix_above
from toolkit.app.runs.planning import check_to_run, check_within, head_of
from toolkit.app.runs.preview import keep_explanation
from toolkit.app.runs.repair import ended_in_any_case, next_attempt, refuse_ingested, repair, warning
from toolkit.app.runs.servers import bring_server_back
from toolkit.app.runs.settings import of_server, servers_changed, try_in_session
from toolkit.app.runs.space import NONE_DONE, check_space, items_done
from toolkit.app.runs.undoable import refuse_open, refuse_unasked, refuse_unseen, warn_of_unrestored
from toolkit.app.snapshots.providers import keep_snapshot_source, snapshot_source_of_run
from toolkit.dialects.repositories import SnapshotSource
from toolkit.model.bill import Bill
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.protocols import Event, Events
from toolkit.model.records import RunHead, RunRecord, TrialRecord, fresh_run_id
from toolkit.model.words import CountedRows, Keep, Mode, Role, RunState
from toolkit.runner import (
    Changes,
    Gates,
    PlanningContext,
    RunContext,
    Stop,
    Sweep,
    end_orphaned_sessions,
    missing,
    worth_repeating,
)
from toolkit.runner.context import BackgroundLoad
from toolkit.runner.unlogged import say_what_needs_a_backup
from toolkit.store import Store
from toolkit.targets.base import Target

Guarding = Callable[[str, Experiment, Stop], AbstractContextManager[Gates]]
"""Watches the guards of a run while it lasts; gives what trials and items wait for."""


_MOST_AHEAD = 8
"""How many worker sessions are opened at once, so that a server is not asked for dozens in the same moment."""


def unguarded(*_: object) -> AbstractContextManager[Gates]:
    """Watch nothing."""
    return nullcontext(Gates())


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
    guarding: Guarding = unguarded,
    ready: Callable[[frozenset[str]], None] = lambda _: None,
) -> str:
    """Run an experiment and return the run's id; outcomes of trials are in the store, not exceptions.

    Args:
        approvals: what the user allowed.
        policy: what the target's profile says; nothing for a URL.
        stop: asked between and during trials; signals set it when this is the main thread.
        under: the execution of a plan that this run is part of; it holds the target's lease.
        guarding: watches the guards of the run.
        ready: called just before the run is stored, with the servers that its settings change for others, too.

    Raises:
        ToolkitError: whatever refuses the run before it begins, and TK-0202 when the server does not come back.
    """
    mix = None if under else mix_above(store, target)
    if begun := begun_before(store, mix, experiment):
        return resume(begun, target, store=store, approvals=approvals, events=events, policy=policy, stop=stop,
                      under=mix, retry_failed=True, guarding=guarding)  # fmt: skip
    run = fresh_run_id()
    launch = launch_of(run, target, store, approvals, events, policy, stop, under or mix)
    launch.check_experiment(experiment)
    with launch.session():
        launch.sessions.open_ahead((Role.CONTROL, 0))
        host = host_of(target)  # which is read while that session is opened
        launch = launch.ruled(experiment)
        planning = launch.read_planning(experiment)
        launch.check_production(planning.facts)
        _check(planning, launch)
        if guarding is unguarded:
            _open_ahead(planning, launch)
        snapshot_source = snapshot_source_of_run(planning, launch.sessions)
        head = head_of(planning, run, target.engine, database_of(planning.facts, target), launch.under)
        ready(servers_changed(planning))
        launch.stop.refuse_if_disowned()
        store.create_run(head, launch.seal)
        return _first_attempt(launch, planning, head, snapshot_source, host, guarding)


def _first_attempt(
    launch: Launch, planning: PlanningContext, head: RunHead, snapshot_source: SnapshotSource | None, host: Host,
    guarding: Guarding,
) -> str:  # fmt: skip
    run, store, experiment, facts = launch.run, launch.store, head.experiment, planning.facts
    with (
        ended_in_any_case(store, run, launch.stop),
        launch.lease(experiment),
        guarding(run, experiment, launch.stop) as gates,
    ):
        launch.claim()
        context = launch.context(planning, launch.changes(head), snapshot_source, gates)
        if guarding is not unguarded and gates == Gates():  # they let it begin at once
            _open_ahead(planning, launch)
        keep_explanation(context, launch.policy, host)
        for needs in what_it_needs(store, experiment, planning.cells, head.engine, head.target_name):
            launch.events.emit(Event("estimate", needs))
        keep_snapshot_source(store, run, snapshot_source, launch.events)
        with (
            licensing.sent_kept(store, run, launch.target, facts, launch.policy),
            run_noted(store, head, facts, launch.approvals, launch.events),
        ):
            return _sweep(context, planning.trials, ())


def _check(
    planning: PlanningContext,
    launch: Launch,
    left: Sequence[PlannedTrial] | None = None,
    made: frozenset[str] = NONE_DONE,
) -> None:
    """Refuse what cannot work before anything is written.

    Args:
        left: the trials to run; all, and their scripts, if not given.
        made: labels of a job's items that are done.
    """
    check_to_run(planning)
    try_in_session(planning, launch.sessions, alone=launch.under is None)
    check_space(
        planning, sure_to_run(planning.experiment, planning.trials if left is None else left), launch.target, made
    )
    refuse_open(planning.scripts, database_of(planning.facts, launch.target), launch.store)
    refuse_unseen(planning, launch.dialect, launch.sessions)
    refuse_unasked(planning, resumed=left is not None)
    backup_client.check(planning, launch.sessions, launch.target)
    launch.join_hosts(planning)
    if left is None:
        _check_scripts(planning, launch)


def _open_ahead(planning: PlanningContext, launch: Launch) -> None:
    """Begin to open the sessions of a job's one trial, unless something comes before it.

    A setup may take long, a setting or a command of a factor may restart the server.
    """
    experiment, stages = planning.experiment, planning.scripts[0].stages
    before = of_server(planning) or any(factor.command is not None for factor in experiment.factors)
    if experiment.mode is not Mode.JOB or stages is None or stages.setup or before or "on" in experiment.options:
        return
    workers = range(min(stages.timed.workers, _MOST_AHEAD))
    launch.sessions.open_ahead((Role.MONITOR, 0), *((Role.WORKER, number) for number in workers))


def _check_scripts(planning: PlanningContext, launch: Launch) -> Bill | None:
    """Refuse what nobody declared or approved before anything is written; tell the guard what was read."""
    experiment, facts = planning.experiment, planning.facts
    if launch.approvals.approval is not None:
        check_within(planning.scripts, experiment, planning.dialect, facts)
    bill = licensing.check(planning.scripts, experiment, facts, launch.policy)
    licensing.teach(launch.target, facts, launch.policy)
    return bill


def _sweep(
    context: RunContext,
    planned: Sequence[PlannedTrial],
    done: Sequence[TrialRecord],
    again: Callable[[TrialRecord], bool] = lambda _: False,
) -> str:
    warn_of_unrestored(context)
    context.sessions.timeouts.tell = context.tell_of_wait
    with context.stop.listening():
        state = Sweep(context, planned, done, again).run()
        if state is RunState.DONE and context.experiment.keep is Keep.BEST:
            with context.sessions.timeouts.finishing(), interrupted_where_cut_off(context):
                keep_best(context)
    say_what_needs_a_backup(context)
    context.events.emit(Event("run-ended", state.value, {"run": context.run, "state": state.value}))
    if context.stop.requested and state is RunState.INTERRUPTED:
        raise end_asked_for(context.stop, context.run, context.store)
    return context.run


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
    retry_failed: bool = False,
    guarding: Guarding = unguarded,
) -> str:
    """Run exactly the trials (of a job: the items) that are missing.

    Trials that failed for a cause outside of what was tried are missing, with `retry_failed` all that failed.
    Orphaned sessions are ended, what was left is undone, the broken trial is marked `interrupted`; other facts or
    another environment are warned of. `under` as in `start`; `rows` answers for a load that was cut off.

    Raises:
        ToolkitError: TK-0107 for a run on another database, TK-0209 when nobody knows whether its rows are there,
            TK-0302 when it is alive, TK-0307, TK-0308 when changes or sessions cannot be ended; as `start`.
    """
    record = store.load_run(run)
    refuse_ingested(record)
    head = record.head
    launch = launch_of(run, target, store, approvals, events, policy, stop, under)
    works = rows is None  # a person's answer is only recorded where work must be approved
    launch = launch.limited(launch.policy, head.experiment, works=works)
    if under is None:
        store.refuse_live_run(run)
    doubt = LoadInDoubt(run, store, rows)
    doubt.refuse_needless()
    with launch.session(), launch.lease(head.experiment), ExitStack() as noted:
        bring_server_back(target, policy, store, run, launch.events, launch.seal, held=True)
        server = read_server(target, launch.dialect, launch.stop.timeouts)
        refuse_other_database(head, target, database_of(server, target))
        # in a session of its own: those with the name of the run are about to be ended
        policy = ruled_now(launch.policy, target, launch.stop.timeouts)
        launch = launch.limited(policy, head.experiment, works=works)
        launch.check_production(server)
        noted.enter_context(run_noted(store, head, server, approvals, launch.events, doubt.sentence))
        sealed = store.is_sealed(run, launch.seal)
        journal = store.journal(run)
        orphans = end_orphaned_sessions(
            target, launch.dialect, run, journal, launch.sessions.timeouts, may_end=sealed
        )
        launch.claim()
        attempt = next_attempt(record, store)
        # The catalogue is read after the repair: what a killed attempt left there is nobody's former value.
        changes = launch.changes(head)
        asked = doubt.ask(launch.sessions)
        launch.stop.refuse_if_disowned()
        made = repair(run, changes, store, launch.events)
        if doubt.settle(attempt, orphans.sessions, asked, launch.events):
            return run
        doubt.refuse_unapproved(attempt, launch.policy, approvals)
        gates = noted.enter_context(guarding(run, head.experiment, launch.stop))
        return _go_on(launch, head.experiment, changes, attempt, gates, made=made, retry_failed=retry_failed)


def _go_on(
    launch: Launch, experiment: Experiment, changes: Changes, attempt: int, gates: Gates, *, made: bool,
    retry_failed: bool,
) -> str:  # fmt: skip
    """Begin the next attempt; `made` tells that the object of a job is there already."""
    run, store, policy = launch.run, launch.store, launch.policy
    warn = warning(run, store, launch.events)
    planning = going_on_with_parts(launch.read_planning(experiment), run, launch.sessions, store, warn)
    if found_done(run, planning, attempt, store, launch.events):
        return run
    licensing.keep(store, run, _check_scripts(planning, launch))
    snapshot_source = snapshot_source_of_run(planning, launch.sessions)
    before = store.load_run(run)
    items = items_done(experiment, before.trials)
    context = launch.context(planning, changes, snapshot_source, gates, attempt, items)
    context.others = BackgroundLoad.before(before)
    if store.load_facts(run) is None:
        keep_explanation(context, policy, host_of(launch.target))
        keep_snapshot_source(store, run, snapshot_source, launch.events)
    warn_of_drift(context, planning)
    launch.stop.refuse_if_disowned()  # who took the run over while this process was frozen may have ended it
    store.reopen_run(run)
    done = store.load_run(run).trials
    again = partial(worth_repeating, launch.dialect, every=retry_failed)
    left = missing(left_to_do(planning.trials, store.load_run(run)), done, experiment.mode, again)
    if not made and left:
        _check(planning, launch, left, items)
    elif left:
        launch.join_hosts(planning)
    with licensing.sent_kept(store, run, launch.target, planning.facts, policy):
        ended = _sweep(context, left_to_do(planning.trials, store.load_run(run)), done, again)
    whole = store.load_run(run, samples=False)
    if not missing(planning.trials, whole.trials, experiment.mode, again):
        _date_advice(store, whole)
    return ended


_RESUMED = "before it was resumed: "


def _date_advice(store: Store, whole: RunRecord) -> None:
    """Say of warnings that advised to resume a run that they were true before that was done."""
    run, advised = whole.head.run, store.resume_command(whole.head.run)
    for text in whole.warnings:
        if advised in text and not text.startswith(_RESUMED):
            store.warn(run, f"{_RESUMED}{text}", instead_of=text)
