"""Which partitions of a table are old: by the instant before which all rows of each lie.

A partition goes when that instant is not after the beginning of today, by the clock of the database, less the time
that rows are kept. What cannot be read is kept, and so is the newest partition, however old it is.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkit.errors import ToolkitError
from toolkit.units import byte_size, counted

_FORM = re.compile(r"(?P<count>\d{1,5}) *(?P<unit>day|week|month|year)s?", re.IGNORECASE)
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "year": 12}
_NAMED = 12
"""Most partitions that a sentence names; each of them has its statement in the script."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How long rows are kept: so many days, or so many months."""

    days: int = 0
    months: int = 0

    def before(self, now: datetime) -> datetime:
        """Return the beginning of the first day whose rows are kept; the 31st less a month is that month's last.

        Raises:
            ToolkitError: TK-0102 for more years than there were.
        """
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        year, month = divmod(today.year * 12 + today.month - 1 - self.months, 12)
        try:
            first = today.replace(year=year, month=month + 1, day=min(today.day, monthrange(year, month + 1)[1]))
            return first - timedelta(days=self.days)
        except (ValueError, OverflowError):
            raise ToolkitError(
                "`--keep-rows` reaches back before the year 1", code="TK-0102", hint="give a shorter time"
            ) from None


def parse_keep(text: str) -> Kept:
    """Read how long rows are kept.

    Raises:
        ToolkitError: TK-0102 for what is no number of days, weeks, months or years, or is none.
    """
    match = _FORM.fullmatch(text.strip())
    number = int(match["count"]) if match else 0
    if match is None or number == 0:
        shown = text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
        raise ToolkitError(
            f"`{shown[:60]}` does not say how long rows are kept",
            code="TK-0102",
            hint='give a number with its unit: --keep-rows "24 months" (days, weeks, months or years)',
        )
    unit = match["unit"].lower()
    return Kept(number * _DAYS.get(unit, 0), number * _MONTHS.get(unit, 0))


@dataclass(frozen=True, slots=True)
class Aging:
    """A partition: its name, before which instant all its rows lie, and why it stays whatever that is.

    Attributes:
        name: as its statement and its label name it.
        ends: the instant; None where it has none (MAXVALUE, DEFAULT), or it cannot be read.
        bytes: its size; None where it is not known.
        stays: why it is never dropped; empty where it may be.
    """

    name: str
    ends: datetime | None = None
    bytes: float | None = None
    stays: str = ""


@dataclass(frozen=True, slots=True)
class Aged:
    """The partitions of a table, divided: what is old, the oldest first, and what stays though it may be old."""

    table: str
    every: tuple[Aging, ...]
    before: datetime

    @property
    def old(self) -> tuple[Aging, ...]:
        """Those that go."""
        return tuple(part for part in self._old_enough() if not part.stays and part != self._newest)

    @property
    def _newest(self) -> Aging | None:
        """The partition that stays however old it is: the last of those that end, where none is without an end."""
        known = [part for part in self.every if part.ends is not None]
        newest = max(known, key=lambda part: part.ends or datetime.min, default=None)
        return newest if len(known) == len(self.every) else None

    def _old_enough(self) -> Sequence[Aging]:
        found = [part for part in self.every if part.ends is not None and part.ends <= self.before]
        return sorted(found, key=lambda part: part.ends or datetime.min)

    def sentences(self, done: str) -> Iterator[str]:
        """Say what goes and what stays.

        Args:
            done: what is done to an old partition: `dropped`.
        """
        day, old = self.before.date().isoformat(), self.old
        if not self.every:
            yield f"`{self.table}` has no partitions that could be read: nothing is {done}"
        elif not old:
            yield f"no partition of `{self.table}` ends on {day} or before: nothing is {done}"
        else:
            sizes = [part.bytes for part in old if part.bytes is not None]
            size = f" ({byte_size(sum(sizes))})" if len(sizes) == len(old) else ""
            named = ", ".join(f"`{part.name}`" for part in old[:_NAMED])
            more = f" and {len(old) - _NAMED} more, each below" if len(old) > _NAMED else ""
            yield (
                f"{len(old)} of {counted(len(self.every), 'partition')} of `{self.table}`{size} ended on {day} or "
                f"before and {'is' if len(old) == 1 else 'are'} {done}: {named}{more}"
            )
        yield from self._exceptions()

    def _exceptions(self) -> Iterator[str]:
        for part in self.every:
            if part.stays and (part.ends is None or part.ends <= self.before):
                yield f"partition `{part.name}` stays: {part.stays}"
        newest = self._newest
        if newest is not None and not newest.stays and newest in self._old_enough():
            yield f"partition `{newest.name}` stays though it is old: a table keeps its newest partition"
