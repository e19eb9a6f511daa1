"""Series of intervals as a page, a text, a sheet and a document."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkit.analysis.awr.shifts import FEWEST
from toolkit.analysis.awr.trend import Series, TrendLine, changes_of
from toolkit.report.chart import Chart
from toolkit.report.html import render_page
from toolkit.report.interval.trend_charts import spell, trend_charts
from toolkit.report.layout import WIDTH, bullets, text_table, wrapped
from toolkit.report.safe import clean, csv_text
from toolkit.report.tables import Table, left, right, table
from toolkit.units import seconds

FORMAT = "dbatk-trend-1"
_COLUMNS = ("DB time", "host CPU busy", "executions", "read I/O", "write I/O")
_METHOD = (
    "Each point is one interval, told per second of it. Lines break at gaps without a report and at restarts.",
    "An event or statement that a report does not list is not zero there: it is below the last row of its list.",
    f"Changes of level are told by a rank test (Pettitt 1979) with permutations, at 1 %, from {FEWEST} points on, "
    "where the medians on both sides differ by a fifth or more. A daily rhythm that the points follow is such a "
    "change too.",
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
        points=_points(series, [line.name for line in series.lines]),
    )


def _moment(value: datetime | None) -> str:
    return "?" if value is None else value.isoformat(sep=" ", timespec="minutes")


def _changes(series: Series) -> list[str]:
    """Say when something changed, with what changed at that time."""
    found = []
    for at, both in changes_of(series).items():
        told = [
            f"`{line.name}` {spell(line, shift.before)} -> {spell(line, shift.after)}"
            f"{' a second' if line.unit == 'bytes' else ''}"
            for line, shift in both
        ]
        more = f" and {len(told) - 6} more" if len(told) > 6 else ""
        found.append(f"from {_moment(series.points[at].origin.begin)} on: {', '.join(told[:6])}{more}")
    if series.enough and not found:
        found.append("no lasting change of level can be told")
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


def _points(series: Series, names: Sequence[str]) -> Table:
    lines = [line for name in names for line in series.lines if line.name == name]
    rows = []
    for at, point in enumerate(series.points):
        mark = ", ".join(
            filter(None, ["restart" if point.restarted else "", "gap before" if point.gap is not None else ""])
        )
        rows.append([_moment(point.origin.begin), *(_cell(line, at) for line in lines), mark])
    return table("Points", [*left("begin"), *right(*(line.name for line in lines)), *left("")], rows)


def _cell(line: TrendLine, at: int) -> str:
    most = line.most[at]
    if line.values[at] is None and most is not None:
        return f"<{spell(line, most)}" if most else "0"
    return spell(line, line.values[at])


def trend_text(found: Sequence[Series]) -> str:
    """Return the series as text of at most 80 columns."""
    blocks = []
    for series in found:
        view = series_view(series)
        lines = [*wrapped(view.title), "=" * min(len(view.title), WIDTH), *wrapped(view.about)]
        lines += ["", "CHANGES", *bullets(view.changes)] if view.changes else []
        lines += ["", "KEEP IN MIND", *bullets(view.notes)] if view.notes else []
        lines += ["", "PER SECOND OF EACH INTERVAL", *text_table(_points(series, _COLUMNS))]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def trend_page(found: Sequence[Series], warnings: Sequence[str] = ()) -> str:
    """Return the series as one self-contained page."""
    views = [series_view(one) for one in found]
    title = views[0].title if len(views) == 1 else f"{len(views)} databases and instances over time"
    shown = [clean(one) for one in warnings]
    return render_page("report/trend.html.j2", title=title, views=views, warnings=shown, method=_METHOD)


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
                     "before": one.before, "after": one.after, "p": one.p}
                    for one in line.changes
                ],
            }
            for line in series.lines
        ],
    }  # fmt: skip
