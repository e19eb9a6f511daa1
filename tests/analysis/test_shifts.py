"""Changes of level: how often one is found where there is none, and how soon a real one, looking every night."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from toolkit.analysis.shifts import FEWEST, evidence_of_change, limit, shifts


def nights(rows: int, count: int, alike: float, spread: float, seed: int) -> NDArray[np.float64]:
    """Draw the logarithms of times whose neighbours are correlated."""
    chance = np.random.default_rng(seed).standard_normal((rows, count))
    for at in range(1, count):
        chance[:, at] = alike * chance[:, at - 1] + np.sqrt(1 - alike**2) * chance[:, at]
    return chance * np.sqrt(np.log(1 + spread**2))


def first_alarms(series: NDArray[np.float64], begin: int) -> tuple[int, int]:
    """Return in how many rows looking each night from `begin` on finds a change, and the nights looked at."""
    quiet, found, looked = series, 0, 0
    for end in range(begin, series.shape[1] + 1):
        evidence, _ = evidence_of_change(quiet[:, :end])
        alarms = evidence > limit(end)
        looked += len(quiet)
        found += int(alarms.sum())
        quiet = quiet[~alarms]
    return found, looked


@pytest.mark.full
@pytest.mark.parametrize(("alike", "spread"), [(0.0, 0.05), (0.0, 0.2), (0.5, 0.05), (0.5, 0.2)])
def test_looking_every_night_is_wrong_in_at_most_one_of_a_thousand_nights(alike: float, spread: float) -> None:
    found, looked = first_alarms(nights(200, 100, alike, spread, 1), FEWEST)
    # 1 in 1,000 allowed; two standard errors of so many nights allow for half as many again
    assert 1000 * found / looked <= 1.5


@pytest.mark.parametrize(("before", "alike", "least"), [(60, 0.0, 0.77), (100, 0.0, 0.87), (60, 0.3, 0.3)])
def test_a_tenth_more_is_found_within_seven_nights(before: int, alike: float, least: float) -> None:
    series = nights(300, before + 7, alike, 0.05, 2)
    series[:, before:] += np.log(1.1)
    found, _ = first_alarms(series, before + 1)
    assert found / 300 >= least


def test_a_tenth_more_has_no_floor_to_pass() -> None:
    chance = random.Random(3)
    (found,) = shifts([(66 if night >= 60 else 60) * chance.uniform(0.97, 1.03) for night in range(80)])
    assert found.index == 60
    assert (found.before, found.after) == (pytest.approx(60, rel=0.02), pytest.approx(66, rel=0.02))


def test_two_new_nights_are_no_change_yet_and_no_place_before_them_is_named() -> None:
    chance = random.Random(3)
    series = [(66 if night >= 60 else 60) * chance.uniform(0.97, 1.03) for night in range(63)]
    assert [shifts(series[:end]) for end in (61, 62)] == [[], []]
    assert [one.index for one in shifts(series)] == [60]


def test_a_change_that_was_found_stays_found_the_nights_after() -> None:
    chance = random.Random(4)
    series = [(80 if night >= 30 else 60) * chance.uniform(0.9, 1.1) for night in range(60)]
    seen = [tuple(one.index for one in shifts(series[:end])) for end in range(FEWEST, 61)]
    first = next(at for at, found in enumerate(seen) if found)
    assert set(seen[:first]) == {()} and set(seen[first:]) == {(30,)}
    assert first + FEWEST <= 37


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_values_that_have_no_logarithm_are_judged_as_they_are(value: float) -> None:
    chance = random.Random(5)
    series = [value, *(chance.uniform(9, 11) - 10 for _ in range(20)), *(chance.uniform(9, 11) for _ in range(20))]
    assert [one.index for one in shifts(series)] == [21]


def test_a_value_that_is_always_the_same_warns_of_nothing() -> None:
    with np.errstate(all="raise"):
        assert shifts([0.0] * 30) == []
        assert [one.index for one in shifts([0.0] * 15 + [5.0] * 15)] == [15]
