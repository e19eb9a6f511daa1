"""What is said of a plan before anything of it begins, held against its last night: other steps, another clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from toolkit.model.plan import MaintenancePlan, PlanRunRecord
from toolkit.store import Store

_CLOCK = timedelta(minutes=1)
"""Clocks of two hosts of one plan may differ so much."""
_SHOWN = 3


def remarks(plan: MaintenancePlan, store: Store, now: datetime) -> Sequence[str]:
    """Return what somebody should know who begins a plan now.

    Its steps and its locks are known by the plan's name: a second plan of that name, or an edited file, takes over
    the history of the first. A clock that was set back makes what was done look younger than it is.

    Args:
        plan: about to begin.
        store: where its nights are.
        now: by the clock that dates them.
    """
    found = store.plan_runs(plan.name, limit=1)
    return [sentence for night in found for sentence in _of(plan, night, now)]


def _of(plan: MaintenancePlan, night: PlanRunRecord, now: datetime) -> Iterator[str]:
    last = max(night.began_at, night.ended_at or night.began_at)
    if last > now + _CLOCK:
        yield (
            f"the clock was set back: the last night of `{plan.name}` is of {last:%Y-%m-%d %H:%M} UTC, and it is"
            f" {now:%Y-%m-%d %H:%M}; what was done then counts as done until the clock is past it"
        )
    steps, before = {step.name for step in plan.steps}, {step.step for step in night.steps}
    if night.text == plan.text or steps == before:
        return
    if not steps & before:
        yield (
            f"the last night of a plan `{plan.name}` had other steps ({_names(before)}): two plans of one name"
            " share a lock and a history; give one of them another name"
        )
        return
    new, gone = steps - before, before - steps
    said = [f"{word}: {_names(names)}" for word, names in (("new", new), ("gone", gone)) if names]
    yield f"plan `{plan.name}` was edited since its last night ({'; '.join(said)})"


def _names(names: Iterable[str]) -> str:
    ordered = sorted(names)
    shown = ", ".join(f"`{name}`" for name in ordered[:_SHOWN])
    return shown + (", ..." if len(ordered) > _SHOWN else "")
