"""Student's t and the studentized range against published quantiles.

Sources: NIST/SEMATECH e-Handbook 1.3.6.7.2 and closed forms; Harter, Annals of Mathematical Statistics 31 (1960),
1122.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.analysis.quantiles import beta_regularised, range_cdf, range_quantile, t_cdf, t_quantile

PUBLISHED = [
    (0.975, 1, 12.706),
    (0.975, 2, 4.303),
    (0.975, 3, 3.182),
    (0.975, 4, 2.776),
    (0.975, 5, 2.571),
    (0.975, 10, 2.228),
    (0.975, 30, 2.042),
    (0.975, 100, 1.984),
    (0.90, 1, 3.078),
    (0.90, 6, 1.440),
    (0.95, 4, 2.132),
    (0.95, 60, 1.671),
    (0.99, 8, 2.896),
    (0.995, 20, 2.845),
    (0.999, 1, 318.309),
    (0.999, 12, 3.930),
]


@for_each(("probability", "degrees", "expected"), PUBLISHED)
def test_the_quantile_is_the_published_one(probability: float, degrees: int, expected: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(expected, abs=0.00051)


@for_each("probability", [0.6, 0.8, 0.975, 0.9999])
def test_one_and_two_degrees_of_freedom_have_closed_forms(probability: float) -> None:
    tail = 2 * probability - 1
    assert t_quantile(probability, 1) == pytest.approx(math.tan(math.pi * tail / 2), rel=1e-9)
    assert t_quantile(probability, 2) == pytest.approx(tail * math.sqrt(2 / (1 - tail**2)), rel=1e-9)


def test_many_degrees_of_freedom_give_the_normal_quantile() -> None:
    assert t_quantile(0.975, 1e6) == pytest.approx(1.959966, abs=1e-5)


@given(st.floats(0.001, 0.999), st.floats(0.5, 400))
def test_the_quantile_inverts_the_distribution(probability: float, degrees: float) -> None:
    assert t_cdf(t_quantile(probability, degrees), degrees) == pytest.approx(probability, abs=1e-9)


@given(st.floats(0.51, 0.999), st.floats(0.5, 400))
def test_the_distribution_is_symmetric(probability: float, degrees: float) -> None:
    assert t_quantile(1 - probability, degrees) == pytest.approx(-t_quantile(probability, degrees), rel=1e-6)


@given(st.floats(0, 1), st.floats(0.1, 50))
def test_the_incomplete_beta_of_one_is_a_power(x: float, a: float) -> None:
    assert beta_regularised(x, a, 1) == pytest.approx(x**a, abs=1e-9)


@for_each(("probability", "degrees"), [(0, 4), (1, 4), (0.5, 0), (0.5, -1), (0.5, math.nan)])
def test_a_quantile_outside_its_range_is_refused(probability: float, degrees: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(probability, degrees)


RANGES = [
    (3, 10, 3.877), (3, 4, 5.040), (6, 20, 4.445), (10, 5, 6.995), (20, 60, 5.241), (5, 40, 4.039),
]  # fmt: skip


@for_each(("values", "degrees", "expected"), RANGES)
def test_the_quantile_of_the_range_is_the_published_one(values: int, degrees: int, expected: float) -> None:
    assert range_quantile(0.95, values, degrees) == pytest.approx(expected, abs=0.0015)


@given(st.integers(4, 400))
def test_the_range_of_two_values_is_their_difference(degrees: int) -> None:
    expected = math.sqrt(2) * t_quantile(0.975, degrees)
    assert range_quantile(0.95, 2, degrees) == pytest.approx(expected, rel=1e-5)


@given(st.integers(2, 200), st.integers(4, 300), st.floats(0.5, 0.999))
def test_the_quantile_inverts_the_distribution_of_the_range(values: int, degrees: int, probability: float) -> None:
    assert range_cdf(range_quantile(probability, values, degrees), values, degrees) == pytest.approx(
        probability, abs=1e-5
    )


@given(st.integers(2, 64), st.integers(4, 100))
def test_more_values_have_a_wider_range_and_more_degrees_of_freedom_a_narrower_one(
    values: int, degrees: int
) -> None:
    assert range_quantile(0.95, values + 1, degrees) > range_quantile(0.95, values, degrees)
    assert range_quantile(0.95, values, degrees + 1) < range_quantile(0.95, values, degrees)


@for_each("wrong", [(0.0, 3, 10), (1.0, 3, 10), (0.95, 1, 10), (0.95, 3, 1.5), (0.95, 3, math.nan)])
def test_what_has_no_quantile_of_the_range_is_refused(wrong: tuple[float, int, float]) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        range_quantile(*wrong)
