"""The orders of one night: so many with the scheduler of a cluster at a time, the others still here.

A worker that is lost loses its order to another one, by the scheduler. What cannot be handed on is closed here,
once the store says that nobody is at work on the target any more.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

from toolkit import __version__
from toolkit.app.maintenance.closing import close_open
from toolkit.app.maintenance.dispatch.base import lock_of
from toolkit.app.maintenance.dispatch.order import OrderResult, TargetOrder, allowed_by
from toolkit.app.maintenance.dispatch.worker import carry_out
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.maintenance.target_run import PlanRun
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Event
from toolkit.runner import Locks, Stop, holding_lease

if TYPE_CHECKING:
    from distributed import Client, Future

_TICK_SECONDS = 0.5
_LOOK_SECONDS = 5.0
_WITHOUT_WORKERS_SECONDS = 60.0
_TOLD = frozenset({"step", "warning", "waiting"})
"""Kinds of events that travel; the progress of hundreds of statements does not."""
_BEGUN = "order-begun"


def _task(text: str, topic: str) -> str:
    """Carry out an order within a worker."""
    from distributed import get_worker

    order, worker = TargetOrder.from_text(text), get_worker()

    class Sent:
        def emit(self, event: Event) -> None:
            if event.kind in _TOLD:
                data = {name: one for name, one in event.data.items() if isinstance(one, str | int | float)}
                worker.log_event(topic, {"kind": event.kind, "text": event.text, "data": data})

    worker.log_event(topic, {"kind": _BEGUN, "text": order.target, "data": {}})
    return carry_out(order, Sent()).to_text()


class Orders:
    """The orders of one night: so many with the scheduler at a time, the others here."""

    def __init__(self, client: Client, store: str, night: PlanRun, locks: Locks) -> None:
        self._client, self._store, self._night, self._locks = client, store, night, locks
        self._topic = f"dbatk-{night.plan_run}"
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
        told = event[1]
        text, data = str(told["text"]), told["data"]
        if told["kind"] == _BEGUN:
            self._begun.add(text)
        else:
            self._night.events.emit(Event(str(told["kind"]), text, data if isinstance(data, dict) else {}))

    def carry_out(self, places: Sequence[PlanTarget]) -> None:
        waiting = deque(places)
        while waiting or self._out:
            self._look()
            because = self._over()
            if because is not None:
                self._withdraw(because)
                while waiting:
                    self._give_up(waiting.popleft(), because)
            while waiting and len(self._out) < max(1, self._night.plan.at_once):
                self._send(waiting.popleft())
            with suppress(queue.Empty):
                self._take(self._ended.get(timeout=_TICK_SECONDS))
        for place, reason in self._lost:
            self._close(place, reason)

    # -- sending ------------------------------------------------------------------------------------------------
    def _send(self, place: PlanTarget) -> None:
        text = self._order(place).to_text()
        try:
            future = self._client.submit(
                _task, text, self._topic, key=f"{self._topic}-{place.name}", pure=False, retries=0
            )
        except Exception as error:  # noqa: BLE001 - whatever the cluster's library raises
            self._lost.append((place, f"it could not be given to a worker: {type(error).__name__}"))
            return
        self._out[place.name] = (place, future)
        future.add_done_callback(lambda _, name=place.name: self._ended.put(name))

    def _order(self, place: PlanTarget) -> TargetOrder:
        night = self._night
        return TargetOrder(
            version=__version__,
            plan_text=night.plan.text,
            plan_run=night.plan_run,
            target=place.name,
            steps=tuple(job.step.name for job in place.jobs),
            lock=lock_of(night.plan.name, place),
            store=self._store,
            window_begin=night.span.begin.isoformat() if night.span else None,
            window_end=night.span.end.isoformat() if night.span else None,
            allowed=allowed_by(night.approvals),
        )

    # -- ending -------------------------------------------------------------------------------------------------
    def _take(self, name: str) -> None:
        """Take an order that ended: what it told, or that its workers were lost."""
        if name not in self._out:
            return
        place, future = self._out.pop(name)
        carried, reason = _result(future)
        self._night.stopped_by.extend(carried.stopped_by)
        if carried.error is not None:
            self._night.refused.append(carried.error)
            reason = carried.error.sentence
        if self._night.store.is_open(self._night.plan_run, name):
            self._lost.append((place, reason))
        else:
            self._locks.release(lock_of(self._night.plan.name, place))

    def _look(self) -> None:
        """Look for workers, and stop the night when none is left to do it."""
        now = monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked, self._alone = now, True
        with suppress(Exception):
            self._alone = self._client.status != "running" or not self._client.scheduler_info()["workers"]
        if not self._alone:
            self._seen_workers = now
        elif now - self._seen_workers > _WITHOUT_WORKERS_SECONDS and not self._night.stop.requested:
            self._night.stop.request(
                ToolkitError("the cluster has no worker any more", code="TK-0201", hint="the next night goes on")
            )

    def _over(self) -> str | None:
        """Return why nothing more is to begin."""
        night = self._night
        if night.stop.requested:
            return night.stop.because.sentence if night.stop.because else "the plan was stopped"
        if night.span is not None and night.now() >= night.span.end:
            return f"the window closed at {night.span.end:%H:%M} UTC"
        return None

    def _withdraw(self, because: str) -> None:
        """Take back the orders that no worker has begun, and let the others know that the plan was stopped."""
        if not self._stopped:
            self._stopped = True
            self._night.stopped_by.append(because)
        for name, (place, future) in tuple(self._out.items()):
            if self._night.stop.requested:
                # Who works on the target sees that the lock is gone, and ends in order.
                self._locks.release(lock_of(self._night.plan.name, place))
            if self._alone or name not in self._begun:
                with suppress(Exception):
                    future.cancel()
                del self._out[name]
                self._lost.append((place, because))

    def _give_up(self, place: PlanTarget, because: str) -> None:
        for step in close_open(self._night.store, self._night.plan_run, place.name, self._night.now(), because):
            self._tell(step.step, place.name, step.state.value, because)
        self._locks.release(lock_of(self._night.plan.name, place))

    def _close(self, place: PlanTarget, reason: str) -> None:
        """Close what an order left open, once nobody is at work on its target any more."""
        night, key = self._night, place.resolved.target.lease_key
        try:
            with holding_lease(night.store, key, night.plan_run, Stop(), waiting=Stop()):
                self._give_up(place, reason)
        except ToolkitError as error:
            night.refused.append(error)
            self._give_up(place, error.sentence)

    def _tell(self, step: str, target: str, state: str, reason: str) -> None:
        data: dict[str, object] = {"step": step, "target": target, "state": state}
        self._night.events.emit(Event("step", f"{step} on {target}: {state} ({reason})", data))


def _result(future: Future) -> tuple[OrderResult, str]:
    """Return what an order told, and what to say of steps that it left open all the same."""
    if future.status == "finished":
        with suppress(Exception):
            return OrderResult.from_text(str(future.result())), "its worker left it open"
    if future.status == "cancelled":
        return OrderResult(), "the scheduler of the cluster was lost"
    kind = type(future.exception()).__name__ if future.status == "error" else future.status
    lost = "KilledWorker" in kind
    return OrderResult(), "all workers that tried it were lost" if lost else f"its worker failed: {kind}"
