"""The items of a trial that are not yet begun, handed out to its workers."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from toolkit.model.steps import TimedItem
from toolkit.runner.stop import Stop

_TICK_SECONDS = 0.2


class ItemQueue:
    """Items not yet begun; a worker takes the biggest one left that is due and whose `apart` nobody works on.

    An item waits until those that it needs have ended well; what an earlier attempt did is no longer among the
    items and is not waited for. `wait` returns when another item may be begun, or none is any more. One worker
    at a time looks for an item and waits for it: of a thousand that would take a job that is not due, one looks.
    """

    def __init__(self, items: Sequence[TimedItem], stop: Stop, wait: Callable[[], None] = lambda: None) -> None:
        self._items = deque(items)
        self._none_needs_another = not any(item.needs for item in items)
        self._busy: set[str] = set()
        self._open = {item.label for item in items}
        self._failed: set[str] = set()
        self._origin = time.perf_counter()
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._stop, self._wait, self._closed = stop, wait, False

    def begin(self) -> None:
        """Say that the clock begins: from now on items become due."""
        self._origin = time.perf_counter()

    def take(self) -> TimedItem | None:
        """Return the next item, waiting for one that may be begun; None when there is nothing more to do."""
        if self._items:
            self._wait()
        with self._turn, self._lock:
            while self._items and not (self._closed or self._stop.requested):
                passed, due = time.perf_counter() - self._origin, list[float]()
                for item in self._possible():
                    if self._is_free(item) and item.due_seconds <= passed:
                        self._items.remove(item)
                        self._busy |= {item.apart} if item.apart is not None else set()
                        return item
                    due.append(item.due_seconds - passed)
                if not due:
                    break
                self._changed.wait(min(_TICK_SECONDS, *due) if min(due) > 0 else _TICK_SECONDS)
        return None

    def _is_free(self, item: TimedItem) -> bool:
        return item.apart not in self._busy and self._open.isdisjoint(item.needs)

    def _possible(self) -> Iterable[TimedItem]:
        """Return the items that fit and need nothing, directly or through others, that failed or does not fit."""
        if self._none_needs_another:  # of hundreds the first one usually will do: the others are not asked for
            return (item for item in self._items if self._stop.fits(item.label))
        lost = self._failed | {each.label for each in self._items if not self._stop.fits(each.label)}
        while more := {each.label for each in self._items if not lost.isdisjoint(each.needs)} - lost:
            lost |= more
        return [each for each in self._items if each.label not in lost]

    def put_back(self, item: TimedItem) -> bool:
        """Let an item come back after all others; False when nothing more is begun."""
        with self._lock:
            if self._closed or self._stop.requested:
                return False
            self._items.append(item)
            self._busy.discard(item.apart or "")
            self._changed.notify_all()
        return True

    def done(self, item: TimedItem, *, well: bool = True) -> None:
        """Say that an item ended, so that another of its `apart`, and those that needed it, may be begun."""
        with self._lock:
            self._busy.discard(item.apart or "")
            self._open.discard(item.label)
            if not well:
                self._failed.add(item.label)
            self._changed.notify_all()

    def close(self) -> None:
        self._closed = True

    def left(self) -> tuple[TimedItem, ...]:
        return tuple(self._items)
