"""Stores how steps ended, also those that died with their process or never began.

Whoever closes steps must hold the lock of the plan on the target: then nobody else is at work there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from toolkit.app.results import find_run, job_done
from toolkit.app.runs.doubt import taken_as_done
from toolkit.errors import ToolkitError
from toolkit.model.plan import KILLED, StepRecord, StepState
from toolkit.model.words import RunState
from toolkit.store import CANNOT_BE_WRITTEN, Store

_NOT_VERIFIED = "its process died after the work ended, before the check"
_SINCE = "its run ended well afterwards"
_BAD = frozenset({StepState.FAILED, StepState.STOPPED})
_OPEN = frozenset({StepState.WAITING, StepState.RUNNING})
TIMEOUT_SECONDS = 60.0
_LOOK_SECONDS = 0.5

T = TypeVar("T")


def close_killed_runs(store: Store, plan: str, plan_run: str, target: str, now: datetime) -> None:
    """Say of the steps that other runs had on a target when they were killed that they were (`end_dead_runs`).

    A run that no step knows has no other who would end it: a process that was frozen before it began the run found
    out afterwards that its steps had been taken over.
    """
    for other, step in store.open_steps(plan, target):
        if other != plan_run:
            store.note_step(other, killed(store, other, step, now, KILLED))
    for run in store.unknown_children(plan, target, but=plan_run):
        store.end_run(run, RunState.INTERRUPTED, now)


def close_open(store: Store, plan_run: str, target: str, now: datetime, reason: str) -> list[StepRecord]:
    """End the steps of a plan run on a target that have not ended, and return them."""
    left = [step for step in store.steps_on(plan_run, target) if step.state in _OPEN]
    closed = [killed(store, plan_run, step, now, reason) for step in left]
    for step in closed:
        store.note_step(plan_run, step)
    return closed


def taken_over(store: Store, plan_run: str, target: str, now: datetime) -> dict[str, StepRecord]:
    """Return the steps of a plan run on a target as they are; one that died with another process waits again.

    The plan run may have been begun here by a worker that was lost. What it had begun is kept as stopped, so that
    its run is continued; one that is kept so was taken over before, by a worker that was lost before it began it.
    """
    found = {step.step: step for step in store.steps_on(plan_run, target)}
    for name, step in found.items():
        if step.state is StepState.RUNNING:
            lost = killed(store, plan_run, step, now, KILLED)
            store.note_step(plan_run, lost)
            waits = replace(step, state=StepState.WAITING)
            found[name] = lost if lost.state is StepState.DONE else waits
        elif step.state is StepState.STOPPED and step.reason == KILLED:
            found[name] = replace(step, state=StepState.WAITING, ended_at=None, reason=None)
    return found


def killed(store: Store, plan_run: str, step: StepRecord, now: datetime, reason: str) -> StepRecord:
    """Return the record of a step that died with its process: with its run, which may be gone on with.

    One whose run had ended well before it could be noted was done, and is not done again. A load that a person
    answered for since then is the next run's to take as done.
    """
    run = step.run or child_of(store, plan_run, step.step, step.target)
    if step.state is not StepState.RUNNING:
        return replace(step, state=StepState.STOPPED, reason=reason, run=run)
    ended = well_ended(store, run)
    if ended is not None:
        return replace(step, state=StepState.DONE, ended_at=ended, run=run, unverified=_NOT_VERIFIED)
    return replace(step, state=StepState.STOPPED, reason=reason, ended_at=now, run=run)


def broken(store: Store, plan_run: str, begun: StepRecord, reason: str) -> StepRecord:
    """Return the record of a step that broke off of itself; what its run had done by then is done.

    Whoever comes next goes on with what was begun, if the store still knows.
    """
    run = None
    with suppress(ToolkitError):
        run = retrying(lambda: child_of(store, plan_run, begun.step, begun.target))
    state = StepState.FAILED if well_ended(store, run) is None else StepState.DONE
    return replace(begun, state=state, run=run, reason=reason)


def as_told(store: Store, plan_run: str, record: StepRecord) -> StepRecord:
    """Return the end of a step as the process told it that took its target, or the record where it told none.

    That process goes on with the step's run, and notes with its own plan run how it ended: it was done once.
    """
    stored = retrying(lambda: store.steps_on(plan_run, record.target))
    told = (each for each in stored if each.step == record.step and each.state not in _OPEN)
    return next(told, record)


def ended_since(store: Store, plan: str, history: Sequence[StepRecord]) -> list[StepRecord]:
    """Return the records of a step, newest first; the last one is done where its run ended well since.

    Somebody went on with the run by hand, after the whole plan run: the end of a step is its begin and what it
    took, by a clock that only goes forward, and may lie before that of its run where the wall clock was set. One
    that was stopped has no other way to a run that ended well. A person's answer for a load is the next run's to
    tell.
    """
    last = next((step for step in history if step.run is not None), None)
    if last is None or last.state not in _BAD or last.ended_at is None:
        return list(history)
    ended = well_ended(store, last.run)
    if ended is None:
        return list(history)
    in_time = ended <= max(last.ended_at, store.plan_run_end(plan, last) or last.ended_at)
    if in_time and last.state is not StepState.STOPPED:
        return list(history)
    done = replace(last, state=StepState.DONE, ended_at=ended, reason=_SINCE)
    return [done if step is last else step for step in history]


def child_of(store: Store, plan_run: str, step: str, target: str) -> str | None:
    """Return the newest run that a plan run began for a step on a target, or None.

    One that has not ended is the newest, whatever the clock said when it began.
    """
    found = [head for head in store.children_of(plan_run, target) if head.experiment.name == step]
    found.sort(key=lambda head: head.ended_at is None)
    return found[-1].run if found else None


def well_ended(store: Store, run: str | None) -> datetime | None:
    """Return when a run ended, if it succeeded."""
    if run is None:
        return None
    try:
        record = find_run(store, run)
    except ToolkitError:
        return None
    done = job_done(record) and not taken_as_done(run, store)
    return record.head.ended_at if done else None


# -- writing to the store, with retries -------------------------------------------------------------------------
def retrying(work: Callable[[], T]) -> T:
    """Do one transaction of the store and return its result, again and again for a while.

    Args:
        work: one transaction, which may be done twice.

    Raises:
        ToolkitError: the last TK-0401 or TK-0404 when the time is over; others at once.
    """
    until = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            return work()
        except ToolkitError as error:
            if error.code not in CANNOT_BE_WRITTEN or time.monotonic() > until:
                raise
        time.sleep(_LOOK_SECONDS)
