"""What a few measured configurations say about those between them: a Gaussian process over ordered levels.

C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine Learning* (2006), 2.2 and 5.4, with Matern's
kernel of 5/2 (4.17), around a trend (here a scaling law) that may be flat. How far and how high values vary is not
known from so few: predictions for several lengths and heights are averaged by how likely each makes what was seen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.analysis.cells import CellSummary, RunAnalysis, scale_factor, scale_level
from toolkit.analysis.fit import FEWEST_DEGREES
from toolkit.analysis.laws import FEWEST_LEVELS, MeasuredLevel, scaling_law
from toolkit.design.order import cells_of
from toolkit.design.searchable import places_of, searched_factors
from toolkit.model.experiment import Experiment
from toolkit.model.values import Cell
from toolkit.model.words import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Places = NDArray[np.intp]

_LENGTHS = (0.25, 0.5, 1.0, 2.0)
"""Of the way from the lowest to the highest level."""
_HEIGHTS = (0.05, 0.15, 0.5, 1.5)
"""Standard deviations of logarithms around the trend."""
_FLAT_VARIANCE = 100.0
"""Of the level of all values, of which nothing is known before."""
_SUPPOSED_NOISE = 0.05
"""Of one trial, while there are too few to know."""
_LEAST_NOISE = 0.01
_REFUSED = math.log(2)
"""How much worse than the worst a configuration that failed is taken to be, so that its neighbours are avoided."""
_REFUSALS = (Outcome.FAILED, Outcome.UNSUPPORTED, Outcome.DOWNGRADED)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The logarithm of badness that is predicted of a configuration, against any fixed one."""

    mean: float
    deviation: float

    @property
    def at_worst(self) -> float:
        """Return a value that it probably does not exceed: lower where it is lower, or better known."""
        return self.mean + self.deviation

    def chance_below(self, limit: float) -> float:
        """Return the probability that it is below a limit."""
        return math.erfc((self.mean - limit) / (self.deviation * math.sqrt(2))) / 2


def predict(at: Matrix, seen: Places, values: Matrix, variances: Matrix, trend: Matrix) -> tuple[Prediction, ...]:
    """Predict the value at each place.

    Args:
        at: the places, a row each, every coordinate from 0 to 1.
        seen: which of them were seen.
        values: what was seen there.
        variances: of these values.
        trend: at every place, around which values vary.
    """
    import numpy as np

    level = float(np.average(values - trend[seen], weights=1 / variances))
    rest = values - trend[seen] - level
    apart = np.abs(at[:, None, :] - at[seen][None, :, :])
    height_variances = np.array(_HEIGHTS)[:, None, None] ** 2
    likely, means, squares = [], [], []
    for lengths in itertools.product(_LENGTHS, repeat=at.shape[1]):
        root = math.sqrt(5) * np.sqrt(((apart / np.array(lengths)) ** 2).sum(axis=2))
        kernels = height_variances * ((1 + root + root**2 / 3) * np.exp(-root)) + _FLAT_VARIANCE
        lower = np.linalg.cholesky(kernels[:, seen] + np.diag(variances))
        rests = np.broadcast_to(rest[:, None], (len(_HEIGHTS), len(rest), 1))
        white = np.linalg.solve(lower, np.concatenate((rests, kernels.transpose(0, 2, 1)), axis=2))
        first, others = white[:, :, :1], white[:, :, 1:]
        logarithms = np.log(np.diagonal(lower, axis1=1, axis2=2))
        likely.append(-(first**2).sum(axis=(1, 2)) / 2 - logarithms.sum(axis=1))
        means.append((first * others).sum(axis=1))
        squares.append(height_variances[:, 0] + _FLAT_VARIANCE - (others**2).sum(axis=1))
    share = np.exp(np.concatenate(likely) - np.max(likely))
    share /= share.sum()
    expected = np.concatenate(means)
    mean = share @ expected
    square = share @ (np.maximum(np.concatenate(squares), 0) + expected**2) - mean**2
    spread = np.sqrt(np.maximum(square, 1e-8))
    return tuple(map(Prediction, (mean + level + trend).tolist(), spread.tolist()))


def predictions(found: RunAnalysis) -> Mapping[Cell, Prediction]:
    """Predict each configuration of a searched run, run or not; nothing where none has a value."""
    import numpy as np

    cells = cells_of(found.run.head.experiment.factors)
    number = {cell: place for place, cell in enumerate(cells)}
    measured = [summary.cell for summary in found.cells if summary.n]
    if not measured:
        return {}
    noise = found.fit.noise
    supposed = _SUPPOSED_NOISE if noise.degrees < FEWEST_DEGREES else _LEAST_NOISE
    variance = max(noise.variance, supposed**2)
    worse = [found.fit.ratio(*found.judged.worse_first(cell, measured[0]))[0] for cell in measured]
    variances = [variance / found.fit.counts[cell] for cell in measured]
    refused = [summary.cell for summary in found.cells if _is_refused(summary)]
    predicted = predict(
        np.array(places(found.run.head.experiment)),
        np.array([number[cell] for cell in (*measured, *refused)], dtype=np.intp),
        np.array([*worse, *[max(worse) + _REFUSED] * len(refused)]),
        np.array([*variances, *[variance] * len(refused)]),
        np.array(_trend(found, cells, measured, worse, variances)),
    )
    return dict(zip(cells, predicted, strict=True))


def best_predicted(found: RunAnalysis, among: Sequence[Cell]) -> Cell:
    """Return of measured configurations the best, its neighbours considered: a lucky trial makes none the best."""
    predicted = predictions(found)
    return min(among, key=lambda cell: predicted[cell].at_worst)


def places(experiment: Experiment) -> list[tuple[float, ...]]:
    """Return where each configuration lies, one coordinate for each factor that is varied."""
    varied = searched_factors(experiment.factors)
    on = {factor.name: dict(zip(factor.levels, places_of(factor.levels), strict=True)) for factor in varied}
    cells = cells_of(experiment.factors)
    return [tuple(on[factor.name][cell[factor.name]] for factor in varied) for cell in cells]


def _is_refused(summary: CellSummary) -> bool:
    return not summary.n and any(outcome in _REFUSALS for outcome in summary.outcomes)


def _trend(
    found: RunAnalysis,
    cells: Sequence[Cell],
    measured: Sequence[Cell],
    worse: Sequence[float],
    variances: Sequence[float],
) -> list[float]:
    """Return the scaling law that suits what was measured, as logarithms; flat without one."""
    experiment = found.run.head.experiment
    flat = [0.0] * len(cells)
    scale = scale_factor(cells, experiment.operation)
    varied = [factor.name for factor in searched_factors(experiment.factors)]
    if varied != [scale] or len(measured) < FEWEST_LEVELS:
        return flat
    levels = {cell: scale_level(cell, scale) or 0.0 for cell in cells}
    if min(levels.values()) < 1:
        return flat
    points = [
        MeasuredLevel(levels[cell], math.exp(value), variance)
        for cell, value, variance in zip(measured, worse, variances, strict=True)
    ]
    law = scaling_law(points, max(found.fit.noise.degrees, 1))
    return flat if law is None else [math.log(law.times(levels[cell])) for cell in cells]
