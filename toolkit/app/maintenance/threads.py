"""Who works on the targets of a plan: the protocol, and threads of this process, for the databases do the work."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from toolkit.app.maintenance.closing import close_open
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.maintenance.target_run import PlanRun, TargetRun
from toolkit.errors import unexpected
from toolkit.runner import Locks

_TICK_SECONDS = 0.5


class Dispatcher(Protocol):
    """Has targets worked on, at most `at_once` of the plan at a time.

    What goes wrong on one is the reason of its steps and touches no other; a stop of the plan run ends all in
    order; afterwards no step of the targets given waits or runs any more. The lock of each is given back when it
    is done. Why nothing could be begun somewhere goes to `plan_run.refused`, what stopped the work to
    `plan_run.stopped_by`.
    """

    def carry_out(self, plan_run: PlanRun, targets: Sequence[PlanTarget], locks: Locks) -> None:
        """Have the targets worked on, and return when all are done."""
        ...


def lock_of(plan: str, plan_target: PlanTarget) -> str:
    """Return the name of the lock of a plan on a target."""
    return f"plan {plan} on {plan_target.resolved.target.lease_key}"


class Threads:
    """Carries out a plan run in threads, one for each target at work."""

    def carry_out(self, plan_run: PlanRun, targets: Sequence[PlanTarget], locks: Locks) -> None:
        """Have the targets worked on, and return when all are done."""
        with ThreadPoolExecutor(max(1, plan_run.plan.at_once), thread_name_prefix="target") as pool:
            working: set[Future[None]] = {
                pool.submit(_work, plan_run, plan_target, locks) for plan_target in targets
            }
            while working:
                # Signals reach only this thread, and only between its calls.
                _, working = wait(working, _TICK_SECONDS, FIRST_COMPLETED)


def _work(plan_run: PlanRun, plan_target: PlanTarget, locks: Locks) -> None:
    lock = lock_of(plan_run.plan.name, plan_target)
    work = TargetRun(plan_run, plan_target, plan_run.store.steps_on(plan_run.id, plan_target.name))
    locks.watch(lock, work.stop)
    try:
        work.run()
    except Exception as error:  # noqa: BLE001 - one target never ends the plan run
        reason = unexpected(error).sentence
        close_open(plan_run.store, plan_run.id, plan_target.name, plan_run.now(), reason)
    finally:
        locks.release(lock)
