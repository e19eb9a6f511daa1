"""The lists that reports detail side by side, and the curves of their memory advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolkit.analysis.awr.details import ADVICE, DETAILS, Curve, Detail, DetailChange
from toolkit.analysis.awr.diff import IntervalDiff
from toolkit.report.chart import BOTTOM, RIGHT, TOP, Chart, ChartLine, ChartMark, Frame, Legend, Scale, linear
from toolkit.report.interval.tables import BarTable, barred, side
from toolkit.report.tables import left, right, table
from toolkit.units import byte_size, number

_GIB = 2**30
_LEFT = 92.0
"""Room for the labels of estimates, which have many digits."""
_TITLES = {
    "pct_active_sessions": "% of activity", "avg_active_sessions": "active sessions", "pct_event": "% of activity",
    "reads": "reads/s", "writes": "writes/s", "buffer_waits": "buffer waits/s", "avg_read_ms": "avg read (ms)",
    "avg_write_ms": "avg write (ms)", "waits": "waits/s", "pct_from_512us": "% from 512 us",
    "pct_from_1s": "% from 1 s", "pct_above_1s": "% above 1 s", "per_second": "per s", "pct": "%",
    "value": "value", "time_s": "sessions", "avg_wait_ms": "avg wait (ms)", "sleeps": "sleeps/s",
    "misses": "misses/s", "time_ms": "ms/s", "undo_blocks": "blocks/s", "transactions": "transactions/s",
    "longest_query_s": "longest query (s)", "gets": "gets/s", "reloads": "reloads/s",
    "invalidations": "invalidations/s", "pct_get_misses": "% of gets missed", "pct_pin_misses": "% of pins missed",
    "modifications": "modifications/s", "free_buffer_waits": "free buffer waits/s",
    "buffer_busy_waits": "buffer busy waits/s", "pct_hits": "% hits",
}  # fmt: skip


def detail_tables(diff: IntervalDiff) -> Iterator[tuple[str, str, BarTable]]:
    """Yield section, title and table of each list that both sides have."""
    for one in DETAILS:
        if changes := diff.details.get(one.section):
            yield one.section, one.title, _table(one, changes)


def _table(detail: Detail, changes: Sequence[DetailChange]) -> BarTable:
    shown = [
        name
        for name in (*detail.totals, *detail.gauges)
        if any(row.measures[name].presence != "neither" for row in changes)
    ]
    rows = []
    for row in changes:
        cells = [text for name in shown for text in _both(row, name)]
        rows.append(([row.key, *cells], row.measures[shown[0]].delta if shown else None))
    columns = [*left(detail.title.lower())]
    for name in shown:
        columns += right(f"{_TITLES[name]} before", "after")
    return barred(detail.title, columns, rows)


def _both(row: DetailChange, name: str) -> tuple[str, str]:
    change = row.measures[name]
    return side(change.before), side(change.after)


def advice_charts(diff: IntervalDiff) -> tuple[Chart, ...]:
    """Return a chart for each advice that a side has, with a line for each side."""
    return tuple(
        _chart(section, title, unit, diff.before.advice.get(section, ()), diff.after.advice.get(section, ()))
        for section, title, _, unit in ADVICE
        if diff.before.advice.get(section) or diff.after.advice.get(section)
    )


def _chart(section: str, title: str, unit: str, before: Curve, after: Curve) -> Chart:
    sides = [(name, curve) for name, curve in (("before", before), ("after", after)) if curve]
    sizes = [size / _GIB for _, curve in sides for size, _ in curve]
    values = [value for _, curve in sides for _, value in curve]
    x, y = linear(0.0, max(sizes), _LEFT, RIGHT), linear(0.0, max(values), BOTTOM, TOP)
    return Chart(
        key=section,
        title=title,
        description=f"{unit} by size, {' and '.join(name for name, _ in sides)}",
        x_label="size (GiB)",
        y_label="",
        x=x,
        y=y,
        lines=tuple(ChartLine(_points(curve, x, y), place) for place, (_, curve) in enumerate(sides)),
        marks=tuple(
            ChartMark(*point, ("circle", "square")[place], place)
            for place, (_, curve) in enumerate(sides)
            for point in _points(curve, x, y)
        ),
        legend=tuple(
            Legend(f"{name}: {unit}", place, ("circle", "square")[place]) for place, (name, _) in enumerate(sides)
        ),
        frame=Frame(left=_LEFT),
        table=table(title, right("size", *(name for name, _ in sides)), _numbers([curve for _, curve in sides])),
    )


def _points(curve: Curve, x: Scale, y: Scale) -> tuple[tuple[float, float], ...]:
    return tuple((x(size / _GIB), y(value)) for size, value in curve)


def _numbers(curves: Sequence[Curve]) -> list[list[str]]:
    sizes = sorted({size for curve in curves for size, _ in curve})
    return [[byte_size(size), *(number(dict(curve).get(size)) for curve in curves)] for size in sizes]
