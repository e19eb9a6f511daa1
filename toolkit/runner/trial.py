"""One trial: prepare, worker begin, the clock, evidence, worker end, conclude.

Whatever happens on the clock, the worker's session is put back, conclude runs, and the trial is recorded with its
outcome: a failed, downgraded or interrupted trial is a result too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from toolkit.dialects.base import Granted
from toolkit.errors import ToolkitError
from toolkit.model.experiment import PlannedTrial, degree_of
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import ItemRecord, Metric, Sample, TrialRecord
from toolkit.model.steps import Stages, Step
from toolkit.model.values import Row
from toolkit.model.words import Keep, Outcome, Role
from toolkit.operations.base import Piece
from toolkit.runner.bench import Bench
from toolkit.runner.clock import ItemResult, TimedResult, run_timed
from toolkit.runner.judging import Judged, judge_trial
from toolkit.runner.outer import outer_factors
from toolkit.runner.sampler import Sampler


@dataclass(slots=True)
class Course:
    """What has been seen of a trial so far."""

    planned: PlannedTrial
    attempt: int
    began_at: datetime
    phases: dict[str, float] = field(default_factory=dict)
    kept: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    timed: TimedResult | None = None
    error: DatabaseError | ToolkitError | None = None
    metrics: tuple[Metric, ...] = ()
    peaks: dict[str, float] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a stage off the clock."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.phases[name] = self.phases.get(name, 0.0) + time.perf_counter() - begun


def run_trial(
    bench: Bench,
    planned: PlannedTrial,
    attempt: int,
    pieces: tuple[Piece, ...],
    stages: Stages,
    on_item: Callable[[ItemRecord], None] = lambda _: None,
) -> TrialRecord:
    """Run one trial and return its record; errors of the database are outcomes, not exceptions."""
    course = Course(planned, attempt, datetime.now(UTC))
    tag = f"{bench.experiment.operation} {planned.cell} trial {planned.number}"
    try:
        with outer_factors(bench, planned):
            _before(bench, course, stages, tag)
            if course.error is None:
                _clock(bench, course, stages, on_item)
            _after(bench, course, stages)
    except (DatabaseError, ToolkitError) as error:
        course.error = course.error or error
    judged = judge_trial(bench, course.timed, course.error, pieces, course.kept, course.peaks, course.notices)
    return _record(course, judged)


def _before(bench: Bench, course: Course, stages: Stages, tag: str) -> None:
    try:
        with course.phase("prepare"):
            course.kept.update(bench.changes.run(stages.prepare, course.planned.number))
        with course.phase("begin"):
            for number in range(stages.timed.workers):
                bench.sessions.get(Role.WORKER, number).tag(tag)
                _in_worker(bench, course, stages.worker_begin, number)
    except (DatabaseError, ToolkitError) as error:
        course.error = error


def _in_worker(bench: Bench, course: Course, steps: tuple[Step, ...], number: int) -> None:
    for step in steps:
        answer = bench.sessions.run(step, number)
        if number == 0:
            course.notices += answer.notices
            if step.keep_as is not None:
                course.kept[step.keep_as] = answer.rows


def _clock(bench: Bench, course: Course, stages: Stages, on_item: Callable[[ItemRecord], None]) -> None:
    """Take snapshots just outside the clock, sample meanwhile, and run the queue."""
    trial = course.planned.number
    steps = [step for item in stages.timed.items for step in item.steps]
    with course.phase("intend"):
        entries = bench.changes.intend(steps, trial)
    sampler = Sampler(bench.providers, evidence=degree_of(course.planned.cell) != 1)
    with course.phase("snapshot"):
        for provider in bench.providers:
            provider.begin()
    sampler.begin()
    course.timed = run_timed(
        stages.timed,
        bench.sessions,
        bench.stop,
        limit_seconds=bench.experiment.time_limit_seconds,
        on_item=lambda result: on_item(item_record(result)),
        on_end=lambda: _stop_watching(bench, course, sampler),
    )
    course.error = course.timed.error
    course.notices += [notice for result in course.timed.items for notice in result.notices]
    if course.error is None:
        with course.phase("evidence"):
            _in_worker(bench, course, stages.evidence, 0)
    _read_counters(bench, course)
    if course.error is None or not _lost(course.error):
        with course.phase("journal"):
            bench.changes.made(entries)


def _stop_watching(bench: Bench, course: Course, sampler: Sampler) -> None:
    """End sampling and read what goes with the workers' threads or with time."""
    with course.phase("snapshot"):
        sampler.end()
        _end(bench, course, after_evidence=False)
    course.samples = sampler.samples()


def _read_counters(bench: Bench, course: Course) -> None:
    with course.phase("snapshot"):
        _end(bench, course, after_evidence=True)


def _end(bench: Bench, course: Course, *, after_evidence: bool) -> None:
    for provider in bench.providers:
        if provider.after_evidence is after_evidence:
            course.metrics += provider.end()
            course.peaks.update(provider.peaks())
            for sentence in provider.warnings():
                bench.warn(f"{provider.name}: {sentence}")


def _lost(error: DatabaseError | ToolkitError | None) -> bool:
    return isinstance(error, DatabaseError) and error.lost


def _after(bench: Bench, course: Course, stages: Stages) -> None:
    """Put the workers back and conclude, also after a failure; a lost session has nothing to put back."""
    if _lost(course.error):
        return
    with course.phase("end"):
        for number in range(stages.timed.workers):
            _in_worker(bench, course, stages.worker_end, number)
    with course.phase("conclude"):
        conclude = stages.conclude
        if bench.job and course.error is not None:
            conclude = tuple(step for step in conclude if step.undo or step.effect == "drops")
        course.kept.update(bench.changes.run(conclude, course.planned.number))
        if bench.experiment.keep is Keep.ALL:
            bench.changes.release(
                step.object for item in stages.timed.items for step in item.steps if step.object is not None
            )
        bench.changes.close_trial(course.planned.number)


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
        reason=None if error is None else error.message.splitlines()[0],
        error_code=None if error is None else error.code,
    )


def _items(course: Course) -> tuple[ItemRecord, ...]:
    if course.timed is None:
        return ()
    begun = sorted(course.timed.items, key=lambda result: result.begin_seconds)
    skipped = tuple(ItemRecord(item.label, Outcome.SKIPPED, reason="not begun") for item in course.timed.not_begun)
    return (*(item_record(result) for result in begun), *skipped)


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
