"""Intervals compared (`compare`) and in a series (`awr trend`): from reports, stored snapshots or a database."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.awr.masking import Pseudonyms, mask_interval
from toolkit.analysis.awr.trend import Series, trends
from toolkit.app.intervals.names import Range, between_of, is_between, is_range, range_of
from toolkit.app.intervals.show import files_of, read_all, read_one, spread
from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval

if TYPE_CHECKING:
    from toolkit.app.targets import ResolvedTarget
    from toolkit.readers.awr.report import Reading
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
    from toolkit.app.results import find_snapshot

    a, b = between_of(text)
    (one, _), (other, _) = find_snapshot(store, a), find_snapshot(store, b)
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
    from toolkit.app.results import is_stored
    from toolkit.store import open_store

    with open_store(location, at_once=False) as store:
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
    """Return the intervals that a name stands for in a series, and what is unknown; None: a file or folder.

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

        with open_store(location, at_once=False) as store:
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


def compare_sources(
    before: str, after: str, *, reach: Reach, force: bool = False, store: str | None = None,
    names: Pseudonyms | None = None,
) -> IntervalDiff:  # fmt: skip
    """Compare two reports, two intervals of stored snapshots, or two ranges of a database's own.

    Args:
        before: A file, `a1..a2` for two snapshots of the store, a range `T:101-104`, or a run with a report.
        after: The same.
        reach: Opens a target by what the user calls it.
        force: Compare two different databases.
        store: The results store that holds the snapshots.
        names: The pseudonyms that replace names.

    Raises:
        ToolkitError: TK-0113 for a file that is no report, TK-0115 when the two cannot be compared, TK-0303 for
            AWR of a database that nobody declared the pack for.
    """
    if _same_file(before, after):
        raise ToolkitError(
            f"`{before}` and `{after}` are the same file",
            code="TK-0115",
            hint="give the report of the interval before and of the one after",
        )
    found = {name: interval_source(name, store, reach) for name in (before, after)}
    stored = {name: one for name, one in found.items() if one is not None}
    files = [name for name in (before, after) if name not in stored]
    read = dict(zip(files, map(_whole, spread(_read, [Path(name) for name in files])), strict=True))
    sides = {**{name: _as_other(one, read) for name, one in stored.items()}, **read}
    if names is not None:
        sides = {name: mask_interval(sides[name], names) for name in (before, after)}
    return compare_intervals(sides[before], sides[after], force=force)


def _as_other(between: Interval, files: Mapping[str, Interval]) -> Interval:
    """Return of a cluster's own snapshots the instance that a report in a file is of, where it is of one."""
    one = next((file.origin for file in files.values() if file.origin.scope == "instance"), None)
    if one is None or between.origin.scope != "rac_global":
        return between
    return next((each for each in between.instances if each.origin.instance == one.instance), between)


def _whole(one: _Read) -> Interval:
    if one.faults or one.interval is None:
        hint = one.hint or "get the complete file as written by the database"
        raise ToolkitError(one.faults[0], code="TK-0113", hint=hint)
    return one.interval


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class _Read:
    """What became of one file: the interval it tells of, and what is wrong with it."""

    file: str
    interval: Interval | None
    faults: Sequence[str] = ()
    hint: str = ""
    aside: bool = False


def _read(file: Path) -> _Read:
    return _interval(read_one(file))


def _interval(one: Reading, wanted: Container[str] | None = None) -> _Read:
    if one.report is None:
        assert one.fault is not None
        return _Read(one.name, None, [one.fault.message], one.fault.hint, one.aside)
    interval = interval_of(one.report.document() if wanted is None else one.report.document(wanted))
    return _Read(one.name, interval, [f"`{one.name}`: {fault}" for fault in one.report.faults])


_OF_A_SERIES = frozenset({"io_by_function", "io_by_file_type", "ash_sql_by_event", "ash_sql_by_row_source"})
"""The details of a report that a series is made of: input and output, and the plans of statements."""


def _brief(file: Path) -> list[_Read]:
    """Read what a series needs of the reports of a file, so that a thousand fit into memory."""
    return [
        one if one.interval is None else replace(
            one, interval=replace(one.interval, counters={}, segments={}, parameters={}, details={}, advice={})
        )
        for one in (_interval(each, _OF_A_SERIES) for each in read_all(file))
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trends:
    """Series of reports.

    `faults` are sentences about files that were named and are no reports, or not whole; `skipped` are those about
    files that a folder holds besides reports; `gaps` those about intervals of a database that cannot be had.
    """

    series: Sequence[Series]
    faults: Sequence[str]
    skipped: Sequence[str]
    gaps: Sequence[str]

    @property
    def notes(self) -> list[str]:
        """What a page or a document says besides the series."""
        return [*self.faults, *self.skipped, *self.gaps]


def read_trends(
    files: Sequence[str], sql: Sequence[str], names: Pseudonyms | None = None, *, reach: Reach,
    store: str | None = None,
) -> Trends:  # fmt: skip
    """Set reports in a row.

    Args:
        files: Files, folders that hold them, `T:101-140` of a database, and `label:NAME` of stored snapshots.
        sql: Statements to follow.
        names: The pseudonyms that replace names.
        reach: Opens a target by what the user calls it.
        store: The results store that holds the snapshots.

    Raises:
        ToolkitError: TK-0113 when there is no file at all; as `series_source`.
    """
    series = {name: found for name in files if (found := series_source(name, store, reach)) is not None}
    named = [Path(name) for name in files if name not in series and not Path(name).is_dir()]
    held = [file for name in files if Path(name).is_dir() for file in files_of(name)]
    if not named and not held and not series:
        raise ToolkitError("no files to read", code="TK-0113", hint="name reports, or a folder with reports")
    intervals: list[Interval] = []
    # of one interval that several reports tell the first counts: what is not whole comes last
    partial: list[Interval] = []
    faults: list[str] = []
    skipped: list[str] = []
    gaps: list[str] = []
    wanted = set(named)
    read = list(dict.fromkeys([*named, *held]))
    for file, one in (
        (file, one) for file, found in zip(read, spread(_brief, read), strict=True) for one in found
    ):
        if one.interval is None and (file not in wanted or one.aside):
            skipped += one.faults
        else:
            faults += one.faults
        if one.interval is not None and one.interval.origin.begin is None:
            faults += [] if one.faults else [f"`{one.file}` is skipped: it does not contain its time"]
        elif one.interval is not None:
            kept = partial if one.faults else intervals
            kept.append(one.interval if names is None else mask_interval(one.interval, names))
    for between, missing in series.values():
        intervals += between if names is None else [mask_interval(one, names) for one in between]
        gaps += missing
    if names is not None:
        faults, skipped, gaps = (
            ["a file is not a report, or is incomplete"] * bool(one) for one in (faults, skipped, gaps)
        )
    return Trends(trends([*intervals, *partial], sql), faults, skipped, gaps)
