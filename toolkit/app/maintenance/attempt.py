"""One step on one target, tried until it ends: begun or continued, verified, and undone where the plan says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic

from toolkit.app.approvals import Approvals
from toolkit.app.maintenance.closing import retrying, well_ended
from toolkit.app.maintenance.loaded import Reader, Verification, as_before
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.maintenance.verify import NOT_APPROVED, look_at
from toolkit.app.results import ended_well, find_run, job_done
from toolkit.app.runs.doubt import THERE, load_in_doubt, loaded_in_part, taken_as_done
from toolkit.app.runs.execute import Guarding, resume, start
from toolkit.app.runs.repair import CleanReport, clean, lost_after_all
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError, unexpected
from toolkit.model.experiment import Experiment
from toolkit.model.operations import Options, RowSemantics, declaration
from toolkit.model.plan import OnFailure, PlanStep, StepRecord, StepState
from toolkit.model.protocols import Event, Events
from toolkit.model.records import RunHead, RunRecord
from toolkit.model.words import Effect, EntryState, Outcome, RunState
from toolkit.runner import OUT_OF_REACH, Gates, Stop
from toolkit.runner.judging import END_UNKNOWN
from toolkit.runner.parts import COMMITTED
from toolkit.store import Store
from toolkit.units import counted

_FIRST_WAIT_SECONDS = 5.0
_LONGEST_WAIT_SECONDS = 300.0
_SHOWN = 3
_CUT_OFF = frozenset({StepState.STOPPED, StepState.RUNNING})
_BROKEN = frozenset({RunState.RUNNING, RunState.INTERRUPTED})


def utc_now() -> datetime:
    """Return the present instant."""
    return datetime.now(UTC)


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


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """How a try ended; `passing` whether another one may help."""

    state: StepState
    run: str | None
    reason: str | None = None
    passing: bool = False


@dataclass(frozen=True, slots=True)
class StepAttempt:
    """What is needed to do a step: the plan's run, the plan_target, and what the user allowed."""

    plan_run: str
    plan_target: PlanTarget
    store: Store
    approvals: Approvals
    events: Events
    before_chunk: Callable[[PlanStep, Stop], object] = lambda *_: True
    """Waits for the guards of a step between two chunks of its work."""

    def do(self, job: TargetStep, record: StepRecord, earlier: Sequence[StepRecord], stop: Stop) -> StepRecord:
        """Do a step and return its record with state, reason and run; errors are outcomes, not exceptions.

        Args:
            job: the step here.
            record: of this plan run.
            earlier: of other runs, newest first.
            stop: asked when the window closes or somebody stops the plan.
        """
        begun = monotonic()
        run = self.left_behind(earlier)
        dropped = None if run is None or self._goes_on_with(run, job) else run
        undone: str | None = None
        if dropped is not None:
            self.events.emit(Event("warning", f"the plan changed, so run {dropped} is not continued"))
            run, (is_whole, what) = None, self._undo(dropped, stop)
            undone = f"of the earlier run {dropped}, which the changed plan leaves: {what}"
            if not is_whole:  # what it left may be in the way, or still at work: tried again by the next plan run
                state = StepState.STOPPED if stop.requested else StepState.FAILED
                return replace(record, state=state, reason=f"nothing was begun; {undone}")
        went_on = run is not None
        if run is not None and self.approvals.approval is not None and not self._is_same(run, job):
            return replace(record, state=StepState.FAILED, reason=f"nothing was begun; {self._not_approved(run)}")
        if went_on:
            # Whoever comes after a kill must know which run this step was: it is no child of this plan run.
            retrying(lambda: self.store.note_step(self.plan_run, replace(record, run=run)))
        tries = 0
        while True:
            tries += 1
            with as_before(job, self.plan_target, stop) as before:
                ended = self._answered(run) or self._settled(job, run, stop)
                verification = self._verify(job, begun, run if went_on else None, ended, before, stop)
            again = ended.state is StepState.FAILED and ended.passing and tries <= job.step.retries
            if not again or stop.wait(min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2 ** (tries - 1))):
                break
            self.events.emit(Event("warning", f"{ended.reason}; retrying"))
            run = ended.run if self._can_go_on(ended.run) else None
        if verification.fault is not None:
            ended = replace(ended, state=StepState.FAILED, reason=verification.fault)
        elif ended.state is StepState.DONE and went_on:
            ended = replace(ended, reason=ended.reason or "continued what an earlier run had begun")
        if ended.state is StepState.FAILED and job.step.on_failure is OnFailure.UNDO and ended.run is not None:
            ended = replace(ended, reason=f"{ended.reason}; {self._undo(ended.run, stop)[1]}")
        if undone is not None:
            ended = replace(ended, reason="; ".join(filter(None, (ended.reason, undone))))
        return replace(
            record,
            state=ended.state,
            run=ended.run,
            reason=ended.reason,
            tries=tries,
            verified="; ".join(verification.verified) or None,
            unverified="; ".join(verification.unverified) or None,
        )

    def _verify(
        self, job: TargetStep, begun: float, earlier: str | None, ended: AttemptResult,
        before: Reader | ToolkitError | None, stop: Stop,
    ) -> Verification:  # fmt: skip
        """Verify what a step did that succeeded; `earlier` is the run of another plan run that it went on with."""
        if ended.state is not StepState.DONE or ended.run is None:
            return Verification()
        try:
            took = monotonic() - begun
            if earlier is not None:  # it may have been done since that one began, not in this plan run
                took = max(took, (utc_now() - self.store.load_head(earlier).began_at).total_seconds())
            return look_at(job, self.plan_target, took, run=ended.run, store=self.store, before=before, stop=stop)
        except Exception as error:  # noqa: BLE001 - one step never ends the plan run
            why = unexpected(error).sentence
            sentence = f"could not verify whether it was done: {why}"
            # What was not approved is refused, never passed over: a look that needs it fails the step.
            refused = isinstance(error, ToolkitError) and error.code == NOT_APPROVED
            return Verification(sentence) if refused else Verification(unverified=(sentence,))

    def left_behind(self, earlier: Sequence[StepRecord]) -> str | None:
        """Return the run that an earlier plan run began and did not end."""
        last = next((step for step in earlier if step.run is not None), None)
        if last is None or last.run is None or not self._is_known(last.run):
            return None
        if self._has_loaded(last.run):
            return last.run
        head = self.store.load_head(last.run)
        cut_off = last.state in _CUT_OFF or head.state in _BROKEN or bool(self.store.unended_trials(last.run))
        cut_off = cut_off or (last.state is StepState.FAILED and self._is_unsettled(last.run))
        return last.run if cut_off and self._can_go_on(last.run) else None

    def _goes_on_with(self, run: str, job: TargetStep) -> bool:
        """Tell whether a step goes on with a run that was left behind: it would do the same.

        With a load in doubt in any case: going on with it is refused until somebody has counted its rows. So with
        one of which parts are committed: a new run would load them again.
        """
        return self._has_loaded(run) or self._is_same(run, job)

    def _is_same(self, run: str, job: TargetStep) -> bool:
        return _same_work(self.store.load_head(run), job)

    def _not_approved(self, run: str) -> str:
        """Say why a load that nobody approved as it stands in the store is not gone on with."""
        return (
            f"run {run} of this step has loaded a part, or may have, and does not do what was approved; "
            f"`dbatk clean -t {self.plan_target.name} --run {run}` says what is there and how it is removed"
        )

    def _has_loaded(self, run: str) -> bool:
        return load_in_doubt(run, self.store) or loaded_in_part(run, self.store)

    def _can_go_on(self, run: str | None) -> bool:
        if run is None or not self._is_known(run):
            return False
        if self.store.load_head(run).state is not RunState.DONE:
            return True
        return self._has_loaded(run) or self._is_unsettled(run)

    def _is_unsettled(self, run: str) -> bool:
        """Tell whether a run that failed was done after all, or left something that nobody has put back."""
        done = lost_after_all(run, self.store) or taken_as_done(run, self.store)
        return done or bool(self.store.journal(run).open_entries())

    def _is_known(self, run: str) -> bool:
        """Tell whether a run is still stored: somebody may have deleted it."""
        try:
            self.store.load_head(run)
        except ToolkitError as error:
            if error.code != "TK-0109":
                raise
            return False
        return True

    def _answered(self, run: str | None) -> AttemptResult | None:
        """Return the end of a load whose rows are there, as a person answered; None when it is to be done."""
        done = run is not None and taken_as_done(run, self.store)
        return AttemptResult(StepState.DONE, run, THERE) if done else None

    def _settled(self, job: TargetStep, run: str | None, stop: Stop) -> AttemptResult:
        """Do a step; a load that lost its connection is gone on with at once, if the database can be asked."""
        asked = run is not None and load_in_doubt(run, self.store)
        ended = self._once(job, run, stop)
        if asked or stop.requested or ended.run is None or not load_in_doubt(ended.run, self.store):
            return ended
        again = self._once(job, ended.run, stop)
        return ended if again.state is StepState.FAILED and again.passing else again

    def _once(self, job: TargetStep, run: str | None, stop: Stop) -> AttemptResult:
        before = {head.run for head in self.store.children_of(self.plan_run, self.plan_target.name)}
        try:
            resolved, experiment = self.plan_target.resolved, job.experiment
            if run is None:
                run = start(
                    experiment, resolved.target, store=self.store, approvals=self.approvals, events=self.events,
                    policy=resolved.policy, stop=stop, under=self.plan_run, guarding=self._guarding(job),
                )  # fmt: skip
            else:
                run = resume(
                    run, resolved.target, store=self.store, approvals=self.approvals, events=self.events,
                    policy=resolved.policy, stop=stop, under=self.plan_run, guarding=self._guarding(job),
                )  # fmt: skip
        except Exception as error:  # noqa: BLE001 - one step never ends the plan run
            run = run or self._begun(job, before)
            return self._broken(run, error, stop)
        record = retrying(lambda: find_run(self.store, run))
        if ended_well(record):
            told = any(trial.reason == COMMITTED for trial in record.trials)
            return AttemptResult(StepState.DONE, run, COMMITTED if told else None)
        if stop.held_back:
            return AttemptResult(StepState.STOPPED, run, _held_back(stop))
        reason = "; ".join(_reasons(record)) or f"the run ended {record.head.state}"
        state = StepState.DONE if job_done(record) else StepState.FAILED
        if state is StepState.DONE:
            reason = f"less parallelism than was asked for: {reason}"
        return AttemptResult(state, run, reason, self._may_pass(record))

    def _broken(self, run: str | None, error: Exception, stop: Stop) -> AttemptResult:
        """Tell how a try ended that raised an error; what its run had done by then is done."""
        known = unexpected(error)
        if well_ended(self.store, run) is not None:
            return AttemptResult(StepState.DONE, run, known.sentence)
        if known is error and stop.requested:
            return AttemptResult(StepState.STOPPED, run, (stop.because or known).sentence)
        passing = known is error and (known.code in OUT_OF_REACH or self._passing(known))
        return AttemptResult(StepState.FAILED, run, _reason_of(known), passing)

    def _guarding(self, job: TargetStep) -> Guarding:
        @contextmanager
        def guarded(run: str, experiment: Experiment, stop: Stop) -> Iterator[Gates]:
            del run, experiment

            def wait() -> None:
                self.before_chunk(job.step, stop)

            yield Gates(before_item=wait)

        return guarded

    def _begun(self, job: TargetStep, before: set[str]) -> str | None:
        """Return the run that a failed call began."""
        children = retrying(lambda: self.store.children_of(self.plan_run, self.plan_target.name))
        begun = (each.run for each in children if each.experiment.name == job.step.name)
        return next((run for run in begun if run not in before), None)

    def _passing(self, error: ToolkitError) -> bool:
        if error.database_code is None:
            return False
        advice = dialect_of(self.plan_target.resolved.target.engine).explain(error.database_code, error.message)
        return advice is not None and advice.passing

    def _may_pass(self, record: RunRecord) -> bool:
        """Tell whether everything that failed may be gone at the next try."""
        dialect = dialect_of(self.plan_target.resolved.target.engine)
        bad = [trial for trial in record.latest_trials if trial.outcome is not Outcome.OK]
        advice = [dialect.explain(trial.error_code or "", trial.reason or "") for trial in bad]
        return bool(bad) and all(each is not None and each.passing for each in advice)

    def _undo(self, run: str, stop: Stop) -> tuple[bool, str]:
        """Put back what a run changed; return whether all was, and in words what became of it."""
        try:
            report = self.clean(run, stop)
        except ToolkitError as error:
            return False, f"could not be undone: {error.sentence}"
        return not report.left, _what_was_undone(report, run, self.store)

    def clean(self, run: str, stop: Stop, locks: Options | None = None) -> CleanReport:
        """Undo what a run left on the target; `locks` is how it waits for those of others, if not as the run did.

        Raises:
            ToolkitError: as `repair.clean`.
        """
        resolved = self.plan_target.resolved
        with stop.timeouts.finishing():
            return clean(
                resolved.target, run=run, store=self.store, events=self.events, policy=resolved.policy,
                under=self.plan_run, timeouts=stop.timeouts, locks=locks,
            )  # fmt: skip


_ANSWERED = frozenset({END_UNKNOWN, "TK-0301"})
"""What a person answers: whether rows are there; whether a production database is meant."""


def _reason_of(error: ToolkitError) -> str:
    """Return what a report says of an error: where a person is asked, also how to answer."""
    return f"{error.sentence}; {error.hint}" if error.code in _ANSWERED else error.sentence


def _same_work(head: RunHead, job: TargetStep) -> bool:
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
    return f"{len(names)} would not have finished before the window closes: {shown}"


# -- undoing --------------------------------------------------------------------------------------------------
def _what_was_undone(report: CleanReport, run: str, store: Store) -> str:
    """Return what became of the changes of a run.

    A table that a step created completely is kept, and so are committed rows, which cannot be distinguished from
    others any more: they are named instead.
    """
    sentences = [f"{counted(len(report.done), 'change')} undone"] if report.done else []
    if report.left:
        sentences.append(f"{len(report.left)} left: see `dbatk clean`")
    sentences += _staying(run, store)
    return ", ".join(sentences) or "there was nothing to undo"


def _staying(run: str, store: Store) -> list[str]:
    """Name what a run made that stays."""
    entries = (
        each
        for each in store.journal(run).entries()
        if each.state is EntryState.ABANDONED and each.identity and each.effect == Effect.CREATES
    )
    names = dict.fromkeys(
        f"{each.object_kind} `{f'{each.schema}.' if each.schema else ''}{each.name}`" for each in entries
    )
    sentences = [f"{name} stays" for name in names]
    record = store.load_run(run, samples=False)
    if declaration(record.head.experiment.operation).counts_twice:
        rows = sum(trial.rows or 0 for trial in record.trials if trial.outcome is Outcome.OK)
        if rows:
            removed = declaration(record.head.experiment.operation).rows is RowSemantics.CHANGES
            what = "stays removed or changed" if removed else "remains"
            sentences.append(f"what was committed {what}: {counted(rows, 'row')}")
    return sentences
