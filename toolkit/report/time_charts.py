"""The trials in the order run, each against the median of its cell: what drifted, and what stands out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from toolkit.analysis.cells import RunAnalysis
from toolkit.analysis.judged import Judged
from toolkit.model.records import TrialRecord
from toolkit.model.words import Outcome
from toolkit.report.chart import (
    BOTTOM,
    LEFT,
    MOST_MARKS,
    RIGHT,
    TOP,
    Chart,
    ChartLabel,
    ChartLine,
    ChartMark,
    Legend,
    Scale,
    linear,
    thin,
    thinned_note,
)
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.units import counted, number, percent, time_unit


def order_chart(found: RunAnalysis) -> Chart | None:
    """Return the trials in time order, each against the median of its cell, so that drift shows."""
    trials = sorted(found.run.trials, key=lambda trial: (trial.began_at, trial.trial))
    medians = {cell: median(summary.values) for cell, summary in found.by_cell.items() if summary.values}
    # with one trial a cell each is its own median: nothing to see
    if len(trials) < 3 or all(summary.n < 2 for summary in found.cells):
        return None
    begin = found.run.head.began_at
    at = [(trial.began_at - begin).total_seconds() for trial in trials]
    clock = time_unit(at)
    x = linear(0.0, max(at) * clock.per_second, LEFT, RIGHT)
    levels = [_level(found.judged.of(trial), medians.get(trial.cell)) for trial in trials]
    known = [level for level in levels if level is not None]
    # zoomed in on the drift; a trial without a time stands on the axis, one far off at the top with its number
    cut = _cut(known)
    y = linear(
        max(0.0, min([95.0, *known]) - 5), max([105.0, *(level for level in known if level <= cut)]), BOTTOM, TOP
    )
    over = [level if level is not None and level > y.high else None for level in levels]
    marks = [
        _order_mark(found.judged, trial, x(when * clock.per_second), y, level)
        for trial, when, level in zip(trials, at, levels, strict=True)
    ]
    notable = [index for index, mark in enumerate(marks) if mark.look != "mid"]
    drawn = thin(marks, MOST_MARKS, notable[: MOST_MARKS // 2])
    return Chart(
        key="order",
        title="Trials in time order",
        description=_describe_order(trials, levels),
        x_label=f"{clock.label} since the run began",
        y_label="% of the median",
        x=x,
        y=y,
        lines=(ChartLine(((LEFT, y(100.0)), (RIGHT, y(100.0))), 0, "ideal"),),
        marks=tuple(drawn),
        legend=_order_legend(drawn),
        words=_numbers_at_the_top([mark.x for mark in marks], over),
        notes=(*thinned_note(len(drawn), len(marks)), *_over_note(trials, over)),
        table=_sweeps_table(found.judged, trials, levels),
    )


def _cut(levels: Sequence[float]) -> float:
    """Return the level above which a trial stands apart, so that it does not flatten the rest.

    Four times the median distance from 100 %, but never below the ninth decile nor below 125 %; nothing is cut
    that would less than double the axis.
    """
    ordered = sorted(levels)
    typical = median(abs(level - 100) for level in ordered)
    cut = max(125.0, 100 + 4 * typical, ordered[math.ceil(0.9 * len(ordered)) - 1] if len(ordered) > 9 else 0.0)
    return cut if ordered[-1] - 100 > 2 * (cut - 100) else ordered[-1]


def _numbers_at_the_top(places: Sequence[float], over: Sequence[float | None]) -> tuple[ChartLabel, ...]:
    """Write the level beside each trial that is off the top, where there is room for it."""
    words: list[ChartLabel] = []
    for x, level in zip(places, over, strict=True):
        free = not words or abs(words[-1].x - x) >= 66
        if level is not None and free:
            at_end = x > RIGHT - 70
            words.append(
                ChartLabel(x + (-9 if at_end else 9), TOP + 5, f"↑ {percent(level)}", "end" if at_end else "start")
            )
    return tuple(words)


def _over_note(trials: Sequence[TrialRecord], over: Sequence[float | None]) -> tuple[str, ...]:
    found = [
        f"trial {trial.trial} at {percent(level)}" for trial, level in zip(trials, over, strict=True) if level
    ]
    if not found:
        return ()
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return (f"above the scale: {', '.join(found[:5])}{more}",)


def _level(value: float | None, middle: float | None) -> float | None:
    return None if value is None or middle is None else value / middle * 100


_LOOKS = {
    "mid": ("counted", 0, "circle"),
    "hollow": ("warm-up", 3, "diamond"),
    "disturbed": ("disturbed, not counted", 2, "triangle"),
    "bad": ("not ok", 1, "cross"),
}


def _look(judged: Judged, trial: TrialRecord) -> str:
    if trial.outcome is not Outcome.OK or judged.of(trial) is None:
        return "bad"
    return "hollow" if trial.warmup else "disturbed" if trial.disturbed else "mid"


def _order_mark(judged: Judged, trial: TrialRecord, x: float, y: Scale, level: float | None) -> ChartMark:
    look = _look(judged, trial)
    _, series, shape = _LOOKS[look]
    value = judged.of(trial)
    told = judged.spell(value) if value is not None else trial.outcome.value
    label = f"trial {trial.trial}, {clean(str(trial.cell))}: {told}"
    return ChartMark(x, y(0.0 if level is None else level), shape, series, look, label)


def _order_legend(marks: Iterable[ChartMark]) -> tuple[Legend, ...]:
    looks = {mark.look for mark in marks}
    return tuple(
        Legend(label, series, shape, look) for look, (label, series, shape) in _LOOKS.items() if look in looks
    )


def _describe_order(trials: Sequence[TrialRecord], levels: Sequence[float | None]) -> str:
    known = [level for trial, level in zip(trials, levels, strict=True) if trial.counts and level is not None]
    apart = sum(not trial.counts for trial in trials)
    return (
        f"{counted(len(trials), 'trial')}, each as a share of the median of its configuration: "
        f"from {percent(min(known))} to {percent(max(known))}; {apart} {'does' if apart == 1 else 'do'} not count."
    )


def _sweeps_table(judged: Judged, trials: Sequence[TrialRecord], levels: Sequence[float | None]) -> Table:
    """Return the drift sweep by sweep: the single trials stand in the table of trials."""
    sweeps: dict[int, list[float]] = {}
    aside: dict[int, int] = {}
    for trial, level in zip(trials, levels, strict=True):
        sweeps.setdefault(trial.repeat, [])
        aside.setdefault(trial.repeat, 0)
        if level is not None and _look(judged, trial) in {"mid", "hollow"}:
            sweeps[trial.repeat].append(level)
        else:
            aside[trial.repeat] += 1
    rows = []
    for repeat in thin(sorted(sweeps), 40):
        found = sweeps[repeat]
        spelled = [percent(value) for value in (min(found), median(found), max(found))] if found else ["-"] * 3
        rows.append(
            ["warm-up" if repeat == 0 else str(repeat), number(len(found)), *spelled, number(aside[repeat])]
        )
    columns = left("sweep") + right("trials", "least", "median", "most", "left out")
    return table("Trials in time order, % of the configuration's median", columns, rows)
