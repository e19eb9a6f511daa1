"""Where a series of numbers changed its level, judged anew with each point and seldom wrong however often.

At each point the likelihoods of a change at each earlier one are summed and held against that of none, by all
points since the last change: the statistic of Shiryaev and Roberts, than which hardly anything finds a change
sooner (M. Pollak, *Optimal Detection of a Change in Distribution*, Annals of Statistics 13 (1985), 206-227). The
levels, the noise and the size of the change are not known, and averaged over. Points that follow upon each other
closely are alike, so the likelihoods are those of first-order autoregressions with correlations of 0 to 0.5: a
series that wanders explains a step without a change, unless the step is too large for that. A change is mostly
sought where neighbours differ, since nothing finds it within a week where they are alike (`docs/measurement.md`).

A point is judged by what came before it and never again, so looking every night alarms no more often than looking
once. The limit was chosen by simulation: at most 1 false alarm in 1,000 points. Logarithms are judged where all
values are positive, and values far from the median are drawn nearer, so that a single peak is no change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


FEWEST = 10
"""Points: with fewer, even a perfect step is found by chance too often."""
_LEAST_SIDE = 3
_LONGEST = 200
"""Points looked back upon."""
_AT_ONCE = 50
_CORRELATIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
_WHERE_SOUGHT = (10, 4, 2, 2, 1, 1)
"""How much a change with each correlation counts; without a change all count alike."""
_SIZE = 1.5
"""Of a change, in standard deviations of a single point: so large is an ordinary one."""
_RECENT, _OLD = 10, 0.1
"""So many places of a change, from the end, count whole; each of those before counts a tenth."""
_FARTHEST = 2.5
"""Standard deviations from the median, by its absolute deviations, to which values are drawn nearer."""
_LIMIT, _MORE_OF_FEW = 5.1, 20.0
_NOTHING = 1e-300


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of level: it begins with the point at `index`; medians on both sides up to the next change."""

    index: int
    before: float
    after: float


def computable() -> bool:
    """Whether numpy is installed, which the likelihoods need."""
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

    raw = [value for _, value in known]
    series = np.array(raw, dtype=float)
    if min(raw) > 0:
        series = np.log(series)
    begin, end, places = 0, FEWEST, []
    while end <= len(raw):
        first = max(begin, end - _LONGEST)
        points = end - first
        if points < FEWEST:
            end = first + FEWEST
            continue
        # only spans that are as long as any may be are equally long, so that many are judged at once
        many = min(_AT_ONCE, len(raw) - end + 1) if points == _LONGEST else 1
        spans = np.lib.stride_tricks.sliding_window_view(series[first : end + many - 1], points)
        evidence, split = evidence_of_change(spans)
        if len(found := np.flatnonzero(evidence > limit(points))):
            many = int(found[0]) + 1
            begin = first + int(found[0] + split[found[0]])
            places.append(begin)
        end += many
    borders = [0, *places, len(raw)]
    sides = [float(median(raw[low:high])) for low, high in pairwise(borders)]
    return [
        Shift(known[place][0], before, after)
        for place, before, after in zip(places, sides[:-1], sides[1:], strict=True)
    ]


def limit(points: int) -> float:
    """Return what the evidence of a change must exceed."""
    return _LIMIT + _MORE_OF_FEW / points


def evidence_of_change(
    series: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return of each row the logarithm of the odds that its level has changed, and where it probably did.

    Nothing is evident yet where the likeliest place is so young that the points since then may be a peak.
    """
    import numpy as np

    count = series.shape[1]
    at = np.arange(_LEAST_SIDE, count)
    level, change, length, size = _misfits(_drawn_nearer(series), at)
    own = 1 - np.square(_CORRELATIONS)[:, None]
    # prior to the points every level is as likely as any other, and so is the logarithm of any noise
    none = (np.log(own / size) - (count - 1) * np.log(np.maximum(level, _NOTHING))) / 2
    told = _SIZE**2 * length / own
    misfit = level[:, :, None] - (level[:, :, None] - change) * (told / (1 + told))[:, None, :]
    some = (np.log(own / size) - np.log1p(told))[:, None, :] - (count - 1) * np.log(np.maximum(misfit, _NOTHING))
    sought = np.log(np.array(_WHERE_SOUGHT) * len(_WHERE_SOUGHT) / sum(_WHERE_SOUGHT))
    places = np.logaddexp.reduce(some / 2 + sought[:, None, None], axis=0)
    places += np.where(count - at <= _RECENT, 0.0, np.log(_OLD))
    odds = np.logaddexp.reduce(places[:, at <= count - _LEAST_SIDE], axis=1) - np.logaddexp.reduce(none, axis=0)
    likeliest = at[places.argmax(axis=1)]
    return np.where(likeliest <= count - _LEAST_SIDE, odds, -np.inf), likeliest


def _drawn_nearer(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return distances from the median; normal noise has 1.4826 times its absolute deviation."""
    import numpy as np

    centred = series - np.median(series, axis=1, keepdims=True)
    farthest = _FARTHEST * 1.4826 * np.median(np.abs(centred), axis=1, keepdims=True)
    farthest[farthest == 0] = np.inf
    return np.clip(centred, -farthest, farthest)


def _misfits(
    series: NDArray[np.float64], at: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the squares that one level leaves, and a second one from each place on, by each correlation first.

    With them what the points tell of a second level, and of one: their precision. What a point adds to the
    correlated part of the one before is uncorrelated; the first one is scaled to match.
    """
    import numpy as np

    correlation = np.array(_CORRELATIONS)[:, None]
    count, kept, alone = series.shape[1], 1 - correlation, np.sqrt(1 - correlation**2)
    own = np.concatenate(
        (alone[:, None] * series[:, :1], series[:, 1:] - correlation[:, None] * series[:, :-1]), axis=2
    )
    size = alone**2 + (count - 1) * kept**2
    along = alone * own[:, :, 0] + kept * own[:, :, 1:].sum(axis=2)
    level = (own * own).sum(axis=2) - along * along / size
    rest = np.cumsum(own[:, :, ::-1], axis=2)[:, :, ::-1][:, :, at]
    after = count - at
    shared = kept * (1 + (after - 1) * kept)
    length = 1 + (after - 1) * kept**2 - shared**2 / size
    step = (
        kept[:, None] * rest + correlation[:, None] * own[:, :, at] - (along / size)[:, :, None] * shared[:, None]
    )
    return level, level[:, :, None] - step * step / length[:, None], length, size
