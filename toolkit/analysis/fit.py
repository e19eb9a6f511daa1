"""The additive model behind every interval: log value = cell + block + noise.

A block is one whole sweep (a repeat number): slow drift of the machine hits all cells of a sweep alike and is
taken out of comparisons *within* a run. Between two runs it does not cancel, so there the variance of a single
observation, blocks included, is what counts.

All that a run or a comparison concludes is held at 5 % together: the more cells are compared, the wider the
interval of each ratio. Cells of one run are compared each with each (Tukey's range; for unequal numbers Kramer,
*Biometrics* 12 (1956), 307, which Hayter, *Annals of Statistics* 12 (1984), 61, proved to hold its level); cells
of two runs each with its partner (Sidak, *Journal of the American Statistical Association* 62 (1967), 626).

Sources of the model: the two-way layout with unequal numbers, Searle, *Linear Models* (1971), 7.1; expected mean
squares of the random block, Henderson's method III, Searle 10.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import TYPE_CHECKING

from toolkit.analysis.quantiles import range_quantile, t_quantile
from toolkit.model.values import Cell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


CONFIDENCE = 0.95
SEQUENTIAL_CONFIDENCE = 0.9925
"""Of each look at a run that goes on until enough is known: all looks hold together at 95 % (`sequential`)."""
POWER = 0.80
FEWEST_DEGREES = 4
"""Below so many degrees of freedom the noise itself is not known, and no interval is given."""


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A 95 % interval of a time (seconds) or of a ratio."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether the value lies within it, ends included."""
        return self.low <= value <= self.high

    def reaching(self, value: float) -> ConfidenceInterval:
        """Widen it to a value: an estimate never stands outside its own interval."""
        return ConfidenceInterval(min(self.low, value), max(self.high, value))

    def inverse(self) -> ConfidenceInterval:
        """Return the interval of 1/x."""
        return ConfidenceInterval(1 / self.high, 1 / self.low)


@dataclass(frozen=True, slots=True)
class Noise:
    """A variance on the log scale, or of an estimate, and the degrees of freedom that carry it.

    Attributes:
        variance: on the log scale.
        degrees: of freedom.
        cells: how many are compared with each other by estimates of this noise.
        pairs: how many comparisons are made of pairs that share no cell.
        least: how far an interval reaches to either side at least, on the log scale.
        confidence: that of an interval, which holds at 95 % also where there are several looks.
    """

    variance: float
    degrees: float
    cells: int = 2
    pairs: int = 1
    least: float = 0.0
    confidence: float = CONFIDENCE

    def times(self, factor: float) -> Noise:
        """Return the noise of an estimate whose variance is `factor` times this one."""
        return replace(self, variance=self.variance * factor)

    def reaching(self, least: float) -> Noise:
        """Return the noise of an estimate whose interval reaches so far at least."""
        return replace(self, least=max(self.least, least))

    def interval(self, centre: float) -> ConfidenceInterval | None:
        """Return the interval of exp(centre); all that are compared hold together at 95 %.

        None with too few degrees of freedom.
        """
        if self.degrees < FEWEST_DEGREES:
            return None
        half = max(self._critical() * math.sqrt(self.variance), self.least)
        return ConfidenceInterval(math.exp(centre - half), _exp(centre + half))

    def minimum_detectable_pct(self) -> float | None:
        """Return the difference in percent that would be detected with a power of 80 %.

        (c + t(0.80)) standard errors on the log scale, where c is what an interval has, for one comparison
        t(0.975): Snedecor and Cochran, *Statistical Methods* (8th edition, 1989), 6.14. None when there is no
        noise to go by.
        """
        if self.degrees <= 0:
            return None
        deviation = math.sqrt(self.variance)
        reach = max(self._critical() * deviation, self.least) + t_quantile(POWER, self.degrees) * deviation
        return (_exp(reach) - 1) * 100

    def _critical(self) -> float:
        """Return how many standard errors an interval reaches to either side."""
        if self.cells > 2 and self.degrees >= FEWEST_DEGREES:
            return range_quantile(self.confidence, self.cells, self.degrees) / math.sqrt(2)
        return t_quantile((1 + self.confidence ** (1 / self.pairs)) / 2, self.degrees)


@dataclass(frozen=True, slots=True)
class Observation:
    """One positive measured value of a cell in a block."""

    cell: Cell
    block: int
    value: float


@dataclass(frozen=True, slots=True)
class Components:
    """Sums of squares between blocks and of the rest; `share` observations of a block vary together."""

    block_squares: float
    block_degrees: int
    rest_squares: float
    rest_degrees: int
    share: float

    def pooled_with(self, other: Components) -> Components:
        """Pool two runs; the expected sums of squares add up."""
        degrees = self.block_degrees + other.block_degrees
        shares = self.share * self.block_degrees + other.share * other.block_degrees
        return Components(
            self.block_squares + other.block_squares,
            degrees,
            self.rest_squares + other.rest_squares,
            self.rest_degrees + other.rest_degrees,
            shares / degrees if degrees else 1.0,
        )

    def single(self) -> Noise:
        """Return the noise of one observation, blocks included.

        It has the degrees of freedom of the blocks alone, though the rest is known better: the sweeps of one run
        follow each other closely and are more alike than those of two runs. Measured on identical sweeps of a
        shared machine, pairs drawn at random raised 7.1 % false alarms with the degrees of both parts and 5.9 %
        with those of the blocks; a difference of 10 % is detected about as often.
        """
        if not self.block_degrees:
            return Noise(0.0, 0.0)
        variance = self.block_squares / self.block_degrees / self.share
        if self.rest_degrees and self.share > 1:
            variance += (1 - 1 / self.share) * self.rest_squares / self.rest_degrees
        return Noise(variance, self.block_degrees)


@dataclass(frozen=True, slots=True, eq=False)
class _Contrasts:
    """What differences of cells cost where sweeps are incomplete.

    Attributes:
        weights: how the observations of a cell are spread over the blocks.
        inverse: a generalised inverse of the normal equations of the blocks, cells eliminated.
    """

    weights: Mapping[Cell, Matrix]
    inverse: Matrix

    def cost(self, cell: Cell, base: Cell) -> float:
        """Return e' S^- e with e = N_i/n_i - N_j/n_j: the variance of a difference by the block side."""
        gap = self.weights[cell] - self.weights[base]
        return float(gap @ self.inverse @ gap)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The fitted model.

    Attributes:
        means: mean log value of each cell.
        counts: observations of each cell.
        noise: residual variance with blocks taken out, pooled over all cells, which are compared with each other.
        components: what the variance between runs is made of.
    """

    means: Mapping[Cell, float]
    counts: Mapping[Cell, int]
    noise: Noise
    components: Components
    _effects: Mapping[Cell, float]
    _contrasts: _Contrasts | None

    def value_interval(self, cell: Cell) -> ConfidenceInterval | None:
        """Return the interval of a cell's own value, which is compared with nothing."""
        return replace(self.noise, cells=2).times(1 / self.counts[cell]).interval(self.means[cell])

    def ratio(self, cell: Cell, base: Cell) -> tuple[float, Noise]:
        """Return log(cell / base) with blocks taken out, and its noise."""
        if cell == base:
            return 0.0, self.noise.times(0.0)
        factor = 1 / self.counts[cell] + 1 / self.counts[base]
        if self._contrasts is not None:
            factor += self._contrasts.cost(cell, base)
        return self._effects[cell] - self._effects[base], self.noise.times(factor)


def fit(observations: Sequence[Observation], confidence: float = CONFIDENCE) -> Fit:
    """Fit cell and block effects to the logarithms of positive values by least squares.

    With one cell, or one block, or cells that share no block, there are no blocks to take out. Sweeps that are
    complete have a closed form; only others need linear algebra, and load numpy.

    Args:
        observations: the values.
        confidence: of its intervals; `SEQUENTIAL_CONFIDENCE` for a run that went on until enough was known.
    """
    cells = {cell: index for index, cell in enumerate(dict.fromkeys(seen.cell for seen in observations))}
    blocks = {block: index for index, block in enumerate(sorted({seen.block for seen in observations}))}
    places = [(cells[seen.cell], blocks[seen.block]) for seen in observations]
    logs = [math.log(seen.value) for seen in observations]
    table = [[0] * len(blocks) for _ in cells]
    totals = [0.0] * len(cells)
    for (row, column), log in zip(places, logs, strict=True):
        table[row][column] += 1
        totals[row] += log
    per_cell = [sum(row) for row in table]
    means = [total / count for total, count in zip(totals, per_cell, strict=True)]
    within = [log - means[row] for (row, _), log in zip(places, logs, strict=True)]
    sums = [0.0] * len(blocks)
    for (_, column), left in zip(places, within, strict=True):
        sums[column] += left
    blocked = _connected(table)
    effects, of_blocks, contrasts = means, [0.0] * len(blocks), None
    if blocked and len({count for row in table for count in row}) == 1:
        # the block effects add up to 0, so those of the cells are their means, and contrasts lose nothing
        of_blocks = [total / (len(cells) * table[0][0]) for total in sums]
    elif blocked:
        contrasts, of_blocks = _solved(cells, table, sums)
        effects = [
            mean - sum(map(mul, counts, of_blocks)) / sum(counts)
            for mean, counts in zip(means, table, strict=True)
        ]
    rest = [log - effects[row] - of_blocks[column] for (row, column), log in zip(places, logs, strict=True)]
    components = _components(table, per_cell, sum(map(mul, within, within)), sum(map(mul, rest, rest)), blocked)
    return Fit(
        means={cell: means[index] for cell, index in cells.items()},
        counts={cell: per_cell[index] for cell, index in cells.items()},
        noise=replace(_residual(components, blocked, len(cells)), confidence=confidence),
        components=components,
        _effects={cell: effects[index] for cell, index in cells.items()},
        _contrasts=contrasts,
    )


def _connected(table: Sequence[Sequence[int]]) -> bool:
    """Whether each two of several cells, in several blocks, are linked by blocks that cells share."""
    if len(table) < 2 or len(table[0]) < 2:
        return False
    reached, left = set[int](), list(range(len(table)))
    found = {column for column, count in enumerate(table[0]) if count}
    while found - reached:
        reached |= found
        linked = [row for row in left if any(table[row][column] for column in found)]
        left = [row for row in left if row not in set(linked)]
        found = {column for row in linked for column, count in enumerate(table[row]) if count}
    return not left


def _solved(
    cells: Mapping[Cell, int], table: Sequence[Sequence[int]], sums: Sequence[float]
) -> tuple[_Contrasts, list[float]]:
    """Solve the normal equations of the blocks, cells eliminated."""
    import numpy as np

    counts = np.array(table, dtype=np.float64)
    weights = counts / counts.sum(axis=1)[:, None]
    inverse = np.linalg.pinv(np.diag(counts.sum(axis=0)) - counts.T @ weights, hermitian=True)
    by_cell = {cell: weights[index] for cell, index in cells.items()}
    return _Contrasts(by_cell, inverse), [float(effect) for effect in inverse @ np.array(sums)]


def _components(
    table: Sequence[Sequence[int]], per_cell: Sequence[int], within: float, rest: float, blocked: bool
) -> Components:
    total, cells = sum(per_cell), len(table)
    if not blocked:
        return Components(within, total - cells, 0.0, 0, 1.0)
    blocks = len(table[0])
    alone = sum(sum(map(mul, row, row)) / count for row, count in zip(table, per_cell, strict=True))
    return Components(
        block_squares=max(within - rest, 0.0),
        block_degrees=blocks - 1,
        rest_squares=rest,
        rest_degrees=total - cells - blocks + 1,
        share=(total - alone) / (blocks - 1),
    )


def _residual(components: Components, blocked: bool, cells: int) -> Noise:
    squares = components.rest_squares if blocked else components.block_squares
    degrees = components.rest_degrees if blocked else components.block_degrees
    return Noise(squares / degrees if degrees > 0 else 0.0, max(degrees, 0), max(cells, 2))


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf
