"""One step on one target, tried until it ends: begun or gone on with, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from toolkit.app.approvals import Approvals
from toolkit.app.execute import resume, start
from toolkit.app.maintenance.places import Job, Place
from toolkit.app.maintenance.verify import fault_of
from toolkit.app.repair import clean
from toolkit.app.results import ended_well, find_run
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.plan import OnFailure
from toolkit.model.plan_records import StepRecord, StepState
from toolkit.model.protocols import Event, Events
from toolkit.model.records import RunHead, RunRecord
from toolkit.model.words import Outcome, RunState
from toolkit.runner import Stop
from toolkit.store import Store

_FIRST_WAIT_SECONDS = 5.0
_LONGEST_WAIT_SECONDS = 300.0
_SHOWN = 3
_PASSING = frozenset({"TK-0201", "TK-0202", "TK-0404"})
"""Of our own errors those that may be gone at the next try: no connection, a lost one, a locked store."""


def utc_now() -> datetime:
    """Return the present instant."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a try ended; `passing` whether another one may help."""

    state: StepState
    run: str | None
    reason: str | None = None
    passing: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is needed to do a step: the plan's run, the place, and what the user allowed."""

    plan_run: str
    place: Place
    store: Store
    approvals: Approvals
    events: Events
    now: Callable[[], datetime] = utc_now

    def do(self, job: Job, record: StepRecord, earlier: Sequence[StepRecord], stop: Stop) -> StepRecord:
        """Do a step and return its record with state, reason and run; errors are outcomes, not exceptions.

        Args:
            job: the step here.
            record: of this night.
            earlier: of other nights, newest first.
            stop: asked when the window closes or somebody stops the plan.
        """
        run, went_on = self._left_behind(job, earlier), False
        tries = 0
        while True:
            tries += 1
            went_on = went_on or (run is not None and tries == 1)
            ended = self._once(job, run, stop)
            again = ended.state is StepState.FAILED and ended.passing and tries <= job.step.retries
            if not again or stop.wait(min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2 ** (tries - 1))):
                break
            self.events.emit(Event("warning", f"{job.step.name}: {ended.reason}; trying again"))
            run = ended.run if self._can_go_on(ended.run) else None
        reason = ended.reason
        fault = self._fault(job, record) if ended.state is StepState.DONE else None
        if fault is not None:
            ended, reason = replace(ended, state=StepState.FAILED), fault
        elif ended.state is StepState.DONE and went_on:
            reason = "went on with what an earlier night had begun"
        if ended.state is StepState.FAILED and job.step.on_failure is OnFailure.UNDO and ended.run is not None:
            reason = f"{reason}; {self._undo(ended.run)}"
        return replace(record, state=ended.state, run=ended.run, reason=reason, tries=tries)

    def _fault(self, job: Job, record: StepRecord) -> str | None:
        began = record.began_at or self.now()
        return fault_of(job, self.place, (self.now() - began).total_seconds())

    def _left_behind(self, job: Job, earlier: Sequence[StepRecord]) -> str | None:
        """Return the run that an earlier night began and did not end, if this step would do the same."""
        last = next((step for step in earlier if step.run is not None), None)
        if last is None or last.state not in (StepState.STOPPED, StepState.RUNNING) or last.run is None:
            return None
        if not self._can_go_on(last.run):
            return None
        head = self.store.load_head(last.run)
        if _same_work(head, job):
            return last.run
        self.events.emit(
            Event("warning", f"{job.step.name}: the plan changed, so run {last.run} is not gone on with")
        )
        self._undo(last.run)
        return None

    def _can_go_on(self, run: str | None) -> bool:
        if run is None:
            return False
        try:
            return self.store.load_head(run).state is not RunState.DONE
        except ToolkitError:
            return False

    def _once(self, job: Job, run: str | None, stop: Stop) -> Ended:
        before = {head.run for head in self.store.children_of(self.plan_run)}
        try:
            reached, experiment = self.place.reached, job.experiment
            if run is None:
                run = start(
                    experiment, reached.target, store=self.store, approvals=self.approvals, events=self.events,
                    standing=reached.standing, stop=stop, under=self.plan_run,
                )  # fmt: skip
            else:
                run = resume(
                    run, reached.target, store=self.store, approvals=self.approvals, events=self.events,
                    standing=reached.standing, stop=stop, under=self.plan_run,
                )  # fmt: skip
        except ToolkitError as error:
            run = run or self._begun(job, before)
            if stop.requested:
                return Ended(StepState.STOPPED, run, (stop.because or error).sentence)
            return Ended(StepState.FAILED, run, error.sentence, error.code in _PASSING or self._passing(error))
        except Exception as error:  # noqa: BLE001 - one step never ends the night
            return Ended(StepState.FAILED, run or self._begun(job, before), f"fault of dbatk: {error!r}")
        record = find_run(self.store, run)
        if ended_well(record):
            return Ended(StepState.DONE, run)
        if stop.held_back:
            return Ended(StepState.STOPPED, run, _held_back(stop))
        reason = "; ".join(_reasons(record)) or f"the run ended {record.head.state}"
        return Ended(StepState.FAILED, run, reason, self._may_pass(record))

    def _begun(self, job: Job, before: set[str]) -> str | None:
        """Return the run that a failed call began."""
        run = child_of(self.store, self.plan_run, job.step.name, self.place.name)
        return None if run in before else run

    def _passing(self, error: ToolkitError) -> bool:
        if error.database_code is None:
            return False
        advice = dialect_of(self.place.reached.target.engine).explain(error.database_code, error.message)
        return advice is not None and advice.passing

    def _may_pass(self, record: RunRecord) -> bool:
        """Tell whether everything that failed may be gone at the next try."""
        dialect = dialect_of(self.place.reached.target.engine)
        latest = {trial.trial: trial for trial in sorted(record.trials, key=lambda trial: trial.attempt)}
        bad = [trial for trial in latest.values() if trial.outcome is not Outcome.OK]
        advice = [dialect.explain(trial.error_code or "", trial.reason or "") for trial in bad]
        return bool(bad) and all(each is not None and each.passing for each in advice)

    def _undo(self, run: str) -> str:
        """Put back what a run changed and left, and say so."""
        try:
            report = clean(
                self.place.reached.target, run=run, store=self.store, events=self.events, under=self.plan_run
            )
        except ToolkitError as error:
            return f"could not be undone: {error.sentence}"
        left = f", {len(report.left)} left: see `dbatk clean`" if report.left else ""
        return f"{len(report.done)} change(s) put back{left}"


def child_of(store: Store, plan_run: str, step: str, target: str) -> str | None:
    """Return the newest run that a night began for a step on a target, or None."""
    found = [
        head.run
        for head in store.children_of(plan_run)
        if (head.experiment.name, head.experiment.target) == (step, target)
    ]
    return found[-1] if found else None


def _same_work(head: RunHead, job: Job) -> bool:
    """Tell whether a run did what a step would do now, whatever it was called and however it was seeded."""
    plain = {"seed": 0, "label": None, "name": None, "snapshot": "auto", "time_limit_seconds": None}
    return replace(head.experiment, **plain) == replace(job.experiment, **plain)  # type: ignore[arg-type]


def _reasons(record: RunRecord) -> Iterable[str]:
    """Return why a job did not end well, each reason once: it has one cell, which needs no naming."""
    return dict.fromkeys(
        trial.reason or trial.outcome.value for trial in record.trials if trial.outcome is not Outcome.OK
    )


def _held_back(stop: Stop) -> str:
    names = sorted(stop.held_back)
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"{len(names)} would not have ended before the window closes: {shown}"
