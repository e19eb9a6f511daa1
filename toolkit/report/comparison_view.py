"""What a comparison says, once, for all its formats: what differs, the verdicts, the pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolkit.analysis.compare import Comparison, Pair
from toolkit.analysis.doubts import spelled_difference
from toolkit.analysis.judged import Judged
from toolkit.model.words import Verdict
from toolkit.report.chart import Chart
from toolkit.report.metric_tables import PairMetrics, comparison_metrics, cost_pairs
from toolkit.report.ratio_chart import ratio_chart
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, scalar, table
from toolkit.units import MISSING, count, number, percent, ratio


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
    a, b = (run.head.label or run.head.run for run in (comparison.a, comparison.b))
    differences = table(
        "What differs",
        left("what", f"A: {a}", f"B: {b}"),
        (
            [found.name, scalar(found.name, found.a), scalar(found.name, found.b)]
            for found in comparison.differences
        ),
    )
    return ComparisonView(
        title=clean(f"B {b} against A {a}" if a != b else f"Configurations of {a}"),
        headline=clean(_headline(comparison.pairs, comparison.judged)),
        told=any(pair.verdict is not Verdict.INCONCLUSIVE for pair in comparison.pairs),
        verdicts=tuple(clean(sentence) for sentence in _verdicts(comparison.pairs, comparison.judged)),
        differences=differences,
        chart=ratio_chart(comparison, pairs),
        pairs=pairs,
        short_pairs=_short_pairs_table(comparison),
        costs=cost_pairs(comparison, [_pair_name(pair) for pair in comparison.pairs]),
        metrics=comparison_metrics(comparison, [_pair_name(pair) for pair in comparison.pairs]),
        notes=tuple(clean(note) for note in comparison.notes),
        method=_comparison_method(comparison),
    )


def _comparison_method(comparison: Comparison) -> tuple[str, ...]:
    judged = comparison.judged
    same = comparison.a.head.run == comparison.b.head.run
    noise = (
        "Both configurations are of one run, so the drift between sweeps is removed."
        if same
        else "Between two runs the drift between sweeps does not cancel out: it counts as noise, pooled over both."
    )
    return (
        f"B / A compares medians: {judged.in_short}. The verdict is {judged.good} or {judged.bad} only when the "
        f"95 % interval (Student's t on the logarithms of the {judged.values}, widened to the ratio of the "
        "medians) excludes 1.",
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
    said = [f"{verdict} in {count(counts[verdict])}" for verdict in (judged.good, judged.bad) if counts[verdict]]
    inconclusive = counts[Verdict.INCONCLUSIVE]
    rest = f"; inconclusive in {count(inconclusive)}" if inconclusive else ""
    return f"of {count(len(pairs))} configurations B is {' and '.join(said)}{rest}"


def _verdicts(pairs: Sequence[Pair], judged: Judged) -> Iterator[str]:
    """Give the pairs that tell something first, then the others, then what would have shown."""
    if len(pairs) > 1:
        for pair in sorted(pairs, key=lambda pair: pair.verdict is Verdict.INCONCLUSIVE):
            yield verdict_sentence(pair, judged)
    inconclusive = [
        pair for pair in pairs if pair.verdict is Verdict.INCONCLUSIVE and pair.minimum_detectable_pct is not None
    ]
    if inconclusive:
        smallest = max(pair.minimum_detectable_pct or 0.0 for pair in inconclusive)
        yield f"the minimum detectable effect with this many repeats is {spelled_difference(smallest)}"


def verdict_sentence(pair: Pair, judged: Judged) -> str:
    """Say what a pair tells, with its interval; never more than the interval does."""
    name = _pair_name(pair)
    if pair.ratio is None:
        return f"`{name}`: no result, because one side has no trial that counts"
    if pair.interval is None:
        return f"`{name}`: too few repeats for a verdict; by the medians {judged.change(pair.ratio)}"
    span = judged.change(pair.interval.low, pair.interval.high)
    if pair.verdict is Verdict.INCONCLUSIVE:
        return f"`{name}`: inconclusive ({span})"
    told = judged.change(pair.ratio)
    unit = next(
        (unit for unit in (f" less {judged.by.title}", f" more {judged.by.title}") if told.endswith(unit)), ""
    )
    return f"`{name}`: B is {pair.verdict.value}, {told} ({span.removesuffix(unit)})"


def _pair_name(pair: Pair) -> str:
    same = dict(pair.cell_a) == dict(pair.cell_b)
    return str(pair.cell_a) if same else f"{pair.cell_a} -> {pair.cell_b}"


def _short_pairs_table(comparison: Comparison) -> Table:
    """Return the pairs for 80 columns: what the sentences have said already is left out."""
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
