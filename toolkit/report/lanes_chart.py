"""Lanes as a Gantt chart: each channel's pieces on the clock, and what each lane came to as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from toolkit.analysis.lanes import Lane, LaneBar, Lanes
from toolkit.report.chart import Chart, ChartSpan, Frame, Scale, Tick, linear, thin
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.units import byte_size, counted, percent, quantity, seconds, time_unit

_MOST_SPANS, _MOST_LANES = 2000, 64
_ROW, _BAR = 18.0, 12.0
_LEFT, _RIGHT, _TOP, _WIDTH = 112.0, 588.0, 10.0, 600.0
_UNDER = 48.0


def lanes_chart(found: Lanes, title: str, *, key: str = "lanes", lane_word: str = "channel") -> Chart | None:
    """Return the picture of lanes; None when there is nothing to see."""
    if not found.bars or found.span_seconds <= 0:
        return None
    lanes = found.lanes[:_MOST_LANES]
    bottom = _TOP + _ROW * len(lanes)
    unit = time_unit((found.span_seconds,))
    x = linear(0.0, found.span_seconds * unit.per_second, _LEFT, _RIGHT)
    rows = {lane.name: _TOP + _ROW * index for index, lane in enumerate(lanes)}
    shown = thin([bar for bar in found.bars if bar.lane in rows], _MOST_SPANS)
    spans = _spans(shown, rows, lambda at: x(at * unit.per_second))
    ticks = tuple(Tick(rows[lane.name] + _ROW / 2, _short(clean(lane.name))) for lane in lanes)
    return Chart(
        key=key,
        title=title,
        description=_described(found, lane_word),
        x_label=f"time, {unit.label}" if found.exact else f"time busy, {unit.label}",
        y_label="",
        x=x,
        y=Scale(0.0, 1.0, bottom, _TOP, ticks),
        spans=spans,
        frame=Frame(_WIDTH, bottom + _UNDER, _LEFT, _RIGHT, _TOP, bottom),
        notes=_notes(found, len(shown)),
        table=lanes_table(found, lane_word),
    )


def _spans(
    shown: Sequence[LaneBar], rows: Mapping[str, float], place: Callable[[float], float]
) -> tuple[ChartSpan, ...]:
    """Draw neighbours in two shades, so that one piece is seen to end where the next begins."""
    order: dict[str, int] = {}
    spans = []
    for bar in shown:
        order[bar.lane] = order.get(bar.lane, -1) + 1
        label = f"{clean(bar.lane)}: {clean(bar.label)}, {seconds(bar.seconds)} from {seconds(bar.begin)} on"
        y = rows[bar.lane] + (_ROW - _BAR) / 2
        shade = 0 if order[bar.lane] % 2 == 0 else 2
        spans.append(ChartSpan(place(bar.begin), place(bar.end), y, _BAR, shade, label, "" if bar.good else "bad"))
    return tuple(spans)


def lanes_table(found: Lanes, lane_word: str = "channel") -> Table:
    """Return what each lane came to."""
    known = any(lane.bytes for lane in found.lanes)
    columns = [
        *left(lane_word),
        *right("pieces", "busy", "idle", "busy share", *(["bytes", "rate"] if known else [])),
    ]
    return table(f"What each {lane_word} did", columns, (_row(found, lane, known=known) for lane in found.lanes))


def _row(found: Lanes, lane: Lane, *, known: bool) -> list[str]:
    idle = max(0.0, found.span_seconds - lane.busy_seconds)
    share = 100 * lane.busy_seconds / found.span_seconds if found.span_seconds else None
    row = [lane.name, str(lane.bars), seconds(lane.busy_seconds), seconds(idle), percent(share)]
    if known:
        rate = lane.bytes / lane.busy_seconds if lane.bytes and lane.busy_seconds else None
        row += [byte_size(lane.bytes), quantity(rate, "bytes_per_second")]
    return row


def _described(found: Lanes, lane_word: str) -> str:
    last = found.last
    ends = f"; the last to finish is {clean(last.label)} on {clean(last.lane)}" if last else ""
    pieces, lanes = counted(len(found.bars), "piece"), counted(len(found.lanes), lane_word)
    return f"{pieces} on {lanes} in {seconds(found.span_seconds)}{ends}."


def _notes(found: Lanes, shown: int) -> tuple[str, ...]:
    notes = []
    if not found.exact:
        notes.append("some pieces have no time of day: each lane's work is drawn end to end")
    if len(found.lanes) > _MOST_LANES:
        notes.append(f"the chart shows {_MOST_LANES} of {len(found.lanes):,} lanes; the table has all of them")
    if shown < len(found.bars):
        notes.append(f"the chart shows {shown:,} of {len(found.bars):,} pieces")
    return tuple(notes)


def _short(name: str, most: int = 14) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
