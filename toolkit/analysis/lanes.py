"""Who worked when: pieces of work in lanes (channels of a backup, workers of a job), and who waited for whom.

A lane is busy while one of its bars runs. The work ends with its last bar; a lane that is through before waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from toolkit.units import percent, seconds

_BY_BEGIN = attrgetter("begin", "lane")
_TELLING = 0.1
"""A wait below a tenth of the whole tells nothing."""


class LaneBar(NamedTuple):
    """One piece of work: seconds since the whole began; `good` is False when it did not end well.

    `measured` is how long it took where who did it says so: stamps in whole seconds differ from that by one.
    """

    lane: str
    label: str
    begin: float
    end: float
    bytes: int | None = None
    good: bool = True
    measured: float | None = None

    @property
    def seconds(self) -> float:
        return self.end - self.begin if self.measured is None else self.measured


@dataclass(frozen=True, slots=True)
class Lane:
    """What one lane did: seconds busy, when it was through, how many bars it had; bytes if known of each.

    `parts` of the bars are no pieces: a part of an operation in which no piece was begun.
    """

    name: str
    busy_seconds: float
    through_seconds: float
    bars: int
    bytes: int | None
    parts: int = 0

    @property
    def pieces(self) -> int:
        """The pieces it worked on."""
        return self.bars - self.parts


@dataclass(frozen=True, slots=True)
class Lanes:
    """All lanes of one piece of work.

    Attributes:
        span_seconds: from the first beginning to the last end.
        paused_seconds: of it, the time between one operation and the next: nobody is idle then.
        exact: False when the times of day are not known and the bars of a lane were laid one after another.
        total_lanes: lanes there were, also those without a bar.
    """

    bars: tuple[LaneBar, ...]
    lanes: tuple[Lane, ...]
    span_seconds: float
    exact: bool = True
    paused_seconds: float = 0.0

    @property
    def work_seconds(self) -> float:
        """Seconds of the span in which an operation was under way: idle is what of them a lane was not busy."""
        return self.span_seconds - self.paused_seconds

    def idle_seconds(self, lane: Lane) -> float:
        """Return how long a lane had nothing to do while an operation was under way."""
        return max(0.0, self.work_seconds - lane.busy_seconds)

    @property
    def last(self) -> LaneBar | None:
        """The bar that ends last: the whole waits for it."""
        return max(self.bars, key=lambda bar: bar.end, default=None)

    @property
    def imbalance(self) -> float | None:
        """The busiest lane over the mean of all; 1 is even. None with fewer than two lanes."""
        busy = [lane.busy_seconds for lane in self.lanes]
        mean = sum(busy) / len(busy) if busy else 0.0
        return max(busy) / mean if len(busy) > 1 and mean > 0 else None

    @property
    def utilisation(self) -> float | None:
        """Busy seconds of all lanes over lanes times the working time; 1 means that nobody waited."""
        if not self.lanes or self.work_seconds <= 0:
            return None
        return sum(lane.busy_seconds for lane in self.lanes) / (len(self.lanes) * self.work_seconds)

    @property
    def waited_seconds(self) -> float:
        """The longest time that a lane had nothing left to do while the last bar ran."""
        return self.span_seconds - min((lane.through_seconds for lane in self.lanes), default=self.span_seconds)


def lanes_of(bars: Iterable[LaneBar], names: Sequence[str] = (), *, exact: bool = True) -> Lanes:
    """Put bars into lanes, the clock beginning with the first of them.

    Args:
        names: lanes there were, in their order, with or without a bar.
    """
    found = sorted(bars, key=_BY_BEGIN)
    start = found[0].begin if found else 0.0
    moved = tuple(found)
    if start:
        moved = tuple(bar._replace(begin=bar.begin - start, end=bar.end - start) for bar in found)
    span = max((bar.end for bar in moved), default=0.0)
    by_lane: dict[str, list[LaneBar]] = {}
    for bar in moved:
        by_lane.setdefault(bar.lane, []).append(bar)
    order = list(dict.fromkeys([*names, *sorted(by_lane, key=_natural)]))
    return Lanes(moved, tuple(_lane(name, by_lane.get(name, [])) for name in order), span, exact)


def _lane(name: str, bars: Sequence[LaneBar]) -> Lane:
    known = [bar.bytes for bar in bars if bar.bytes is not None]
    whole = len(known) == len(bars)
    busy = _covered(bars)
    through = max((bar.end for bar in bars), default=0.0)
    return Lane(name, busy, through, len(bars), sum(known) if known and whole else None)


def _covered(bars: Sequence[LaneBar]) -> float:
    """Return the seconds in which at least one of some bars, in the order they begin, ran."""
    total, until = 0.0, float("-inf")
    for _, _, begin, end, *_ in bars:
        if end > until:
            total += end - (begin if begin > until else until)
            until = end
    return total


def _natural(name: str) -> tuple[str, int]:
    head = name.rstrip("0123456789")
    tail = name[len(head) :]
    return head, int(tail[:9]) if tail else -1


def balance_sentences(found: Lanes, one: str = "channel") -> tuple[str, ...]:
    """Say what a DBA should see in a picture of lanes: idle lanes, one piece that everything waits for."""
    if len(found.lanes) < 2 or found.last is None or found.span_seconds <= 0:
        return ()
    sentences = []
    without = [lane.name for lane in found.lanes if not lane.bars]
    if without:
        many = f"{one}s {_some(without)} had" if len(without) > 1 else f"{one} `{without[0]}` had"
        sentences.append(f"{many} no set of its own: there are fewer backup sets than {one}s")
    telling = _TELLING * found.span_seconds
    long = found.exact and any(end - begin >= telling for _, _, begin, end, *_ in found.bars)
    bar, alone = longest_alone(found) if long else (None, 0.0)
    if bar is not None and alone >= telling:
        failed = any(not other.good for other in found.bars if other.lane != bar.lane)
        others = f"no other {one} worked" if failed else f"the other {one}s had nothing to do"
        sentences.append(
            f"`{bar.lane}` ({bar.label}) worked alone for {seconds(alone)}, "
            f"{percent(100 * alone / found.span_seconds)} of the time, while {others}"
        )
    return tuple(sentences)


def longest_alone(found: Lanes) -> tuple[LaneBar | None, float]:
    """Return the bar that ran longest while no other lane worked, and for how many seconds."""
    events = [(begin, 1, index) for index, (_, _, begin, *_) in enumerate(found.bars)]
    events += [(end, 0, index) for index, (_, _, _, end, *_) in enumerate(found.bars)]
    events.sort()
    active: set[int] = set()
    alone: dict[int, float] = {}
    before = 0.0
    for at, begins, index in events:
        if len(active) == 1:
            (only,) = active
            alone[only] = alone.get(only, 0.0) + at - before
        active.add(index) if begins else active.discard(index)
        before = at
    longest = max(alone, key=lambda index: alone[index], default=None)
    return (None, 0.0) if longest is None else (found.bars[longest], alone[longest])


def _some(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
