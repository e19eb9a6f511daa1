"""Charts of what was sampled while the run went on: CPU, disk rates, memory, workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolkit.model.records import RunRecord
from toolkit.report.chart import (
    BOTTOM,
    LEFT,
    MOST_MARKS,
    MOST_SERIES,
    RIGHT,
    SERIES_SHAPES,
    TOP,
    Chart,
    ChartLine,
    ChartMark,
    Legend,
    Scale,
    linear,
)
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.units import TimeUnit, count, number, quantity, time_unit

_MOST_PANELS = 6


@dataclass(frozen=True, slots=True)
class _Panel:
    """Samples of one kind, drawn on one axis; `unit` as `units.quantity` knows it."""

    key: str
    title: str
    unit: str
    axis: str


_CPU = _Panel("cpu", "CPU during the run", "percent", "% of all CPUs")
_DISK = _Panel("disk", "Disk throughput during the run", "bytes/s", "/s")
_MEMORY = _Panel("memory", "Memory and temporary space during the run", "bytes", "")
_SESSIONS = _Panel("sessions", "Parallel workers and sessions during the run", "count", "count")

_WAITS = _Panel("waits", "Waits of dbatk's sessions during the run", "count", "sessions")
_KNOWN = (_CPU, _DISK, _MEMORY, _SESSIONS, _WAITS)
_LABELS = {
    "waiting_not": "working, not waiting",
    "waiting_io": "waiting for I/O",
    "waiting_ipc": "waiting for another process",
    "waiting_lwlock": "waiting for a light-weight lock",
    "waiting_lock": "waiting for a lock",
    "host_cpu_pct": "CPU busy",
    "host_iowait_pct": "CPU waiting for I/O",
    "host_disk_read_bytes_per_s": "disk read",
    "host_disk_write_bytes_per_s": "disk written",
    "host_memory_used_bytes": "host memory used",
    "db_memory_bytes": "database memory",
    "db_temp_bytes": "temporary space",
    "parallel_workers": "parallel workers of one session",
    "parallel_workers_total": "parallel workers",
    "active_sessions": "active sessions of dbatk",
    "other_active_sessions": "active sessions of others",
}

Point = tuple[float, float, int]
"""Seconds since the run began, value, trial."""


@dataclass(frozen=True, slots=True)
class _Trace:
    name: str
    points: list[Point]

    @property
    def label(self) -> str:
        return _LABELS.get(self.name) or clean(self.name)

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
    if name.endswith("_pct"):
        return _CPU
    if name.endswith("_bytes_per_s"):
        return _DISK
    if name.endswith("_bytes"):
        return _MEMORY
    if name.startswith("waiting_"):
        return _WAITS
    if "workers" in name or "sessions" in name:
        return _SESSIONS
    return _Panel(f"other-{clean(name)}", clean(name), "", clean(name))


def _chart(panel: _Panel, traces: Sequence[_Trace]) -> Chart | None:
    drawn_traces = [trace for trace in traces if any(value for _, value, _ in trace.points)][:MOST_SERIES]
    if not drawn_traces:
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
        notes=_notes(traces, drawn_traces, drawn),
        table=_table(panel, traces),
    )


def _notes(
    traces: Sequence[_Trace], drawn_traces: Sequence[_Trace], drawn: Sequence[Sequence[Point]]
) -> tuple[str, ...]:
    total, shown = sum(len(trace.points) for trace in drawn_traces), sum(map(len, drawn))
    notes = [f"drawn as {count(shown)} means of the {count(total)} samples"] if shown < total else []
    zero = [trace.label for trace in traces if not any(value for _, value, _ in trace.points)]
    notes += [f"{', '.join(zero)}: 0 throughout"] if zero else []
    return tuple(notes)


_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def _value_axis(panel: _Panel, highest: float) -> tuple[Scale, str]:
    """Return the axis with round ticks in the unit it is labelled with."""
    if panel is _CPU:
        return linear(0.0, max(100.0, highest), BOTTOM, TOP), panel.axis
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
