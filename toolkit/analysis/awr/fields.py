"""Values out of a report's document, which is JSON and may have been written by anybody."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

Record = Mapping[str, object]
_SIZE = re.compile(r"\s*([\d,]*\.?\d+)\s*([KMGTP]?)B?\s*", re.IGNORECASE)
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_LATENCY = re.compile(r"\s*([\d,]*\.?\d+)\s*(ns|us|ms|s)?\s*", re.IGNORECASE)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_COUNTS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
_COUNT = re.compile(r"\s*(-?[\d,]*\.?\d+)\s*([KMGBT]?)\s*", re.IGNORECASE)


def number(value: object) -> float | None:
    """Return a number, or None for whatever is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def text(value: object) -> str | None:
    """Return a text that says something, or None."""
    return str(value) if value is not None and str(value).strip() else None


def moment(value: object) -> datetime | None:
    """Return the instant of an ISO 8601 text, or None."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def record(value: object) -> Record:
    """Return a mapping; an empty one for whatever is none."""
    return value if isinstance(value, Mapping) else {}


def records(value: object) -> list[Record]:
    """Return the mappings of a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


def numbers(value: object) -> dict[str, float]:
    """Return what of a mapping is numbers."""
    return {str(key): found for key, one in record(value).items() if (found := number(one)) is not None}


def cells(value: object) -> list[str]:
    """Return the cells of a row."""
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def table_rows(table: Record) -> list[list[str]]:
    """Return the rows of a table."""
    rows = table.get("rows")
    return [cells(row) for row in rows] if isinstance(rows, list | tuple) else []


def size(cell: str, unit: str = "") -> float | None:
    """Return bytes: `99.6G`, `19,904M`; a bare number counts in `unit`."""
    match = _SIZE.fullmatch(cell)
    return None if match is None else _float(match[1]) * _BYTES[(match[2] or unit).upper()]


def latency(cell: str, unit: str = "ms") -> float | None:
    """Return seconds of `1.04ms` or `620us`; a bare number counts in `unit`."""
    match = _LATENCY.fullmatch(cell)
    return None if match is None else _float(match[1]) * _SECONDS[(match[2] or unit).lower()]


def amount(cell: str) -> float | None:
    """Return a count as printed: `5.5M`, `1,234`."""
    match = _COUNT.fullmatch(cell)
    return None if match is None else _float(match[1]) * _COUNTS[match[2].upper()]


def _float(digits: str) -> float:
    return float(digits.replace(",", ""))
