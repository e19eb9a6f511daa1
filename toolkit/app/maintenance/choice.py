"""Which step begins next: pure, from what is known of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.app.maintenance.expect import UNKNOWN, Size, expected
from toolkit.app.maintenance.plan_targets import TargetStep
from toolkit.model.plan import MaintenancePlan, StepRecord, StepState
from toolkit.units import seconds

_IN_PIECES = frozenset({"index-rebuild", "stats-gather"})
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is known when the next step is chosen.

    Attributes:
        plan: limits of concurrency and degree.
        jobs: in the order of the file.
        records: of this night.
        history: of other nights, newest first.
        working: steps that run now.
        left_seconds: until the window closes; None where there is none.
        halted: why nothing more may begin.
        held: steps that wait for their guards.
        size_of: tells what a step works on now; asked only where its history matters.
    """

    plan: MaintenancePlan
    jobs: Sequence[TargetStep]
    records: Mapping[str, StepRecord]
    history: Mapping[str, Sequence[StepRecord]]
    working: frozenset[str]
    left_seconds: float | None
    halted: str | None = None
    held: frozenset[str] = frozenset()
    size_of: Callable[[str], Size] = lambda _: UNKNOWN

    def last_success(self, step: str) -> datetime:
        """Return when a step last ended well, tonight or another night; the beginning of time for never."""
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

    A step may begin when each step that it needs has ended well since it itself last did: what an earlier night
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


def _of(choice: Choice, job: TargetStep) -> NextStep | None:
    """Decide about one step; None lets it wait."""
    name = job.step.name
    for need in job.step.needs:
        reason = _lacks(choice, name, need)
        if reason is not None:
            return NextStep(name, StepState.STOPPED, reason) if reason else None
    late = _too_long(choice, job)
    if late is not None:
        return NextStep(name, StepState.STOPPED, late)
    return NextStep(name) if _affordable(choice, job) else None


def _lacks(choice: Choice, step: str, need: str) -> str | None:
    """Say why a need keeps a step from beginning: a sentence for good, empty for now, None if it does not."""
    if need not in choice.records:
        return None
    record = choice.records[need]
    if record.state is StepState.RUNNING:
        return ""
    # What was done tonight counts whatever the clock says: it may have been set back since the step's last night.
    tonight = record.state in (StepState.SKIPPED, StepState.DONE)
    if tonight or choice.last_success(need) > choice.last_success(step):
        return None
    if record.state is StepState.WAITING:
        return ""
    return f"it needs `{need}`, which {'failed' if record.state is StepState.FAILED else 'was not done'}"


def _too_long(choice: Choice, job: TargetStep) -> str | None:
    """Say it when a step cannot end before the window closes; without a history it may try.

    One that works through several objects is begun in any case: it leaves out those that do not fit, and goes on
    with them in the next night.
    """
    if choice.left_seconds is None:
        return None
    if choice.left_seconds <= 0:
        return "the window closed"
    if job.step.operation in _IN_PIECES:
        return None
    history = choice.history.get(job.step.name, ())
    estimate = expected(history, choice.size_of(job.step.name)) if history else None
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
