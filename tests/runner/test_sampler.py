"""Sampling: dense at first where samples are evidence, once a second later, never more than 600 instants."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest

from toolkit.model.records import Metric, Sample
from toolkit.runner import sampler as sampling
from toolkit.runner.sampler import Sampler


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
    """Time that passes only while somebody waits."""

    def __init__(self, most: int) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.most = most

    def perf_counter(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += seconds
        return len(self.waits) > self.most


def sampled(monkeypatch: pytest.MonkeyPatch, most: int, *, evidence: bool) -> tuple[Clock, Sampler]:
    clock = Clock(most)
    monkeypatch.setattr(sampling, "time", clock)
    sampler = Sampler([Counting()], evidence=evidence)
    monkeypatch.setattr(sampler, "_ended", clock)
    sampler._run()
    return clock, sampler


def test_samples_that_are_evidence_come_quickly_and_then_ever_more_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, _ = sampled(monkeypatch, 100, evidence=True)
    assert clock.waits[0] == 0.04
    assert clock.waits == sorted(clock.waits)
    assert clock.waits[-1] == 1.0
    assert sum(clock.waits[:5]) < 0.5


def test_other_samples_come_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, sampler = sampled(monkeypatch, 5, evidence=False)
    assert set(clock.waits) == {1.0}
    assert [sample.at_seconds for sample in sampler.samples()] == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("seconds", [599, 600, 601, 5_000, 50_000])
def test_a_long_trial_is_thinned_to_600_instants_over_its_whole_length(
    monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    _, sampler = sampled(monkeypatch, seconds, evidence=False)
    instants = [sample.at_seconds for sample in sampler.samples()]
    assert 300 <= len(instants) <= 600
    assert instants == sorted(instants)
    assert instants[-1] > 0.99 * seconds


def test_nothing_is_sampled_after_the_end() -> None:
    provider = Counting()
    sampler = Sampler([provider])
    sampler.begin()
    assert provider.seen.wait(30)
    sampler.end()
    asked = len(provider.asked)
    assert len(sampler.samples()) == asked
    assert sampler._thread is not None
    assert not sampler._thread.is_alive()
