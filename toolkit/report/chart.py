"""A chart as plain values: where each mark, bar and line stands, and where the ticks of an axis are.

The templates only write it down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from toolkit.report.tables import Table


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis (pixels) and its label."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """A mapping of `low..high` to `begin..end` pixels, straight or by the logarithm."""

    low: float
    high: float
    begin: float
    end: float
    ticks: tuple[Tick, ...]
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a value in pixels; values off the axis stay at its ends."""
        return place(self, min(max(value, self.low), self.high))


def place(scale: Scale, value: float) -> float:
    """Return the place of a value, rounded to a tenth of a pixel."""
    turn = math.log if scale.logarithmic else float
    share = (turn(value) - turn(scale.low)) / ((turn(scale.high) - turn(scale.low)) or 1.0)
    return round(scale.begin + share * (scale.end - scale.begin), 1)


def linear(low: float, high: float, begin: float, end: float, *, most: int = 6, least: float = 0.0) -> Scale:
    """Return a straight axis with round ticks that reach to the ends, at least `least` apart.

    Steps of 1, 2 or 5 times a power of ten: Heckbert, *Nice Numbers for Graph Labels*, Graphics Gems (1990).
    """
    high = high if high > low else low + 1
    step = max(_nice((high - low) / max(most - 1, 1)), least)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    bare = Scale(first * step, last * step, begin, end, ())
    ticks = tuple(Tick(place(bare, index * step), label(index * step)) for index in range(first, last + 1))
    return Scale(bare.low, bare.high, begin, end, ticks)


def _nice(step: float) -> float:
    power: float = 10 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def label(value: float) -> str:
    """Spell a tick, without zeros after the point; from a million on with M and G for a million and a billion."""
    for size, unit in ((1e9, " G"), (1e6, " M")):
        if abs(value) >= size:
            return f"{value / size:,.6g}{unit}"
    return f"{value:,.6g}"


def doubling(low: float, high: float, begin: float, end: float, *, values: Sequence[float] = ()) -> Scale:
    """Return a log2 axis; ticks at `values` where given, else at the powers of two."""
    bare = Scale(low, high if high > low else low * 2, begin, end, (), logarithmic=True)
    first, last = math.ceil(math.log2(bare.low) - 1e-9), math.floor(math.log2(bare.high) + 1e-9)
    wanted = values or [2.0**power for power in range(first, last + 1)]
    ticks = [Tick(place(bare, value), label(value)) for value in wanted]
    return Scale(bare.low, bare.high, begin, end, _apart(ticks), logarithmic=True)


def _apart(ticks: Sequence[Tick], least: float = 22.0) -> tuple[Tick, ...]:
    """Leave out labels that would run into their neighbour; the tick itself stays."""
    kept: list[Tick] = []
    last = -math.inf
    for tick in sorted(ticks, key=lambda tick: tick.place):
        shown = tick.place - last >= least
        kept.append(tick if shown else Tick(tick.place, ""))
        last = tick.place if shown else last
    return tuple(kept)


def named(labels: Sequence[str], begin: float, end: float) -> Scale:
    """Return an axis of names, evenly spaced: the value of a name is its index."""
    margin = 0.5
    bare = Scale(-margin, len(labels) - 1 + margin, begin, end, ())
    width = (end - begin) / max(len(labels), 1)
    longest = max(3, int(width / 7))
    ticks = tuple(Tick(place(bare, index), _cut(label, longest)) for index, label in enumerate(labels))
    return Scale(bare.low, bare.high, begin, end, ticks)


_DAY = 86400
_STEPS = (
    1, 2, 5, 10, 30, 60, 120, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600,
    _DAY, 2 * _DAY, 5 * _DAY, 10 * _DAY, 30 * _DAY, 90 * _DAY, 180 * _DAY, 365 * _DAY,
)  # fmt: skip
"""Each is at most three times the one before, so that no axis has fewer than two ticks."""
_MOST_TIMES = 8
_LEAST_SECONDS = 4


def time_axis(low: float, high: float, begin: float, end: float) -> Scale:
    """Return an axis of time, in seconds since 1970, with ticks at round times of day and days."""
    high = max(high, low + _LEAST_SECONDS)
    step = next((step for step in _STEPS if (high - low) / step <= _MOST_TIMES), (high - low) / _MOST_TIMES)
    bare = Scale(low, high, begin, end, ())
    shorter = "%H:%M:%S" if step < 60 else "%m-%d %H:%M" if step < _DAY else "%m-%d"
    spelled = shorter if step < 30 * _DAY else "%Y-%m-%d"
    at, ticks = math.ceil(low / step) * step, []
    while at <= high:
        ticks.append(Tick(place(bare, at), f"{datetime(1970, 1, 1) + timedelta(seconds=at):{spelled}}"))
        at += step
    return Scale(low, high, begin, end, tuple(ticks))


def _cut(label: str, longest: int) -> str:
    return label if len(label) <= longest else f"{label[: longest - 1]}…"


# -- figures ----------------------------------------------------------------------------------------------------
WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 72.0, 456.0, 16.0, 252.0
"""The frame of the plot within the drawing, unless a chart has one of its own."""

MOST_MARKS = 400
MOST_SERIES = 8

SHAPES = {
    "circle": "M-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0z",
    "square": "M-3.5-3.5h7v7h-7z",
    "triangle": "M0-4.6L4.4 3.6H-4.4z",
    "diamond": "M0-4.9L4.4 0L0 4.9L-4.4 0z",
    "down": "M0 4.6L4.4-3.6H-4.4z",
    "plus": "M-1.7-5.2h3.4v3.5h3.5v3.4h-3.5v3.5h-3.4v-3.5h-3.5v-3.4h3.5z",
    "hexagon": "M-2.6-4.6h5.2L5.3 0L2.6 4.6h-5.2L-5.3 0z",
    "star": "M0-6L1.6-1.9L6-1.6L2.6 1.2L3.7 5.4L0 3L-3.7 5.4L-2.6 1.2L-6-1.6L-1.6-1.9z",
    "cross": "M-4.2-4.2L4.2 4.2M4.2-4.2L-4.2 4.2",
    "dot": "M-2.7 0a2.7 2.7 0 1 0 5.4 0a2.7 2.7 0 1 0-5.4 0z",
}
SERIES_SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "hexagon", "star")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A sign on the plot; `look` is a class of the style sheet (`raw`, `mid`, `hollow`, `bad`)."""

    x: float
    y: float
    shape: str
    series: int
    look: str = "mid"
    label: str = ""


@dataclass(frozen=True, slots=True)
class ChartInterval:
    """An interval: a bar with caps, upright at `x`, or `flat` at the height `x`."""

    x: float
    low: float
    high: float
    series: int
    flat: bool = False


@dataclass(frozen=True, slots=True)
class ChartSpan:
    """A piece of work on a time axis: from `begin` to `end` at the height `y`; `look` is nothing or `bad`."""

    begin: float
    end: float
    y: float
    height: float
    series: int
    label: str = ""
    look: str = ""

    @property
    def width(self) -> float:
        """Pixels; never so few that it cannot be seen."""
        return max(1.0, round(self.end - self.begin, 1))


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line through points; `look` is `series`, `ideal`, `level`, `law` or `ceiling`."""

    points: tuple[tuple[float, float], ...]
    series: int = 0
    look: str = "series"

    @property
    def text(self) -> str:
        """The points as SVG writes them."""
        return " ".join(f"{x:g},{y:g}" for x, y in self.points)


@dataclass(frozen=True, slots=True)
class ChartLabel:
    """A few words on the plot."""

    x: float
    y: float
    text: str
    anchor: str = "middle"
    look: str = ""
    """`on` where it stands on a coloured piece."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a drawing and the plot within it, in pixels."""

    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    bottom: float = BOTTOM


@dataclass(frozen=True, slots=True)
class Legend:
    """One entry of the legend."""

    label: str
    series: int = 0
    shape: str = ""
    look: str = "mid"


@dataclass(frozen=True, slots=True)
class Chart:
    """One drawing with its words and the same numbers as a table."""

    key: str
    title: str
    description: str
    x_label: str
    y_label: str
    x: Scale
    y: Scale
    lines: tuple[ChartLine, ...] = ()
    bars: tuple[ChartInterval, ...] = ()
    spans: tuple[ChartSpan, ...] = ()
    marks: tuple[ChartMark, ...] = ()
    words: tuple[ChartLabel, ...] = ()
    legend: tuple[Legend, ...] = ()
    frame: Frame = Frame()
    notes: tuple[str, ...] = ()
    table: Table | None = None
    bare: bool = False
    """Whether it has no grid: its cells stand for themselves."""


def thin(values: Sequence[T], most: int, keep: Sequence[int] = ()) -> list[T]:
    """Return at most `most` values, evenly taken in their order; the indexes of `keep` come first."""
    if len(values) <= most:
        return list(values)
    chosen = set(list(keep)[:most])
    room = most - len(chosen)
    chosen.update(round(step * (len(values) - 1) / max(room - 1, 1)) for step in range(room))
    return [values[index] for index in sorted(chosen)]


def thinned_note(shown: int, total: int) -> tuple[str, ...]:
    """Say that not every trial is drawn."""
    return () if shown >= total else (f"the chart shows {shown:,} of {total:,} trials; the table has all of them",)
