"""Decides how a trial ended: from errors, from rows, and from the degree that was granted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from toolkit.dialects.answers import Granted
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.operations import declaration, degree_level
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import TrialRecord
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Mode, Outcome
from toolkit.operations.base import Piece
from toolkit.runner.context import BackgroundLoad
from toolkit.runner.item_result import TimedResult
from toolkit.runner.stop import Stop
from toolkit.units import counted

END_UNKNOWN = "TK-0209"


class Circumstances(Protocol):
    """What must be known of a run to judge a trial: a run context has it, and so has the reader of a bundle."""

    @property
    def experiment(self) -> Experiment: ...
    @property
    def dialect(self) -> Dialect: ...
    @property
    def stop(self) -> Stop: ...
    @property
    def others(self) -> BackgroundLoad: ...
    @property
    def source_has_rows(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class JudgedTrial:
    """How a trial ended and what is known of it; `has_time` whether its elapsed time means anything."""

    outcome: Outcome
    reason: str | None = None
    error_code: str | None = None
    has_time: bool = False
    requested: int | None = None
    granted: Granted | None = None
    rows: int | None = None
    bytes: int | None = None
    disturbed: bool = False


def judge_trial(
    context: Circumstances,
    timed: TimedResult | None,
    error: DatabaseError | ToolkitError | None,
    pieces: Sequence[Piece],
    kept: Mapping[str, tuple[Row, ...]],
    peaks: Mapping[str, float],
    notices: Sequence[str],
) -> JudgedTrial:
    """Return the outcome of a trial with its reason."""
    requested = _requested(pieces)
    if timed is None or error is not None or timed.not_begun:
        return _not_ended(context, timed, error, requested)
    rows = _rows(timed, kept, pieces)
    size = _number(kept, "bytes", "byte_count")
    granted = _granted(context, timed, pieces, kept, peaks, tuple(notices))
    disturbed = context.others.disturbs(peaks.get("others_part"))
    if _empty(context, rows, pieces):
        stays = context.experiment.mode is Mode.JOB and declaration(pieces[0].work.operation).makes_table
        reason = "0 rows were produced where rows were expected" + ("; the empty table is kept" if stays else "")
        return JudgedTrial(Outcome.FAILED, reason, "TK-0208", requested=requested, granted=granted, rows=rows)
    outcome, reason_or_none = Outcome.OK, None
    # What an interrupted job had left may be too small for the degree, which its other objects had.
    whole = len(timed.items) >= len(pieces)
    fewer = granted.degree is not None and requested is not None and granted.degree < requested
    if (fewer and whole) or granted.downgraded:
        outcome = Outcome.DOWNGRADED
        reason_or_none = granted.sentence or f"degree {granted.degree} of {requested} was granted"
    return JudgedTrial(outcome, reason_or_none, None, True, requested, granted, rows, size, disturbed)


def may_load_twice(experiment: Experiment) -> bool:
    """Tell whether doing the work again would count its rows a second time: a job on the user's own table."""
    declared = declaration(experiment.operation)
    adds = declared.adds_with is not None and declared.adds_with in experiment.options.items()
    return experiment.mode is Mode.JOB and (declared.counts_twice or adds)


def _requested(pieces: Sequence[Piece]) -> int | None:
    """Return the degree asked for; where a degree is sessions, their number; None when left to the engine."""
    work = pieces[0].work
    level = degree_level(work.options)
    if isinstance(level, str):
        return None
    asked = int(level) if isinstance(level, int | float) else 1
    return min(asked, _at_most(pieces))


def _at_most(pieces: Sequence[Piece]) -> int:
    """Return how many sessions there is work for, where a job has so many chunks as it happens to find."""
    work = pieces[0].work
    return len(pieces) if work.chunks and work.mode is Mode.JOB else _NO_LIMIT


_NO_LIMIT = 2**31


def _granted(
    context: Circumstances,
    timed: TimedResult,
    pieces: Sequence[Piece],
    kept: Mapping[str, tuple[Row, ...]],
    peaks: Mapping[str, float],
    notices: tuple[str, ...],
) -> Granted:
    work = pieces[0].work
    if context.dialect.work.of(work.operation).degree_by_sessions:
        return _sessions_at_once(timed, pieces)
    return context.dialect.work.granted(work, kept, peaks, notices)


def _sessions_at_once(timed: TimedResult, pieces: Sequence[Piece]) -> Granted:
    """Count how many sessions worked at the same time, where a degree means sessions."""
    most = _most_at_once(timed)
    concurrency = max(1, _int(pieces[0].work.option("concurrency")) or 1)
    asked = min(_int(pieces[0].work.option("degree")) or 1, _at_most(pieces))
    if most >= concurrency * asked:
        return Granted(asked, "concurrent sessions")
    what = "object" if len(timed.items) < concurrency * asked else "session"
    sentence = f"{counted(most, what)} at work at once, {concurrency * asked} requested"
    return Granted(max(1, most // concurrency), "concurrent sessions", sentence)


def _most_at_once(timed: TimedResult) -> int:
    begun = sorted(each.begin_seconds for each in timed.items)
    ended = sorted(each.begin_seconds + each.elapsed_seconds for each in timed.items)
    return max((number - bisect_right(ended, begin) for number, begin in enumerate(begun, 1)), default=0)


def _int(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _number(kept: Mapping[str, tuple[Row, ...]], key: str, column: str) -> int | None:
    rows = kept.get(key, ())
    value: Scalar = rows[0].get(column) if rows else None
    return int(value) if isinstance(value, int | float) else None


def _rows(timed: TimedResult, kept: Mapping[str, tuple[Row, ...]], pieces: Sequence[Piece]) -> int | None:
    if not declaration(pieces[0].work.operation).counts_rows:
        return None
    counted = _number(kept, "rows", "row_count")
    if counted is not None:
        return counted
    counts = [result.rows for result in timed.items if result.rows is not None]
    return sum(counts) if counts else None


def _empty(context: Circumstances, rows: int | None, pieces: Sequence[Piece]) -> bool:
    """Tell whether nothing was made where something should have been."""
    if not declaration(pieces[0].work.operation).makes_rows or rows != 0:
        return False
    # A query or condition of the user's own may rightly find nothing; measured, that is no work at all.
    if pieces[0].work.query is not None or pieces[0].work.option("where") is not None:
        return context.experiment.mode is Mode.MEASUREMENT
    return context.source_has_rows


def _left_undone(context: Circumstances, requested: int | None) -> JudgedTrial:
    """Judge a queue with items that nobody began, though nothing failed."""
    held_back = len(context.stop.held_back)
    if held_back:
        reason = f"{held_back} would not have finished in time and were not started"
        return JudgedTrial(Outcome.INTERRUPTED, reason, requested=requested)
    return JudgedTrial(Outcome.FAILED, "no sessions were left", requested=requested)


def _not_ended(
    context: Circumstances,
    timed: TimedResult | None,
    error: DatabaseError | ToolkitError | None,
    requested: int | None,
) -> JudgedTrial:
    stop, late = context.stop, timed is not None and timed.timed_out
    if late:
        reason = f"the time limit of {context.experiment.time_limit_seconds:g} s passed"
    elif stop.requested:
        reason = "stopped by a signal" if stop.because is None else stop.because.sentence
    elif error is None:
        return _left_undone(context, requested)
    else:
        reason = _sentence(error, timed)
    # whatever ended it: the COMMIT may have arrived
    if timed is not None and _is_lost(timed, error) and may_load_twice(context.experiment):
        reason = f"{reason}; it is unknown whether its rows were committed"
        return JudgedTrial(Outcome.INTERRUPTED, reason, END_UNKNOWN, requested=requested)
    if late:
        return JudgedTrial(Outcome.FAILED, reason, "TK-0207", requested=requested)
    if stop.requested or error is None:
        return JudgedTrial(Outcome.INTERRUPTED, reason, requested=requested)
    advice = context.dialect.explain(error.code, error.message)
    if advice is not None and advice.downgrade:
        return JudgedTrial(
            Outcome.DOWNGRADED, f"the degree was not available ({error.code})", error.code, requested=requested
        )
    return JudgedTrial(Outcome.FAILED, reason, error.code, requested=requested)


def _is_lost(timed: TimedResult, error: DatabaseError | ToolkitError | None) -> bool:
    """Tell whether the session of an item, or of what came after, was lost: what it was at may have been done."""
    errors = (error, *(each.error for each in timed.items))
    return any(each is not None and getattr(each, "lost", False) for each in errors)


def _sentence(error: DatabaseError | ToolkitError, timed: TimedResult | None) -> str:
    text = error.sentence
    if timed is None:
        return text
    bad = sum(1 for result in timed.items if result.error is not None)
    total = len(timed.items) + len(timed.not_begun)
    return text if total == 1 or not bad else f"{bad} of {total} objects failed, the first: {text}"


def unsupported(planned: PlannedTrial, attempt: int, sentence: str, requested: int | None) -> TrialRecord:
    """Return the record of a trial that the target cannot do; nothing was run."""
    now = datetime.now(UTC)
    what = (planned.number, attempt, planned.cell, planned.repeat)
    return TrialRecord(*what, Outcome.UNSUPPORTED, now, now, reason=sentence, requested_degree=requested)


def interrupted(planned: PlannedTrial, attempt: int, began: datetime) -> TrialRecord:
    """Return the record of a trial that a kill cut off."""
    what, why = (planned.number, attempt, planned.cell, planned.repeat), "the process ended before the trial did"
    return TrialRecord(*what, Outcome.INTERRUPTED, began, datetime.now(UTC), reason=why)
