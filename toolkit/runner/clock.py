"""The clock: a queue of items, worked off by sessions that begin together.

Only what happens here is timed. The main thread waits meanwhile: it hands finished items on, watches the time
limit, and cancels when somebody asks to stop; so workers do nothing but run statements.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import Timed, TimedItem
from toolkit.runner.stop import Stop

_TICK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item as it went: `begin_seconds` counts from the common begin."""

    item: TimedItem
    worker: int
    begin_seconds: float
    elapsed_seconds: float
    rows: int | None = None
    notices: tuple[str, ...] = ()
    error: DatabaseError | None = None


@dataclass(frozen=True, slots=True)
class TimedResult:
    """What the clock saw."""

    elapsed_seconds: float
    items: tuple[ItemResult, ...]
    not_begun: tuple[TimedItem, ...] = ()
    timed_out: bool = False

    @property
    def error(self) -> DatabaseError | None:
        """The first error in time, a lost connection before others."""
        errors = [each.error for each in self.items if each.error is not None]
        return next((error for error in errors if error.lost), errors[0] if errors else None)


class _Queue:
    """Items not yet begun; a worker takes the biggest one left."""

    def __init__(self, items: Sequence[TimedItem], stop: Stop) -> None:
        self._items = deque(items)
        self._stop = stop
        self._closed = False

    def take(self) -> TimedItem | None:
        if self._closed or self._stop.requested:
            return None
        try:
            return self._items.popleft()
        except IndexError:
            return None

    def close(self) -> None:
        self._closed = True

    def left(self) -> tuple[TimedItem, ...]:
        return tuple(self._items)


def run_timed(
    timed: Timed,
    sessions: Sessions,
    stop: Stop,
    *,
    limit_seconds: float | None = None,
    on_item: Callable[[ItemResult], None] = lambda _: None,
    on_end: Callable[[], None] = lambda: None,
) -> TimedResult:
    """Work the queue off with `timed.workers` sessions begun together.

    Args:
        timed: the items and how many sessions work.
        sessions: the run's sessions; those of the workers are open already.
        stop: when it is requested, running statements are cancelled and no item is begun.
        limit_seconds: cancel everything after so long.
        on_item: called in this thread for each item that ended. When it raises, what runs now ends, nothing more
            is begun, and its exception is raised at the end.
        on_end: called in this thread when the last item has ended, while the workers' threads still exist (an
            embedded engine works in them, and their CPU time goes with them).

    Returns:
        Elapsed seconds from the common begin to the last end, and each item's own.
    """
    waiting = _Queue(timed.ordered(), stop)
    ended: queue.SimpleQueue[ItemResult | None] = queue.SimpleQueue()
    origin: list[float] = []
    barrier = threading.Barrier(timed.workers, action=lambda: origin.append(time.perf_counter()))
    released = threading.Event()
    faults: list[Exception] = []

    def work(number: int) -> None:
        try:
            _work(number, waiting, sessions, barrier, origin, ended)
        except Exception as fault:  # noqa: BLE001 (a fault of ours: raised again in the main thread)
            faults.append(fault)
            waiting.close()
        finally:
            ended.put(None)
        released.wait()

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(timed.workers)]
    for thread in threads:
        thread.start()
    timed_out = False

    def look() -> None:
        nonlocal timed_out
        late = limit_seconds is not None and bool(origin) and time.perf_counter() - origin[0] > limit_seconds
        if late or stop.requested:
            timed_out = timed_out or (late and not stop.requested)
            waiting.close()
            sessions.cancel()

    def tell(result: ItemResult) -> None:
        try:
            on_item(result)
        except Exception as fault:  # noqa: BLE001 (what runs now ends in order, nothing more is begun)
            faults.append(fault)
            waiting.close()

    results = _gather(ended, timed.workers, tell, look)
    _let_go(released, threads, on_end)
    if faults:
        raise faults[0]
    elapsed = max((each.begin_seconds + each.elapsed_seconds for each in results), default=0.0)
    return TimedResult(elapsed, tuple(results), waiting.left(), timed_out)


def _let_go(released: threading.Event, threads: Sequence[threading.Thread], on_end: Callable[[], None]) -> None:
    """Call `on_end` while the workers' threads still exist, then let them end."""
    try:
        on_end()
    finally:
        released.set()
        for thread in threads:
            thread.join()


def _gather(
    ended: queue.SimpleQueue[ItemResult | None],
    workers: int,
    on_item: Callable[[ItemResult], None],
    look: Callable[[], None],
) -> list[ItemResult]:
    """Collect results until every worker said None; `look` is called at least once a tick, and for each result."""
    results: list[ItemResult] = []
    while workers:
        try:
            result = ended.get(timeout=_TICK_SECONDS)
        except queue.Empty:
            look()
            continue
        if result is None:
            workers -= 1
            continue
        results.append(result)
        on_item(result)
        look()
    return results


def _work(
    number: int,
    waiting: _Queue,
    sessions: Sessions,
    barrier: threading.Barrier,
    origin: list[float],
    ended: queue.SimpleQueue[ItemResult | None],
) -> None:
    """Take items until none is left; a lost session ends this worker, the others go on."""
    barrier.wait()
    while (item := waiting.take()) is not None:
        result = _run_item(item, number, sessions, origin[0])
        ended.put(result)
        if result.error is not None and result.error.lost:
            return


def _run_item(item: TimedItem, number: int, sessions: Sessions, origin: float) -> ItemResult:
    answers: list[Answer] = []
    error: DatabaseError | None = None
    begun = time.perf_counter()
    try:
        for step in item.steps:
            answers.append(sessions.run(step, number))  # noqa: PERF401 (what was answered before an error counts)
    except DatabaseError as caught:
        error = caught
    except ToolkitError as caught:
        error = DatabaseError(caught.message, code=caught.code, lost=caught.code in {"TK-0201", "TK-0202"})
    elapsed = time.perf_counter() - begun
    counts = [answer.rowcount for answer in answers if answer.rowcount is not None]
    notices = tuple(notice for answer in answers for notice in answer.notices)
    return ItemResult(item, number, begun - origin, elapsed, counts[0] if counts else None, notices, error)
