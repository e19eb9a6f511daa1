"""Charts of a sweep of backups: throughput against channels with its limit, and when each channel worked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from toolkit.analysis.backups import Throughput, degree_limit, middle_trial, throughputs, trial_lanes
from toolkit.analysis.cells import RunAnalysis, other_levels
from toolkit.analysis.lanes import Lane, LaneBar, Lanes
from toolkit.model.operations import declaration
from toolkit.model.values import Cell
from toolkit.report.chart import (
    BOTTOM,
    LEFT,
    MOST_SERIES,
    RIGHT,
    SERIES_SHAPES,
    TOP,
    Chart,
    ChartLine,
    ChartMark,
    ChartSpan,
    Frame,
    Legend,
    Scale,
    Tick,
    doubling,
    linear,
    thin,
)
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.units import MISSING, byte_size, counted, number, percent, quantity, ratio, seconds, time_unit

_MOST_SPANS, _MOST_LANES = 2000, 64
_ROW, _BAR = 18.0, 12.0
_LEFT, _RIGHT, _TOP, _WIDTH = 112.0, 574.0, 10.0, 600.0
_UNDER = 48.0
_LETTER, _GAP = 11.5, 9.0
"""The width of a capital letter as a phone shows it, and the room beside a name."""


def lanes_chart(
    found: Lanes, title: str, *, key: str = "lanes", lane_word: str = "channel", most: int = _MOST_LANES
) -> Chart | None:
    """Return the picture of lanes, at most so many; None when there is nothing to see."""
    if not found.bars or found.span_seconds <= 0:
        return None
    lanes = found.lanes[:most]
    bottom = _TOP + _ROW * len(lanes)
    unit = time_unit((found.span_seconds,))
    names = [_short(clean(lane.name)) for lane in lanes]
    start = max(_LEFT, _LETTER * max(map(len, names)) + _GAP)
    x = linear(0.0, found.span_seconds * unit.per_second, start, _RIGHT)
    rows = {lane.name: _TOP + _ROW * index for index, lane in enumerate(lanes)}
    shown = thin([bar for bar in found.bars if bar.lane in rows], _MOST_SPANS)
    spans = _spans(shown, rows, lambda at: x(at * unit.per_second))
    ticks = tuple(Tick(rows[lane.name] + _ROW / 2, name) for lane, name in zip(lanes, names, strict=True))
    return Chart(
        key=key,
        title=title,
        description=_lanes_described(found, lane_word),
        x_label=f"time, {unit.label}" if found.exact else f"time busy, {unit.label}",
        y_label="",
        x=x,
        y=Scale(0.0, 1.0, bottom, _TOP, ticks),
        spans=spans,
        frame=Frame(_WIDTH, bottom + _UNDER, start, _RIGHT, _TOP, bottom),
        notes=_notes(found, len(shown), most),
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
    share = 100 * lane.busy_seconds / found.work_seconds if found.work_seconds else None
    if lane.bars and not lane.busy_seconds:  # it began, and nothing says when it ended
        row = [lane.name, str(lane.pieces), "unknown", "unknown", MISSING]
    else:
        idle = found.idle_seconds(lane)
        row = [lane.name, str(lane.pieces), seconds(lane.busy_seconds), seconds(idle), percent(share)]
    if known:
        rate = lane.bytes / lane.busy_seconds if lane.bytes and lane.busy_seconds else None
        row += [byte_size(lane.bytes), quantity(rate, "bytes_per_second")]
    return row


def _lanes_described(found: Lanes, lane_word: str) -> str:
    last = found.last
    ends = f"; the last to finish is {clean(last.label)} on {clean(last.lane)}" if last else ""
    pieces, lanes = (
        counted(sum(lane.pieces for lane in found.lanes), "piece"),
        counted(len(found.lanes), lane_word),
    )
    return f"{pieces} on {lanes} in {seconds(found.span_seconds)}{ends}."


def _notes(found: Lanes, shown: int, most: int) -> tuple[str, ...]:
    notes = []
    if not found.exact:
        notes.append("some pieces have no time of day: each channel's work is drawn end to end")
    if len(found.lanes) > most:
        notes.append(f"the chart shows {most} of {len(found.lanes):,} lanes; the table has all of them")
    if shown < len(found.bars):
        notes.append(f"the chart shows {shown:,} of {len(found.bars):,} pieces")
    return tuple(notes)


def _short(name: str, most: int = 14) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


_MEBIBYTE = 2**20
_INSET = 18.0

Series = list[tuple[str, list[tuple[Throughput, float]]]]


def backup_charts(found: RunAnalysis, chosen: Cell | None) -> tuple[Chart, ...]:
    """Return the charts that only backups have; none for another operation."""
    if not declaration(found.run.head.experiment.operation).backs_up:
        return ()
    rates = _rate_chart(found, throughputs(found))
    return tuple(chart for chart in (rates, _lanes(found, chosen)) if chart is not None)


def _lanes(found: RunAnalysis, chosen: Cell | None) -> Chart | None:
    trial = middle_trial(found, chosen) if chosen is not None else None
    lanes = trial_lanes(trial) if trial is not None else None
    if lanes is None or trial is None:
        return None
    return lanes_chart(lanes, f"Channels and their pieces at {clean(str(trial.cell))}, trial {trial.trial}")


def _rate_chart(found: RunAnalysis, measured: Sequence[Throughput]) -> Chart | None:
    known = [one for one in measured if one.channels and one.rate]
    levels = sorted({one.channels for one in known if one.channels})
    if len(levels) < 2:
        return None
    series = _series(found, known)
    highest = max(rate for _, points in series for _, rate in points) / _MEBIBYTE
    x = doubling(levels[0], levels[-1], LEFT + _INSET, RIGHT - _INSET, values=levels)
    y = linear(0.0, highest, BOTTOM, TOP)
    top = degree_limit(known) if len({other_levels(one.cell, found.scale) for one in known}) == 1 else None
    level = [ChartLine(((LEFT, y(_mib(top[1].rate))), (RIGHT, y(_mib(top[1].rate)))), 0, "ideal")] if top else []
    lines, marks = _drawn(series, x, y)
    return Chart(
        key="throughput",
        title="Throughput against channels",
        description=_described(series),
        x_label="channels",
        y_label="MiB/s",
        x=x,
        y=y,
        lines=(*level, *lines),
        marks=marks,
        legend=(
            *(Legend(clean(name), index, SERIES_SHAPES[index]) for index, (name, _) in enumerate(series)),
            *((Legend("highest measured", look="ideal"),) if top else ()),
        ),
        table=_table(measured),
    )


def _series(found: RunAnalysis, known: Sequence[Throughput]) -> Series:
    """Return a line of rates read and a line of rates written for each group of other levels."""
    grouped: dict[str, list[Throughput]] = {}
    for one in known:
        grouped.setdefault(str(Cell(other_levels(one.cell, found.scale))), []).append(one)
    series: Series = []
    for name, group in grouped.items():
        lead = f"{name}: " if len(grouped) > 1 else ""
        read = [(one, one.read_rate) for one in group if one.read_rate]
        written = [(one, one.written_rate) for one in group if one.written_rate]
        series += [(f"{lead}{word}", points) for word, points in (("read", read), ("written", written)) if points]
    return series[:MOST_SERIES]


def _drawn(series: Series, x: Scale, y: Scale) -> tuple[tuple[ChartLine, ...], tuple[ChartMark, ...]]:
    lines, marks = [], []
    for index, (name, points) in enumerate(series):
        ordered = sorted(points, key=lambda point: point[0].channels or 0.0)
        places = [(x(one.channels or 0.0), y(rate / _MEBIBYTE), one, rate) for one, rate in ordered]
        lines.append(ChartLine(tuple((across, up) for across, up, _, _ in places), index))
        marks += [
            ChartMark(
                across,
                up,
                SERIES_SHAPES[index],
                index,
                "mid",
                f"{clean(str(one.cell))}: {_rate(rate)} {clean(name)}",
            )
            for across, up, one, rate in places
        ]
    return tuple(lines), tuple(marks)


def _described(series: Series) -> str:
    sentences = []
    for name, points in series:
        first, last = points[0], points[-1]
        sentences.append(
            f"{clean(name)}: from {_rate(first[1])} at {clean(str(first[0].cell))} "
            f"to {_rate(last[1])} at {clean(str(last[0].cell))}"
        )
    return f"{'; '.join(sentences)}."


def _table(measured: Sequence[Throughput]) -> Table:
    """Return what each cell moved; a column that no cell has is left out."""
    columns = (
        ("time", [seconds(one.seconds) for one in measured]),
        ("read", [byte_size(one.bytes_read) for one in measured]),
        ("read rate", [_rate(one.read_rate) for one in measured]),
        ("written", [byte_size(one.bytes_written) for one in measured]),
        ("write rate", [_rate(one.written_rate) for one in measured]),
        ("ratio", [ratio(one.compression_ratio) for one in measured]),
        ("CPUs per channel", [number(one.cpu_per_channel) for one in measured]),
        ("CPU busy", [percent(one.cpu_busy_pct) for one in measured]),
        ("imbalance", [number(one.imbalance) for one in measured]),
    )
    shown = [(title, texts) for title, texts in columns if any(text != MISSING for text in texts)]
    rows = ([str(one.cell), *(texts[row] for _, texts in shown)] for row, one in enumerate(measured))
    return table("Throughput", [*left("configuration"), *right(*(title for title, _ in shown))], rows)


def _rate(value: float | None) -> str:
    return quantity(value, "bytes_per_second")


def _mib(value: float | None) -> float:
    return (value or 0.0) / _MEBIBYTE
