"""The clock: a queue of items, worked off by sessions that begin together.

Only what happens here is timed. The main thread waits meanwhile: it hands finished items on, watches the time
limit, and cancels when somebody asks to stop; so workers do nothing but run statements.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from toolkit.errors import UNREACHED, ToolkitError, no_more_threads
from toolkit.executors import SILENT, Sessions
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Step, Timed, TimedItem
from toolkit.model.words import Effect, Role, StepKind
from toolkit.runner.item_queue import ItemQueue
from toolkit.runner.item_result import BeforeCommit, ItemResult, LookAgain, LookAt, TimedResult, run_item
from toolkit.runner.monitor import TIMEOUT_SECONDS
from toolkit.runner.stop import Silence, Stop

_TICK_SECONDS = 0.2
_TOGETHER_SECONDS = 0.25
"""Items that end so soon after one another are looked at and stored together: a process that is killed meanwhile
leaves them to be found in the database."""


def run_timed(
    timed: Timed,
    sessions: Sessions,
    stop: Stop,
    *,
    limit_seconds: float | None = None,
    look_again: LookAgain = None,
    before_commit: BeforeCommit = lambda *_: None,
    before_item: Callable[[], None] = lambda: None,
    look_at: LookAt = list,
    on_items: Callable[[Sequence[ItemResult]], None] = lambda _: None,
    on_end: Callable[[], None] = lambda: None,
    may_end: Callable[[], bool] = lambda: True,
    overdue: Callable[[Mapping[int, TimedItem]], Mapping[int, DatabaseError]] = lambda _: {},
    comes_back: Callable[[DatabaseError, int], bool] = lambda *_: False,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> TimedResult:
    """Work the queue off with `timed.workers` sessions begun together.

    Args:
        timed: the items and how many sessions work.
        sessions: the run's sessions; those of the workers are open already.
        stop: when it is requested, running statements are cancelled and no item is begun.
        limit_seconds: cancel everything after so long.
        look_again: called in a worker's thread, with its number, before it begins an item that waited for
            another; the item fails with what it raises.
        before_commit: called in a worker's thread, with rows and number, before the COMMIT that ends an item; what
            it raises fails the item, which is not committed.
        before_item: called in a worker's thread before it takes an item; it waits until another may be begun.
        look_at: called in this thread with items that ended, one or all that ended meanwhile; returns them, as
            failed where their work is not done.
        on_items: called in this thread with the items that were looked at. When it raises, what runs now ends,
            nothing more is begun, and its exception is raised at the end.
        on_end: called in this thread when the last item has ended, while the workers' threads still exist (an
            embedded engine works in them, and their CPU time goes with them).
        may_end: tells whether what was cancelled may still end. It is asked when nothing came of a cancel for a
            while: a rollback that takes long is waited for, a network that is gone is not.
        overdue: called in this thread now and then with what each worker does; returns, by worker, the error with
            which its statement is to be ended.
        comes_back: tells by its error and how often it was tried whether an item is tried again after the others.
        timeout_seconds: how long that while is.

    Returns:
        Elapsed seconds from the common begin (of programs: that of the first) to the last end, and each item's.
    """
    silence = Silence(may_end, timeout_seconds)
    return _Clock(
        timed, sessions, stop, limit_seconds, look_again, before_commit, before_item, look_at, on_items, silence,
        overdue, comes_back,
    ).run(on_end)  # fmt: skip


class _Clock:
    """One use of the clock: workers that take items, and the main thread that waits for them."""

    def __init__(
        self,
        timed: Timed,
        sessions: Sessions,
        stop: Stop,
        limit_seconds: float | None,
        look_again: LookAgain,
        before_commit: BeforeCommit,
        before_item: Callable[[], None],
        look_at: LookAt,
        on_items: Callable[[Sequence[ItemResult]], None],
        silence: Silence,
        overdue: Callable[[Mapping[int, TimedItem]], Mapping[int, DatabaseError]],
        comes_back: Callable[[DatabaseError, int], bool],
    ) -> None:
        self._sessions = sessions
        self._stop = stop
        self._limit = limit_seconds
        self._look_again = look_again
        self._before_commit = before_commit
        self._look_at = look_at
        self._on_items = on_items
        self._silence = silence
        self._overdue = overdue
        self._comes_back = comes_back
        self._tried: dict[str, int] = {}
        self._end_with: dict[str, DatabaseError] = {}
        self._now: dict[int, tuple[TimedItem, float]] = {}
        self._workers = timed.workers
        self._together = all(_is_of_session(step) for item in timed.items for step in item.steps)
        self._ends_with_error = timed.ends_with_error
        self._waiting = ItemQueue(timed.ordered(), stop, before_item)
        self._flush = timed.flush
        self._held: dict[int, list[ItemResult]] = {number: [] for number in range(timed.workers)}
        """By worker, items that ended well and whose commits may not be on disk."""
        self._ended: queue.SimpleQueue[ItemResult | None] = queue.SimpleQueue()
        self._origin: list[float] = []
        self._barrier = threading.Barrier(timed.workers, action=self._begin)
        self._released, self._resting = threading.Event(), threading.Event()
        self._faults: list[Exception] = []
        self._timed_out = False

    def run(self, on_end: Callable[[], None]) -> TimedResult:
        threads = self._begun()
        try:
            results = self._gather(threads)
            on_end()
        finally:
            self._waiting.close()
            self._released.set()
            for number, thread in enumerate(threads):
                thread.join(0 if number in self._now else TIMEOUT_SECONDS)
        if self._faults:
            raise self._faults[0]
        # what is done here before the first program begins is no time of theirs
        first = min((each.begin_seconds if each.closely else 0.0 for each in results), default=0.0)
        elapsed = max((each.begin_seconds + each.elapsed_seconds for each in results), default=first) - first
        return TimedResult(elapsed, tuple(results), self._waiting.left(), self._timed_out)

    def _begin(self) -> None:
        self._origin.append(self._sessions.begin_together())
        self._waiting.begin()

    def _begun(self) -> list[threading.Thread]:
        """Begin the workers; where the host starts no more threads, those that began do nothing, for all work."""
        threads: list[threading.Thread] = []
        for number in range(self._workers):
            thread = threading.Thread(target=self._work, args=(number,), daemon=True)
            try:
                thread.start()
            except RuntimeError:
                self._faults.append(no_more_threads())
                self._waiting.close()
                self._barrier.abort()
                break
            threads.append(thread)
        return threads

    def _gather(self, threads: Sequence[threading.Thread]) -> list[ItemResult]:
        """Collect results until every worker has sent None; check limit and stop at least once a tick."""
        results, working = list[ItemResult](), len(threads)
        while working:
            try:
                result = self._ended.get(timeout=_TICK_SECONDS)
            except queue.Empty:
                self._look()
                self._sessions.timeouts.tell_late(
                    self._silence.since, ", ".join(f"`{item.label}`" for item, _ in [*self._now.values()])
                )
                if self._silence.is_final() and self._ended.empty():  # what ended meanwhile counts
                    given_up = [self._given_up(number, *begun) for number, begun in [*self._now.items()]]
                    return [*results, *given_up, *(lost for number in self._held for lost in self._lose(number))]
                # one that sent None is still there; whoever died as it was started never will
                if working == sum(not each.is_alive() for each in threads) and self._ended.empty():
                    raise ToolkitError("a thread of this host ended as it was started", code="TK-0901") from None
                continue
            ended = [result, *self._ended_too(0.0 if result is None else _TOGETHER_SECONDS)]
            working -= ended.count(None)
            if None in ended:
                self._resting.clear()
            results += self._tell([each for each in ended if each is not None])
            self._look()
        return results

    def _ended_too(self, seconds: float) -> Iterator[ItemResult | None]:
        """Yield what ended too, or ends so soon that one write of the store carries both.

        This thread is not woken for each of them: sessions that send short statements would wait for it.
        """
        if self._waiting.left():
            self._resting.wait(seconds)
        with suppress(queue.Empty):
            while True:
                yield self._ended.get_nowait()

    def _look(self) -> None:
        """Cancel what runs when the time is over or somebody asked to stop."""
        origin = self._origin[0] if self._origin else None
        late = self._limit is not None and origin is not None and time.perf_counter() - origin > self._limit
        if late or self._stop.requested:
            self._timed_out = self._timed_out or (late and not self._stop.requested)
            self._waiting.close()
            self._sessions.cancel()
            self._silence.cancelled()
            return
        began = dict(self._now)
        for number, error in self._overdue({number: item for number, (item, _) in began.items()}).items():
            if self._now.get(number) is not began.get(number):
                continue  # it ended while the server was asked: what runs there now did not wait
            self._end_with[began[number][0].label] = error
            self._sessions.cancel_worker(number)
            self._silence.cancelled()

    def _given_up(self, number: int, item: TimedItem, begun: float) -> ItemResult:
        """Return the result of an item that never ends: its thread is left waiting, and nothing waits for it."""
        self._sessions.abandon(Role.WORKER, number)
        why = (
            "the cancel request got no response, nor does the database respond; the statement may still be running"
        )
        error = DatabaseError(why, code="TK-0202", lost=True)
        return ItemResult(item, number, begun - self._origin[0], time.perf_counter() - begun, error=error)

    def _tell(self, ended: Sequence[ItemResult]) -> list[ItemResult]:
        """Look at what items did, and hand them on."""
        results = [self._ended_for(each) for each in ended]
        try:
            results = self._look_at(results)
            self._on_items(results)
        except Exception as fault:  # noqa: BLE001 (what runs now ends in order, nothing more is begun)
            self._faults.append(fault)
            self._waiting.close()
        return results

    def _ended_for(self, result: ItemResult) -> ItemResult:
        """Return an item that was cancelled because it was overdue with that as its error."""
        why = self._end_with.pop(result.item.label, None)
        if why is not None and result.error is not None and result.error.cancelled:
            return replace(result, error=why)
        return result

    # -- in a worker's thread ----------------------------------------------------------------------------------
    def _work(self, number: int) -> None:
        """Take items until none is left; a lost session ends this worker, the others go on."""
        try:
            # all begin together, or none does: a thread that cannot be started breaks the barrier
            self._barrier.wait(TIMEOUT_SECONDS)
            if not self._together:
                self._take_items(number)
            elif not self._sessions.together(number, partial(self._take_items, number)):
                self._leave(number)
        except Exception as fault:  # noqa: BLE001 (an internal error: raised again in the main thread)
            self._faults.append(fault)
            self._waiting.close()
        finally:
            self._ended.put(None)
            self._resting.set()
        self._released.wait()

    def _take_items(self, number: int) -> None:
        look: LookAgain = None
        held, since = self._held[number], 0.0
        while (item := self._waiting.take()) is not None:
            self._now[number] = item, time.perf_counter()
            since = since if held else time.perf_counter()
            result = run_item(item, number, self._sessions, self._origin[0], look, self._before_commit)
            look = self._look_again
            # who takes it from here tells of it: what was left waiting is told already
            if self._now.pop(number, None) is None:
                return
            if self._flush is not None and result.error is None:
                held.append(result)
                if time.perf_counter() - since > _TOGETHER_SECONDS and not self._put_on_disk(number, self._flush):
                    return
            elif not self._go_on_after(item, result):
                break
        if held and self._flush is not None:
            self._put_on_disk(number, self._flush)

    def _put_on_disk(self, number: int, flush: Step) -> bool:
        """Let what a worker's items committed reach the disk, and hand them on; the wait counts with the last.

        Returns:
            Whether its session can take another.
        """
        held = self._held[number]
        last, begun = held[-1], time.perf_counter()
        self._now[number] = last.item, begun
        error: DatabaseError | None = None
        warnings: tuple[str, ...] = ()
        try:
            warnings = self._sessions.run(flush, number).warnings
        except DatabaseError as caught:
            error = caught
        except ToolkitError as caught:
            error = DatabaseError(caught.message, code=caught.code, lost=caught.code in UNREACHED)
        if self._now.pop(number, None) is None:
            return False  # what it held is told already
        results, held[:] = [*held], []
        took = last.elapsed_seconds + time.perf_counter() - begun
        results[-1] = replace(last, elapsed_seconds=took, warnings=(*last.warnings, *warnings))
        go_on = [self._go_on_after(each.item, replace(each, error=error)) for each in results]
        return all(go_on)

    def _lose(self, number: int) -> list[ItemResult]:
        """Return as lost what a worker holds that answers nobody; the item that it is at is told by itself."""
        now = self._now.get(number)
        error = DatabaseError(SILENT, code="TK-0202", lost=True)
        return [
            replace(each, error=error) for each in self._held[number] if now is None or each.item is not now[0]
        ]

    def _leave(self, number: int) -> None:
        """Tell that the item of a worker whose session answers nobody is lost."""
        for lost in self._lose(number):
            self._go_on_after(lost.item, lost)
        if (left := self._now.pop(number, None)) is not None:
            item, begun = left
            error = DatabaseError(SILENT, code="TK-0202", lost=True)
            took = time.perf_counter() - begun
            self._go_on_after(item, ItemResult(item, number, begun - self._origin[0], took, error=error))

    def _go_on_after(self, item: TimedItem, result: ItemResult) -> bool:
        """Hand on the result of an item; tell whether its session can take another."""
        if self._put_back(item, result.error):
            return True
        if result.error is not None and self._ends_with_error:
            self._waiting.close()
        self._waiting.done(item, well=result.error is None)
        self._ended.put(result)
        return result.error is None or not result.error.lost

    def _put_back(self, item: TimedItem, error: DatabaseError | None) -> bool:
        """Let an item whose one change met a lock of others come back at the end; nothing of it was done."""
        if error is None:
            return False
        tried = self._tried[item.label] = self._tried.get(item.label, 0) + 1
        changes = [step for step in item.steps if step.effect not in (Effect.READS, Effect.COMMITS)]
        return len(changes) == 1 and self._comes_back(error, tried) and self._waiting.put_back(item)


def _is_of_session(step: Step) -> bool:
    return step.kind is StepKind.SQL and step.session is Role.WORKER and step.transfer is None
