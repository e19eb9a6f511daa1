"""One trial: prepare, worker begin, the clock, evidence, worker end, conclude.

Whatever happens on the clock, the worker's session is put back, conclude runs, and the outcome is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import ItemRecord, Metric, Sample, TrialRecord
from toolkit.model.steps import Stages, Step
from toolkit.model.values import Row
from toolkit.model.words import ON_HOST, Effect, Keep, ObjectKind, Outcome, Role, StepKind
from toolkit.operations.base import Piece
from toolkit.runner import evidence, gathering, parts
from toolkit.runner.changes import Intended
from toolkit.runner.clock import run_timed
from toolkit.runner.commits import Commits
from toolkit.runner.context import RunContext, stays
from toolkit.runner.evidence import ask_for_plan, item_record, keep_plan, look_at_items, plan_of, tell
from toolkit.runner.external import external_factors
from toolkit.runner.item_result import LookAt, TimedResult
from toolkit.runner.judging import JudgedTrial, judge_trial, may_load_twice
from toolkit.runner.monitor import Sampler, give_up, in_time
from toolkit.runner.settings import prove_settings
from toolkit.runner.waits import TransactionWaits
from toolkit.store import CANNOT_BE_WRITTEN

_OnItems = Callable[[Sequence[ItemRecord]], None]


@dataclass(frozen=True, slots=True)
class EndedTrial:
    """A trial that ended: its record, and whether a session was lost, so that nothing was put back.

    `errors` holds the messages of the database in full, where they are more than the record's one line.
    """

    record: TrialRecord
    lost: bool = False
    errors: str = ""


@dataclass(slots=True)
class TrialState:
    """What has been seen of a trial so far."""

    planned: PlannedTrial
    attempt: int
    began_at: datetime
    works: tuple[Work, ...] = ()
    phases: dict[str, float] = field(default_factory=dict)
    kept: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    workers: int = 0
    """How many worker sessions were set up, so that no other is put back."""
    timed: TimedResult | None = None
    error: DatabaseError | ToolkitError | None = None
    lost: bool = False
    metrics: tuple[Metric, ...] = ()
    peaks: dict[str, float] = field(default_factory=dict)
    disturbed: bool = False
    samples: tuple[Sample, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    items: tuple[ItemRecord, ...] = ()
    """Parts of the work that its own log tells of."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a stage off the clock."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.phases[name] = self.phases.get(name, 0.0) + time.perf_counter() - begun

    def failed(self, error: DatabaseError | ToolkitError) -> None:
        """Note what the trial fails of: the first error counts."""
        self.error = self.error or error
        self.noted(error)

    def noted(self, error: DatabaseError | ToolkitError) -> None:
        """Note a lost session, whatever else comes of the error."""
        self.lost = self.lost or (isinstance(error, DatabaseError) and error.lost)


def run_trial(
    context: RunContext,
    planned: PlannedTrial,
    attempt: int,
    pieces: tuple[Piece, ...],
    stages: Stages,
    on_items: _OnItems = lambda _: None,
) -> EndedTrial:
    """Run one trial; errors of the database are outcomes, not exceptions."""
    works = tuple(piece.work for piece in pieces)
    state = TrialState(planned, attempt, datetime.now(UTC), works, left_out=stages.timed.left_out)
    try:
        with state.phase("prepare"):
            context.server.apply(context, planned, stages)
        with external_factors(context, planned, stages.timed.workers):
            _before(context, state, stages)
            by_label = {piece.label: piece.work for piece in pieces}
            with context.sessions.timeouts.finishing():
                if state.error is None:
                    stages = parts.filled_in(stages, state.kept)
                    _clock(context, state, stages, partial(look_at_items, context, by_label, state.kept), on_items)
                _after(context, state, stages)
    except (DatabaseError, ToolkitError) as error:
        state.failed(error)
    parts.let_go(context.sessions, stages)
    if state.timed is not None and state.error is None:
        found = tell(context, planned, works[0], state.kept, state.peaks, state.timed.elapsed_seconds)
        state.metrics += found.metrics
        state.items = found.items
        state.samples += found.samples
        state.disturbed = found.disturbed
        state.metrics += gathering.counted(state.kept)
    judged = judge_trial(context, state.timed, state.error, pieces, state.kept, state.peaks, state.notices)
    judged = evidence.by_its_metric(context.experiment, judged, state.metrics)
    if judged.has_time:
        keep_plan(context, planned, state.kept)
        state.metrics += evidence.rates(context.experiment, state.timed, judged.rows, judged.bytes)
    return EndedTrial(_record(state, judged), state.lost, _errors_in_full(state))


def _before(context: RunContext, state: TrialState, stages: Stages) -> None:
    # The number first: an engine may cut what is longer than it shows.
    tag = f"trial {state.planned.number} {context.experiment.operation} {state.planned.cell}"
    try:
        with state.phase("prepare"):
            state.kept.update(context.changes.run(stages.prepare, state.planned.number))
            gathering.refuse_unsafe(state.kept)
        with state.phase("begin"):
            context.sessions.deal_out(stages.timed)
            for number in range(stages.timed.workers):
                session = context.sessions.get(Role.WORKER, number)
                session.tag(tag)
                state.workers += 1
                for step in context.workers.due(number, session.identity, stages):
                    _in_worker(context, state, step, number)
            prove_settings(context, state.planned, stages)
    except (DatabaseError, ToolkitError) as error:
        state.failed(error)


def _in_worker(context: RunContext, state: TrialState, step: Step, number: int) -> None:
    made = context.changes.intend((step,), state.planned.number) if step.effect is Effect.CREATES else ()
    answer = context.sessions.run(step, number)
    if made:
        context.changes.made(made)
    if number == 0:
        state.notices += answer.notices
        if step.keep_as is not None:
            state.kept[step.keep_as] = evidence.rows_of(step, answer)


def _clock(context: RunContext, state: TrialState, stages: Stages, look_at: LookAt, on_items: _OnItems) -> None:
    """Take snapshots just outside the clock, sample meanwhile, run the queue, and read the evidence."""
    entries: list[Intended] = []
    commits = Commits(context.sessions, context.dialect, context.store.journal(context.run))
    try:
        with state.phase("intend"):
            steps = (step for item in stages.timed.items for step in item.steps)
            entries = context.changes.intend(steps, state.planned.number)
            if may_load_twice(context.experiment):
                commits.intend(stages.timed.items, state.planned.number, parts.shared(state.kept))
        state.timed = _timed(context, state, stages, commits, look_at, on_items)
    except (DatabaseError, ToolkitError) as error:
        state.failed(error)
    if state.timed is not None:
        state.notices += [notice for result in state.timed.items for notice in result.notices]
        state.kept.update(evidence.kept_of(state.timed))
        log, operation = evidence.log_of(state.timed), context.experiment.operation
        evidence.keep_log(context, state.planned.number, operation, log)
        evidence.keep_programs(context, state.planned.number, state.timed)
        if (went_wrong := state.timed.error or evidence.not_whole(state.kept)) is not None:
            state.failed(went_wrong)
        # At once: what is recorded late may be another's by then. Only a backup is not where it stays yet.
        _journal_made(context, state, [each for each in entries if each.object.kind is not ObjectKind.BACKUP])
        if state.error is None and not state.timed.not_begun:
            _read_evidence(context, state, stages)
        with state.phase("snapshot"):
            _end(context, state, after_evidence=True)
    _journal_made(context, state, [each for each in entries if each.object.kind is ObjectKind.BACKUP])


def _timed(
    context: RunContext, state: TrialState, stages: Stages, commits: Commits, look_at: LookAt, on_items: _OnItems
) -> TimedResult:
    context.sessions.make_ready(stages.timed)
    sampler = Sampler(context.providers, lambda: context.sessions.monitor_queries)
    with state.phase("snapshot"):
        for provider in context.providers:
            in_time(context, provider, provider.begin, None)
    sampler.begin()
    repeats = context.job and all(work.repeatable for work in state.works)
    return run_timed(
        stages.timed,
        context.sessions,
        context.stop,
        limit_seconds=context.experiment.time_limit_seconds,
        look_again=context.changes.look_again if context.job else None,
        before_commit=commits.about_to,
        before_item=context.before_item,
        look_at=look_at,
        on_items=lambda ended: on_items([item_record(each) for each in ended]),
        on_end=lambda: _stop_watching(context, state, sampler, stages),
        may_end=context.may_still_end,
        timeout_seconds=context.silent_seconds,
        overdue=TransactionWaits(context, state.works).overdue,
        comes_back=context.sessions.comes_back if repeats else lambda *_: False,
    )


def _stop_watching(context: RunContext, state: TrialState, sampler: Sampler, stages: Stages) -> None:
    """End sampling and read what goes with the workers' threads or with time."""
    with state.phase("snapshot"):
        if not sampler.end():
            give_up(context, "samples")
        state.metrics += sampler.cost()
        ask_for_plan(context, state.planned, stages)
        _end(context, state, after_evidence=False)
    state.samples = sampler.samples()


def _read_evidence(context: RunContext, state: TrialState, stages: Stages) -> None:
    """Read the granted degree; what is refused is left out with a warning, for the work itself is done."""
    with state.phase("evidence"):
        read: dict[str, tuple[Row, ...]] = {}
        for step in stages.evidence:
            try:
                _ask_worker(context, state, step, read)
            except DatabaseError as error:
                # A program that verifies, or what puts a backup where it stays, is part of the work.
                if error.lost or step.kind in ON_HOST:
                    evidence.keep_log(context, state.planned.number, step.name, error.lines)
                    state.failed(error)
                    return
                context.warn(f"evidence could not be read (`{step.name}`): {error.sentence}")
    state.kept.update(read)
    wrong = context.dialect.work.of(context.experiment.operation).refuted(state.works[0], state.kept)
    if wrong is not None:
        state.failed(DatabaseError(wrong, code=evidence.NOT_DONE))
    for name, sentence in context.refusals.messages.items():
        context.warn(f"evidence could not be read (`{name}`): {sentence}")


def _ask_worker(context: RunContext, state: TrialState, step: Step, read: dict[str, tuple[Row, ...]]) -> None:
    """Run a step of the evidence; several reads are one statement without those that are refused."""
    if step.own_read and step.keep_as is not None and not step.tolerates:
        read[step.keep_as] = read.get(step.keep_as, ()) + context.refusals.read(step, context.sessions.run)
        return
    for_its_session = step.keep_as is None and step.kind is StepKind.SQL and step.effect is Effect.READS
    for number in range(state.workers if for_its_session else 1):
        _in_worker(context, state, step, number)


def _end(context: RunContext, state: TrialState, *, after_evidence: bool) -> None:
    for provider in context.providers:
        if provider.after_evidence is after_evidence:
            nothing: tuple[Metric, ...] = ()
            state.metrics += in_time(context, provider, provider.end, nothing)
            state.peaks.update(provider.peaks())
            state.kept.update(plan_of(provider))
            for sentence in provider.warnings():
                context.warn(f"`{provider.name}`: {sentence}")


def _journal_made(context: RunContext, state: TrialState, entries: Sequence[Intended]) -> None:
    """Write what proves that this run made them; where nobody knows what ended well, the intention has to do."""
    if state.lost or state.timed is None:
        return
    try:
        with state.phase("journal"):
            context.changes.made(entries, state.timed.done if entries else ())
    except DatabaseError as error:
        state.noted(error)
    except ToolkitError as error:
        state.failed(error)


def _after(context: RunContext, state: TrialState, stages: Stages) -> None:
    """Put the workers back and conclude, also after a failure; what stays is a warning, and in the journal."""
    if state.lost:
        for number in range(stages.timed.workers):
            context.workers.forget(number)
        return
    if state.error is not None or not stays(stages):
        with state.phase("end"):
            for number in range(state.workers):
                context.workers.forget(number)
                _put_worker_back(context, state, stages, number)
        evidence.say_left(context, state.kept)
    with state.phase("conclude"):
        try:
            _conclude(context, state, stages)
        except (DatabaseError, ToolkitError) as error:
            state.noted(error)
            context.warn(f"trial {state.planned.number} could not be completed: {error.sentence}")
            _undo(context, state, stages)


def _put_worker_back(context: RunContext, state: TrialState, stages: Stages, number: int) -> None:
    """Put a worker's session back; one that cannot be is given up, for a new one begins as it should."""
    try:
        for step in stages.worker_end:
            _in_worker(context, state, step, number)
    except (DatabaseError, ToolkitError) as error:
        context.sessions.forget(Role.WORKER, number)
        context.warn(f"a worker session could not be restored and was closed: {error.sentence}")


def _conclude(context: RunContext, state: TrialState, stages: Stages) -> None:
    """Settle or drop what the trial made; after a failure the journal knows what there is to settle.

    What a job made stays in the journal while the store cannot be written, and what got its name after the clock
    until the trial's end is stored: there alone it is recorded.
    """
    trial = state.planned.number
    if state.error is not None:
        if not (context.job and state.error.code in CANNOT_BE_WRITTEN):
            context.changes.run((step for step in stages.conclude if step.effect is Effect.DROPS), trial)
            _undo(context, state, stages)
        return
    kept, left = context.changes.conclude(stages.conclude, trial, but=parts.named_later(stages))
    state.kept.update(kept)
    context.warn(*left)
    if context.experiment.keep is Keep.ALL and not left:
        context.changes.release(
            step.object for item in stages.timed.items for step in item.steps if step.object is not None
        )


def _undo(context: RunContext, state: TrialState, stages: Stages) -> None:
    """Put back, entry by entry, what the trial changed and did not settle, now or at the end of the run."""
    if parts.named_later(stages):
        return
    try:
        context.warn(*context.changes.undo_trial(state.planned.number).left)
    except (DatabaseError, ToolkitError) as error:
        state.noted(error)
        context.warn(f"trial {state.planned.number} could not be undone: {error.sentence}")


def _errors_in_full(state: TrialState) -> str:
    """Return every error of more than one line as the database gave it: the stack tells where it comes from."""
    found = [(result.item.label, result.error) for result in (state.timed.items if state.timed else ())]
    if isinstance(state.error, DatabaseError) and all(error is not state.error for _, error in found):
        found.append(("the trial", state.error))
    stacks = ((label, error.message.strip()) for label, error in found if error is not None)
    return "\n\n".join(f"{label}:\n{text}" for label, text in stacks if "\n" in text)


def _items(state: TrialState) -> tuple[ItemRecord, ...]:
    if state.timed is None:
        return ()
    begun = sorted(state.timed.items, key=lambda result: result.begin_seconds)
    skipped = tuple(map(evidence.skipped_record, state.timed.not_begun))
    left_out = tuple(ItemRecord(label, Outcome.SKIPPED, reason=why) for label, why in state.left_out)
    parts = (*state.items, *gathering.objects(state.kept))
    return (*(item_record(result) for result in begun), *skipped, *left_out, *parts)


def _record(state: TrialState, judged: JudgedTrial) -> TrialRecord:
    timed = state.timed
    elapsed = timed.elapsed_seconds if timed is not None and judged.has_time else None
    cpu = state.peaks.get("cpu_seconds")
    return TrialRecord(
        trial=state.planned.number,
        attempt=state.attempt,
        cell=state.planned.cell,
        repeat=state.planned.repeat,
        outcome=judged.outcome,
        began_at=state.began_at,
        ended_at=datetime.now(UTC),
        reason=judged.reason,
        error_code=judged.error_code,
        elapsed_seconds=elapsed,
        requested_degree=judged.requested,
        granted_degree=judged.granted.degree if judged.granted else None,
        granted_source=judged.granted.source if judged.granted else None,
        effective_parallelism=cpu / elapsed if cpu is not None and elapsed else None,
        rows=judged.rows,
        bytes=judged.bytes,
        disturbed=judged.disturbed or state.disturbed,
        phases=state.phases,
        items=_items(state),
        metrics=state.metrics,
        samples=state.samples,
    )
