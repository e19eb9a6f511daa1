"""Intervals that are no files: between two stored snapshots, or a range of the database's own snapshots."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.state_interval import interval_between
from toolkit.app.intervals.ranges import database_interval, database_series, is_range, range_of
from toolkit.app.snapshots.labelled import find
from toolkit.app.targets import ResolvedTarget
from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval
from toolkit.readers.awr.report import read_report
from toolkit.store import Store, open_store

_MARK = ".."
_LABEL = "label:"
_FEWEST = 2
_REPORT = re.compile(r"awr-\d+-\d+\.html", re.ASCII)
Reach = Callable[[str], ResolvedTarget]


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
    """Return the interval a name stands for: `T:101-104` of a database, `A..B` or a run; None: a file.

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
        resolved = reach(asked.target)
        try:
            return database_interval(resolved, asked, text)
        finally:
            resolved.target.close()
    with open_store(location) as store:
        if is_interval(text):
            return stored_interval(store, text)
        run = _run_of(store, text)
        return None if run is None else run_interval(store, run)


def _run_of(store: Store, text: str) -> str | None:
    """Return the run that a name means, or None where it means none."""
    try:
        return store.resolve(text)
    except ToolkitError:
        return None


def run_interval(store: Store, run: str) -> Interval:
    """Return what a database did during a run, from the report that was fetched with it.

    Raises:
        ToolkitError: TK-0114 for a run without one.
    """
    names = [name for name, trial, _ in store.artifact_names(run) if trial is None and _REPORT.fullmatch(name)]
    kept = store.load_artifact(run, names[0]) if names else None
    if kept is None:
        raise ToolkitError(
            f"run `{run}` has no report of the database's own",
            code="TK-0114",
            hint="one is kept with `--snapshot awr`; what each trial cost is compared by `dbatk compare`",
        )
    report = read_report(kept.content, f"{run}/{kept.name}")
    return interval_of(report.document())


def series_source(text: str, location: str | None, reach: Reach) -> tuple[list[Interval], list[str]] | None:
    """Return the intervals that a name stands for in a series, and what cannot be told; None: a file or folder.

    Args:
        text: `T:101-140`: each snapshot of the database's own to the next; `label:NAME`: each snapshot stored
            under a label to the next of the same target.
        location: of the results store.
        reach: opens a target by what the user calls it.

    Raises:
        ToolkitError: TK-0114 for a label with fewer than two snapshots; as `database_series`.
    """
    if Path(text).exists():
        return None
    if text.startswith(_LABEL):
        with open_store(location) as store:
            return _labelled(store, text.removeprefix(_LABEL))
    if not is_range(text):
        return None
    asked = range_of(text)
    resolved = reach(asked.target)
    try:
        return database_series(resolved, asked, text)
    finally:
        resolved.target.close()


def _labelled(store: Store, label: str) -> tuple[list[Interval], list[str]]:
    found = sorted(store.snapshots(label, limit=100_000), key=lambda head: (head.taken_at, head.number))
    if len(found) < _FEWEST:
        raise ToolkitError(
            f"{'one snapshot is' if found else 'no snapshot is'} stored as `{label}`: nothing lies between",
            code="TK-0114",
            hint=f"`dbatk snapshot take {label}` from a scheduler makes a series",
        )
    intervals: list[Interval] = []
    gaps: list[str] = []
    for target in dict.fromkeys((head.target, head.database) for head in found):
        heads = [head for head in found if (head.target, head.database) == target]
        for one, other in pairwise(heads):
            name = f"#{one.number}..#{other.number}"
            try:
                between = interval_between(
                    store.load_snapshot(one.number), store.load_snapshot(other.number), name
                )
            except ToolkitError as error:
                gaps.append(f"`{name}` is left out: {error.message}")
            else:
                intervals.append(between)
    return intervals, gaps


def compare_stored(store: Store, a: str, b: str) -> IntervalDiff:
    """Compare two intervals of stored snapshots.

    Raises:
        ToolkitError: as `stored_interval`; TK-0115 when the two cannot be compared.
    """
    return compare_intervals(stored_interval(store, a), stored_interval(store, b))
