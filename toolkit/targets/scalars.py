"""Turns what drivers return into plain scalars that JSON and the store know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from toolkit.model.values import Row, Scalar


def plain(value: object) -> Scalar:
    """Return a value as text, number, boolean or None; instants as ISO 8601 in UTC."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def plain_rows(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> tuple[Row, ...]:
    """Return rows as mappings from lower-case column names to plain scalars."""
    names = [column.lower() for column in columns]
    return tuple(dict(zip(names, map(plain, row), strict=True)) for row in rows)
