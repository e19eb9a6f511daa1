"""Sampling: one schedule for all, dense at first, once a second later, never more than 600 instants; its cost."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.runner.context import context_of
from tests.runner.world import RUN, World
from tests.store.make import head
from toolkit.model.experiment import PlannedTrial
from toolkit.model.records import Metric, Sample
from toolkit.model.steps import Stages, Step, Timed, TimedItem
from toolkit.model.values import Cell
from toolkit.model.words import Role
from toolkit.runner import monitor as sampling
from toolkit.runner.monitor import Sampler
from toolkit.runner.trial import run_trial
from toolkit.store import open_store


class Counting:
    """A provider that counts how often it is asked."""

    name = "counting"
    after_evidence = False

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.seen = threading.Event()

    def begin(self) -> None: ...

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        self.asked.append(at_seconds)
        self.seen.set()
        return (Sample(at_seconds, "n", float(len(self.asked))),)

    def end(self) -> tuple[Metric, ...]:
        return ()

    def peaks(self) -> Mapping[str, float]:
        return {}

    def warnings(self) -> tuple[str, ...]:
        return ()


class Clock:
    """Time that passes only while somebody waits, until an instant at which the trial has ended."""

    def __init__(self, until: float) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.until = until

    def perf_counter(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += seconds
        return self.now > self.until

    def clear(self) -> None: ...
    def set(self) -> None: ...


def sampled(monkeypatch: pytest.MonkeyPatch, until: float) -> tuple[Clock, Sampler]:
    clock = Clock(until)
    monkeypatch.setattr(sampling, "time", clock)
    sampler = Sampler([Counting()])
    monkeypatch.setattr(sampler, "_ended", clock)
    sampler._run()
    return clock, sampler


def test_samples_come_quickly_and_then_ever_more_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, _ = sampled(monkeypatch, 100.0)
    assert clock.waits[0] == 0.04
    assert clock.waits == sorted(clock.waits)
    assert clock.waits[-1] == 1.0
    assert sum(clock.waits[:5]) < 0.5


def test_every_level_is_sampled_on_the_same_schedule(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    schedules = []
    for degree in (1, 8):
        clock = Clock(5.0)
        monkeypatch.setattr(sampling, "time", clock)
        monkeypatch.setattr(
            sampling, "threading", SimpleNamespace(Event=lambda c=clock: c, Thread=threading.Thread)
        )
        with open_store(tmp_path / f"{degree}.sqlite") as kept:
            kept.create_run(head(RUN))
            context = context_of(World(), kept)
            context.providers = (Counting(),)
            cell = Cell((("degree", degree),))
            stages = Stages(Timed((TimedItem("it", (Step("timed", "CREATE", session=Role.WORKER),)),)))
            pieces = context.operation.pieces(context.planner(1), cell)
            run_trial(context, PlannedTrial(1, cell, 1), 1, pieces, stages)
        schedules.append(clock.waits)
    assert schedules[0] == schedules[1]
    assert schedules[0][0] == 0.04


@pytest.mark.parametrize("seconds", [599, 600, 601, 5_000, 50_000])
def test_a_long_trial_is_thinned_to_600_instants_over_its_whole_length(
    monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    _, sampler = sampled(monkeypatch, seconds)
    instants = [sample.at_seconds for sample in sampler.samples()]
    assert 300 <= len(instants) <= 600
    assert instants == sorted(instants)
    assert instants[-1] > 0.99 * seconds


def test_nothing_is_sampled_after_the_end() -> None:
    provider = Counting()
    sampler = Sampler([provider])
    sampler.begin()
    assert provider.seen.wait(300)
    sampler.end()
    asked = len(provider.asked)
    assert len(sampler.samples()) == asked
    assert sampler._thread is not None
    assert not sampler._thread.is_alive()


class Asking(Counting):
    """A provider that asks the database twice each time, which takes a while."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.queries = 0

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        self.queries += 2
        self.clock.now += 0.25
        return super().sample(at_seconds)


def test_the_cost_of_sampling_is_its_queries_and_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1.2)
    provider = Asking(clock)
    monkeypatch.setattr(sampling, "time", clock)
    sampler = Sampler([provider], lambda: provider.queries)
    monkeypatch.setattr(sampler, "_ended", clock)
    sampler._run()
    assert {each.name: (each.value, each.unit) for each in sampler.cost()} == {
        "sample_queries": (8, "queries"),
        "sampling_seconds": (pytest.approx(1.0), "s"),
    }


def test_a_trial_without_providers_has_no_cost_of_sampling() -> None:
    assert Sampler(()).cost() == ()
