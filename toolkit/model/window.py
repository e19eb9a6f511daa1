"""Maintenance windows: when work may run, by the clock on the wall of a time zone.

A window such as 22:00-06:00 opens and closes by local time, so that it is an hour shorter or longer on the days
when the clocks change. A local time that a clock change skips counts as the instant of the change; of one that
comes twice the first counts, for closing early is safe and opening early stands in the plan. All instants here are
aware and in UTC; zone rules come from the system or from `tzdata` (PEP 615).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

DAY_MINUTES = 24 * 60
_SEARCHED_DAYS = 400
"""How far ahead an opening is looked for: a year, and the longest window."""
_AROUND = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time, from `begin` up to but not including `end`, in UTC."""

    begin: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        return (self.end - self.begin).total_seconds()

    def holds(self, instant: datetime) -> bool:
        return self.begin <= instant < self.end


@dataclass(frozen=True, slots=True)
class Blackout:
    """Local dates, both included, on which nothing may run."""

    first: date
    last: date

    def holds(self, day: date) -> bool:
        return self.first <= day <= self.last


@dataclass(frozen=True, slots=True)
class Window:
    """One opening a day, on some days of the week.

    `opens` and `closes` are minutes after local midnight; one that closes before it opens runs into the next day,
    which need not be among `days` (0 is Monday): they are the days of opening.
    """

    opens: int
    closes: int
    zone: str
    days: frozenset[int] = frozenset(range(7))
    blackouts: tuple[Blackout, ...] = ()

    def spans(self, begin: datetime, end: datetime) -> Iterator[TimeSpan]:
        """Yield the openings that reach into a stretch of time, in order; whole, not cut to it."""
        from zoneinfo import ZoneInfo

        zone = ZoneInfo(self.zone)
        day = begin.astimezone(zone).date() - timedelta(days=1)
        last = end.astimezone(zone).date()
        while day <= last:
            for span in self._of_day(day, zone):
                if span.begin < end and begin < span.end:
                    yield span
            day += timedelta(days=1)

    def _of_day(self, day: date, zone: ZoneInfo) -> Iterator[TimeSpan]:
        """Yield what opens on a day: at most its evening and the morning after it, cut out of blackouts."""
        if day.weekday() not in self.days:
            return
        over_midnight = self.closes <= self.opens
        ends = self.closes + DAY_MINUTES if over_midnight else self.closes
        closed_today = self._is_blackout(day)
        closed_tomorrow = over_midnight and self._is_blackout(day + timedelta(days=1))
        first = DAY_MINUTES if closed_today else self.opens
        end = DAY_MINUTES if closed_tomorrow else ends
        span = TimeSpan(instant_of(day, first, zone), instant_of(day, end, zone))
        if first < end and span.begin < span.end:
            yield span

    def _is_blackout(self, day: date) -> bool:
        return any(each.holds(day) for each in self.blackouts)


def instant_of(day: date, minutes: int, zone: ZoneInfo) -> datetime:
    """Return the instant at which clocks in a zone show so many minutes after midnight of a day.

    Args:
        day: the local date that `minutes` counts from.
        minutes: 0 to 2879; from 1440 they are of the next day.
        zone: whose clocks.
    """
    local = datetime.combine(day, time()) + timedelta(minutes=minutes)
    early = local.replace(tzinfo=zone, fold=0)
    instant = early.astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) == local:
        return instant
    return _change_near(early, zone)


def _change_near(skipped: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant of the clock change that skips a local time, to the second.

    With the offset from before the change (fold 0) a skipped time lies after it, with the one from after it
    (fold 1) before it (PEP 495).
    """
    before, after = skipped.replace(fold=1).astimezone(UTC), skipped.astimezone(UTC)
    former = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) / 2
        if middle.astimezone(zone).utcoffset() == former:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class DatabaseWindow:
    """One opening of a window that a database's own scheduler keeps.

    `gathers` tells whether automatic tasks gather statistics in it, None where that is not known.
    """

    name: str
    span: TimeSpan
    resource_plan: str | None = None
    gathers: bool | None = None


@dataclass(frozen=True, slots=True)
class Windows:
    """All windows of a plan; without any, work may run at any time."""

    each: tuple[Window, ...] = ()

    def spans(self, begin: datetime, end: datetime) -> list[TimeSpan]:
        """Return the openings that reach into a stretch of time; those that touch are one."""
        found = sorted((span for one in self.each for span in one.spans(begin, end)), key=lambda span: span.begin)
        return _joined(found)

    def now(self, instant: datetime) -> TimeSpan | None:
        """Return the opening that an instant falls into, or None; of one without end the next three days."""
        around = self.spans(instant - _AROUND, instant + _AROUND)
        return next((span for span in around if span.holds(instant)), None)

    def next(self, instant: datetime) -> TimeSpan | None:
        """Return the first opening that begins after an instant; None when none does within a year."""
        for ahead in range(_SEARCHED_DAYS):
            begin = instant + timedelta(days=ahead)
            for span in self.spans(begin, begin + timedelta(days=1)):
                if span.begin > instant:
                    return span
        return None

    def last(self, instant: datetime) -> TimeSpan | None:
        """Return the opening that closed last before an instant; None when none did within a year."""
        for ago in range(_SEARCHED_DAYS):
            end = instant - timedelta(days=ago)
            closed = [span for span in self.spans(end - timedelta(days=1), end) if span.end <= instant]
            if closed:
                return closed[-1]
        return None

    def overlap(self, since: datetime) -> tuple[Window, Window] | None:
        """Return two windows that are open at once within a year, or None."""
        until = since + timedelta(days=_SEARCHED_DAYS)
        marked = sorted(
            ((span, one) for one in self._suspects() for span in one.spans(since, until)),
            key=lambda pair: pair[0].begin,
        )
        for (first, one), (second, other) in pairwise(marked):
            if second.begin < first.end:
                return one, other
        return None

    def _suspects(self) -> Sequence[Window]:
        """Return the windows that may overlap: those of one zone only do if they do so within a week.

        Clocks of one zone keep the order of local times, also where they change; and blackouts only close.
        """
        if len({one.zone for one in self.each}) > 1:
            return self.each
        week = sorted(
            (day * DAY_MINUTES + one.opens, day * DAY_MINUTES + _closes(one), at)
            for at, one in enumerate(self.each)
            for day in (*one.days, *(day + 7 for day in one.days))
        )
        found = {at for first, second in pairwise(week) if second[0] < first[1] for at in (first[2], second[2])}
        return [one for at, one in enumerate(self.each) if at in found]


def _closes(window: Window) -> int:
    """Return when a window closes, in minutes after the midnight before it opens."""
    return window.closes + DAY_MINUTES if window.closes <= window.opens else window.closes


def _joined(spans: Sequence[TimeSpan]) -> list[TimeSpan]:
    joined: list[TimeSpan] = []
    for span in spans:
        if joined and span.begin <= joined[-1].end:
            joined[-1] = TimeSpan(joined[-1].begin, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined
