"""Tables of metrics, of costs, and of the objects of a run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from toolkit.analysis.compare import Comparison, Pair
from toolkit.analysis.metrics import MEASURES, CellMetric, Cost, MetricPair, costs_of, metrics_by_cell
from toolkit.model.operations import judged_by
from toolkit.model.records import BY_PROC, BY_WAIT4, IMPORTED, ItemRecord, RunRecord
from toolkit.model.values import Cell
from toolkit.model.words import Outcome
from toolkit.report.labels import label_of
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.terminal import line_width
from toolkit.units import MISSING, count, percent, quantity, ratio, seconds

_MOST_CELLS_ABREAST = 5
_MATTERS = re.compile(
    r"(?:^|[_ ])(?:cpu|iowait|disk|wal|redo|temp|reads?|writes?|written|waits?|waiting|spills?|before|after|"
    r"skew|extents|jobs?|chain|cores|storage|latency|errors|retries|transactions|plan:)"
    r"(?:[_ ]|$)",
    re.IGNORECASE,
)
_OF_HOST = re.compile(r"^host\..*\.(?:users|tps|loaded_rows|begun_late_seconds|clock_\w+|cpu_pct_\w+)$")
"""Of what one of several hosts did and showed: its part of the work, its clock, and whether it was busy."""
_DIFFERS = 1.05
"""Medians of cells that are further apart than this, and whose ranges do not meet, differ."""

_HOW = {
    BY_WAIT4: "CPU time of the programs and the memory of their largest process are what wait4 told at their end",
    BY_PROC: "the private memory of all their processes together is the highest of samples of /proc",
}
_ALWAYS = frozenset({IMPORTED, *_HOW})
"""Sources of what is always told: what somebody wrote into a file to be imported was worth writing."""

_LETTERS = "ABCDEFGHIJ"
_SHORT_NAME = 12
_ANSWER = "yes/no"
"""A unit whose 0 says something."""
_SPELLED_UNITS = frozenset({"seconds", "s", "bytes", "percent", "pct", "%", "ratio", "yes/no"})

Key = tuple[str, str, str]
_ByCell = Mapping[Cell, Mapping[Key, CellMetric]]


@dataclass(frozen=True, slots=True)
class Metrics:
    """A table of metrics for the page, a short one for text (with its key), and what each of them leaves out."""

    full: Table
    notes: tuple[str, ...]
    short_key: tuple[str, ...]
    short: Table
    short_notes: tuple[str, ...]


def run_metrics(run: RunRecord, ordered: Sequence[Cell], best: Cell | None) -> Metrics | None:
    """Return the metrics of a run's cells, medians over the trials that count; None without any."""
    measured = metrics_by_cell(run)
    shown = [cell for cell in ordered if measured.get(cell)]
    keyed = {cell: {(one.name, one.unit, one.source): one for one in measured[cell]} for cell in shown}
    keys = list(dict.fromkeys(key for cell in shown for key in keyed[cell]))
    alive = [key for key in keys if any(_is_alive(keyed[cell].get(key)) for cell in shown)]
    if not alive:
        return None
    zero = _zero_note(len(keys) - len(alive))
    telling = [key for key in alive if key[2] in _ALWAYS or _matters(key[0]) or _differ(keyed, key)] or alive
    short, legend = _short_table(keyed, telling, shown, best)
    quiet = _quiet_note(len(alive) - len(telling), several=len(shown) > 1)
    how = _how_note({key[2] for key in alive})
    return Metrics(_full_table(keyed, alive, shown), (*how, *zero), legend, short, (*how, *quiet, *zero))


def _matters(name: str) -> bool:
    return bool((_OF_HOST if name.startswith("host.") else _MATTERS).search(name))


def _is_alive(metric: CellMetric | None) -> bool:
    return metric is not None and (metric.low != 0 or metric.high != 0 or metric.unit == _ANSWER)


def _zero_note(zero: int) -> tuple[str, ...]:
    if not zero:
        return ()
    return (f"{count(zero)} metric{'s were' if zero > 1 else ' was'} 0 in every trial and omitted",)


def _how_note(sources: Collection[str]) -> tuple[str, ...]:
    """Say how CPU time and memory of programs were measured."""
    said = [sentence for source, sentence in _HOW.items() if source in sources]
    return (f"{'; '.join(said)}; no cgroup was used",) if said else ()


def _quiet_note(quiet: int, *, several: bool = True) -> tuple[str, ...]:
    if not quiet:
        return ()
    if not several:
        return (f"{count(quiet)} more {'are' if quiet > 1 else 'is'} on the page and in the JSON",)
    return (
        f"{count(quiet)} more hardly differ{'' if quiet > 1 else 's'} between the configurations: "
        "see the page or the JSON",
    )


def _differ(keyed: _ByCell, key: Key) -> bool:
    found = [metric for metrics in keyed.values() if (metric := metrics.get(key)) is not None]
    least, most = min(found, key=lambda one: one.median), max(found, key=lambda one: one.median)
    return most.median > least.median * _DIFFERS and most.low > least.high


def _full_table(keyed: _ByCell, keys: Iterable[Key], shown: Sequence[Cell]) -> Table:
    if len(shown) > _MOST_CELLS_ABREAST:
        rows = [
            [label_of(key[0]), str(cell), _with_range(metric), _origin(key[0], key[2])]
            for key in keys
            for cell in shown
            if (metric := keyed[cell].get(key)) is not None
        ]
        return table(
            "Metrics of each configuration",
            left("metric", "configuration") + right("median (range)") + left("source"),
            rows,
        )
    rows = [
        [label_of(key[0]), *(_with_range(keyed[cell].get(key)) for cell in shown), _origin(key[0], key[2])]
        for key in keys
    ]
    columns = left("metric") + right(*map(str, shown)) + left("source")
    return table("Metrics of each configuration, median (range)", columns, rows)


def _origin(name: str, source: str) -> str:
    """Name the source of a metric, and the metric as files and `--fail-if` call it where that is another name."""
    return source if label_of(name) == name else f"{source}: {name}"


def _with_range(metric: CellMetric | None) -> str:
    if metric is None:
        return MISSING
    middle = quantity(metric.median, metric.unit)
    if metric.low == metric.high:
        return middle
    low, high = (quantity(value, metric.unit) for value in (metric.low, metric.high))
    if low.partition(" ")[2] == high.partition(" ")[2]:
        low = low.partition(" ")[0]
    return f"{middle} ({low} to {high})"


def _short_table(
    keyed: _ByCell, keys: Sequence[Key], shown: Sequence[Cell], best: Cell | None
) -> tuple[Table, tuple[str, ...]]:
    """Return a table of 80 columns: all cells where they fit, else the first and the best side by side."""
    first = shown[0]
    other = best if best in shown and best != first else shown[-1]
    for cells in (shown, list(dict.fromkeys((first, other or first)))):
        for with_source in (True, False):
            found, legend = _abreast(keyed, keys, cells, with_source=with_source)
            if _width(found) <= line_width():
                break
        else:
            continue
        break
    some = (f"two of {len(shown)} configurations are shown",) if len(cells) < len(shown) else ()
    return found, (*legend, *some)


def _abreast(
    keyed: _ByCell, keys: Iterable[Key], cells: Sequence[Cell], *, with_source: bool
) -> tuple[Table, tuple[str, ...]]:
    names = [clean(str(cell)) for cell in cells]
    legend: tuple[str, ...] = ()
    if max(map(len, names)) > _SHORT_NAME and len(names) <= len(_LETTERS):
        legend = ("; ".join(f"{letter} is `{name}`" for letter, name in zip(_LETTERS, names, strict=False)),)
        names = list(_LETTERS[: len(names)])
    rows = [
        [label_of(key[0]), *(_middle(keyed[cell].get(key)) for cell in cells), *((key[2],) if with_source else ())]
        for key in keys
    ]
    columns = left("metric") + right(*names) + (left("source") if with_source else [])
    return table("Metrics of each configuration, medians", columns, rows), legend


def _width(found: Table) -> int:
    widths = (
        max(len(column.title), *(len(row[index]) for row in found.rows))
        for index, column in enumerate(found.columns)
    )
    return sum(widths) + 2 * (len(found.columns) - 1)


def _middle(metric: CellMetric | None) -> str:
    return MISSING if metric is None else _bare(metric.median, metric.unit)


def _bare(value: float, unit: str) -> str:
    """Spell a value; a counted thing without its word, which the name of the metric has."""
    known = unit in _SPELLED_UNITS or unit.endswith(("_per_second", "/s"))
    return quantity(value, unit if known else "")


@dataclass(frozen=True, slots=True)
class PairMetrics:
    """Metrics of both sides: one table for the page, one for each pair of cells in text."""

    full: Table
    notes: tuple[str, ...]
    short: tuple[tuple[str, Table], ...]
    short_notes: tuple[str, ...]


def comparison_metrics(comparison: Comparison, names: Sequence[str]) -> PairMetrics | None:
    """Return the metrics that both runs have; `names` are those of the pairs."""
    alive = [[one for one in pair.metrics if one.median_a or one.median_b] for pair in comparison.pairs]
    if not any(alive):
        return None
    every = {(one.name, one.source) for pair in comparison.pairs for one in pair.metrics}
    living = {(one.name, one.source) for metrics in alive for one in metrics}
    zero = _zero_note(len(every) - len(living))
    telling = [[one for one in metrics if _matters(one.name) or _apart(one)] for metrics in alive]
    quiet = _quiet_note(len(living - {(one.name, one.source) for metrics in telling for one in metrics}))
    short = tuple((clean(name), _pair_table(found)) for name, found in zip(names, telling, strict=True) if found)
    return PairMetrics(_pairs_table(comparison.pairs, names, alive), zero, short, (*quiet, *zero))


def _apart(metric: MetricPair) -> bool:
    return metric.ratio is None or not 1 / _DIFFERS <= metric.ratio <= _DIFFERS


def _pair_table(found: Iterable[MetricPair]) -> Table:
    rows = [
        [
            label_of(one.name),
            _bare(one.median_a, one.unit),
            _bare(one.median_b, one.unit),
            ratio(one.ratio),
            one.source,
        ]
        for one in found
    ]
    return table("Metrics of both", left("metric") + right("A", "B", "B / A") + left("source"), rows)


def _pairs_table(pairs: Sequence[Pair], names: Sequence[str], alive: Sequence[Sequence[MetricPair]]) -> Table:
    rows = [
        [
            label_of(one.name),
            name,
            quantity(one.median_a, one.unit),
            quantity(one.median_b, one.unit),
            ratio(one.ratio),
            _origin(one.name, one.source),
        ]
        for name, _, metrics in zip(names, pairs, alive, strict=True)
        for one in metrics
    ]
    columns = left("metric", "configuration") + right("median A", "median B", "B / A") + left("source")
    if len(pairs) == 1:  # named in the title
        columns, rows = columns[:1] + columns[2:], [row[:1] + row[2:] for row in rows]
    return table("Metrics of both", columns, rows)


# -- costs ------------------------------------------------------------------------------------------------------
_CAPTION = "Cost of each configuration, medians"
_THROUGHPUT = "throughput, first = 1"


def cost_table(run: RunRecord, ordered: Sequence[Cell]) -> Table:
    """Return time, throughput, CPU, input and output, redo, temporary space and the longest wait of each cell.

    Throughput is 1 for the first cell, and is not shown of a single one, nor of work that ends after a set time. A
    measure that no source tells has no column; without any there is no row.
    """
    costs = costs_of(run)
    shown = [costs[cell] for cell in ordered if cell in costs]
    used = [name for name in MEASURES if any(name in cost.measures for cost in shown)]
    waits = any(cost.waits for cost in shown)
    if not used:
        return table(_CAPTION, left("configuration"), ())
    first = shown[0].throughput
    several = len(shown) > 1 and judged_by(run.head.experiment.operation).lower_is_better
    rows = [
        [
            str(cost.cell),
            seconds(cost.seconds),
            *([ratio(cost.throughput / first if cost.throughput and first else None)] if several else []),
            *(_spell(cost.measures.get(name), name) for name in used),
            *([_wait(cost)] if waits else []),
        ]
        for cost in shown
    ]
    columns = (
        left("configuration")
        + right("median", *([_THROUGHPUT] if several else []), *used)
        + (left("top wait") if waits else [])
    )
    return table(_CAPTION, columns, rows)


def _spell(value: float | None, measure: str) -> str:
    return MISSING if value is None else quantity(value, MEASURES[measure][0])


def _wait(cost: Cost) -> str:
    return ", ".join(f"{name} {seconds(spent)}" for name, spent in cost.waits[:1])


def cost_pairs(comparison: Comparison, names: Sequence[str]) -> Table:
    """Return the costs of both sides of each pair, for each million rows where rows are counted.

    A measure from different sources on the two sides is left out: they count differently.
    """
    before, after = costs_of(comparison.a), costs_of(comparison.b)
    rows = []
    for name, pair in zip(names, comparison.pairs, strict=True):
        a, b = before.get(pair.cell_a), after.get(pair.cell_b)
        if a is None or b is None:
            continue
        rows += [_pair_row(name, measure, a, b) for measure in MEASURES if _alike(measure, a, b)]
    columns = left("configuration", "cost") + right("A", "B", "B / A")
    alone = len(comparison.pairs) == 1  # named in the title
    return table("Cost of both, medians", columns[alone:], [row[alone:] for row in rows])


def _alike(measure: str, a: Cost, b: Cost) -> bool:
    return measure in a.measures and a.sources.get(measure) == b.sources.get(measure)


def _pair_row(name: str, measure: str, a: Cost, b: Cost) -> list[str]:
    each = a.per_million(measure), b.per_million(measure)
    normal = None not in each
    one, other = each if normal else (a.measures[measure], b.measures[measure])
    sentence = f"{measure} per million rows" if normal else measure
    times = other / one if one and other is not None else None
    return [name, sentence, _spell(one, measure), _spell(other, measure), ratio(times)]


# -- objects ----------------------------------------------------------------------------------------------------
_MOST = 200


def object_table(run: RunRecord, most: int = _MOST) -> Table:
    """Return each object with its median time over all trials, its share, and how often it did not end ok.

    Empty when no trial works on several objects. `attempts` of a resumed job count as one: an object done before
    the interruption is in the earlier attempt.
    """
    seen: dict[str, list[ItemRecord]] = {}
    if any(len(trial.items) > 1 for trial in run.trials):
        for trial in run.trials:
            for item in trial.items:
                if not trial.warmup:
                    seen.setdefault(item.label, []).append(item)
    seen = _without_wholes(seen)
    times = {label: _median(items) for label, items in seen.items()}
    total = sum(time for time in times.values() if time is not None)
    order = sorted(seen, key=lambda label: (not _bad(seen[label]), -(times[label] or 0.0), label))
    columns = [*left("object"), *right("time", "share"), *left("outcome")]
    caption = "Objects, those not ok first, then slowest first"
    if len(order) > most:
        caption += f"; the first {most} of {len(order):,}"
    rows = (
        [label, seconds(times[label]), _share(times[label], total), _outcome(seen[label])]
        for label in order[:most]
    )
    marks = ("failed" if _bad(seen[label]) else "" for label in order[:most])
    return table(caption, columns, rows, marks)


def _without_wholes(seen: dict[str, list[ItemRecord]]) -> dict[str, list[ItemRecord]]:
    """Leave out a schema whose objects the database timed one by one: it would count them twice."""
    owners = {label.partition(".")[0] for label in seen if "." in label}
    return {label: items for label, items in seen.items() if label not in owners or _bad(items)}


def _median(items: Iterable[ItemRecord]) -> float | None:
    found = [item.elapsed_seconds for item in items if item.elapsed_seconds is not None]
    return median(found) if found else None


def _share(time: float | None, total: float) -> str:
    return percent(100 * time / total) if time is not None and total else ""


def _bad(items: Iterable[ItemRecord]) -> bool:
    """An object is not ok when its last word was not."""
    return list(items)[-1].outcome is not Outcome.OK


def _outcome(items: list[ItemRecord]) -> str:
    last = items[-1]
    reason = f": {last.reason}" if last.reason else ""
    return f"{last.outcome.value}{reason}"
