"""A night on one target: begin what may begin, take what ended, stop when it is time."""

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
from toolkit.app.maintenance.choice import Choice, choose
from toolkit.app.maintenance.closing import close_killed_nights, ended_since, taken_over
from toolkit.app.maintenance.conditions import unmet
from toolkit.app.maintenance.expect import UNKNOWN, Size, expected, slow_items
from toolkit.app.maintenance.figures import work_size
from toolkit.app.maintenance.guards import GuardHold, GuardKeeper
from toolkit.app.maintenance.hours import Closed, Hours, hours_of
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.maintenance.retry import retrying
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import refused
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.plan import AtDeadline, MaintenancePlan, OnFailure, PlanNote, StepRecord, StepState
from toolkit.model.protocols import DatabaseError, Event, Events, TaggedEvents
from toolkit.model.records import ItemRecord
from toolkit.model.window import TimeSpan
from toolkit.model.words import Role
from toolkit.runner import Stop, holding_lease
from toolkit.store import Store
from toolkit.targets.base import SessionTag, Target

_TICK_SECONDS = 0.5
_NIGHTS = 5
"""Nights whose objects tell how long each takes."""
_OPEN = frozenset({StepState.WAITING, StepState.RUNNING})
Now = Callable[[], datetime]


@dataclass(slots=True)
class PlanRun:
    """What an execution of a plan works with."""

    plan: MaintenancePlan
    plan_run: str
    store: Store
    approvals: Approvals
    events: Events
    stop: Stop
    span: TimeSpan | None
    now: Now = utc_now
    stopped_by: list[str] = field(default_factory=list)
    refused: list[ToolkitError] = field(default_factory=list)
    """Why nothing could be begun on a target."""


class TargetRun:
    """A night on one target."""

    def __init__(self, night: PlanRun, place: PlanTarget, records: Sequence[StepRecord]) -> None:
        self._night, self._place = night, place
        self._jobs = {job.step.name: job for job in place.jobs}
        self._records = {record.step: record for record in records}
        self._history: dict[str, list[StepRecord]] = {}
        self._working: dict[str, Stop] = {}
        self._ended: queue.SimpleQueue[StepRecord] = queue.SimpleQueue()
        self._attempt = StepAttempt(night.plan_run, place, night.store, night.approvals, night.events)
        self._halted: str | None = None
        self._sizes: dict[str, Size] = {}
        self._hours = Hours(night.span)
        self._held: set[str] = set()
        self._keeper = GuardKeeper(
            place, night.plan_run, self._runs, self._say, night.now, in_window=night.span is not None
        )
        self.stop = Stop()
        """Asked to end when a lease of ours is lost."""

    def run(self) -> None:
        """Do the steps of this target; whatever keeps them from it becomes their reason."""
        night, target = self._night, self._place.resolved.target
        try:
            if self._place.refused is not None:
                raise self._place.refused
            with (
                holding_lease(night.store, target.lease_key, night.plan_run, self.stop, waiting=night.stop),
                self._holding_file(),
            ):
                close_killed_nights(night.store, night.plan.name, night.plan_run, self._place.name, night.now())
                self._records = taken_over(night.store, night.plan_run, self._place.name, night.now())
                self._read_history()
                self._read_hours()
                with self._keeper:
                    self._work()
        except (ToolkitError, DatabaseError) as error:
            told = error if isinstance(error, ToolkitError) else refused(dialect_of(target.engine), error)
            night.refused.append(told)
            self._end_waiting(StepState.STOPPED, told.sentence)
        finally:
            target.close()

    def _work(self) -> None:
        try:
            self._until_all_is_done()
        except BaseException as error:
            self._end_working(error if isinstance(error, ToolkitError) else _fault(error))
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
        target = self._place.resolved.target
        session = target.connect(Role.CONTROL, SessionTag(self._night.plan_run)) if _embedded(target) else None
        try:
            yield
        finally:
            if session is not None:
                session.close()

    def _read_history(self) -> None:
        store, plan = self._night.store, self._night.plan.name
        self._history = {
            name: ended_since(store, store.step_history(plan, name, self._place.name)) for name in self._jobs
        }

    def _read_hours(self) -> None:
        """Find out when the database's own scheduler is at work, and say what that means."""
        night, now = self._night, self._night.now()
        self._hours = hours_of(self._place, night.plan.scheduler_windows, night.span)
        for sentence in self._hours.sentences((job.step.operation for job in self._jobs.values()), now):
            self._say(sentence)

    # -- stopping -----------------------------------------------------------------------------------------------
    def _look(self) -> None:
        """Find out whether somebody stopped the night, the lease was lost, or the window closed."""
        night = self._night
        if night.stop.requested:
            because = night.stop.because or ToolkitError("the plan was stopped", code="TK-0130")
            self._halt(because.sentence, because)
        elif self.stop.requested:
            because = self.stop.because or ToolkitError("the lease was lost", code="TK-0302")
            self._halt(because.sentence, because)
        elif night.span is not None and night.now() >= night.span.end:
            sentence = f"the window closed at {night.span.end:%H:%M} UTC"
            stopping = night.plan.at_deadline is AtDeadline.STOP
            self._halt(sentence, ToolkitError(sentence, code="TK-0310") if stopping else None)
        elif (closed := self._hours.closed(night.now())) is not None:
            self._end_meanwhile(closed)

        for name, because in self._keeper.to_stop(tuple(self._working)):
            if not self._working[name].requested:
                self._working[name].request(because)

    def _halt(self, sentence: str, because: ToolkitError | None) -> None:
        """Begin nothing more; with an error end what runs too, each in its own order."""
        if self._halted is None:
            self._halted = sentence
            self._night.stopped_by.append(sentence)
        for stop in self._working.values():
            if because is not None and not stop.requested:
                stop.request(because)

    def _end_meanwhile(self, closed: Closed) -> None:
        """End what runs when the database's window opens or closes; it goes on another night."""
        if self._night.plan.at_deadline is AtDeadline.STOP:
            for stop in self._working.values():
                if not stop.requested:
                    stop.request(ToolkitError(closed.reason, code="TK-0310"))

    def _end_working(self, because: ToolkitError) -> None:
        """End what runs and wait for it: nothing of ours may be at work once the lease is given back."""
        self._halt(because.sentence, because)
        while self._working:
            record = self._ended.get()
            del self._working[record.step]
            with suppress(ToolkitError):
                self._note(record)

    def _end_waiting(self, state: StepState, reason: str) -> None:
        for record in self._records.values():
            if record.state is StepState.WAITING:
                self._note(replace(record, state=state, reason=reason))

    # -- beginning ----------------------------------------------------------------------------------------------
    def _begin_what_may(self) -> None:
        """Begin every step that may begin now; end those of which it is known that they cannot."""
        self._held.clear()
        closed = self._hours.closed(self._night.now()) if self._halted is None else None
        if closed is not None and closed.until is None:
            self._end_waiting(StepState.STOPPED, closed.reason)
        elif closed is not None:
            self._held |= {name for name, each in self._records.items() if each.state is StepState.WAITING}
            return
        while True:
            verdict = choose(self._choice())
            if verdict.step is None:
                return
            record = self._records[verdict.step]
            if verdict.state is not None:
                waited = self._keeper.waits_for(verdict.step)
                reason = f"{verdict.reason}; it waited: {waited}" if waited else verdict.reason
                self._note(replace(record, state=verdict.state, reason=reason))
                continue
            held = self._keeper.before(self._jobs[verdict.step].step)
            if held is not None:
                self._hold(record, held)
                continue
            unmet_reason = self._condition(self._jobs[verdict.step])
            if unmet_reason is not None:
                self._note(replace(record, state=unmet_reason[0], reason=unmet_reason[1]))
                continue
            self._begin(self._jobs[verdict.step], record)

    def _hold(self, record: StepRecord, held: GuardHold) -> None:
        """Let a step wait for its guards; one that has waited long enough ends here."""
        if held.for_good:
            self._note(replace(record, state=StepState.STOPPED, reason=held.reason))
        else:
            self._held.add(record.step)

    def _choice(self) -> Choice:
        night = self._night
        return Choice(
            night.plan,
            tuple(self._jobs.values()),
            self._records,
            self._history,
            frozenset(self._working),
            self._hours.left_seconds(night.now()),
            self._halted,
            frozenset(self._held),
            self._size_of,
        )

    def _condition(self, job: TargetStep) -> tuple[StepState, str] | None:
        """Return why a step is not to be begun by its own conditions, or None."""
        try:
            sentence = unmet(job, self._place, self._history[job.step.name], self._night.now())
        except ToolkitError as error:
            return StepState.FAILED, f"its condition could not be read: {error.sentence}"
        return None if sentence is None else (StepState.SKIPPED, sentence)

    def _begin(self, job: TargetStep, record: StepRecord) -> None:
        night, name = self._night, job.step.name
        size = self._sizes[name] = self._size(job)
        estimate = expected(self._history[name], size)
        began_at = night.now()
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
        end = self._hours.end(night.now())
        if end is not None:
            stop.begin_only_with(self._fits(job, end))

        def work() -> None:
            # By a clock that only goes forward: what a step took must not tell of a wall clock that was set.
            took = monotonic()
            done = self._done(job, begun, stop)
            self._ended.put(replace(done, ended_at=began_at + timedelta(seconds=monotonic() - took)))

        threading.Thread(target=work, name=f"step {name} on {self._place.name}").start()

    def _done(self, job: TargetStep, begun: StepRecord, stop: Stop) -> StepRecord:
        """Do a step; whatever goes wrong is its outcome, for the night waits for one."""
        tags = {"step": job.step.name, "target": self._place.name}
        attempt = replace(self._attempt, events=TaggedEvents(self._night.events, tags))
        try:
            return attempt.do(job, begun, self._history[job.step.name], stop)
        except Exception as error:  # noqa: BLE001 - one step never ends the night
            told = error if isinstance(error, ToolkitError) else _fault(error)
            return replace(begun, state=StepState.FAILED, reason=told.sentence)

    def _fits(self, job: TargetStep, end: datetime) -> Callable[[str], bool]:
        """Return what tells whether an object of a step still fits into the window, from its own earlier times."""
        store = self._night.store
        runs = [step.run for step in self._history[job.step.name] if step.run is not None][:_NIGHTS]
        slow = slow_items([_items(store, run) for run in dict.fromkeys(runs)])

        def fits(label: str) -> bool:
            left = (end - self._night.now()).total_seconds()
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
            return work_size(job, self._place)
        except (ToolkitError, DatabaseError):
            return UNKNOWN

    def _runs(self) -> dict[str, str]:
        """Return the step of each run that this night began here, or goes on with."""
        store, night, here = self._night.store, self._night.plan_run, self._place.name
        found = {head.run: head.experiment.name or "" for head in store.children_of(night, here)}
        for name in tuple(self._working):
            before = next((step.run for step in self._history.get(name, ()) if step.run is not None), None)
            found |= {before: name} if before else {}
        return found

    def _say(self, text: str) -> None:
        """Tell what guards have to say, and keep it for the account."""
        self._night.store.note_plan_run(self._night.plan_run, PlanNote(self._place.name, text, self._night.now()))
        self._night.events.emit(Event("warning", f"{self._place.name}: {text}", {"target": self._place.name}))

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
        retrying(lambda: self._night.store.note_step(self._night.plan_run, record))
        said = f" ({record.reason})" if record.reason else ""
        text = f"{record.step} on {self._place.name}: {record.state}{said}"
        data = {"step": record.step, "target": self._place.name, "state": record.state.value}
        self._night.events.emit(Event("step", text, data))
        if record.state not in _OPEN:
            self._log(record)

    def _log(self, record: StepRecord) -> None:
        night = self._night
        event = AuditEvent(
            AuditKind.STEP, plan=night.plan.name, step=record.step, target=self._place.name,
            run=record.run or night.plan_run, outcome=record.state.value, reason=record.reason,
        )  # fmt: skip
        try:
            notes_of(night.store, night.approvals, night.events).write(event)
        except ToolkitError as error:
            self._halt(error.sentence, None)


def _fault(error: BaseException) -> ToolkitError:
    return ToolkitError(f"fault of dbatk: {error!r}", code="TK-0901")


def _embedded(target: Target) -> bool:
    return target.engine == "duckdb"


def _items(store: Store, run: str) -> list[ItemRecord]:
    """Return the items of a run; of one that was deleted meanwhile none."""
    try:
        return [item for trial in store.load_run(run, samples=False).trials for item in trial.items]
    except ToolkitError:
        return []
