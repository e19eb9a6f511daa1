"""What a step will take, from what it took: the median of its own nights, and their slow tail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.model.plan_records import StepRecord, StepState
from toolkit.model.records import ItemRecord
from toolkit.model.words import Outcome

_NIGHTS = 30
"""Older nights tell little of tonight."""
_TAIL = 0.9
_DOUBT = 1.5
"""Of fewer than five nights the slowest is taken half as long again: their tail is not known yet."""
_ENOUGH = 5


@dataclass(frozen=True, slots=True)
class Expected:
    """Seconds a step takes: usually, and in nine nights of ten at the most; from so many nights."""

    seconds: float
    slow_seconds: float
    nights: int


def expected(history: Sequence[StepRecord], size_bytes: float | None = None) -> Expected | None:
    """Return what a step will take, or None where no night tells.

    Args:
        history: what became of it, newest first; nights that did not end well do not count.
        size_bytes: what it works on now; where the nights know theirs, times are scaled by it.
    """
    done = [step for step in history if step.state is StepState.DONE and step.elapsed_seconds is not None][
        :_NIGHTS
    ]
    # In one piece only: a step that was stopped and went on another night took longer than its last part.
    seconds = [_scaled(step, size_bytes) for step in done if step.reason is None]
    if not seconds:
        return None
    ordered = sorted(seconds)
    usual = _quantile(ordered, 0.5)
    slow = _quantile(ordered, _TAIL) if len(ordered) >= _ENOUGH else ordered[-1] * _DOUBT
    return Expected(usual, max(slow, usual), len(ordered))


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


def _scaled(step: StepRecord, size_bytes: float | None) -> float:
    seconds = step.elapsed_seconds or 0.0
    if not size_bytes or not step.size_bytes:
        return seconds
    return seconds * size_bytes / step.size_bytes


def _quantile(ordered: Sequence[float], part: float) -> float:
    """Return a quantile by linear interpolation between the nights (Hyndman and Fan, type 7)."""
    place = part * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
