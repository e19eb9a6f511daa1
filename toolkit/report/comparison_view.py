"""What a comparison says, once, for all its formats: what differs, the verdicts, the pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.analysis.compare import Comparison, Pair
from toolkit.analysis.doubts import spelled_difference
from toolkit.analysis.judged import Judged
from toolkit.analysis.noise import SETTLES
from toolkit.model.words import Verdict
from toolkit.report.chart import Chart
from toolkit.report.comparison_charts import comparison_charts
from toolkit.report.labels import surrounding
from toolkit.report.metric_tables import PairMetrics, comparison_metrics, cost_pairs
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, scalar, table
from toolkit.report.view import factors_of, work_of
from toolkit.units import MISSING, count, number, ratio


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison as a reader sees it."""

    title: str
    headline: str
    told: bool
    verdicts: tuple[str, ...]
    differences: Table
    charts: tuple[Chart, ...]
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
    sides = ("A", "B") if a == b else (f"A: {a}", f"B: {b}")
    differences = table(
        "What differs",
        left("what", *sides),
        (
            [surrounding(found.name), scalar(found.name, found.a), scalar(found.name, found.b)]
            for found in comparison.differences
        ),
    )
    return ComparisonView(
        title=clean(_title(comparison, a, b)),
        headline=clean(("not the same work: " if comparison.unlike else "") + _headline(comparison)),
        told=any(pair.verdict is not Verdict.INCONCLUSIVE for pair in comparison.pairs),
        verdicts=tuple(clean(sentence) for sentence in _verdicts(comparison)),
        differences=differences,
        charts=comparison_charts(comparison, pairs),
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
        "The minimum detectable effect is what this many repeats find with a power of 80 %.",
    )


def _headline(comparison: Comparison) -> str:
    """Say what the pairs tell together; a single pair speaks for itself."""
    pairs, judged = comparison.pairs, comparison.judged
    if len(pairs) == 1:
        return verdict_sentence(pairs[0], judged)
    counts = {verdict: sum(pair.verdict is verdict for pair in pairs) for verdict in judged.verdicts}
    missing = sum(pair.ratio is None for pair in pairs)
    inconclusive = counts[Verdict.INCONCLUSIVE] - missing
    whole = f"{count(len(pairs))} configurations"
    if len(pairs) in (inconclusive, missing):
        return f"inconclusive in all of {whole}" if inconclusive else f"no result in any of {whole}"
    parts = [f"{verdict} in {count(counts[verdict])}" for verdict in (judged.good, judged.bad) if counts[verdict]]
    rest = [f"inconclusive in {count(inconclusive)}"] if inconclusive else []
    rest += [f"no result in {count(missing)}"] if missing else []
    told = [f"B is {' and '.join(parts)}"] if parts else []
    return f"of {whole} {'; '.join([*told, *rest])}"


def _verdicts(comparison: Comparison) -> Iterator[str]:
    """Give the pairs that tell something first, then the others, then what would have shown."""
    pairs, judged, between = comparison.pairs, comparison.judged, comparison.between
    if len(pairs) > 1:
        for pair in sorted(pairs, key=lambda pair: pair.verdict is Verdict.INCONCLUSIVE):
            yield verdict_sentence(pair, judged)
    inconclusive = [
        pair for pair in pairs if pair.verdict is Verdict.INCONCLUSIVE and pair.minimum_detectable_pct is not None
    ]
    least = ""
    if inconclusive:
        smallest = max(pair.minimum_detectable_pct or 0.0 for pair in inconclusive)
        least = f"the minimum detectable effect with this many repeats is {spelled_difference(smallest)}"
    if between is None and any(pair.ratio is not None and pair.interval is None for pair in pairs):
        known = f"; as far as it is known, {least}" if least else ""
        yield f"too few repeats show the noise, so there is no interval{known}"
    elif least:
        yield least
    if between is not None:
        yield between.sentence
        if between.reason is not None:
            yield SETTLES


def verdict_sentence(pair: Pair, judged: Judged) -> str:
    """Say what a pair tells, with its interval; never more than the interval does."""
    name = f"`{spelled}`: " if (spelled := _pair_name(pair)) else ""
    if pair.ratio is None:
        return f"{name}no result, because one side has no trial that counts"
    if pair.interval is None:
        return f"{name}inconclusive; by the medians {judged.change(pair.ratio)}"
    span = judged.change(pair.interval.low, pair.interval.high)
    if pair.verdict is Verdict.INCONCLUSIVE:
        return f"{name}inconclusive ({span})"
    change = judged.change(pair.ratio)
    unit = next(
        (unit for unit in (f" less {judged.by.title}", f" more {judged.by.title}") if change.endswith(unit)), ""
    )
    return f"{name}B is {pair.verdict.value}, {change} ({span.removesuffix(unit)})"


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


def _detectable(pair: Pair) -> str:
    return MISSING if pair.minimum_detectable_pct is None else spelled_difference(pair.minimum_detectable_pct)


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
            _detectable(pair),
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
