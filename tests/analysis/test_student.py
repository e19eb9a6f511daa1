"""Student's t against published quantiles (NIST/SEMATECH e-Handbook 1.3.6.7.2 and closed forms)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.analysis.fit import beta_regularised, t_cdf, t_quantile

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


@pytest.mark.parametrize(("probability", "degrees", "expected"), PUBLISHED)
def test_the_quantile_is_the_published_one(probability: float, degrees: int, expected: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(expected, abs=0.00051)


@pytest.mark.parametrize("probability", [0.6, 0.8, 0.975, 0.9999])
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


@pytest.mark.parametrize(("probability", "degrees"), [(0, 4), (1, 4), (0.5, 0), (0.5, -1), (0.5, math.nan)])
def test_a_quantile_outside_its_range_is_refused(probability: float, degrees: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(probability, degrees)
