"""A chart as plain values: where each mark, bar and line stands. The templates only write it down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from toolkit.report.scales import Scale
from toolkit.report.tables import Table

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 58.0, 468.0, 16.0, 252.0
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
    """A line through points; `look` is `series`, `ideal` or `level`."""

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
    return () if shown >= total else (f"{shown:,} of {total:,} trials are drawn; the table has all of them",)
