"""`awr diff` and `awr trend` from files: reports read side by side, made intervals, compared or set in a row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.app.awr import show_reports
from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval


def read_intervals(files: Sequence[Path]) -> list[Interval]:
    """Read reports as intervals, in the order given.

    Raises:
        ToolkitError: TK-0113 for the first file that is no report, or not a whole one.
    """
    return [_interval(shown.text, shown.faults, shown.hint) for shown in show_reports(files)]


def _interval(text: str, faults: Sequence[str], hint: str) -> Interval:
    if faults:
        more = hint or "get the whole file as the database wrote it"
        raise ToolkitError(faults[0], code="TK-0113", hint=more)
    return interval_of(json.loads(text))


def compare_files(before: Path, after: Path, *, anyway: bool = False) -> IntervalDiff:
    """Compare two reports.

    Raises:
        ToolkitError: TK-0113 for a file that is no report, TK-0115 when the two cannot be compared.
    """
    if _same_file(before, after):
        raise ToolkitError(
            f"`{before}` and `{after}` are the same file",
            code="TK-0115",
            hint="give the report of the interval before and the one after",
        )
    first, second = read_intervals([before, after])
    return compare_intervals(first, second, anyway=anyway)


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
