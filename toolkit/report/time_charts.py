"""Charts against the clock: the host while the run went on, and the trials in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from toolkit.analysis.cells import RunAnalysis
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.words import Outcome
from toolkit.report.chart import (
    BOTTOM,
    LEFT,
    MOST_MARKS,
    MOST_SERIES,
    RIGHT,
    TOP,
    Chart,
    Legend,
    Line,
    Mark,
    thin,
    thinned_note,
)
from toolkit.report.safe import clean
from toolkit.report.scales import Scale, linear
from toolkit.report.tables import Table, left, right, table
from toolkit.units import TimeUnit, byte_size, number, percent, quantity, seconds, time_unit

_MOST_PANELS = 4


@dataclass(frozen=True, slots=True)
class _Trace:
    """One sampled metric over the run: seconds since the run began, value, trial."""

    name: str
    points: list[tuple[float, float, int]]


def host_charts(run: RunRecord) -> tuple[Chart, ...]:
    """Return a chart for each unit that was sampled: per cent, bytes, and the rest one by one."""
    panels: dict[str, list[_Trace]] = {}
    for trace in _traces(run):
        panels.setdefault(_panel(trace.name), []).append(trace)
    return tuple(_host_chart(name, traces[:MOST_SERIES]) for name, traces in list(panels.items())[:_MOST_PANELS])


def _traces(run: RunRecord) -> Iterable[_Trace]:
    traces: dict[str, _Trace] = {}
    for trial in sorted(run.trials, key=lambda trial: trial.began_at):
        offset = (trial.began_at - run.head.began_at).total_seconds()
        for sample in trial.samples:
            trace = traces.setdefault(sample.name, _Trace(sample.name, []))
            trace.points.append((offset + sample.at_seconds, sample.value, trial.trial))
    return sorted(traces.values(), key=lambda trace: (_panel(trace.name) != "pct", trace.name))


def _panel(name: str) -> str:
    return next((unit for unit in ("pct", "bytes") if name.endswith(f"_{unit}")), name)


def _host_chart(panel: str, traces: Sequence[_Trace]) -> Chart:
    unit = {"pct": "percent", "bytes": "bytes"}.get(panel, "")
    last = max(point[0] for trace in traces for point in trace.points)
    clock = time_unit((last,))
    x = linear(0.0, last * clock.per_second, LEFT, RIGHT)
    room = max(2, MOST_MARKS // len(traces))
    drawn = [_thinned(trace.points, room) for trace in traces]
    highest = 100.0 if panel == "pct" else max(value for points in drawn for _, value, _ in points)
    y, label = _value_axis(panel, highest)
    lines = [line for index, points in enumerate(drawn) for line in _pieces(points, x, y, clock, index)]
    total, shown = sum(len(trace.points) for trace in traces), sum(map(len, drawn))
    note = (f"drawn as {shown:,} means of the {total:,} samples",) if shown < total else ()
    title = {"pct": "Host CPU during the run", "bytes": "Host I/O during the run"}.get(panel, clean(panel))
    described = "; ".join(f"{clean(trace.name)} {_mean_peak(trace, unit)}" for trace in traces)
    return Chart(
        key=f"host-{'cpu' if panel == 'pct' else 'io' if panel == 'bytes' else 'other'}",
        title=title,
        description=f"Sampled while trials were on the clock: {described}.",
        x_label=f"{clock.label} since the run began",
        y_label=label,
        x=x,
        y=y,
        lines=tuple(lines),
        legend=tuple(Legend(clean(trace.name), index, look="series") for index, trace in enumerate(traces)),
        notes=note,
        table=_host_table(title, traces, unit),
    )


def _value_axis(panel: str, highest: float) -> tuple[Scale, str]:
    if panel != "bytes":
        return linear(0.0, highest, BOTTOM, TOP), "% busy" if panel == "pct" else ""
    divisor, label = next(
        ((size, name) for size, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")) if highest >= size),
        (1, "B"),
    )
    axis = linear(0.0, highest / divisor, BOTTOM, TOP)
    return Scale(0.0, axis.high * divisor, BOTTOM, TOP, axis.ticks), label


def _thinned(points: Sequence[tuple[float, float, int]], room: int) -> list[tuple[float, float, int]]:
    """Average neighbours until the points fit; a mean belongs to the trial of its first sample."""
    if len(points) <= room:
        return list(points)
    size = -(-len(points) // room)
    groups = (points[start : start + size] for start in range(0, len(points), size))
    return [
        (sum(at for at, _, _ in group) / len(group), sum(value for _, value, _ in group) / len(group), group[0][2])
        for group in groups
    ]


def _pieces(
    points: Sequence[tuple[float, float, int]], x: Scale, y: Scale, clock: TimeUnit, index: int
) -> Iterable[Line]:
    """Break the line between trials: nothing was sampled there. Means of whole trials stay joined."""
    pieces: list[list[tuple[float, float]]] = []
    sparse = len({trial for _, _, trial in points}) > len(points) / 2
    last: int | None = None
    for at, value, trial in points:
        if last is None or (trial != last and not sparse):
            pieces.append([])
        pieces[-1].append((x(at * clock.per_second), y(value)))
        last = trial
    # one point has no length: a short dash keeps it visible
    return (
        Line(tuple(piece if len(piece) > 1 else [piece[0], (piece[0][0] + 2, piece[0][1])]), index)
        for piece in pieces
    )


def _mean_peak(trace: _Trace, unit: str) -> str:
    values = [value for _, value, _ in trace.points]
    return f"mean {_spell(sum(values) / len(values), unit)}, peak {_spell(max(values), unit)}"


def _spell(value: float, unit: str) -> str:
    return percent(value) if unit == "percent" else byte_size(value) if unit == "bytes" else quantity(value, unit)


def _host_table(title: str, traces: Sequence[_Trace], unit: str) -> Table:
    rows = []
    for trace in traces:
        values = [value for _, value, _ in trace.points]
        mean = sum(values) / len(values)
        spelled = (_spell(value, unit) for value in (min(values), mean, max(values)))
        rows.append([trace.name, number(len(values)), *spelled])
    return table(title, left("sampled") + right("samples", "least", "mean", "peak"), rows)


def order_chart(found: RunAnalysis) -> Chart | None:
    """Return the trials in time order, each against the median of its cell, so that drift shows."""
    trials = sorted(found.run.trials, key=lambda trial: (trial.began_at, trial.trial))
    medians = {cell: median(summary.seconds) for cell, summary in found.by_cell.items() if summary.seconds}
    if len(trials) < 3 or not medians:
        return None
    begin = found.run.head.began_at
    at = [(trial.began_at - begin).total_seconds() for trial in trials]
    clock = time_unit(at)
    x = linear(0.0, max(at) * clock.per_second, LEFT, RIGHT)
    levels = [_level(trial, medians.get(trial.cell)) for trial in trials]
    known = [level for level in levels if level is not None]
    # zoomed in on the drift; a trial without a time stands on the axis
    y = linear(max(0.0, min([95.0, *known]) - 5), max([105.0, *known]), BOTTOM, TOP)
    marks = [
        _order_mark(trial, x(when * clock.per_second), y, level)
        for trial, when, level in zip(trials, at, levels, strict=True)
    ]
    notable = [index for index, mark in enumerate(marks) if mark.look != "mid"]
    drawn = thin(marks, MOST_MARKS, notable[: MOST_MARKS // 2])
    return Chart(
        key="order",
        title="Trials in time order",
        description=_describe_order(trials, levels),
        x_label=f"{clock.label} since the run began",
        y_label="% of cell median",
        x=x,
        y=y,
        lines=(Line(((LEFT, y(100.0)), (RIGHT, y(100.0))), 0, "ideal"),),
        marks=tuple(drawn),
        legend=_order_legend(drawn),
        notes=thinned_note(len(drawn), len(marks)),
        table=_sweeps_table(trials, levels),
    )


def _level(trial: TrialRecord, middle: float | None) -> float | None:
    return None if trial.elapsed_seconds is None or middle is None else trial.elapsed_seconds / middle * 100


_LOOKS = {
    "mid": ("counted", 0, "circle"),
    "hollow": ("warm-up", 3, "diamond"),
    "disturbed": ("disturbed, not counted", 2, "triangle"),
    "bad": ("not ok", 1, "cross"),
}


def _look(trial: TrialRecord) -> str:
    if trial.outcome is not Outcome.OK or trial.elapsed_seconds is None:
        return "bad"
    return "hollow" if trial.warmup else "disturbed" if trial.disturbed else "mid"


def _order_mark(trial: TrialRecord, x: float, y: Scale, level: float | None) -> Mark:
    look = _look(trial)
    _, series, shape = _LOOKS[look]
    took = seconds(trial.elapsed_seconds) if trial.elapsed_seconds is not None else trial.outcome.value
    label = f"trial {trial.trial}, {clean(str(trial.cell))}: {took}"
    return Mark(x, y(0.0 if level is None else level), shape, series, look, label)


def _order_legend(marks: Iterable[Mark]) -> tuple[Legend, ...]:
    looks = {mark.look for mark in marks}
    return tuple(
        Legend(label, series, shape, look) for look, (label, series, shape) in _LOOKS.items() if look in looks
    )


def _describe_order(trials: Sequence[TrialRecord], levels: Sequence[float | None]) -> str:
    known = [level for trial, level in zip(trials, levels, strict=True) if trial.counts and level is not None]
    apart = sum(not trial.counts for trial in trials)
    return (
        f"{len(trials)} trials, each as a share of the median of its cell: "
        f"from {percent(min(known))} to {percent(max(known))}; {apart} trials do not count."
    )


def _sweeps_table(trials: Sequence[TrialRecord], levels: Sequence[float | None]) -> Table:
    """Return the drift sweep by sweep: the single trials stand in the table of trials."""
    sweeps: dict[int, list[float]] = {}
    aside: dict[int, int] = {}
    for trial, level in zip(trials, levels, strict=True):
        sweeps.setdefault(trial.repeat, [])
        aside.setdefault(trial.repeat, 0)
        if level is not None and _look(trial) in {"mid", "hollow"}:
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
    return table("Trials in time order, % of the cell's median", columns, rows)
