"""One trial: prepare, worker begin, the clock, evidence, worker end, conclude.

Whatever happens on the clock, the worker's session is put back, conclude runs, and the trial is recorded with its
outcome: a failed, downgraded or interrupted trial is a result too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from toolkit.dialects.answers import Granted
from toolkit.errors import ToolkitError
from toolkit.model.experiment import PlannedTrial, degree_of
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import ItemRecord, Metric, Sample, TrialRecord
from toolkit.model.steps import Stages, Step
from toolkit.model.values import Row
from toolkit.model.words import ON_HOST, Effect, Keep, Outcome, Role
from toolkit.operations.base import Piece
from toolkit.runner import gathering, output
from toolkit.runner.bench import Bench
from toolkit.runner.changes import Intended
from toolkit.runner.clock import ItemResult, TimedResult, run_timed
from toolkit.runner.judging import Judged, judge_trial
from toolkit.runner.monitor import answers, give_up, in_time
from toolkit.runner.outer import outer_factors
from toolkit.runner.sampler import Sampler
from toolkit.runner.told import ask_for_plan, keep_plan, plan_of, tell
from toolkit.runner.workers import stays
from toolkit.store import CANNOT_BE_WRITTEN


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial that ended: its record, and whether a session was lost, so that nothing was put back.

    `errors` is what the database said in full, where that is more than the record's one line.
    """

    record: TrialRecord
    lost: bool = False
    errors: str = ""


@dataclass(slots=True)
class Course:
    """What has been seen of a trial so far."""

    planned: PlannedTrial
    attempt: int
    began_at: datetime
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
    bench: Bench,
    planned: PlannedTrial,
    attempt: int,
    pieces: tuple[Piece, ...],
    stages: Stages,
    on_item: Callable[[ItemRecord], None] = lambda _: None,
) -> Ended:
    """Run one trial; errors of the database are outcomes, not exceptions."""
    course = Course(planned, attempt, datetime.now(UTC), left_out=stages.timed.left_out)
    try:
        with outer_factors(bench, planned, stages.timed.workers):
            _before(bench, course, stages)
            if course.error is None:
                _clock(bench, course, stages, on_item)
            _after(bench, course, stages)
    except (DatabaseError, ToolkitError) as error:
        course.failed(error)
    if course.timed is not None and course.error is None:
        told = tell(bench, planned, pieces[0].work, course.kept, course.peaks, course.timed.elapsed_seconds)
        course.metrics += told.metrics
        course.items = told.items
        course.metrics += gathering.counted(course.kept)
    judged = judge_trial(bench, course.timed, course.error, pieces, course.kept, course.peaks, course.notices)
    if judged.has_time:
        keep_plan(bench, planned, course.kept)
    return Ended(_record(course, judged), course.lost, _errors_in_full(course))


def _before(bench: Bench, course: Course, stages: Stages) -> None:
    # The number first: an engine may cut what is longer than it shows.
    tag = f"trial {course.planned.number} {bench.experiment.operation} {course.planned.cell}"
    try:
        with course.phase("prepare"):
            course.kept.update(bench.changes.run(stages.prepare, course.planned.number))
            gathering.refuse_unsafe(course.kept)
        with course.phase("begin"):
            for number in range(stages.timed.workers):
                session = bench.sessions.get(Role.WORKER, number)
                session.tag(tag)
                course.workers += 1
                for step in bench.workers.due(number, session.identity, stages):
                    _in_worker(bench, course, step, number)
    except (DatabaseError, ToolkitError) as error:
        course.failed(error)


def _in_worker(bench: Bench, course: Course, step: Step, number: int) -> None:
    answer = bench.sessions.run(step, number)
    if number == 0:
        course.notices += answer.notices
        if step.keep_as is not None:
            course.kept[step.keep_as] = output.rows_of(step, answer)


def _clock(bench: Bench, course: Course, stages: Stages, on_item: Callable[[ItemRecord], None]) -> None:
    """Take snapshots just outside the clock, sample meanwhile, run the queue, and read the evidence."""
    entries: list[Intended] = []
    try:
        with course.phase("intend"):
            steps = [step for item in stages.timed.items for step in item.steps]
            entries = bench.changes.intend(steps, course.planned.number)
        course.timed = _timed(bench, course, stages, on_item)
    except (DatabaseError, ToolkitError) as error:
        course.failed(error)
    if course.timed is not None:
        course.notices += [notice for result in course.timed.items for notice in result.notices]
        course.kept.update(output.kept_of(course.timed))
        output.keep_log(bench, course.planned.number, bench.experiment.operation, output.log_of(course.timed))
        went_wrong = course.timed.error or output.not_whole(course.kept)
        if went_wrong is not None:
            course.failed(went_wrong)
        if course.error is None:
            _read_evidence(bench, course, stages)
        with course.phase("snapshot"):
            _end(bench, course, after_evidence=True)
    _journal_made(bench, course, entries)


def _timed(bench: Bench, course: Course, stages: Stages, on_item: Callable[[ItemRecord], None]) -> TimedResult:
    sampler = Sampler(bench.providers, evidence=degree_of(course.planned.cell) != 1)
    with course.phase("snapshot"):
        for provider in bench.providers:
            in_time(bench, provider, provider.begin, None)
    sampler.begin()
    return run_timed(
        stages.timed,
        bench.sessions,
        bench.stop,
        limit_seconds=bench.experiment.time_limit_seconds,
        on_item=lambda result: on_item(item_record(result)),
        on_end=lambda: _stop_watching(bench, course, sampler, stages),
        reachable=lambda: answers(bench),
    )


def _stop_watching(bench: Bench, course: Course, sampler: Sampler, stages: Stages) -> None:
    """End sampling and read what goes with the workers' threads or with time."""
    with course.phase("snapshot"):
        if not sampler.end():
            give_up(bench, "samples")
        ask_for_plan(bench, course.planned, stages)
        _end(bench, course, after_evidence=False)
    course.samples = sampler.samples()


def _read_evidence(bench: Bench, course: Course, stages: Stages) -> None:
    """Read what tells the granted degree; what is refused is left out and said, for the work itself is done."""
    with course.phase("evidence"):
        read: dict[str, tuple[Row, ...]] = {}
        for step in stages.evidence:
            try:
                _ask_worker(bench, course, step, read)
            except DatabaseError as error:
                # A program that verifies, or what puts a backup where it stays, is part of the work.
                if error.lost or step.kind in ON_HOST:
                    output.keep_log(bench, course.planned.number, step.name, error.lines)
                    course.failed(error)
                    return
                bench.warn(f"evidence was refused (`{step.name}`): {error.sentence}")
    course.kept.update(read)
    for name, sentence in bench.refusals.said.items():
        bench.warn(f"evidence was refused (`{name}`): {sentence}")


def _ask_worker(bench: Bench, course: Course, step: Step, read: dict[str, tuple[Row, ...]]) -> None:
    """Run a step of the evidence; several reads in one go without those that are refused, and under one key."""
    if not step.own_read or step.keep_as is None or step.tolerates:
        _in_worker(bench, course, step, 0)
        return
    rows = bench.refusals.read(step, bench.sessions.run)
    read[step.keep_as] = read.get(step.keep_as, ()) + rows


def _end(bench: Bench, course: Course, *, after_evidence: bool) -> None:
    for provider in bench.providers:
        if provider.after_evidence is after_evidence:
            nothing: tuple[Metric, ...] = ()
            course.metrics += in_time(bench, provider, provider.end, nothing)
            course.peaks.update(provider.peaks())
            course.kept.update(plan_of(provider))
            for sentence in provider.warnings():
                bench.warn(f"{provider.name}: {sentence}")


def _journal_made(bench: Bench, course: Course, entries: Sequence[Intended]) -> None:
    """Write what proves that the objects are ours; after a lost session the intention has to do."""
    if course.lost:
        return
    try:
        with course.phase("journal"):
            bench.changes.made(entries)
    except (DatabaseError, ToolkitError) as error:
        course.failed(error)


def _after(bench: Bench, course: Course, stages: Stages) -> None:
    """Put the workers back and conclude, also after a failure; a lost session has nothing to put back.

    What cannot be put back does not make the measured time wrong: it is said, and stays in the journal.
    """
    if course.lost:
        for number in range(stages.timed.workers):
            bench.workers.forget(number)
        return
    if course.error is not None or not stays(stages):
        with course.phase("end"):
            for number in range(course.workers):
                bench.workers.forget(number)
                _put_worker_back(bench, course, stages, number)
        output.say_left(bench, course.kept)
    with course.phase("conclude"):
        try:
            _conclude(bench, course, stages)
        except (DatabaseError, ToolkitError) as error:
            course.noted(error)
            bench.warn(f"trial {course.planned.number} could not be concluded: {error.sentence}")
            _undo(bench, course)


def _put_worker_back(bench: Bench, course: Course, stages: Stages, number: int) -> None:
    """Put a worker's session back; one that cannot be is given up, for a new one begins as it should."""
    try:
        for step in stages.worker_end:
            _in_worker(bench, course, step, number)
    except (DatabaseError, ToolkitError) as error:
        bench.sessions.forget(Role.WORKER, number)
        bench.warn(f"a worker session could not be put back and was closed: {error.sentence}")


def _conclude(bench: Bench, course: Course, stages: Stages) -> None:
    """Settle or drop what the trial made; after a failure the journal knows what there is to settle.

    What a job made stays in the journal while the store cannot be written: that it was made is told there alone.
    """
    trial = course.planned.number
    if bench.job and course.error is not None and course.error.code in CANNOT_BE_WRITTEN:
        return
    if course.error is not None:
        bench.changes.run((step for step in stages.conclude if step.effect is Effect.DROPS), trial)
        _undo(bench, course)
        return
    course.kept.update(bench.changes.run(stages.conclude, trial))
    if bench.experiment.keep is Keep.ALL:
        bench.changes.release(
            step.object for item in stages.timed.items for step in item.steps if step.object is not None
        )
    bench.changes.close_trial(trial)


def _undo(bench: Bench, course: Course) -> None:
    """Put back, entry by entry, what the trial changed and did not settle."""
    try:
        undone = bench.changes.undo_trial(course.planned.number)
    except (DatabaseError, ToolkitError) as error:
        course.noted(error)
        bench.warn(f"trial {course.planned.number} could not be undone: {error.sentence}")
        return
    for sentence in undone.left:
        bench.warn(sentence)


def _errors_in_full(course: Course) -> str:
    """Return every error of more than one line as the database gave it: the stack tells where it comes from."""
    found = [(result.item.label, result.error) for result in (course.timed.items if course.timed else ())]
    if isinstance(course.error, DatabaseError) and all(error is not course.error for _, error in found):
        found.append(("the trial", course.error))
    stacks = ((label, error.message.strip()) for label, error in found if error is not None)
    return "\n\n".join(f"{label}:\n{text}" for label, text in stacks if "\n" in text)


def item_record(result: ItemResult) -> ItemRecord:
    """Return an item as the store keeps it."""
    error = result.error
    outcome = Outcome.OK if error is None else (Outcome.INTERRUPTED if error.cancelled else Outcome.FAILED)
    return ItemRecord(
        result.item.label,
        outcome,
        elapsed_seconds=result.elapsed_seconds if error is None else None,
        begin_seconds=result.begin_seconds,
        worker=result.worker,
        rows=result.rows,
        reason=None if error is None else error.sentence,
        error_code=None if error is None else error.code,
    )


def _items(course: Course) -> tuple[ItemRecord, ...]:
    if course.timed is None:
        return ()
    begun = sorted(course.timed.items, key=lambda result: result.begin_seconds)
    skipped = tuple(ItemRecord(item.label, Outcome.SKIPPED, reason="not begun") for item in course.timed.not_begun)
    left_out = tuple(ItemRecord(label, Outcome.SKIPPED, reason=why) for label, why in course.left_out)
    parts = (*course.items, *gathering.objects(course.kept))
    return (*(item_record(result) for result in begun), *skipped, *left_out, *parts)


def _record(course: Course, judged: Judged) -> TrialRecord:
    timed = course.timed
    elapsed = timed.elapsed_seconds if timed is not None and judged.has_time else None
    cpu = course.peaks.get("cpu_seconds")
    granted: Granted | None = judged.granted
    return TrialRecord(
        trial=course.planned.number,
        attempt=course.attempt,
        cell=course.planned.cell,
        repeat=course.planned.repeat,
        outcome=judged.outcome,
        began_at=course.began_at,
        ended_at=datetime.now(UTC),
        reason=judged.reason,
        error_code=judged.error_code,
        elapsed_seconds=elapsed,
        requested_degree=judged.requested,
        granted_degree=granted.degree if granted else None,
        granted_source=granted.source if granted else None,
        effective_parallelism=cpu / elapsed if cpu is not None and elapsed else None,
        rows=judged.rows,
        bytes=judged.bytes,
        disturbed=judged.disturbed,
        phases=course.phases,
        items=_items(course),
        metrics=course.metrics,
        samples=course.samples,
    )


def unsupported(planned: PlannedTrial, attempt: int, sentence: str, requested: int | None) -> TrialRecord:
    """Return the record of a trial that the target cannot do; nothing was run."""
    now = datetime.now(UTC)
    return TrialRecord(
        planned.number, attempt, planned.cell, planned.repeat, Outcome.UNSUPPORTED, now, now,
        reason=sentence, requested_degree=requested,
    )  # fmt: skip


def interrupted(planned: PlannedTrial, attempt: int, began: datetime) -> TrialRecord:
    """Return the record of a trial that a kill cut off."""
    return TrialRecord(
        planned.number, attempt, planned.cell, planned.repeat, Outcome.INTERRUPTED, began, datetime.now(UTC),
        reason="the process ended before the trial did",
    )  # fmt: skip
