"""Holds the locks of a plan on all its targets while a night lasts, with one heartbeat for all of them.

A plan takes them before it begins anything anywhere: a second start must not work on what the first one has not
come to yet. Each is given back when the target is done.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from toolkit.errors import ToolkitError
from toolkit.model.records import Holder
from toolkit.runner.lease import known_alive
from toolkit.runner.stop import Stop
from toolkit.store import HEARTBEAT_SECONDS, Store

_LOOK_SECONDS = 1.0


class Locks:
    """The locks that one night holds."""

    def __init__(self, store: Store, run: str) -> None:
        self._store, self._run = store, run
        self._held: set[str] = set()
        self._watchers: dict[str, Stop] = {}
        self._turn = threading.Lock()
        self.refused: dict[str, ToolkitError] = {}
        """Why some could not be had, by name."""

    def take(self, names: Sequence[str], stop: Stop) -> None:
        """Take all that can be had; wait for those of silent holders out of sight, until they are heard of."""
        first = {name: self._store.holder_of(name) for name in self._acquire(names)}
        while waiting := [name for name in first if name in self.refused and not self._is_alive(name, first)]:
            if stop.wait(_LOOK_SECONDS):
                return
            self._acquire(waiting)

    def _acquire(self, names: Sequence[str]) -> list[str]:
        held = self._store.acquire_leases(names, self._run)
        with self._turn:
            self._held.update(set(names) - set(held))
        self.refused = {name: error for name, error in (self.refused | held).items() if name not in self._held}
        return list(held)

    def _is_alive(self, name: str, first: dict[str, Holder | None]) -> bool:
        holder = self._store.holder_of(name)
        return holder is not None and known_alive(holder, first[name])

    def watch(self, name: str, stop: Stop) -> None:
        """Stop what works under a lock when it is lost."""
        with self._turn:
            self._watchers[name] = stop

    def release(self, name: str) -> None:
        """Give a lock back: its target is done."""
        with self._turn:
            ours = name in self._held
            self._held.discard(name)
            self._watchers.pop(name, None)
        # A store that cannot be written keeps the lease; it dies with this process.
        with suppress(ToolkitError):
            lease = self._store.lease_of(name) if ours else None
            if lease is not None and lease.run == self._run:
                self._store.release(lease)

    def release_all(self) -> None:
        """Give back what is still held."""
        for name in sorted(self._held):
            self.release(name)

    def beat(self) -> None:
        """Say that we are at work, and stop what works under a lock that is no longer ours."""
        # A store that is locked or full for a moment costs a beat, not the night.
        with suppress(ToolkitError):
            still = self._store.heartbeat_all(self._run)
            with self._turn:
                lost = self._held - still
                self._held -= lost
                stops = {name: self._watchers.pop(name, None) for name in lost}
            for name, stop in stops.items():
                if stop is not None:
                    stop.request(ToolkitError(f"the lease of `{name}` was lost", code="TK-0302"))


@contextmanager
def holding_locks(store: Store, names: Sequence[str], run: str, stop: Stop) -> Iterator[Locks]:
    """Hold those of the locks that can be had, with a heartbeat every 5 s, until the block ends."""
    locks, ended = Locks(store, run), threading.Event()

    def beats() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            locks.beat()

    thread = threading.Thread(target=beats, daemon=True, name="heartbeat of the plan")
    try:
        locks.take(names, stop)
        thread.start()
        yield locks
    finally:
        ended.set()
        if thread.is_alive():
            thread.join()
        locks.release_all()
