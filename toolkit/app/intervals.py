"""`awr diff` and `awr trend`: reports read side by side, or snapshots stored, as intervals."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.app.awr import Shown, show_reports
from toolkit.app.interval_sources import is_interval, stored_interval
from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval
from toolkit.store import open_store

_MOST_FILES = 20_000


def compare_sources(before: str, after: str, *, anyway: bool = False, store: str | None = None) -> IntervalDiff:
    """Compare two reports, or two intervals of stored snapshots.

    Args:
        before: A file, or `a1..a2` for what lies between two snapshots of the store.
        after: The same.
        anyway: Compare two different databases on purpose.
        store: The results store, where snapshots are named.

    Raises:
        ToolkitError: TK-0113 for a file that is no report, TK-0115 when the two cannot be compared.
    """
    if _same_file(before, after):
        raise ToolkitError(
            f"`{before}` and `{after}` are the same file",
            code="TK-0115",
            hint="give the report of the interval before and the one after",
        )
    stored = {
        name: _stored(name, store) for name in (before, after) if is_interval(name) and not Path(name).exists()
    }
    files = [name for name in (before, after) if name not in stored]
    read = dict(zip(files, map(_interval, show_reports([Path(name) for name in files])), strict=True))
    sides = {**stored, **read}
    return compare_intervals(sides[before], sides[after], anyway=anyway)


def _stored(name: str, store: str | None) -> Interval:
    with open_store(store) as opened:
        return stored_interval(opened, name)


def _interval(shown: Shown) -> Interval:
    if shown.faults:
        hint = shown.hint or "get the whole file as the database wrote it"
        raise ToolkitError(shown.faults[0], code="TK-0113", hint=hint)
    return interval_of(json.loads(shown.text))


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:
        return False


def read_many(names: Sequence[str]) -> Iterator[tuple[Interval | None, Shown]]:
    """Read the reports that are named, and those in the folders that are named, as intervals.

    Yields:
        The interval with only what a series needs, or None for a file that is no report, and what was read.

    Raises:
        ToolkitError: TK-0113 when there is no file at all.
    """
    files = [file for name in names for file in _files(Path(name))]
    if not files:
        raise ToolkitError(
            "there is no file to read", code="TK-0113", hint="name reports, or a folder that holds some"
        )
    for shown in show_reports(list(dict.fromkeys(files))):
        if not shown.text:
            yield None, shown
            continue
        interval = interval_of(json.loads(shown.text))
        yield replace(interval, counters={}, segments={}), replace(shown, text="")


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders.sort()
        found += [Path(folder, name) for name in sorted(names) if not name.startswith(".")]
        if len(found) > _MOST_FILES:
            raise ToolkitError(
                f"`{path}` holds more than {_MOST_FILES:,} files", code="TK-0113", hint="name a smaller folder"
            )
    return found
