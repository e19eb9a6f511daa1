"""The contract of a provider: read before, sample meanwhile, read after, tell the difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from toolkit.model.records import Metric, Sample


class Provider(Protocol):
    """Something that watches a trial. `begin` and `end` are called just outside the clock.

    A provider that cannot read raises nothing: it says so in `warnings` and gives fewer metrics, never zeros.
    """

    name: str
    after_evidence: bool
    """Read the state after the worker's evidence: counters that a server publishes only when asked to. Others are
    read at once, while the workers' threads still exist."""

    def begin(self) -> None:
        """Read the state before."""
        ...

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        """Read what is drawn over time; called on the sampler's thread."""
        ...

    def end(self) -> tuple[Metric, ...]:
        """Read the state after and return the differences."""
        ...

    def peaks(self) -> Mapping[str, float]:
        """Return the highest value of each sampled name, and other evidence of this trial."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """Return what could not be read, in sentences."""
        ...
