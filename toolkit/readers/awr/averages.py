"""The average wait of a row: its time by its number, or as printed where that is nearer.

Oracle 11g and Statspack print whole milliseconds, `1` for 0.5 as for 1.4; a short time is printed in whole
seconds, and says less than the average beside it. This is the one place that decides between them: the document
of a report has the nearer one, and so have its screen, comparisons and trends, which read the document.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.readers.awr.tables import number_of

_EXACT = 0.05
_MOST_DIGITS = 2
_ROUGH, _LONGEST = 1000, 12
"""From here on numbers are abbreviated (`57K`); no number is printed with more characters."""
_OF_WAITS = frozenset({"avg_wait_ms", "time_s", "waits"})


def with_averages(sections: Mapping[str, object]) -> dict[str, object]:
    """Return the sections of a report with the `average_wait` of each row of waits; other tables are left."""
    return {name: _nearer(value) if isinstance(value, list) else value for name, value in sections.items()}


def _nearer(rows: list[object]) -> list[object]:
    """Return the rows of a list with their averages, and records of instances with those of their lists.

    All rows of a list have the same declared values: the first tells what they are.
    """
    first = rows[0] if rows else None
    if not isinstance(first, dict):
        return rows
    if first.keys() >= _OF_WAITS:
        known = [row for row in rows if isinstance(row, dict)]
        digits = _digits(known)
        return [_with_average(row, average_wait(row, digits)) for row in known]
    if any(isinstance(one, list) for one in first.values()):
        return [with_averages(row) for row in rows if isinstance(row, dict)]
    return rows


def _with_average(row: dict[str, object], average: float | None) -> dict[str, object]:
    return row if average == row["avg_wait_ms"] else {**row, "avg_wait_ms": average}


def _digits(rows: list[dict[str, object]]) -> int:
    """Return the digits behind the point of the averages of a list, which prints as many for each: 0.90 and 1.14.

    Of an average with a unit of its own (`12.50us`) two are known, and more are not of the others.
    """
    printed = [value for row in rows if isinstance(value := row["avg_wait_ms"], float) and value]
    return min(_MOST_DIGITS, max((len(repr(one).partition(".")[2]) for one in printed if one % 1), default=0))


def average_wait(row: Mapping[str, object], digits: int = 0) -> float | None:
    """Return the average wait of a row in milliseconds, of what the report printed most exactly.

    Args:
        digits: What an average of its list has behind the point at least, zeros at the end included.
        row: With `avg_wait_ms`, `time_s` and `waits` as printed. Where no average is printed, or crosses
            as it is too wide for its column, there is one only if the two others give it within `_EXACT`.
    """
    printed, seconds, waits = number_of(row["avg_wait_ms"]), number_of(row["time_s"]), number_of(row["waits"])
    if not seconds or not waits:
        return printed
    rough = uncertainty(seconds)
    if printed:
        hidden = min(uncertainty(printed), 0.5 * 10.0**-digits / printed) if digits else uncertainty(printed)
        if rough >= hidden:
            return printed
    exact = float(f"{1000 * seconds / waits:.9g}")
    rough += uncertainty(waits, count=True)
    if printed is None:
        return exact if rough <= _EXACT else None
    if not printed:
        return exact
    # Where the three contradict each other, they are not of the same waits, and each is what it was printed as.
    return exact if rough < hidden and abs(exact - printed) <= (hidden + rough) * printed * 1.01 else printed


def uncertainty(value: float, *, count: bool = False) -> float:
    """Return the share of a printed value that rounding may have hidden; `57K` is a thousand times rougher."""
    if value.is_integer() and (abs(value) < _ROUGH or (count and value % 100)):
        return 0.0 if count else 0.5 / abs(value)
    text = repr(value)
    if "e" in text or len(text) > _LONGEST:
        text = f"{value:.9f}"
    whole, _, decimals = text.rstrip("0").partition(".")
    zeros = 0 if decimals else len(whole) - len(whole.rstrip("0"))
    step = 10.0 ** (zeros if zeros > 1 and abs(value) >= _ROUGH else -len(decimals))
    return 0.0 if count and step <= 1 else 0.5 * step / abs(value)
