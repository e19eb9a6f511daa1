"""The average wait of a row: its time by its number, or as printed where that is nearer.

Oracle 11g and Statspack print whole milliseconds, `1` for 0.5 as for 1.4; a short time is printed in whole
seconds, and says less than the average beside it. This is the one place that decides between them: the document
of a report has the nearer one, and so have its screen, comparisons and trends, which read the document.
"""

from __future__ import annotations

from collections.abc import Mapping

_EXACT = 0.05
_OF_WAITS = frozenset({"avg_wait_ms", "time_s", "waits"})


def with_averages(sections: Mapping[str, object]) -> dict[str, object]:
    """Return the sections of a report with the `average_wait` of each row of waits; other tables are left."""
    return {name: value if name == "tables" else _nearer(value) for name, value in sections.items()}


def _nearer(value: object) -> object:
    if not isinstance(value, list):
        return value
    return [_row(one) if isinstance(one, Mapping) else one for one in value]


def _row(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row with its average, and the record of an instance of a cluster with the averages of its lists."""
    if row.keys() >= _OF_WAITS:
        return {**row, "avg_wait_ms": average_wait(row)}
    return with_averages(row) if any(isinstance(one, list) for one in row.values()) else row


def average_wait(row: Mapping[str, object]) -> float | None:
    """Return the average wait of a row in milliseconds, of what the report printed most exactly.

    Args:
        row: With `avg_wait_ms`, `time_s` and `waits` as printed. Where no average is printed, or crosses
            as it is too wide for its column, there is one only if the two others give it within `_EXACT`.
    """
    printed, seconds, waits = (_number(row.get(key)) for key in ("avg_wait_ms", "time_s", "waits"))
    if not seconds or not waits:
        return printed
    exact = float(f"{1000 * seconds / waits:.9g}")
    if printed is None:
        return exact if uncertainty(seconds) + uncertainty(waits, count=True) <= _EXACT else None
    if not printed:
        return exact
    hidden = uncertainty(printed)
    rough = uncertainty(seconds) + uncertainty(waits, count=True)
    # Where the three contradict each other, they are not of the same waits, and each is what it was printed as.
    return exact if rough < hidden and abs(exact - printed) <= (hidden + rough) * printed * 1.01 else printed


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def uncertainty(value: float, *, count: bool = False) -> float:
    """Return the share of a printed value that rounding may have hidden; `57K` is a thousand times rougher."""
    whole, _, decimals = f"{value:.9f}".rstrip("0").partition(".")
    zeros = 0 if decimals else len(whole) - len(whole.rstrip("0"))
    step = 10.0 ** (zeros if zeros > 1 and abs(value) >= 1000 else -len(decimals))
    return 0.0 if count and step <= 1 else 0.5 * step / abs(value)
