"""One execution of a plan: on each target, begin what may begin, until all is done or the window closes."""

from __future__ import annotations

import random
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Protocol

from toolkit.app.approvals import Approvals, exposed
from toolkit.app.auditing import notes_of
from toolkit.app.dead_plan_runs import lease_of_plan_run
from toolkit.app.maintenance.attempt import utc_now
from toolkit.app.maintenance.beginning import Now, PlanRun, outside_its_window, plan_hash, record_of
from toolkit.app.maintenance.closing import close_open, retrying
from toolkit.app.maintenance.outlook import remarks
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.maintenance.proved import overdue
from toolkit.app.maintenance.target_run import TargetRun
from toolkit.errors import ToolkitError, unexpected
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.plan import ENDED_WELL, MaintenancePlan, PlanRunRecord, StepState
from toolkit.model.protocols import Event, Events, TaggedEvents
from toolkit.model.records import new_run_id
from toolkit.model.words import RunState
from toolkit.runner import Locks, Stop, holding_lease, holding_locks
from toolkit.store import Store

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
        steps_on = plan_run.store.steps_on
        waiting = deque(TargetRun(plan_run, each, steps_on(plan_run.id, each.name)) for each in targets)

        def work() -> None:
            # Popped by whoever is free: each target by one thread. A busy one is tried again after the others.
            while True:
                try:
                    target_run = waiting.popleft()
                except IndexError:
                    return
                if not _work(plan_run, target_run, locks):
                    waiting.append(target_run)
                    plan_run.stop.wait(_TICK_SECONDS)

        threads = _begun(min(max(1, plan_run.plan.at_once), len(targets)), work)
        if not threads:
            work()
        while working := [thread for thread in threads if thread.is_alive()]:
            # Signals reach only this thread, and only between its calls.
            working[0].join(_TICK_SECONDS)


def _begun(count: int, work: Callable[[], None]) -> list[threading.Thread]:
    """Return so many threads at work, or as many as the host starts."""
    threads: list[threading.Thread] = []
    for number in range(count):
        thread = threading.Thread(target=work, daemon=True, name=f"target_{number}")
        try:
            thread.start()
        except RuntimeError:
            break
        threads.append(thread)
    return threads


def _work(plan_run: PlanRun, target_run: TargetRun, locks: Locks) -> bool:
    """Work on a target; False when it is busy and to be tried again."""
    plan_target = target_run.plan_target
    lock = lock_of(plan_run.plan.name, plan_target)
    locks.watch(lock, target_run.stop)
    try:
        if not target_run.run():
            return False
    except Exception as error:  # noqa: BLE001 - one target never ends the plan run
        reason = unexpected(error).sentence
        # A store that cannot be written leaves the steps open; the plan run is then found as one that died.
        with suppress(ToolkitError):
            close_open(plan_run.store, plan_run.id, plan_target.name, plan_run.now(), reason)
    locks.release(lock)
    return True


def run_plan(
    plan: MaintenancePlan,
    targets: Sequence[PlanTarget],
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
        targets: its targets with their jobs.
        store: where everything is kept.
        approvals: what the user allowed.
        events: receives what happens.
        stop: ends the plan run in order.
        anytime: run although no window is open.
        now: the clock.
        dispatcher: who works on the targets; threads of this process if not given.

    Raises:
        ToolkitError: TK-0310 when no window is open and something is due, TK-0302 when every target is at work
            already.
    """
    began = now()
    run_id = new_run_id(began, random.Random(secrets.randbits(64)))  # noqa: S311 (an id, no secret)
    record = record_of(plan, targets, run_id, began)
    span = None if anytime else plan.windows.now(began)
    if span is None and plan.windows.each and not anytime:
        return outside_its_window(plan, targets, store, record)
    tagged = TaggedEvents(events, {"plan_run": run_id})
    plan_run = PlanRun(plan, run_id, store, approvals, tagged, stop or Stop(), span, now)
    stakes = [one for each in targets for one in exposed(each.resolved.target, each.resolved.policy, approvals)]
    for sentence in (*remarks(plan, store, began), *stakes, *filter(None, [store.exposure])):
        plan_run.events.emit(Event("warning", sentence))
    # Held until the end is stored: whoever finds it dead may say that the plan run died.
    with holding_lease(store, lease_of_plan_run(run_id), run_id, plan_run.stop):
        begin, end = (span.begin, span.end) if span else (None, None)
        store.begin_plan_run(replace(record, window_begin=begin, window_end=end))
        state = RunState.INTERRUPTED
        try:
            with plan_run.stop.listening(), _noted(plan_run):
                _all_targets(plan_run, targets, dispatcher or Threads())
            _note_unproved(plan_run)
            state = _state_of(plan_run)
        finally:
            stopped = "; ".join(dict.fromkeys(plan_run.stopped_by)) or None
            retrying(lambda: _end(plan_run, state, stopped))
    if plan_run.refused and len(plan_run.refused) == len(targets):
        raise plan_run.refused[0]
    return store.load_plan_run(run_id)


def _note_unproved(plan_run: PlanRun) -> None:
    """Warn of targets whose backups no restore has proved for longer than the plan allows."""
    limit = plan_run.plan.proved_within_seconds
    if limit is None:
        return
    for note in overdue(plan_run.store, plan_run.store.load_plan_run(plan_run.id), limit, plan_run.now()):
        plan_run.store.note_plan_run(plan_run.id, note)
        plan_run.events.emit(Event("warning", f"{note.target}: {note.text}"))


def _end(plan_run: PlanRun, state: RunState, stopped: str | None) -> None:
    """Store how a plan run ended; one with steps whose end could not be stored is closed by the next one."""
    if not plan_run.store.is_open(plan_run.id):
        plan_run.store.end_plan_run(plan_run.id, state, plan_run.now(), stopped)


def _state_of(plan_run: PlanRun) -> RunState:
    steps = plan_run.store.load_plan_run(plan_run.id).steps
    if all(step.state in ENDED_WELL for step in steps):
        return RunState.DONE
    failed = any(step.state is StepState.FAILED for step in steps)
    return RunState.FAILED if failed else RunState.INTERRUPTED


@contextmanager
def _noted(plan_run: PlanRun) -> Iterator[None]:
    """Note in the audit log that a plan run begins, and what stopped it."""
    approved = (f"approved as {plan_run.approvals.approval}",) if plan_run.approvals.approval else ()
    event = AuditEvent(
        AuditKind.PLAN_BEGIN,
        plan=plan_run.plan.name,
        run=plan_run.id,
        hash=f"sha256:{plan_hash(plan_run.plan)}",
        details=approved,
    )
    notes = notes_of(plan_run.store, plan_run.approvals, plan_run.events)
    with notes.around(event, AuditKind.PLAN_END) as ending:
        yield
        ending.outcome = _state_of(plan_run).value
        ending.details += dict.fromkeys(plan_run.stopped_by)


def _all_targets(plan_run: PlanRun, targets: Sequence[PlanTarget], dispatcher: Dispatcher) -> None:
    """Work on the targets whose locks can be had; what goes wrong on one never touches another."""
    locks_of = {plan_target.name: lock_of(plan_run.plan.name, plan_target) for plan_target in targets}
    with holding_locks(plan_run.store, list(locks_of.values()), plan_run.id, plan_run) as locks:
        free = []
        for plan_target in targets:
            error = plan_target.refused or locks.refused.get(locks_of[plan_target.name])
            if error is None:
                free.append(plan_target)
            else:
                plan_run.refused.append(error)
                close_open(plan_run.store, plan_run.id, plan_target.name, plan_run.now(), error.sentence)
        dispatcher.carry_out(plan_run, free, locks)
