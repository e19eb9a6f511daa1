"""What a worker on another host is given, and what it does with it: one target, worked on by its own means.

An order is plain text without a secret: profiles, passwords and the password of the store are looked up by the
worker, on its own host. It stops when no live process holds the lock of the plan on the target for its plan run:
then somebody stopped the plan, or the coordinator is gone.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from toolkit import __version__
from toolkit.app.approvals import Approvals
from toolkit.app.approving.checking import admitted
from toolkit.app.clusters import WorkerCheck
from toolkit.app.maintenance.attempt import utc_now
from toolkit.app.maintenance.beginning import PlanRun
from toolkit.app.maintenance.plan_targets import approved_or_refused, obeying_profiles, plan_target_at
from toolkit.app.maintenance.target_run import TargetRun
from toolkit.config.profiles import load_profiles, profile_of
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError, unexpected
from toolkit.model.protocols import Event, Events, TaggedEvents
from toolkit.model.window import TimeSpan
from toolkit.runner import Stop
from toolkit.store import HEARTBEAT_SECONDS, Store, open_store

BEGUN = "order-begun"
"""Kind of the event by which a worker says that it took an order; its text is the target."""
_BUSY_SECONDS = 0.5
_STORE_VARIABLE = "DBATK_STORE"
_OWN_STORE = f"set {_STORE_VARIABLE} there to the store of the plan, or unset it"


# -- orders ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TargetOrder:
    """One target of a plan run.

    Attributes:
        version: dbatk's, which must be the worker's too.
        plan_text: the file as the conductor read it.
        plan_run: the plan run.
        target: name of a profile, or a URL without a secret.
        steps: names of the steps to do there.
        lock: lock of the plan on the target, which the conductor holds while it lives and wants the work done.
        store: address of the store, without a secret.
        window_begin: of the opening that is on; None where any time will do.
        window_end: when it closes.
        allowed: what the user approved.
    """

    version: str
    plan_text: str
    plan_run: str
    target: str
    steps: tuple[str, ...]
    lock: str
    store: str
    window_begin: str | None
    window_end: str | None
    allowed: dict[str, str | bool | tuple[str, ...]]

    def to_text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> TargetOrder:
        """Read what `to_text` wrote."""
        data = json.loads(text)
        allowed = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data["allowed"].items()
        }
        return cls(**{**data, "steps": tuple(data["steps"]), "allowed": allowed})

    @property
    def span(self) -> TimeSpan | None:
        if self.window_begin is None or self.window_end is None:
            return None
        return TimeSpan(datetime.fromisoformat(self.window_begin), datetime.fromisoformat(self.window_end))

    @property
    def approvals(self) -> Approvals:
        return Approvals(**self.allowed)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class OrderResult:
    """How an order ended: what stopped the work, and why nothing could be begun (message, code, hint)."""

    stopped_by: tuple[str, ...] = ()
    refused: tuple[str, str, str | None] | None = None

    def to_text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> OrderResult:
        """Read what `to_text` wrote."""
        data = json.loads(text)
        refused = data["refused"]
        return cls(tuple(data["stopped_by"]), None if refused is None else (refused[0], refused[1], refused[2]))

    @property
    def error(self) -> ToolkitError | None:
        if self.refused is None:
            return None
        message, code, hint = self.refused
        return ToolkitError(message, code=code, hint=hint)


# -- the worker -----------------------------------------------------------------------------------------------
def look(targets: Sequence[str], store: str, origin: str) -> WorkerCheck:
    """Tell what this worker is, which of the targets it does not know, and whether it reaches the plan's store.

    Args:
        targets: names of profiles, or URLs.
        store: the address of the plan's store.
        origin: what tells that store from others.
    """
    faults: list[str] = []
    try:
        profiles = load_profiles()
        for name in targets:
            if "://" not in name:
                profile_of(name, profiles)
    except ToolkitError as error:
        faults.append(error.sentence)
    try:
        with open_store(address_here(store)) as opened:
            if opened.origin != origin:
                faults.append(f"its store `{opened.place}` is not the plan's store; {_OWN_STORE}")
    except ToolkitError as error:
        faults.append(error.sentence)
    return WorkerCheck(socket.gethostname(), __version__, tuple(faults))


def address_here(store: str) -> str:
    """Return the address of the store on this host: its own `DBATK_STORE` outweighs what was sent."""
    return os.environ.get(_STORE_VARIABLE) or store


_open: dict[str, tuple[Store, ExitStack]] = {}
_users: Counter[str] = Counter()
_stores_lock = threading.Lock()


@contextmanager
def store_at(address: str) -> Iterator[Store]:
    """Open a store, or take the one that another order of this process has open; the last one closes it.

    A store that is opened anew makes the text of each statement anew, which takes as long as a small step.
    """
    with _stores_lock:
        if not _users[address]:
            stack = ExitStack()
            _open[address] = (stack.enter_context(open_store(address)), stack)
        _users[address] += 1
        store, stack = _open[address]
    try:
        yield store
    finally:
        with _stores_lock:
            _users[address] -= 1
            if not _users[address]:
                del _open[address], _users[address]
                stack.close()


def carry_out(text: str, events: Events) -> OrderResult:
    """Do the steps of an order; whatever keeps them from being done is reported, not raised.

    The cluster's library may lose an error that cannot be sent, and the conductor would wait for it for ever.

    Args:
        text: the order, as `TargetOrder.to_text` wrote it.
        events: hear first that the order was begun.
    """
    try:
        order = TargetOrder.from_text(text)
        events.emit(Event(BEGUN, order.target))
        return _carry_out(order, events)
    except ToolkitError as error:
        return OrderResult(refused=(error.message, error.code, error.hint))
    except Exception as error:  # noqa: BLE001 - what an error holds must not travel unseen
        return OrderResult(refused=(f"on a worker {unexpected(error).message}", "TK-0901", None))


def _carry_out(order: TargetOrder, events: Events) -> OrderResult:
    if order.version != __version__:
        raise ToolkitError(
            f"the worker on `{socket.gethostname()}` has dbatk {__version__}, the plan was sent by "
            f"{order.version}",
            code="TK-0210",
            hint="install the same version everywhere",
        )
    plan = read_plan(parse_document(order.plan_text, "the plan"), Path())
    with store_at(address_here(order.store)) as store:
        records = store.steps_on(order.plan_run, order.target)
        if not records:
            raise ToolkitError(
                f"the store `{store.place}` of the worker on `{socket.gethostname()}` is not the plan's store",
                code="TK-0210",
                hint=_OWN_STORE,
            )
        plan_target = plan_target_at(plan, order.target, order.steps, store, order.approvals)
        (plan_target,) = obeying_profiles([plan_target], order.approvals)
        if plan_target.refused is None:
            plan_target = approved_or_refused(plan_target, order.approvals)
        tagged = TaggedEvents(events, {"plan_run": order.plan_run})
        plan_run = PlanRun(
            plan, order.plan_run, store, order.approvals, tagged, Stop(), order.span, _clock_of(store)
        )
        with admitted(order.approvals, plan_target), _watching(store, order, plan_run.stop):
            target_run = TargetRun(plan_run, plan_target, records)
            while not target_run.run():
                plan_run.stop.wait(_BUSY_SECONDS)
        refused = plan_run.refused[0] if plan_run.refused else None
        failure = None if refused is None else (refused.message, refused.code, refused.hint)
        return OrderResult(tuple(plan_run.stopped_by), failure)


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
        thread.join(HEARTBEAT_SECONDS)


def _unwanted(store: Store, order: TargetOrder) -> ToolkitError | None:
    holder = store.holder_of(order.lock)
    if holder is None or holder.lease.run != order.plan_run:
        return ToolkitError("the plan was stopped", code="TK-0130")
    if not holder.alive:
        gone = f"process {holder.lease.pid} on `{holder.lease.host}`, which ran the plan, is gone"
        return ToolkitError(gone, code="TK-0130", hint="the next run goes on")
    return None
