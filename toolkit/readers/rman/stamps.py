"""Dates of a log: the NLS format is learnt from all its stamps together, for each stamp alone may be ambiguous.

`STAMP=` is a clock of its own that no NLS setting changes: seconds counted as if every month had 31 days, from
1988 on (seen to agree with the dates printed beside it in real logs).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise

_TIME = re.compile(
    r"(上午|下午|午前|午後|오전|오후)?\s*(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:[.,]\d+)?"
    r"\s*(AM|PM|A\.M\.|P\.M\.|上午|下午|午前|午後|오전|오후)?\s*$",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\d+|[^\W\d_]+")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)[ _T-]?(?:(\d\d)(\d\d)(\d\d)?)?$")
_MONTHS = (
    ("jan", "ene", "янв", "gen", "ock", "sty"), ("feb", "fév", "fev", "фев", "şub", "lut"),
    ("mar", "mär", "mrz", "мар", "maa"), ("apr", "avr", "abr", "апр", "nis", "kwi"),
    ("may", "mai", "mag", "май", "мая", "maj"),
    ("jun", "juin", "giu", "июн", "haz", "cze"), ("jul", "juil", "lug", "июл", "tem", "lip"),
    ("aug", "aoû", "aou", "ago", "авг", "ağu", "sie"), ("sep", "set", "сен", "eyl", "wrz"),
    ("oct", "okt", "out", "ott", "окт", "eki", "paź"), ("nov", "ноя", "kas", "lis"),
    ("dec", "dez", "dic", "déc", "дек", "ara", "gru"),
)  # fmt: skip
_BY_NAME = {name: number for number, names in enumerate(_MONTHS, 1) for name in names} | {"juin": 6, "juil": 7}
_IN_THE_AFTERNOON = frozenset({"pm", "p.m.", "下午", "午後", "오후"})
_ORDERS = ("ymd", "dmy", "mdy")
_MOST_STAMPS = 500
_MOST_REMEMBERED = 10_000

DATE = re.compile(
    r"(?<![\w/\\])(?:\d{1,4}\s?[-./年]\s?[^\W\d_]{1,10}\.?\s?[-./ ]\s?\d{2,4}"
    r"|\d{1,4}[-./年]\d{1,2}(?:月|[-./])\d{1,4}日?"
    r"|\d{1,2}[-./ ]\d{1,2}月\s?[-./ ]\s?\d{2,4}|\d{8}(?:[ _T-]?\d{6})?(?!\d)|[A-Z][a-z]{2} \d{1,2},? \d{4})"
    r"(?:[ T_:-]{1,2}(?:上午|下午|午前|午後)?\s?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AP]\.?M\.?)?)?"
)
"""A date, with its time of day if there is one, inside a line of any language."""


def of_stamp(stamp: int) -> datetime | None:
    """Return the instant of a STAMP, local time of the database."""
    rest, second = divmod(stamp, 60)
    rest, minute = divmod(rest, 60)
    rest, hour = divmod(rest, 24)
    rest, day = divmod(rest, 31)
    years, month = divmod(rest, 12)
    try:
        return datetime(1988 + years, month + 1, day + 1, hour, minute, second)
    except (ValueError, OverflowError):
        return None


def parser(stamps: Sequence[str], hints: Iterable[datetime] = ()) -> Callable[[str], datetime | None]:
    """Return the function that reads the stamps of a log.

    Args:
        stamps: as printed, in the order of the log.
        hints: instants of the same log that are known for certain.
    """
    samples = list(dict.fromkeys(stamps))[:_MOST_STAMPS]
    near = sorted(hints)
    middle = near[len(near) // 2] if near else None
    scored = [(_score(samples, order, middle), order) for order in _ORDERS]
    best = min(scored, key=lambda entry: entry[0])[1]
    known: dict[str, datetime | None] = {}

    def remembered(text: str) -> datetime | None:
        if text not in known and len(known) < _MOST_REMEMBERED:
            known[text] = read(text, best)
        return known[text] if text in known else read(text, best)

    return remembered


def _score(samples: Sequence[str], order: str, hint: datetime | None) -> tuple[float, float, float]:
    found = [read(text, order) for text in samples]
    known = [one for one in found if one is not None]
    if not known:
        return (float(len(samples)), 0.0, 0.0)
    away = abs((known[0] - hint).total_seconds()) if hint else 0.0
    backwards = sum(1 for a, b in pairwise(known) if (a - b) > timedelta(days=1))
    span = (max(known) - min(known)).total_seconds()
    return (float(len(found) - len(known)), away // 172_800, span + 86_400 * backwards)


def has_time(text: str) -> bool:
    """Whether a stamp tells the time of day."""
    compact = _COMPACT.match(text.strip())
    return bool(compact and compact[4]) or bool(_time_of(text)[0])


def read(text: str, order: str) -> datetime | None:
    """Read one stamp with year, month and day in the order given; a month's name tells its own place."""
    text = text.strip()
    compact = _COMPACT.match(text)
    if compact is not None:
        return _instant([int(compact[n]) for n in (1, 2, 3)], [int(compact[n] or 0) for n in (4, 5, 6)])
    clock, rest = _time_of(text)
    date = _date(_PARTS.findall(rest), order)
    return None if date is None else _instant(date, clock or [0, 0, 0])


@lru_cache(maxsize=4096)
def _time_of(text: str) -> tuple[Sequence[int], str]:
    found = _TIME.search(text)
    # `01.02.03` alone is a date, not a time
    if found is None or (found.start() and text[found.start(2) - 1].isdigit()) or found.start() == 0:
        return [], text
    before = text[: found.start()]
    if len(_PARTS.findall(before)) < 3:
        return [], text
    hour = int(found[2])
    half = (found[1] or found[5] or "").lower()
    if half:
        hour = hour % 12 + (12 if half in _IN_THE_AFTERNOON else 0)
    return [hour, int(found[3]), int(found[4] or 0)], before


def _date(parts: Sequence[str], order: str) -> list[int] | None:
    numbers: list[int] = []
    month = 0
    for part in parts:
        if part.isascii() and part.isdigit():
            numbers.append(int(part))
        elif part in {"月", "월"} and numbers and not month:
            month = numbers.pop()
        elif not month:
            month = _BY_NAME.get(part.lower()[:4]) or _BY_NAME.get(part.lower()[:3]) or 0
    if month and len(numbers) >= 2:
        first, second = numbers[:2]
        year, day = (first, second) if first > 31 else (second, first)
        return [_century(year), month, day]
    if len(numbers) < 3:
        return None
    year, month_number, day = (numbers[order.index(letter)] for letter in "ymd")
    return [_century(year), month_number, day]


def _century(year: int) -> int:
    return year if year > 99 else 2000 + year if year < 80 else 1900 + year


def _instant(date: Sequence[int], clock: Sequence[int]) -> datetime | None:
    try:
        return datetime(date[0], date[1], date[2], clock[0], clock[1], clock[2])
    except (ValueError, OverflowError):
        return None
