"""What the hosts of a mix or a load showed of themselves while a trial ran, and how far their clocks are apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from toolkit.dialects.workloads import HOSTS, host_metric, means_and_peaks
from toolkit.executors.hosts import Host
from toolkit.model.records import Metric, Sample

_LEAST_APART_SECONDS = 0.5
"""Half of the time between two samples: as its clock is known better, a sample is heard again at another time."""


class HostsProvider:
    """A provider of samples and metrics by host."""

    name = "hosts"
    after_evidence = False

    def __init__(self, hosts: Callable[[], Sequence[Host]]) -> None:
        self._hosts = hosts
        self._begun = time.monotonic()
        self._since: dict[str, float] = {}

    def begin(self) -> None:
        self._begun, self._since = time.monotonic(), {}

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        """Return what was heard since the last look, at its own time: a host is heard of up to a second later."""
        now, found = time.monotonic(), list[Sample]()
        for host in self._hosts():
            for one in host.samples(self._since.get(host.name, self._begun), now):
                self._since[host.name] = one.at + _LEAST_APART_SECONDS
                at = max(0.0, at_seconds - (now - one.at))
                found += (Sample(at, host_metric(host.name, name), value) for name, value in one.values.items())
        return tuple(found)

    def end(self) -> tuple[Metric, ...]:
        return tuple(self._metrics(time.monotonic()))

    def _metrics(self, end: float) -> Iterator[Metric]:
        for host in self._hosts():
            clock = host.clock
            ahead, unsure = clock.wall_ahead_seconds, clock.uncertainty_seconds
            yield Metric(host_metric(host.name, "clock_ahead_seconds"), ahead, "s", HOSTS)
            yield Metric(host_metric(host.name, "clock_uncertainty_seconds"), unsure, "s", HOSTS)
            if (late := host.begun_late_seconds) is not None:
                yield Metric(host_metric(host.name, "begun_late_seconds"), late, "s", HOSTS)
            own = host.samples(self._begun, end)
            yield from means_and_peaks(host.name, [pair for one in own for pair in one.values.items()])

    def peaks(self) -> Mapping[str, float]:
        return {}

    def warnings(self) -> tuple[str, ...]:
        return ()
