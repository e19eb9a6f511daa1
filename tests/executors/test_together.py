"""Work of many statements in the thread of one session."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from toolkit.executors import waited, waiting
from toolkit.executors.sessions import Sessions
from toolkit.executors.waiting import Timeouts
from toolkit.model.protocols import Answer, DatabaseError
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


def _target(raws: list[Quick]) -> Any:
    return SimpleNamespace(engine="postgresql", display="db", connect=lambda *_, **__: raws.pop(0))


def _opened(raw: Quick, timeouts: Timeouts) -> waited.Waited:
    session = waited.open_session(_target([raw]), Role.WORKER, SessionTag("run"), timeouts=timeouts)
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
    ended, after, done = list[str](), list[DatabaseError](), threading.Event()

    def work() -> None:
        ended.extend(session.execute("a").notices)
        over.set()  # of the next statement
        ended.extend(session.execute("hangs").notices)
        try:
            session.execute("b")
        except DatabaseError as error:
            after.append(error)
        done.set()

    assert not session.together(work) and ended == ["a"]
    assert raw.asked.is_set(), "between two statements nothing is given up"
    session.close()
    raw.goes_on.set()
    assert done.wait(300)
    assert [error.lost for error in after] == [True] and len(raw.threads) == 2, "nothing is begun after all"


def test_a_worker_that_was_given_up_goes_on_in_no_other_session(monkeypatch: pytest.MonkeyPatch) -> None:
    raw, over = Quick(), threading.Event()
    monkeypatch.setattr(waiting.Watch, "is_over", lambda _: over.is_set())
    sessions, after, done = Sessions(_target([raw]), "run"), list[DatabaseError](), threading.Event()

    def work() -> None:
        over.set()
        sessions.get(Role.WORKER, 0).execute("hangs")
        try:
            sessions.get(Role.WORKER, 0)
        except DatabaseError as error:
            after.append(error)
        done.set()

    assert not sessions.together(0, work)
    assert sessions.orphaned
    raw.goes_on.set()
    assert done.wait(300)
    assert [error.lost for error in after] == [True]
    sessions.end()


def test_work_whose_session_is_forgotten_goes_on_in_another() -> None:
    """As after an item whose transaction may be open."""
    raws = [Quick(), Quick()]
    sessions, said = Sessions(_target(raws[:]), "run"), list[str]()

    def work() -> None:
        for text in ("a", "b"):
            said.extend(sessions.get(Role.WORKER, 0).execute(text).notices)
            sessions.forget(Role.WORKER, 0)

    assert sessions.together(0, work)
    assert said == ["a", "b"] and [len(raw.threads) for raw in raws] == [1, 1]
    sessions.end()


def test_an_internal_error_of_the_work_is_raised_where_it_is_waited_for() -> None:
    session = _opened(Quick(), Timeouts())

    def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        session.together(work)
    session.close()
