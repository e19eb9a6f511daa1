"""Where a series of numbers changed its level: a rank test, applied again to both sides of each change found.

The statistic is that of A. N. Pettitt, *A Non-Parametric Approach to the Change-Point Problem*, Applied
Statistics 28 (1979), 126-135, standardised for where the split lies as in B. Lausen and M. Schumacher,
*Maximally Selected Rank Statistics*, Biometrics 48 (1992), 73-85, so that changes near the ends are found too.
It looks at ranks only: a single peak makes no change, and no distribution is assumed. Its significance is taken
from permutations of the series itself, which holds for short series. Points that follow upon each other closely
are more alike than permuted ones, so the level required is strict, and the levels on both sides must differ by
enough to matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


FEWEST = 10
"""Points: with fewer, even a perfect step is found by chance more than once in a hundred series."""
_PERMUTATIONS = 999
_LEVEL = 0.01
_LEAST_SIDE = 3
_LEAST_CHANGE = 0.2
_SEED = 20260101


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of level: it begins with the point at `index`; medians on both sides up to the next change."""

    index: int
    before: float
    after: float
    p: float


def computable() -> bool:
    """Whether numpy is installed, which the permutations need."""
    return find_spec("numpy") is not None


def shifts(values: Sequence[float | None]) -> list[Shift]:
    """Return the changes of level of a series, in its order; missing values are left out.

    Returns:
        Nothing where there are fewer than `FEWEST` values, which are too few to judge, and nothing without numpy.
    """
    known = [(index, value) for index, value in enumerate(values) if value is not None]
    if len(known) < FEWEST or not computable():
        return []
    import numpy as np

    series = np.array([value for _, value in known])
    generator = np.random.default_rng(_SEED)
    places: list[tuple[int, float]] = []
    pending = [(0, len(series))]
    while pending:
        begin, end = pending.pop()
        if end - begin < FEWEST:
            continue
        p = _pettitt(series[begin:end], generator)
        if p <= _LEVEL:
            place = _split(series[begin:end])
            places.append((begin + place, p))
            pending += [(begin, begin + place), (begin + place, end)]
    places.sort()
    borders = [0, *(place for place, _ in places), len(series)]
    found = []
    for at, (place, p) in enumerate(places, 1):
        before = float(median(series[borders[at - 1] : place]))
        after = float(median(series[place : borders[at + 1]]))
        if abs(after - before) >= _LEAST_CHANGE * max(abs(before), abs(after)):
            found.append(Shift(known[place][0], before, after, p))
    return found


def _pettitt(series: NDArray[np.float64], generator: np.random.Generator) -> float:
    """Return how often permuted series show as large a statistic as this one."""
    import numpy as np

    ranks = _ranks(series)
    count = len(series)
    # U(t) of the paper by ranks: 2 * sum of the first t ranks - t * (n + 1)
    at = np.arange(_LEAST_SIDE, count - _LEAST_SIDE + 1)
    inner, spread = slice(_LEAST_SIDE - 1, count - _LEAST_SIDE), np.sqrt(at * (count - at))
    statistic = np.abs(2 * np.cumsum(ranks)[inner] - at * (count + 1)) / spread
    largest = float(statistic.max())
    if largest == 0:
        return 1.0
    shuffled = generator.permuted(np.tile(ranks, (_PERMUTATIONS, 1)), axis=1)
    sums = 2 * np.cumsum(shuffled, axis=1)[:, inner]
    others = (np.abs(sums - at * (count + 1)) / spread).max(axis=1)
    return (1 + int((others >= largest - 1e-9).sum())) / (_PERMUTATIONS + 1)


def _split(series: NDArray[np.float64]) -> int:
    """Return where the second part begins: where both parts lie closest to their medians.

    The largest rank statistic lies elsewhere when the parts are of unequal length.
    """
    import numpy as np

    places = range(_LEAST_SIDE, len(series) - _LEAST_SIDE + 1)
    costs = [
        float(
            np.abs(series[:at] - np.median(series[:at])).sum() + np.abs(series[at:] - np.median(series[at:])).sum()
        )
        for at in places
    ]
    return places[int(np.argmin(costs))]


def _ranks(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks from 1, equal values with the mean of theirs."""
    import numpy as np

    _, inverse, counts = np.unique(series, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = ((last - counts + 1 + last) / 2)[inverse]
    return ranks
