"""Which plan runs died, or are silent: looked for by every command that lists runs.

What runs plans is loaded only where one died: nearly always there is nothing to tell.
"""

from __future__ import annotations

from datetime import datetime

from toolkit.model.plan import KILLED, PlanRunRecord, StepState
from toolkit.model.records import Holder
from toolkit.store import Store

FAR_SECONDS = 300.0
"""How long the heartbeat of a process that cannot be seen from here stays out before it is said to have died."""


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
        from toolkit.app.maintenance.closing import killed

        record = store.load_plan_run(plan_run)
        heard = _last_heard(record, holder)
        if not store.end_dead_plan_run(
            plan_run, heard, f"{KILLED}; last heard of at {heard:%Y-%m-%d %H:%M:%S} UTC"
        ):
            continue
        for step in record.steps:
            if step.state in (StepState.WAITING, StepState.RUNNING):
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
    """Return the last sign of life: a step may have begun or ended since the last heartbeat."""
    known = [each for step in record.steps for each in (step.began_at, step.ended_at) if each is not None]
    beats = [] if holder is None else [holder.lease.heartbeat_at]
    return max((record.began_at, *known, *beats))
