"""Intervals that are not files: two stored snapshots, a run, or a range of the database's own snapshots."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.analysis.awr.from_report import interval_of
from toolkit.app.intervals.names import Range, between_of, is_between, is_range, range_of
from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval

if TYPE_CHECKING:
    from toolkit.app.targets import ResolvedTarget
    from toolkit.store import Store

_LABEL = "label:"
_FEWEST = 2
_REPORT = re.compile(r"awr-\d+-\d+\.html", re.ASCII)
Reach = Callable[[str], "ResolvedTarget"]
"""Opens a target by what the user calls it."""


def stored_interval(store: Store, text: str) -> Interval:
    """Return what a database did between two stored snapshots, written `before..after`.

    Raises:
        ToolkitError: TK-0102 for what is no interval, TK-0114 for a label that is not stored, TK-0110 when the
            two cannot be compared.
    """
    from toolkit.analysis.state_interval import interval_between
    from toolkit.app.snapshots.stored import find

    a, b = between_of(text)
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
        return _database_interval(range_of(text), text, reach)
    from toolkit.app.snapshots.stored import is_stored
    from toolkit.store import open_store

    with open_store(location) as store:
        if is_between(text):
            return stored_interval(store, text)
        try:
            run = store.resolve(text)
        except ToolkitError:
            # what is stored under no name may be a file, whose reader says what is wrong with it
            if is_stored(store, text):
                between_of(text)
            return None
        return run_interval(store, run)


def _database_interval(asked: Range, name: str, reach: Reach) -> Interval:
    from toolkit.app.intervals.ranges import database_interval

    resolved = reach(asked.target)
    try:
        return database_interval(resolved, asked, name)
    finally:
        resolved.target.close()


def run_interval(store: Store, run: str) -> Interval:
    """Return what a database did during a run, from the AWR or Statspack report that was kept with it.

    Raises:
        ToolkitError: TK-0114 for a run without one.
    """
    names = [name for name, trial, _ in store.artifact_names(run) if trial is None and _REPORT.fullmatch(name)]
    kept = store.load_artifact(run, names[0]) if names else None
    if kept is None:
        raise ToolkitError(
            f"no AWR report was stored with run `{run}`",
            code="TK-0114",
            hint="`--snapshot awr` stores one; omit --awr to compare the trials of two runs",
        )
    from toolkit.readers.awr.report import read_report

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
        from toolkit.store import open_store

        with open_store(location) as store:
            return _labelled(store, text.removeprefix(_LABEL))
    if not is_range(text):
        return None
    from toolkit.app.intervals.ranges import database_series

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
            f"{'only one snapshot is' if found else 'no snapshot is'} stored under the label `{label}`",
            code="TK-0114",
            hint=f"a series needs two or more: run `dbatk snapshot take {label}` from a scheduler",
        )
    from toolkit.analysis.state_interval import interval_between

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
                gaps.append(f"`{name}` is skipped: {error.message}")
            else:
                intervals.append(between)
    return intervals, gaps
