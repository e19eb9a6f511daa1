"""How a run and its hosts agree on the time at which a trial begins."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import pytest

from toolkit.executors.hosts import SessionsHost, ticks_ahead
from toolkit.executors.sessions import Sessions
from toolkit.targets.base import Target

APART_SECONDS = 500.0


@dataclass
class Busy:
    """Two clocks of one busy host: between two looks the process has to wait, each time for another while."""

    waits: Iterator[float]
    now: float = 1000.0

    def monotonic(self) -> float:
        self.now += next(self.waits)
        return self.now

    def perf_counter(self) -> float:
        return self.monotonic() + APART_SECONDS


@dataclass
class Far:
    """A host that hears of a common begin."""

    name: str = "far"
    lead_seconds: float = 1.0
    heard: list[float] = field(default_factory=list)

    def begin_at(self, at: float) -> None:
        self.heard.append(at)


class Nowhere(Target):
    engine = "duckdb"


@pytest.fixture(params=[0, 1, 2, 3, 4])
def busy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Busy:
    waits = itertools.cycle([0.0, 5.0, 0.0, 0.0, 0.0])
    made = Busy(itertools.islice(waits, request.param, None))
    monkeypatch.setattr(time, "monotonic", made.monotonic)
    monkeypatch.setattr(time, "perf_counter", made.perf_counter)
    return made


def test_two_clocks_are_compared_by_looks_that_were_close_together(busy: Busy) -> None:
    assert ticks_ahead() == APART_SECONDS
    assert busy.now > 1000.0, "the process had to wait meanwhile"


def test_the_clock_of_a_trial_begins_when_its_hosts_were_told_to(busy: Busy) -> None:
    """A later begin here would take the difference off the time of the trial, down to nothing."""
    sessions, far = Sessions(Nowhere.__new__(Nowhere), "run"), Far()
    sessions.let_workers_be_on([cast("SessionsHost", far)], lambda: None)
    origin = sessions.begin_together()
    assert far.heard == [origin - APART_SECONDS]
    assert busy.now > 1000.0
