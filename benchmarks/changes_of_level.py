"""How soon a change of level is found, and how soon the best possible test would find it: +10 % at a noise of 5 %.

    PYTHONPATH=. python benchmarks/changes_of_level.py [SERIES] [--seed N]

Series of nights whose neighbours are correlated, with 15 to 100 nights before the change; found means within seven
nights, looked at every night, at no more than one false alarm in 1,000 nights. Printed are

- what no test exceeds that knows noise, correlation and size of the change, but not the level before: that of
  Neyman and Pearson for the week, in which 7 false alarms in 1,000 are allowed;
- what the test of Shiryaev and Roberts reaches that knows the same and looks every night;
- what no test exceeds for the week that knows neither noise nor correlation: as the first, against the mixture of
  correlations (0 to 0.5) and noises that is the least favourable;
- what dbatk finds.

All are two-sided: an increase and a decrease are sought alike.
"""

from __future__ import annotations

import argparse
import math
import sys
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from toolkit.analysis.shifts import evidence_of_change, limit

Series = NDArray[np.float64]
NIGHTS, WEEK, PER_NIGHT = (15, 30, 60, 100), 7, 0.001
NOISE, CHANGE = math.sqrt(math.log(1 + 0.05**2)), math.log(1.1)
SIZE = CHANGE / NOISE
_BEFORE = 10
"""Nights before the change whose false alarms are taken out."""


def drawn(rows: int, count: int, alike: float, random: np.random.Generator, changed: int | None = None) -> Series:
    """Draw series of unit noise, with a change from one night on."""
    series = random.standard_normal((rows, count))
    for at in range(1, count):
        series[:, at] = alike * series[:, at - 1] + math.sqrt(1 - alike**2) * series[:, at]
    if changed is not None:
        series[:, changed:] += SIZE
    return series


# -- noise, correlation and size known ----------------------------------------------------------------------------
@cache
def _estimate(count: int, at: int, alike: float) -> tuple[Series, float]:
    """Return how a change from a night on is best estimated where the level is not known: weights, variance."""
    nights = np.arange(count)
    inverse = np.linalg.inv(alike ** np.abs(nights[:, None] - nights)) if alike else np.eye(count)
    one, step = np.ones(count), (nights >= at).astype(float)
    level, both, change = one @ inverse @ one, one @ inverse @ step, step @ inverse @ step
    variance = 1 / (change - both * both / level)
    return variance * (step - both / level * one) @ inverse, float(variance)


def at_most(before: int, alike: float) -> float:
    """Return what no test that knows all but the level exceeds."""
    _, variance = _estimate(before + WEEK, before, alike)
    normal = NormalDist()
    return normal.cdf(SIZE / math.sqrt(variance) - normal.inv_cdf(1 - WEEK * PER_NIGHT / 2))


def _odds(series: Series, first: int, alike: float) -> Series:
    """Return the evidence of each night from one on: the odds of a change within the last week, summed."""
    nights = []
    for count in range(first, series.shape[1] + 1):
        odds = []
        for at in range(max(1, count - WEEK), count):
            weights, variance = _estimate(count, at, alike)
            shown = SIZE * (series[:, :count] @ weights) / variance
            odds.append(np.logaddexp(shown, -shown) - SIZE**2 / (2 * variance))
        nights.append(np.logaddexp.reduce(odds, axis=0))
    return np.array(nights)


def best_test(before: int, alike: float, rows: int, seed: int) -> float:
    """Return what the test of Shiryaev and Roberts finds, with the same share of false alarms each night."""
    random, first = np.random.default_rng(seed), before - _BEFORE + 1
    none = _odds(drawn(rows, before + WEEK, alike, random), first, alike)
    some = _odds(drawn(rows, before + WEEK, alike, random, before), first, alike)
    quiet, limits = np.ones(rows, bool), []
    for night in none:
        limits.append(np.quantile(night[quiet], 1 - PER_NIGHT))
        quiet &= night <= limits[-1]
    alarms = some > np.array(limits)[:, None]
    early = alarms[:_BEFORE].any(axis=0)
    return float(alarms[_BEFORE:].any(axis=0)[~early].mean())


# -- noise and correlation not known ------------------------------------------------------------------------------
CORRELATIONS, NOISES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), (1.0, 1.15, 1.3, 1.5, 2.0)


def _likelihood(series: Series, alike: float, noise: float, at: int, change: float) -> Series:
    """Return the log likelihood of a change, whatever the level."""
    seen = series - change * (np.arange(series.shape[1]) >= at)
    kept, alone = 1 - alike, math.sqrt(1 - alike**2)
    first, rest = alone * seen[:, 0], seen[:, 1:] - alike * seen[:, :-1]
    size = alone**2 + rest.shape[1] * kept**2
    along = alone * first + kept * rest.sum(axis=1)
    squares = first**2 + (rest**2).sum(axis=1) - along**2 / size
    own = (noise * alone) ** 2
    return np.asarray(
        math.log(alone) - (math.log(size) + squares / own + rest.shape[1] * math.log(own)) / 2, dtype=np.float64
    )


def at_most_unknown(before: int, alike: float, rows: int, seed: int) -> float:
    """Return what no test exceeds that is right for each of the correlations and noises (of 5 to 10 %)."""
    random, places = np.random.default_rng(seed), [(a, n) for a in CORRELATIONS for n in NOISES]
    series = [noise * drawn(rows, before + WEEK, of, random) for of, noise in places]
    series.append(drawn(rows, before + WEEK, alike, random, before))
    some = [
        np.logaddexp(*(_likelihood(one, alike, 1.0, before, sign * SIZE) for sign in (1, -1))) for one in series
    ]
    none = [np.array([_likelihood(one, *place, before, 0.0) for place in places]) for one in series]
    weights, allowed, bounds = np.full(len(places), 1 / len(places)), WEEK * PER_NIGHT, list[float]()
    for _ in range(100):
        mixed = np.log(np.maximum(weights, 1e-300))[:, None]
        odds = [a - np.logaddexp.reduce(b + mixed, axis=0) for a, b in zip(some, none, strict=True)]
        pooled, shares = np.concatenate(odds[:-1]), np.repeat(weights / rows, rows)
        order = np.argsort(-pooled)
        limit = pooled[order][np.searchsorted(np.cumsum(shares[order]), allowed)]
        # any mixture bounds what can be found; the least favourable one is where all are wrong alike
        bounds.append(float((odds[-1] > limit).mean()))
        wrong = np.array([(one > limit).mean() for one in odds[:-1]])
        weights *= np.exp(np.clip(np.log((wrong + 1e-5) / allowed), -2, 2) / 2)
        weights /= weights.sum()
    return float(np.mean(bounds[-20:]))


# -- dbatk --------------------------------------------------------------------------------------------------------
def found(before: int, alike: float, rows: int, seed: int) -> float:
    """Return what dbatk finds within the week."""
    series = drawn(rows, before + WEEK, alike, np.random.default_rng(seed), before)
    left = rows
    for count in range(before + 1, before + WEEK + 1):
        evidence = np.concatenate([evidence_of_change(part[:, :count])[0] for part in _parts(series)])
        series = series[evidence <= limit(count)]
    return 1 - len(series) / left


def false_alarms(alike: float, rows: int, seed: int, count: int = 100) -> float:
    """Return how often dbatk alarms in 1,000 nights without a change, looking from the tenth night on."""
    series, looked = drawn(rows, count, alike, np.random.default_rng(seed)), 0
    for end in range(_BEFORE, count + 1):
        looked += len(series)
        evidence = np.concatenate([evidence_of_change(part[:, :end])[0] for part in _parts(series)])
        series = series[evidence <= limit(count)]
    return 1000 * (rows - len(series)) / looked


def _parts(series: Series) -> list[Series]:
    return [series[at : at + 500] for at in range(0, max(len(series), 1), 500)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", nargs="?", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    worst = 0.0
    for alike in (0.0, 0.3, 0.5):
        wrong = false_alarms(alike, given.series, given.seed)
        worst = max(worst, wrong)
        print(f"correlation {alike:g}: dbatk alarms falsely in {wrong:.2f} of 1,000 nights", flush=True)
        for before in NIGHTS:
            best = best_test(before, alike, 10 * given.series, given.seed)
            unknown = at_most_unknown(before, alike, 2 * given.series, given.seed)
            print(
                f"  {before:3} nights before: at most {at_most(before, alike):.0%}, every night {best:.0%}; "
                f"not knowing noise and correlation at most {unknown:.0%}; "
                f"dbatk {found(before, alike, given.series, given.seed):.0%}",
                flush=True,
            )
    return int(worst > 1 + 2 * math.sqrt(1000 / (90 * given.series)))


if __name__ == "__main__":
    sys.exit(main())
