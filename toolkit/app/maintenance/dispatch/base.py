"""What the conductor of a night wants of those who work on its targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.maintenance.target_run import PlanRun
from toolkit.runner import Locks


class Dispatcher(Protocol):
    """Has targets worked on.

    At most `night.plan.at_once` at a time; what goes wrong on one is the reason of its steps and touches no other;
    a stop of the night ends all in order; afterwards no step of the targets given waits or runs any more. The lock
    of each is given back when it is done. Why nothing could be begun somewhere goes to `night.refused`, what
    stopped the work to `night.stopped_by`.
    """

    def carry_out(self, night: PlanRun, places: Sequence[PlanTarget], locks: Locks) -> None:
        """Have the targets worked on, and return when all are done."""
        ...


def lock_of(plan: str, place: PlanTarget) -> str:
    """Return the name of the lock of a plan on a target."""
    return f"plan {plan} on {place.resolved.target.lease_key}"
