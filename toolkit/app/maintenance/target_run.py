"""A plan run on one target: begin what may begin, take what ended, stop when it is time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from toolkit.app.maintenance.asking import NotYetError, Questions
from toolkit.app.maintenance.attempt import StepAttempt, StepEvents
from toolkit.app.maintenance.beginning import PlanRun, log_step
from toolkit.app.maintenance.choice import UNKNOWN, Choice, Size, any_fits, choose, expected
from toolkit.app.maintenance.closing import as_told, broken, close_killed_runs, ended_since, retrying, taken_over
from toolkit.app.maintenance.conditions import CONDITION_SECONDS, SIZE_SECONDS, unmet, work_size
from toolkit.app.maintenance.fitting import fits_until
from toolkit.app.maintenance.guards import GuardKeeper, wait_for_guards
from toolkit.app.maintenance.hours import Hours, hours_of
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.maintenance.tidying import left_alone, left_by, tidy
from toolkit.app.maintenance.working import Working
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError, unexpected
from toolkit.executors import may_still_end, refused
from toolkit.model.engines import engine
from toolkit.model.plan import AtDeadline, OnFailure, PlanNote, StepRecord, StepState
from toolkit.model.protocols import DatabaseError, Event
from toolkit.model.words import Role
from toolkit.runner import Stop, holding_lease, within
from toolkit.runner.stop import TAKEN_OVER
from toolkit.targets.base import SessionTag
from toolkit.units import seconds

_TICK_SECONDS = 0.5
_HOURS_SECONDS = 20.0
_LOST = ToolkitError("the lease was lost", code=TAKEN_OVER)
_OPEN = frozenset({StepState.WAITING, StepState.RUNNING})


class TargetRun:
    """A plan run on one target."""

    def __init__(self, plan_run: PlanRun, plan_target: PlanTarget, records: Sequence[StepRecord]) -> None:
        self._plan_run, self.plan_target = plan_run, plan_target
        self._jobs = {job.step.name: job for job in plan_target.jobs}
        self._records = {record.step: record for record in records}
        self._history: dict[str, list[StepRecord]] = {}
        self._working = Working(self._is_reachable)
        self._questions = Questions()
        self._halted: str | None = None
        self._sizes: dict[str, Size] = {}
        self._hours = Hours(plan_run.span)
        self._held: set[str] = set()
        self._busy_since: datetime | None = None
        self._keeper = GuardKeeper(
            plan_target, plan_run.id, self._runs, self._say, plan_run.now, in_window=plan_run.span is not None
        )
        wait = partial(wait_for_guards, self._keeper, what="chunk", hint="the next plan run continues it")
        self._attempt = StepAttempt(
            plan_run.id, plan_target, plan_run.store, plan_run.approvals, plan_run.events, wait
        )
        self.stop = Stop()
        """Asked to end when one of its leases is lost."""

    def run(self) -> bool:
        """Do the steps of this target; whatever keeps them from it becomes their reason.

        Returns:
            False, having done nothing, when somebody else is at work there and it is worth trying again.
        """
        plan_run, target = self._plan_run, self.plan_target.resolved.target
        try:
            if self.plan_target.refused is not None:
                raise self.plan_target.refused
            with ExitStack() as held:
                if not self._holds(held):
                    return False
                close_killed_runs(
                    plan_run.store, plan_run.plan.name, plan_run.id, self.plan_target.name, plan_run.now()
                )
                self._records = taken_over(plan_run.store, plan_run.id, self.plan_target.name, plan_run.now())
                self._read_history()
                self._read_hours()
                self._tidy(left_alone(self._attempt, plan_run.plan.name, self._history))
                with self._keeper:
                    self._work()
                resting = {name for name, each in self._records.items() if each.state is StepState.SKIPPED}
                self._tidy(left_by(self._attempt, self._history, resting), last=True)
        except (ToolkitError, DatabaseError) as error:
            why = error if isinstance(error, ToolkitError) else refused(dialect_of(target.engine), error)
            if (over := self._over()) is not None:
                self._halt(over[0], None)
            plan_run.refused.append(why)
            self._end_waiting(StepState.STOPPED, why.sentence)
        finally:
            target.close()
        return True

    def _holds(self, held: ExitStack) -> bool:
        """Take the target, for as long as a stack is open; False when it is busy now and is to be waited for."""
        plan_run, target = self._plan_run, self.plan_target.resolved.target
        try:
            held.enter_context(
                holding_lease(plan_run.store, target.lease_key, plan_run.id, self.stop, waiting=plan_run)
            )
            held.enter_context(self._holding_file())
        except ToolkitError as error:
            if error.code != "TK-0302" or not self._is_worth_waiting():
                raise
            if self._busy_since is None:
                self._say(f"it is busy and is waited for: {error.sentence}")
                self._busy_since = plan_run.now()
            return False
        if self._busy_since is not None:
            waited = (plan_run.now() - self._busy_since).total_seconds()
            self._say(f"it was busy: it was waited for {seconds(waited)}")
            self._busy_since = None
        return True

    def _is_worth_waiting(self) -> bool:
        """Tell whether a busy target may still be free in time for one of its steps."""
        plan_run, now = self._plan_run, self._plan_run.now()
        limit = plan_run.plan.wait_for_target_seconds
        if limit is not None and (now - (self._busy_since or now)).total_seconds() >= limit:
            return False
        if self._over() is not None or (limit is None and plan_run.span is None):
            return False
        if self._busy_since is None:
            self._read_history()
        return any_fits(replace(self._choice(), size_of=lambda _: UNKNOWN))

    def _work(self) -> None:
        with self._working.stopped_in_time(self._over):
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
            record = self._working.ended(_TICK_SECONDS)
            if record is not None:
                self._take(record)

    @contextmanager
    def _holding_file(self) -> Iterator[None]:
        """Keep an embedded database open, so that no other process takes its file between two steps."""
        target = self.plan_target.resolved.target
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
            name: ended_since(store, plan, store.step_history(plan, name, self.plan_target.name))
            for name in self._jobs
        }

    def _read_hours(self) -> None:
        """Find out when the database's own scheduler is at work, and say what that means."""
        plan_run, now, wish = self._plan_run, self._plan_run.now(), self._plan_run.plan.scheduler_windows
        ask = partial(hours_of, self.plan_target, wish, plan_run.span)
        try:
            self._hours = within(_HOURS_SECONDS, ask, lambda: self._over() is not None)
        except TimeoutError:
            if self._over() is not None:
                return
            why = f"the database windows are unknown: no answer within {seconds(_HOURS_SECONDS)}"
            self._hours = Hours(plan_run.span, wish, unknown=why)
        for sentence in self._hours.sentences((job.step.operation for job in self._jobs.values()), now):
            self._say(sentence)

    # -- stopping -----------------------------------------------------------------------------------------------
    def _look(self) -> None:
        """Find out whether it is time to stop: all, because of the database's windows, or one for its guards."""
        over, closed = self._over(), self._hours.closed(self._plan_run.now())
        if over is not None:
            self._halt(*over)
        elif closed is not None and self._plan_run.plan.at_deadline is AtDeadline.STOP:
            self._working.stop(ToolkitError(closed.reason, code="TK-0310"))
        for name, because in self._keeper.to_stop(tuple(self._working)):
            self._working.stop(because, name)

    def _over(self) -> tuple[str, ToolkitError | None] | None:
        """Return why nothing more may begin, and with it why what runs must end; None while it may go on."""
        because = (self.stop.because or _LOST) if self.stop.requested else self._plan_run.because
        if because is None:
            return None
        ends = because.code != "TK-0310" or self._plan_run.plan.at_deadline is AtDeadline.STOP
        return because.sentence, because if ends else None

    def _tidy(self, left: Mapping[str, str], *, last: bool = False) -> None:
        tidy(self._attempt, left, lambda: self._is_taken() or self._over() is not None, self._say, last=last)

    def _halt(self, sentence: str, because: ToolkitError | None) -> None:
        """Begin nothing more; with an error end what runs too, each in its own order."""
        if self._halted is None:
            self._halted = sentence
            self._plan_run.stopped_by.append(sentence)
        if because is not None:
            self._working.stop(because)

    def _end_working(self, because: ToolkitError) -> None:
        """End running steps and wait for them: none may be active once the lease is released."""
        self._halt(because.sentence, because)
        while self._working:
            record = self._working.ended(_TICK_SECONDS)
            if record is not None:
                with suppress(ToolkitError):
                    self._note(record)

    def _is_reachable(self) -> bool:
        """Tell whether the database may still end what it was told to."""
        return may_still_end(self.plan_target.resolved.target)

    def _end_waiting(self, state: StepState, reason: str) -> None:
        for record in tuple(self._records.values()):
            if record.state is StepState.WAITING:
                self._note(replace(record, state=state, reason=reason))

    # -- beginning ----------------------------------------------------------------------------------------------
    def _begin_what_may(self) -> None:
        """Begin every step that may begin now; end those of which it is known that they cannot."""
        self._held.clear()
        self._questions.wait_a_moment()
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
                if not self._is_not_due(record, asking=self._halted is None):
                    reason = f"{verdict.reason}; it waited: {waited}" if waited else verdict.reason
                    self._note(replace(record, state=verdict.state, reason=reason))
                continue
            if not self._is_kept(record, waited=waited is not None):
                self._begin(self._jobs[verdict.step], record)

    def _is_kept(self, record: StepRecord, *, waited: bool) -> bool:
        """Tell whether a step is not begun now: it is not due, its size is not known yet, or its guards say no.

        What is not due waits for nothing; what has waited for its guards is asked again whether it is due.
        """
        if self._is_not_due(record, asking=False) or self._size_of(record.step) is None:
            return True
        looks = (self._is_held, self._is_not_due) if waited else (self._is_not_due, self._is_held)
        return any(keeps(record) for keeps in looks)

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

    def _is_not_due(self, record: StepRecord, *, asking: bool = True) -> bool:
        """End a step whose own conditions do not hold: it was not kept from its work, there is none to do.

        How long ago it was done is known; the other conditions need `asking`, and may have to wait for the answer.
        """
        state, job = StepState.SKIPPED, self._jobs[record.step]
        history, now = self._history.get(record.step, ()), self._plan_run.now()
        ask = partial(unmet, job, self.plan_target, history, now)
        try:
            reason = ask(asking=False)
            if reason is None and job.step.only_if and asking:
                reason = self._questions.answer(("due", record.step), ask, CONDITION_SECONDS)
        except NotYetError:
            self._held.add(record.step)
            return True
        except (ToolkitError, DatabaseError) as error:
            state, reason = StepState.FAILED, f"its condition could not be read: {error.sentence}"
        if reason is not None:
            self._note(replace(record, state=state, reason=reason))
        return reason is not None

    def _begin(self, job: TargetStep, record: StepRecord) -> None:
        plan_run, name = self._plan_run, job.step.name
        size = self._sizes[name]
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
        stop = Stop()
        stop.led_by(self.stop)
        end = self._hours.end(plan_run.now())
        if end is not None:
            stop.begin_only_with(fits_until(end, self._history[name], plan_run.store, plan_run.now))
        self._working.begin(begun, partial(self._done, job, begun), stop)

    def _done(self, job: TargetStep, begun: StepRecord, stop: Stop) -> StepRecord:
        """Do a step; whatever goes wrong is its outcome, for the plan run waits for one."""
        events = StepEvents(self._plan_run.events, job.step.name, self.plan_target.name)
        attempt = replace(self._attempt, events=events)
        try:
            return attempt.do(job, begun, self._history[job.step.name], stop)
        except Exception as error:  # noqa: BLE001 - one step never ends the plan run
            return broken(attempt.store, attempt.plan_run, begun, unexpected(error).sentence)

    def _size_of(self, step: str) -> Size | None:
        """Return what a step works on, asked anew when one has ended; None while the database has not said."""
        if step not in self._sizes:
            ask = partial(work_size, self._jobs[step], self.plan_target)
            try:
                self._sizes[step] = self._questions.answer(("size", step), ask, SIZE_SECONDS)
            except NotYetError:
                self._held.add(step)
                return None
            except (ToolkitError, DatabaseError):
                self._sizes[step] = UNKNOWN  # no reason not to begin
        return self._sizes[step]

    def _runs(self) -> dict[str, str]:
        """Return the step of each run that this plan run began here, or continues."""
        store, plan_run_id, here = self._plan_run.store, self._plan_run.id, self.plan_target.name
        found = {head.run: head.experiment.name or "" for head in store.children_of(plan_run_id, here)}
        for name in tuple(self._working):
            before = next((step.run for step in self._history.get(name, ()) if step.run is not None), None)
            found |= {before: name} if before else {}
        return found

    def _say(self, text: str) -> None:
        """Emit what guards and windows have to say, and keep it for the run report."""
        self._plan_run.store.note_plan_run(
            self._plan_run.id, PlanNote(self.plan_target.name, text, self._plan_run.now())
        )
        self._plan_run.events.emit(
            Event("warning", f"{self.plan_target.name}: {text}", {"target": self.plan_target.name})
        )

    # -- ending -------------------------------------------------------------------------------------------------
    def _take(self, record: StepRecord) -> None:
        self._sizes.clear()
        self._note(record)
        step = self._jobs[record.step].step
        if record.state is StepState.FAILED and step.on_failure is OnFailure.STOP:
            self._halt(f"step `{record.step}` failed", None)

    def _note(self, record: StepRecord) -> None:
        if record.state not in _OPEN and self._is_taken():
            record = as_told(self._plan_run.store, self._plan_run.id, record)
        self._records[record.step] = record
        retrying(lambda: self._plan_run.store.note_step(self._plan_run.id, record))
        reason = f" ({record.reason})" if record.reason else ""
        text = f"{record.step} on {self.plan_target.name}: {record.state}{reason}"
        data = {"step": record.step, "target": self.plan_target.name, "state": record.state.value}
        self._plan_run.events.emit(Event("step", text, data))
        if record.state not in _OPEN:
            try:
                log_step(self._plan_run, record)
            except ToolkitError as error:
                self._halt(error.sentence, None)

    def _is_taken(self) -> bool:
        """Tell whether another process holds the target by now, which one that was frozen finds out here."""
        if self.stop.overdue():
            self.stop.look()
        return self.stop.because is not None and self.stop.because.code == TAKEN_OVER
