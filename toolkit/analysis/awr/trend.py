"""Many intervals as series: one for each database and instance, in time order, with gaps, restarts and changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from toolkit.analysis.awr.comparable import restarted
from toolkit.analysis.shifts import FEWEST, Shift, computable, shifts
from toolkit.model.interval import Interval, Origin
from toolkit.units import counted

_TOP_EVENTS = 8
_GAP, _CLOSE = timedelta(minutes=5), timedelta(minutes=1)
"""Reports print whole minutes, or times that lie a second before the begin of the next."""
_HOST = {"busy_pct": "host CPU busy", "wio_pct": "host CPU waiting for I/O"}
_RATES = {
    "db_time_s": ("DB time", "active sessions"), "db_cpu_s": ("DB CPU", "sessions"),
    "transactions": ("transactions", "per second"), "executes": ("executions", "per second"),
    "hard_parses": ("hard parses", "per second"), "logical_reads": ("logical reads", "per second"),
    "physical_reads": ("physical reads", "per second"), "physical_writes": ("physical writes", "per second"),
    "read_io_bytes": ("read I/O", "bytes"), "write_io_bytes": ("write I/O", "bytes"),
    "redo_size_bytes": ("redo", "bytes"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Point:
    """One interval of a series.

    Attributes:
        gap: Seconds between the end of the interval before and the begin of this one that no report covers.
        restarted: The instance was started anew since the interval before.
    """

    origin: Origin
    gap: float | None
    restarted: bool


@dataclass(frozen=True, slots=True)
class TrendLine:
    """One measure over the points; None where an interval does not tell it, with what is known of it then.

    `most` holds, for an event or statement that is not listed, how large it can be at most.
    """

    name: str
    kind: str
    unit: str
    values: tuple[float | None, ...]
    most: tuple[float | None, ...]
    changes: tuple[Shift, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """The intervals of one instance (or cluster, or container) of one database."""

    name: str
    points: tuple[Point, ...]
    lines: tuple[TrendLine, ...]
    notes: tuple[str, ...]

    @property
    def enough(self) -> bool:
        """Whether there are points enough to look for changes."""
        return len(self.points) >= FEWEST


def trends(intervals: Sequence[Interval], sql: Sequence[str] = ()) -> list[Series]:
    """Return the series, one for each database and instance, by name.

    Args:
        intervals: In any order; an interval that does not say when it was is left out.
        sql: Statements to follow, by sql_id.
    """
    grouped: dict[tuple[object, ...], list[Interval]] = {}
    for one in intervals:
        if one.origin.begin is not None:
            grouped.setdefault(_identity(one.origin), []).append(one)
    found = [_series(members, sql) for members in grouped.values()]
    names = Counter(one.name for one in found)
    told = [_with_id(one) if names[one.name] > 1 else one for one in found]
    return sorted(told, key=lambda one: one.name)


def _with_id(series: Series) -> Series:
    """Tell a database from another one of the same name."""
    dbid = series.points[0].origin.dbid
    return series if dbid is None else replace(series, name=f"{series.name} ({dbid})")


def _identity(origin: Origin) -> tuple[object, ...]:
    return (origin.snapshot_source, origin.scope, origin.database, origin.dbid, origin.instance, origin.container)


def _name(origin: Origin) -> str:
    parts = [origin.database or "?", origin.instance or "", origin.container or ""]
    named = " / ".join(dict.fromkeys(filter(None, parts)))
    kind = {"rac_global": " (cluster)", "pdb": " (PDB)"}.get(origin.scope, "")
    return f"{named}{kind}{' (Statspack)' if origin.snapshot_source == 'statspack' else ''}"


def _begin(one: Interval) -> tuple[datetime, datetime]:
    begin = one.origin.begin
    assert begin is not None
    return begin, one.origin.end or begin


def _series(members: Sequence[Interval], sql: Sequence[str]) -> Series:
    ordered: list[Interval] = []
    twice = 0
    for one in sorted(members, key=_begin):
        if ordered and _begin(one) == _begin(ordered[-1]):
            twice += 1
        else:
            ordered.append(one)
    notes = [f"left out: {counted(twice, 'report')} of an interval that another report covers"] if twice else []
    overlaps = sum(_begin(b)[0] + _CLOSE < _begin(a)[1] for a, b in pairwise(ordered))
    if overlaps:
        notes.append(
            f"{counted(overlaps, 'overlap')} of an interval with the previous one: the time counts in both"
        )
    if len(ordered) < FEWEST:
        few = "is 1 point" if len(ordered) == 1 else f"are {len(ordered)} points"
        notes.append(f"there {few}: at least {FEWEST} are needed to locate a change")
    elif not computable():
        notes.append("changes of level are not computed: the Python package numpy is not installed")
    lines = tuple(_lines(ordered, sql))
    wanted = [key for key in sql if not any(line.name == key and _known(line) for line in lines)]
    notes += [f"no report lists the statement `{key}`" for key in wanted]
    return Series(_name(ordered[0].origin), tuple(_points(ordered)), lines, tuple(notes))


def _known(line: TrendLine) -> bool:
    return any(value is not None for value in line.values)


def _points(ordered: Sequence[Interval]) -> list[Point]:
    points = []
    for place, one in enumerate(ordered):
        last = ordered[place - 1].origin if place else None
        gap = None
        if last is not None and last.end is not None and one.origin.begin is not None:
            apart = one.origin.begin - last.end
            gap = apart.total_seconds() if apart > _GAP else None
        points.append(Point(one.origin, gap, last is not None and restarted(last, one.origin)))
    return points


def _lines(ordered: Sequence[Interval], sql: Sequence[str]) -> list[TrendLine]:
    found = [_line(ordered, title, "load", unit, _rate(name)) for name, (title, unit) in _RATES.items()]
    found += [_line(ordered, title, "host", "%", _host(name)) for name, title in _HOST.items()]
    found += [_line(ordered, name, "event", "active sessions", _event(name)) for name in _top_events(ordered)]
    for key in sql:
        found += [
            _line(ordered, key, "sql", "active sessions", _statement(key, "elapsed_s")),
            _line(ordered, f"{key} executions", "sql", "per second", _statement(key, "executions")),
            _line(ordered, f"{key} time each", "sql", "seconds", _each(key)),
        ]
    return [line for line in found if _known(line)]


Told = tuple[float | None, float | None]


def _line(
    ordered: Sequence[Interval], name: str, kind: str, unit: str, read: Callable[[Interval], Told]
) -> TrendLine:
    told = [read(one) for one in ordered]
    values = [value for value, _ in told]
    # a row below the last of its list is not nothing, and not far from it either: its bound stands in
    used = [most if value is None else value for value, most in told]
    return TrendLine(name, kind, unit, tuple(values), tuple(most for _, most in told), tuple(shifts(used)))


def _rate(name: str) -> Callable[[Interval], Told]:
    return lambda one: (one.load.get(name), None)


def _host(name: str) -> Callable[[Interval], Told]:
    return lambda one: (one.host_cpu.get(name), None)


def _per_second(value: float | None, one: Interval) -> float | None:
    elapsed = one.origin.elapsed_seconds
    return value / elapsed if value is not None and elapsed else None


def _event(name: str) -> Callable[[Interval], Told]:
    def read(one: Interval) -> Told:
        row = one.waits.rows.get(name)
        most = one.waits.most("seconds") if row is None else None
        return _per_second(None if row is None else row.seconds, one), _per_second(most, one)

    return read


def _statement(key: str, measure: str) -> Callable[[Interval], Told]:
    def read(one: Interval) -> Told:
        row = one.statements.rows.get(key)
        most = one.statements.most(measure) if row is None else None
        return _per_second(None if row is None else getattr(row, measure), one), _per_second(most, one)

    return read


def _each(key: str) -> Callable[[Interval], Told]:
    def read(one: Interval) -> Told:
        row = one.statements.rows.get(key)
        if row is None or row.elapsed_s is None or not row.executions:
            return None, None
        return row.elapsed_s / row.executions, None

    return read


def _top_events(ordered: Sequence[Interval]) -> list[str]:
    totals: dict[str, float] = {}
    for one in ordered:
        for name, row in one.waits.rows.items():
            if name != "DB CPU" and row.seconds is not None:
                totals[name] = totals.get(name, 0.0) + row.seconds
    return sorted(totals, key=lambda name: -totals[name])[:_TOP_EVENTS]


def changes_of(series: Series) -> Mapping[int, list[tuple[TrendLine, Shift]]]:
    """Return the changes of a series by the point they begin with."""
    found: dict[int, list[tuple[TrendLine, Shift]]] = {}
    for line in series.lines:
        for shift in line.changes:
            found.setdefault(shift.index, []).append((line, shift))
    return dict(sorted(found.items()))
