"""Charts against a factor: the value judged by, speed-up, efficiency; one line for each level of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from toolkit.analysis.cells import CellSummary, RunAnalysis, scale_level
from toolkit.analysis.judged import Judged
from toolkit.analysis.laws import FittedLaw
from toolkit.model.values import Cell, Level, spell_level
from toolkit.report.bounds import Floor, floors_of, law_lines, law_name
from toolkit.report.chart import (
    BOTTOM,
    LEFT,
    MOST_MARKS,
    MOST_SERIES,
    RIGHT,
    SERIES_SHAPES,
    TOP,
    Chart,
    ChartInterval,
    ChartLine,
    ChartMark,
    Legend,
    Scale,
    doubling,
    linear,
    named,
    thin,
    thinned_note,
)
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, spread, spread_title, table
from toolkit.units import MISSING, percent, ratio

_DODGE, _SPREAD = 12.0, 44.0
_INSET = 18.0


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which factor runs along the axis, and which cells make a line."""

    factor: str
    varied: list[str]
    x: Scale
    places: dict[Level, float]
    series: dict[str, list[CellSummary]]
    left_out: int
    judged: Judged


def factor_charts(found: RunAnalysis, law: FittedLaw | None = None) -> tuple[Chart, ...]:
    """Return the charts that a run has data for, with its scaling law: none when nothing was varied."""
    layout = _layout(found)
    if layout is None:
        return ()
    charts = [_time_chart(layout, floors_of(found))]
    if layout.factor == found.scale and any(summary.speedup is not None for summary in found.cells):
        charts += [_speedup_chart(layout, found, law), _efficiency_chart(layout)]
    return tuple(charts)


def _layout(found: RunAnalysis) -> _Layout | None:
    measured = [summary for summary in found.cells if summary.n]
    varied = _varied(summary.cell for summary in measured)
    if not varied:
        return None
    factor = found.scale if found.scale in varied and found.scale else varied[0]
    levels = list(dict.fromkeys(summary.cell.get(factor, "") for summary in found.cells))
    x = _x_scale(levels, is_scale=factor == found.scale)
    numeric = all(_numeric(level) for level in levels)
    places = {level: x(float(level) if numeric else index) for index, level in enumerate(levels)}
    grouped: dict[str, list[CellSummary]] = {}
    for summary in measured:
        others = [(name, level) for name, level in summary.cell.levels if name in varied and name != factor]
        grouped.setdefault(str(Cell(tuple(others))), []).append(summary)
    kept = dict(list(grouped.items())[:MOST_SERIES])
    return _Layout(
        factor,
        [factor, *(name for name in varied if name != factor)],
        x,
        places,
        kept,
        len(grouped) - len(kept),
        found.judged,
    )


def _varied(found: Iterable[Cell]) -> list[str]:
    levels: dict[str, set[Level]] = {}
    for cell in found:
        for name, level in cell.levels:
            levels.setdefault(name, set()).add(level)
    return [name for name, seen in levels.items() if len(seen) > 1]


def _numeric(level: Level) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool)


def _x_scale(levels: Sequence[Level], *, is_scale: bool) -> Scale:
    begin, end = LEFT + _INSET, RIGHT - _INSET
    numbers = [float(level) for level in levels if _numeric(level)]
    if len(numbers) < len(levels):
        return named([clean(spell_level(level)) for level in levels], LEFT, RIGHT)
    low, high = min(numbers), max(numbers)
    if low > 0 and (is_scale or high / low >= 16):
        return doubling(low, high, begin, end, values=numbers)
    axis = linear(low, high, begin, end)
    return Scale(axis.low, axis.high, begin, end, axis.ticks)


def _dodged(layout: _Layout, index: int, summary: CellSummary) -> float:
    """Set lines of several series a little apart, so that their intervals do not hide each other."""
    apart = min(_DODGE, _SPREAD / len(layout.series))
    shift = (index - (len(layout.series) - 1) / 2) * apart
    return round(layout.places[summary.cell.get(layout.factor, "")] + shift, 1)


def _shape(index: int) -> str:
    return SERIES_SHAPES[index % len(SERIES_SHAPES)]


def _legend(layout: _Layout, *more: Legend) -> tuple[Legend, ...]:
    if len(layout.series) < 2:
        return more
    named_series = [Legend(clean(label), index, _shape(index)) for index, label in enumerate(layout.series)]
    return (*named_series, *more)


def _left_out(layout: _Layout) -> tuple[str, ...]:
    return (f"{layout.left_out} more lines are not drawn; the table has them",) if layout.left_out else ()


def _time_chart(layout: _Layout, floors: Sequence[Floor] = ()) -> Chart:
    shown = [summary for group in layout.series.values() for summary in group]
    highest = max(max(*summary.values, summary.ci_high or 0.0) for summary in shown)
    judged = layout.judged
    unit = judged.axis((highest,))
    y = linear(0.0, highest * unit.per_second, BOTTOM, TOP)
    lines, bars, raw, middles = [], [], [], []
    for index, group in enumerate(layout.series.values()):
        points = []
        for summary in group:
            x = _dodged(layout, index, summary)
            raw += [
                _raw((x, y(value * unit.per_second)), index, summary, judged.spell(value))
                for value in summary.values
            ]
            if summary.ci_low is not None and summary.ci_high is not None:
                bars.append(
                    ChartInterval(
                        x, y(summary.ci_low * unit.per_second), y(summary.ci_high * unit.per_second), index
                    )
                )
            points.append((x, y((summary.median or 0.0) * unit.per_second)))
            middles.append(ChartMark(*points[-1], _shape(index), index, "mid", _cell_label(summary, judged)))
        lines.append(ChartLine(tuple(points), index))
    lines += [
        ChartLine(
            ((LEFT, y(each.seconds * unit.per_second)), (RIGHT, y(each.seconds * unit.per_second))), 0, "ceiling"
        )
        for each in floors
    ]
    middle = "median and 95 % interval" if bars else "median"
    drawn = thin(raw, MOST_MARKS - len(middles))
    return Chart(
        key="time",
        title=f"{_title(judged)} against {clean(layout.factor)}",
        description=_describe_time(layout),
        x_label=clean(layout.factor),
        y_label=f"{judged.by.title}, {unit.label}",
        x=layout.x,
        y=y,
        lines=tuple(lines),
        bars=tuple(bars),
        marks=(*drawn, *middles),
        legend=_legend(
            layout,
            Legend("one trial", 0, "dot", "raw"),
            Legend(middle, 0, "circle"),
            *(Legend(each.legend, look="ceiling") for each in floors),
        ),
        notes=(*thinned_note(len(drawn), len(raw)), *_left_out(layout), *(clean(each.note) for each in floors)),
        table=_time_table(layout, shown),
    )


def _raw(place: tuple[float, float], index: int, summary: CellSummary, spelled: str) -> ChartMark:
    # beside the interval bar, so that a trial never hides behind it
    x, y = place
    return ChartMark(round(x - 7.5, 1), y, "dot", index, "raw", f"{clean(str(summary.cell))}: {spelled}")


def _title(judged: Judged) -> str:
    return judged.by.title[:1].upper() + judged.by.title[1:]


def _cell_label(summary: CellSummary, judged: Judged) -> str:
    return f"{clean(str(summary.cell))}: median {judged.spell(summary.median)}, {spread(summary, judged)}"


def _describe_time(layout: _Layout) -> str:
    ends, spell = [], layout.judged.spell
    for label, group in layout.series.items():
        lead = f"{clean(label)}: " if len(layout.series) > 1 else ""
        first, last = group[0], group[-1]
        ends.append(
            f"{lead}from {spell(first.median)} at {clean(str(first.cell))} "
            f"to {spell(last.median)} at {clean(str(last.cell))}"
        )
    return f"Median {layout.judged.by.title} {'; '.join(ends)}. Small dots are single trials, bars are intervals."


def _time_table(layout: _Layout, shown: Sequence[CellSummary]) -> Table:
    rows = [
        [
            *_levels(layout, summary),
            layout.judged.spell(summary.median),
            spread(summary, layout.judged),
            _trials(summary, layout.judged),
        ]
        for summary in shown
    ]
    columns = left(*layout.varied) + right("median", spread_title(shown)) + left("trials")
    return table(f"{_title(layout.judged)} against {layout.factor}", columns, rows)


def _levels(layout: _Layout, summary: CellSummary) -> list[str]:
    return [spell_level(summary.cell[name]) if name in summary.cell else MISSING for name in layout.varied]


def _trials(summary: CellSummary, judged: Judged, most: int = 8) -> str:
    unit = judged.axis(summary.values)
    shown = ", ".join(unit.spell(value) for value in summary.values[:most])
    more = f" and {len(summary.values) - most} more" if len(summary.values) > most else ""
    return f"{shown}{more} {unit.label}"


@dataclass(frozen=True, slots=True)
class _Point:
    summary: CellSummary
    value: float
    low: float | None
    high: float | None


def _speedup_chart(layout: _Layout, found: RunAnalysis, law: FittedLaw | None) -> Chart:
    points = {
        label: [
            _Point(summary, summary.speedup, summary.speedup_low, summary.speedup_high)
            for summary in group
            if summary.speedup is not None
        ]
        for label, group in layout.series.items()
    }
    gain = layout.judged.gain.capitalize()
    every = [value for group in points.values() for point in group for value in _reach(point)]
    levels = [level for cell in found.by_cell if (level := scale_level(cell, found.scale))]
    lowest, highest = min(levels), max(levels)
    top = max([*every, highest / lowest if layout.x.logarithmic else 1.0])
    # a line that falls below 1 needs a tick there to be read by
    lowest_gain = min(every, default=1.0)
    y = doubling(min(lowest_gain, 0.5) * 0.93 if lowest_gain < 1 else 0.93, top * 1.04, BOTTOM, TOP)
    ideal = [(level, level / lowest) for level in sorted(set(levels))]
    # on two log axes the ideal is a straight line, on an axis of names it cannot be drawn
    line = ChartLine(tuple((layout.x(level), y(gain)) for level, gain in ideal), 0, "ideal")
    curve = law_lines(layout.x, y, law)
    described = "; ".join(
        f"{clean(str(point.summary.cell))} {ratio(point.value)}"
        for group in points.values()
        for point in group[:12]
    )
    return Chart(
        key="speedup",
        title=f"{gain} against {clean(layout.factor)}",
        description=f"{layout.judged.times_as.capitalize()} as the lowest {clean(layout.factor)}: {described}.",
        x_label=clean(layout.factor),
        y_label=layout.judged.times_as,
        x=layout.x,
        y=y,
        legend=_legend(
            layout,
            *((Legend("ideal", look="ideal"),) if layout.x.logarithmic else ()),
            *((Legend(law_name(law), 5, look="law"),) if curve and law else ()),
        ),
        table=_gain_table(layout, gain, points, ratio),
        notes=_left_out(layout),
        **_drawn(layout, points, y, (*((line,) if layout.x.logarithmic else ()), *curve), ratio),
    )


def _efficiency_chart(layout: _Layout) -> Chart:
    points = {
        label: [_efficiency(summary, summary.efficiency) for summary in group if summary.efficiency is not None]
        for label, group in layout.series.items()
    }
    every = [value for group in points.values() for point in group for value in _reach(point)]
    y = linear(0.0, max([*every, 100.0]), BOTTOM, TOP)
    full = ChartLine(((LEFT, y(100.0)), (RIGHT, y(100.0))), 0, "ideal")
    described = "; ".join(
        f"{clean(str(point.summary.cell))} {percent(point.value)}"
        for group in points.values()
        for point in group[:12]
    )
    return Chart(
        key="efficiency",
        title=f"Efficiency against {clean(layout.factor)}",
        description=f"{layout.judged.gain.capitalize()} as a share of the ideal: {described}.",
        x_label=clean(layout.factor),
        y_label="% of ideal",
        x=layout.x,
        y=y,
        legend=_legend(layout, Legend("ideal", look="ideal")),
        table=_gain_table(layout, "Efficiency", points, percent),
        notes=_left_out(layout),
        **_drawn(layout, points, y, (full,), percent),
    )


def _efficiency(summary: CellSummary, efficiency: float) -> _Point:
    share = efficiency * 100 / (summary.speedup or 1.0)
    low, high = summary.speedup_low, summary.speedup_high
    return _Point(
        summary, efficiency * 100, None if low is None else low * share, None if high is None else high * share
    )


def _reach(point: _Point) -> list[float]:
    return [value for value in (point.value, point.low, point.high) if value is not None]


class _Drawn(TypedDict):
    lines: tuple[ChartLine, ...]
    bars: tuple[ChartInterval, ...]
    marks: tuple[ChartMark, ...]


def _drawn(
    layout: _Layout,
    points: Mapping[str, Sequence[_Point]],
    y: Scale,
    guides: tuple[ChartLine, ...],
    spell: Callable[[float], str],
) -> _Drawn:
    lines, bars, marks = list(guides), [], []
    for index, group in enumerate(points.values()):
        places = [(_dodged(layout, index, point.summary), point) for point in group]
        lines.append(ChartLine(tuple((x, y(point.value)) for x, point in places), index))
        bars += [
            ChartInterval(x, y(point.low), y(point.high), index)
            for x, point in places
            if point.low is not None and point.high is not None
        ]
        marks += [
            ChartMark(
                x,
                y(point.value),
                _shape(index),
                index,
                "mid",
                f"{clean(str(point.summary.cell))}: {spell(point.value)}",
            )
            for x, point in places
        ]
    return _Drawn(lines=tuple(lines), bars=tuple(bars), marks=tuple(marks))


def _gain_table(
    layout: _Layout, caption: str, points: Mapping[str, Sequence[_Point]], spell: Callable[[float], str]
) -> Table:
    every = [point for group in points.values() for point in group]
    known = any(point.low is not None for point in every)
    rows = [
        [*_levels(layout, point.summary), spell(point.value), *([_interval(point, spell)] if known else [])]
        for point in every
    ]
    columns = left(*layout.varied) + right(caption.lower(), *(["95 % interval"] if known else []))
    return table(caption, columns, rows)


def _interval(point: _Point, spell: Callable[[float], str]) -> str:
    return MISSING if point.low is None or point.high is None else f"{spell(point.low)} to {spell(point.high)}"
