"""Holds the lease of a target while a run works on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from toolkit.errors import ToolkitError
from toolkit.store import Store

_BEAT_SECONDS = 5.0


@contextmanager
def holding_lease(store: Store, target: str, run: str) -> Iterator[None]:
    """Hold the lease of a target, with a heartbeat every 5 s, until the block ends.

    Raises:
        ToolkitError: TK-0302 when a live run holds it; the message says who and since when.
    """
    lease = store.acquire_lease(target, run)
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(_BEAT_SECONDS):
            # A store that is locked or full for a moment costs a beat, not the run.
            with suppress(ToolkitError):
                store.heartbeat(lease)

    thread = threading.Thread(target=beat, daemon=True, name="heartbeat")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        # A store that cannot be written keeps the lease; it dies with this process.
        with suppress(ToolkitError):
            store.release(lease)
