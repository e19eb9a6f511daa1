"""Holds the lease of a target while a run works on it.

A lease can be lost: this host slept, its clock jumped, and another process found no heartbeat. Then the run stops;
when it is this very run that another process goes on with, its journal and its objects are left to that one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from toolkit.errors import ToolkitError
from toolkit.model.records import Holder, Lease
from toolkit.runner.stop import Stop
from toolkit.store import Store

_BEAT_SECONDS = 5.0
_LOOK_SECONDS = 1.0


@contextmanager
def holding_lease(
    store: Store, target: str, run: str, stop: Stop, *, patient: Stop | None = None
) -> Iterator[None]:
    """Hold the lease of a target, with a heartbeat every 5 s, until the block ends.

    A lease that is no longer ours stops the run; `stop.look` asks for it at once.

    Args:
        store: where it is kept.
        target: what it is of.
        run: who works.
        stop: asked to end when the lease is lost.
        patient: wait for one whose holder is out of sight and silent, until it is heard of or its lease ends, and
            for one that another process holds for this very run; a stop given here ends the wait.

    Raises:
        ToolkitError: TK-0302 when a live run holds it; the message says who and since when.
    """
    lease = store.acquire_lease(target, run) if patient is None else _patiently(store, target, run, patient)
    ended = threading.Event()

    def beat() -> None:
        # A store that is locked or full for a moment costs a beat, not the run.
        with suppress(ToolkitError):
            if not ended.is_set() and not store.heartbeat(lease):
                _lost(store, lease, stop)

    def beats() -> None:
        while not ended.wait(_BEAT_SECONDS) and not stop.because:
            beat()

    thread = threading.Thread(target=beats, daemon=True, name="heartbeat")
    thread.start()
    stop.look_with(beat)
    try:
        yield
    finally:
        ended.set()
        thread.join()
        # A store that cannot be written keeps the lease; it dies with this process.
        with suppress(ToolkitError):
            store.release(lease)


def _patiently(store: Store, target: str, run: str, stop: Stop) -> Lease:
    first: Holder | None = None
    while True:
        try:
            return store.acquire_lease(target, run)
        except ToolkitError as error:
            if error.code != "TK-0302":
                raise
            holder = store.holder_of(target)
            first = first or holder
            if holder is not None and holder.lease.run != run and known_alive(holder, first):
                raise
        if stop.wait(_LOOK_SECONDS):
            raise stop.because or ToolkitError("interrupted", code="TK-0130")


def known_alive(holder: Holder, first: Holder | None) -> bool:
    """Tell whether a holder was seen, or heard of since we first looked."""
    return holder.in_sight or first is None or holder.lease.heartbeat_at != first.lease.heartbeat_at


def _lost(store: Store, lease: Lease, stop: Stop) -> None:
    """Stop the run, and say who has the lease now."""
    now = store.lease_of(lease.target)
    who = "" if now is None else f": process {now.pid} on `{now.host}` has it, for run `{now.run}`"
    disowned = now is not None and now.run == lease.run
    if disowned:
        hint = f"`dbatk runs show {lease.run} --follow` shows what it does; this process leaves the run to it"
    else:
        hint = (
            f"what ran was cancelled and undone; `dbatk runs resume {lease.run}` goes on when the target is free"
        )
    because = ToolkitError(f"the lease of `{lease.target}` was lost{who}", code="TK-0302", hint=hint)
    stop.request(because, disowned=disowned)
