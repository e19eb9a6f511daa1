"""The trials in the order run, each against the median of its cell: what drifted, and what stands out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from toolkit.analysis.cells import RunAnalysis
from toolkit.analysis.judged import Judged
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.words import Outcome
from toolkit.report.chart import (
    BOTTOM,
    LEFT,
    MOST_MARKS,
    MOST_SERIES,
    RIGHT,
    SERIES_SHAPES,
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
from toolkit.report.labels import label_of
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.units import TimeUnit, count, counted, number, percent, quantity, time_unit


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
    text = judged.spell(value) if value is not None else trial.outcome.value
    label = f"trial {trial.trial}, {clean(str(trial.cell))}: {text}"
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


_MOST_PANELS = 7


@dataclass(frozen=True, slots=True)
class _Panel:
    """Samples of one kind, drawn on one axis; `unit` as `units.quantity` knows it."""

    key: str
    title: str
    unit: str
    axis: str


_CPU = _Panel("cpu", "CPU during the run", "percent", "% of all CPUs")
_DISK = _Panel("disk", "Disk throughput during the run", "bytes/s", "/s")
_NETWORK = _Panel("network", "Network during the run", "bytes/s", "/s")
_MEMORY = _Panel("memory", "Memory and temporary space during the run", "bytes", "")
_SESSIONS = _Panel("sessions", "Parallel workers and sessions during the run", "count", "count")

_WAITS = _Panel("waits", "Waits of dbatk's sessions during the run", "count", "sessions")
_THROUGHPUT = _Panel("throughput", "Throughput during the run", "1/s", "transactions per second")
_KNOWN = (_THROUGHPUT, _CPU, _DISK, _NETWORK, _MEMORY, _SESSIONS, _WAITS)
_BY_ENDING = {
    "transactions_per_s": _THROUGHPUT, "_pct": _CPU, "_recv_bytes_per_s": _NETWORK, "_sent_bytes_per_s": _NETWORK,
    "_bytes_per_s": _DISK, "_bytes": _MEMORY,
}  # fmt: skip
"""By the first ending that fits."""
Point = tuple[float, float, int]
"""Seconds since the run began, value, trial."""


@dataclass(frozen=True, slots=True)
class _Trace:
    name: str
    points: list[Point]

    @property
    def label(self) -> str:
        return label_of(self.name)

    @property
    def sparse(self) -> bool:
        """Whether most trials were too short for more than one sample: a line would join what is apart."""
        return len({trial for _, _, trial in self.points}) > len(self.points) / 2


def sample_charts(run: RunRecord) -> tuple[Chart, ...]:
    """Return a chart for each kind of sample; what was zero throughout is named, not drawn."""
    panels: dict[_Panel, list[_Trace]] = {}
    for trace in _traces(run):
        panels.setdefault(_panel(trace.name), []).append(trace)
    found = [*(panel for panel in _KNOWN if panel in panels), *(panel for panel in panels if panel not in _KNOWN)]
    charts = (_chart(panel, panels[panel]) for panel in found[:_MOST_PANELS])
    return tuple(chart for chart in charts if chart is not None)


def _traces(run: RunRecord) -> Iterable[_Trace]:
    traces: dict[str, _Trace] = {}
    for trial in sorted(run.trials, key=lambda trial: trial.began_at):
        offset = (trial.began_at - run.head.began_at).total_seconds()
        for sample in trial.samples:
            trace = traces.setdefault(sample.name, _Trace(sample.name, []))
            trace.points.append((offset + sample.at_seconds, sample.value, trial.trial))
    return sorted(traces.values(), key=lambda trace: trace.name)


def _panel(name: str) -> _Panel:
    for ending, panel in _BY_ENDING.items():
        if name.endswith(ending):
            return panel
    if name.startswith("waiting_"):
        return _WAITS
    if "workers" in name or "sessions" in name or name.startswith("working_"):
        return _SESSIONS
    return _Panel(f"other-{clean(name)}", clean(name), "", clean(name))


def _chart(panel: _Panel, traces: Sequence[_Trace]) -> Chart | None:
    moving = [trace for trace in traces if any(value for _, value, _ in trace.points) and len(trace.points) > 1]
    drawn_traces = moving[:MOST_SERIES]
    if not drawn_traces:  # a single sample of each is no chart: it stands among the metrics
        return None
    last = max(point[0] for trace in drawn_traces for point in trace.points)
    clock = time_unit((last,))
    x = linear(0.0, last * clock.per_second, LEFT, RIGHT)
    room = max(2, MOST_MARKS // len(drawn_traces))
    drawn = [_thinned(trace.points, room) for trace in drawn_traces]
    y, label = _value_axis(panel, max(value for points in drawn for _, value, _ in points))
    described = "; ".join(f"{trace.label} {_mean_peak(trace, panel.unit)}" for trace in traces)
    return Chart(
        key=f"host-{panel.key if panel in _KNOWN else 'other'}",
        title=panel.title,
        description=f"Sampled during the timed part of trials: {described}.",
        x_label=f"{clock.label} since the run began",
        y_label=label,
        x=x,
        y=y,
        lines=tuple(
            line
            for index, (trace, points) in enumerate(zip(drawn_traces, drawn, strict=True))
            if not trace.sparse
            for line in _pieces(points, x, y, clock, index)
        ),
        marks=tuple(
            ChartMark(x(at * clock.per_second), y(value), _shape(index), index)
            for index, (trace, points) in enumerate(zip(drawn_traces, drawn, strict=True))
            if trace.sparse
            for at, value, _ in points
        ),
        legend=tuple(
            Legend(trace.label, index, _shape(index) if trace.sparse else "", "mid" if trace.sparse else "series")
            for index, trace in enumerate(drawn_traces)
        ),
        notes=_notes(panel, traces, drawn_traces, drawn),
        table=_table(panel, traces),
    )


def _notes(
    panel: _Panel, traces: Sequence[_Trace], drawn_traces: Sequence[_Trace], drawn: Sequence[Sequence[Point]]
) -> tuple[str, ...]:
    total, shown = sum(len(trace.points) for trace in drawn_traces), sum(map(len, drawn))
    notes = [f"drawn as {count(shown)} means of the {count(total)} samples"] if shown < total else []
    zero = [trace.label for trace in traces if not any(value for _, value, _ in trace.points)]
    notes += [f"{', '.join(zero)}: 0 throughout"] if zero else []
    notes += [
        f"{trace.label}: {quantity(trace.points[0][1], panel.unit)} in its only sample"
        for trace in traces
        if len(trace.points) == 1 and trace.points[0][1]
    ]
    return tuple(notes)


_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def _value_axis(panel: _Panel, highest: float) -> tuple[Scale, str]:
    """Return the axis with round ticks in the unit it is labelled with."""
    if panel is _CPU:  # a share measured between two clocks may come out a little above all of it
        return linear(0.0, 100.0, BOTTOM, TOP), panel.axis
    if panel.unit == "count":
        return linear(0.0, highest, BOTTOM, TOP, least=1.0), panel.axis
    if not panel.unit.startswith("bytes"):
        return linear(0.0, highest, BOTTOM, TOP), panel.axis
    divisor, label = next(((size, name) for size, name in _SIZES if highest >= size), (1, "B"))
    axis = linear(0.0, highest / divisor, BOTTOM, TOP)
    return Scale(0.0, axis.high * divisor, BOTTOM, TOP, axis.ticks), f"{label}{panel.axis}"


def _thinned(points: Sequence[Point], room: int) -> list[Point]:
    """Average neighbours until the points fit; a mean belongs to the trial of its first sample."""
    if len(points) <= room:
        return list(points)
    size = -(-len(points) // room)
    groups = (points[start : start + size] for start in range(0, len(points), size))
    return [
        (sum(at for at, _, _ in group) / len(group), sum(value for _, value, _ in group) / len(group), group[0][2])
        for group in groups
    ]


def _pieces(points: Sequence[Point], x: Scale, y: Scale, clock: TimeUnit, index: int) -> Iterable[ChartLine]:
    """Break the line between trials: nothing was sampled there."""
    pieces: list[list[tuple[float, float]]] = []
    last: int | None = None
    for at, value, trial in points:
        if trial != last:
            pieces.append([])
        pieces[-1].append((x(at * clock.per_second), y(value)))
        last = trial
    # one point has no length: a short dash keeps it visible
    return (
        ChartLine(tuple(piece if len(piece) > 1 else [piece[0], (piece[0][0] + 2, piece[0][1])]), index)
        for piece in pieces
    )


def _shape(index: int) -> str:
    return SERIES_SHAPES[index % len(SERIES_SHAPES)]


def _mean_peak(trace: _Trace, unit: str) -> str:
    values = [value for _, value, _ in trace.points]
    return f"mean {quantity(sum(values) / len(values), unit)}, peak {quantity(max(values), unit)}"


def _table(panel: _Panel, traces: Sequence[_Trace]) -> Table:
    rows = []
    for trace in traces:
        values = [value for _, value, _ in trace.points]
        spelled = (quantity(value, panel.unit) for value in (min(values), sum(values) / len(values), max(values)))
        rows.append([trace.label, number(len(values)), *spelled])
    return table(panel.title, left("sampled") + right("samples", "least", "mean", "peak"), rows)
