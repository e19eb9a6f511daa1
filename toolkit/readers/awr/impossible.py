"""Values that no list can have: what only grows and is below zero, a part that is more than its whole.

Oracle prints them where a counter of 32 bits ran over or was reset, and where two counters were read at different
moments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from toolkit.model.values import Scalar
from toolkit.readers.awr.tables import AwrTable, number_of
from toolkit.units import counted, percent
from toolkit.units import number as spelled

_MINUS = re.compile(r"\0-[\d.]")
_MOST = 105.0
"""Percent: counters are read one after the other."""
_PARTS = frozenset(
    {
        "pct_active_sessions", "pct_hits", "pct_misses", "pct_no_wait_misses", "pct_get_misses", "pct_pin_misses",
        "pct_scan_misses",
        *(f"{kind}_pct_{name}" for kind in ("cr", "current")
          for name in ("immediate", "busy", "congested", "2_hop", "3_hop")),
    }
)  # fmt: skip
"""Shares that cannot exceed their whole; that of an idle event or of a statement called by another can."""
Rows = Sequence[Mapping[str, Scalar]]


def impossible(section: str, table: AwrTable, rows: Rows) -> Iterator[str]:
    """Yield a sentence for the values of a list that are below zero, and one for shares above 100 %.

    Args:
        section: The name of the list.
        table: The list as printed.
        rows: Its values by name.
    """
    if has_minus(table):
        yield from below_zero(section, rows)
    names = _PARTS.intersection(rows[0]) if rows else ()
    for name in sorted(names):
        large = [row for row in rows if isinstance(share := row[name], int | float) and share > _MOST]
        if large:
            yield (
                f"in `{section}` {counted(len(large), 'share is', 'shares are')} above 100 %: `{name}` of "
                f"`{_name(large[0])}` is {percent(number_of(large[0][name]))}"
            )


def has_minus(table: AwrTable) -> bool:
    """Whether a number below zero is printed in a table: few have one, and it takes little to see."""
    text = "\0".join(map("\0".join, table.rows))
    return "\0-" in text and _MINUS.search(text) is not None


def below_zero(section: str, rows: Rows) -> Iterator[str]:
    """Yield a sentence for the values of a list that are below zero."""
    found = [
        (row, name, value)
        for row in rows
        for name, printed in row.items()
        if (value := number_of(printed)) is not None and value < 0
    ]
    if found:
        row, name, value = found[0]
        yield (
            f"in `{section}` {counted(len(found), 'value is', 'values are')} below zero, so a counter ran over or "
            f"was reset: `{name}` of `{_name(row)}` is {spelled(int(value) if value.is_integer() else value)}"
        )


def _name(row: Mapping[str, Scalar]) -> str:
    """Return what names a row: the first text of it, else its first value."""
    return next((one for one in row.values() if isinstance(one, str) and one), str(next(iter(row.values()))))
