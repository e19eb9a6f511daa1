"""Stores how steps ended, also those that died with their process or never began.

Whoever closes steps must hold the lock of the plan on the target: then nobody else is at work there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from toolkit.app.results import ended_well, find_run
from toolkit.app.runs.doubt import taken_as_done
from toolkit.errors import ToolkitError
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.records import Holder
from toolkit.model.words import RunState
from toolkit.store import CANNOT_BE_WRITTEN, Store

KILLED = "its process was killed, or its host went down"
_NOT_VERIFIED = "its process died after the work ended, before the check"
_BY_HAND = "its run was resumed by hand"
_BAD = frozenset({StepState.FAILED, StepState.STOPPED})
_OPEN = frozenset({StepState.WAITING, StepState.RUNNING})
TIMEOUT_SECONDS = 60.0
_LOOK_SECONDS = 0.5
FAR_SECONDS = 300.0
"""How long the heartbeat of a process that cannot be seen from here stays out before it is said to have died."""

T = TypeVar("T")


def lease_of_plan_run(plan_run: str) -> str:
    """Return the name of the lease that a plan run holds from before its begin until its end is stored."""
    return f"plan run {plan_run}"


def end_dead_runs(store: Store, plan: str | None = None) -> list[PlanRunRecord]:
    """Say of plan runs whose process is gone, or sent no heartbeat for 300 s, that they died; return each once.

    A process that was only cut off from the store stores its own end later, and that counts.
    """
    found = []
    for plan_run in store.running_plan_runs(plan):
        holder = store.holder_of(lease_of_plan_run(plan_run)) or store.holder_for(plan_run)
        if holder is not None and (holder.alive or _may_live(holder)):
            continue
        record = store.load_plan_run(plan_run)
        heard = _last_heard(record, holder)
        if not store.end_dead_plan_run(
            plan_run, heard, f"{KILLED}; last heard of at {heard:%Y-%m-%d %H:%M:%S} UTC"
        ):
            continue
        for step in record.steps:
            if step.state in _OPEN:
                store.note_step(plan_run, killed(store, plan_run, step, heard, KILLED))
        if holder is not None and holder.in_sight:
            store.release(holder.lease)
        found.append(store.load_plan_run(plan_run))
    return found


def silent_runs(store: Store, plan: str | None = None) -> list[Holder]:
    """Return who holds the plan runs whose heartbeat stays out, but not for so long that they count as dead."""
    running = store.running_plan_runs(plan)
    holders = (store.holder_of(lease_of_plan_run(one)) or store.holder_for(one) for one in running)
    return [one for one in holders if one is not None and not one.alive and _may_live(one)]


def _may_live(holder: Holder) -> bool:
    return not holder.in_sight and holder.silent_seconds < FAR_SECONDS


def _last_heard(record: PlanRunRecord, holder: Holder | None) -> datetime:
    if holder is not None:
        return holder.lease.heartbeat_at
    known = [each for step in record.steps for each in (step.began_at, step.ended_at) if each is not None]
    return max(known, default=record.began_at)


def close_killed_runs(store: Store, plan: str, plan_run: str, target: str, now: datetime) -> None:
    """Say of the steps that other runs had on a target when they were killed that they were (`end_dead_runs`)."""
    for other, step in store.open_steps(plan, target):
        if other != plan_run:
            store.note_step(other, killed(store, other, step, now, KILLED))


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
    its run is continued.
    """
    found = {step.step: step for step in store.steps_on(plan_run, target)}
    for name, step in found.items():
        if step.state is StepState.RUNNING:
            lost = killed(store, plan_run, step, now, KILLED)
            store.note_step(plan_run, lost)
            waits = replace(step, state=StepState.WAITING)
            found[name] = lost if lost.state is StepState.DONE else waits
    return found


def killed(store: Store, plan_run: str, step: StepRecord, now: datetime, reason: str) -> StepRecord:
    """Return the record of a step that died with its process: with its run, which may be gone on with.

    One whose run had ended well before it could be noted was done, and is not done again. A load that a person
    answered for since then is the next run's to take as done.
    """
    run = step.run or child_of(store, plan_run, step.step, step.target)
    if step.state is not StepState.RUNNING:
        return replace(step, state=StepState.STOPPED, reason=reason, run=run)
    ended = _well_ended(store, run)
    if ended is not None:
        return replace(step, state=StepState.DONE, ended_at=ended, run=run, unverified=_NOT_VERIFIED)
    return replace(step, state=StepState.STOPPED, reason=reason, ended_at=now, run=run)


def ended_since(store: Store, history: Sequence[StepRecord]) -> list[StepRecord]:
    """Return the records of a step, newest first; the last one is done where its run ended well since.

    Somebody went on with the run by hand. A person's answer for a load is the next run's to tell.
    """
    last = next((step for step in history if step.run is not None), None)
    if last is None or last.state not in _BAD or last.ended_at is None:
        return list(history)
    ended = _well_ended(store, last.run)
    if ended is None or ended <= last.ended_at:
        return list(history)
    done = replace(last, state=StepState.DONE, ended_at=ended, reason=_BY_HAND)
    return [done if step is last else step for step in history]


def child_of(store: Store, plan_run: str, step: str, target: str) -> str | None:
    """Return the newest run that a plan run began for a step on a target, or None."""
    found = [head.run for head in store.children_of(plan_run, target) if head.experiment.name == step]
    return found[-1] if found else None


def _well_ended(store: Store, run: str | None) -> datetime | None:
    """Return when a run ended, if it succeeded."""
    if run is None:
        return None
    try:
        record = find_run(store, run)
    except ToolkitError:
        return None
    done = record.head.state is RunState.DONE and ended_well(record) and not taken_as_done(run, store)
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
