"""Work of many statements in the thread of one session."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from toolkit.executors import waited, waiting
from toolkit.executors.waiting import Timeouts
from toolkit.model.protocols import Answer
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag


class Quick:
    """A session that answers in the thread it is asked in, or not before the end of the test."""

    identity, transaction_id = "pid 7", None

    def __init__(self) -> None:
        self.threads, self.closed, self.asked = list[str](), list[str](), threading.Event()
        self.goes_on = threading.Event()

    def execute(self, text: str, binds: object) -> Answer:
        self.threads.append(threading.current_thread().name)
        if text == "hangs":
            self.asked.set()
            assert self.goes_on.wait(300)
        return Answer(notices=(text,))

    def cancel(self) -> None: ...

    def close(self) -> None:
        self.closed.append(threading.current_thread().name)


def _opened(raw: Quick, timeouts: Timeouts) -> waited.Waited:
    target: Any = SimpleNamespace(engine="postgresql", display="db", connect=lambda *_, **__: raw)
    session = waited.open_session(target, Role.WORKER, SessionTag("run"), timeouts=timeouts)
    assert isinstance(session, waited.Waited)
    return session


def test_work_of_many_statements_is_done_in_the_thread_of_the_session() -> None:
    raw, said = Quick(), list[str]()
    session = _opened(raw, Timeouts())

    def work() -> None:
        for text in ("a", "b"):
            said.extend(session.execute(text).notices)
        session.close()  # as a session is forgotten whose transaction may be open

    assert session.together(work)
    assert said == ["a", "b"] and raw.threads == ["session"] * 2 and raw.closed == ["session"]


def test_work_that_a_silent_database_holds_is_left_and_what_ends_in_time_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw, over = Quick(), threading.Event()
    timeouts = Timeouts()
    session = _opened(raw, timeouts)
    monkeypatch.setattr(waiting.Watch, "is_over", lambda _: over.is_set())
    ended, done = list[str](), threading.Event()

    def work() -> None:
        ended.extend(session.execute("a").notices)
        over.set()  # of the next statement
        ended.extend(session.execute("hangs").notices)
        done.set()

    assert not session.together(work) and ended == ["a"]
    assert raw.asked.is_set(), "between two statements nothing is given up"
    session.close()
    raw.goes_on.set()
    assert done.wait(300)


def test_an_internal_error_of_the_work_is_raised_where_it_is_waited_for() -> None:
    session = _opened(Quick(), Timeouts())

    def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        session.together(work)
    session.close()
