"""The charts of a series: DB time, events, host CPU, I/O and statements over time, with gaps and changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from toolkit.analysis.awr.trend import Series, TrendLine
from toolkit.report.chart import SERIES_SHAPES, Chart, ChartMark, Frame, Legend
from toolkit.report.chart import ChartLine as Stroke
from toolkit.report.safe import clean
from toolkit.report.scales import Scale, Tick, linear, place
from toolkit.units import byte_size, number

_FRAME = Frame(width=900, height=300, left=70, right=886)
_MOST_MARKS = 150
_LINES = 5
_GROUPS = (
    ("db-time", "DB time", "load", ("DB time", "DB CPU"), "active sessions"),
    ("host", "Host CPU", "host", ("host CPU busy", "host CPU waiting for I/O"), "%"),
    ("io", "I/O", "load", ("read I/O", "write I/O", "redo"), "MiB per second"),
    ("work", "Work", "load", ("executions", "transactions"), "per second"),
)
_MIB = 2**20


def trend_charts(series: Series) -> tuple[Chart, ...]:
    """Return the charts that the series has values for."""
    return tuple(_charts(series))


def _charts(series: Series) -> Iterator[Chart]:
    if len(series.points) < 2:
        return
    for key, title, kind, names, unit in _GROUPS:
        lines = [line for name in names for line in series.lines if line.name == name and line.kind == kind]
        if lines:
            yield _chart(series, key, title, lines, unit)
    events = [line for line in series.lines if line.kind == "event"][:_LINES]
    if events:
        yield _chart(series, "events", "Wait events", events, "active sessions")
    statements = [line for line in series.lines if line.kind == "sql" and line.unit == "active sessions"]
    if statements:
        yield _chart(series, "statements", "Statements", statements[:_LINES], "active sessions")
    each = [line for line in series.lines if line.kind == "sql" and line.unit == "seconds"]
    if each:
        yield _chart(series, "each", "Time of one execution", each[:_LINES], "seconds")


def _chart(series: Series, key: str, title: str, lines: Sequence[TrendLine], unit: str) -> Chart:
    scale = _MIB if unit.startswith("MiB") else 1
    times = [_time(point.origin.begin) for point in series.points]
    x = _time_axis(min(times), max(times))
    high = max((value / scale for line in lines for value in line.values if value is not None), default=1.0)
    y = linear(0.0, high, _FRAME.bottom, _FRAME.top)
    strokes, marks = [], []
    for index, line in enumerate(lines):
        strokes += _strokes(series, line, index, times, x, y, scale)
        marks += _marks(line, index, times, x, y, scale)
    changed = sorted({shift.index for line in lines for shift in line.changes})
    places = [x(times[at]) for at in changed]
    bars = [Stroke(((at, _FRAME.top), (at, _FRAME.bottom)), 0, "change") for at in places]
    restarts = [
        ChartMark(x(times[at]), _FRAME.bottom, "cross", 1, "bad", "restart")
        for at, point in enumerate(series.points)
        if point.restarted
    ]
    return Chart(
        key=key, title=title, description=_describe(series, title, lines, unit), x_label="begin of the interval",
        y_label=unit, x=x, y=y, lines=(*bars, *strokes), marks=(*marks, *restarts),
        legend=_legend(lines, changed=bool(changed), restarted=bool(restarts)), frame=_FRAME,
    )  # fmt: skip


def _time(moment: datetime | None) -> float:
    assert moment is not None
    return (moment.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()


_STEPS = (60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 30 * 86400, 365 * 86400)
_TICKS = 8


def _time_axis(low: float, high: float) -> Scale:
    """Return an axis of time with ticks at round hours and days."""
    high = max(high, low + 60)
    step = next((step for step in _STEPS if (high - low) / step <= _TICKS), (high - low) / _TICKS)
    bare = Scale(low, high, _FRAME.left, _FRAME.right - 8, ())
    first = math.ceil(low / step)
    ticks = []
    at = first * step
    while at <= high:
        moment = datetime(1970, 1, 1) + timedelta(seconds=at)
        ticks.append(Tick(place(bare, at), f"{moment:%m-%d}" if step >= 86400 else f"{moment:%m-%d %H:%M}"))
        at += step
    return Scale(low, high, _FRAME.left, _FRAME.right - 8, tuple(ticks))


def _strokes(
    series: Series, line: TrendLine, index: int, times: Sequence[float], x: Scale, y: Scale, scale: float
) -> list[Stroke]:
    """Return the line in pieces: it breaks where nothing is known, at gaps and at restarts."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for at, (value, point) in enumerate(zip(line.values, series.points, strict=True)):
        if value is None or point.gap is not None or point.restarted:
            pieces.append([])
        if value is not None:
            pieces[-1].append((x(times[at]), y(value / scale)))
    return [Stroke(tuple(piece), index) for piece in pieces if len(piece) > 1]


def _marks(
    line: TrendLine, index: int, times: Sequence[float], x: Scale, y: Scale, scale: float
) -> list[ChartMark]:
    if len(times) > _MOST_MARKS:
        return []
    shape = SERIES_SHAPES[index % len(SERIES_SHAPES)]
    return [
        ChartMark(x(times[at]), y(value / scale), shape, index, "mid", f"{clean(line.name)}: {spell(line, value)}")
        for at, value in enumerate(line.values)
        if value is not None
    ]


def spell(line: TrendLine, value: float | None) -> str:
    """Spell a value of a line."""
    return byte_size(value) if line.unit == "bytes" else number(value)


def _legend(lines: Sequence[TrendLine], *, changed: bool, restarted: bool) -> tuple[Legend, ...]:
    found = [
        Legend(clean(line.name), index, SERIES_SHAPES[index % len(SERIES_SHAPES)])
        for index, line in enumerate(lines)
    ]
    found += [Legend("change of level", 0, "", "change")] if changed else []
    found += [Legend("restart", 1, "cross", "bad")] if restarted else []
    return tuple(found)


def _describe(series: Series, title: str, lines: Sequence[TrendLine], unit: str) -> str:
    first = lines[0]
    known = [value for value in first.values if value is not None]
    scale = _MIB if unit.startswith("MiB") else 1
    said = f"{title} of {clean(series.name)} over {len(series.points)} intervals, in {unit}"
    if not known:
        return said
    return f"{said}: {clean(first.name)} from {number(min(known) / scale)} to {number(max(known) / scale)}"
