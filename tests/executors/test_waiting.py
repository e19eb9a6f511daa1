"""Who waits for an answer learns from one probe whether the database answers anybody; a refusal is no silence.

The clock is the test's: it stands still until it is put forward.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from toolkit.errors import ToolkitError
from toolkit.executors import waiting
from toolkit.executors.waiting import Timeouts
from toolkit.model.words import Role
from toolkit.runner import Stop
from toolkit.targets.base import SessionTag, UnheardError


class Database:
    """Counts who logs on; `answer` is what becomes of it."""

    engine, display = "postgresql", "db"

    def __init__(self) -> None:
        self.logons = 0
        self.answer: Callable[[], None] = lambda: None

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> Any:
        del role, tag, read_only
        self.logons += 1
        self.answer()
        return SimpleNamespace(close=lambda: None)


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
        self.watches = [waiting._Watch(target, self.timeouts, None) for _ in range(self._calls)]

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
        monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: clock.now))
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
    clock = made(Timeouts(lambda: stop.by_user, lambda: stop.requested))
    clock.database.answer = no_way_in
    assert [clock.forward(waiting.LOOK_SECONDS + 1) for _ in range(3)] == [{False}] * 3
    stop.request()
    clock.forward(0)
    assert clock.forward(waiting.HURRIED_LOOK_SECONDS) == {True}


@pytest.mark.parametrize(("because", "over"), [(None, True), (ToolkitError("closed", code="TK-0310"), False)])
def test_only_a_user_who_waits_hurries(
    made: Callable[..., Clock], because: ToolkitError | None, over: bool
) -> None:
    stop = Stop()
    timeouts = Timeouts(lambda: stop.by_user, lambda: stop.requested)
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
    waiting.open_session(target, Role.CONTROL, SessionTag("run"), timeouts=timeouts).close()
    assert not timeouts.over


@pytest.mark.parametrize(
    ("because", "patience"),
    [(None, waiting.HURRIED_PROBE_SECONDS), (ToolkitError("closed", code="TK-0310"), waiting.PROBE_SECONDS)],
)
def test_a_session_is_waited_for_to_the_end_that_somebody_asks_for(
    made: Callable[..., Clock], because: ToolkitError | None, patience: float
) -> None:
    stop = Stop()
    clock = made(Timeouts(lambda: stop.by_user, lambda: stop.requested))
    hurry = waiting._Hurry(clock.timeouts)
    clock.now += 3600
    assert not hurry.is_over()
    stop.request(because)
    assert not hurry.is_over()
    clock.now += patience - 0.1
    assert not hurry.is_over()
    clock.now += 0.2
    assert hurry.is_over()
