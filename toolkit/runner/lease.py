"""Hold the leases of targets, with a heartbeat while work goes on: of one for a run, of all for a plan.

A lease that is lost stops the work under it. A plan takes its leases before it begins anything anywhere, so that a
second one does not work on targets that the first has not come to yet; each is released when its target is done.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from toolkit.errors import ToolkitError, no_more_threads
from toolkit.model.records import Holder, Lease
from toolkit.runner.stop import Stop
from toolkit.store import HEARTBEAT_SECONDS, Store

_BEAT_SECONDS = 5.0
_LOOK_SECONDS = 1.0
_JOIN_SECONDS = 20.0
_OVERDUE_SECONDS = 2.5 * _BEAT_SECONDS
"""Since the last heartbeat: a process that was frozen, or its host, looks before it changes anything; less than
the store takes to give a lease to another (`LEASE_SECONDS`)."""


class Waiting(Protocol):
    """What ends a wait: a stop, or the close of a plan's window."""

    @property
    def because(self) -> ToolkitError | None:
        """Why the wait ended."""
        ...

    def wait(self, seconds: float) -> bool:
        """Wait so long, and return whether to give up."""
        ...


def _clocks() -> tuple[float, float]:
    """Return two clocks in seconds: one goes on while the host sleeps, the other is set after a pause."""
    asleep = getattr(time, "CLOCK_BOOTTIME", None)  # Linux
    return (time.monotonic() if asleep is None else time.clock_gettime(asleep)), time.time()


@contextmanager
def holding_lease(
    store: Store, target: str, run: str, stop: Stop, *, waiting: Waiting | None = None
) -> Iterator[None]:
    """Hold the lease of a target, with a heartbeat every 5 s, until the block ends.

    A lease that another process has taken stops the run; `stop.look` asks for it at once.

    Args:
        store: where it is kept.
        target: what it is of.
        run: who works.
        stop: asked to end when the lease is lost.
        waiting: wait for a lease whose holder runs on another host and sends no heartbeat, until it does or its
            lease ends, and for one that another process holds for this very run; what ends the wait.

    Raises:
        ToolkitError: TK-0302 when a live run holds it; the message says who and since when; why the wait ended.
    """
    lease = store.acquire_lease(target, run) if waiting is None else _acquired(store, target, run, waiting)
    ended, seen = threading.Event(), _clocks()

    def beat() -> None:
        nonlocal seen
        now = _clocks()
        # A store that is locked or full for a moment costs a heartbeat, not the run.
        with suppress(ToolkitError):
            if not ended.is_set() and not store.heartbeat(lease):
                _lost(store, lease, stop)
            seen = now

    def overdue() -> bool:
        return any(now - then > _OVERDUE_SECONDS for now, then in zip(_clocks(), seen, strict=True))

    def beats() -> None:
        while not ended.wait(_BEAT_SECONDS) and not stop.because:
            beat()

    thread = threading.Thread(target=beats, daemon=True, name="heartbeat")
    try:
        _start(thread)
        stop.look_with(beat, overdue)
        yield
    finally:
        ended.set()
        _join(thread)
        # A store that cannot be written keeps the lease; it dies with this process.
        with suppress(ToolkitError):
            store.release(lease)


def _start(thread: threading.Thread) -> None:
    """Start a heartbeat.

    Raises:
        ToolkitError: TK-0203 where the host starts no more threads.
    """
    try:
        thread.start()
    except RuntimeError:
        raise no_more_threads() from None


def _join(thread: threading.Thread) -> None:
    """Wait for a heartbeat to end, but not for one that a dead store keeps."""
    if thread.is_alive():
        thread.join(_JOIN_SECONDS)


def _acquired(store: Store, target: str, run: str, waiting: Waiting) -> Lease:
    first: Holder | None = None
    while True:
        try:
            return store.acquire_lease(target, run)
        except ToolkitError as error:
            if error.code != "TK-0302":
                raise
            held, holder = error, store.holder_of(target)
            first = first or holder
            if holder is not None and holder.lease.run != run and known_alive(holder, first):
                raise
        if waiting.wait(_LOOK_SECONDS):
            because = waiting.because or ToolkitError("interrupted", code="TK-0130")
            raise ToolkitError(f"{because.sentence}; {held.sentence}", code=because.code, hint=held.hint)


def known_alive(holder: Holder, first: Holder | None) -> bool:
    """Tell whether a holder can be seen, or has sent a heartbeat since the first look."""
    return holder.in_sight or first is None or holder.lease.heartbeat_at != first.lease.heartbeat_at


def _lost(store: Store, lease: Lease, stop: Stop) -> None:
    """Stop the run, and say who has the lease now."""
    now = store.lease_of(lease.target)
    who = "" if now is None else f": process {now.pid} on `{now.host}` holds it, for run `{now.run}`"
    disowned = now is not None and now.run == lease.run
    if disowned:
        hint = f"`dbatk runs show {lease.run} --follow` shows its progress; this process leaves the run to it"
    else:
        hint = (
            f"the current work was cancelled and undone; `{store.resume_command(lease.run)}` continues when the "
            "target is free"
        )
    because = ToolkitError(f"the lease of `{lease.target}` was lost{who}", code="TK-0302", hint=hint)
    stop.request(because, disowned=disowned)


# -- all targets of a plan ----------------------------------------------------------------------------------------
class Locks:
    """The locks that one plan run holds."""

    def __init__(self, store: Store, run: str) -> None:
        self._store, self._run = store, run
        self._held: set[str] = set()
        self._watchers: dict[str, Stop] = {}
        self._turn = threading.Lock()
        self.refused: dict[str, ToolkitError] = {}
        """Why some could not be had, by name."""

    def take(self, names: Sequence[str], wait: Waiting) -> None:
        """Take all that can be had; wait for those whose holder cannot be seen and sends no heartbeat."""
        first = {name: self._store.holder_of(name) for name in self._acquire(names)}
        while waiting := [name for name in first if name in self.refused and not self._is_alive(name, first)]:
            if wait.wait(_LOOK_SECONDS):
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
            held = name in self._held
            self._held.discard(name)
            self._watchers.pop(name, None)
        # A store that cannot be written keeps the lease; it dies with this process.
        with suppress(ToolkitError):
            lease = self._store.lease_of(name) if held else None
            if lease is not None and lease.run == self._run:
                self._store.release(lease)

    def release_all(self) -> None:
        """Give back what is still held."""
        for name in sorted(self._held):
            self.release(name)

    def beat(self) -> None:
        """Send a heartbeat, and stop what works under a lock that another process has taken."""
        # A store that is locked or full for a moment costs a heartbeat, not the plan run.
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
def holding_locks(store: Store, names: Sequence[str], run: str, waiting: Waiting) -> Iterator[Locks]:
    """Hold those of the locks that can be had, with a heartbeat every 5 s, until the block ends."""
    locks, ended = Locks(store, run), threading.Event()

    def beats() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            locks.beat()

    thread = threading.Thread(target=beats, daemon=True, name="heartbeat of the plan")
    try:
        locks.take(names, waiting)
        _start(thread)
        yield locks
    finally:
        ended.set()
        _join(thread)
        locks.release_all()
