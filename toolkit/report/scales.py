"""Axes: from a value to a place on the page, and where the ticks stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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


def linear(low: float, high: float, begin: float, end: float, *, most: int = 6) -> Scale:
    """Return a straight axis with round ticks that reach to the ends.

    Steps of 1, 2 or 5 times a power of ten: Heckbert, *Nice Numbers for Graph Labels*, Graphics Gems (1990).
    """
    high = high if high > low else low + 1
    step = _nice((high - low) / max(most - 1, 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    bare = Scale(first * step, last * step, begin, end, ())
    ticks = tuple(Tick(place(bare, index * step), label(index * step)) for index in range(first, last + 1))
    return Scale(bare.low, bare.high, begin, end, ticks)


def _nice(step: float) -> float:
    power: float = 10 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def label(value: float) -> str:
    """Spell a tick, without zeros after the point."""
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


def _cut(label: str, longest: int) -> str:
    return label if len(label) <= longest else f"{label[: longest - 1]}…"
