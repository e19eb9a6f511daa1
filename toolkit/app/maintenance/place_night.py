"""A night on one target: begin what may begin, take what ended, stop when it is time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from toolkit.app.approvals import Approvals
from toolkit.app.auditing import notes_of
from toolkit.app.maintenance.attempt import Attempt, child_of, utc_now
from toolkit.app.maintenance.choice import Choice, choose
from toolkit.app.maintenance.conditions import unmet
from toolkit.app.maintenance.expect import expected, slow_items
from toolkit.app.maintenance.figures import work_bytes
from toolkit.app.maintenance.places import Job, Place
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.plan import AtDeadline, MaintenancePlan, OnFailure
from toolkit.model.plan_records import StepRecord, StepState
from toolkit.model.protocols import DatabaseError, Event, Events
from toolkit.model.records import ItemRecord
from toolkit.model.window import Span
from toolkit.model.words import EngineName, Role, RunState
from toolkit.runner import Stop, holding_lease
from toolkit.store import Store
from toolkit.targets.base import SessionTag, Target

_TICK_SECONDS = 0.5
_NIGHTS = 5
"""Nights whose objects tell how long each takes."""
_OPEN = frozenset({StepState.WAITING, StepState.RUNNING})
_KILLED = "its process was killed, or its host went down"
Now = Callable[[], datetime]


@dataclass(slots=True)
class Night:
    """What an execution of a plan works with."""

    plan: MaintenancePlan
    plan_run: str
    store: Store
    approvals: Approvals
    events: Events
    stop: Stop
    span: Span | None
    now: Now = utc_now
    stopped_by: list[str] = field(default_factory=list)
    refused: list[ToolkitError] = field(default_factory=list)
    """Why nothing could be begun on a target."""


class PlaceNight:
    """A night on one target."""

    def __init__(self, night: Night, place: Place, records: Sequence[StepRecord]) -> None:
        self._night, self._place = night, place
        self._jobs = {job.step.name: job for job in place.jobs}
        self._records = {record.step: record for record in records}
        self._history: dict[str, list[StepRecord]] = {}
        self._working: dict[str, Stop] = {}
        self._ended: queue.SimpleQueue[StepRecord] = queue.SimpleQueue()
        self._attempt = Attempt(night.plan_run, place, night.store, night.approvals, night.events, night.now)
        self._halted: str | None = None
        self._stop = Stop()

    def run(self) -> None:
        """Do the steps of this target; whatever keeps them from it becomes their reason."""
        night, key = self._night, self._place.reached.target.lease_key
        try:
            with (
                holding_lease(night.store, f"plan {night.plan.name} on {key}", night.plan_run, self._stop),
                holding_lease(night.store, key, night.plan_run, self._stop),
                self._holding_file(),
            ):
                self._close_killed_nights()
                self._read_history()
                self._work()
        except ToolkitError as error:
            night.refused.append(error)
            self._end_waiting(StepState.STOPPED, error.sentence)
        finally:
            self._place.reached.target.close()

    def _work(self) -> None:
        while True:
            self._look()
            self._begin_what_may()
            if not self._working:
                return
            try:
                self._take(self._ended.get(timeout=_TICK_SECONDS))
            except queue.Empty:
                continue

    @contextmanager
    def _holding_file(self) -> Iterator[None]:
        """Keep an embedded database open, so that no other process takes its file between two steps."""
        target = self._place.reached.target
        session = target.connect(Role.CONTROL, SessionTag(self._night.plan_run)) if _embedded(target) else None
        try:
            yield
        finally:
            if session is not None:
                session.close()

    def _read_history(self) -> None:
        store, plan = self._night.store, self._night.plan.name
        self._history = {name: store.step_history(plan, name, self._place.name) for name in self._jobs}

    def _close_killed_nights(self) -> None:
        """Say of earlier nights that were killed here that they were: as we hold the lock, nobody is at work."""
        store, now = self._night.store, self._night.now()
        for other in store.plan_runs(self._night.plan.name):
            if other.state is not RunState.RUNNING or other.plan_run == self._night.plan_run:
                continue
            for step in other.steps:
                if step.target == self._place.name and step.state in _OPEN:
                    store.note_step(other.plan_run, self._killed(other.plan_run, step, now))
            if not any(step.state in _OPEN for step in store.load_plan_run(other.plan_run).steps):
                store.end_plan_run(other.plan_run, RunState.INTERRUPTED, now, _KILLED)

    def _killed(self, plan_run: str, step: StepRecord, now: datetime) -> StepRecord:
        """Return the record of a step that died with its process: with its run, which may be gone on with."""
        ended = now if step.state is StepState.RUNNING else None
        run = step.run or child_of(self._night.store, plan_run, step.step, step.target)
        return replace(step, state=StepState.STOPPED, reason=_KILLED, ended_at=ended, run=run)

    # -- stopping -----------------------------------------------------------------------------------------------
    def _look(self) -> None:
        """Find out whether somebody stopped the night, the lease was lost, or the window closed."""
        night = self._night
        if night.stop.requested:
            self._halt("the plan was stopped", ToolkitError("the plan was stopped", code="TK-0130"))
        elif self._stop.requested:
            because = self._stop.because or ToolkitError("the lease was lost", code="TK-0302")
            self._halt(because.sentence, because)
        elif night.span is not None and night.now() >= night.span.end:
            sentence = f"the window closed at {night.span.end:%H:%M} UTC"
            stopping = night.plan.at_deadline is AtDeadline.STOP
            self._halt(sentence, ToolkitError(sentence, code="TK-0310") if stopping else None)

    def _halt(self, sentence: str, because: ToolkitError | None) -> None:
        """Begin nothing more; with an error end what runs too, each in its own order."""
        if self._halted is None:
            self._halted = sentence
            self._night.stopped_by.append(sentence)
        for stop in self._working.values():
            if because is not None and not stop.requested:
                stop.request(because)

    def _end_waiting(self, state: StepState, reason: str) -> None:
        for record in self._records.values():
            if record.state is StepState.WAITING:
                self._note(replace(record, state=state, reason=reason))

    # -- beginning ----------------------------------------------------------------------------------------------
    def _begin_what_may(self) -> None:
        """Begin every step that may begin now; end those of which it is known that they cannot."""
        while True:
            verdict = choose(self._choice())
            if verdict.step is None:
                return
            record = self._records[verdict.step]
            if verdict.state is not None:
                self._note(replace(record, state=verdict.state, reason=verdict.reason))
                continue
            reason = self._condition(self._jobs[verdict.step])
            if reason is not None:
                self._note(replace(record, state=reason[0], reason=reason[1]))
                continue
            self._begin(self._jobs[verdict.step], record)

    def _choice(self) -> Choice:
        night = self._night
        left = None if night.span is None else (night.span.end - night.now()).total_seconds()
        return Choice(
            night.plan,
            tuple(self._jobs.values()),
            self._records,
            self._history,
            frozenset(self._working),
            left,
            self._halted,
        )

    def _condition(self, job: Job) -> tuple[StepState, str] | None:
        """Return why a step is not to be begun by its own conditions, or None."""
        try:
            sentence = unmet(job, self._place, self._history[job.step.name], self._night.now())
        except ToolkitError as error:
            return StepState.FAILED, f"its condition could not be read: {error.sentence}"
        return None if sentence is None else (StepState.SKIPPED, sentence)

    def _begin(self, job: Job, record: StepRecord) -> None:
        night, name = self._night, job.step.name
        size = self._size(job)
        estimate = expected(self._history[name], size)
        begun = replace(
            record,
            state=StepState.RUNNING,
            began_at=night.now(),
            expected_seconds=estimate.seconds if estimate else None,
            slow_seconds=estimate.slow_seconds if estimate else None,
            size_bytes=size,
        )
        self._note(begun)
        stop = self._working[name] = Stop()
        if night.span is not None:
            stop.begin_only_with(self._fits(job, night.span))

        def work() -> None:
            done = self._attempt.do(job, begun, self._history[name], stop)
            self._ended.put(replace(done, ended_at=night.now()))

        threading.Thread(target=work, name=f"step {name} on {self._place.name}").start()

    def _fits(self, job: Job, span: Span) -> Callable[[str], bool]:
        """Return what tells whether an object of a step still fits into the window, from its own earlier times."""
        store = self._night.store
        runs = [step.run for step in self._history[job.step.name] if step.run is not None][:_NIGHTS]
        slow = slow_items([_items(store, run) for run in dict.fromkeys(runs)])

        def fits(label: str) -> bool:
            left = (span.end - self._night.now()).total_seconds()
            return slow.get(label, 0.0) <= left

        return fits

    def _size(self, job: Job) -> float | None:
        """Return the size of what a step works on; not knowing it is no reason not to begin."""
        try:
            return work_bytes(job, self._place)
        except (ToolkitError, DatabaseError):
            return None

    # -- ending -------------------------------------------------------------------------------------------------
    def _take(self, record: StepRecord) -> None:
        del self._working[record.step]
        self._note(record)
        step = self._jobs[record.step].step
        if record.state is StepState.FAILED and step.on_failure is OnFailure.STOP:
            self._halt(f"step `{record.step}` failed", None)

    def _note(self, record: StepRecord) -> None:
        self._records[record.step] = record
        self._night.store.note_step(self._night.plan_run, record)
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


def _embedded(target: Target) -> bool:
    return target.engine is EngineName.DUCKDB


def _items(store: Store, run: str) -> list[ItemRecord]:
    """Return the items of a run; of one that was deleted meanwhile none."""
    try:
        return [item for trial in store.load_run(run, samples=False).trials for item in trial.items]
    except ToolkitError:
        return []
