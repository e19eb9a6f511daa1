"""Charts over all configurations: two factors as a grid of shades, and where the time of a trial goes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from statistics import median

from toolkit.analysis.cells import CellSummary, RunAnalysis
from toolkit.analysis.choice import shown_worse
from toolkit.model.values import Cell, Level, spell_level
from toolkit.report.chart import (
    MOST_SERIES,
    Chart,
    ChartLabel,
    ChartMark,
    ChartSpan,
    Frame,
    Legend,
    Scale,
    Tick,
    linear,
    named,
)
from toolkit.report.labels import PHASES
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.units import MISSING, ratio, seconds, time_unit

_LEFT, _RIGHT, _TOP, _WIDTH, _UNDER = 112.0, 456.0, 16.0, 480.0, 48.0
_ROW, _BAR, _GAP = 30.0, 14.0, 2.0
_LETTER = 9.5
"""The width of a letter of an axis's name as a phone shows it."""
_SHADES = (1.05, 1.3, 2.0, 4.0)
"""Times as bad as the best, from which on a shade is darker."""
_MOST_LEVELS, _MOST_ROWS = 12, 24
TIMED = "timed"
_OTHERS = "others together"
_LEAST_SHARE, _WIDTH_OF_NUMBER = 0.03, 10.0


def heat_chart(found: RunAnalysis, recommended: Collection[Cell]) -> Chart | None:
    """Return the grid of a run with two varied factors; None for any other run."""
    measured = [summary for summary in found.cells if summary.n]
    levels = _varied(found)
    if len(levels) != 2 or len(measured) < 4 or max(map(len, levels.values())) > _MOST_LEVELS:
        return None
    (across, columns), (down, lines) = levels.items()
    best = min(measured, key=lambda one: found.rank(one.cell)).cell
    bottom = _TOP + _ROW * len(lines)
    x = named([clean(spell_level(level)) for level in columns], _LEFT, _RIGHT)
    half = (_RIGHT - _LEFT) / len(columns) / 2 - _GAP
    spans, words, marks = [], [], []
    for summary in measured:
        place, top = x(columns.index(summary.cell[across])), _TOP + _ROW * lines.index(summary.cell[down])
        label, look = _shaded(found, summary, best)
        spans.append(ChartSpan(place - half, place + half, top + _GAP, _ROW - 2 * _GAP, 0, label, look))
        words.append(ChartLabel(place, top + _ROW / 2 + 4.5, ratio(found.ratio(summary.cell, best)[0])))
        if summary.cell in recommended:
            marks.append(ChartMark(round(place - half + 9, 1), top + _ROW / 2, "circle", 2, "mid", "recommended"))
    ticks = tuple(
        Tick(_TOP + _ROW * (index + 0.5), clean(spell_level(level))[:14]) for index, level in enumerate(lines)
    )
    fits = len(down) * _LETTER <= _TOP + bottom
    return Chart(
        key="heat",
        title=f"{clean(across)} and {clean(down)} together",
        description=f"Each configuration as times the {found.judged.best_median}, that of {clean(str(best))}: the "
        "darker, the worse. Framed ones are not shown to be worse than the best.",
        x_label=clean(across) if fits else f"{clean(across)}; lines: {clean(down)}",
        y_label=clean(down) if fits else "",
        x=x,
        y=Scale(0.0, 1.0, bottom, _TOP, ticks),
        spans=tuple(spans),
        words=tuple(words),
        marks=tuple(marks),
        legend=_heat_legend(spans, marks),
        frame=Frame(_WIDTH, bottom + _UNDER, _LEFT, _RIGHT, _TOP, bottom),
        bare=True,
        table=_heat_table(found, measured, best, recommended, (across, down)),
    )


def _shaded(found: RunAnalysis, summary: CellSummary, best: Cell) -> tuple[str, str]:
    """Return what a piece of the grid says, and how it looks."""
    value, interval = found.ratio(summary.cell, best)
    is_open = summary.cell != best and not shown_worse(interval)
    shown = ", not shown to be worse" if is_open else ""
    label = f"{clean(str(summary.cell))}: {found.judged.spell(summary.median)}, {ratio(value)} of the best{shown}"
    return label, f"heat{sum(value >= limit for limit in _SHADES)}{' open' if is_open else ''}"


def _heat_legend(spans: Sequence[ChartSpan], marks: Sequence[ChartMark]) -> tuple[Legend, ...]:
    framed = any(span.look.endswith("open") for span in spans)
    return (
        *((Legend("recommended", 2, "circle"),) if marks else ()),
        *((Legend("framed: not shown to be worse than the best", 5, "square", "hollow"),) if framed else ()),
    )


def _heat_table(
    found: RunAnalysis,
    measured: Sequence[CellSummary],
    best: Cell,
    recommended: Collection[Cell],
    factors: tuple[str, str],
) -> Table:
    rows = [
        [
            *(spell_level(summary.cell[name]) for name in factors),
            found.judged.spell(summary.median),
            ratio(found.ratio(summary.cell, best)[0]),
            _told(found, summary, best, recommended),
        ]
        for summary in measured
    ]
    columns = [*left(*factors), *right(found.judged.median, "of the best"), *left("told")]
    return table(f"{' and '.join(factors)} together", columns, rows)


def _varied(found: RunAnalysis) -> dict[str, list[Level]]:
    """Return the factors with more than one level, each with its levels in order; the scale factor first."""
    levels: dict[str, list[Level]] = {}
    for cell in found.by_cell:
        for name, level in cell.levels:
            if level not in levels.setdefault(name, []):
                levels[name].append(level)
    names = sorted((name for name, seen in levels.items() if len(seen) > 1), key=lambda name: name != found.scale)
    return {name: levels[name] for name in names}


def _told(found: RunAnalysis, summary: CellSummary, best: Cell, recommended: Collection[Cell]) -> str:
    if summary.cell in recommended:
        return "recommended"
    if summary.cell == best:
        return found.in_front(best)
    return found.judged.bad if shown_worse(found.ratio(summary.cell, best)[1]) else MISSING


# -- phases -----------------------------------------------------------------------------------------------------
def phase_chart(found: RunAnalysis) -> Chart | None:
    """Return where the time of a trial goes, the timed statement first; None where nothing else took any."""
    shown = [summary.cell for summary in found.cells if summary.n][:_MOST_ROWS]
    spent = {cell: _phases(found, cell) for cell in shown}
    whole = max((sum(each.values()) for each in spent.values()), default=0.0)
    names = [TIMED, *dict.fromkeys(name for each in spent.values() for name in each if name != TIMED)]
    if len(names) < 2 or not whole:
        return None
    drawn = _drawn_names(names, spent, whole)
    unit = time_unit((whole,))
    row = _BAR + 6
    bottom = _TOP + row * len(shown)
    x = linear(0.0, whole * unit.per_second, _LEFT, _RIGHT)
    spans = [
        span
        for index, cell in enumerate(shown)
        for span in _stacked(cell, spent[cell], drawn, _TOP + row * index + 3, lambda at: x(at * unit.per_second))
    ]
    words = [
        ChartLabel(round((span.begin + span.end) / 2, 1), span.y + _BAR - 2.5, str(span.series + 1), look="on")
        for span in spans
        if span.width >= _WIDTH_OF_NUMBER
    ]
    varied = [name for name, levels in _varied(found).items() if len(levels) > 1]
    ticks = tuple(Tick(_TOP + row * (at + 0.5), clean(_short(cell, varied))) for at, cell in enumerate(shown))
    rows = [
        [str(cell), *(seconds(spent[cell][name]) if name in spent[cell] else MISSING for name in names)]
        for cell in shown
    ]
    longest = max(spent, key=lambda cell: sum(spent[cell].values()))
    parts = [f"{clean(name)} {seconds(took)}" for name, took in spent[longest].items()]
    return Chart(
        key="phases",
        title="Where the time of a trial goes",
        description=f"Medians of each configuration; the longest, {clean(str(longest))}: {', '.join(parts)}.",
        x_label=f"{unit.label} of a trial, medians",
        y_label="",
        x=x,
        y=Scale(0.0, 1.0, bottom, _TOP, ticks),
        spans=tuple(spans),
        words=tuple(words),
        legend=tuple(Legend(f"{series + 1} {clean(name)}", series, "square") for series, name in enumerate(drawn)),
        frame=Frame(_WIDTH, bottom + _UNDER, _LEFT, _RIGHT, _TOP, bottom),
        table=table("Phases of a trial, medians", [*left("configuration"), *right(*names)], rows),
    )


def _stacked(
    cell: Cell, spent: Mapping[str, float], drawn: Sequence[str], y: float, place: Callable[[float], float]
) -> Iterator[ChartSpan]:
    """Yield the phases of a configuration one after the other."""
    at = 0.0
    left_over = sum(took for name, took in spent.items() if name not in drawn)
    for series, name in enumerate(drawn):
        if took := left_over if name == _OTHERS else spent.get(name, 0.0):
            label = f"{clean(str(cell))}: {clean(name)} {seconds(took)}"
            yield ChartSpan(place(at), place(at + took), y, _BAR, series, label, "phase")
            at += took


def _phases(found: RunAnalysis, cell: Cell) -> dict[str, float]:
    trials = [each for each in found.run.trials if each.cell == cell and each.counts]
    names = dict.fromkeys(name for trial in trials for name in trial.phases)
    medians = {PHASES.get(name, name): median(trial.phases.get(name, 0.0) for trial in trials) for name in names}
    timed = median(trial.elapsed_seconds or 0.0 for trial in trials)
    return {TIMED: timed, **{name: spent for name, spent in medians.items() if spent > 0 and name != TIMED}}


def _drawn_names(names: Sequence[str], spent: dict[Cell, dict[str, float]], whole: float) -> list[str]:
    """Return the phases that are drawn; those too short to be seen, or beyond the colours, are drawn together."""
    longest = {name: max(each.get(name, 0.0) for each in spent.values()) for name in names[1:]}
    seen = [name for name in longest if longest[name] >= _LEAST_SHARE * whole]
    if len(longest) - len(seen) == 1 and len(longest) < MOST_SERIES:
        return list(names)
    kept = set(sorted(seen, key=lambda name: -longest[name])[: MOST_SERIES - 2])
    others = [_OTHERS] if len(kept) < len(longest) else []
    return [TIMED, *(name for name in names[1:] if name in kept), *others]


def _short(cell: Cell, varied: Sequence[str]) -> str:
    """Name a configuration by what varies; the names of several factors would not leave room for their levels."""
    levels = [(name, level) for name, level in cell.levels if name in varied]
    text = ", ".join(spell_level(level) for _, level in levels) if len(levels) > 1 else str(Cell(tuple(levels)))
    return text if len(text) <= 15 else f"{text[:14]}…"
