"""What a worker does with an order: it works on one target as a thread of the conductor would, by its own means.

It stops when the lock of the plan on the target is no longer held for its night by a live process: then somebody
stopped the plan, or the conductor is gone.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from toolkit import __version__
from toolkit.app.approving.checking import admitted
from toolkit.app.maintenance.attempt import utc_now
from toolkit.app.maintenance.dispatch.order import OrderResult, TargetOrder
from toolkit.app.maintenance.named import ThreadTaggedEvents
from toolkit.app.maintenance.plan_targets import place_at
from toolkit.app.maintenance.target_run import PlanRun, TargetRun
from toolkit.config.profiles import load_profiles, profile_of
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Events
from toolkit.runner import Stop
from toolkit.store import HEARTBEAT_SECONDS, Store, open_store

_STORE_VARIABLE = "DBATK_STORE"


@dataclass(frozen=True, slots=True)
class WorkerCheck:
    """What a worker is found to be: its host and version, and why it could not work."""

    host: str
    version: str
    faults: tuple[str, ...] = ()


def look(targets: Sequence[str], store: str) -> WorkerCheck:
    """Tell what this worker is, which of the targets it does not know, and whether it reaches the store."""
    faults: list[str] = []
    try:
        profiles = load_profiles()
        for name in targets:
            if "://" not in name:
                profile_of(name, profiles)
    except ToolkitError as error:
        faults.append(error.sentence)
    try:
        open_store(address_here(store)).close()
    except ToolkitError as error:
        faults.append(error.sentence)
    return WorkerCheck(socket.gethostname(), __version__, tuple(faults))


def address_here(store: str) -> str:
    """Return the address of the store on this host: its own `DBATK_STORE` outweighs what was sent."""
    return os.environ.get(_STORE_VARIABLE) or store


def carry_out(order: TargetOrder, events: Events) -> OrderResult:
    """Do the steps of an order; whatever keeps them from being done is told, not raised."""
    try:
        return _carry_out(order, events)
    except ToolkitError as error:
        return OrderResult(refused=(error.message, error.code, error.hint))
    except Exception as error:  # noqa: BLE001 - what an error holds must not travel unseen
        return OrderResult(refused=(f"fault of dbatk on a worker: {type(error).__name__}", "TK-0901", None))


def _carry_out(order: TargetOrder, events: Events) -> OrderResult:
    if order.version != __version__:
        raise ToolkitError(
            f"the worker on `{socket.gethostname()}` has dbatk {__version__}, the plan comes from {order.version}",
            code="TK-0210",
            hint="install the same version everywhere",
        )
    plan = read_plan(parse_document(order.plan_text, "the plan"), Path())
    with open_store(address_here(order.store)) as store:
        records = store.steps_on(order.plan_run, order.target)
        if not records:
            raise ToolkitError(
                f"the store `{store.place}` of the worker on `{socket.gethostname()}` is not that of the plan",
                code="TK-0210",
                hint=f"set {_STORE_VARIABLE} there to the store of the plan, or leave it out",
            )
        place = place_at(plan, order.target, order.steps, store, order.approvals)
        night = PlanRun(
            plan, order.plan_run, store, order.approvals, ThreadTaggedEvents(events, order.plan_run), Stop(),
            order.span, _clock_of(store),
        )  # fmt: skip
        with admitted(order.approvals, place), _watching(store, order, night.stop):
            TargetRun(night, place, records).run()
        refused = night.refused[0] if night.refused else None
        told = None if refused is None else (refused.message, refused.code, refused.hint)
        return OrderResult(tuple(night.stopped_by), told)


def _clock_of(store: Store) -> Callable[[], datetime]:
    """Return the store's clock: the clocks of hosts differ, and the window closes for all at once."""
    ahead = store.now() - utc_now()
    return lambda: utc_now() + ahead


@contextmanager
def _watching(store: Store, order: TargetOrder, stop: Stop) -> Iterator[None]:
    """Stop the work when the conductor does not want it any more, or is gone."""
    ended = threading.Event()

    def watch() -> None:
        while not stop.requested:
            # A store that cannot be read for a moment says nothing of the conductor.
            with suppress(ToolkitError):
                because = _unwanted(store, order)
                if because is not None:
                    stop.request(because)
            if ended.wait(HEARTBEAT_SECONDS):
                return

    thread = threading.Thread(target=watch, daemon=True, name="watch of the plan")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _unwanted(store: Store, order: TargetOrder) -> ToolkitError | None:
    holder = store.holder_of(order.lock)
    if holder is None or holder.lease.run != order.plan_run:
        return ToolkitError("the plan was stopped", code="TK-0130")
    if not holder.alive:
        gone = f"process {holder.lease.pid} on `{holder.lease.host}`, which conducted the plan, is gone"
        return ToolkitError(gone, code="TK-0130", hint="the next night goes on")
    return None
