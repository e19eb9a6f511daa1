"""One beginning or resumption of a run: where it works, into which store, and what its user allowed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from toolkit.analysis.sequential import rule_of
from toolkit.app.approvals import (
    Approvals,
    TargetPolicy,
    check_approved,
    check_experiment,
    check_production,
    seal_for,
)
from toolkit.app.hosts import join_hosts
from toolkit.app.ruling import ruled, warn_of_exposure
from toolkit.app.runs import licensing
from toolkit.app.runs.mixes import holding_targets
from toolkit.app.runs.planning import judging_anew, read_planning
from toolkit.app.runs.repair import (
    undo_script,
)
from toolkit.app.runs.retention import remove_old
from toolkit.app.runs.space import NONE_DONE, watching_room
from toolkit.app.snapshots.providers import providers_of
from toolkit.app.targets import allow_folders
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.repositories import SnapshotSource
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, refused
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError, Events, TaggedEvents
from toolkit.model.records import RunHead
from toolkit.model.words import Role
from toolkit.runner import Changes, Gates, PlanningContext, RunContext, Stop
from toolkit.store import Store
from toolkit.store.seals import Seal
from toolkit.targets.base import Target


@dataclass(frozen=True, slots=True)
class Launch:
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
    seal: Seal | None
    """Seals the journal, and tells what is sealed; None where what runs was not approved."""

    @property
    def dialect(self) -> Dialect:
        return dialect_of(self.target.engine)

    @contextmanager
    def session(self) -> Iterator[None]:
        """Close the sessions at the end, and raise a refusal of the database as a ToolkitError."""
        try:
            yield
        except (DatabaseError, ToolkitError) as error:
            if self.sessions.timeouts.cancelled:
                raise end_asked_for(self.stop, self.run, self.store) from None
            if isinstance(error, ToolkitError):
                raise
            raise refused(self.dialect, error) from None
        finally:
            self.sessions.end()

    def ruled(self, experiment: Experiment) -> Launch:
        """Return it with the limits of all profiles of this database; refuse what they forbid."""
        return self.limited(ruled(self.policy, self.target, self.sessions.get(Role.CONTROL)), experiment)

    def limited(self, policy: TargetPolicy, experiment: Experiment, *, works: bool = True) -> Launch:
        """Return it with these limits; refuse what they forbid, or only what they forbid to undo and to record."""
        launch = replace(self, policy=policy, seal=self.seal or seal_for(approved=policy.approved_only))
        launch.check_experiment(experiment, works=works)
        return launch

    def check_experiment(self, experiment: Experiment, *, works: bool = True) -> None:
        if works:
            check_approved(self.policy, self.approvals)
        check_experiment(experiment, self.policy, self.approvals)
        allow_folders(experiment, self.target)

    def check_production(self, facts: Facts) -> None:
        names = self.policy.names | ({str(name)} if (name := facts.value("server", "database_name")) else set())
        check_production(self.target.engine, self.policy, self.approvals, names)

    def lease(self, experiment: Experiment) -> AbstractContextManager[None]:
        """Hold the target; a plan or mix that this run is part of holds it already."""
        if self.under is not None:
            return nullcontext()
        return holding_targets(self.store, experiment, self.target, self.run, self.stop)

    def join_hosts(self, planning: PlanningContext) -> None:
        join_hosts(planning, self.run, self.sessions, self.policy, self.approvals, self.events)

    def claim(self) -> None:
        """Hold the database itself against runs of other stores, but not against those of the same plan."""
        self.sessions.claim(lambda run: self.under is not None and self.store.is_of_plan_run(run, self.under))

    def read_planning(self, experiment: Experiment) -> PlanningContext:
        return read_planning(experiment, self.dialect, self.sessions, self.policy)

    def changes(self, head: RunHead) -> Changes:
        self.sessions.wait_for_locks(head.experiment.options)
        return Changes(
            self.sessions,
            self.dialect,
            self.store.journal(self.run, self.seal),
            allow_commands=self.approvals.allow_commands,
            script=undo_script(head, self.store, self.dialect, self.events),
            stop=self.stop,
        )

    def context(
        self,
        planning: PlanningContext,
        changes: Changes,
        snapshot_source: SnapshotSource | None,
        gates: Gates,
        attempt: int = 1,
        made: frozenset[str] = NONE_DONE,
    ) -> RunContext:
        """Put together what every trial works with: the only place that does; `made` are items of a job."""
        self.sessions.programs.asked_to_end = lambda: self.stop.requested
        self.sessions.programs.closed = lambda: self.stop.closed
        providers = providers_of(
            planning, self.target, self.sessions, self.run, events=self.events, snapshot_source=snapshot_source
        )
        room = watching_room(planning, self.target, self.sessions, made)
        anew = judging_anew(planning, self.sessions)
        context = RunContext(
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
            barred=lambda trial: room(trial) or anew(trial),
            gates=gates,
        )
        context.when_done = partial(remove_old, context, self.seal)
        context.stopping = rule_of(planning.experiment)
        return context


def launch_of(
    run: str, target: Target, store: Store, approvals: Approvals, events: Events,
    policy: TargetPolicy | None, stop: Stop | None, under: str | None,
) -> Launch:  # fmt: skip
    licensing.allow(target, unseen=approvals.unseen_ok)
    stop, events = stop or Stop(), TaggedEvents(events, {"run": run})
    if under is None:
        warn_of_exposure(target, store.exposure, policy or TargetPolicy(), approvals, events)
    sessions = Sessions(target, run, timeouts=stop.timeouts)
    policy = replace(policy or TargetPolicy(), unseen_ok=approvals.unseen_ok)
    sessions.administer(policy.restart, policy.sysdba)
    seal = seal_for(approved=approvals.approval is not None)
    return Launch(run, target, sessions, store, approvals, policy, events, stop, under, seal)


def end_asked_for(stop: Stop, run: str, store: Store) -> ToolkitError:
    command, because = store.resume_command(run), stop.because
    if because is None:
        return ToolkitError(f"run {run} was interrupted", code="TK-0130", hint=f"`{command}` continues it")
    if command not in because.hint:  # guards know no store
        because.hint = because.hint.replace(f"dbatk runs resume {run}", command)
    return because
