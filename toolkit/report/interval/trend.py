"""Series of intervals as a page with charts, a text, a sheet and a document."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from toolkit.analysis.awr.trend import Series, TrendLine, changes_of
from toolkit.analysis.shifts import FEWEST
from toolkit.report.chart import SERIES_SHAPES, Chart, ChartMark, Frame, Legend, Scale, linear, time_axis
from toolkit.report.chart import ChartLine as Stroke
from toolkit.report.layout import bullets, text_table, wrapped
from toolkit.report.safe import clean, csv_text
from toolkit.report.tables import Table, left, right, table
from toolkit.terminal import width
from toolkit.units import byte_size, number, seconds

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
    x = time_axis(min(times), max(times), _FRAME.left, _FRAME.right - 8)
    top = max((value / scale for line in lines for value in line.values if value is not None), default=1.0)
    high = max(100.0, top) if unit == "%" else top
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
        key=key, title=title, description=_describe(series, title, lines, unit), x_label="start of the interval",
        y_label=unit, x=x, y=y, lines=(*bars, *strokes), marks=(*marks, *restarts),
        legend=_legend(lines, changed=bool(changed), restarted=bool(restarts)), frame=_FRAME,
    )  # fmt: skip


def _time(moment: datetime | None) -> float:
    assert moment is not None
    return (moment.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()


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
    text = f"{title} of {clean(series.name)} over {len(series.points)} intervals, in {unit}"
    if not known:
        return text
    return f"{text}: {clean(first.name)} from {number(min(known) / scale)} to {number(max(known) / scale)}"


# -- text, page and document ------------------------------------------------------------------------------------
FORMAT = "dbatk-trend-1"
_COLUMNS = ("DB time", "host CPU busy", "executions", "read I/O", "write I/O")
_METHOD = (
    "Each point is one interval, per second. Lines break at gaps without a report and at restarts.",
    "An event or statement missing from a report is not zero: it is below the last row of its list.",
    f"Changes of level are detected by likelihood from {FEWEST} points on, with one false alarm in 1,000 points "
    "at most, also where neighbours are alike. A daily rhythm also appears as such changes.",
)


@dataclass(frozen=True, slots=True)
class SeriesView:
    """A series as a reader sees it."""

    title: str
    about: str
    changes: tuple[str, ...]
    notes: tuple[str, ...]
    charts: tuple[Chart, ...]
    points: Table


def series_view(series: Series) -> SeriesView:
    """Prepare a series for reading."""
    first, last = series.points[0].origin, series.points[-1].origin
    count = len(series.points)
    about = f"{count} interval{'s' if count > 1 else ''} from {_moment(first.begin)} to {_moment(last.end)}"
    return SeriesView(
        title=clean(series.name),
        about=about,
        changes=tuple(clean(one) for one in _changes(series)),
        notes=tuple(clean(one) for one in (*series.notes, *_breaks(series))),
        charts=trend_charts(series),
        points=_points(series, {line.name: line.name for line in series.lines}),
    )


def _moment(value: datetime | None) -> str:
    return "?" if value is None else value.isoformat(sep=" ", timespec="minutes")


def _changes(series: Series) -> list[str]:
    """Say when something changed, with what changed at that time."""
    found = []
    for at, both in changes_of(series).items():
        changes = [
            f"`{line.name}` {spell(line, shift.before)} -> {spell(line, shift.after)}"
            f"{' a second' if line.unit == 'bytes' else ''}"
            for line, shift in both
        ]
        more = f" and {len(changes) - 6} more" if len(changes) > 6 else ""
        found.append(f"from {_moment(series.points[at].origin.begin)} on: {', '.join(changes[:6])}{more}")
    if series.enough and not found:
        found.append("no lasting change of level was found")
    return found


def _breaks(series: Series) -> list[str]:
    restarts = [_moment(point.origin.begin) for point in series.points if point.restarted]
    gaps = [
        f"{seconds(point.gap)} before {_moment(point.origin.begin)}"
        for point in series.points
        if point.gap is not None
    ]
    found = [f"restarted before {', '.join(restarts[:8])}"] if restarts else []
    if gaps:
        more = f" and {len(gaps) - 8} more" if len(gaps) > 8 else ""
        found.append(f"no report covers {', '.join(gaps[:8])}{more}")
    return found


_OF_STATEMENT = {"": "active sessions", " executions": "executions", " time each": "time each (s)"}
"""What is shown of a statement that was asked for: what the name of its line ends in, and its heading."""


def _statements(series: Series) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each statement that was asked for, with a heading for each of its lines."""
    names = [line.name for line in series.lines if line.kind == "sql"]
    for sql_id in dict.fromkeys(name.removesuffix(" executions").removesuffix(" time each") for name in names):
        yield sql_id, {f"{sql_id}{end}": heading for end, heading in _OF_STATEMENT.items()}


def _points(series: Series, heads: Mapping[str, str]) -> Table:
    """Return the intervals with the lines of these names, each under its heading."""
    lines = [line for name in heads for line in series.lines if line.name == name]
    rows = []
    for at, point in enumerate(series.points):
        mark = ", ".join(
            filter(None, ["restart" if point.restarted else "", "gap before" if point.gap is not None else ""])
        )
        rows.append([_moment(point.origin.begin), *(_cell(line, at) for line in lines), mark])
    return table("Points", [*left("begin"), *right(*(heads[line.name] for line in lines)), *left("")], rows)


def _cell(line: TrendLine, at: int) -> str:
    most = line.most[at]
    if line.values[at] is None and most is not None:
        return f"<{spell(line, most)}" if most else "0"
    return spell(line, line.values[at])


def _overview(found: Sequence[Series]) -> Table:
    """Return a row for each series: when, how large its DB time was per second, and when a level last changed."""
    rows = []
    for series in found:
        line = next((one for one in series.lines if one.name == "DB time"), None)
        known = [value for value in line.values if value is not None] if line else []
        spread = [min(known), median(known), max(known)] if known else [None] * 3
        first, last = series.points[0].origin, series.points[-1].origin
        row = [clean(series.name), number(len(series.points)), _day(first.begin), _day(last.end)]
        rows.append([*row, *map(number, spread), _last_change(series)])
    heads = [*left("database"), *right("intervals"), *left("from", "to"), *right("least", "median", "most")]
    return table("DB time by database, active sessions", [*heads, *left("last change")], rows)


def _day(value: datetime | None) -> str:
    return "?" if value is None else f"{value:%Y-%m-%d}"


def _last_change(series: Series) -> str:
    if not series.enough:
        return "too few"
    at = max(changes_of(series), default=None)
    return "none" if at is None else _day(series.points[at].origin.begin)


def trend_text(found: Sequence[Series], *, whole: bool = False) -> str:
    """Return the series as text of at most 80 columns: of several one line each, or all of them.

    Args:
        found: The series.
        whole: Show every interval of each of several, too.
    """
    if len(found) < 2:
        return _every_interval(found)
    overview = _overview(found)
    lines = [overview.caption.upper(), *text_table(overview), ""]
    if whole:
        return "\n".join([*lines, _every_interval(found)])
    return "\n".join([*lines, "add --full for the changes and intervals of each; --out FILE.html draws them", ""])


def _every_interval(found: Sequence[Series]) -> str:
    blocks = []
    for series in found:
        view = series_view(series)
        lines = [*wrapped(view.title), "=" * min(len(view.title), width()), *wrapped(view.about)]
        lines += ["", "CHANGES", *bullets(view.changes)] if view.changes else []
        lines += ["", "CAVEATS", *bullets(view.notes)] if view.notes else []
        lines += [
            "",
            "PER SECOND OF EACH INTERVAL",
            *text_table(_points(series, {name: name for name in _COLUMNS})),
        ]
        for sql_id, heads in _statements(series):
            title = wrapped(f"STATEMENT {clean(sql_id)}, PER SECOND OF EACH INTERVAL")
            lines += ["", *title, *text_table(_points(series, heads))]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def trend_page(found: Sequence[Series], warnings: Sequence[str] = ()) -> str:
    """Return the series as one self-contained page."""
    views = [series_view(one) for one in found]
    title = _page_title(found)
    shown = [clean(one) for one in warnings]
    from toolkit.report.html import render_page

    overview = _overview(found) if len(found) > 1 else None
    return render_page(
        "report/trend.html.j2", title=title, views=views, overview=overview, warnings=shown, method=_METHOD
    )


def _page_title(found: Sequence[Series]) -> str:
    """Say what the page shows, of which database, and when."""
    if len(found) > 1:
        return f"Load and waits of {len(found)} databases and instances over time"
    (series,) = found
    begin, end = series.points[0].origin.begin, series.points[-1].origin.end
    return f"Load and waits of {clean(series.name)}, {_moment(begin)} to {_moment(end)}"


def trend_sheet(found: Sequence[Series]) -> str:
    """Return the series as CSV: one row for each interval, all measures as columns; what is not known is empty."""
    names = list(dict.fromkeys(line.name for series in found for line in series.lines))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # RFC 4180
    head = ["series", "source", "begin", "end", "begin_snapshot", "end_snapshot", "elapsed_seconds"]
    writer.writerow([*head, "gap_seconds", "restarted", "changed", *(csv_text(name) for name in names)])
    for series in found:
        lines = {line.name: line for line in series.lines}
        changes = changes_of(series)
        for at, point in enumerate(series.points):
            one = point.origin
            values = [lines[name].values[at] if name in lines else None for name in names]
            changed = ", ".join(line.name for line, _ in changes.get(at, ()))
            row = [
                csv_text(series.name), csv_text(one.name), _iso(one.begin), _iso(one.end), one.begin_snapshot,
                one.end_snapshot, one.elapsed_seconds, point.gap, "true" if point.restarted else "false",
                csv_text(changed), *values,
            ]  # fmt: skip
            writer.writerow(["" if value is None else value for value in row])
    return out.getvalue()


def _iso(value: datetime | None) -> str:
    return "" if value is None else value.isoformat()


def trend_document(found: Sequence[Series], warnings: Sequence[str] = ()) -> dict[str, object]:
    """Return the series as a JSON document."""
    return {"format": FORMAT, "series": [_series(one) for one in found], "warnings": list(warnings)}


def _series(series: Series) -> dict[str, object]:
    return {
        "name": series.name,
        "enough_points": series.enough,
        "notes": list(series.notes),
        "points": [
            {
                "source": point.origin.name, "database": point.origin.database, "instance": point.origin.instance,
                "begin": _iso(point.origin.begin) or None, "end": _iso(point.origin.end) or None,
                "begin_snapshot": point.origin.begin_snapshot, "end_snapshot": point.origin.end_snapshot,
                "elapsed_seconds": point.origin.elapsed_seconds, "gap_seconds": point.gap,
                "restarted": point.restarted,
            }
            for point in series.points
        ],
        "lines": [
            {
                "name": line.name, "kind": line.kind, "unit": line.unit, "values": list(line.values),
                "at_most": list(line.most),
                "changes": [
                    {"index": one.index, "begin": _iso(series.points[one.index].origin.begin),
                     "before": one.before, "after": one.after}
                    for one in line.changes
                ],
            }
            for line in series.lines
        ],
    }  # fmt: skip
