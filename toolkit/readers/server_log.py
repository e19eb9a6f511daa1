"""Lines of a server's log with the instants that stand in it: its own clock, not that of whoever reads it.

Forms that are read, each at the beginning of a line or alone on one (the lines after it then have its time):

- ISO 8601, with or without fraction and zone: `2026-11-28 16:42:38.123 UTC` is `%m` of PostgreSQL's
  `log_line_prefix`, `2026-11-28T16:42:38.123456+01:00` the alert log of Oracle 12.2 and later
  (PostgreSQL documentation, Error Reporting and Logging; Oracle Database Reference, UNIFORM_LOG_TIMESTAMP_FORMAT);
- seconds since 1970: `1764348158.123`, `%n` of the same prefix;
- `Sat Nov 28 16:42:38 2026`, the alert log before 12.2, and with UNIFORM_LOG_TIMESTAMP_FORMAT = FALSE;
- a date without a year: `Nov 28 16:42:38` of syslog, `I. 11/28 16:42:38. ` of the message log of Sybase IQ
  (its System Administration Guide, Interpreting Notification Messages).

A line that begins with a tab goes on with the one before it (PostgreSQL, `append_with_tabs` of elog.c): a time in
it is the statement's.

A time without a zone, or with the abbreviation of one that is not UTC's, is taken as this host's local time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

_Read = Callable[[re.Match[str], datetime], tuple[float, float]]
_SEARCHED = 120
"""How far into a line its time may begin and end, behind what else a prefix says."""
_ISO = re.compile(
    r"(?<![\d.:])(?P<date>\d{4}-\d\d-\d\d)[ T](?P<time>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
    r" ?(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d\d(?::?\d\d)?\b)?",
    re.ASCII,
)
_EPOCH = re.compile(r"(?<![\d.])(?P<whole>\d{10})\.(?P<part>\d{3,6})(?!\d)", re.ASCII)
_LONG = re.compile(
    r"^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<text>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\b", re.ASCII
)
_SYSLOG = re.compile(r"^(?P<text>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)\b", re.ASCII)
_MONTH_FIRST = re.compile(r"^[A-Z]\. (?P<text>\d\d/\d\d \d\d:\d\d:\d\d)\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line and when it was written, in seconds since 1970 by the clock of who wrote it.

    `step_seconds` is how finely that clock is written: 1.0 where it has whole seconds.
    """

    at: float
    step_seconds: float
    text: str


def stamped(lines: Iterable[str], now: datetime, before: LogLine | None = None) -> Iterator[LogLine]:
    """Yield lines with their times; lines before the first time are left out.

    Args:
        lines: as they stand in the log.
        now: an aware instant, for times without a year: the year that brings them nearest to it is theirs.
        before: the line before them, whose time is that of lines without one.
    """
    last = None if before is None else (before.at, before.step_seconds)
    for line in lines:
        last = _stamp(line[:_SEARCHED], now) or last
        if last is not None:
            yield LogLine(*last, line)


def _stamp(line: str, now: datetime) -> tuple[float, float] | None:
    if line.startswith("\t"):
        return None
    for pattern, read in _FORMS:
        match = pattern.search(line)
        if match is not None:
            with suppress(ValueError, OverflowError, OSError):
                return read(match, now)
    return None


def _iso(match: re.Match[str], now: datetime) -> tuple[float, float]:
    del now
    part, zone = match["part"] or "", match["zone"] or ""
    zone = "+00:00" if zone in {"Z", "UTC", "GMT"} else zone
    found = datetime.fromisoformat(f"{match['date']}T{match['time']}{zone}")
    return _seconds(found) + _fraction(part), _step(part)


def _epoch(match: re.Match[str], now: datetime) -> tuple[float, float]:
    del now
    return float(match["whole"]) + _fraction(match["part"]), _step(match["part"])


def _long(match: re.Match[str], now: datetime) -> tuple[float, float]:
    del now
    return _seconds(_english(match["text"])), 1.0


def _without_year(
    spell: Callable[[str, int], datetime],
) -> Callable[[re.Match[str], datetime], tuple[float, float]]:
    def read(match: re.Match[str], now: datetime) -> tuple[float, float]:
        years = (now.year - 1, now.year, now.year + 1)
        near: list[float] = []
        for year in years:
            with suppress(ValueError):  # the 29th of February is not in every year
                near.append(_seconds(spell(match["text"], year)))
        return min(near, key=lambda at: abs(at - now.timestamp())), 1.0

    return read


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _english(text: str) -> datetime:
    """Read `Nov 28 16:42:38 2026`, whatever the locale of this process is.

    Raises:
        ValueError: it is no such time.
    """
    month, day, time, year = text.split()
    return datetime.fromisoformat(f"{year}-{_MONTHS.index(month) + 1:02d}-{int(day):02d}T{time}")


def _slashed(text: str, year: int) -> datetime:
    date, time = text.split()
    return datetime.fromisoformat(f"{year}-{date.replace('/', '-')}T{time}")


def _seconds(found: datetime) -> float:
    """Return seconds since 1970; of a time without a zone as local time."""
    return found.timestamp() if found.tzinfo is None else found.astimezone(UTC).timestamp()


def _fraction(digits: str) -> float:
    return float(f"0.{digits}") if digits else 0.0


def _step(digits: str) -> float:
    return 10.0 ** -len(digits)


_FORMS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_ISO, _iso),
    (_LONG, _long),
    (_SYSLOG, _without_year(lambda text, year: _english(f"{text} {year}"))),
    (_MONTH_FIRST, _without_year(_slashed)),
    (_EPOCH, _epoch),
)
