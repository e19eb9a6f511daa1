"""What a comparison says, once, for all its formats: what differs, the verdicts, the pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolkit.analysis.compare import Comparison, Pair
from toolkit.analysis.doubts import spelled_difference
from toolkit.analysis.judged import Judged
from toolkit.analysis.noise import SETTLES
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
    place,
)
from toolkit.report.metric_tables import PairMetrics, comparison_metrics, cost_pairs
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, scalar, table
from toolkit.report.view import factors_of, work_of
from toolkit.units import MISSING, count, number, percent, ratio

MOST_PAIRS = 24
_ROW, _HEAD, _FOOT = 30.0, 34.0, 48.0
_RIGHT = 468.0
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


def ratio_chart(comparison: Comparison, table: Table) -> Chart | None:
    """Return the chart of the pairs that have a ratio, with their table; None without any."""
    drawn = [pair for pair in comparison.pairs if pair.ratio is not None]
    if not drawn:
        return None
    shown = drawn[:MOST_PAIRS]
    rows = [_HEAD + _ROW * (index + 0.5) for index in range(len(shown))]
    names = short_names(shown)
    left = round(14 + _LETTER * max(map(len, names)), 1)
    bottom = _HEAD + _ROW * len(shown)
    frame = Frame(height=bottom + _FOOT, left=left, top=_HEAD, bottom=bottom)
    x = _axis(shown, left)
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


def _axis(shown: Sequence[Pair], left: float) -> Scale:
    """Return a log axis of ratios with 1 well inside; values off it stay at its ends."""
    ends = [end for pair in shown for end in _reach(pair)]
    low, high = min([0.95, *ends]), max([1.05, *ends])
    low, high = max(low / 1.04, 0.01), min(high * 1.04, 100.0)
    # room for the words at either side of 1
    span = math.log(high / low)
    low, high = min(low, math.exp(-0.28 * span)), max(high, math.exp(0.28 * span))
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


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison as a reader sees it."""

    title: str
    headline: str
    told: bool
    verdicts: tuple[str, ...]
    differences: Table
    chart: Chart | None
    pairs: Table
    short_pairs: Table
    costs: Table
    metrics: PairMetrics | None
    notes: tuple[str, ...]
    method: tuple[str, ...]


def comparison_view(comparison: Comparison) -> ComparisonView:
    """Prepare a comparison for reading."""
    pairs = _pairs_table(comparison)
    a, b = _run_names(comparison)
    differences = table(
        "What differs",
        left("what", f"A: {a}", f"B: {b}"),
        (
            [found.name, scalar(found.name, found.a), scalar(found.name, found.b)]
            for found in comparison.differences
        ),
    )
    return ComparisonView(
        title=clean(_title(comparison, a, b)),
        headline=clean(_headline(comparison.pairs, comparison.judged)),
        told=any(pair.verdict is not Verdict.INCONCLUSIVE for pair in comparison.pairs),
        verdicts=tuple(clean(sentence) for sentence in _verdicts(comparison)),
        differences=differences,
        chart=ratio_chart(comparison, pairs),
        pairs=pairs,
        short_pairs=_short_pairs_table(comparison),
        costs=cost_pairs(comparison, [_pair_name(pair) for pair in comparison.pairs]),
        metrics=comparison_metrics(comparison, [_pair_name(pair) for pair in comparison.pairs]),
        notes=tuple(clean(note) for note in comparison.notes),
        method=_comparison_method(comparison),
    )


def _title(comparison: Comparison, a: str, b: str) -> str:
    """Name a comparison so that a reader knows what was compared, and where; work that both did is named once."""
    work_a, work_b = work_of(comparison.a), work_of(comparison.b)
    factors_a, factors_b = _factors(comparison)
    if comparison.a.head.run == comparison.b.head.run:
        return f"{work_a}: B {factors_b} against A {factors_a}, in {a}"
    if work_a == work_b and factors_a == factors_b:
        return f"{': '.join(filter(None, (work_a, factors_a)))}: B {b} against A {a}"
    side_a, side_b = (" with ".join(filter(None, side)) for side in ((a, factors_a), (b, factors_b)))
    if work_a == work_b:
        return f"{work_a}: B {side_b} against A {side_a}"
    return f"B {side_b}, {work_b}, against A {side_a}, {work_a}"


def _factors(comparison: Comparison) -> tuple[str, str]:
    """Name what A and B varied; of two configurations their levels."""
    if len(comparison.pairs) == 1:
        only = comparison.pairs[0]
        return str(only.cell_a), str(only.cell_b)
    return factors_of(comparison.a), factors_of(comparison.b)


def _run_names(comparison: Comparison) -> tuple[str, str]:
    """Name both runs by label and when they began: a label that is used every week names many; an id says both."""
    heads = (comparison.a.head, comparison.b.head)
    for form in ("%Y-%m-%d %H:%M UTC", "%Y-%m-%d %H:%M:%S UTC"):
        a, b = (f"{head.label} ({head.began_at:{form}})" if head.label else head.run for head in heads)
        if a != b or heads[0].run == heads[1].run:
            return a, b
    return f"{heads[0].label} ({heads[0].run})", f"{heads[1].label} ({heads[1].run})"


def _comparison_method(comparison: Comparison) -> tuple[str, ...]:
    judged = comparison.judged
    same = comparison.a.head.run == comparison.b.head.run
    noise = (
        "Both configurations are of one run, so the drift between sweeps is removed."
        if same
        else "Two runs differ by more than the noise within each of them. A difference counts only if it exceeds "
        "the interval that other runs of identical work give, and the largest difference between any two of them. "
        "There is no interval and no verdict where fewer than 13 are stored, where the two runs are further apart "
        "than all those, or where the load of others differs more than among them."
    )
    together = (
        "All intervals hold together at 95 %: the more configurations are compared, the wider each of them is."
    )
    return (
        f"B / A compares medians: {judged.in_short}. The verdict is {judged.good} or {judged.bad} only when the "
        f"95 % interval (Student's t on the logarithms of the {judged.values}, widened to the ratio of the "
        "medians) excludes 1.",
        together,
        noise,
        "Detectable: the minimum detectable effect, which this many repeats find with a power of 80 %.",
    )


def _headline(pairs: Sequence[Pair], judged: Judged) -> str:
    """Say what the pairs tell together; a single pair speaks for itself."""
    if len(pairs) == 1:
        return verdict_sentence(pairs[0], judged)
    counts = {verdict: sum(pair.verdict is verdict for pair in pairs) for verdict in judged.verdicts}
    if counts[Verdict.INCONCLUSIVE] == len(pairs):
        return f"inconclusive in all of {count(len(pairs))} configurations"
    parts = [f"{verdict} in {count(counts[verdict])}" for verdict in (judged.good, judged.bad) if counts[verdict]]
    inconclusive = counts[Verdict.INCONCLUSIVE]
    rest = f"; inconclusive in {count(inconclusive)}" if inconclusive else ""
    return f"of {count(len(pairs))} configurations B is {' and '.join(parts)}{rest}"


def _verdicts(comparison: Comparison) -> Iterator[str]:
    """Give the pairs that tell something first, then the others, then what would have shown."""
    pairs, judged, between = comparison.pairs, comparison.judged, comparison.between
    if len(pairs) > 1:
        for pair in sorted(pairs, key=lambda pair: pair.verdict is Verdict.INCONCLUSIVE):
            yield verdict_sentence(pair, judged)
    inconclusive = [
        pair for pair in pairs if pair.verdict is Verdict.INCONCLUSIVE and pair.minimum_detectable_pct is not None
    ]
    if inconclusive:
        smallest = max(pair.minimum_detectable_pct or 0.0 for pair in inconclusive)
        yield f"the minimum detectable effect with this many repeats is {spelled_difference(smallest)}"
    if between is None and any(pair.ratio is not None and pair.interval is None for pair in pairs):
        yield "too few repeats show the noise: there is no interval"
    if between is not None:
        yield between.sentence
        if between.reason is not None:
            yield SETTLES


def verdict_sentence(pair: Pair, judged: Judged) -> str:
    """Say what a pair tells, with its interval; never more than the interval does."""
    name = _pair_name(pair)
    if pair.ratio is None:
        return f"`{name}`: no result, because one side has no trial that counts"
    if pair.interval is None:
        return f"`{name}`: inconclusive; by the medians {judged.change(pair.ratio)}"
    span = judged.change(pair.interval.low, pair.interval.high)
    if pair.verdict is Verdict.INCONCLUSIVE:
        return f"`{name}`: inconclusive ({span})"
    change = judged.change(pair.ratio)
    unit = next(
        (unit for unit in (f" less {judged.by.title}", f" more {judged.by.title}") if change.endswith(unit)), ""
    )
    return f"`{name}`: B is {pair.verdict.value}, {change} ({span.removesuffix(unit)})"


def _pair_name(pair: Pair) -> str:
    same = dict(pair.cell_a) == dict(pair.cell_b)
    return str(pair.cell_a) if same else f"{pair.cell_a} -> {pair.cell_b}"


def _short_pairs_table(comparison: Comparison) -> Table:
    """Return the pairs for 80 columns: what the sentences already contain is left out."""
    judged = comparison.judged
    rows = [
        [
            _pair_name(pair),
            judged.spell(pair.median_a),
            judged.spell(pair.median_b),
            ratio(pair.ratio),
            _between(pair),
            pair.verdict.value,
        ]
        for pair in comparison.pairs
    ]
    columns = left("configuration") + right("A", "B", "B / A", "95 % interval") + left("verdict")
    return table(f"Configurations compared, {'medians' if judged.is_time else judged.median}", columns, rows)


def _between(pair: Pair) -> str:
    return MISSING if pair.interval is None else f"{number(pair.interval.low)} to {number(pair.interval.high)}"


def _pairs_table(comparison: Comparison) -> Table:
    judged = comparison.judged
    rows = [
        [
            _pair_name(pair),
            judged.spell(pair.median_a),
            judged.spell(pair.median_b),
            ratio(pair.ratio),
            _between(pair),
            pair.verdict.value,
            percent(pair.minimum_detectable_pct),
            f"{pair.n_a}, {pair.n_b}",
        ]
        for pair in comparison.pairs
    ]
    columns = [
        *left("configuration"),
        *right(f"{judged.median} A", f"{judged.median} B", "B / A", "95 % interval"),
        *left("verdict"),
        *right("detectable", "trials"),
    ]
    marks = ["" if pair.verdict is Verdict.INCONCLUSIVE else pair.verdict.value for pair in comparison.pairs]
    return table("Configurations compared", columns, rows, marks)
