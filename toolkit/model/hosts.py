"""Hosts that work together: how far their clocks are apart, and what each was seen to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

THIS_HOST = ""
"""The name of the host that the run itself is on, where no other one is asked."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """A question to a host and its answer: when it was asked and answered here, and what its clocks showed there.

    `asked`, `answered` and `there` are seconds of clocks that only go forward (`time.monotonic`), `wall_here` and
    `wall_there` of clocks that show the time of day.
    """

    asked: float
    answered: float
    there: float
    wall_here: float = 0.0
    wall_there: float = 0.0

    @property
    def delay(self) -> float:
        return self.answered - self.asked


@dataclass(frozen=True, slots=True)
class Clock:
    """How far the clocks of a host are ahead of those of the run's host, and how wrong that may be at most.

    Attributes:
        ahead_seconds: of the clock that only goes forward: it says when things begin together.
        uncertainty_seconds: of either: half of the round trip.
        wall_ahead_seconds: of the time of day.
    """

    ahead_seconds: float = 0.0
    uncertainty_seconds: float = 0.0
    wall_ahead_seconds: float = 0.0


def clock_of(trips: Iterable[RoundTrip]) -> Clock:
    """Return how far a clock is ahead, by the quickest of some round trips.

    The clock there is taken to have been read in the middle of the trip, which is wrong by half of the trip at
    most: RFC 5905 (NTP version 4), section 8 (offset and delay of a round trip) and section 10 (of several, that
    of the least delay is the best).

    Raises:
        ValueError: there is none.
    """
    best = min(trips, key=lambda trip: trip.delay)
    half = best.delay / 2
    wall = best.wall_there - best.wall_here - half
    return Clock(best.there - best.asked - half, half, wall)


@dataclass(frozen=True, slots=True)
class HostSample:
    """What a host showed at an instant of its clock that only goes forward: names with units, and values."""

    at: float
    values: dict[str, float]


@dataclass(slots=True)
class HostPart:
    """What one host did in a measured interval.

    Attributes:
        name: of the host.
        users: how many of the users lived on it.
        done: how many of their transactions ended well.
        driver_seconds: the CPU time of their processes.
        clock: of it, as measured before the interval.
        samples: in the interval, `at` in seconds from its begin.
    """

    name: str
    users: int
    done: int = 0
    driver_seconds: float | None = None
    clock: Clock = field(default_factory=Clock)
    samples: tuple[HostSample, ...] = ()
