"""What a plan run begins with, and all there is of one that begins while its window is closed."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256

from toolkit.app.approvals import Approvals
from toolkit.app.auditing import notes_of
from toolkit.app.maintenance.attempt import utc_now
from toolkit.app.maintenance.conditions import unmet
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.plan import MaintenancePlan, PlanRunRecord, StepRecord, StepState
from toolkit.model.protocols import Events
from toolkit.model.window import TimeSpan
from toolkit.model.words import RunState
from toolkit.runner import Stop
from toolkit.store import Store

Now = Callable[[], datetime]
_SET_BACK = timedelta(hours=1)
"""Less than this is a clock that is put right as the window opens: its close is the same."""

_STOPPED = ToolkitError("the plan was stopped", code="TK-0130")


@dataclass(slots=True)
class PlanRun:
    """What an execution of a plan works with."""

    plan: MaintenancePlan
    id: str
    store: Store
    approvals: Approvals
    events: Events
    stop: Stop
    span: TimeSpan | None
    now: Now = utc_now
    stopped_by: list[str] = field(default_factory=list)
    refused: list[ToolkitError] = field(default_factory=list)
    """Why nothing could be begun on a target."""

    def closed_at(self) -> datetime | None:
        """Return when the window closed; None while it is open, and for a plan without one.

        Where a clock that was ahead is set back to before the window opened, the time until then may not be used:
        by that clock another window is open, or none.
        """
        now, span = self.now(), self.span
        if span is None or span.begin - _SET_BACK <= now < span.end:
            return None
        if now >= span.end:
            return span.end
        last = None if self.plan.windows.now(now) else self.plan.windows.last(now)
        return last.end if last else None

    @property
    def because(self) -> ToolkitError | None:
        """Why nothing more may begin: it was stopped, or its window closed (TK-0310); None while it may go on."""
        if self.stop.requested:
            return self.stop.because or _STOPPED
        closed = self.closed_at()
        return None if closed is None else ToolkitError(f"the window closed at {closed:%H:%M} UTC", code="TK-0310")

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until it is stopped; return whether nothing more may begin."""
        return self.stop.wait(seconds) or self.closed_at() is not None


def log_step(plan_run: PlanRun, record: StepRecord) -> None:
    """Write the end of a step to the audit log.

    Raises:
        ToolkitError: the log cannot be written.
    """
    event = AuditEvent(
        AuditKind.STEP, plan=plan_run.plan.name, step=record.step, target=record.target,
        run=record.run or plan_run.id, outcome=record.state.value, reason=record.reason,
    )  # fmt: skip
    notes_of(plan_run.store, plan_run.approvals, plan_run.events).write(event)


def plan_hash(plan: MaintenancePlan) -> str:
    """Return the hash of a plan's text, which distinguishes its runs."""
    return sha256(plan.text.encode()).hexdigest()


def record_of(plan: MaintenancePlan, targets: Sequence[PlanTarget], run_id: str, began: datetime) -> PlanRunRecord:
    """Return the record of a plan run that begins, all steps of which wait."""
    steps = [(plan_target.name, job.step.name) for plan_target in targets for job in plan_target.jobs]
    return PlanRunRecord(
        run_id,
        plan.name,
        plan_hash(plan),
        RunState.RUNNING,
        began,
        socket.gethostname(),
        plan.text,
        steps=tuple(StepRecord(at, target, step) for at, (target, step) in enumerate(steps)),
    )


def outside_its_window(
    plan: MaintenancePlan, targets: Sequence[PlanTarget], store: Store, record: PlanRunRecord
) -> PlanRunRecord:
    """Store what a plan run came to that began while its window is closed, and return it where nothing was due.

    A step is not due when it was done since the last window opened, or too recently for its own condition.

    Raises:
        ToolkitError: TK-0310 when something is due, saying when the next window opens.
    """
    following = plan.windows.next(record.began_at)
    opens = f"opens at {following.begin:%Y-%m-%d %H:%M} UTC" if following else "does not open within a year"
    closed = f"the window of plan `{plan.name}` is closed and {opens}"
    histories = store.step_histories(
        plan.name, [step.name for step in plan.steps], [each.name for each in targets]
    )
    jobs = [(each, job, histories.get((each.name, job.step.name), [])) for each in targets for job in each.jobs]
    not_due = [_not_due(plan, each, job, history, record.began_at) for each, job, history in jobs]
    due = [job.step.name for (_, job, _), reason in zip(jobs, not_due, strict=True) if reason is None]
    steps = (
        replace(step, state=StepState.STOPPED if reason is None else StepState.SKIPPED, reason=reason or closed)
        for step, reason in zip(record.steps, not_due, strict=True)
    )
    state, told = (RunState.FAILED, closed) if due else (RunState.DONE, f"{closed}; nothing was due")
    ended = replace(record, state=state, ended_at=record.began_at, stopped_by=told, steps=tuple(steps))
    store.begin_plan_run(ended)
    if due:
        raise ToolkitError(
            f"{closed}; due: {', '.join(f'`{name}`' for name in dict.fromkeys(due))}",
            code="TK-0310",
            hint="let a scheduler begin it then (`dbatk plan schedule`), or add `--allow-closed-window`",
        )
    return ended


def _not_due(
    plan: MaintenancePlan, plan_target: PlanTarget, job: TargetStep, history: Sequence[StepRecord], now: datetime
) -> str | None:
    last = plan.windows.last(now)
    done = [step.ended_at for step in history if step.state is StepState.DONE and step.ended_at is not None]
    if last is not None and done and max(done) >= last.begin:
        return f"it was done at {max(done):%Y-%m-%d %H:%M} UTC, since the last window opened"
    return unmet(job, plan_target, history, now, asking=False)
