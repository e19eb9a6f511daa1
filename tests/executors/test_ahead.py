"""Sessions opened ahead: taken once, and not waited for where the thread that was to open one died."""

from __future__ import annotations

import threading

import pytest

from toolkit.executors.ahead import Ahead
from toolkit.model.protocols import Connection
from toolkit.model.words import Role


def never(role: Role) -> Connection:
    raise AssertionError(role)


@pytest.fixture
def stillborn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads begin and end at once, as on a host that has room for no more."""
    monkeypatch.setattr(threading.Thread, "run", lambda self: None)


@pytest.mark.usefixtures("stillborn")
def test_a_session_whose_thread_died_is_not_waited_for() -> None:
    ahead = Ahead()
    ahead.begin([(Role.WORKER, 0)], never)
    assert ahead.take((Role.WORKER, 0)) is None


def test_what_opening_raised_is_raised_where_the_session_is_asked_for() -> None:
    ahead = Ahead()
    ahead.begin([(Role.WORKER, 0)], never)
    with pytest.raises(AssertionError, match="worker"):
        ahead.take((Role.WORKER, 0))
    assert ahead.take((Role.WORKER, 0)) is None, "each is taken once"
