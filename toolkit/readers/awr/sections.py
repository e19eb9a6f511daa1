"""What table is which section, and its rows as values: by the headings of the table, not by where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat

from toolkit.model.values import Scalar
from toolkit.readers.awr.catalogue import CORE
from toolkit.readers.awr.details import DETAILS
from toolkit.readers.awr.fields import SectionSpec
from toolkit.readers.awr.forms import FORMS, FieldKind, column
from toolkit.readers.awr.tables import AwrTable, Numbers, Patterns, reduced, snake, unit_of
from toolkit.units import counted

SECTIONS = (*DETAILS, *CORE)
"""From the narrow to the wide: the first that fits has a table."""
_WORDS = re.compile(r"[a-z0-9 %#|]*")
"""Headings that are spelled out, which need no pattern."""
_SPELLED: dict[str, set[str]] = {}
for _heading in {one.heading for section in SECTIONS for one in section.fields}:
    for _words in _heading.split("|") if _WORDS.fullmatch(_heading) else ():
        _SPELLED.setdefault(_words, set()).add(_heading)


_PATTERNS = Patterns(
    (one.heading for section in SECTIONS for one in section.fields if not _WORDS.fullmatch(one.heading)),
    (section.forbids for section in SECTIONS if section.forbids),
)


_NEEDS = tuple(
    (section, frozenset(one.heading for one in section.fields if one.name in section.needs))
    for section in SECTIONS
    if not section.labels
)
"""What some heading must contain: quicker to check than where."""
_LABELLED = tuple(section for section in SECTIONS if section.labels)


@lru_cache(maxsize=16384)
def _said(key: str) -> frozenset[str]:
    """Return which of the patterns for headings a heading meets; there are few headings, in many tables."""
    return frozenset(_PATTERNS.met(key)) | _SPELLED.get(key, frozenset())


Places = Mapping[str, tuple[int, FieldKind, str | None]]
"""Where the value of each name stands, what it is there, and in which unit."""


@lru_cache(maxsize=4096)
def _places(section: SectionSpec, columns: tuple[str, ...]) -> Places | None:
    keys = [_said(key) for key in reduced(columns)]
    if section.forbids and any(section.forbids in one for one in keys):
        return None
    found: dict[str, tuple[int, FieldKind, str | None]] = {}
    taken: set[int] = set()
    for one in section.fields:
        place = next((i for i, meets in enumerate(keys) if one.heading in meets and i not in taken), None)
        if place is not None and one.name not in found:
            found[one.name] = place, one.kind, one.unit
            taken.add(place)
        elif place is None and one.name in section.needs:
            return None
    return found


def section_of(table: AwrTable) -> SectionSpec | None:
    """Return the section a table is, None for one that is not known."""
    if len(table.columns) < 2:
        words = None if table.columns else table.words
        return next((one for one in _LABELLED if words and re.search(one.words, words)), None)
    for section in _likely(table.columns):
        if not section.words or re.search(section.words, table.words):
            return section
    return None


@lru_cache(maxsize=4096)
def _likely(columns: tuple[str, ...]) -> tuple[SectionSpec, ...]:
    """Return the sections that headings fit."""
    keys = frozenset().union(*map(_said, reduced(columns)))
    return tuple(
        section
        for section, needs in _NEEDS
        if needs <= keys and section.forbids not in keys and _places(section, columns) is not None
    )


@dataclass(frozen=True, slots=True)
class Typed:
    """The rows of a table by name, and a sentence for each column with values that are none of its kind."""

    rows: list[dict[str, Scalar]]
    warnings: Sequence[str]


def records(section: SectionSpec, table: AwrTable, numbers: Numbers, always: Sequence[str] = ()) -> Typed:
    """Return the rows of a table by name.

    Args:
        section: What the table is.
        table: It.
        numbers: How the report writes numbers.
        always: Names that each row has, null where the table has no such column.
    """
    if not table.rows:
        return Typed([], ())
    readers = layout_of(section, table.columns)
    width = max(place for _, place, _, _ in readers) + 1
    rows = table.rows
    if min(map(len, rows)) < width:
        rows = [row + ("",) * (width - len(row)) for row in rows]
    columns = list(zip(*rows, strict=False))
    warnings = []
    values: dict[str, Iterable[Scalar]] = {name: repeat(None) for name in always}
    for name, place, kind, unit in readers:
        values[name], lost = column(columns[place], kind, unit, numbers)
        if lost:
            heading = table.columns[place] if table.columns else name
            warnings.append(_sentence(table.section or section.name, heading, kind, lost))
    names, cells = tuple(values), zip(*values.values(), strict=False)
    if section.rest is None:
        return Typed([dict(zip(names, row, strict=False)) for row in cells], warnings)
    # of columns that are not declared most hold nothing: those of a histogram
    declared = frozenset(one.name for one in section.fields)
    filled = [
        {name: value for name, value in zip(names, row, strict=False) if value is not None or name in declared}
        for row in cells
    ]
    return Typed(filled, warnings)


def _sentence(section: str, heading: str, kind: FieldKind, cells: Sequence[str]) -> str:
    what = kind if kind in FORMS else "whole number" if kind is FieldKind.COUNT else "number"
    what = "time" if kind is FieldKind.TIME else what
    many = counted(len(cells), f"value is no {what}", f"values are no {what}s")
    return f"in `{section}`, column `{heading}`, {many}: `{cells[0][:40]}`"


_CUT = re.compile(r"_per_exe$")


@lru_cache(maxsize=4096)
def layout_of(section: SectionSpec, columns: tuple[str, ...]) -> list[tuple[str, int, FieldKind, str | None]]:
    """Return name, place, kind and unit of each column."""
    if section.labels:
        return [(one.name, place, one.kind, None) for place, one in enumerate(section.fields)]
    places, keys = _places(section, columns) or {}, reduced(columns)
    readers = [(name, place, kind, unit_of(keys[place]) or unit) for name, (place, kind, unit) in places.items()]
    taken, known = set(places), {place for place, *_ in places.values()}
    for place, key in enumerate(keys):
        if place in known:
            continue
        # a text cuts `UnOptimized Reqs per Exec` to the width of its column
        short = _CUT.sub("_per_exec", snake(key))
        name, kind = section.rest(columns[place]) if section.rest else (short, FieldKind.ANY)
        while name in taken:
            name += "_2"
        taken.add(name)
        readers.append((name, place, kind, None))
    return readers


def metric_of(table: AwrTable) -> str:
    """Return what a list of SQL is ordered by: `elapsed`, `cpu`, `gets`, `reads` or another word."""
    named = re.search(r"sql ordered by ([a-z /%#]+)", table.words)
    return metric_named((named[1] if named else next((key for key in table.keys if key), "")).strip())


def metric_named(words: str) -> str:
    """Return what a list of SQL is ordered by, by the words that say so, reduced."""
    for pattern, name in _METRICS:
        if re.match(pattern, words):
            return name
    return snake(re.split(r" (for db|db|snaps)\b", words)[0])


_METRICS = (
    (r".*unopt", "unoptimized_reads"), (r"elap", "elapsed"), (r"cpu", "cpu"),
    (r"user i ?/? ?o|user io", "user_io"), (r"(buffer )?gets", "gets"),
    (r"(physical |phys )?reads?( |$)(?!req)", "reads"),
    (r"execut", "executions"), (r"parse", "parse_calls"), (r"shar", "sharable_memory"), (r"version", "versions"),
    (r"cluster", "cluster_wait"),
)  # fmt: skip
