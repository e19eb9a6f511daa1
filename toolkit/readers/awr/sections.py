"""The sections a report is known to have, each declared by what its headings say, not by where it stands.

A heading is compared reduced (`tables.reduce`): lower case, no punctuation but `%` and `#`. RAC reports print two
rows of headings, which arrive joined (`Wait Time Total(s)`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from toolkit.model.values import Scalar
from toolkit.readers.awr.tables import IN_SECONDS, AwrTable, Numbers, Patterns, reduced, snake, unit_of


class FieldKind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    TEXT = "text"
    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    ANY = "any"


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A value of a row: its name, the headings it stands under, and what it is."""

    name: str
    heading: str
    kind: FieldKind = FieldKind.NUMBER


@dataclass(frozen=True, slots=True, eq=False)
class SectionSpec:
    """A section: its fields, which of them must be there, and what headings must or must not contain.

    Two are the same when they are one object: they serve as keys, and to compare them by content is slow.
    """

    name: str
    fields: tuple[Field, ...]
    needs: tuple[str, ...]
    forbids: str = ""
    words: str = ""


_T, _S, _MS = FieldKind.TEXT, FieldKind.SECONDS, FieldKind.MILLISECONDS
_EVENT = (
    Field("event", r"(wait )?event( name)?", _T),
    Field("waits", r"(event )?waits|wait count"),
    Field(
        "time_s", r"(total |elapsed )?(wait )?time( total| waited)?( ?(s|sec|secs|seconds|ms|cs|us))?|total s", _S
    ),
    Field("avg_wait_ms", r"(wait time )?(avg( wait)?( time)?|average wait|wait avg)( (ms|us|cs|s))?", _MS),
    Field("pct_db_time", r"(wait time )?% ?(of )?(total )?(db|call|ela|elapsed)( time)?|pct (db|call|ela) time"),
    Field("wait_class", r"(wait )?class", _T),
)
_EVENTS = (
    *_EVENT,
    Field("waits_per_txn", r"waits ?(per )?tx(n)?"),
    Field("pct_timeouts", r"(event )?% ?tim(e ?)?outs?|(event )?% ?tim out"),
    Field("pct_bg_time", r"(wait time )?% ?bg time"),
)
_SQL = (
    Field("sql_id", r"sql id", _T),
    Field("elapsed_s", r"(elapsed|elapsd|elap) time( s)?", _S),
    Field("cpu_s", r"cpu time( s)?|cpu s", _S),
    Field("io_s", r"user i o time( s)?", _S),
    Field("cluster_s", r"cluster wait time( s)?", _S),
    Field("executions", r"executions|execs"),
    Field("gets", r"buffer gets|gets"),
    Field("reads", r"(physical|phys) reads"),
    Field("pct_total", r"% ?total( db time)?|% total parses|% of total"),
    Field("module", r"(sql )?module", _T),
    Field("pdb", r"pdb name", _T),
    Field("old_hash_value", r"(old )?hash value", _T),
    Field("text", r"sql text", _T),
)

SECTIONS = (
    SectionSpec(
        "rac_events", (Field("inst_num", r"i#", _T), *_EVENT), ("inst_num", "event", "time_s", "pct_db_time")
    ),
    SectionSpec("background_events", _EVENTS, ("event", "waits", "time_s"), words=r"background|% bg"),
    SectionSpec(
        "background_events",
        _EVENTS,
        ("event", "waits", "time_s", "pct_bg_time"),
    ),
    SectionSpec("foreground_events", _EVENTS, ("event", "waits", "time_s"), words=r"foreground wait events"),
    SectionSpec("wait_events", _EVENTS, ("event", "waits", "time_s"), words=r"^wait events( fg and bg)? \|"),
    SectionSpec(
        "top_events",
        _EVENT,
        ("event", "time_s", "pct_db_time"),
        forbids=r"txn|time ?outs|% ?bg|activity|row source",
    ),
    SectionSpec(
        "foreground_events",
        _EVENTS,
        ("event", "waits", "time_s", "waits_per_txn", "pct_db_time"),
    ),
    SectionSpec(
        "foreground_events",
        _EVENTS,
        ("event", "waits", "time_s", "pct_timeouts", "pct_db_time"),
        forbids=r"i#|activity",
    ),
    SectionSpec(
        "wait_classes",
        (*_EVENT[1:], Field("avg_active_sessions", r"avg active sessions")),
        ("wait_class", "time_s", "avg_active_sessions"),
    ),
    SectionSpec(
        "foreground_wait_classes",
        (*_EVENT[1:], _EVENTS[-2]),
        ("wait_class", "waits", "time_s", "pct_db_time"),
        forbids=r"event|inst|i#",
    ),
    SectionSpec(
        "time_model",
        (
            Field("name", r"statistic( name)?", _T),
            Field("time_s", r"time s(ec)?", _S),
            Field("pct_db_time", r"% ?(of )?db time"),
            Field("pct_total_cpu", r"% ?(of )?total cpu time"),
        ),
        ("name", "time_s", "pct_db_time"),
    ),
    SectionSpec(
        "host_cpu",
        (
            Field("cpus", r"cpus"),
            Field("cores", r"cores"),
            Field("sockets", r"sockets"),
            Field("load_begin", r"(load )?(average )?begin"),
            Field("load_end", r"(load )?(average )?end"),
            Field("user_pct", r"% ?user|user"),
            Field("sys_pct", r"% ?sys(tem)?|sys(tem)?"),
            Field("wio_pct", r"% ?wio|wio"),
            Field("idle_pct", r"% ?idle|idle"),
        ),
        ("load_begin", "user_pct", "idle_pct"),
        forbids=r"i#|snap time",
    ),
    SectionSpec(
        "instance_cpu",
        (
            Field("pct_total_cpu", r"% ?total cpu"),
            Field("pct_busy_cpu", r"% ?busy cpu"),
            Field("pct_db_time_waiting_for_cpu", r"% ?db time waiting for cpu.*"),
        ),
        ("pct_total_cpu", "pct_busy_cpu"),
    ),
    SectionSpec("sql", _SQL, ("sql_id", "executions"), forbids=r"plan hash|activity"),
    SectionSpec("sql", _SQL, ("old_hash_value", "executions"), forbids=r"activity"),
    SectionSpec("sql", _SQL, ("sql_id", "pct_total"), forbids=r"plan hash|activity"),
    SectionSpec("sql_text", (_SQL[0], _SQL[-1]), ("sql_id", "text"), forbids=r"%|executions|plan|activity|event"),
    SectionSpec(
        "segments",
        (
            Field("owner", r"owner", _T),
            Field("tablespace", r"tablespace( name)?", _T),
            Field("object", r"object( name)?", _T),
            Field("subobject", r"subobject( name)?", _T),
            Field("type", r"obj(ect)? type", _T),
            Field("pct", r"% ?(of )?(total|capture)|%total"),
            Field("pdb", r"pdb name", _T),
        ),
        ("owner", "object", "type"),
        forbids=r"activity|event",
    ),
    SectionSpec(
        "init_parameters",
        (
            Field("name", r"parameter name|parameter", _T),
            Field("inst_num", r"i#", _T),
            Field("begin", r"begin value|value", _T),
            Field("end", r"end value( if different)?", _T),
            Field("pdb", r"pdb name", _T),
        ),
        ("name", "begin"),
        forbids=r"statistic|activity",
    ),
    SectionSpec(
        "os_stats",
        (
            Field("name", r"statistic|name", _T),
            Field("value", r"value|total"),
            Field("end_value", r"end value"),
        ),
        ("name", "value"),
        words=r"operating system stat|os stat",
        forbids=r"per (trans|hour)",
    ),
    SectionSpec(
        "instance_activity",
        (
            Field("name", r"statistic", _T),
            Field("total", r"total"),
            Field("per_second", r"per (second|sec)"),
            Field("per_txn", r"per (trans|transaction)"),
        ),
        ("name", "total", "per_second"),
        forbids=r"i#|%",
    ),
)
"""Declared from the narrow to the wide: the first that fits has it."""


_PATTERNS = Patterns(
    (one.heading for section in SECTIONS for one in section.fields),
    (section.forbids for section in SECTIONS if section.forbids),
)


_NEEDS = tuple(
    (section, frozenset(one.heading for one in section.fields if one.name in section.needs))
    for section in SECTIONS
)
"""What some heading must contain: quicker to check than where."""


@lru_cache(maxsize=16384)
def _said(key: str) -> frozenset[str]:
    """Return which of the patterns for headings a heading meets; there are few headings, in many tables."""
    return frozenset(_PATTERNS.met(key))


@lru_cache(maxsize=4096)
def _places(section: SectionSpec, columns: tuple[str, ...]) -> dict[str, int] | None:
    keys = [_said(key) for key in reduced(columns)]
    if section.forbids and any(section.forbids in one for one in keys):
        return None
    found: dict[str, int] = {}
    for one in section.fields:
        place = next((i for i, meets in enumerate(keys) if one.heading in meets and i not in found.values()), None)
        if place is not None:
            found[one.name] = place
        elif one.name in section.needs:
            return None
    return found


def section_of(table: AwrTable) -> SectionSpec | None:
    """Return the section a table is, None for one that is not known."""
    if len(table.columns) < 2:
        return None
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


def records(section: SectionSpec, table: AwrTable, numbers: Numbers) -> list[dict[str, Scalar]]:
    """Return the rows of a table by name; further columns keep the name of their heading."""
    if not table.rows:
        return []
    places = _places(section, table.columns) or {}
    readers = _readers(section, places, table.keys)
    width = max(place for _, place, _, _ in readers) + 1
    rows = table.rows
    if any(len(row) < width for row in rows):
        rows = [row + ("",) * (width - len(row)) for row in rows]
    columns = list(zip(*(row[:width] for row in rows), strict=True))
    names = [name for name, *_ in readers]
    values = [_column(columns[place], kind, unit, numbers) for _, place, kind, unit in readers]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _column(cells: Sequence[str], kind: FieldKind, unit: str | None, numbers: Numbers) -> Iterable[Scalar]:
    """Return the values of a column: all at once where each is a number as usual, else one by one."""
    if kind in _PLAIN or (kind is FieldKind.SECONDS and unit in IN_SECONDS):
        usual = numbers.column(cells)
        if usual is not None:
            return usual
    return map(_values(kind, unit, numbers).__getitem__, cells)


_PLAIN = frozenset({FieldKind.NUMBER, FieldKind.ANY})


def _readers(
    section: SectionSpec, places: Mapping[str, int], keys: Sequence[str]
) -> list[tuple[str, int, FieldKind, str | None]]:
    kinds = {one.name: one.kind for one in section.fields}
    readers = [
        (one.name, places[one.name], kinds[one.name], unit_of(keys[places[one.name]]))
        for one in section.fields
        if one.name in places
    ]
    taken = {name for name, *_ in readers}
    for place, key in enumerate(keys):
        if place in places.values():
            continue
        name = snake(key)
        while name in taken:
            name += "_2"
        taken.add(name)
        readers.append((name, place, FieldKind.ANY, None))
    return readers


class _Values(dict[str, Scalar]):
    """The values of cells of one kind by what is printed: many print the same."""

    def __init__(self, read: Callable[[str], Scalar]) -> None:
        super().__init__(dict.fromkeys(_NOTHING))
        self._read = read

    def __missing__(self, cell: str) -> Scalar:
        value = self._read(cell)
        if len(self) < _MOST_KNOWN and len(cell) < _LONGEST_KNOWN:
            self[cell] = value
        return value


_MOST_KNOWN, _LONGEST_KNOWN = 50_000, 40
_NOTHING = ("", "N/A", "&nbsp;")


@lru_cache(maxsize=64)
def _values(kind: FieldKind, unit: str | None, numbers: Numbers) -> _Values:
    return _Values(_reader(kind, unit, numbers))


def _reader(kind: FieldKind, unit: str | None, numbers: Numbers) -> Callable[[str], Scalar]:
    """Return what reads cells of a kind."""

    def number_or_text(cell: str) -> Scalar:
        number = numbers.number(cell)
        return cell if number is None else number

    match kind:
        case FieldKind.NUMBER:
            return numbers.number
        case FieldKind.TEXT:
            return str
        case FieldKind.SECONDS:
            return lambda cell: numbers.seconds(cell, unit)
        case FieldKind.MILLISECONDS:
            return lambda cell: numbers.milliseconds(cell, unit)
        case FieldKind.ANY:
            return number_or_text


def lacking(section: SectionSpec, table: AwrTable, read: Sequence[Mapping[str, Scalar]]) -> list[str]:
    """Return the printed values that should be numbers and are not."""
    places = _places(section, table.columns) or {}
    numeric = [
        one for one in section.fields if one.name in places and one.kind not in {FieldKind.TEXT, FieldKind.ANY}
    ]
    return [
        cell
        for row, record in zip(table.rows, read, strict=True)
        for one in numeric
        if record[one.name] is None
        and (cell := row[places[one.name]] if places[one.name] < len(row) else "")
        and cell not in {"N/A", "-"}
    ]


def metric_of(table: AwrTable) -> str:
    """Return what a list of SQL is ordered by: `elapsed`, `cpu`, `gets`, `reads` or another word."""
    named = re.search(r"sql ordered by ([a-z /%#]+)", table.words)
    words = (named[1] if named else next((key for key in table.keys if key), "")).strip()
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
