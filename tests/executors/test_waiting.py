"""Who waits for an answer learns from one probe whether the database answers anybody; a refusal is no silence.

The clock is the test's: it stands still until it is put forward.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from tests.for_each import for_each
from toolkit.errors import ToolkitError, unexpected
from toolkit.executors import line, reach, waited, waiting
from toolkit.executors.reaching import Reach, may_still_end
from toolkit.executors.waiting import Timeouts
from toolkit.model.protocols import Answer
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.runner import Stop
from toolkit.targets.base import SessionTag, UnheardError


class Database:
    """Counts who logs on; `answer` is what becomes of it."""

    engine, display = "postgresql", "db"

    def __init__(self) -> None:
        self.logons = 0
        self.shown: dict[str, str] = {}
        self.pooled = True
        self.answer: Callable[[], None] = lambda: None

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> Any:
        del role, tag, read_only
        self.logons += 1
        self.answer()
        return SimpleNamespace(close=lambda: None, execute=self._list, identity="pid 900")

    def _list(self, text: str, binds: Mapping[str, Scalar]) -> Answer:
        """Answer to `sessions_there` and `sessions_of`."""
        if "asks" in text:
            own = "90" if self.pooled else "900"
            shown = {**dict.fromkeys(self.shown, "no"), own: "yes"}
            return Answer(tuple({"session_id": each, "asks": word} for each, word in shown.items()))
        assert "application_name" in text and binds == {"run": "run"}
        return Answer(tuple({"session_id": each, "at_work": word} for each, word in self.shown.items()))


def refuses() -> None:
    raise ToolkitError("too many clients", code="TK-0201")


def times_out() -> None:
    raise UnheardError("timeout expired", code="TK-0201")


class Clock:
    """Time, and the calls that wait; all look at the database again after each step."""

    def __init__(self, database: Database, timeouts: Timeouts, calls: int = 1) -> None:
        self.now = 1000.0
        self.database, self.timeouts, self._calls = database, timeouts, calls

    def begin(self) -> None:
        target: Any = self.database
        self.watches = [waiting.Watch(target, self.timeouts, "run", str(n)) for n in range(self._calls)]

    def forward(self, seconds: float) -> set[bool]:
        """Put the clock forward, let probes that this begins end, and return what the calls found."""
        self.now += seconds
        found = {each.is_over() for each in self.watches}
        for thread in threading.enumerate():
            if thread.name == "probe":
                thread.join(0 if self.database.answer is hangs else None)
        return {each.is_over() for each in self.watches} if found == {False} else found


_END = threading.Event()


def hangs() -> None:
    _END.wait()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Clock]]:
    def make(timeouts: Timeouts, calls: int = 1) -> Clock:
        clock = Clock(Database(), timeouts, calls)
        for module in (waited, waiting):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
        clock.begin()
        return clock

    _END.clear()
    yield make
    _END.set()


def test_all_sessions_of_a_run_share_one_probe_and_what_it_found(made: Callable[..., Clock]) -> None:
    clock = made(Timeouts(), 64)
    for minute in (1, 2, 3):
        assert clock.forward(waiting.LOOK_SECONDS + 0.1) == {False}
        assert clock.database.logons == minute


@pytest.mark.parametrize("hurried", [False, True])
def test_a_refusal_of_the_server_is_an_answer(made: Callable[..., Clock], hurried: bool) -> None:
    timeouts = Timeouts(lambda: hurried, lambda: hurried)
    clock = made(timeouts)
    clock.database.answer = refuses
    for _ in range(4):
        assert clock.forward(waiting.LOOK_SECONDS + 1) == {False}
    assert clock.database.logons >= 3 and not timeouts.over


def test_a_connect_that_times_out_is_no_answer(made: Callable[..., Clock]) -> None:
    clock = made(Timeouts())
    clock.database.answer = times_out
    assert clock.forward(waiting.LOOK_SECONDS + 1) == {False}
    assert clock.forward(0.2) == {True}
    assert clock.database.logons == waiting.MISSES


def test_a_host_that_takes_no_new_connection_is_waited_for_but_not_by_a_user(made: Callable[..., Clock]) -> None:
    def no_way_in() -> None:
        error = UnheardError("connection refused", code="TK-0201")
        error.timed_out = False
        raise error

    stop = Stop()
    clock = made(Timeouts(lambda: stop.hurried, lambda: stop.requested))
    clock.database.answer = no_way_in
    assert [clock.forward(waiting.LOOK_SECONDS + 1) for _ in range(3)] == [{False}] * 3
    stop.request()
    clock.forward(0)
    assert clock.forward(waiting.HURRIED_LOOK_SECONDS) == {True}


_CLOSED, _GUARD = (ToolkitError("it ends", code=code) for code in ("TK-0310", "TK-0311"))


@pytest.mark.parametrize(("because", "over"), [(None, True), (_CLOSED, True), (_GUARD, False)])
def test_only_an_end_that_is_waited_for_hurries(
    made: Callable[..., Clock], because: ToolkitError | None, over: bool
) -> None:
    stop = Stop()
    timeouts = Timeouts(lambda: stop.hurried, lambda: stop.requested)
    clock = made(timeouts)
    clock.database.answer = hangs
    stop.request(because)
    clock.forward(0)
    clock.forward(waiting.HURRIED_LOOK_SECONDS)
    assert clock.forward(waiting.HURRIED_PROBE_SECONDS) == {over}
    assert timeouts.over is over
    if not over:
        clock.forward(waiting.LOOK_SECONDS)
        clock.forward(waiting.PROBE_SECONDS)
        assert clock.forward(waiting.PROBE_SECONDS) == {True}
        assert timeouts.over


def test_what_was_found_silent_is_asked_again(made: Callable[..., Clock]) -> None:
    timeouts = Timeouts(lambda: True, lambda: True)
    clock = made(timeouts)
    timeouts.unheard()
    assert timeouts.over
    clock.now += 60
    assert not timeouts.over
    timeouts.unheard()
    target: Any = clock.database
    timeouts.heard()
    waited.open_session(target, Role.CONTROL, SessionTag("run"), timeouts=timeouts).close()
    assert not timeouts.over


@pytest.mark.parametrize(
    ("because", "patience"),
    [
        (None, waiting.HURRIED_PROBE_SECONDS),
        (_CLOSED, waiting.HURRIED_PROBE_SECONDS),
        (_GUARD, waiting.PROBE_SECONDS),
    ],
)
def test_a_session_is_waited_for_to_the_end_that_somebody_asks_for(
    made: Callable[..., Clock], because: ToolkitError | None, patience: float
) -> None:
    stop = Stop()
    clock = made(Timeouts(lambda: stop.hurried, lambda: stop.requested))
    hurry = waiting.Hurry(clock.timeouts)
    clock.now += 3600
    assert not hurry.is_over()
    stop.request(because)
    assert not hurry.is_over()
    clock.now += patience - 0.1
    assert not hurry.is_over()
    clock.now += 0.2
    assert hurry.is_over()


def test_a_connection_is_waited_for_shortly_once_one_got_no_answer_as_the_end_was_waited_for(
    made: Callable[..., Clock],
) -> None:
    """An open session that answers does not mean that another can be opened."""
    stop = Stop()
    clock = made(Timeouts(lambda: stop.hurried, lambda: stop.requested))
    clock.timeouts.unheard()
    stop.request(_CLOSED)
    assert clock.timeouts.connect_seconds == waiting.HURRIED_PROBE_SECONDS, "it was before the end"
    clock.timeouts.unheard()
    clock.timeouts.heard()
    hurry = waiting.Hurry(clock.timeouts)
    assert not clock.timeouts.over and not hurry.is_over()
    clock.now += waiting.LATE_PROBE_SECONDS + 0.1
    assert hurry.is_over()


@for_each(
    ("answer", "found"), [(lambda: None, True), (refuses, True), (times_out, False), (hangs, False)],
    ids=["answers", "refuses", "times out", "hangs"],
)  # fmt: skip
def test_a_database_that_refuses_answers_and_one_that_says_nothing_does_not(
    answer: Callable[[], None], found: bool
) -> None:
    database: Any = Database()
    database.answer = answer
    _END.clear()
    try:
        assert reach(database, 5.0 if found else 0.05).answers is found
    finally:
        _END.set()


@pytest.mark.parametrize(
    ("shown", "pooled", "lost"),
    [
        ({"0": "no", "1": "yes"}, False, {True, False}),
        ({"1": "yes"}, False, {True, False}),
        ({}, False, {True}),
        ({}, True, {False}),
        ({"0": "yes", "1": "yes"}, False, {False}),
    ],
    ids=["idle", "one is gone", "both are gone", "a pooler has other numbers", "both are at work"],
)
def test_a_call_is_lost_when_the_database_shows_its_session_idle_or_does_not_have_it(
    made: Callable[..., Clock], shown: dict[str, str], pooled: bool, lost: set[bool]
) -> None:
    clock = made(Timeouts(), 2)
    clock.database.shown, clock.database.pooled = shown, pooled
    assert clock.forward(waiting.LOOK_SECONDS + 1) == {False}, "the answer may still be on its way"
    assert clock.forward(waiting._ON_THE_WAY_SECONDS) == lost


def test_what_was_idle_before_a_call_waited_long_says_nothing_of_it(made: Callable[..., Clock]) -> None:
    clock = made(Timeouts())
    clock.database.shown = {"0": "no"}
    clock.forward(waiting.LOOK_SECONDS + 1)
    clock.database.shown = {"0": "yes"}
    clock.begin()
    clock.forward(waiting._ON_THE_WAY_SECONDS + 1)
    assert clock.forward(waiting.LOOK_SECONDS) == {False}
    assert clock.forward(waiting._ON_THE_WAY_SECONDS + 1) == {False}


def test_a_user_who_waits_learns_of_it_within_ten_seconds(made: Callable[..., Clock]) -> None:
    clock = made(Timeouts(lambda: True, lambda: True))
    clock.database.shown = {"0": "no"}
    clock.forward(0)
    clock.forward(waiting.HURRIED_LOOK_SECONDS)
    assert clock.forward(waiting._HURRIED_ON_THE_WAY_SECONDS) == {True}
    assert waiting.HURRIED_LOOK_SECONDS + waiting.HURRIED_PROBE_SECONDS + waiting._HURRIED_ON_THE_WAY_SECONDS < 10


@for_each(
    ("role", "finishing"),
    [(Role.CONTROL, False), (Role.WORKER, False), (Role.CONTROL, True), (Role.MONITOR, False)],
)
def test_what_a_session_waits_for_is_cancelled_when_the_run_is_to_end(role: Role, finishing: bool) -> None:
    is_cancelled = role is not Role.MONITOR and not finishing
    cancelled, ended = threading.Event(), threading.Event()

    class Locked:
        identity, transaction_id = "pid 7", None

        def execute(self, text: str, binds: object) -> Answer:
            if cancelled.wait(None if is_cancelled else 3 * line._TICK_SECONDS):
                return Answer(notices=("cancelled",))
            return Answer(notices=("ended",))

        def cancel(self) -> None:
            cancelled.set()

        def close(self) -> None:
            ended.set()

    target: Any = SimpleNamespace(
        engine="postgresql", display="db", connect=lambda role, tag, *, read_only=False: Locked()
    )
    timeouts = Timeouts(lambda: False, lambda: True)
    session = waited.open_session(target, role, SessionTag("run"), timeouts=timeouts)
    with timeouts.finishing() if finishing else nullcontext():
        answer = session.execute("SELECT 1")
    session.close()
    assert answer.notices == (("cancelled",) if is_cancelled else ("ended",))
    assert ended.wait(300)


def test_a_session_whose_thread_died_is_given_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line.Line, "_run", lambda self: None)
    with pytest.raises(ToolkitError, match="no response"):
        waited.open_session(Database(), Role.WORKER, SessionTag("run"))  # type: ignore[arg-type]


def test_a_host_without_threads_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError) as caught:
        waited.open_session(Database(), Role.WORKER, SessionTag("run"))  # type: ignore[arg-type]
    assert unexpected(caught.value).sentence == "this host starts no more threads"
    found = reach(Database())  # type: ignore[arg-type]
    assert (found.reach, found.refused) == (Reach.NOT_ASKED, "this host starts no more threads")
    assert may_still_end(Database())  # type: ignore[arg-type]


def test_a_session_has_one_thread_and_is_closed_without_another(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, closed, start = list[str](), list[str](), threading.Thread.start

    def counted(self: threading.Thread) -> None:
        begun.append(self.name)
        if len(begun) > 1:
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", counted)
    database = Database()
    raw = SimpleNamespace(identity="pid 900", execute=lambda *_: Answer(()), cancel=lambda: None)
    raw.close = lambda: closed.append(threading.current_thread().name)
    monkeypatch.setattr(database, "connect", lambda *_, **__: raw)
    session = waited.open_session(database, Role.WORKER, SessionTag("run"))  # type: ignore[arg-type]
    assert session.execute("SELECT 1") == Answer(())
    session.close()
    session.close()
    assert begun[0] == "session" and closed == ["session"]


def test_a_cancel_without_a_thread_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, start = threading.Event(), threading.Thread.start
    tries = list[str]()

    def counted(self: threading.Thread) -> None:
        if self.name == "cancel":
            tries.append(self.name)
            if len(tries) == 1:
                raise RuntimeError("can't start new thread")
        start(self)

    def work(text: str, binds: Mapping[str, Scalar] | None) -> Answer:
        while not cancelled.is_set():
            session.cancel()
        return Answer(())

    monkeypatch.setattr(threading.Thread, "start", counted)
    raw = SimpleNamespace(identity="pid 900", execute=work, cancel=cancelled.set, close=lambda: None)
    database = Database()
    monkeypatch.setattr(database, "connect", lambda *_, **__: raw)
    session = waited.open_session(database, Role.WORKER, SessionTag("run"))  # type: ignore[arg-type]
    assert session.execute("SELECT 1") == Answer(()) and len(tries) == 2
    session.close()


@pytest.mark.parametrize("hurried", [False, True])
def test_a_probe_that_could_not_begin_says_nothing_of_the_database(
    made: Callable[..., Clock], monkeypatch: pytest.MonkeyPatch, hurried: bool
) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    timeouts = Timeouts(lambda: hurried, lambda: hurried)
    clock = made(timeouts)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        for _ in range(2 * waiting.MISSES):
            assert clock.forward(waiting.LOOK_SECONDS + 1) == {False}
            assert clock.forward(waiting.PROBE_SECONDS + 1) == {False}
        assert not timeouts.over and clock.database.logons == 0
    clock.database.answer = times_out
    clock.forward(waiting.LOOK_SECONDS + 1)
    assert clock.forward(0.2) == {True}, "asked as soon as there is a thread"
