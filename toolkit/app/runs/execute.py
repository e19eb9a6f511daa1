"""Runs experiments: begin, resume, clean. Everything a front end needs, without printing anything."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from toolkit import __version__
from toolkit.analysis.advice import advice
from toolkit.app.approvals import Approvals, TargetPolicy, check_approved, check_experiment, check_production
from toolkit.app.auditing import run_noted
from toolkit.app.runs import backup_client, licensing
from toolkit.app.runs.doubt import LoadInDoubt
from toolkit.app.runs.planning import check_plan, check_within, collect_facts, read_planning
from toolkit.app.runs.preview import keep_explanation, warn_of_drift
from toolkit.app.runs.redo import check_redo, watching_room
from toolkit.app.runs.repair import (
    database_of,
    ended_in_any_case,
    next_attempt,
    read_server,
    refuse_ingested,
    refuse_other_database,
    repair,
    undo_script,
)
from toolkit.app.runs.space import check_space
from toolkit.app.runs.undoable import refuse_open, refuse_unseen
from toolkit.app.snapshots.providers import keep_snapshot_source, providers_of, snapshot_source_of_run
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.repositories import SnapshotSource
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, Timeouts, refused
from toolkit.model.bill import Bill
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError, Event, Events, TaggedEvents
from toolkit.model.records import RunHead, TrialRecord, new_run_id
from toolkit.model.values import Factor
from toolkit.model.words import CountedRows, Keep, Mode, Outcome, RunState
from toolkit.runner import (
    Changes,
    PlanningContext,
    RunContext,
    Stop,
    Sweep,
    end_orphaned_sessions,
    holding_lease,
    missing,
    worth_repeating,
)
from toolkit.runner.leftovers import say_what_needs_a_backup
from toolkit.runner.trial import run_trial
from toolkit.store import Store
from toolkit.targets.base import Target


def keep_best(context: RunContext) -> None:
    """Run the best cell of a measurement as a job; its trial is stored with repeat 0, out of the numbers.

    A resume that finds it done does not do it twice.

    Raises:
        ToolkitError: TK-0205 when the object exists by now; TK-0203 when the job fails; TK-0130 when it is
            stopped.
    """
    stored = context.store.load_run(context.run)
    if any(_kept(trial) for trial in stored.trials if trial.trial > stored.head.trials_planned):
        return
    cell = advice(stored).best
    if cell is None:
        context.warn("no configuration succeeded, so there is no best one to keep")
        return
    factors = tuple(Factor(name, (level,)) for name, level in cell.items())
    job = replace(context.experiment, mode=Mode.JOB, factors=factors, repeat=1, warmup=0, keep=Keep.NONE)
    own = replace(context, planning=collect_facts(job, context.dialect, context.sessions))
    planner = own.planner()
    own.operation.check(planner)
    number = 1 + max(trial.trial for trial in stored.trials)
    planned = PlannedTrial(number, cell, 0)
    context.store.begin_trial(context.run, number, context.attempt, cell, 0, datetime.now(UTC))
    pieces = own.operation.pieces(planner, cell)
    record = run_trial(own, planned, context.attempt, pieces, own.operation.plan(planner, cell)).record
    context.store.end_trial(context.run, record)
    context.sessions.close()
    if record.outcome is Outcome.INTERRUPTED:
        raise ToolkitError(
            f"run {context.run} was interrupted while keeping the best configuration", code="TK-0130"
        )
    if record.outcome is not Outcome.OK:
        raise ToolkitError(f"the best configuration ({cell}) could not be kept: {record.reason}", code="TK-0203")
    context.events.emit(Event("kept", f"kept the best configuration ({cell}) as `{pieces[0].label}`"))


def _kept(trial: TrialRecord) -> bool:
    return trial.outcome is Outcome.OK or any(item.outcome is Outcome.OK for item in trial.items)


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
        events: receives what happens.
        policy: what the target's profile says; nothing for a URL.
        stop: asked between and during trials; signals set it when this is the main thread.
        under: the execution of a plan that this run is part of; it holds the target's lease.

    Raises:
        ToolkitError: whatever refuses the run before it begins, and TK-0202 when the server does not come back.
    """
    run = new_run_id(datetime.now(UTC), random.Random(secrets.randbits(64)))  # noqa: S311 (an id, no secret)
    launch = _launch(run, target, store, approvals, events, policy, stop, under)
    launch.check_experiment(experiment)
    with launch.session():
        planning = launch.read_planning(experiment)
        launch.check_production(planning.facts)
        _check(planning, launch)
        check_redo(planning, planning.trials)
        _check_scripts(planning, launch)
        snapshot_source = snapshot_source_of_run(planning, launch.sessions)
        head = _head(planning, launch)
        store.create_run(head)
        with ended_in_any_case(store, run, launch.stop), launch.lease():
            launch.claim()
            context = launch.context(planning, launch.changes(head), snapshot_source)
            keep_explanation(context, launch.policy)
            keep_snapshot_source(store, run, snapshot_source, launch.events)
            with (
                licensing.sent_kept(store, run, target, planning.facts, launch.policy),
                run_noted(store, head, planning.facts, approvals, launch.events),
            ):
                return _sweep(context, planning.trials, ())


@dataclass(frozen=True, slots=True)
class _Launch:
    """One beginning or resumption of a run: where, into which store, and what its user allowed."""

    run: str
    target: Target
    sessions: Sessions
    store: Store
    approvals: Approvals
    policy: TargetPolicy
    events: Events
    stop: Stop
    under: str | None

    @property
    def dialect(self) -> Dialect:
        return dialect_of(self.target.engine)

    @contextmanager
    def session(self) -> Iterator[None]:
        """Close the sessions at the end, and raise a refusal of the database as a ToolkitError."""
        try:
            yield
        except DatabaseError as error:
            raise refused(self.dialect, error) from None
        finally:
            self.sessions.close()

    def check_experiment(self, experiment: Experiment) -> None:
        check_approved(self.policy, self.approvals)
        check_experiment(experiment, self.policy, self.approvals)

    def check_production(self, facts: Facts) -> None:
        names = {self.policy.profile_name, str(facts.value("server", "database_name", "") or "")}
        known = frozenset(name for name in names if name)
        check_production(self.target.engine, self.policy, self.approvals, known)

    def lease(self) -> AbstractContextManager[None]:
        """Hold the target; a plan that this run is part of holds it already."""
        if self.under is not None:
            return nullcontext()
        return holding_lease(self.store, self.target.lease_key, self.run, self.stop)

    def claim(self) -> None:
        """Hold the database itself against runs of other stores, but not against those of the same plan."""
        plan = self.under
        self.sessions.claim(
            lambda run: plan is not None and any(run == o.run for o in self.store.children_of(plan))
        )

    def read_planning(self, experiment: Experiment) -> PlanningContext:
        return read_planning(experiment, self.dialect, self.sessions, self.policy)

    def changes(self, head: RunHead) -> Changes:
        self.sessions.wait_for_locks(head.experiment.options)
        return Changes(
            self.sessions,
            self.dialect,
            self.store.journal(self.run),
            allow_commands=self.approvals.allow_commands,
            script=undo_script(head, self.store, self.dialect, self.events),
            stop=self.stop,
        )

    def context(
        self,
        planning: PlanningContext,
        changes: Changes,
        snapshot_source: SnapshotSource | None,
        attempt: int = 1,
    ) -> RunContext:
        """Put together what every trial works with: the only place that does."""
        self.sessions.programs.asked_to_end = lambda: self.stop.requested
        providers = providers_of(
            planning, self.target, self.sessions, self.run, events=self.events, snapshot_source=snapshot_source
        )
        return RunContext(
            self.run,
            planning,
            self.target,
            self.sessions,
            self.store,
            changes,
            providers,
            self.stop,
            self.events,
            attempt,
            short_of_room=watching_room(planning, self.target, self.sessions, attempt),
        )


def _launch(
    run: str, target: Target, store: Store, approvals: Approvals, events: Events,
    policy: TargetPolicy | None, stop: Stop | None, under: str | None,
) -> _Launch:  # fmt: skip
    licensing.allow(target, unseen=approvals.unseen_ok)
    stop = stop or Stop()
    return _Launch(
        run,
        target,
        Sessions(target, run, timeouts=Timeouts(lambda: stop.by_user, lambda: stop.requested)),
        store,
        approvals,
        replace(policy or TargetPolicy(), unseen_ok=approvals.unseen_ok),
        TaggedEvents(events, {"run": run}),
        stop,
        under,
    )


def _check(planning: PlanningContext, launch: _Launch) -> None:
    """Refuse what cannot work before anything is written."""
    check_plan(planning)
    check_space(planning.experiment, planning.facts, launch.target)
    refuse_open(planning.scripts, database_of(planning.facts, launch.target), launch.store)
    refuse_unseen(planning.scripts, launch.dialect, launch.sessions, planning.facts)
    backup_client.check(planning, launch.sessions, launch.target)


def _check_scripts(planning: PlanningContext, launch: _Launch) -> Bill | None:
    """Refuse what nobody declared or approved before anything is written; tell the guard what was read."""
    experiment, facts = planning.experiment, planning.facts
    if launch.approvals.approval is not None:
        check_within(planning.scripts, experiment, planning.dialect, facts)
    bill = licensing.check(planning.scripts, experiment, facts, launch.policy)
    licensing.teach(launch.target, facts, launch.policy)
    return bill


def _head(planning: PlanningContext, launch: _Launch) -> RunHead:
    return RunHead(
        launch.run,
        planning.experiment,
        launch.target.engine,
        RunState.RUNNING,
        datetime.now(UTC),
        operation_version=planning.operation.version,
        tool_version=__version__,
        parent=launch.under,
        trials_planned=len(planning.trials),
        target_name=database_of(planning.facts, launch.target),
    )


def _sweep(
    context: RunContext,
    planned: Sequence[PlannedTrial],
    done: Sequence[TrialRecord],
    again: Callable[[TrialRecord], bool] = lambda _: False,
) -> str:
    with context.stop.listening():
        state = Sweep(context, planned, done, again).run()
        if state is RunState.DONE and context.experiment.keep is Keep.BEST:
            keep_best(context)
    say_what_needs_a_backup(context)
    context.events.emit(Event("run-ended", state.value, {"run": context.run, "state": state.value}))
    if context.stop.because is not None and state is RunState.INTERRUPTED:
        raise context.stop.because
    if context.stop.requested and state is RunState.INTERRUPTED:
        raise ToolkitError(
            f"run {context.run} was interrupted",
            code="TK-0130",
            hint=f"`dbatk runs resume {context.run}` continues it",
        )
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
) -> str:
    """Run exactly the trials (of a job: the items) that are missing.

    Trials that failed for a cause outside of what was tried are missing, with `retry_failed` all that failed.
    Orphaned sessions are ended first, what was left is undone, the broken trial is marked `interrupted`, and other
    facts or another environment are warned of. `under` as in `start`; `rows` answers for a load that was cut off.

    Raises:
        ToolkitError: TK-0107 when the run worked on another database, TK-0209 when nobody knows whether its rows
            are there, TK-0302 when it is alive, TK-0307 when something cannot be undone, TK-0308 when its sessions
            cannot be ended; as `start`.
    """
    record = store.load_run(run)
    refuse_ingested(record)
    head = record.head
    launch = _launch(run, target, store, approvals, events, policy, stop, under)
    launch.check_experiment(head.experiment)
    if under is None:
        store.refuse_live_run(run)
    doubt = LoadInDoubt(run, store, rows)
    doubt.refuse_needless()
    with launch.session(), launch.lease(), ExitStack() as noted:
        server = read_server(target, launch.dialect)
        refuse_other_database(head, target, database_of(server, target))
        launch.check_production(server)
        noted.enter_context(run_noted(store, head, server, approvals, launch.events, doubt.sentence))
        ended = end_orphaned_sessions(target, launch.dialect, run, launch.sessions.timeouts)
        launch.claim()
        attempt = next_attempt(record, store)
        # The catalogue is read after the repair: what a killed attempt left there is nobody's former value.
        changes = launch.changes(head)
        made = repair(run, changes, store, launch.events)
        if doubt.settle(attempt, ended):
            return run
        return _go_on(launch, head.experiment, changes, attempt, made=made, retry_failed=retry_failed)


def _go_on(
    launch: _Launch, experiment: Experiment, changes: Changes, attempt: int, *, made: bool, retry_failed: bool
) -> str:
    """Begin the next attempt; `made` tells that the object of a job is there already."""
    run, store, policy = launch.run, launch.store, launch.policy
    planning = launch.read_planning(experiment)
    licensing.keep(store, run, _check_scripts(planning, launch))
    snapshot_source = snapshot_source_of_run(planning, launch.sessions)
    context = launch.context(planning, changes, snapshot_source, attempt)
    if store.load_facts(run) is None:
        keep_explanation(context, policy)
        keep_snapshot_source(store, run, snapshot_source, launch.events)
    warn_of_drift(context)
    store.reopen_run(run)
    done = store.load_run(run).trials
    again = partial(worth_repeating, launch.dialect, every=retry_failed)
    left = missing(planning.trials, done, experiment.mode, again)
    if not made and left:
        _check(planning, launch)
        if experiment.mode is Mode.MEASUREMENT:
            check_redo(planning, left)
    with licensing.sent_kept(store, run, launch.target, planning.facts, policy):
        return _sweep(context, planning.trials, done, again)
