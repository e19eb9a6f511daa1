"""The tables of a report: columns with a title, rows of spelled and cleaned text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from toolkit.analysis.cells import CellSummary, RunAnalysis
from toolkit.analysis.judged import Judged, judged_of
from toolkit.model.operations import degree_factor
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell, Scalar, spell_level
from toolkit.model.words import Outcome
from toolkit.report.labels import surrounding
from toolkit.report.safe import clean
from toolkit.units import MISSING, byte_size, count, number, percent, quantity, ratio, seconds


@dataclass(frozen=True, slots=True)
class Column:
    """A column's title; numeric ones stand right-aligned."""

    title: str
    numeric: bool = False


_UPRIGHT, _WRAPPED = 170, 40
"""Characters of the small print that fit across A4, and those a column of words is given at least."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `marks` holds a word for each row (`best`, `failed`, `partly`, `aside`) or nothing at all."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    marks: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[int, ...]:
        """The columns that say something in any row: all of them where there is no row."""
        every = range(len(self.columns))
        return tuple(at for at in every if not self.rows or any(row[at] for row in self.rows))

    @property
    def broad(self) -> bool:
        """Whether it is too wide for upright paper, although a last column of words wraps."""
        titles = [len(column.title) for column in self.columns]
        widths = [max(width, *(len(row[at]) for row in self.rows), 0) for at, width in enumerate(titles)]
        if not self.columns[-1].numeric:
            widths[-1] = min(widths[-1], _WRAPPED)
        return sum(widths) + 2 * len(widths) > _UPRIGHT

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


def spread(summary: CellSummary, judged: Judged) -> str:
    """Spell the interval of a cell, or the range of its trials where there is none."""
    if summary.ci_low is not None and summary.ci_high is not None:
        return judged.span(summary.ci_low, summary.ci_high)
    if not summary.values:
        return MISSING
    if summary.n == 1:
        return "one trial"
    return judged.span(min(summary.values), max(summary.values))


def spread_title(summaries: Iterable[CellSummary]) -> str:
    """Name the column of `spread`: a run has intervals for all of its cells or for none."""
    return "95 % interval" if any(summary.ci_low is not None for summary in summaries) else "range of trials"


def cells_table(found: RunAnalysis, best: Cell | None, recommended: Collection[Cell]) -> Table:
    """Return the table of cells: levels, median and interval, speed-up and efficiency, how many trials."""
    names, judged = _factor_names(found.run), found.judged
    with_speed = _with_speed(found)
    rival = best if len(found.cells) > 1 else None  # alone it is no lowest
    columns = [*_factor_columns(found.run), *right(judged.median, spread_title(found.cells))]
    columns += right(judged.gain, "efficiency") if with_speed else []
    rows = []
    for summary in found.cells:
        speed = [_speedup(summary), percent(_pct(summary.efficiency))] if with_speed else []
        values = [judged.spell(summary.median), spread(summary, judged)]
        remark = _remark(found, summary, rival, recommended, "recommended")
        rows.append([*_levels(summary.cell, names), *values, *speed, count(summary.n), remark])
    return table(
        "Configurations", columns + right("trials") + left("remark"), rows, _cell_marks(found, recommended)
    )


_WIDEST_LEVELS = 24


def short_cells_table(found: RunAnalysis, best: Cell | None, recommended: Collection[Cell]) -> Table:
    """Return the same for 80 columns: short titles, and one column `cell` where the factors' own are too wide."""
    names, factors, judged = _factor_names(found.run), _factor_columns(found.run), found.judged
    levels = [_levels(summary.cell, names) for summary in found.cells]
    widths = [max(map(len, (name, *column))) for name, *column in zip(names, *levels, strict=True)]
    if len(names) != 1 and sum(widths) + 2 * len(widths) > _WIDEST_LEVELS:
        factors, levels = left("configuration"), [[str(summary.cell)] for summary in found.cells]
    with_speed = _with_speed(found)
    rival = best if len(found.cells) > 1 else None  # alone it is no lowest
    columns = [*factors, *right(judged.median, spread_title(found.cells))]
    columns += right(judged.gain, "eff.") if with_speed else []
    rows = []
    for summary, level in zip(found.cells, levels, strict=True):
        speed = [ratio(summary.speedup), percent(_pct(summary.efficiency))] if with_speed else []
        values = [judged.spell(summary.median), spread(summary, judged)]
        remark = _remark(found, summary, rival, recommended, "use")
        rows.append([*level, *values, *speed, count(summary.n), remark])
    return table("Configurations", columns + right("n") + left("remark"), rows, _cell_marks(found, recommended))


def _with_speed(found: RunAnalysis) -> bool:
    return any(summary.speedup is not None for summary in found.cells)


def _cell_marks(found: RunAnalysis, recommended: Collection[Cell]) -> list[str]:
    return ["best" if one.cell in recommended else "" if one.n else _worst(one) for one in found.cells]


def _worst(summary: CellSummary) -> str:
    return "failed" if Outcome.FAILED in summary.outcomes else "partly"


def _speedup(summary: CellSummary) -> str:
    if summary.speedup is None or summary.speedup_low is None or summary.speedup_high is None:
        return ratio(summary.speedup)
    return f"{ratio(summary.speedup)} ({number(summary.speedup_low)} to {number(summary.speedup_high)})"


def _pct(efficiency: float | None) -> float | None:
    return None if efficiency is None else efficiency * 100


def _remark(
    found: RunAnalysis, summary: CellSummary, best: Cell | None, recommended: Collection[Cell], use: str
) -> str:
    parts = [
        f"{summary.outcomes[outcome]} {outcome.value}"
        for outcome in Outcome
        if outcome is not Outcome.OK and outcome in summary.outcomes
    ]
    parts += [f"{summary.disturbed} disturbed"] if summary.disturbed else []
    parts += [found.in_front(best)] if best is not None and best == summary.cell not in recommended else []
    parts += [use if len(recommended) == 1 else "any of"] if summary.cell in recommended else []
    return ", ".join(parts)


def environment_table(run: RunRecord) -> Table:
    """Return the environment, name by name."""
    return table("Environment", left("what", "value"), _surroundings(run.environment.items()))


_LESS_TELLING = frozenset(
    {
        "dbatk_version",
        "client_host",
        "host_cpu_count",
        "server_started_at",
        "database_name",
        "database_id",
        "host_load_1min",
    }
)
_TELLING_SETTINGS = re.compile(
    r"parallel|workers?|_mem$|mem_|memory|^threads$|shared_buffers|wal_(?:buffers|level|size|compression)|cache|^sga|^pga"
    r"|fsync|synchronous_commit|full_page|checkpoint|temp_(?:buffers|file_limit)|compression|^jit$|io_concurrency"
    r"|block_size|autovacuum$|huge_pages|preserve_insertion|cpu_count|resource_manager|archiv|logging|filesystemio"
    r"|disk_asynch|log_buffer|optimizer_mode|compatible|degree",
    re.IGNORECASE,
)


def short_environment(run: RunRecord) -> tuple[Table, tuple[str, ...]]:
    """Return what of the environment tells most of times, and a sentence on the rest."""
    telling = {name: value for name, value in run.environment.items() if _tells(name)}
    gone = len(run.environment) - len(telling)
    note = (f"{count(gone)} more value{'s' if gone > 1 else ''}: see the page or the JSON",) if gone else ()
    return table("Environment", left("what", "value"), _surroundings(telling.items())), note


def _tells(name: str) -> bool:
    kind, dot, setting = name.partition(".")
    if kind == "setting" and dot:
        return _TELLING_SETTINGS.search(setting) is not None
    return name not in _LESS_TELLING


def _surroundings(found: Iterable[tuple[str, Scalar]]) -> Iterable[tuple[str, str]]:
    return ((surrounding(name), scalar(name, value)) for name, value in found)


_NAMED_UNITS = ("bytes", "seconds", "pct")
_BLOCKS = re.compile(r"(\d+) (\d*)(B|kB|MB|GB)")
_BLOCK_BYTES = {"B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30}


def scalar(name: str, value: Scalar) -> str:
    """Spell a value of the environment by the unit its name ends in; one that is not there is a dash.

    PostgreSQL gives sizes in units of its own: `512 8kB` is 4.00 MiB (pg_settings.unit).
    """
    if value is None:
        return MISSING
    if isinstance(value, str) and (sized := _BLOCKS.fullmatch(value)) is not None:
        return byte_size(int(sized[1]) * int(sized[2] or 1) * _BLOCK_BYTES[sized[3]])
    if isinstance(value, bool | str):
        return spell_level(value)
    unit = next((unit for unit in _NAMED_UNITS if name.endswith(f"_{unit}")), "")
    return quantity(value, unit)


def trials_table(run: RunRecord, *, narrow: bool = False) -> Table:
    """Return every trial in the order run, those that are not ok with their reason."""
    names = _factor_names(run)
    trials = sorted(run.trials, key=lambda trial: (trial.trial, trial.attempt))
    columns = [*right("trial"), *_factor_columns(run), *left("sweep", "outcome"), *right("time")]
    judged = judged_of(run)
    columns += [] if judged.is_time else right(judged.by.title)
    degree = degree_factor(run.head.experiment.operation)  # empty where nothing is granted: no column then
    granted = [f"{degree} granted"] if degree else []
    columns += [] if narrow else right(*granted, "CPUs used", "rows", "size")
    rows = [
        [
            f"{trial.trial}" if trial.attempt == 1 else f"{trial.trial}, attempt {trial.attempt}",
            *_levels(trial.cell, names),
            "warm-up" if trial.warmup else str(trial.repeat),
            _outcome(trial),
            seconds(trial.elapsed_seconds),
            *([] if judged.is_time else [judged.spell(judged.of(trial))]),
            *([] if narrow else [*([_granted(trial)] if degree else []), *_evidence(trial)]),
            _reason(trial),
        ]
        for trial in trials
    ]
    return table("All trials in run order", [*columns, *left("reason")], rows, map(_trial_mark, trials))


def _granted(trial: TrialRecord) -> str:
    asked, granted = trial.requested_degree, trial.granted_degree
    known = "unknown" if granted is None and trial.elapsed_seconds is not None else count(granted)
    return known if asked == granted else f"{known} of {count(asked)}"


def _evidence(trial: TrialRecord) -> list[str]:
    return [number(trial.effective_parallelism), count(trial.rows), byte_size(trial.bytes)]


def _outcome(trial: TrialRecord) -> str:
    return f"{trial.outcome.value}, disturbed" if trial.disturbed else trial.outcome.value


def _reason(trial: TrialRecord) -> str:
    code = f" ({trial.error_code})" if trial.error_code and trial.error_code not in (trial.reason or "") else ""
    return f"{trial.reason or ''}{code}"


def _trial_mark(trial: TrialRecord) -> str:
    if trial.outcome is not Outcome.OK:
        return "failed" if trial.outcome is Outcome.FAILED else "partly"
    return "" if trial.counts else "aside"


def _factor_names(run: RunRecord) -> list[str]:
    names = [factor.name for factor in run.head.experiment.factors]
    return list(dict.fromkeys([*names, *(name for trial in run.trials for name in trial.cell)]))


def _factor_columns(run: RunRecord) -> list[Column]:
    words = {name for trial in run.trials for name, level in trial.cell.items() if isinstance(level, str | bool)}
    return [Column(name, numeric=name not in words) for name in _factor_names(run)]


def _levels(cell: Cell, names: Iterable[str]) -> list[str]:
    return [spell_level(level) if (level := cell.get(name)) is not None else MISSING for name in names]
