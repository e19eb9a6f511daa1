"""Scaling laws: Gunther's Universal Scalability Law and Amdahl's, which is the former without a peak.

N. J. Gunther, *Guerrilla Capacity Planning* (2007), 4.4: with N at work the time is T(N) = T(1) (1 + s (N-1) +
k N (N-1)) / N, where s is the serial share and k what each must agree with each other. It is least at the peak
P = sqrt((1-s) / k). With k = 0 that is Amdahl's law (1967), whose peak lies at infinity. For a given peak the law
is linear in what is left, T(N) = b + c (P^2 / N + N - 1) with b and c at least 0, so least squares on relative
errors has a closed form for each peak, and the interval of the peak is that of its profile likelihood (D. M. Bates
and D. G. Watts, *Nonlinear Regression Analysis and Its Applications* (1988), 6.1), with the noise of the run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter, mul

from toolkit.analysis.cells import RunAnalysis, other_levels, scale_level
from toolkit.analysis.doubts import spelled_difference, super_linear
from toolkit.analysis.fit import CONFIDENCE, FEWEST_DEGREES
from toolkit.analysis.metrics import costs_of
from toolkit.analysis.quantiles import t_quantile
from toolkit.model.values import Cell, spell_level
from toolkit.units import number, percent, seconds

FEWEST_LEVELS = 4
"""With three levels a law of three parameters goes through every point, whatever it is worth."""
_STEP = 1.02
_WIDEST = 1000.0
"""Peaks are sought up to so many times the highest level; beyond that lies none."""
_LEAST_SERIAL = 1e-6
_LEAST_VARIANCE = 1e-4
"""Of relative times: no machine follows a law more closely than by 1 %."""
_ROUNDING = 1e-6
"""Of squares left, in units of the variance."""


@dataclass(frozen=True, slots=True)
class MeasuredLevel:
    """What was measured at a level: a time, the relative variance of its mean."""

    level: float
    seconds: float
    variance: float


@dataclass(frozen=True, slots=True)
class ScalingLaw:
    """The law that suits the points best.

    Attributes:
        serial: the share that does not run in parallel (Amdahl's and Gunther's first parameter).
        crosstalk: what each one more costs each other (Gunther's second parameter), 0 with Amdahl's law.
        peak: the level of the least time, infinite with Amdahl's law.
        peak_low: the least peak that the noise allows, at 95 %.
        peak_high: the greatest; infinite where Amdahl's law is not excluded.
    """

    serial: float
    crosstalk: float
    peak: float
    peak_low: float
    peak_high: float

    def times(self, level: float) -> float:
        """Return the time at a level as a share of that at level 1."""
        return (1 + self.serial * (level - 1) + self.crosstalk * level * (level - 1)) / level

    def knee(self, levels: Sequence[float], gain_pct: float) -> float | None:
        """Return the lowest of some levels where one more doubling gains less than so much."""
        least = 1 + gain_pct / 100
        return next((level for level in levels if self.times(level) < least * self.times(2 * level)), None)


def scaling_law(points: Sequence[MeasuredLevel], degrees: float) -> ScalingLaw | None:
    """Fit the law to points at different levels.

    Args:
        points: at least `FEWEST_LEVELS`, with the same work at each level.
        degrees: degrees of freedom of their variances.

    Returns:
        None where no law of this kind suits the points as well as their noise demands, at 95 %.
    """
    weights = [1 / math.sqrt(max(point.variance, _LEAST_VARIANCE)) / point.seconds for point in points]
    terms = _Terms(
        weights,
        [weight / point.level for weight, point in zip(weights, points, strict=True)],
        [weight * (point.level - 1) for weight, point in zip(weights, points, strict=True)],
        [weight * point.seconds for weight, point in zip(weights, points, strict=True)],
    )
    count = math.ceil(math.log(_WIDEST * max(point.level for point in points)) / math.log(_STEP))
    fits = [(peak, *terms.least_squares(peak)) for peak in (*(_STEP**at for at in range(count + 1)), math.inf)]
    # what differs by rounding alone is Amdahl's law, which has one parameter less
    best, amdahl = min(fits, key=itemgetter(3)), fits[-1]
    peak, serial, parallel, least = amdahl if amdahl[3] <= best[3] + _ROUNDING else best
    reach = t_quantile((1 + CONFIDENCE) / 2, degrees) ** 2
    if least > reach * (len(points) - FEWEST_LEVELS + 2):
        return None
    inside = [peak for peak, _, _, squares in fits if squares <= least + reach]
    whole = serial + parallel
    crosstalk = 0.0 if math.isinf(peak) else parallel / whole / (peak * peak)
    return ScalingLaw(serial / whole, crosstalk, peak, inside[0] / _STEP, inside[-1] * _STEP)


class _Terms:
    """What a law is fitted to: a constant, and a shape `falling + rising / P^2`, for Amdahl's law that of P = inf.

    The squares of the shape, and its products with others, are polynomials of 1 / P^2: their coefficients are
    computed once for all peaks.
    """

    def __init__(
        self, constant: Sequence[float], falling: Sequence[float], rising: Sequence[float], seen: Sequence[float]
    ) -> None:
        self._one, self._seen = _product(constant, constant), _product(seen, seen)
        self._seen_one = _product(constant, seen)
        self._both = _product(falling, constant), _product(rising, constant)
        self._seen_other = _product(falling, seen), _product(rising, seen)
        self._other = _product(falling, falling), 2 * _product(falling, rising), _product(rising, rising)

    def least_squares(self, peak: float) -> tuple[float, float, float]:
        """Fit both terms for a peak, neither below 0; return them and the squares left."""
        share = 1 / (peak * peak)
        other = self._other[0] + share * (self._other[1] + share * self._other[2])
        both = self._both[0] + share * self._both[1]
        seen_other = self._seen_other[0] + share * self._seen_other[1]
        spread = max(self._one * other - both**2, 1e-12 * self._one * other)
        first = (other * self._seen_one - both * seen_other) / spread
        second = max((self._one * seen_other - both * self._seen_one) / spread, 0.0)
        if first < 0:
            first, second = 0.0, seen_other / other
        elif second <= 0:
            first = self._seen_one / self._one
        explained = first * (2 * self._seen_one - first * self._one - 2 * second * both)
        return first, second, max(self._seen - explained - second * (2 * seen_other - second * other), 0.0)


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return float(sum(map(mul, one, other)))


@dataclass(frozen=True, slots=True)
class FittedLaw:
    """A law with the configurations that it was fitted to, by their level, and its knee, where it has one."""

    law: ScalingLaw
    cells: Mapping[float, Cell]
    knee: float | None

    @property
    def name(self) -> str:
        return "Amdahl's law" if math.isinf(self.law.peak) else "Universal Scalability Law"


def fitted_law(found: RunAnalysis, granted: Sequence[Cell], chosen: Cell) -> FittedLaw | None:
    """Fit the levels of a cell's kind; None where there are too few, or where they follow no law."""
    cells = _levels(found, granted, chosen)
    if not _enough(found, cells) or super_linear(found):
        return None
    points = [_point(found, level, cell, cells[min(cells)]) for level, cell in sorted(cells.items())]
    law = scaling_law(points, found.fit.noise.degrees)
    if law is None:
        return None
    shown = _shown_pct(found)
    least = scale_level(chosen, found.scale) or 0
    later = sorted(level for level in cells if level >= least)  # below, this run has shown or seen a gain
    return FittedLaw(law, cells, None if shown is None else law.knee(later, shown))


def _levels(found: RunAnalysis, granted: Sequence[Cell], chosen: Cell) -> dict[float, Cell]:
    kind = other_levels(chosen, found.scale)
    return {
        level: cell
        for cell in granted
        if other_levels(cell, found.scale) == kind and (level := scale_level(cell, found.scale)) and level >= 1
    }


def _enough(found: RunAnalysis, cells: Mapping[float, Cell]) -> bool:
    return len(cells) >= FEWEST_LEVELS and found.fit.noise.degrees >= FEWEST_DEGREES


def law_sentences(found: RunAnalysis, granted: Sequence[Cell], chosen: Cell, worth_pct: float) -> list[str]:
    """Say which law the levels of the chosen cell's kind follow, and what follows from it.

    Of fewer than four levels nothing is claimed: their times are facts and no curve.

    Args:
        found: the run, with intervals.
        granted: the configurations that may be chosen.
        chosen: the one that was.
        worth_pct: by how much a larger level must be better to be worth it.
    """
    cells = _levels(found, granted, chosen)
    if not _enough(found, cells):
        return []
    if super_linear(found):
        return [
            "no scaling law is fitted: gains that are more than linear mean that the lowest level did other work "
            "or lacked something, such as a cache that was filled later or memory"
        ]
    fitted = fitted_law(found, granted, chosen)
    if fitted is None:
        return [f"the {found.judged.values} follow no scaling law within their noise: no peak is estimated"]
    spelled = _spelled(fitted.law, found.scale or "", len(cells))
    return [
        spelled,
        *_beside_peak(found, fitted, chosen, worth_pct),
        *_knee(found, fitted),
        *_thrift(found, cells),
    ]


def _point(found: RunAnalysis, level: float, cell: Cell, base: Cell) -> MeasuredLevel:
    worse, _ = found.fit.ratio(*found.judged.worse_first(cell, base))
    return MeasuredLevel(level, math.exp(worse), found.fit.noise.variance / found.fit.counts[cell])


def _spelled(law: ScalingLaw, scale: str, levels: int) -> str:
    serial = f"{percent(law.serial * 100)} of the work is serial"
    if math.isinf(law.peak):
        bounded = law.serial > _LEAST_SERIAL
        bound = f"at most {number(1 / law.serial)} times as fast" if bounded else "faster without bound"
        most = f"however many work at once, it becomes {bound}"
        peak = f"; a peak is possible from {scale} {number(law.peak_low)} on"
        return f"by Amdahl's law fitted to {levels} levels, {serial}: {most}{peak}"
    high = "without end" if math.isinf(law.peak_high) else f"to {number(law.peak_high)}"
    return (
        f"by the Universal Scalability Law fitted to {levels} levels, {scale} {number(law.peak)} is best "
        f"({number(law.peak_low)} {high} at 95 %), and {serial}"
    )


def _beside_peak(found: RunAnalysis, fitted: FittedLaw, chosen: Cell, worth_pct: float) -> list[str]:
    """Say why another level is recommended than that of the peak, and what the law puts between them."""
    level, law = scale_level(chosen, found.scale), fitted.law
    if level is None or math.isinf(law.peak) or round(law.peak) == level:
        return []
    if level == max(fitted.cells) < law.peak:
        why = "the highest that was measured and granted"
    else:
        why = (
            f"the smallest that is not measurably {found.judged.bad} than the best that was measured by more than "
            f"{worth_pct:g} %"
        )
    more = law.times(level) / law.times(law.peak)
    change = found.judged.change(more if found.judged.by.lower_is_better else 1 / more)
    return [
        f"{found.scale} {spell_level(level)} is recommended all the same, {why}; by the law that means {change}"
    ]


def _shown_pct(found: RunAnalysis) -> float | None:
    """Return the difference in per cent that the run can show."""
    return found.detectable_pct([summary.cell for summary in found.cells if summary.n])


def _knee(found: RunAnalysis, fitted: FittedLaw) -> list[str]:
    shown = _shown_pct(found)
    if fitted.knee is None or shown is None:
        return []
    gain = f"less than this run can show ({spelled_difference(shown)})"
    return [f"from {found.scale} {spell_level(fitted.knee)} on one more doubling gains {gain}"]


def _thrift(found: RunAnalysis, cells: Mapping[float, Cell]) -> list[str]:
    costs = costs_of(found.run)
    if any(cell not in costs for cell in cells.values()):  # judged by a figure of trials that have no time
        return []
    used = {level: costs[cell].measures.get("CPU") for level, cell in cells.items()}
    known = {level: spent for level, spent in used.items() if spent}
    if len(known) < len(cells) or len({costs[cell].sources.get("CPU") for cell in cells.values()}) > 1:
        return []
    (best, least), (after, more), *_ = sorted(known.items(), key=itemgetter(1))
    return [
        f"the median CPU time is least with {found.scale} {spell_level(best)}: {seconds(least)}, "
        f"and {seconds(more)} with {spell_level(after)} (no test was made of that)"
    ]
