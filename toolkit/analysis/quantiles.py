"""Quantiles of Student's t and of Tukey's studentized range.

The distribution function of Student's t is the regularised incomplete beta function I_x(a, b) (NIST DLMF 8.17),
evaluated by its continued fraction (DLMF 8.17.22) with Lentz's method; its quantile is found by bisection, which
cannot diverge. That of the studentized range of k values with v degrees of freedom is the integral over s of f(s)
R(q s), where s is the root of chi-square over v, f its density, and R(w), the distribution of the range of k
normal values, k times the integral over z of phi(z) (Phi(z) - Phi(z - w))^(k - 1) (Harter, *Annals of Mathematical
Statistics* 31 (1960), 1122). Both integrands, the outer one over log s, are smooth and vanish at their ends, where
the trapezoidal rule converges faster than any power of its step. Its quantile is found by false position in the
Illinois form, which keeps a bracket.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from itertools import count, takewhile

_TINY = 1e-300
_PRECISION = 1e-15
_LONGEST_FRACTION = 500
_BISECTIONS = 200


def beta_regularised(x: float, a: float, b: float) -> float:
    """Return I_x(a, b) for 0 <= x <= 1 and positive a, b (DLMF 8.17.2)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        # the fraction converges fast only on this side: I_x(a, b) = 1 - I_{1-x}(b, a), DLMF 8.17.4
        return 1.0 - beta_regularised(1 - x, b, a)
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_factor) / a / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate 1 + d1/(1 + d2/(1 + ...)) of DLMF 8.17.22 by the modified Lentz method."""
    result, c, d = 1.0, 1.0, 0.0
    for step in range(1, _LONGEST_FRACTION):
        coefficient = _coefficient(step, x, a, b)
        d = 1.0 / (1.0 + coefficient * d or _TINY)
        c = 1.0 + coefficient / c or _TINY
        result *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return result


def _coefficient(step: int, x: float, a: float, b: float) -> float:
    m = step // 2
    if step % 2 == 0:
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))


def t_cdf(t: float, degrees: float) -> float:
    """Return the probability of a value below `t` (Abramowitz and Stegun 26.7.1)."""
    if t * t < degrees:
        # near the middle the tail is a difference of almost equal numbers; the central part is not
        return 0.5 + math.copysign(0.5, t) * beta_regularised(t * t / (degrees + t * t), 0.5, degrees / 2)
    tail = 0.5 * beta_regularised(degrees / (degrees + t * t), degrees / 2, 0.5)
    return tail if t < 0 else 1.0 - tail


@lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: float) -> float:
    """Return t such that a value lies below it with this probability.

    Args:
        probability: between 0 and 1, both excluded.
        degrees: degrees of freedom, positive; of a sum of variances they need not be whole.

    Raises:
        ValueError: an argument lies outside its range.
    """
    if not 0 < probability < 1 or not degrees > 0:
        msg = f"no quantile at probability {probability} with {degrees} degrees of freedom"
        raise ValueError(msg)
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while t_cdf(high, degrees) < probability and high < 1e300:
        low, high = high, high * 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        if t_cdf(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# -- the studentized range --------------------------------------------------------------------------------------
_REACH, _STEP = 7.0, 0.35
"""Standard deviations beyond which the normal distribution has nothing to add, and those between two nodes."""
_STEP_OF_SPREAD = 0.4
_NEGLIGIBLE = 1e-10
_RANGE_PRECISION = 1e-7
_ROOT = math.sqrt(0.5)


def range_cdf(q: float, values: int, degrees: float) -> float:
    """Return the probability that the range of independent normal values is below q standard deviations.

    Args:
        q: not negative.
        values: how many, at least 2.
        degrees: of freedom of the estimated standard deviation, at least 2; up to 30 values it is exact to 1e-6.
    """
    return min(1.0, values * sum(part * _range_density(q * s, values) for s, part in _spread_nodes(degrees)))


def _range_density(width: float, values: int) -> float:
    """Return the integral over z of phi(z) (Phi(z) - Phi(z - w))^(k - 1)."""
    erfc, root, power = math.erfc, _ROOT, values - 1
    return sum([phi * (below - 0.5 * erfc(root * (width - z))) ** power for z, phi, below in _normal_nodes()])


@cache
def _normal_nodes() -> tuple[tuple[float, float, float], ...]:
    """Return points z, their share of the normal distribution, and how much of it lies below them."""
    share = _STEP / math.sqrt(2 * math.pi)
    points = [-_REACH + _STEP * at for at in range(round(2 * _REACH / _STEP) + 1)]
    return tuple((z, share * math.exp(-z * z / 2), 0.5 * math.erfc(-_ROOT * z)) for z in points)


@lru_cache(maxsize=64)
def _spread_nodes(degrees: float) -> tuple[tuple[float, float], ...]:
    """Return points s, and their share of the distribution of an estimated standard deviation.

    They are even in log s, whose density vanishes to both sides of its mode, which is s = 1.
    """
    step = _STEP_OF_SPREAD / math.sqrt(2 * degrees)
    scale = math.log(2 * step) + degrees / 2 * math.log(degrees / 2) - math.lgamma(degrees / 2)

    def share(log: float) -> float:
        return math.exp(scale + degrees * (log - math.exp(2 * log) / 2))

    sides = (count(0.0, step), count(-step, -step))
    logs = [log for side in sides for log in takewhile(lambda log: share(log) > _NEGLIGIBLE, side)]
    return tuple((math.exp(log), share(log)) for log in logs)


@lru_cache(maxsize=1024)
def range_quantile(probability: float, values: int, degrees: float) -> float:
    """Return q such that the range of so many values is below it, in standard deviations, with this probability.

    Args:
        probability: between 0 and 1, both excluded.
        values: how many, at least 2.
        degrees: of freedom of the estimated standard deviation, at least 2.

    Raises:
        ValueError: an argument lies outside its range.
    """
    if not 0 < probability < 1 or values < 2 or not degrees >= 2:
        msg = f"no quantile at probability {probability} of {values} values with {degrees} degrees of freedom"
        raise ValueError(msg)
    low, high = 0.0, 4.0
    below, above = -probability, range_cdf(high, values, degrees) - probability
    while above < 0:
        low, below, high = high, above, 2 * high
        above = range_cdf(high, values, degrees) - probability
    side = 0
    for _ in range(_BISECTIONS):
        q = (low * above - high * below) / (above - below)
        if min(high - q, q - low) < _RANGE_PRECISION * q:
            break
        found = range_cdf(q, values, degrees) - probability
        if found < 0:
            low, below, above, side = q, found, above / 2 if side < 0 else above, -1
        else:
            high, above, below, side = q, found, below / 2 if side > 0 else below, 1
    return q
