"""Reads windows as a person writes them: `22:00-06:00 Europe/Berlin`, or a table with days and blackout dates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from toolkit.documents import did_you_mean, nearest
from toolkit.errors import ToolkitError
from toolkit.model.window import DAY_MINUTES, Blackout, Window, Windows

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LONG_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TEXT = re.compile(r"\s*(?P<opens>\S+?)\s*-\s*(?P<closes>[\d:]+)\s+(?P<zone>\S+)\s*", re.ASCII)
_TIMES = re.compile(r"\s*(?P<opens>\S+?)\s*-\s*(?P<closes>\S+?)\s*", re.ASCII)
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)|(24):(00)", re.ASCII)
_KEYS = ("time", "zone", "days", "blackout")
_FORM = 'such as "22:00-06:00 Europe/Berlin"'
_TABLE = '`{time = "22:00-06:00", zone = "Europe/Berlin"}`; `days` and `blackout` may be added'


def read_windows(value: object, *, today: date | None = None) -> Windows:
    """Read the windows of a plan: one, or a list of them.

    Args:
        value: a text, a table with `time`, `zone`, `days` and `blackout`, or a list of these.
        today: what "within a year" counts from; today by default.

    Raises:
        ToolkitError: TK-0102 for times, days, dates or zones that are none, TK-0107 for windows that never open or
            that overlap.
    """
    given = value if isinstance(value, list) else [value]
    if not given:
        raise ToolkitError("no window was given", code="TK-0102", hint="omit `window` to run at any time")
    windows = Windows(tuple(_window(one) for one in given))
    since = datetime.combine(today or datetime.now(UTC).date(), datetime.min.time(), UTC)
    for one in windows.each:
        if Windows((one,)).next(since) is None:
            raise ToolkitError(
                f"the window {spell_window(one)} does not open within a year",
                code="TK-0107",
                hint="check its days and its blackout dates",
            )
    both = windows.overlap(since)
    if both is not None:
        raise ToolkitError(
            f"the windows {spell_window(both[0])} and {spell_window(both[1])} overlap",
            code="TK-0107",
            hint="merge them, or open the second when the first closes",
        )
    return windows


def spell_window(window: Window) -> str:
    """Spell a window as it is written."""
    days = "" if len(window.days) == len(DAYS) else " " + ",".join(DAYS[day] for day in sorted(window.days))
    return f"{_clock(window.opens)}-{_clock(window.closes)} {window.zone}{days}"


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _window(value: object) -> Window:
    if isinstance(value, str):
        found = _TEXT.fullmatch(value)
        if found is None:
            raise ToolkitError(
                f"`{value}` is not a window", code="TK-0102", hint=f"write times and a zone, {_FORM}"
            )
        return _checked(found["opens"], found["closes"], found["zone"], None, None)
    if not isinstance(value, Mapping):
        raise ToolkitError("a window must be a string or a table", code="TK-0102", hint=f"write {_FORM}")
    for key in value:
        if key not in _KEYS:
            hint = did_you_mean(str(key), _KEYS) if nearest(str(key), _KEYS) else f"write {_TABLE}"
            raise ToolkitError(f"a window has no `{key}`", code="TK-0101", hint=hint)
    text = str(value.get("time", ""))
    times = _TIMES.fullmatch(text)
    zone = value.get("zone")
    if zone is None:
        return _window_of_text(text, value)
    if times is None:
        raise ToolkitError(f"`{text}` is not a time of a window", code="TK-0102", hint='such as "22:00-06:00"')
    return _checked(times["opens"], times["closes"], str(zone), value.get("days"), value.get("blackout"))


def _window_of_text(text: str, table: Mapping[str, object]) -> Window:
    """Read a table whose `time` names the zone as the short form does."""
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ToolkitError(
            "a window needs `time` and `zone`", code="TK-0107", hint='such as `zone = "Europe/Berlin"`'
        )
    return _checked(found["opens"], found["closes"], found["zone"], table.get("days"), table.get("blackout"))


def _checked(opens: str, closes: str, zone: str, days: object, blackout: object) -> Window:
    begin, end = _minutes(opens), _minutes(closes)
    if begin == end:
        raise ToolkitError(
            f"a window from {opens} to {closes} never opens", code="TK-0107", hint="00:00-24:00 is the whole day"
        )
    if begin == DAY_MINUTES:
        raise ToolkitError(
            "24:00 is only valid as an end", code="TK-0102", hint="a window opens at 00:00 at the earliest"
        )
    return Window(begin, end, _zone(zone), _days(days), _blackouts(blackout))


def _minutes(text: str) -> int:
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise ToolkitError(
            f"`{text}` is not a time of day", code="TK-0102", hint="write hours and minutes, such as 22:00"
        )
    return DAY_MINUTES if found[3] else int(found[1]) * 60 + int(found[2])


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        found = nearest(name, sorted(available_timezones()))
        raise ToolkitError(
            f"unknown time zone `{name}`",
            code="TK-0102",
            hint=f"did you mean `{found}`?" if found else "use an IANA name, such as `Europe/Berlin`",
        ) from None
    return name


def _days(value: object) -> frozenset[int]:
    if value is None:
        return frozenset(range(len(DAYS)))
    names = value if isinstance(value, list) else [value]
    found: set[int] = set()
    for name in names:
        text = str(name).strip().lower()
        first, dots, last = text.partition("..")
        if dots:
            begin, end = _day(first), _day(last)
            found.update(day % 7 for day in range(begin, end + (1 if end >= begin else 8)))
        else:
            found.add(_day(text))
    if not found:
        raise ToolkitError("a window without days never opens", code="TK-0107", hint="omit `days` for all days")
    return frozenset(found)


def _day(name: str) -> int:
    for names in (DAYS, _LONG_DAYS):
        if name.strip() in names:
            return names.index(name.strip())
    ends = [end for end in re.split(r"[^a-z]+|(?<= )to(?= )", name.strip()) if end]
    known = len(ends) == 2 and all(end in (*DAYS, *_LONG_DAYS) for end in ends)
    hint = f'write "{"..".join(ends)}"' if known else did_you_mean(name, DAYS) or 'write "mon", or "mon..fri"'
    raise ToolkitError(f"`{name}` is not a day", code="TK-0102", hint=hint)


def _blackouts(value: object) -> tuple[Blackout, ...]:
    if value is None:
        return ()
    given: Sequence[object] = value if isinstance(value, list) else [value]
    return tuple(map(_blackout, given))


def _blackout(value: object) -> Blackout:
    first, dots, last = (str(value), "", "") if isinstance(value, date) else str(value).partition("..")
    begin = _date(first)
    end = _date(last) if dots else begin
    if end < begin:
        raise ToolkitError(f"`{value}` ends before it begins", code="TK-0102", hint="write the earlier date first")
    return Blackout(begin, end)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ToolkitError(
            f"`{text}` is not a date", code="TK-0102", hint='write "2026-12-24", or "2026-12-24..2027-01-01"'
        ) from None
