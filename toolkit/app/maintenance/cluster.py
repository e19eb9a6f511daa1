"""Has targets worked on by a cluster of dask.distributed that is there already.

Nothing that must hold depends on the cluster. A worker that is lost is a lease that ends; its scheduler gives the
order to another, who takes over what the store and the journal say was begun. The locks in the store tell workers
whether the plan is still wanted. So the cluster may lose workers, or itself, at any time.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

from toolkit import __version__
from toolkit.app.approvals import allowed_by
from toolkit.app.clusters import check_workers, connect, leave, workers_of
from toolkit.app.maintenance.beginning import PlanRun
from toolkit.app.maintenance.closing import close_open
from toolkit.app.maintenance.plan_run import lock_of
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.maintenance.worker import BEGUN, OrderResult, TargetOrder, carry_out, look
from toolkit.config.clusters import scheduler_of
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import MaintenancePlan
from toolkit.model.protocols import Event
from toolkit.runner import Locks, Stop, holding_lease
from toolkit.store import Store

if TYPE_CHECKING:
    from distributed import Client, Future

_TICK_SECONDS = 0.5
_LOOK_SECONDS = 5.0
_WITHOUT_WORKERS_SECONDS = 60.0
_TOLD = frozenset({BEGUN, "step", "warning", "waiting"})
"""Kinds of events that travel; the progress of hundreds of statements does not."""


@contextmanager
def cluster_at(address: str, plan: MaintenancePlan, store: Store, targets: Sequence[str]) -> Iterator[Cluster]:
    """Connect to a scheduler, and see that every worker can do what the plan wants.

    Args:
        address: `dask://host:port`, or `dask+tls://host:port` with the certificates of dask's configuration.
        plan: what will run.
        store: where its leases and results are.
        targets: names of its targets.

    Raises:
        ToolkitError: TK-0102 for another address, TK-0107 for a store or plan that cannot be shared, TK-0206
            without the library, TK-0201 when nobody answers, TK-0210 when a worker does not fit.
    """
    scheduler_of(address)
    shared = _shareable(plan, store)
    client = connect(address)
    try:
        found = Cluster(client, address, shared, store.origin)
        found.check(targets)
        yield found
    finally:
        leave(client)


def _shareable(plan: MaintenancePlan, store: Store) -> str:
    """Return the address of the store for workers; refuse what exists on this host only."""
    if store.address is None:
        raise ToolkitError(
            f"workers on other hosts cannot use the store `{store.place}`: it is a file on this host",
            code="TK-0107",
            hint="give `--store postgresql://user@host/database`",
        )
    steps = parse_document(plan.text, f"plan {plan.name}").data.get("step", ())
    for step in steps if isinstance(steps, list) else ():
        if "query_file" in step:
            raise ToolkitError(
                f"step `{step.get('name') or step.get('operation')}` reads its query from a file on this host",
                code="TK-0107",
                hint="put the query into the plan as `query`: its text is sent to the workers",
            )
    return store.address


class Cluster:
    """Carries out a plan run on the workers of a scheduler."""

    def __init__(self, client: Client, address: str, store: str, origin: str) -> None:
        self._client, self._address, self._store, self._origin = client, address, store, origin

    def check(self, targets: Sequence[str]) -> None:
        """Refuse a cluster without workers, and one with a worker that cannot do the work.

        Raises:
            ToolkitError: TK-0210, TK-0201.
        """
        check_workers(self._client, self._address, "run the plan", look, list(targets), self._store, self._origin)

    def carry_out(self, plan_run: PlanRun, targets: Sequence[PlanTarget], locks: Locks) -> None:
        """Have the targets worked on by workers, and return when all are done."""
        with Orders(self._client, self._store, plan_run, locks).listening() as orders:
            orders.carry_out(targets)

    @property
    def address(self) -> str:
        """Where the scheduler is, as the user wrote it."""
        return self._address


# -- the orders of one plan run -------------------------------------------------------------------------------
def _task(text: str, topic: str) -> str:
    """Carry out an order within a worker."""
    from distributed import get_worker

    worker = get_worker()

    class Sent:
        def emit(self, event: Event) -> None:
            if event.kind in _TOLD:
                data = {name: one for name, one in event.data.items() if isinstance(one, str | int | float)}
                worker.log_event(topic, {"kind": event.kind, "text": event.text, "data": data})

    return carry_out(text, Sent()).to_text()


class Orders:
    """The orders of one plan run: so many with the scheduler at a time, the others here."""

    def __init__(self, client: Client, store: str, plan_run: PlanRun, locks: Locks) -> None:
        self._client, self._store, self._plan_run, self._locks = client, store, plan_run, locks
        self._topic = f"dbatk-{plan_run.id}"
        self._out: dict[str, tuple[PlanTarget, Future]] = {}
        self._begun: set[str] = set()
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._lost: list[tuple[PlanTarget, str]] = []
        self._stopped = False
        self._alone, self._looked, self._seen_workers = False, monotonic(), monotonic()

    @contextmanager
    def listening(self) -> Iterator[Orders]:
        """Take what workers tell while the block runs."""
        self._client.subscribe_topic(self._topic, self._hear)
        try:
            yield self
        finally:
            with suppress(Exception):
                self._client.unsubscribe_topic(self._topic)

    def _hear(self, event: tuple[float, dict[str, object]]) -> None:
        heard = event[1]
        text, data = str(heard["text"]), heard["data"]
        if heard["kind"] == BEGUN:
            self._begun.add(text)
        else:
            self._plan_run.events.emit(Event(str(heard["kind"]), text, data if isinstance(data, dict) else {}))

    def carry_out(self, targets: Sequence[PlanTarget]) -> None:
        waiting = deque(targets)
        while waiting or self._out:
            self._look()
            because = self._over()
            if because is not None:
                self._withdraw(because)
                while waiting:
                    self._give_up(waiting.popleft(), because)
            while waiting and len(self._out) < max(1, self._plan_run.plan.at_once):
                self._send(waiting.popleft())
            with suppress(queue.Empty):
                self._take(self._ended.get(timeout=_TICK_SECONDS))
        for plan_target, reason in self._lost:
            self._close(plan_target, reason)

    # -- sending ------------------------------------------------------------------------------------------------
    def _send(self, plan_target: PlanTarget) -> None:
        text = self._order(plan_target).to_text()
        try:
            future = self._client.submit(
                _task, text, self._topic, key=f"{self._topic}-{plan_target.name}", pure=False, retries=0
            )
        except Exception as error:  # noqa: BLE001 - whatever the cluster's library raises
            self._lost.append((plan_target, f"it could not be sent to a worker: {type(error).__name__}"))
            return
        self._out[plan_target.name] = (plan_target, future)
        future.add_done_callback(lambda _, name=plan_target.name: self._ended.put(name))

    def _order(self, plan_target: PlanTarget) -> TargetOrder:
        plan_run = self._plan_run
        return TargetOrder(
            version=__version__,
            plan_text=plan_run.plan.text,
            plan_run=plan_run.id,
            target=plan_target.name,
            steps=tuple(job.step.name for job in plan_target.jobs),
            lock=lock_of(plan_run.plan.name, plan_target),
            store=self._store,
            window_begin=plan_run.span.begin.isoformat() if plan_run.span else None,
            window_end=plan_run.span.end.isoformat() if plan_run.span else None,
            allowed=allowed_by(plan_run.approvals),
        )

    # -- ending -------------------------------------------------------------------------------------------------
    def _take(self, name: str) -> None:
        """Take an order that ended: its result, or that its workers were lost."""
        if name not in self._out:
            return
        plan_target, future = self._out.pop(name)
        carried, reason = _result(future)
        self._plan_run.stopped_by.extend(carried.stopped_by)
        if carried.error is not None:
            self._plan_run.refused.append(carried.error)
            reason = carried.error.sentence
        if self._plan_run.store.is_open(self._plan_run.id, name):
            self._lost.append((plan_target, reason))
        else:
            self._locks.release(lock_of(self._plan_run.plan.name, plan_target))

    def _look(self) -> None:
        """Look for workers, and stop the plan run when none is left to do it."""
        now = monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked, self._alone = now, True
        with suppress(Exception):
            self._alone = self._client.status != "running" or not workers_of(self._client)
        if not self._alone:
            self._seen_workers = now
        elif now - self._seen_workers > _WITHOUT_WORKERS_SECONDS and not self._plan_run.stop.requested:
            self._plan_run.stop.request(
                ToolkitError("the cluster has no workers left", code="TK-0201", hint="the next run goes on")
            )

    def _over(self) -> str | None:
        """Return why nothing more is to begin."""
        plan_run = self._plan_run
        if plan_run.stop.requested:
            return plan_run.stop.because.sentence if plan_run.stop.because else "the plan was stopped"
        closed = plan_run.closed_at()
        return None if closed is None else f"the window closed at {closed:%H:%M} UTC"

    def _withdraw(self, because: str) -> None:
        """Take back the orders that no worker has begun, and let the others know that the plan was stopped."""
        if not self._stopped:
            self._stopped = True
            self._plan_run.stopped_by.append(because)
        for name, (plan_target, future) in tuple(self._out.items()):
            if self._plan_run.stop.requested:
                # Who works on the target sees that the lock is gone, and ends in order.
                self._locks.release(lock_of(self._plan_run.plan.name, plan_target))
            if self._alone or name not in self._begun:
                with suppress(Exception):
                    future.cancel()
                del self._out[name]
                self._lost.append((plan_target, because))

    def _give_up(self, plan_target: PlanTarget, because: str) -> None:
        for step in close_open(
            self._plan_run.store, self._plan_run.id, plan_target.name, self._plan_run.now(), because
        ):
            self._tell(step.step, plan_target.name, step.state.value, because)
        self._locks.release(lock_of(self._plan_run.plan.name, plan_target))

    def _close(self, plan_target: PlanTarget, reason: str) -> None:
        """Close what an order left open, once nobody is at work on its target any more."""
        plan_run, key = self._plan_run, plan_target.resolved.target.lease_key
        try:
            with holding_lease(plan_run.store, key, plan_run.id, Stop(), waiting=Stop()):
                self._give_up(plan_target, reason)
        except ToolkitError as error:
            plan_run.refused.append(error)
            self._give_up(plan_target, error.sentence)

    def _tell(self, step: str, target: str, state: str, reason: str) -> None:
        data: dict[str, object] = {"step": step, "target": target, "state": state}
        self._plan_run.events.emit(Event("step", f"{step} on {target}: {state} ({reason})", data))


def _result(future: Future) -> tuple[OrderResult, str]:
    """Return the result of an order, and what to report of steps that it left open."""
    if future.status == "finished":
        with suppress(Exception):
            return OrderResult.from_text(str(future.result())), "its worker did not finish it"
    if future.status == "cancelled":
        return OrderResult(), "the scheduler of the cluster was lost"
    kind = type(future.exception()).__name__ if future.status == "error" else future.status
    lost = "KilledWorker" in kind
    return OrderResult(), "all workers that attempted it were lost" if lost else f"its worker failed: {kind}"
