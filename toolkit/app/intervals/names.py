"""How intervals are written on the command line: `A..B`, `T:101-104`, files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from toolkit.errors import ToolkitError

_MARK = ".."
_RANGE = re.compile(r"(?P<target>.+):(?P<first>\d{1,10})-(?P<last>\d{1,10})", re.ASCII | re.DOTALL)
_NUMBERS = re.compile(r"(\d{1,10})-(\d{1,10})", re.ASCII)
_NUMBERED = re.compile(r"(.+)#\d{1,6}", re.ASCII | re.DOTALL)
"""One report of a file with several: `FILE#2`."""
_REPORT_SUFFIXES = frozenset({".html", ".htm", ".txt", ".text", ".lst", ".log"})


@dataclass(frozen=True, slots=True)
class Range:
    """Two snapshots of a database; `target` is empty where the command line names it elsewhere."""

    first: int
    last: int
    target: str = ""


def names_interval(text: str) -> bool:
    """Tell an interval (a file, `T:101-104`, `A..B`) from the name of a run or of one snapshot."""
    file = Path(text)
    numbered = _NUMBERED.fullmatch(text)
    if numbered is not None and Path(numbered[1]).is_file():
        return True
    given = file.exists() and not file.is_dir()
    return given or file.suffix.lower() in _REPORT_SUFFIXES or is_range(text) or is_between(text)


def is_between(text: str) -> bool:
    """Tell an interval of stored snapshots (`before..after`, `#3..#7`) from a label."""
    left, mark, right = text.partition(_MARK)
    return bool(mark and left.strip() and right.strip())


def between_of(text: str) -> tuple[str, str]:
    """Read `before..after`.

    Raises:
        ToolkitError: TK-0102 for anything else.
    """
    if not is_between(text):
        raise ToolkitError(
            f"`{text}` is one snapshot, not an interval between two",
            code="TK-0102",
            hint="write `A1..A2 B1..B2` to compare two intervals, or `A B` to compare two snapshots",
        )
    a, _, b = text.partition(_MARK)
    return a.strip(), b.strip()


def is_range(text: str) -> bool:
    """Tell a range of a database's own snapshots (`T:101-104`) from a file."""
    return _RANGE.fullmatch(text) is not None


def range_of(text: str) -> Range:
    """Read `T:101-104`, or `101-104` where the target is named elsewhere.

    Raises:
        ToolkitError: TK-0102 for anything else, and for a range of one snapshot.
    """
    full = _RANGE.fullmatch(text)
    match = full or _NUMBERS.fullmatch(text.strip())
    if match is None:
        raise ToolkitError(
            f"`{text}` is not a range of snapshots", code="TK-0102", hint="write two snapshot numbers: 101-104"
        )
    first, last = (int(number) for number in match.groups()[-2:])
    if first == last:
        raise ToolkitError(f"`{text}` is a single snapshot", code="TK-0102", hint="write two: 101-104")
    return Range(min(first, last), max(first, last), full["target"] if full else "")
