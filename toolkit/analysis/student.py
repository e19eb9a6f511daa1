"""Quantiles of Student's t distribution, for any positive number of degrees of freedom.

The distribution function is the regularised incomplete beta function I_x(a, b) (NIST DLMF 8.17), evaluated by its
continued fraction (DLMF 8.17.22) with Lentz's method; the quantile is found by bisection, which cannot diverge.
"""

from __future__ import annotations

import math
from functools import lru_cache

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
