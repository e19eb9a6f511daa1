"""The tables of a report: columns with a title, rows of spelled and cleaned text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolkit.analysis.cells import CellSummary, RunAnalysis
from toolkit.analysis.metrics import CellMetric, metrics_by_cell
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell, Scalar, spell_level
from toolkit.model.words import Outcome
from toolkit.report.safe import clean
from toolkit.units import MISSING, byte_size, count, number, percent, quantity, ratio, seconds, seconds_span

_MOST_CELLS_ABREAST = 5


@dataclass(frozen=True, slots=True)
class Column:
    """A column's title; numeric ones stand right-aligned."""

    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `marks` holds a word for each row (`best`, `not-ok`, `aside`) or nothing at all."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    marks: tuple[str, ...] = ()

    def mark(self, index: int) -> str:
        """Return the mark of a row."""
        return self.marks[index] if self.marks else ""


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Iterable[str]], marks: Iterable[str] = ()
) -> Table:
    """Make a table whose every text is clean."""
    return Table(
        clean(caption),
        tuple(Column(clean(column.title), column.numeric) for column in columns),
        tuple(tuple(clean(text) for text in row) for row in rows),
        tuple(marks),
    )


def right(*titles: str) -> list[Column]:
    """Return numeric columns."""
    return [Column(title, numeric=True) for title in titles]


def left(*titles: str) -> list[Column]:
    """Return columns of words."""
    return [Column(title) for title in titles]


def spread(summary: CellSummary) -> str:
    """Spell the interval of a cell, or the range of its trials where there is none."""
    if summary.ci_low is not None and summary.ci_high is not None:
        return seconds_span(summary.ci_low, summary.ci_high)
    if not summary.seconds:
        return MISSING
    if summary.n == 1:
        return "one trial"
    return seconds_span(min(summary.seconds), max(summary.seconds))


def spread_title(summaries: Iterable[CellSummary]) -> str:
    """Name the column of `spread`: a run has intervals for all of its cells or for none."""
    return "95 % interval" if any(summary.ci_low is not None for summary in summaries) else "range of trials"


def cells_table(found: RunAnalysis, best: Cell | None, recommended: Cell | None, *, narrow: bool = False) -> Table:
    """Return the table of cells: levels, median and interval, speed-up and efficiency, how many trials."""
    with_speed = any(summary.speedup is not None for summary in found.cells)
    names = _factor_names(found.run)
    columns = [*_factor_columns(found.run), *right("median", spread_title(found.cells))]
    columns += right("speed-up", "efficiency") if with_speed else []
    columns += right("trials") + left("remark")
    rows, marks = [], []
    for summary in found.cells:
        gain = ratio(summary.speedup) if narrow else _speedup(summary)
        speed = [gain, percent(_pct(summary.efficiency))] if with_speed else []
        remark = _remark(
            summary, best, recommended, ("best", "use") if narrow else ("lowest median", "recommended")
        )
        times = [seconds(summary.median_seconds), spread(summary)]
        levels = _levels(summary.cell, names)
        rows.append([*levels, *times, *speed, count(summary.n), remark])
        marks.append("best" if summary.cell == recommended else "" if summary.n else "not-ok")
    return table("Cells", columns, rows, marks)


def _speedup(summary: CellSummary) -> str:
    if summary.speedup is None or summary.speedup_low is None or summary.speedup_high is None:
        return ratio(summary.speedup)
    return f"{ratio(summary.speedup)} ({number(summary.speedup_low)} to {number(summary.speedup_high)})"


def _pct(efficiency: float | None) -> float | None:
    return None if efficiency is None else efficiency * 100


def _remark(summary: CellSummary, best: Cell | None, recommended: Cell | None, words: tuple[str, str]) -> str:
    parts = [
        f"{summary.outcomes[outcome]} {outcome.value}"
        for outcome in Outcome
        if outcome is not Outcome.OK and outcome in summary.outcomes
    ]
    parts += [f"{summary.disturbed} disturbed"] if summary.disturbed else []
    parts += [words[0]] if summary.cell == best else []
    parts += [words[1]] if summary.cell == recommended else []
    return ", ".join(parts)


def environment_table(run: RunRecord) -> Table:
    """Return the environment, name by name."""
    rows = ((name, scalar(name, value)) for name, value in run.environment.items())
    return table("Environment", left("what", "value"), rows)


_NAMED_UNITS = ("bytes", "seconds", "pct")


def scalar(name: str, value: Scalar) -> str:
    """Spell a value of the environment by the unit its name ends in; one that is not there is a dash."""
    if value is None:
        return MISSING
    if isinstance(value, bool | str):
        return spell_level(value)
    unit = next((unit for unit in _NAMED_UNITS if name.endswith(f"_{unit}")), "")
    return quantity(value, unit)


def trials_table(run: RunRecord, *, narrow: bool = False) -> Table:
    """Return every trial in the order run, those that are not ok with their reason."""
    names = _factor_names(run)
    trials = sorted(run.trials, key=lambda trial: (trial.trial, trial.attempt))
    columns = [*right("trial"), *_factor_columns(run), *left("sweep", "outcome"), *right("time")]
    columns += [] if narrow else right("degree granted", "parallelism", "rows", "size")
    rows = [
        [
            f"{trial.trial}" if trial.attempt == 1 else f"{trial.trial}, attempt {trial.attempt}",
            *_levels(trial.cell, names),
            "warm-up" if trial.warmup else str(trial.repeat),
            _outcome(trial),
            seconds(trial.elapsed_seconds),
            *([] if narrow else _evidence(trial)),
            _reason(trial),
        ]
        for trial in trials
    ]
    return table("Every trial in the order run", [*columns, *left("reason")], rows, map(_trial_mark, trials))


def _evidence(trial: TrialRecord) -> list[str]:
    asked, granted = trial.requested_degree, trial.granted_degree
    degree = count(granted) if asked == granted else f"{count(granted)} of {count(asked)}"
    return [degree, number(trial.effective_parallelism), count(trial.rows), byte_size(trial.bytes)]


def _outcome(trial: TrialRecord) -> str:
    return f"{trial.outcome.value}, disturbed" if trial.disturbed else trial.outcome.value


def _reason(trial: TrialRecord) -> str:
    code = f" ({trial.error_code})" if trial.error_code and trial.error_code not in (trial.reason or "") else ""
    return f"{trial.reason or ''}{code}"


def _trial_mark(trial: TrialRecord) -> str:
    if trial.outcome is not Outcome.OK:
        return "not-ok"
    return "" if trial.counts else "aside"


def metrics_table(run: RunRecord, ordered: Sequence[Cell]) -> Table | None:
    """Return the medians of the metrics with their range and source; None without metrics."""
    found = {cell: metrics for cell, metrics in metrics_by_cell(run).items() if metrics}
    shown = [cell for cell in ordered if cell in found]
    if not shown:
        return None
    if len(shown) > _MOST_CELLS_ABREAST:
        rows = [[metric.name, str(cell), *_metric(metric)] for cell in shown for metric in found[cell]]
        columns = left("metric", "cell") + right("median (range)") + left("source")
        return table("Metrics of each cell", columns, rows)
    keyed = {cell: {(one.name, one.unit, one.source): one for one in found[cell]} for cell in shown}
    keys = dict.fromkeys(key for cell in shown for key in keyed[cell])
    rows = [[key[0], *(_metric(keyed[cell].get(key))[0] for cell in shown), key[2]] for key in keys]
    columns = left("metric") + right(*map(str, shown)) + left("source")
    return table("Metrics of each cell, median (range)", columns, rows)


def _metric(metric: CellMetric | None) -> tuple[str, str]:
    if metric is None:
        return MISSING, ""
    middle = quantity(metric.median, metric.unit)
    if metric.low == metric.high:
        return middle, metric.source
    span = f"{quantity(metric.low, metric.unit)} to {quantity(metric.high, metric.unit)}"
    return f"{middle} ({span})", metric.source


def _factor_names(run: RunRecord) -> list[str]:
    names = [factor.name for factor in run.head.experiment.factors]
    return list(dict.fromkeys([*names, *(name for trial in run.trials for name in trial.cell)]))


def _factor_columns(run: RunRecord) -> list[Column]:
    words = {name for trial in run.trials for name, level in trial.cell.items() if isinstance(level, str | bool)}
    return [Column(name, numeric=name not in words) for name in _factor_names(run)]


def _levels(cell: Cell, names: Iterable[str]) -> list[str]:
    return [spell_level(level) if (level := cell.get(name)) is not None else MISSING for name in names]
