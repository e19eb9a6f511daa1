"""What the fields of data files hold: the narrowest kind of value that all rows of a column have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ColumnKind(StrEnum):
    """Kinds of values; an engine has a type for each."""

    NOTHING = "nothing"
    """NULL in every row."""
    BOOLEAN = "boolean"
    INTEGER = "integer"
    """Up to 18 digits."""
    DECIMAL = "decimal"
    FLOAT = "float"
    """Numbers of which one at least has an exponent."""
    DATE = "date"
    TIMESTAMP = "timestamp"
    ZONED_TIMESTAMP = "zoned timestamp"
    BYTES = "bytes"
    TEXT = "text"


_WIDENING = (
    (ColumnKind.INTEGER, ColumnKind.DECIMAL, ColumnKind.FLOAT),
    (ColumnKind.DATE, ColumnKind.TIMESTAMP),
)
"""Kinds of which each takes the values of those before it."""


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The values of a column.

    Attributes:
        kind: of all of them.
        digits: the most digits of a number before its point.
        scale: the most digits after it.
    """

    kind: ColumnKind = ColumnKind.NOTHING
    digits: int = 0
    scale: int = 0

    def with_(self, other: ColumnValues) -> ColumnValues:
        """Return what takes the values of both."""
        return ColumnValues(
            _common(self.kind, other.kind), max(self.digits, other.digits), max(self.scale, other.scale)
        )


def _common(one: ColumnKind, other: ColumnKind) -> ColumnKind:
    if one is other or other is ColumnKind.NOTHING:
        return one
    if one is ColumnKind.NOTHING:
        return other
    for line in _WIDENING:
        if one in line and other in line:
            return max(one, other, key=line.index)
    return ColumnKind.TEXT
