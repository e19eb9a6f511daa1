"""Values in narrow tables: text that people can query, beside the type that makes it a value again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from toolkit.model.records import Sample
from toolkit.model.values import Scalar, spell_level

SAMPLES_KEPT = 600


def pack(value: Scalar) -> tuple[str | None, str]:
    """Return the text of a value and the name of its type."""
    if value is None:
        return None, "null"
    if isinstance(value, bool):
        return spell_level(value), "boolean"
    if isinstance(value, int):
        return str(value), "integer"
    if isinstance(value, float):
        return repr(value), "real"
    return value, "text"


def unpack(text: str | None, kind: str) -> Scalar:
    """Return the value that `pack` took apart."""
    if text is None:
        return None
    if kind == "boolean":
        return text == "yes"
    if kind == "integer":
        return int(text)
    return float(text) if kind == "real" else text


def instant_text(instant: datetime) -> str:
    """Write an aware instant as UTC in ISO 8601, always with microseconds, so that text order is time order."""
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def instant_of(text: str) -> datetime:
    """Read what `instant_text` wrote."""
    return datetime.fromisoformat(text)


def finite(value: float) -> bool:
    """Tell whether it is a number: a quantity that is not is unknown, and what is unknown is not stored."""
    return math.isfinite(value)


def thin(samples: Iterable[Sample], limit: int = SAMPLES_KEPT) -> list[Sample]:
    """Return at most `limit` points of each name, the lowest and the highest of each stretch of time.

    Taking every n-th point would lose the peaks, which are what one looks at samples for.
    """
    series: dict[str, list[Sample]] = {}
    for sample in samples:
        if finite(sample.value):
            series.setdefault(sample.name, []).append(sample)
    return [sample for points in series.values() for sample in _thin_series(points, limit)]


def _thin_series(points: Sequence[Sample], limit: int) -> Sequence[Sample]:
    if len(points) <= limit:
        return points
    stretches = limit // 2
    edges = [len(points) * number // stretches for number in range(stretches + 1)]
    return [sample for begin, end in pairwise(edges) for sample in _extremes(points[begin:end])]


def _extremes(stretch: Sequence[Sample]) -> list[Sample]:
    low = min(range(len(stretch)), key=lambda at: stretch[at].value)
    high = max(range(len(stretch)), key=lambda at: stretch[at].value)
    return [stretch[at] for at in sorted({low, high})]
