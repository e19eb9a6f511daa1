"""One execution of a plan: on each target, begin what may begin, until all is done or the window closes."""

from __future__ import annotations

import random
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256

from toolkit.app.approvals import Approvals
from toolkit.app.auditing import notes_of
from toolkit.app.maintenance.attempt import utc_now
from toolkit.app.maintenance.beforehand import remarks
from toolkit.app.maintenance.closing import close_open
from toolkit.app.maintenance.dispatch.base import Dispatcher, lock_of
from toolkit.app.maintenance.dispatch.local import Threads
from toolkit.app.maintenance.named import ThreadTaggedEvents
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.maintenance.retry import retrying
from toolkit.app.maintenance.target_run import Now, PlanRun
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.plan import ENDED_WELL, MaintenancePlan, PlanRunRecord, StepRecord, StepState
from toolkit.model.protocols import Event, Events
from toolkit.model.records import new_run_id
from toolkit.model.window import TimeSpan
from toolkit.model.words import RunState
from toolkit.runner import Stop, holding_locks
from toolkit.store import Store


def run_plan(
    plan: MaintenancePlan,
    places: Sequence[PlanTarget],
    *,
    store: Store,
    approvals: Approvals,
    events: Events,
    stop: Stop | None = None,
    anytime: bool = False,
    now: Now = utc_now,
    dispatcher: Dispatcher | None = None,
) -> PlanRunRecord:
    """Run a plan and return what became of it; what fails is in the record, not an exception.

    Args:
        plan: as written.
        places: its targets with their jobs.
        store: where everything is kept.
        approvals: what the user allowed.
        events: told what happens.
        stop: ends the night in order.
        anytime: run although no window is open.
        now: the clock.
        dispatcher: who works on the targets; threads of this process if not given.

    Raises:
        ToolkitError: TK-0310 when no window is open, TK-0302 when every target is at work already.
    """
    began = now()
    span = None if anytime else _opening(plan, began)
    plan_run = new_run_id(began, random.Random(secrets.randbits(64)))  # noqa: S311 (an id, no secret)
    night = PlanRun(
        plan, plan_run, store, approvals, ThreadTaggedEvents(events, plan_run), stop or Stop(), span, now
    )
    for sentence in remarks(plan, store, began):
        night.events.emit(Event("warning", sentence))
    store.begin_plan_run(_record(night, places, began))
    state = RunState.INTERRUPTED
    try:
        with night.stop.listening(), _noted(night):
            _all_places(night, places, dispatcher or Threads())
        state = _state_of(night)
    finally:
        stopped = "; ".join(dict.fromkeys(night.stopped_by)) or None
        retrying(lambda: _end(night, state, stopped))
    if night.refused and len(night.refused) == len(places):
        raise night.refused[0]
    return store.load_plan_run(plan_run)


def _end(night: PlanRun, state: RunState, stopped: str | None) -> None:
    """Store how a night ended; one with steps whose end could not be stored is left to the next one to close."""
    if not night.store.is_open(night.plan_run):
        night.store.end_plan_run(night.plan_run, state, night.now(), stopped)


def _state_of(night: PlanRun) -> RunState:
    steps = night.store.load_plan_run(night.plan_run).steps
    if all(step.state in ENDED_WELL for step in steps):
        return RunState.DONE
    failed = any(step.state is StepState.FAILED for step in steps)
    return RunState.FAILED if failed else RunState.INTERRUPTED


@contextmanager
def _noted(night: PlanRun) -> Iterator[None]:
    """Note in the audit log that a night begins, and what stopped it."""
    approved = (f"approved as {night.approvals.approval}",) if night.approvals.approval else ()
    event = AuditEvent(
        AuditKind.PLAN_BEGIN,
        plan=night.plan.name,
        run=night.plan_run,
        hash=f"sha256:{plan_hash(night.plan)}",
        details=approved,
    )
    notes = notes_of(night.store, night.approvals, night.events)
    with notes.around(event, AuditKind.PLAN_END) as ending:
        yield
        ending.outcome = _state_of(night).value
        ending.details += dict.fromkeys(night.stopped_by)


def plan_hash(plan: MaintenancePlan) -> str:
    """Return the hash of a plan's text, by which its nights are told apart."""
    return sha256(plan.text.encode()).hexdigest()


def _opening(plan: MaintenancePlan, instant: datetime) -> TimeSpan | None:
    """Return the opening that is on; None where a plan has no window.

    Raises:
        ToolkitError: TK-0310 when none is open, saying when the next one opens.
    """
    if not plan.windows.each:
        return None
    span = plan.windows.now(instant)
    if span is None:
        following = plan.windows.next(instant)
        opens = f"opens at {following.begin:%Y-%m-%d %H:%M} UTC" if following else "does not open within a year"
        raise ToolkitError(
            f"the window of plan `{plan.name}` is closed and {opens}",
            code="TK-0310",
            hint="let a scheduler begin it then (`dbatk schedule`), or run it now with `--anytime`",
        )
    return span


def _record(night: PlanRun, places: Sequence[PlanTarget], began: datetime) -> PlanRunRecord:
    steps = [(place.name, job.step.name) for place in places for job in place.jobs]
    return PlanRunRecord(
        night.plan_run,
        night.plan.name,
        plan_hash(night.plan),
        RunState.RUNNING,
        began,
        socket.gethostname(),
        night.plan.text,
        window_begin=night.span.begin if night.span else None,
        window_end=night.span.end if night.span else None,
        steps=tuple(StepRecord(at, target, step) for at, (target, step) in enumerate(steps)),
    )


def _all_places(night: PlanRun, places: Sequence[PlanTarget], dispatcher: Dispatcher) -> None:
    """Work on the targets whose locks can be had; what goes wrong on one never touches another."""
    locks_of = {place.name: lock_of(night.plan.name, place) for place in places}
    with holding_locks(night.store, list(locks_of.values()), night.plan_run, night.stop) as locks:
        free = []
        for place in places:
            error = place.refused or locks.refused.get(locks_of[place.name])
            if error is None:
                free.append(place)
            else:
                night.refused.append(error)
                close_open(night.store, night.plan_run, place.name, night.now(), error.sentence)
        dispatcher.carry_out(night, free, locks)
