"""Sessions that are opened before anybody asks for them."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.words import Role


class Database:
    """A database whose sessions are opened when the test lets them be."""

    display = "db"

    def __init__(self, engine: str = "postgresql") -> None:
        self.engine, self.lets = engine, threading.Event()
        self.opened, self.closed, self.fails = list[Role](), threading.Semaphore(0), False
        self.begun = threading.Semaphore(0)

    def connect(self, role: Role, tag: object, *, read_only: bool = False) -> Any:
        self.opened.append(role)
        self.begun.release()
        assert self.lets.wait(300)
        if self.fails:
            raise ToolkitError("too many clients", code="TK-0201")
        return SimpleNamespace(identity=f"pid {len(self.opened)}", close=self.closed.release)


def _sessions(database: Database) -> Sessions:
    target: Any = database
    return Sessions(target, "run")


def test_sessions_are_opened_at_once_and_each_is_taken_by_who_asks_for_it() -> None:
    database = Database()
    sessions = _sessions(database)
    sessions.open_ahead(2)
    for _ in range(3):
        assert database.begun.acquire(timeout=300), "none waits for another"
    database.lets.set()
    first = [sessions.get(Role.WORKER, number) for number in range(2)]
    assert sorted(database.opened) == [Role.MONITOR, Role.WORKER, Role.WORKER]
    assert [sessions.get(Role.WORKER, number) for number in range(2)] == first
    sessions.forget(Role.WORKER, 0)
    sessions.get(Role.WORKER, 0)
    assert len(database.opened) == 4, "what was lost is opened anew"
    sessions.close()


def test_why_one_could_not_be_opened_is_said_to_who_asks_for_it() -> None:
    database = Database()
    database.fails = True
    database.lets.set()
    sessions = _sessions(database)
    sessions.open_ahead(1)
    with pytest.raises(ToolkitError, match="too many clients"):
        sessions.get(Role.WORKER)
    database.fails = False
    assert sessions.get(Role.WORKER).identity


def test_what_nobody_asked_for_is_closed_also_when_it_is_there_only_later() -> None:
    database = Database()
    sessions = _sessions(database)
    sessions.open_ahead(1)
    for _ in range(2):
        assert database.begun.acquire(timeout=300)
    sessions.close()
    database.lets.set()
    for _ in range(2):
        assert database.closed.acquire(timeout=300)


def test_only_engines_that_say_so_open_ahead() -> None:
    database = Database("oracle")
    _sessions(database).open_ahead(3)
    assert database.opened == []


def test_where_no_thread_can_begin_who_asks_for_a_session_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refused(self: threading.Thread) -> None:
        if self.name == "opening":
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", refused)
    database = Database()
    database.lets.set()
    sessions = _sessions(database)
    sessions.open_ahead(2)
    assert database.opened == []
    assert sessions.get(Role.WORKER).identity and database.opened == [Role.WORKER]
