"""What reports detail, compared: one declaration for each list by which two reports are held together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from toolkit.analysis.awr.changes import Amount, Change, amount
from toolkit.analysis.awr.listings import Record, number, of_scope, records, text
from toolkit.model.interval import Interval

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Detail:
    """A list of a report that is compared.

    Attributes:
        section: Its name.
        title: Its heading.
        keys: The values that together name a row.
        totals: Values that are counted over the interval, which are compared per second; the rows are ordered by
            the change of the first.
        gauges: Values that are compared as they are: shares, averages.
        private: What names a row is somebody's name, of this kind.
    """

    section: str
    title: str
    keys: tuple[str, ...]
    totals: tuple[str, ...] = ()
    gauges: tuple[str, ...] = ()
    private: str = ""


DETAILS = (
    Detail("addm_findings", "ADDM findings", ("finding",), gauges=("pct_active_sessions",)),
    Detail("ash_events", "Samples of events", ("event", "session_type"), gauges=("avg_active_sessions",)),
    Detail("ash_sql_by_event", "Samples of statements", ("sql_id", "plan_hash", "event"), gauges=("pct_event",)),
    Detail("ash_blocking_sessions", "Samples of blockers by event", ("event",), gauges=("pct_event",)),
    Detail("tablespace_io", "I/O by tablespace", ("tablespace",), ("reads", "writes", "buffer_waits"),
           ("avg_read_ms", "avg_write_ms"), "tablespace"),
    Detail("file_io", "I/O by file", ("filename",), ("reads", "writes", "buffer_waits"), ("avg_read_ms",), "file"),
    Detail("wait_event_histogram", "Wait event histogram", ("event",), ("waits",),
           ("pct_from_512us", "pct_from_1s", "pct_above_1s")),
    Detail("gc_load", "Global cache load", ("name",), gauges=("per_second",)),
    Detail("gc_efficiency", "Global cache efficiency", ("name",), gauges=("pct",)),
    Detail("gc_workload", "Global cache times and shares", ("name",), gauges=("value",)),
    Detail("gc_messaging", "Global cache messages", ("name",), gauges=("value",)),
    Detail("enqueues", "Enqueues", ("enqueue",), ("time_s", "waits"), ("avg_wait_ms",)),
    Detail("latch_sleeps", "Latches", ("latch",), ("sleeps", "misses")),
    Detail("mutex_sleeps", "Mutexes", ("mutex", "location"), ("time_ms", "sleeps")),
    Detail("library_cache", "Library cache", ("namespace",), ("reloads", "invalidations", "gets"),
           ("pct_get_misses", "pct_pin_misses")),
    Detail("dictionary_cache", "Dictionary cache", ("cache",), ("gets", "modifications"), ("pct_get_misses",)),
    Detail("buffer_pools", "Buffer pools", ("pool",), ("reads", "free_buffer_waits", "buffer_busy_waits"),
           ("pct_hits",)),
    Detail("undo", "Undo", ("undo_tablespace",), ("undo_blocks", "transactions"), ("longest_query_s",)),
)  # fmt: skip
GAUGES = frozenset(name for one in DETAILS for name in one.gauges)
ADVICE = (
    ("buffer_cache_advice", "Buffer cache advice", "physical_reads", "estimated physical reads"),
    ("pga_advice", "PGA advice", "extra_read_written_mb", "extra MB read and written"),
    ("sga_advice", "SGA advice", "db_time_s", "estimated DB time (s)"),
    ("shared_pool_advice", "Shared pool advice", "load_time_s", "estimated load time (s)"),
)
"""Section, title, and the value that is drawn over the size, with its name."""
Rows = dict[str, dict[str, float]]
Curve = tuple[tuple[float, float], ...]
"""Points: the size in bytes, and what is estimated for it."""


def details_of(report: Record) -> dict[str, Rows]:
    """Return the numbers of the lists that are compared, by section and by what names a row."""
    found = {one.section: _rows(one, of_scope(report, records(report.get(one.section)))) for one in DETAILS}
    return {name: rows for name, rows in found.items() if rows}


def _rows(detail: Detail, rows: Iterable[Record]) -> Rows:
    made: Rows = {}
    for row in rows:
        names = [text(row.get(key)) for key in detail.keys]
        if names[0] is None:
            continue
        known = made.setdefault(", ".join(one for one in names if one), {})
        for name in (*detail.totals, *detail.gauges):
            value = number(row.get(name))
            if value is not None:
                # of a finding of several hours, and of other shares, the first is the topmost
                known[name] = (
                    known[name] + value if name in known and name in detail.totals else known.get(name, value)
                )
    return made


def advice_of(report: Record) -> dict[str, Curve]:
    """Return the curves of advice that a report has; of several pools the first is taken."""
    found = {}
    for section, _, name, _ in ADVICE:
        rows = records(report.get(section))
        pool = rows[0].get("pool") if rows else None
        points = [
            (size * _MIB, value)
            for row in rows
            if row.get("pool") == pool
            and (size := number(row.get("size_mb"))) is not None
            and (value := number(row.get(name))) is not None
        ]
        if len(points) > 1:
            found[section] = tuple(sorted(points))
    return found


@dataclass(frozen=True, slots=True)
class DetailChange:
    """A row of a list: its values before and after, by name."""

    key: str
    measures: Mapping[str, Change]


def detail_changes(a: Interval, b: Interval) -> dict[str, tuple[DetailChange, ...]]:
    """Return the rows of each list that both intervals have, those that changed most first.

    A list that only one of them has is left out: its release does not print it, or nothing of it happened.
    """
    found = {}
    for one in DETAILS:
        before, after = a.details.get(one.section), b.details.get(one.section)
        if before and after:
            rows = [_change(one, key, a, b) for key in dict.fromkeys([*after, *before])]
            first = next(iter((*one.totals, *one.gauges)))
            rows.sort(key=lambda row, first=first: -abs(row.measures[first].delta or 0.0))  # type: ignore[misc]
            found[one.section] = tuple(rows)
    return found


def _change(detail: Detail, key: str, a: Interval, b: Interval) -> DetailChange:
    measures = {}
    for name in (*detail.totals, *detail.gauges):
        values = [side.details[detail.section].get(key, {}).get(name) for side in (a, b)]
        sides = [
            amount(side, value) if name in detail.totals else Amount(value, None, 1.0)
            for side, value in zip((a, b), values, strict=True)
        ]
        measures[name] = Change(name, *sides)
    return DetailChange(key, measures)
