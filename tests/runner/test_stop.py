"""Signals: one asks the run to end in order, a later one ends the process at once."""

from __future__ import annotations

import signal

import pytest

from toolkit.runner import stop as stopping
from toolkit.runner.stop import Stop


class Ended(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, as a list of one that a test may change; the process ends by an exception."""
    now = [100.0]

    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr(stopping.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(stopping.os, "_exit", end)
    return now


def test_a_signal_that_comes_twice_at_once_is_one_and_a_later_one_ends_the_process(clock: list[float]) -> None:
    """`timeout` sends to the process and to its group."""
    stop = Stop()
    for _ in range(2):
        stop._heard(signal.SIGTERM, None)
    assert stop.requested
    clock[0] += 5
    with pytest.raises(Ended, match="130"):
        stop._heard(signal.SIGINT, None)


def test_a_signal_to_a_run_that_ends_already_ends_the_process(clock: list[float]) -> None:
    stop = Stop()
    stop.request()
    with pytest.raises(Ended):
        stop._heard(signal.SIGINT, None)
