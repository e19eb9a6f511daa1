"""Which step begins next, from what is known of all of them, and how long each will take: pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.app.maintenance.plan_targets import TargetStep
from toolkit.model.operations import declaration
from toolkit.model.plan import MaintenancePlan, StepRecord, StepState
from toolkit.model.records import ItemRecord
from toolkit.model.words import Outcome
from toolkit.units import byte_size, counted, number, seconds

_RUNS = 30
"""Older runs say little about the next one."""
_TAIL = 0.9
_DOUBT = 1.5
"""Of fewer than five runs the slowest is taken half as long again: their tail is not known yet."""
_ENOUGH = 5


_MOST_SCALED = 10.0
"""Sizes may be estimates of the catalogue's: a time is scaled to ten times or to a tenth, not further."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Size:
    """What a step works on, as far as the catalogue tells."""

    bytes: float | None = None
    rows: float | None = None


UNKNOWN = Size()


@dataclass(frozen=True, slots=True)
class ExpectedDuration:
    """Seconds a step takes: usually, and in nine runs of ten at the most; from so many runs."""

    seconds: float
    slow_seconds: float
    runs: int
    scaled: str | None = None
    """What the times were scaled by, with both sizes; None where they are as they were."""

    @property
    def basis(self) -> str:
        """Return what this is based on, as words for a parenthesis."""
        known = f"{counted(self.runs, 'run')} known"
        return known if self.scaled is None else f"{known}, {self.scaled}"


def expected(history: Sequence[StepRecord], size: Size = UNKNOWN) -> ExpectedDuration | None:
    """Return what a step will take, or None where nothing is known of it.

    Args:
        history: what became of it, newest first; runs that did not end well do not count.
        size: what it works on now; where the runs know theirs, times are scaled by its bytes, else by its rows.
    """
    done = [step for step in history if step.state is StepState.DONE and step.elapsed_seconds is not None][:_RUNS]
    # In one piece only: a step that was stopped and went on another run took longer than its last part.
    done = [step for step in done if step.reason is None]
    if not done:
        return None
    ordered = sorted((step.elapsed_seconds or 0.0) * _factor(step, size) for step in done)
    usual = _quantile(ordered, 0.5)
    slow = _quantile(ordered, _TAIL) if len(ordered) >= _ENOUGH else ordered[-1] * _DOUBT
    return ExpectedDuration(usual, max(slow, usual), len(ordered), _scaling(done[0], size))


def slow_items(runs: Sequence[Sequence[ItemRecord]]) -> dict[str, float]:
    """Return the seconds that each item (an index, a table) took at the most in some runs, with room for doubt.

    Args:
        runs: the items of each plan run, newest first; those that did not end well do not count.
    """
    seconds: dict[str, list[float]] = {}
    for items in runs:
        for item in items:
            if item.outcome is Outcome.OK and item.elapsed_seconds is not None:
                seconds.setdefault(item.label, []).append(item.elapsed_seconds)
    return {label: max(each) * (1.0 if len(each) >= _ENOUGH else _DOUBT) for label, each in seconds.items()}


def _factor(step: StepRecord, size: Size) -> float:
    """Return by what the time of a plan run is multiplied for the size of now."""
    for now, then in ((size.bytes, step.size_bytes), (size.rows, step.size_rows)):
        if now and then:
            return min(_MOST_SCALED, max(1 / _MOST_SCALED, now / then))
    return 1.0


def _scaling(last: StepRecord, size: Size) -> str | None:
    """Say what times were scaled by, from the size of the last run to that of now."""
    if size.bytes and last.size_bytes:
        return f"scaled from {byte_size(last.size_bytes)} to {byte_size(size.bytes)}"
    if size.rows and last.size_rows:
        return f"scaled from {number(last.size_rows)} to {counted(size.rows, 'row')}"
    return None


def _quantile(ordered: Sequence[float], part: float) -> float:
    """Return a quantile by linear interpolation between the runs (Hyndman and Fan, type 7)."""
    place = part * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is known when the next step is chosen.

    Attributes:
        plan: limits of concurrency and degree.
        jobs: in the order of the file.
        records: of this plan run.
        history: of other runs, newest first.
        working: steps that run now.
        left_seconds: until the window closes; None where there is none.
        halted: why nothing more may begin.
        held: steps that wait for their guards.
        size_of: tells what a step works on now, None while that is not known yet; asked only where its history
            matters.
    """

    plan: MaintenancePlan
    jobs: Sequence[TargetStep]
    records: Mapping[str, StepRecord]
    history: Mapping[str, Sequence[StepRecord]]
    working: frozenset[str]
    left_seconds: float | None
    halted: str | None = None
    held: frozenset[str] = frozenset()
    size_of: Callable[[str], Size | None] = lambda _: UNKNOWN

    def last_success(self, step: str) -> datetime:
        """Return when a step last ended well, in this run or an earlier one; the beginning of time for never."""
        known = (*self.history.get(step, ()), self.records[step])
        ended = [each.ended_at for each in known if each.state is StepState.DONE and each.ended_at is not None]
        return max(ended, default=_NEVER)


@dataclass(frozen=True, slots=True)
class NextStep:
    """A step to begin, or (with a state) one that ends here; no step: nothing can be decided now."""

    step: str | None = None
    state: StepState | None = None
    reason: str | None = None


def choose(choice: Choice) -> NextStep:
    """Return the next decision: by priority, then what was done longest ago, then in the order of the file.

    A step may begin when each step that it needs has ended well since it itself last did: what an earlier run
    prepared for it counts, so that a chain goes on where the window cut it.
    """
    waiting = [job for job in choice.jobs if choice.records[job.step.name].state is StepState.WAITING]
    if choice.halted is not None:
        return NextStep(waiting[0].step.name, StepState.STOPPED, choice.halted) if waiting else NextStep()
    waiting = [job for job in waiting if job.step.name not in choice.held]
    waiting.sort(key=lambda job: (-job.step.priority, choice.last_success(job.step.name)))
    for job in waiting:
        verdict = _of(choice, job)
        if verdict is not None:
            return verdict
    return NextStep()


def any_fits(choice: Choice) -> bool:
    """Tell whether what is left of the window is enough for any step that waits, needs and limits aside."""
    waiting = [job for job in choice.jobs if choice.records[job.step.name].state is StepState.WAITING]
    return any(not _too_long(choice, job) for job in waiting)


def _of(choice: Choice, job: TargetStep) -> NextStep | None:
    """Decide about one step; None lets it wait."""
    name = job.step.name
    for need in job.step.needs:
        reason = _lacks(choice, name, need)
        if reason is not None:
            return NextStep(name, StepState.STOPPED, reason) if reason else None
    late = _too_long(choice, job)
    if late is not None:
        return NextStep(name, StepState.STOPPED, late) if late else None
    return NextStep(name) if _affordable(choice, job) else None


def _lacks(choice: Choice, step: str, need: str) -> str | None:
    """Say why a need keeps a step from beginning: a sentence for good, empty for now, None if it does not."""
    if need not in choice.records:
        return None
    record = choice.records[need]
    if record.state is StepState.RUNNING:
        return ""
    # What this plan run did counts whatever the clock says: it may have been set back since the step's last run.
    now_done = record.state in (StepState.SKIPPED, StepState.DONE)
    if now_done or choice.last_success(need) > choice.last_success(step):
        return None
    if record.state is StepState.WAITING:
        return ""
    if record.state is StepState.FAILED:
        return f"it needs `{need}`, which failed"
    last = choice.last_success(need)
    # It was done, but since then this step was done with it: a reader must not take it for never done.
    when = "was not done" if last == _NEVER else f"was not done again since {last:%Y-%m-%d %H:%M} UTC"
    return f"it needs `{need}`, which {when}"


def _too_long(choice: Choice, job: TargetStep) -> str | None:
    """Say it when a step cannot end before the window closes, empty while that is unknown; None if it may try.

    One that works through several objects is begun in any case: it leaves out those that do not fit, and goes on
    with them in the next run.
    """
    if choice.left_seconds is None:
        return None
    if choice.left_seconds <= 0:
        return "the window closed"
    history = choice.history.get(job.step.name, ())
    if declaration(job.step.operation).several or not history:
        return None
    size = choice.size_of(job.step.name)
    if size is None:
        return ""
    estimate = expected(history, size)
    if estimate is None or estimate.slow_seconds <= choice.left_seconds:
        return None
    return (
        f"it takes up to {seconds(estimate.slow_seconds)} ({estimate.basis}), "
        f"and the window closes in {seconds(choice.left_seconds)}"
    )


def _affordable(choice: Choice, job: TargetStep) -> bool:
    """Tell whether sessions and degrees of what runs now leave room."""
    if len(choice.working) >= choice.plan.concurrency:
        return False
    if choice.plan.max_degree is None:
        return True
    used = sum(other.degree for other in choice.jobs if other.step.name in choice.working)
    return used + job.degree <= choice.plan.max_degree
