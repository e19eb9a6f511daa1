"""Holds the lease of a target while a run works on it.

A lease can be lost: this host slept, its clock jumped, and another process found no heartbeat. Then the run stops;
when it is this very run that another process goes on with, its journal and its objects are left to that one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from toolkit.errors import ToolkitError
from toolkit.model.records import Lease
from toolkit.runner.stop import Stop
from toolkit.store import Store

_BEAT_SECONDS = 5.0


@contextmanager
def holding_lease(store: Store, target: str, run: str, stop: Stop) -> Iterator[None]:
    """Hold the lease of a target, with a heartbeat every 5 s, until the block ends.

    A lease that is no longer ours stops the run; `stop.look` asks for it at once.

    Raises:
        ToolkitError: TK-0302 when a live run holds it; the message says who and since when.
    """
    lease = store.acquire_lease(target, run)
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
