"""The steps at work on a target, each in a thread of its own: every one of them ends, whatever hangs."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from time import monotonic

from toolkit.errors import ToolkitError
from toolkit.model.plan import StepRecord, StepState
from toolkit.runner import Stop
from toolkit.runner.stop import TAKEN_OVER
from toolkit.units import seconds

_TICK_SECONDS = 0.5
SILENT_SECONDS = 60.0
"""How long a step that was told to stop is waited for before its database is asked whether it still answers."""


@dataclass(slots=True)
class _Work:
    """A step at work; `told_at` is when it was seen to have been told to stop, and asked about last."""

    begun: StepRecord
    stop: Stop
    thread: threading.Thread
    began: float = field(default_factory=monotonic)
    told_at: float | None = None


class Working:
    """The steps at work; iterating yields their names.

    Args:
        reachable: tells whether the database answers. A step that was told to stop is waited for as long as it
            does, for a rollback may take long; then it is given up, and its thread changes nothing any more.
    """

    def __init__(self, reachable: Callable[[], bool]) -> None:
        self._reachable = reachable
        self._at_work: dict[str, _Work] = {}
        self._ended: queue.SimpleQueue[StepRecord] = queue.SimpleQueue()

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._at_work))

    def __bool__(self) -> bool:
        return bool(self._at_work)

    def begin(self, begun: StepRecord, work: Callable[[Stop], StepRecord], stop: Stop) -> None:
        """Begin a step; what `work` returns is taken by `ended`, as is the failure to begin a thread."""
        thread = threading.Thread(
            target=self._do, args=(begun, work, stop), daemon=True, name=f"step {begun.step} on {begun.target}"
        )
        self._at_work[begun.step] = _Work(begun, stop, thread)
        try:
            thread.start()
        except RuntimeError:
            self._ended.put(_failed(begun, "this host starts no more threads: nothing was done"))

    def _do(self, begun: StepRecord, work: Callable[[Stop], StepRecord], stop: Stop) -> None:
        # By a clock that only goes forward: what a step took must not tell of a wall clock that was set.
        took = monotonic()
        done = work(stop)
        if begun.began_at is not None:
            done = replace(done, ended_at=begun.began_at + timedelta(seconds=monotonic() - took))
        self._ended.put(done)

    def stop(self, because: ToolkitError, step: str | None = None) -> None:
        """Ask one step to end, or all of them, unless they were asked before; safe from any thread.

        Once the target's lease is another's, that one may be at work on these very runs: nothing is undone then.
        """
        for name, each in tuple(self._at_work.items()):
            if step in (None, name) and not each.stop.requested:
                each.stop.request(because, disowned=because.code == TAKEN_OVER)

    @contextmanager
    def stopped_in_time(self, over: Callable[[], tuple[str, ToolkitError | None] | None]) -> Iterator[None]:
        """Stop what runs as soon as it is over, also while who takes what ended waits for the store.

        Args:
            over: returns that it is, in words, and why what runs must end.
        """
        done = threading.Event()

        def watch() -> None:
            while not done.wait(_TICK_SECONDS):
                found = over()
                if found is not None and found[1] is not None:
                    self.stop(found[1])

        threading.Thread(target=watch, daemon=True, name="watch of the window").start()
        try:
            yield
        finally:
            done.set()

    def ended(self, wait_seconds: float) -> StepRecord | None:
        """Return the record of a step that ended, waiting for one for a moment; None when there is none yet."""
        record = self._next(wait_seconds) or self._lost()
        if record is None or self._at_work.pop(record.step, None) is None:
            return None
        return record

    def _next(self, wait_seconds: float) -> StepRecord | None:
        try:
            return self._ended.get(timeout=wait_seconds)
        except queue.Empty:
            return None

    def _lost(self) -> StepRecord | None:
        """Return the record of a step that will never give one: its thread died, or its database is silent."""
        for each in tuple(self._at_work.values()):
            if not each.thread.is_alive():
                return self._next(0) or _failed(each.begun, "its thread ended without a result", each.began)
            if each.stop.requested:
                now = monotonic()
                each.told_at = each.told_at or now
                if now - each.told_at >= SILENT_SECONDS and not self._reachable():
                    return self._given_up(each)
                each.told_at = now if now - each.told_at >= SILENT_SECONDS else each.told_at
        return None

    def _given_up(self, work: _Work) -> StepRecord:
        why = "" if work.stop.because is None else f"{work.stop.because.sentence}; "
        reason = (
            f"{why}it did not end within {seconds(SILENT_SECONDS)} after it was asked to, and the database does "
            "not respond: what it began there may still be active"
        )
        work.stop.request(ToolkitError(reason, code="TK-0202"), disowned=True)
        return replace(_failed(work.begun, reason, work.began), state=StepState.STOPPED)


def _failed(begun: StepRecord, reason: str, since: float | None = None) -> StepRecord:
    took = timedelta(seconds=0 if since is None else monotonic() - since)
    ended = None if begun.began_at is None else begun.began_at + took
    return replace(begun, state=StepState.FAILED, reason=reason, ended_at=ended)
