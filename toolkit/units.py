"""Numbers with units: the one place that spells a quantity for people, and reads a duration from them.

Numbers inside the toolkit are plain seconds, bytes and ratios; the unit stands in the name. Everything a person
reads (terminal, reports, messages) is spelled here, so that one quantity looks the same everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from toolkit.errors import ToolkitError

MISSING = "-"
"""How an absent number is spelled."""

_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DURATION = re.compile(
    r"(?:(?P<d>\d+)(?: ?days?|d))?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+(?:\.\d+)?)s)?", re.ASCII
)
_DURATION_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_LONGEST_SECONDS = 366 * 86400.0
_BYTES = re.compile(r"(?P<number>\d{1,12}(?:\.\d{1,3})?)\s*(?P<unit>[KMGTP]?)(?:i?B)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """A unit that suits a whole column or axis: `seconds * per_second` is the number shown."""

    label: str
    per_second: float

    def spell(self, seconds: float | None) -> str:
        """Spell seconds in this unit, without its label."""
        return MISSING if seconds is None else number(seconds * self.per_second)


MICROSECONDS = TimeUnit("µs", 1e6)
MILLISECONDS = TimeUnit("ms", 1e3)
SECONDS = TimeUnit("s", 1.0)
MINUTES = TimeUnit("min", 1 / 60)
HOURS = TimeUnit("h", 1 / 3600)


def time_unit(seconds: Iterable[float]) -> TimeUnit:
    """Choose the unit of a column of times by its largest value."""
    largest = max((abs(value) for value in seconds), default=0.0)
    if 0 < largest < 1e-3:
        return MICROSECONDS
    if 0 < largest < 1:
        return MILLISECONDS
    if largest < 600:
        return SECONDS
    return MINUTES if largest < 36_000 else HOURS


def number(value: float | None, digits: int = 3) -> str:
    """Spell a number with thousands separators and at least `digits` significant digits.

    Digits before the point are never rounded away: 12345.6 is `12,346`, 1.23456 is `1.23`, 0.00123 is `0.00123`.
    Below 1e-6 and from 1e15 the exponent form is used.
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if value == 0:
        return "0"
    magnitude = abs(value)
    if magnitude < 1e-6 or magnitude >= 1e15:
        return f"{value:.{digits - 1}e}"
    if isinstance(value, int):
        return f"{value:,}"
    rounded = float(f"{magnitude:.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(rounded)))
    return f"{value:,.{decimals}f}"


def count(value: int | None) -> str:
    """Spell a whole number with thousands separators."""
    return MISSING if value is None else f"{value:,}"


def counted(value: float, one: str, many: str = "") -> str:
    """Spell a number of things: `1 index`, `1,024 indexes`; `many` defaults to `one` with an s."""
    whole = int(value) if float(value).is_integer() else value
    return f"{number(whole)} {one if value == 1 else many or f'{one}s'}"


def seconds(value: float | None) -> str:
    """Spell a time: `12.3 ms`, `4.56 s`, `34 min 05 s`, `2 h 05 min`."""
    if value is None or math.isnan(value):
        return MISSING
    magnitude = abs(value)
    if magnitude >= 119.95:
        return _long_time(value)
    unit = time_unit((value,))
    text = f"{unit.spell(value)} {unit.label}"
    # 999.96 ms rounds to `1,000 ms`, which reads worse than `1.00 s`
    return f"{SECONDS.spell(value)} s" if text.endswith(" ms") and "," in text else text


def seconds_span(low: float | None, high: float | None) -> str:
    """Spell a range of times, the unit once where both ends have the same: `5.16 to 5.34 s`."""
    return span(seconds(low), seconds(high))


def span(first: str, last: str) -> str:
    """Join two spelled quantities to a range, the unit once where both have the same."""
    one_unit = first.count(" ") == 1 and first.partition(" ")[2] == last.partition(" ")[2]
    return f"{first.partition(' ')[0] if one_unit else first} to {last}"


def _long_time(value: float) -> str:
    sign, whole = ("-" if value < 0 else ""), round(abs(value))
    if whole < 7200:
        return f"{sign}{whole // 60} min {whole % 60:02d} s"
    minutes = round(whole / 60)
    return f"{sign}{minutes // 60:,} h {minutes % 60:02d} min"


def byte_size(value: float | None) -> str:
    """Spell bytes in powers of 1024: `512 B`, `1.50 GiB`."""
    if value is None or math.isnan(value):
        return MISSING
    step = 0
    while abs(value) >= 1024 and step < len(_BYTE_UNITS) - 1:
        value, step = value / 1024, step + 1
    return f"{number(value) if step else f'{value:,.0f}'} {_BYTE_UNITS[step]}"


def percent(value: float | None, *, signed: bool = False) -> str:
    """Spell a percentage: `4.2 %`, `87 %`, with `signed` also `+4.2 %`, zero without a sign."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return f"{number(value)} %"
    decimals = 1 if abs(value) < 9.95 else 0
    text = f"{value:{'+' if signed else ''},.{decimals}f}"
    return f"{text.lstrip('+-') if text.strip('+-') in {'0.0', '0'} else text} %"


def change(ratio: float | None) -> str:
    """Spell a ratio as a change: 1.05 is `+5.0 %`; what is nearly nothing left is not `-100 %`."""
    if ratio is not None and 0 < ratio < _NEARLY_NOTHING:
        return f"{(ratio - 1) * 100:.2f} %" if ratio > _NEARLY_NOTHING / 50 else "nearly -100 %"
    return percent(None if ratio is None else (ratio - 1) * 100, signed=True)


_NEARLY_NOTHING = 0.005
"""A ratio that would round to 100 % less."""


_FROM_SPELLED_AS_TIMES = 1.995
"""A ratio that would round to 100 % more is spelled as a multiple."""


def value_change(low: float, high: float | None = None, of: str = "time") -> str:
    """Spell a ratio of values, or a range of ratios, in words.

    Of times, 0.7 is `30 % less time`, 1.4 `40 % more time`, 3.4 `3.4 times the time`; 0.7 to 1.4 is
    `30 % less to 40 % more time`, 0.9 to 1.0 `0 to 10 % less time`.
    """
    if _is_one(low) and (high is None or _is_one(high)):
        return f"the same {of}"
    first = _change_words(low, of, beside=high)
    if high is None:
        return " ".join(first)
    last = _change_words(high, of, beside=low)
    if first == last:
        return " ".join(first)
    if first[1] != last[1]:
        # only the last piece names what changes: `30 % less to 40 % more time`
        return f"{' '.join(first).removesuffix(f' the {of}').removesuffix(f' {of}')} to {' '.join(last)}"
    less, more = (last, first) if first[1].startswith("less") else (first, last)
    return f"{less[0].removesuffix(' %')} to {' '.join(more)}"


def _is_one(ratio: float) -> bool:
    return abs(ratio - 1) * 100 < 0.05


def _change_words(ratio: float, of: str, *, beside: float | None) -> tuple[str, str]:
    if ratio > 100:
        return "more than 100", f"times the {of}"
    if ratio >= _FROM_SPELLED_AS_TIMES:
        return number(ratio, 2), f"times the {of}"
    pct = abs(ratio - 1) * 100
    if _is_one(ratio):
        return "0 %", f"{'less' if beside is not None and beside < 1 else 'more'} {of}"
    return f"{pct:.{1 if pct < 0.95 else 0}f} %", f"{'less' if ratio < 1 else 'more'} {of}"


def ratio(value: float | None) -> str:
    """Spell a ratio: `1.83x`."""
    return MISSING if value is None or math.isnan(value) else f"{number(value)}x"


def quantity(value: float | None, unit: str) -> str:
    """Spell a number of any unit; `seconds`, `bytes`, `percent`, `ratio` and `yes/no` have their own forms.

    `bytes_per_second` and the like spell as `1.50 MiB/s`.
    """
    spell = _SPELLERS.get(unit)
    if value is None or math.isnan(value):
        return MISSING
    if spell is not None:
        return spell(value)
    if unit.endswith(("_per_second", "/s")):
        inner = unit.removesuffix("_per_second").removesuffix("/s")
        return f"{quantity(value, inner)}/s"
    text = number(int(value)) if float(value).is_integer() else number(value)
    return text if unit in {"", "1", "count"} else f"{text} {_singular(unit) if value == 1 else unit}"


def _share(value: float) -> str:
    """Spell a percentage that was measured; near 100 % the tenths tell what is missing (99.6 % of buffer hits)."""
    return f"{value:.1f} %" if 90 < value < 99.95 else percent(value)


def _singular(unit: str) -> str:
    """Return the singular of a unit that is an English plural (`rows`); `tps`, `ms` and signs stay."""
    plain = len(unit) > 3 and unit.isalpha() and unit.islower() and unit.endswith("s")
    return _SINGULAR.get(unit, unit.removesuffix("s") if plain else unit)


def yes_or_no(value: float | None) -> str:
    """Spell an answer kept as a number: 1 is `yes`, 0 `no`, a median between them `in part`."""
    if value is None or math.isnan(value):
        return MISSING
    return "yes" if value == 1 else "no" if value == 0 else "in part"


_SINGULAR = {"queries": "query", "processes": "process", "indexes": "index"}
_SPELLERS = {
    "yes/no": yes_or_no,
    "seconds": seconds,
    "s": seconds,
    "bytes": byte_size,
    "percent": _share,
    "pct": _share,
    "%": _share,
    "ratio": ratio,
}


def parse_duration(text: str) -> float:
    """Read a duration such as `2h`, `90s`, `1h30m`, `1d12h` or `14 days` and return seconds.

    A number without a unit is refused: schedulers mean minutes, databases mean seconds.

    Raises:
        ToolkitError: TK-0102 when the text is no duration, zero, or longer than a year.
    """
    match = _DURATION.fullmatch(text.strip().lower())
    parts = {} if match is None else {key: part for key, part in match.groupdict().items() if part is not None}
    total = sum(float(part) * _DURATION_SECONDS[key] for key, part in parts.items())
    if match is None and text.strip().isdigit():
        bare = text.strip()
        raise ToolkitError(
            f"`{bare}` has no unit of time",
            code="TK-0102",
            hint=f"`{bare}s` for seconds, `{bare}m` for minutes, `{bare}h` for hours",
        )
    if not 0 < total <= _LONGEST_SECONDS:
        raise ToolkitError(
            f"`{text}` is not a duration",
            code="TK-0102",
            hint="give days, hours, minutes and seconds in this order, at most 366 days: `90s`, `30m`, `1h30m`",
        )
    return total


def parse_bytes(text: str) -> int:
    """Return the bytes of a size such as `10GiB`, `512M` or `4096`; units are powers of 1024.

    Raises:
        ToolkitError: TK-0102 when it is no size.
    """
    found = _BYTES.fullmatch(text.strip())
    if found is None:
        raise ToolkitError(f"`{text[:40]}` is not a size", code="TK-0102", hint="write it as `10GiB` or `512MiB`")
    power = "KMGTP".index(found["unit"].upper()) + 1 if found["unit"] else 0
    return round(float(found["number"]) * 2.0 ** (10 * power))
