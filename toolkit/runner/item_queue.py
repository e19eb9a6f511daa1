"""The items of a trial that are not yet begun, handed out to its workers."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

from toolkit.model.steps import TimedItem
from toolkit.runner.stop import Stop

_TICK_SECONDS = 0.2


class ItemQueue:
    """Items not yet begun; a worker takes the biggest one left whose `apart` nobody works on.

    `wait` returns when another item may be begun, or none is any more.
    """

    def __init__(self, items: Sequence[TimedItem], stop: Stop, wait: Callable[[], None] = lambda: None) -> None:
        self._items = deque(items)
        self._busy: set[str] = set()
        self._changed = threading.Condition()
        self._stop, self._wait, self._closed = stop, wait, False

    def take(self) -> TimedItem | None:
        """Return the next item, waiting for one that may be begun; None when there is nothing more to do."""
        if self._items:
            self._wait()
        with self._changed:
            while self._items and not (self._closed or self._stop.requested):
                free = (each for each in self._items if each.apart not in self._busy)
                item = next((each for each in free if self._stop.fits(each.label)), None)
                if item is None and not any(self._stop.fits(each.label) for each in self._items):
                    break
                if item is not None:
                    self._items.remove(item)
                    self._busy |= {item.apart} if item.apart is not None else set()
                    return item
                self._changed.wait(_TICK_SECONDS)
        return None

    def put_back(self, item: TimedItem) -> bool:
        """Let an item come back after all others; False when nothing more is begun."""
        with self._changed:
            if self._closed or self._stop.requested:
                return False
            self._items.append(item)
            self._busy.discard(item.apart or "")
            self._changed.notify_all()
        return True

    def done(self, item: TimedItem) -> None:
        """Say that an item ended, so that another of its `apart` may be begun."""
        with self._changed:
            self._busy.discard(item.apart or "")
            self._changed.notify_all()

    def close(self) -> None:
        self._closed = True

    def left(self) -> tuple[TimedItem, ...]:
        return tuple(self._items)
