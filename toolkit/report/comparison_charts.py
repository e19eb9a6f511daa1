"""Charts of a comparison: the ratio of each pair, and both sides of each as dots with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from toolkit.analysis.cells import CellSummary, analyse
from toolkit.analysis.compare import Comparison, Pair
from toolkit.analysis.judged import Judged
from toolkit.model.values import Cell, Level, spell_level
from toolkit.model.words import Verdict
from toolkit.report.chart import (
    Chart,
    ChartInterval,
    ChartLabel,
    ChartLine,
    ChartMark,
    Frame,
    Legend,
    Scale,
    Tick,
    label,
    linear,
    place,
)
from toolkit.report.safe import clean
from toolkit.report.tables import Table
from toolkit.units import number, ratio

MOST_PAIRS = 24
_ROW, _HEAD, _FOOT = 30.0, 34.0, 48.0
_RIGHT = 456.0
_LONGEST_NAME, _LETTER = 19, 9.2
_TICKS = (
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0),
    *(1.01, 1.02, 1.05, 1.1, 1.2, 1.4, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0),
)
_APART = 40.0
_LOOKS = {
    Verdict.FASTER: ("B is faster", 2, "circle", "mid"),
    Verdict.SLOWER: ("B is slower", 1, "square", "mid"),
    Verdict.BETTER: ("B is better", 2, "circle", "mid"),
    Verdict.WORSE: ("B is worse", 1, "square", "mid"),
    Verdict.INCONCLUSIVE: ("inconclusive", 5, "diamond", "hollow"),
}


def comparison_charts(comparison: Comparison, table: Table) -> tuple[Chart, ...]:
    """Return both sides of each pair, and the ratios where there are several: one dot says nothing by itself."""
    several = sum(pair.ratio is not None for pair in comparison.pairs) > 1
    found = (sides_chart(comparison), ratio_chart(comparison, table) if several else None)
    return tuple(chart for chart in found if chart is not None)


def ratio_chart(comparison: Comparison, table: Table) -> Chart | None:
    """Return the chart of the pairs that have a ratio, with their table; None without any."""
    drawn = _drawn(comparison)
    if not drawn:
        return None
    shown = drawn[:MOST_PAIRS]
    rows = [_HEAD + _ROW * (index + 0.5) for index in range(len(shown))]
    names = short_names(shown)
    left = round(14 + _LETTER * max(map(len, names)), 1)
    bottom = _HEAD + _ROW * len(shown)
    frame = Frame(height=bottom + _FOOT, left=left, top=_HEAD, bottom=bottom)
    x = ratio_axis(shown, left)
    judged = comparison.judged
    below, above = (judged.good, judged.bad) if judged.by.lower_is_better else (judged.bad, judged.good)
    title = judged.by.title
    return Chart(
        key="ratio",
        title=f"{title.capitalize()} of B over {title} of A",
        description=_described(shown, judged),
        x_label=f"B / A: {judged.in_short}",
        y_label="",
        x=x,
        y=Scale(0.0, 1.0, frame.bottom, frame.top, tuple(map(Tick, rows, names))),
        lines=(ChartLine(((x(1.0), frame.top - 4), (x(1.0), frame.bottom)), 5, "level"),),
        bars=tuple(
            ChartInterval(y, x(pair.interval.low), x(pair.interval.high), _LOOKS[pair.verdict][1], flat=True)
            for pair, y in zip(shown, rows, strict=True)
            if pair.interval is not None
        ),
        marks=tuple(_mark(pair, x, y) for pair, y in zip(shown, rows, strict=True)),
        words=(
            ChartLabel(x(1.0) - 8, frame.top - 12, f"B {below}", "end"),
            ChartLabel(x(1.0) + 8, frame.top - 12, f"B {above}", "start"),
        ),
        legend=_legend(shown),
        frame=frame,
        notes=_notes(comparison, drawn, shown),
        table=table,
    )


def ratio_axis(shown: Sequence[Pair], left: float) -> Scale:
    """Return a log axis of ratios with 1 well inside; values off it stay at its ends."""
    ends = [end for pair in shown for end in _reach(pair)]
    low, high = min([0.95, *ends]), max([1.05, *ends])
    low, high = max(low / 1.04, 0.01), min(high * 1.04, 100.0)
    # room for the words at either side of 1
    span = math.log(high / low)
    low, high = min(low, math.exp(-0.28 * span)), max(high, math.exp(0.28 * span))
    drawn = _with_ticks(low, high, left)
    # an axis with ticks on one side of 1 only cannot be read
    beside = [tick.place - place(drawn, 1.0) for tick in drawn.ticks]
    if min(beside) >= 0:
        low = max(value for value in _TICKS if value <= min(low, 0.95))
    if max(beside) <= 0:
        high = min(value for value in _TICKS if value >= max(high, 1.05))
    return _with_ticks(low, high, left)


def _with_ticks(low: float, high: float, left: float) -> Scale:
    bare = Scale(low, high, left + 8, _RIGHT - 8, (), logarithmic=True)
    return Scale(low, high, bare.begin, bare.end, _ticks(bare), logarithmic=True)


def _reach(pair: Pair) -> list[float]:
    found = [pair.ratio, *((pair.interval.low, pair.interval.high) if pair.interval else ())]
    return [min(max(value, 0.01), 100.0) for value in found if value is not None]


def _ticks(axis: Scale) -> tuple[Tick, ...]:
    """Choose ticks from 1 outwards, as many as stand clear of each other."""
    kept: list[Tick] = []
    within = [value for value in _TICKS if axis.low <= value <= axis.high]
    for value in sorted(within, key=lambda value: (abs(math.log(value)) > 0, _coarseness(value))):
        at = place(axis, value)
        if all(abs(at - tick.place) >= _APART for tick in kept):
            kept.append(Tick(at, label(value)))
    return tuple(sorted(kept, key=lambda tick: tick.place))


def _coarseness(value: float) -> tuple[int, float]:
    """Prefer 0.5 and 2 to 0.7 and 1.4, and those to 0.95."""
    round_ones = {0.1: 0, 10.0: 0, 0.5: 1, 2.0: 1, 0.2: 2, 5.0: 2, 0.8: 3, 1.2: 3, 0.9: 4, 1.1: 4}
    return round_ones.get(value, 5), -abs(math.log(value))


def short_names(pairs: Sequence[Pair]) -> list[str]:
    """Name the pairs by the levels that tell them apart, short enough for an axis."""
    names = [_name(pair, _varied(pairs)) for pair in pairs]
    return [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names]


def _name(pair: Pair, varied: frozenset[str]) -> str:
    levels = [(name, level) for name, level in pair.cell_a.levels if name in varied]
    if dict(pair.cell_a) == dict(pair.cell_b):
        spelled = str(Cell(tuple(levels or pair.cell_a.levels)))
        # the names of several factors would not leave room for their levels
        return clean(spelled if len(spelled) <= _LONGEST_NAME or len(levels) < 2 else _bare(levels))
    return clean(f"{_bare(pair.cell_a.levels)} → {_bare(pair.cell_b.levels)}")


def _bare(levels: Iterable[tuple[str, Level]]) -> str:
    return ", ".join(spell_level(level) for _, level in levels)


def _varied(pairs: Iterable[Pair]) -> frozenset[str]:
    levels: dict[str, set[Level]] = {}
    for pair in pairs:
        for cell in (pair.cell_a, pair.cell_b):
            for name, level in cell.levels:
                levels.setdefault(name, set()).add(level)
    return frozenset(name for name, seen in levels.items() if len(seen) > 1)


def _mark(pair: Pair, x: Scale, y: float) -> ChartMark:
    word, series, shape, look = _LOOKS[pair.verdict]
    return ChartMark(x(pair.ratio or 1.0), y, shape, series, look, f"{_full_name(pair)}: {_spelled(pair)}, {word}")


def _full_name(pair: Pair) -> str:
    same = dict(pair.cell_a) == dict(pair.cell_b)
    return clean(str(pair.cell_a) if same else f"{pair.cell_a} -> {pair.cell_b}")


def _spelled(pair: Pair) -> str:
    if pair.interval is None:
        return f"{ratio(pair.ratio)}, no interval"
    return f"{ratio(pair.ratio)} ({number(pair.interval.low)} to {number(pair.interval.high)})"


def _described(shown: Sequence[Pair], judged: Judged) -> str:
    counted = [f"{sum(pair.verdict is verdict for pair in shown)} {verdict.value}" for verdict in judged.verdicts]
    sentences = [f"{_full_name(pair)} {_in_words(pair, judged)}" for pair in shown[:12]]
    counts = ", ".join(counted)
    return f"Ratio of the {judged.values} with its 95 % interval, B over A: {counts}. {'; '.join(sentences)}."


def _in_words(pair: Pair, judged: Judged) -> str:
    return judged.change(pair.interval.low, pair.interval.high) if pair.interval else _spelled(pair)


def _legend(shown: Sequence[Pair]) -> tuple[Legend, ...]:
    seen = {pair.verdict for pair in shown}
    legend = [Legend(*_LOOKS[verdict]) for verdict in Verdict if verdict in seen]
    bars = any(pair.interval is not None for pair in shown)
    return (*legend, *((Legend("bars: 95 % interval", 5, "", "level"),) if bars else ()))


def _notes(comparison: Comparison, drawn: Sequence[Pair], shown: Sequence[Pair]) -> tuple[str, ...]:
    notes = []
    if len(shown) < len(drawn):
        notes.append(f"the chart shows {len(shown)} of {len(drawn)} pairs; the table has all of them")
    without = len(comparison.pairs) - len(drawn)
    if without:
        notes.append(f"{without} pair{'s have' if without > 1 else ' has'} no counted trial on one side")
    return tuple(notes)


def _drawn(comparison: Comparison) -> list[Pair]:
    return [pair for pair in comparison.pairs if pair.ratio is not None]


# -- both sides -------------------------------------------------------------------------------------------------
_LINE, _BETWEEN = 17.0, 12.0
_SIDES = (("A", 0, "circle"), ("B", 1, "square"))
_MOST_TRIALS = 30


def sides_chart(comparison: Comparison) -> Chart | None:
    """Return what each pair measured before and after: medians, their intervals and the trials behind them."""
    drawn = _drawn(comparison)
    if not drawn:
        return None
    shown = drawn[:MOST_PAIRS]
    judged = comparison.judged
    of_a, of_b = analyse(comparison.a).by_cell, analyse(comparison.b).by_cell
    both = [(of_a[pair.cell_a], of_b[pair.cell_b]) for pair in shown]
    reached = [value for pair in both for side in pair for value in _extent(side)]
    unit = judged.axis((max(reached),))
    names = short_names(shown) if len(shown) > 1 else ["A", "B"]
    left = round(14 + _LETTER * max(map(len, names)), 1)
    top, height = 12.0, 2 * _LINE + _BETWEEN
    bottom = top + height * len(shown)
    apart = (bottom - top) / len(names)
    ticks = tuple(Tick(top + apart * (at + 0.5), name) for at, name in enumerate(names))
    x = linear(min(reached) * unit.per_second, max(reached) * unit.per_second, left + 12, _RIGHT - 12, most=5)
    bars, raw, middles = [], [], []
    for index, pair in enumerate(both):
        for (side, series, shape), summary in zip(_SIDES, pair, strict=True):
            y = top + height * index + _BETWEEN / 2 + _LINE * (series + 0.5)
            if summary.ci_low is not None and summary.ci_high is not None:
                low, high = (x(end * unit.per_second) for end in (summary.ci_low, summary.ci_high))
                bars.append(ChartInterval(y, low, high, series, flat=True))
            raw += [
                ChartMark(x(value * unit.per_second), y, "dot", series, "raw", f"{side}: {judged.spell(value)}")
                for value in summary.values[:_MOST_TRIALS]
            ]
            told = f"{side}, {clean(str(summary.cell))}: median {judged.spell(summary.median)}"
            middles.append(ChartMark(x((summary.median or 0.0) * unit.per_second), y, shape, series, "mid", told))
    return Chart(
        key="sides",
        title=f"{judged.by.title.capitalize()} of A and B",
        description=_both_described(shown, judged),
        x_label=f"{judged.by.title}, {unit.label}",
        y_label="",
        x=x,
        y=Scale(0.0, 1.0, bottom, top, ticks),
        bars=tuple(bars),
        marks=(*raw, *middles),
        legend=(
            *(Legend(f"{side}, median", series, shape) for side, series, shape in _SIDES),
            Legend("one trial", 0, "dot", "raw"),
            *((Legend("bars: 95 % interval", 5, "", "level"),) if bars else ()),
        ),
        frame=Frame(height=bottom + _FOOT, left=left, top=top, bottom=bottom),
        notes=_notes(comparison, drawn, shown),
    )


def _extent(summary: CellSummary) -> Iterator[float]:
    yield from summary.values
    yield from (end for end in (summary.ci_low, summary.ci_high) if end is not None)


def _both_described(shown: Sequence[Pair], judged: Judged) -> str:
    sentences = (
        f"{_full_name(pair)}: A {judged.spell(pair.median_a)}, B {judged.spell(pair.median_b)}"
        for pair in shown[:12]
    )
    return f"Medians of both sides, each with its trials. {'; '.join(sentences)}."
