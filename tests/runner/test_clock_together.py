"""The clock with sessions that have threads of their own, in which they do all their work."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.runner.test_clock import Told, items, run
from toolkit.model.protocols import Answer
from toolkit.model.steps import Step, Timed, TimedItem


class Silent(Told):
    """Sessions with threads of their own, one of which never hears anything of its statement until the end."""

    def __init__(self, deaf: int) -> None:
        super().__init__()
        self.deaf, self.left, self.hears = deaf, threading.Event(), threading.Event()
        self.began, self.others = threading.Event(), list[threading.Thread]()

    def run(self, step: Step, number: int = 0) -> Answer:
        if number == self.deaf:
            self.began.set()
            assert self.hears.wait(300)
        return super().run(step, number)

    def together(self, number: int, work: Callable[[], None]) -> bool:
        if number != self.deaf:
            assert self.began.wait(300)
            return super().together(number, work)
        own = threading.Thread(target=work)
        own.start()
        self.others.append(own)
        assert self.began.wait(300)
        return False


def test_what_a_session_that_answers_nobody_was_at_is_lost_once_and_others_take_the_rest() -> None:
    sessions = Silent(deaf=1)
    result = run(sessions, Timed(items("a", "b", "c"), workers=2))
    lost = [each for each in result.items if each.error is not None]
    assert [(each.worker, each.error.code, each.error.lost) for each in lost if each.error] == [
        (1, "TK-0202", True)
    ]
    assert sorted(each.item.label for each in result.items) == ["a", "b", "c"]
    sessions.hears.set()
    for own in sessions.others:
        own.join()
    assert [number for number, _ in sessions.ran].count(1) == 1, "it takes nothing more when it wakes up"


def test_only_statements_of_sessions_are_run_in_their_own_threads() -> None:
    sessions = Told()
    sessions.together = lambda *_: pytest.fail("handed over")  # type: ignore[method-assign]
    run(sessions, Timed((TimedItem("a", (Step("a", "a"),)),)))
    assert sessions.ran == [(0, "a")]
