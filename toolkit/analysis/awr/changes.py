"""One measure of one thing in two intervals, per second, with what is known of a side that does not show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from toolkit.model.interval import Interval, Listing

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Amount:
    """A measure over one interval: its total, or the most it can be where the interval does not show it.

    Neither is there when nothing is known.
    """

    total: float | None
    most: float | None
    seconds: float | None

    @property
    def rate(self) -> float | None:
        """The total per second of the interval."""
        return self.total / self.seconds if self.total is not None and self.seconds else None

    @property
    def most_rate(self) -> float | None:
        """The most it can be per second, where the total is not known."""
        return self.most / self.seconds if self.total is None and self.most is not None and self.seconds else None


@dataclass(frozen=True, slots=True)
class Change:
    """A measure before and after."""

    key: str
    before: Amount
    after: Amount

    @property
    def delta(self) -> float | None:
        """How much more per second afterwards; of a side that is only bounded, the least it can be.

        A row that is in the list of one interval only changed at least by what it has above the last row of the
        other list. None when that is not known.
        """
        before, after = self.before.rate, self.after.rate
        if before is not None and after is not None:
            return after - before
        if after is not None and self.before.most_rate is not None:
            return max(0.0, after - self.before.most_rate)
        if before is not None and self.after.most_rate is not None:
            return min(0.0, self.after.most_rate - before)
        return None

    @property
    def bounded(self) -> bool:
        """Whether one side is known by its bound only; what can be nothing at most is known."""
        absent = [one for one in (self.before, self.after) if one.total is None]
        return len(absent) == 1 and absent[0].most_rate != 0

    @property
    def ratio(self) -> float | None:
        """After by before, per second; None where one of them is not known, or nothing before."""
        before, after = self.before.rate, self.after.rate
        return after / before if before and after is not None else None

    @property
    def presence(self) -> str:
        """Say where it stands: `both`, `new`, `gone`, or `neither`."""
        if self.before.total is None:
            return "neither" if self.after.total is None else "new"
        return "gone" if self.after.total is None else "both"


def amount(interval: Interval, value: float | None, most: float | None = None) -> Amount:
    """Return a total over an interval as an amount."""
    return Amount(value, most if value is None else None, interval.origin.elapsed_seconds)


def rates(before: Interval, after: Interval, name: str) -> Change:
    """Return the change of a rate of the load profile."""
    return Change(name, *(Amount(side.load.get(name), None, 1.0) for side in (before, after)))


def matched(
    before: Interval,
    after: Interval,
    listing: Callable[[Interval], Listing[T]],
    measure: str,
) -> dict[str, Change]:
    """Match the rows of two lists by key, the largest change first; what neither can be told of comes last."""
    lists = (listing(before), listing(after))
    found = {}
    for key in dict.fromkeys([*lists[1].rows, *lists[0].rows]):
        sides = [
            amount(side, _value(rows.rows.get(key), measure), None if key in rows.rows else rows.most(measure))
            for side, rows in zip((before, after), lists, strict=True)
        ]
        found[key] = Change(key, *sides)
    return dict(sorted(found.items(), key=lambda one: -abs(one[1].delta or 0.0)))


def _value(row: object, measure: str) -> float | None:
    value = getattr(row, measure, None)
    return float(value) if isinstance(value, int | float) else None


def is_absent(listing: Listing[T], key: str) -> bool:
    """Whether a row is not listed; a row listed without the value is another case: nothing is known of it."""
    return key not in listing.rows
