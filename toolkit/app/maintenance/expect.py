"""What a step will take, from what it took: the median of its own nights, and their slow tail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.model.plan import StepRecord, StepState
from toolkit.model.records import ItemRecord
from toolkit.model.words import Outcome
from toolkit.units import byte_size, counted, number

_NIGHTS = 30
"""Older nights tell little of tonight."""
_TAIL = 0.9
_DOUBT = 1.5
"""Of fewer than five nights the slowest is taken half as long again: their tail is not known yet."""
_ENOUGH = 5


_MOST_SCALED = 10.0
"""Sizes may be estimates of the catalogue's: a time is scaled to ten times or to a tenth, not further."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a step works on, as far as the catalogue tells."""

    bytes: float | None = None
    rows: float | None = None


UNKNOWN = Size()


@dataclass(frozen=True, slots=True)
class ExpectedDuration:
    """Seconds a step takes: usually, and in nine nights of ten at the most; from so many nights."""

    seconds: float
    slow_seconds: float
    nights: int
    scaled: str | None = None
    """What the times were scaled by, with both sizes; None where they are as they were."""

    @property
    def basis(self) -> str:
        """Return what this is told from, as words for a parenthesis."""
        told = f"{counted(self.nights, 'night')} known"
        return told if self.scaled is None else f"{told}, {self.scaled}"


def expected(history: Sequence[StepRecord], size: Size = UNKNOWN) -> ExpectedDuration | None:
    """Return what a step will take, or None where no night tells.

    Args:
        history: what became of it, newest first; nights that did not end well do not count.
        size: what it works on now; where the nights know theirs, times are scaled by its bytes, else by its rows.
    """
    done = [step for step in history if step.state is StepState.DONE and step.elapsed_seconds is not None][
        :_NIGHTS
    ]
    # In one piece only: a step that was stopped and went on another night took longer than its last part.
    done = [step for step in done if step.reason is None]
    if not done:
        return None
    ordered = sorted((step.elapsed_seconds or 0.0) * _factor(step, size) for step in done)
    usual = _quantile(ordered, 0.5)
    slow = _quantile(ordered, _TAIL) if len(ordered) >= _ENOUGH else ordered[-1] * _DOUBT
    return ExpectedDuration(usual, max(slow, usual), len(ordered), _said(done[0], size))


def slow_items(nights: Sequence[Sequence[ItemRecord]]) -> dict[str, float]:
    """Return the seconds that each item (an index, a table) took at the most in some nights, with room for doubt.

    Args:
        nights: the items of each night, newest first; those that did not end well do not count.
    """
    seconds: dict[str, list[float]] = {}
    for items in nights:
        for item in items:
            if item.outcome is Outcome.OK and item.elapsed_seconds is not None:
                seconds.setdefault(item.label, []).append(item.elapsed_seconds)
    return {label: max(each) * (1.0 if len(each) >= _ENOUGH else _DOUBT) for label, each in seconds.items()}


def _factor(step: StepRecord, size: Size) -> float:
    """Return by what the time of a night is multiplied for the size of now."""
    for now, then in ((size.bytes, step.size_bytes), (size.rows, step.size_rows)):
        if now and then:
            return min(_MOST_SCALED, max(1 / _MOST_SCALED, now / then))
    return 1.0


def _said(last: StepRecord, size: Size) -> str | None:
    """Say what times were scaled by, from the size of the last night to that of now."""
    if size.bytes and last.size_bytes:
        return f"scaled from {byte_size(last.size_bytes)} to {byte_size(size.bytes)}"
    if size.rows and last.size_rows:
        return f"scaled from {number(last.size_rows)} to {number(size.rows)} rows"
    return None


def _quantile(ordered: Sequence[float], part: float) -> float:
    """Return a quantile by linear interpolation between the nights (Hyndman and Fan, type 7)."""
    place = part * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
