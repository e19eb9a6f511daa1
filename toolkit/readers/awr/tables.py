"""Tables as a report prints them: headings reduced to what they mean, and the numbers and dates in their cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache

_ODD = re.compile(r"[^a-z0-9%#]+")
_UNIT = re.compile(r"(?<![a-z])(ns|us|ms|cs|s|sec|seconds)$")
_UNIT_WITHIN = re.compile(r"(?<![a-z])(us|ms)(?![a-z])")
_CELL_LABEL = re.compile(r"\s*%?\s*:\s*$")


@dataclass(frozen=True, slots=True)
class AwrTable:
    """One table: `section` is what stands above it, `title` what it says of itself, cells as printed.

    A table of labels (`Redo size: | 393,267.0 | 1,931.8`) may have no headings at all.
    """

    section: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the headings reduced to what they say."""
        return reduced(self.columns)

    @property
    def words(self) -> str:
        """Return all the words around the table, reduced."""
        return f"{reduce(self.section)} | {reduce(self.title)}"

    def begins_with(self, words: Iterable[str]) -> bool:
        """Tell whether one of some words, in lower case, stands in the first column; no row is looked at."""
        first = "\0".join([row[0] for row in self.rows if row]).lower()
        return any(word in first for word in words)

    def labels(self) -> frozenset[str]:
        """Return the labels among the cells, reduced."""
        return frozenset(reduce(cell) for row in self.rows for cell in row if cell.endswith(":"))


def number_of(value: object) -> float | None:
    """Return a number as such, None for anything else (and for True and False, which are none)."""
    kind = type(value)
    if kind is float or kind is int:
        return float(value)  # type: ignore[arg-type]
    return None


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A report taken apart: what it calls itself, its tables, and whether its end was reached."""

    format: str
    title: str
    tables: Sequence[AwrTable]
    ended: bool
    notes: Sequence[str] = ()
    contents: Sequence[str] = field(default=())
    """Sections that the table of contents promises and that are not there."""
    unread: Sequence[str] = ()
    """Lines of figures that stand in no table that could be read."""
    remarks: Sequence[str] = ()
    """Sentences about what of it could not be read."""
    paged: bool = False
    """A text: rows, and whole pages, can be lost between the lines of one without a gap."""


@lru_cache(maxsize=16384)
def reduce(text: str) -> str:
    """Return a heading without case, punctuation and doubled blanks: `%Time -outs` is `%time outs`."""
    return _ODD.sub(" ", text.lower()).strip()


@lru_cache(maxsize=8192)
def reduced(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return all headings reduced."""
    return tuple(reduce(column) for column in columns)


def unit_of(heading: str) -> str | None:
    """Return the unit a reduced heading ends in, or names on the way to its last words (`cr avg time us busy`)."""
    match = _UNIT.search(heading) or _UNIT_WITHIN.search(heading)
    return match[1] if match else None


def label(cell: str) -> str:
    """Return a label as printed, without its colon and the percent sign before it: `Buffer  Hit   %:`."""
    return " ".join(_CELL_LABEL.sub("", cell).split())


@lru_cache(maxsize=16384)
def snake(heading: str) -> str:
    """Return a heading as the name of a value: `% DB time` is `pct_db_time`, `Time (s)` is `time_s`."""
    text = reduce(heading.replace("/", " per ") if "/s" in heading else heading)
    return "_".join(text.replace("%", " pct ").replace("#", " number ").split()) or "column"


# -- headings ---------------------------------------------------------------------------------------------------
class Patterns:
    """Patterns of which a heading may meet several.

    One expression asks them all: each stands in it as a condition that takes no text and need not hold.
    """

    __slots__ = ("_all", "_whole")

    def __init__(self, whole: Iterable[str], anywhere: Iterable[str] = ()) -> None:
        """Put patterns together: those that a whole heading must meet, and those that are met anywhere in one."""
        patterns = {pattern: rf"(?:{pattern})\Z" for pattern in whole}
        found = {pattern: rf".*?(?:{pattern})" for pattern in anywhere}
        asked = [*patterns.values(), *found.values()]
        text = "".join(f"(?:(?={one})(?P<n{number}>))?" for number, one in enumerate(asked))
        self._all = re.compile(text)
        places = self._all.groupindex
        self._whole = [(pattern, places[f"n{number}"]) for number, pattern in enumerate([*patterns, *found])]

    def met(self, heading: str) -> list[str]:
        """Return the patterns that a heading (one line) meets, in their order."""
        match = self._all.match(heading)
        assert match is not None, "every condition is free to fail"
        groups = match.regs
        return [pattern for pattern, place in self._whole if groups[place][0] >= 0]


# -- numbers and dates ------------------------------------------------------------------------------------------
Number = int | float

_SIGNED = re.compile(r"[-+]\d+")
_SHORT = r"[-+]?+(?:\d{1,3}+(?>(?:,\d{3})+)(?<![\d,]{24})|\d{1,20}+)(?>(?:\.\d{1,12})?)"
_USUAL = re.compile(_SHORT, re.ASCII)
"""How nearly every number of a report without decimal commas is printed."""
_COLUMN = re.compile(rf"(?>(?:{_SHORT})?)(?>(?:\0(?>(?:{_SHORT})?))*)", re.ASCII)
_NUMBER = re.compile(r"([-+]?)((?:\d[\d.,' ]*|[.,]\d+))(?:[eE]([-+]?\d{1,3}))?\s*([KMGTP]?)", re.ASCII)
_TIMED = re.compile(r"(\S.*?)\s*(ns|us|µs|μs|ms|cs|s|min|m|h)", re.ASCII)
_POINT = re.compile(r"\0(?:[0-9]{1,3}+(?>(?:,[0-9]{3})+)\.[0-9]++|[0-9]*+\.[0-9]{1,2}+)(?=\0)")
_COMMA = re.compile(r"\0(?:[0-9]{1,3}+(?>(?:\.[0-9]{3})+),[0-9]++|[0-9]*+,[0-9]{1,2}+)(?=\0)")
_LONGEST = 48
"""Active session history prints shares with forty digits."""
_MOST_DIGITS = 40
"""A count of Oracle has no more digits; what has is no number of a report."""
_SCALE = {"": 0, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_MILLISECONDS = {
    "ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "cs": 10.0,
    "s": 1e3, "sec": 1e3, "seconds": 1e3, "min": 6e4, "m": 6e4, "h": 3.6e6,
}  # fmt: skip
_SIZE = re.compile(r"(.*\d)\s*([KMGTP]?)B?")
_BYTES = {"": 2**20, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
IN_SECONDS = frozenset({None, "s", "sec", "seconds"})
_SPACES = str.maketrans("\u00a0\u202f\u2009\u2019", "   '")

_MONTHS: dict[str, int] = {}
for _names in (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jän feb mär apr mai jun jul aug sep okt nov dez",
    "janv févr mars avr mai juin juil août sept oct nov déc",
    "ene feb mar abr may jun jul ago sep oct nov dic",
    "gen feb mar apr mag giu lug ago set ott nov dic",
    "jan fev mar abr mai jun jul ago set out nov dez",
    "jan feb mrt apr mei jun jul aug sep okt nov dec",
    "sty lut mar kwi maj cze lip sie wrz paź lis gru",
    "янв фев мар апр май июн июл авг сен окт ноя дек",
    "oca şub mar nis may haz tem ağu eyl eki kas ara",
):
    for _month, _name in enumerate(_names.split(), 1):
        _MONTHS.setdefault(_name, _month)
_MONTHS.update({"mrz": 3, "maerz": 3, "fevr": 2, "aout": 8, "juin": 6, "jui": 7, "mayo": 5, "feb": 2, "мая": 5})
_DAY_FIRST = re.compile(r"(\d{1,2})[-. /]+([^\W\d_]+|\d{1,2}\s*[月월])\.?\s*[-. /]+(\d{4}|\d{2})\b\D*(.*)")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)[T\s]*(.*)")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def guess_comma(texts: Iterable[str]) -> bool:
    """Tell whether the report writes its decimals with a comma: what most of its numbers say."""
    whole = "\0".join(("", *texts, ""))
    return len(_COMMA.findall(whole)) > len(_POINT.findall(whole))


@dataclass(frozen=True, slots=True)
class Numbers:
    """How one report writes numbers; what cannot be read is None, never zero."""

    comma: bool = False

    def number(self, text: str) -> Number | None:
        """Return the number a cell prints, abbreviations expanded: `57K` is 57000."""
        if text.isdecimal() or _SIGNED.fullmatch(text):
            return int(text) if len(text) < 30 else None
        return None if text[:1].isalpha() else _parse(text, self.comma)

    def column(self, texts: Sequence[str]) -> list[Number | None] | None:
        """Return the numbers of a column (a cell or more), None where a cell holds anything but a usual number."""
        whole = "\0".join(texts)
        if self.comma or not _COLUMN.fullmatch(whole):
            return None
        digits = whole.replace(",", "").split("\0")
        if "." not in whole and "" not in digits:
            return list(map(int, digits))
        return [(float(one) if "." in one else int(one)) if one else None for one in digits]

    def milliseconds(self, text: str, unit: str | None) -> Number | None:
        """Return a duration in milliseconds; its own unit counts more than that of the heading."""
        # a unit of its own ends in a letter
        own = None if text[-1:].isdecimal() else _TIMED.fullmatch(text.translate(_SPACES).strip())
        if own:
            text, unit = own[1], own[2]
        value = self.number(text)
        if value is None or (unit is None and value):
            return None
        return value if unit in {None, "ms"} else _tidy(value * _MILLISECONDS[unit or "ms"])

    def seconds(self, text: str, unit: str | None) -> Number | None:
        """Return a duration in seconds; without any unit the heading means seconds."""
        if unit in IN_SECONDS and (value := self.number(text)) is not None:
            return value
        value = self.milliseconds(text, unit or "s")
        return None if value is None else _tidy(value / 1000)

    def scaled(self, text: str, times: int) -> Number | None:
        """Return a number that is printed in thousands, or in another multiple."""
        value = self.number(text)
        return None if value is None else value * times if isinstance(value, int) else _whole(_tidy(value * times))

    def size(self, text: str) -> Number | None:
        """Return bytes of a size in multiples of 1024; a bare number is of mebibytes."""
        match = _SIZE.fullmatch(text)
        value = None if match is None else self.number(match[1])
        return None if match is None or value is None else _whole(value * _BYTES[match[2]])


def _whole(value: float) -> Number:
    return int(value) if value == int(value) else value


def _tidy(value: float) -> float:
    return float(f"{value:.12g}")


@lru_cache(maxsize=65536)
def _parse(text: str, comma: bool) -> Number | None:
    if not comma and _USUAL.fullmatch(text):
        digits = text.replace(",", "")
        return float(digits) if "." in digits else int(digits)
    match = _NUMBER.fullmatch(text.translate(_SPACES).strip())
    if match is None or len(text) > _LONGEST or abs(int(match[3] or 0)) > _MOST_DIGITS:
        return None
    sign, digits, exponent, suffix = match.groups()
    plain = _plain(digits.replace(" ", "").replace("'", ""), comma=comma)
    if plain is None:
        return None
    try:
        value = Decimal(f"{sign}{plain}E{int(exponent or 0) + _SCALE[suffix]}")
    except (InvalidOperation, ValueError):
        return None
    if ("." in plain and not (exponent or suffix)) or value != value.to_integral_value():
        return float(value)
    return int(value)


def _plain(digits: str, *, comma: bool) -> str | None:
    """Return digits with at most one point; both signs, or what cannot be a group, decide before the habit."""
    last_point, last_comma = digits.rfind("."), digits.rfind(",")
    if last_point >= 0 and last_comma >= 0:
        comma = last_comma > last_point
    elif last_comma >= 0:
        comma = _is_decimal(digits, ",") or (comma and digits.count(",") == 1)
    elif last_point >= 0:
        comma = not (_is_decimal(digits, ".") or (not comma and digits.count(".") == 1))
    mark, group = (",", ".") if comma else (".", ",")
    whole, _, part = digits.partition(mark)
    if mark in part or group in part or not _grouped(whole, group):
        return None
    return f"{whole.replace(group, '') or '0'}.{part}" if mark in digits else whole.replace(group, "")


def _is_decimal(digits: str, mark: str) -> bool:
    return digits.count(mark) == 1 and len(digits) - digits.index(mark) - 1 != 3


def _grouped(whole: str, group: str) -> bool:
    parts = whole.split(group)
    return len(parts) == 1 or (0 < len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:]))


def instant(text: str) -> str | None:
    """Return a printed time in ISO 8601, as exact as it is printed, without zone; None where it cannot be read."""
    text = text.translate(_SPACES).strip()
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day, rest = int(match[1]), int(match[2]), int(match[3]), match[4]
    elif match := _DAY_FIRST.fullmatch(text):
        name = match[2].casefold()
        named = int(name.rstrip("月월 ")) if name[0].isdigit() else _month_of(name)
        if named is None:
            return None
        month, day, rest = named, int(match[1]), match[4]
        year = int(match[3]) if len(match[3]) == 4 else _century(int(match[3]))
    else:
        return None
    clock = _CLOCK.match(rest)
    try:
        if clock is None:
            return datetime(year, month, day).date().isoformat() if not rest.strip() else None
        shown = datetime(year, month, day, int(clock[1]), int(clock[2]), int(clock[3] or 0))
    except ValueError:
        return None
    return shown.isoformat(timespec="seconds" if clock[3] else "minutes")


def _month_of(name: str) -> int | None:
    return _MONTHS.get(name) or _MONTHS.get(name[:4]) or _MONTHS.get(name[:3])


def _century(year: int) -> int:
    """Return the year meant: the first Statspack is of 1999."""
    return 1900 + year if year >= 90 else 2000 + year
