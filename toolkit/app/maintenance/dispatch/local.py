"""Works on targets in threads of this process: the work itself is done by the databases."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from toolkit.app.maintenance.closing import close_open
from toolkit.app.maintenance.dispatch.base import lock_of
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.maintenance.target_run import PlanRun, TargetRun
from toolkit.runner import Locks

_TICK_SECONDS = 0.5


class Threads:
    """Carries out a night in threads, one for each target at work."""

    def carry_out(self, night: PlanRun, places: Sequence[PlanTarget], locks: Locks) -> None:
        """Have the targets worked on, and return when all are done."""
        with ThreadPoolExecutor(max(1, night.plan.at_once), thread_name_prefix="target") as pool:
            working: set[Future[None]] = {pool.submit(_work, night, place, locks) for place in places}
            while working:
                # Signals reach only this thread, and only between its calls.
                _, working = wait(working, _TICK_SECONDS, FIRST_COMPLETED)


def _work(night: PlanRun, place: PlanTarget, locks: Locks) -> None:
    lock = lock_of(night.plan.name, place)
    work = TargetRun(night, place, night.store.steps_on(night.plan_run, place.name))
    locks.watch(lock, work.stop)
    try:
        work.run()
    except Exception as error:  # noqa: BLE001 - one target never ends the night
        reason = f"fault of dbatk: {error!r}"
        close_open(night.store, night.plan_run, place.name, night.now(), reason)
    finally:
        locks.release(lock)
