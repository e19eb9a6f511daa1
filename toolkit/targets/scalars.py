"""Turns what drivers return into plain scalars that JSON and the store know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from toolkit.model.values import Row, Scalar


def plain(value: object) -> Scalar:
    """Return a value as text, number, boolean or None.

    Instants become ISO 8601 in UTC, intervals seconds, bytes hexadecimal text.
    """
    if isinstance(value, datetime) and value.tzinfo:
        value = value.astimezone(UTC)
    match value:
        case None | str() | bool() | int() | float():
            return value
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
    return str(value)


def plain_rows(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> tuple[Row, ...]:
    """Return rows as mappings from lower-case column names to plain scalars."""
    names = [column.lower() for column in columns]
    return tuple(dict(zip(names, map(plain, row), strict=True)) for row in rows)
