"""The order of trials: every cell once per sweep, seeded, and a drift hits all cells alike."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.design.order import cells_of, plan_trials
from toolkit.errors import ToolkitError
from toolkit.model.values import Cell, Factor


def factor(count: int, name: str = "degree") -> Factor:
    return Factor(name, tuple(range(1, count + 1)))


def test_cells_are_all_combinations_in_the_factors_order() -> None:
    cells = cells_of((Factor("degree", (1, 2)), Factor("compression", ("none", "basic"))))
    assert [str(cell) for cell in cells] == [
        "degree=1,compression=none",
        "degree=1,compression=basic",
        "degree=2,compression=none",
        "degree=2,compression=basic",
    ]


def test_no_factor_makes_one_cell() -> None:
    assert cells_of(()) == (Cell(()),)


@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 7), st.integers(0, 2), st.integers(0, 2**31))
def test_every_sweep_has_every_cell_once(first: int, second: int, repeat: int, warmup: int, seed: int) -> None:
    factors = (factor(first), factor(second, "users"))
    trials = plan_trials(factors, repeat=repeat, warmup=warmup, seed=seed)
    cells = len(cells_of(factors))
    assert [trial.number for trial in trials] == list(range(1, len(trials) + 1))
    assert len(trials) == cells * (repeat + warmup)
    expected = [0] * (cells * warmup) + [sweep for sweep in range(1, repeat + 1) for _ in range(cells)]
    assert [trial.repeat for trial in trials] == expected
    for begin in range(0, len(trials), cells):
        assert set(Counter(trial.cell for trial in trials[begin : begin + cells]).values()) == {1}


@given(st.integers(1, 40), st.integers(2, 9), st.integers(0, 2**31))
def test_the_places_of_all_cells_have_the_same_sum(count: int, repeat: int, seed: int) -> None:
    trials = plan_trials((factor(count),), repeat=repeat, warmup=0, seed=seed)
    places: dict[Cell, int] = defaultdict(int)
    for trial in trials:
        places[trial.cell] += (trial.number - 1) % count
    spread = max(places.values()) - min(places.values())
    exact = repeat % 2 == 0 or count % 2 == 1
    assert spread <= (0 if exact else 1)


@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 2**31))
def test_the_seed_decides(count: int, repeat: int, seed: int) -> None:
    first = plan_trials((factor(count),), repeat=repeat, warmup=1, seed=seed)
    assert first == plan_trials((factor(count),), repeat=repeat, warmup=1, seed=seed)


def test_seeds_give_different_orders() -> None:
    orders = {
        tuple(trial.cell for trial in plan_trials((factor(6),), repeat=1, warmup=0, seed=s)) for s in range(20)
    }
    assert len(orders) > 15


def test_every_cell_may_come_first() -> None:
    firsts = {plan_trials((factor(4),), repeat=3, warmup=0, seed=seed)[0].cell["degree"] for seed in range(60)}
    assert firsts == {1, 2, 3, 4}


def test_a_sweep_of_too_many_trials_is_refused_before_it_is_made() -> None:
    with pytest.raises(ToolkitError, match="more than 100,000 trials"):
        plan_trials((factor(1000), factor(1000, "users")), repeat=3, warmup=1, seed=1)
