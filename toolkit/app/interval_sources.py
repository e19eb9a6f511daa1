"""Intervals that are no files: between two stored snapshots, or a range of the database's own snapshots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.state_interval import interval_between
from toolkit.app.database_intervals import database_interval, is_range, range_of
from toolkit.app.snapshots import find
from toolkit.app.targets import Reached
from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval
from toolkit.store import Store, open_store

_MARK = ".."
Reach = Callable[[str], Reached]


def is_interval(text: str) -> bool:
    """Tell an interval of stored snapshots (`before..after`, `#3..#7`) from a label."""
    left, mark, right = text.partition(_MARK)
    return bool(mark and left.strip() and right.strip())


def stored_interval(store: Store, text: str) -> Interval:
    """Return what a database did between two stored snapshots, written `before..after`.

    Raises:
        ToolkitError: TK-0102 for what is no interval, TK-0114 for a label that is not stored, TK-0110 when the
            two cannot be compared.
    """
    if not is_interval(text):
        raise ToolkitError(
            f"`{text}` is one snapshot, not what lies between two",
            code="TK-0102",
            hint="write `A1..A2 B1..B2` to compare two intervals, or `A B` to see what happened between two",
        )
    a, _, b = (part.strip() for part in text.partition(_MARK))
    (one, _), (other, _) = find(store, a), find(store, b)
    return interval_between(store.load_snapshot(one.number), store.load_snapshot(other.number), text)


def interval_source(text: str, location: str | None, reach: Reach) -> Interval | None:
    """Return the interval that a name stands for: `T:101-104` of a database, `A..B` of the store; None: a file.

    Args:
        text: what the user wrote.
        location: of the results store.
        reach: opens a target by what the user calls it.

    Raises:
        ToolkitError: as `stored_interval` and `database_interval`.
    """
    if Path(text).exists():
        return None
    if is_range(text):
        asked = range_of(text)
        reached = reach(asked.target)
        try:
            return database_interval(reached, asked, text)
        finally:
            reached.target.close()
    if not is_interval(text):
        return None
    with open_store(location) as store:
        return stored_interval(store, text)


def compare_stored(store: Store, a: str, b: str) -> IntervalDiff:
    """Compare two intervals of stored snapshots.

    Raises:
        ToolkitError: as `stored_interval`; TK-0115 when the two cannot be compared.
    """
    return compare_intervals(stored_interval(store, a), stored_interval(store, b))
