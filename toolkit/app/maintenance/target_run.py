"""A plan run on one target: begin what may begin, take what ended, stop when it is time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import monotonic

from toolkit.app.approvals import Approvals
from toolkit.app.auditing import notes_of
from toolkit.app.maintenance.attempt import StepAttempt, utc_now
from toolkit.app.maintenance.choice import UNKNOWN, Choice, Size, choose, expected, slow_items
from toolkit.app.maintenance.closing import close_killed_runs, ended_since, retrying, taken_over
from toolkit.app.maintenance.conditions import unmet, work_size
from toolkit.app.maintenance.guards import GuardKeeper
from toolkit.app.maintenance.hours import Closed, Hours, hours_of
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError, unexpected
from toolkit.executors import refused
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.engines import engine
from toolkit.model.plan import AtDeadline, MaintenancePlan, OnFailure, PlanNote, StepRecord, StepState
from toolkit.model.protocols import DatabaseError, Event, Events
from toolkit.model.records import ItemRecord
from toolkit.model.window import TimeSpan
from toolkit.model.words import Role
from toolkit.runner import Stop, holding_lease
from toolkit.store import Store
from toolkit.targets.base import SessionTag

_TICK_SECONDS = 0.5
_RUNS = 5
"""Runs whose objects tell how long each takes."""
_OPEN = frozenset({StepState.WAITING, StepState.RUNNING})
Now = Callable[[], datetime]


@dataclass(slots=True)
class PlanRun:
    """What an execution of a plan works with."""

    plan: MaintenancePlan
    id: str
    store: Store
    approvals: Approvals
    events: Events
    stop: Stop
    span: TimeSpan | None
    now: Now = utc_now
    stopped_by: list[str] = field(default_factory=list)
    refused: list[ToolkitError] = field(default_factory=list)
    """Why nothing could be begun on a target."""


@dataclass(frozen=True, slots=True)
class StepEvents:
    """Events of one step: several are at work at once, so each event names its step and target."""

    events: Events
    step: str
    target: str

    def emit(self, event: Event) -> None:
        """Pass an event on with step and target, in words and as data."""
        text = f"{self.step} on {self.target}: {event.text}"
        self.events.emit(replace(event, text=text, data={"step": self.step, "target": self.target, **event.data}))


class TargetRun:
    """A plan run on one target."""

    def __init__(self, plan_run: PlanRun, plan_target: PlanTarget, records: Sequence[StepRecord]) -> None:
        self._plan_run, self._plan_target = plan_run, plan_target
        self._jobs = {job.step.name: job for job in plan_target.jobs}
        self._records = {record.step: record for record in records}
        self._history: dict[str, list[StepRecord]] = {}
        self._working: dict[str, Stop] = {}
        self._ended: queue.SimpleQueue[StepRecord] = queue.SimpleQueue()
        self._attempt = StepAttempt(plan_run.id, plan_target, plan_run.store, plan_run.approvals, plan_run.events)
        self._halted: str | None = None
        self._sizes: dict[str, Size] = {}
        self._hours = Hours(plan_run.span)
        self._held: set[str] = set()
        self._keeper = GuardKeeper(
            plan_target, plan_run.id, self._runs, self._say, plan_run.now, in_window=plan_run.span is not None
        )
        self.stop = Stop()
        """Asked to end when one of its leases is lost."""

    def run(self) -> None:
        """Do the steps of this target; whatever keeps them from it becomes their reason."""
        plan_run, target = self._plan_run, self._plan_target.resolved.target
        try:
            if self._plan_target.refused is not None:
                raise self._plan_target.refused
            with (
                holding_lease(plan_run.store, target.lease_key, plan_run.id, self.stop, waiting=plan_run.stop),
                self._holding_file(),
            ):
                close_killed_runs(
                    plan_run.store, plan_run.plan.name, plan_run.id, self._plan_target.name, plan_run.now()
                )
                self._records = taken_over(plan_run.store, plan_run.id, self._plan_target.name, plan_run.now())
                self._read_history()
                self._read_hours()
                with self._keeper:
                    self._work()
        except (ToolkitError, DatabaseError) as error:
            why = error if isinstance(error, ToolkitError) else refused(dialect_of(target.engine), error)
            plan_run.refused.append(why)
            self._end_waiting(StepState.STOPPED, why.sentence)
        finally:
            target.close()

    def _work(self) -> None:
        try:
            self._until_all_is_done()
        except BaseException as error:
            self._end_working(unexpected(error))
            raise

    def _until_all_is_done(self) -> None:
        while True:
            self._look()
            self._begin_what_may()
            if not self._working and not self._held:
                return
            try:
                self._take(self._ended.get(timeout=_TICK_SECONDS))
            except queue.Empty:
                continue

    @contextmanager
    def _holding_file(self) -> Iterator[None]:
        """Keep an embedded database open, so that no other process takes its file between two steps."""
        target = self._plan_target.resolved.target
        session = (
            target.connect(Role.CONTROL, SessionTag(self._plan_run.id)) if engine(target.engine).embedded else None
        )
        try:
            yield
        finally:
            if session is not None:
                session.close()

    def _read_history(self) -> None:
        store, plan = self._plan_run.store, self._plan_run.plan.name
        self._history = {
            name: ended_since(store, store.step_history(plan, name, self._plan_target.name)) for name in self._jobs
        }

    def _read_hours(self) -> None:
        """Find out when the database's own scheduler is at work, and say what that means."""
        plan_run, now = self._plan_run, self._plan_run.now()
        self._hours = hours_of(self._plan_target, plan_run.plan.scheduler_windows, plan_run.span)
        for sentence in self._hours.sentences((job.step.operation for job in self._jobs.values()), now):
            self._say(sentence)

    # -- stopping -----------------------------------------------------------------------------------------------
    def _look(self) -> None:
        """Find out whether somebody stopped the plan run, the lease was lost, or the window closed."""
        plan_run = self._plan_run
        if plan_run.stop.requested:
            because = plan_run.stop.because or ToolkitError("the plan was stopped", code="TK-0130")
            self._halt(because.sentence, because)
        elif self.stop.requested:
            because = self.stop.because or ToolkitError("the lease was lost", code="TK-0302")
            self._halt(because.sentence, because)
        elif plan_run.span is not None and plan_run.now() >= plan_run.span.end:
            sentence = f"the window closed at {plan_run.span.end:%H:%M} UTC"
            stopping = plan_run.plan.at_deadline is AtDeadline.STOP
            self._halt(sentence, ToolkitError(sentence, code="TK-0310") if stopping else None)
        elif (closed := self._hours.closed(plan_run.now())) is not None:
            self._end_meanwhile(closed)

        for name, because in self._keeper.to_stop(tuple(self._working)):
            if not self._working[name].requested:
                self._working[name].request(because)

    def _halt(self, sentence: str, because: ToolkitError | None) -> None:
        """Begin nothing more; with an error end what runs too, each in its own order."""
        if self._halted is None:
            self._halted = sentence
            self._plan_run.stopped_by.append(sentence)
        for stop in self._working.values():
            if because is not None and not stop.requested:
                stop.request(because)

    def _end_meanwhile(self, closed: Closed) -> None:
        """End what runs when the database's window opens or closes; a later run continues it."""
        if self._plan_run.plan.at_deadline is AtDeadline.STOP:
            for stop in self._working.values():
                if not stop.requested:
                    stop.request(ToolkitError(closed.reason, code="TK-0310"))

    def _end_working(self, because: ToolkitError) -> None:
        """End running steps and wait for them: none may be active once the lease is released."""
        self._halt(because.sentence, because)
        while self._working:
            record = self._ended.get()
            del self._working[record.step]
            with suppress(ToolkitError):
                self._note(record)

    def _end_waiting(self, state: StepState, reason: str) -> None:
        for record in tuple(self._records.values()):
            if record.state is StepState.WAITING:
                self._note(replace(record, state=state, reason=reason))

    # -- beginning ----------------------------------------------------------------------------------------------
    def _begin_what_may(self) -> None:
        """Begin every step that may begin now; end those of which it is known that they cannot."""
        self._held.clear()
        closed = self._hours.closed(self._plan_run.now()) if self._halted is None else None
        if closed is not None and closed.until is None:
            self._end_waiting(StepState.STOPPED, closed.reason)
        elif closed is not None:
            self._held |= {name for name, each in self._records.items() if each.state is StepState.WAITING}
            return
        while True:
            verdict = choose(self._choice())
            if verdict.step is None:
                return
            record, waited = self._records[verdict.step], self._keeper.waits_for(verdict.step)
            if verdict.state is not None:
                if not self._is_not_due(record):
                    reason = f"{verdict.reason}; it waited: {waited}" if waited else verdict.reason
                    self._note(replace(record, state=verdict.state, reason=reason))
                continue
            # What is not due waits for no guard; what has waited for one is asked again whether it is due.
            looks = (self._is_not_due, self._is_held) if waited is None else (self._is_held, self._is_not_due)
            if not any(keeps(record) for keeps in looks):
                self._begin(self._jobs[verdict.step], record)

    def _is_held(self, record: StepRecord) -> bool:
        """Let a step wait for its guards; one that has waited long enough ends here."""
        held = self._keeper.before(self._jobs[record.step].step)
        if held is not None and held.for_good:
            self._note(replace(record, state=StepState.STOPPED, reason=held.reason))
        elif held is not None:
            self._held.add(record.step)
        return held is not None

    def _choice(self) -> Choice:
        plan_run = self._plan_run
        return Choice(
            plan_run.plan,
            tuple(self._jobs.values()),
            self._records,
            self._history,
            frozenset(self._working),
            self._hours.left_seconds(plan_run.now()),
            self._halted,
            frozenset(self._held),
            self._size_of,
        )

    def _is_not_due(self, record: StepRecord) -> bool:
        """End a step whose own conditions do not hold: it was not kept from its work, there is none to do.

        Once nothing may begin any more the database is not asked; how long ago a step was done is known.
        """
        state, asking = StepState.SKIPPED, self._halted is None
        history, now = self._history.get(record.step, ()), self._plan_run.now()
        try:
            reason = unmet(self._jobs[record.step], self._plan_target, history, now, asking=asking)
        except ToolkitError as error:
            state, reason = StepState.FAILED, f"its condition could not be read: {error.sentence}"
        if reason is not None:
            self._note(replace(record, state=state, reason=reason))
        return reason is not None

    def _begin(self, job: TargetStep, record: StepRecord) -> None:
        plan_run, name = self._plan_run, job.step.name
        size = self._sizes[name] = self._size(job)
        estimate = expected(self._history[name], size)
        began_at = plan_run.now()
        begun = replace(
            record,
            state=StepState.RUNNING,
            began_at=began_at,
            expected_seconds=estimate.seconds if estimate else None,
            slow_seconds=estimate.slow_seconds if estimate else None,
            size_bytes=size.bytes,
            size_rows=size.rows,
        )
        self._note(begun)
        stop = self._working[name] = Stop()
        end = self._hours.end(plan_run.now())
        if end is not None:
            stop.begin_only_with(self._fits(job, end))

        def work() -> None:
            # By a clock that only goes forward: what a step took must not tell of a wall clock that was set.
            took = monotonic()
            done = self._done(job, begun, stop)
            self._ended.put(replace(done, ended_at=began_at + timedelta(seconds=monotonic() - took)))

        threading.Thread(target=work, name=f"step {name} on {self._plan_target.name}").start()

    def _done(self, job: TargetStep, begun: StepRecord, stop: Stop) -> StepRecord:
        """Do a step; whatever goes wrong is its outcome, for the plan run waits for one."""
        events = StepEvents(self._plan_run.events, job.step.name, self._plan_target.name)
        attempt = replace(self._attempt, events=events)
        try:
            return attempt.do(job, begun, self._history[job.step.name], stop)
        except Exception as error:  # noqa: BLE001 - one step never ends the plan run
            return replace(begun, state=StepState.FAILED, reason=unexpected(error).sentence)

    def _fits(self, job: TargetStep, end: datetime) -> Callable[[str], bool]:
        """Return what tells whether an object of a step still fits into the window, from its own earlier times."""
        store = self._plan_run.store
        runs = [step.run for step in self._history[job.step.name] if step.run is not None][:_RUNS]
        slow = slow_items([_items(store, run) for run in dict.fromkeys(runs)])

        def fits(label: str) -> bool:
            left = (end - self._plan_run.now()).total_seconds()
            return slow.get(label, 0.0) <= left

        return fits

    def _size_of(self, step: str) -> Size:
        """Return what a step works on, as it was when it was last asked; what ended since may have changed it."""
        if step not in self._sizes:
            self._sizes[step] = self._size(self._jobs[step])
        return self._sizes[step]

    def _size(self, job: TargetStep) -> Size:
        """Return the size of what a step works on; not knowing it is no reason not to begin."""
        try:
            return work_size(job, self._plan_target)
        except (ToolkitError, DatabaseError):
            return UNKNOWN

    def _runs(self) -> dict[str, str]:
        """Return the step of each run that this plan run began here, or continues."""
        store, plan_run_id, here = self._plan_run.store, self._plan_run.id, self._plan_target.name
        found = {head.run: head.experiment.name or "" for head in store.children_of(plan_run_id, here)}
        for name in tuple(self._working):
            before = next((step.run for step in self._history.get(name, ()) if step.run is not None), None)
            found |= {before: name} if before else {}
        return found

    def _say(self, text: str) -> None:
        """Emit what guards and windows have to say, and keep it for the run report."""
        self._plan_run.store.note_plan_run(
            self._plan_run.id, PlanNote(self._plan_target.name, text, self._plan_run.now())
        )
        self._plan_run.events.emit(
            Event("warning", f"{self._plan_target.name}: {text}", {"target": self._plan_target.name})
        )

    # -- ending -------------------------------------------------------------------------------------------------
    def _take(self, record: StepRecord) -> None:
        del self._working[record.step]
        self._sizes.clear()
        self._note(record)
        step = self._jobs[record.step].step
        if record.state is StepState.FAILED and step.on_failure is OnFailure.STOP:
            self._halt(f"step `{record.step}` failed", None)

    def _note(self, record: StepRecord) -> None:
        self._records[record.step] = record
        retrying(lambda: self._plan_run.store.note_step(self._plan_run.id, record))
        reason = f" ({record.reason})" if record.reason else ""
        text = f"{record.step} on {self._plan_target.name}: {record.state}{reason}"
        data = {"step": record.step, "target": self._plan_target.name, "state": record.state.value}
        self._plan_run.events.emit(Event("step", text, data))
        if record.state not in _OPEN:
            self._log(record)

    def _log(self, record: StepRecord) -> None:
        plan_run = self._plan_run
        event = AuditEvent(
            AuditKind.STEP, plan=plan_run.plan.name, step=record.step, target=self._plan_target.name,
            run=record.run or plan_run.id, outcome=record.state.value, reason=record.reason,
        )  # fmt: skip
        try:
            notes_of(plan_run.store, plan_run.approvals, plan_run.events).write(event)
        except ToolkitError as error:
            self._halt(error.sentence, None)


def _items(store: Store, run: str) -> list[ItemRecord]:
    """Return the items of a run; of one that was deleted meanwhile none."""
    try:
        return [item for trial in store.load_run(run, samples=False).trials for item in trial.items]
    except ToolkitError:
        return []
