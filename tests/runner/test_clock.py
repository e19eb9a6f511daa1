"""The clock alone, with sessions that answer from the test."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from toolkit.errors import ToolkitError
from toolkit.executors import Timeouts
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import Step, Timed, TimedItem
from toolkit.model.words import Effect, Role
from toolkit.runner import clock
from toolkit.runner.clock import _Clock, run_timed
from toolkit.runner.item_result import ItemResult
from toolkit.runner.stop import Stop


@dataclass
class Told:
    """Sessions that note who ran what, and do what the test says."""

    say: dict[str, Exception] = field(default_factory=dict)
    ran: list[tuple[int, str]] = field(default_factory=list)
    cancelled: threading.Event = field(default_factory=threading.Event)
    waits_for_cancel: frozenset[str] = frozenset()
    waiting: Callable[[], object] = lambda: None
    timeouts: Timeouts = field(default_factory=Timeouts)

    def run(self, step: Step, number: int = 0) -> Answer:
        self.ran.append((number, step.text))
        if step.text in self.waits_for_cancel:
            self.waiting()
            assert self.cancelled.wait(300)
            raise DatabaseError("cancelled", code="57014", cancelled=True)
        if step.text in self.say:
            raise self.say[step.text]
        return Answer(rowcount=1)

    def together(self, number: int, work: Callable[[], None]) -> bool:
        work()
        return True

    def begin_together(self) -> float:
        return time.perf_counter()

    def cancel(self) -> None:
        self.cancelled.set()


def items(*names: str) -> tuple[TimedItem, ...]:
    return tuple(
        TimedItem(name, (Step(name, name, session=Role.WORKER),), weight=len(names) - position)
        for position, name in enumerate(names)
    )


def run(sessions: Told, timed: Timed, stop: Stop | None = None, limit: float | None = None):
    return run_timed(timed, sessions, stop or Stop(), limit_seconds=limit)  # type: ignore[arg-type]


def test_items_are_taken_biggest_first() -> None:
    small, big, middle = (TimedItem(n, (Step(n, n),), w) for n, w in (("s", 1), ("b", 9), ("m", 5)))
    sessions = Told()
    run(sessions, Timed((small, big, middle)))
    assert [text for _, text in sessions.ran] == ["b", "m", "s"]


def test_every_item_runs_exactly_once_with_many_workers() -> None:
    names = [f"i{n}" for n in range(200)]
    sessions = Told()
    result = run(sessions, Timed(items(*names), workers=8))
    assert sorted(text for _, text in sessions.ran) == sorted(names)
    assert len(result.items) == 200
    assert result.not_begun == ()


def test_a_failed_item_does_not_stop_the_others() -> None:
    sessions = Told(say={"b": DatabaseError("no", code="X1")})
    result = run(sessions, Timed(items("a", "b", "c")))
    assert [each.error.code if each.error else None for each in result.items] == [None, "X1", None]
    assert result.error is not None
    assert result.error.code == "X1"


def test_a_lost_session_ends_its_worker_and_another_takes_what_is_left() -> None:
    sessions = Told(say={"a": DatabaseError("gone", code="57P01", lost=True)})
    result = run(sessions, Timed(items("a", "b", "c"), workers=2))
    assert {each.item.label for each in result.items} == {"a", "b", "c"}
    assert result.error is not None
    assert result.error.lost


def test_a_lost_only_session_leaves_the_rest_not_begun() -> None:
    sessions = Told(say={"a": DatabaseError("gone", code="57P01", lost=True)})
    result = run(sessions, Timed(items("a", "b", "c")))
    assert [item.label for item in result.not_begun] == ["b", "c"]


def test_a_stop_cancels_what_runs_and_begins_nothing_more() -> None:
    stop = Stop()
    sessions = Told(waits_for_cancel=frozenset({"a"}), waiting=stop.request)
    result = run(sessions, Timed(items("a", "b")), stop)
    assert [text for _, text in sessions.ran] == ["a"]
    assert [item.label for item in result.not_begun] == ["b"]
    assert not result.timed_out


def test_a_time_limit_cancels_and_is_told_apart_from_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, look = threading.Event(), _Clock._look
    monkeypatch.setattr(_Clock, "_look", lambda clock: (begun.wait(300), look(clock)))
    sessions = Told(waits_for_cancel=frozenset({"a"}), waiting=begun.set)
    result = run(sessions, Timed(items("a", "b")), limit=0.01)
    assert result.timed_out
    assert [item.label for item in result.not_begun] == ["b"]


def test_a_fault_of_ours_in_a_worker_is_raised_not_swallowed() -> None:
    sessions = Told(say={"a": KeyError("ours")})
    with pytest.raises(KeyError, match="ours"):
        run(sessions, Timed(items("a", "b"), workers=2))


def test_a_worker_whose_thread_cannot_be_started_ends_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions, real, begun = Told(), threading.Thread.start, list[threading.Thread]()

    def start(thread: threading.Thread) -> None:
        if begun:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        real(thread)

    raised: list[Exception] = []

    def work() -> None:
        with monkeypatch.context() as few:
            few.setattr(threading.Thread, "start", start)
            try:
                run(sessions, Timed(items("a", "b"), workers=2))
            except ToolkitError as error:
                raised.append(error)

    watched = threading.Thread(target=work, daemon=True)
    watched.start()
    watched.join(300)
    assert not watched.is_alive(), "it hangs"
    assert "no more threads" in str(raised[0]) and sessions.ran == []


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_worker_whose_thread_dies_as_it_is_started_ends_the_clock(
    monkeypatch: pytest.MonkeyPatch, deaths: int
) -> None:
    sessions, real, begun = Told(), threading.Thread.start, list[threading.Thread]()

    def start(thread: threading.Thread) -> None:
        if len(begun) < deaths:
            thread.run = lambda: None  # type: ignore[method-assign]
        begun.append(thread)
        real(thread)

    monkeypatch.setattr(clock, "TIMEOUT_SECONDS", 0.1)  # how long the others wait for it
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(ToolkitError, match="ended as it was started"):
        run(sessions, Timed(items("a", "b"), workers=2))
    assert sessions.ran == []


def test_an_interrupt_of_the_main_thread_leaves_no_worker_waiting() -> None:
    def interrupted(ended: object) -> None:
        raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        run_timed(Timed(items("a"), workers=2), Told(), Stop(), on_items=interrupted)  # type: ignore[arg-type]
    assert set(threading.enumerate()) <= before


def test_elapsed_runs_from_the_common_begin_to_the_last_end() -> None:
    result = run(Told(), Timed(items("a", "b", "c"), workers=2))
    assert result.elapsed_seconds == max(each.begin_seconds + each.elapsed_seconds for each in result.items)
    assert min(each.begin_seconds for each in result.items) >= 0


def test_a_time_limit_holds_for_many_short_items_too() -> None:
    class Endless(Told):
        def run(self, step: Step, number: int = 0) -> Answer:
            time.sleep(0.002)
            return super().run(step, number)

    result = run(Endless(), Timed(items(*(f"i{n}" for n in range(2000)))), limit=0.02)
    assert result.not_begun
    assert result.timed_out


def test_what_cannot_be_handed_on_lets_running_items_end_and_begins_no_more() -> None:
    class Slow(Told):
        def run(self, step: Step, number: int = 0) -> Answer:
            time.sleep(0.002)
            return super().run(step, number)

    def full(_: object) -> None:
        raise OSError("the store is full")

    sessions = Slow()
    names = [f"i{n}" for n in range(2000)]
    with pytest.raises(OSError, match="full"):
        run_timed(Timed(items(*names), workers=2), sessions, Stop(), on_items=full)  # type: ignore[arg-type]
    assert 1 <= len(sessions.ran) < len(names)
    assert not sessions.cancelled.is_set()


def test_what_ends_while_the_store_is_told_is_handed_on_together() -> None:
    names = ["a", "b", "c", "d"]
    last, handed = threading.Event(), list[list[str]]()

    class Ending(Told):
        def run(self, step: Step, number: int = 0) -> Answer:
            if len(self.ran) == len(names):
                last.set()
            return super().run(step, number)

    def slow(ended: Sequence[ItemResult]) -> None:
        handed.append([each.item.label for each in ended])
        assert last.wait(300)

    sessions = Ending()
    run_timed(Timed((*items(*names), *items("e")), workers=1), sessions, Stop(), on_items=slow)  # type: ignore[arg-type]
    assert [label for each in handed for label in each] == [*names, "e"]
    assert len(handed) < len(names)


def test_small_items_that_end_soon_after_each_other_share_a_write_of_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock, "_TOGETHER_SECONDS", 60.0)
    handed: list[list[str]] = []

    def note(ended: Sequence[ItemResult]) -> None:
        handed.append([each.item.label for each in ended])

    names = [f"i{number}" for number in range(50)]
    run_timed(Timed(items(*names), workers=1), Told(), Stop(), on_items=note)  # type: ignore[arg-type]
    assert len(handed) <= 2 and [label for each in handed for label in each] == names


@dataclass
class Crossing:
    """Sessions that note which items were worked on at the same time; each waits for the others it may meet."""

    meets: threading.Barrier
    at_work: set[str] = field(default_factory=set)
    met: set[frozenset[str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, step: Step, number: int = 0) -> Answer:
        with self.lock:
            self.at_work.add(step.text)
        self.meets.wait(300)
        with self.lock:
            self.met.add(frozenset(self.at_work))
        self.meets.wait(300)
        with self.lock:
            self.at_work.discard(step.text)
        return Answer(rowcount=1)

    def together(self, number: int, work: Callable[[], None]) -> bool:
        work()
        return True

    def begin_together(self) -> float:
        return time.perf_counter()

    def cancel(self) -> None: ...


def apart(*names: str) -> tuple[TimedItem, ...]:
    """Items in this order, those with the same first letter apart from each other."""
    return tuple(
        TimedItem(name, (Step(name, name),), weight=len(names) - position, apart=name[0])
        for position, name in enumerate(names)
    )


def test_items_kept_apart_never_meet_and_a_free_worker_takes_the_next_that_may_run() -> None:
    sessions = Crossing(threading.Barrier(2))
    run(sessions, Timed(apart("a1", "a2", "b1", "b2"), workers=2))  # type: ignore[arg-type]
    assert sessions.met == {frozenset({"a1", "b1"}), frozenset({"a2", "b2"})}


def test_a_worker_with_nothing_it_may_begin_waits_and_then_goes_on() -> None:
    sessions = Told()
    result = run(sessions, Timed(apart("a1", "a2", "a3"), workers=2))
    assert [text for _, text in sessions.ran] == ["a1", "a2", "a3"]
    assert result.not_begun == ()


def test_an_item_that_fails_lets_the_next_of_its_table_begin() -> None:
    sessions = Told(say={"a1": DatabaseError("gone", code="57P01", lost=True)})
    result = run(sessions, Timed(apart("a1", "a2", "a3"), workers=2))
    assert {each.item.label for each in result.items} == {"a1", "a2", "a3"}


def test_a_script_deals_items_kept_apart_to_one_session() -> None:
    shares = Timed(apart("a1", "b1", "a2", "c1", "b2"), workers=2).shares()
    assert [[item.label for item in share] for share in shares] == [["a1", "a2"], ["b1", "c1", "b2"]]
    plain = Timed(items("i1", "i2", "i3"), workers=2).shares()
    assert [[item.label for item in share] for share in plain] == [["i1", "i3"], ["i2"]]


class Deaf:
    """Sessions of a network that is gone: what runs never ends, a cancel is never heard."""

    timeouts = Timeouts()

    def __init__(self) -> None:
        self.abandoned: list[tuple[Role, int]] = []
        self.dead = threading.Event()

    def run(self, step: Step, number: int = 0) -> Answer:
        self.dead.wait()
        raise AssertionError(step, number)

    def together(self, number: int, work: Callable[[], None]) -> bool:
        work()
        return True

    def begin_together(self) -> float:
        return time.perf_counter()

    def cancel(self) -> None:
        pass

    def abandon(self, role: Role, number: int = 0) -> None:
        self.abandoned.append((role, number))


def test_a_cancel_that_is_never_answered_ends_when_the_database_does_not_answer_either() -> None:
    sessions, asked = Deaf(), [True, False]
    timed = Timed(items("a", "b", "c"), workers=2)
    result = run_timed(
        timed, sessions, Stop(), limit_seconds=0.01, may_end=lambda: asked.pop(0), timeout_seconds=0.01
    )  # type: ignore[arg-type]
    assert asked == [], "a database that answers is given another while"
    assert result.timed_out
    assert sorted(each.item.label for each in result.items) == ["a", "b"]
    assert all(each.error is not None and each.error.lost for each in result.items)
    assert [each.label for each in result.not_begun] == ["c"]
    assert sorted(sessions.abandoned) == [(Role.WORKER, 0), (Role.WORKER, 1)]


class Slow(Deaf):
    """Hears no cancel, and ends."""

    def run(self, step: Step, number: int = 0) -> Answer:
        self.dead.wait()
        return Answer(rowcount=7)


def test_what_ended_while_the_database_was_watched_is_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: queue.SimpleQueue[object] = queue.SimpleQueue()
    monkeypatch.setattr(clock, "queue", SimpleNamespace(SimpleQueue=lambda: ended, Empty=queue.Empty))
    sessions, timed = Slow(), Timed(items("a"), workers=1)

    def may_end() -> bool:
        sessions.dead.set()
        ended.put(ended.get(timeout=300))  # when the worker has handed it in
        return False

    result = run_timed(timed, sessions, Stop(), limit_seconds=0.01, may_end=may_end, timeout_seconds=0.01)  # type: ignore[arg-type]
    assert [each.error for each in result.items] == [None] and sessions.abandoned == []


def test_an_item_that_a_worker_took_up_meanwhile_is_not_cancelled_for_the_one_before() -> None:
    begun, cancelled = threading.Event(), list[int]()

    class Two(Told):
        def run(self, step: Step, number: int = 0) -> Answer:
            if step.text == "a":
                assert asked.wait(300)
            else:
                begun.set()
                assert judged.wait(300)
            return Answer(rowcount=1)

        def cancel_worker(self, number: int) -> None:
            cancelled.append(number)

    asked, judged = threading.Event(), threading.Event()

    def overdue(running: Mapping[int, TimedItem]) -> Mapping[int, DatabaseError]:
        if judged.is_set() or running.get(0) is None:
            return {}
        if begun.is_set():
            judged.set()
            return {}
        asked.set()
        assert begun.wait(300)
        return {0: DatabaseError("it waited", code="TK-0212")}

    result = run_timed(Timed(items("a", "b")), Two(), Stop(), overdue=overdue)  # type: ignore[arg-type]
    assert cancelled == [] and [each.error for each in result.items] == [None, None]


def test_a_cancelled_commit_is_as_unknown_as_one_that_was_never_answered() -> None:
    insert = Step("insert", "insert", session=Role.WORKER)
    commit = Step("commit", "commit", session=Role.WORKER, effect=Effect.COMMITS)
    forgotten = list[tuple[Role, int]]()
    sessions = Told(say={"commit": DatabaseError("cancelled", code="57014", cancelled=True)})
    sessions.forget = lambda *key: forgotten.append(key)  # type: ignore[attr-defined]
    (ended,) = run(sessions, Timed((TimedItem("a", (insert, commit)),))).items
    assert ended.error is not None and (ended.error.lost, ended.error.cancelled) == (True, True)
    assert forgotten == [(Role.WORKER, 0)]
    sessions.say = {"insert": sessions.say["commit"]}
    (ended,) = run(sessions, Timed((TimedItem("a", (insert, commit)),))).items
    assert ended.error is not None and not ended.error.lost
