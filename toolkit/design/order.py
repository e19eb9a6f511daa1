"""Cells of an experiment and the order in which their trials run.

A whole sweep runs per repeat, warm-up sweeps first. The order within sweeps is seeded and counter-balanced: over
all repeats every cell stands, in sum, at the same place (within one place where no exact balance exists), so that
a linear drift of the machine hits all cells alike. Two sweeps balance by running an order and its reverse. Three
sweeps of k cells balance by the rows of a magic rectangle (T. R. Hagedorn, "Magic rectangles revisited", Discrete
Mathematics 207, 1999): `i`, `i + k // 2 (mod k)`, and what is missing to a constant sum.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from random import Random

from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.values import Cell, Factor
from toolkit.units import seconds

MOST_TRIALS = 100_000


def cells_of(factors: Sequence[Factor]) -> tuple[Cell, ...]:
    """Return every combination of levels, the last factor varying fastest."""
    names = [factor.name for factor in factors]
    combinations = itertools.product(*(factor.levels for factor in factors))
    return tuple(Cell(tuple(zip(names, levels, strict=True))) for levels in combinations)


def cells_of_experiment(experiment: Experiment) -> tuple[Cell, ...]:
    """Return the configurations of an experiment, in the order of its levels."""
    return experiment.only or cells_of(experiment.factors)


def budget_used_up(budget_seconds: float) -> str:
    """Say that a budget ends a run before its next trial: what the warning of such a run begins with."""
    return f"the budget of {seconds(budget_seconds)} is used up"


def check_count(configurations: int, sweeps: int) -> None:
    """Refuse more trials than can be kept.

    Raises:
        ToolkitError: TK-0103.
    """
    if configurations * sweeps > MOST_TRIALS:
        raise ToolkitError(
            f"{configurations:,} configurations and {sweeps:,} sweeps make more than {MOST_TRIALS:,} trials",
            code="TK-0103",
            hint="sweep fewer levels or fewer factors at once",
        )


def plan_trials(
    factors: Sequence[Factor], *, repeat: int, warmup: int, seed: int, only: Sequence[Cell] = ()
) -> tuple[PlannedTrial, ...]:
    """Return all trials in the order they run; the same for the same arguments.

    Args:
        factors: what is varied; no factor gives one cell without levels.
        repeat: counted sweeps, at least 1.
        warmup: sweeps before them that do not count.
        seed: of the shuffles.
        only: the cells, where they are not all combinations.

    Raises:
        ToolkitError: TK-0103 when there would be more than `MOST_TRIALS` trials.
    """
    count = len(only) or math.prod(len(factor.levels) for factor in factors)
    check_count(count, repeat + warmup)
    cells = tuple(only) or cells_of(factors)
    random = Random(seed)  # noqa: S311 - an order of trials is no secret
    sweeps = itertools.chain(
        ((0, _shuffled(count, random)) for _ in range(warmup)),
        enumerate(_balanced(count, repeat, random), 1),
    )
    ordered = ((sweep, cells[place]) for sweep, order in sweeps for place in order)
    return tuple(PlannedTrial(number, cell, sweep) for number, (sweep, cell) in enumerate(ordered, 1))


def _balanced(count: int, sweeps: int, random: Random) -> Iterator[list[int]]:
    if sweeps % 2:
        yield from _three(count, random) if sweeps >= 3 else [_shuffled(count, random)]
    for _ in range((sweeps - 3 if sweeps >= 3 and sweeps % 2 else sweeps) // 2):
        order = _shuffled(count, random)
        yield order
        yield order[::-1]


def _three(count: int, random: Random) -> Iterator[list[int]]:
    """Yield three orders in which the places of every cell have the same sum, or differ by one."""
    first = list(range(count))
    second = [(place + count // 2) % count for place in first]
    by_sum = sorted(first, key=lambda item: -(first[item] + second[item]))
    third = [0] * count
    for place, item in enumerate(by_sum):
        third[item] = place
    names = _shuffled(count, random)
    rows = [first, second, third]
    random.shuffle(rows)
    for places in rows:
        order = [0] * count
        for item, place in enumerate(places):
            order[place] = names[item]
        yield order


def _shuffled(count: int, random: Random) -> list[int]:
    order = list(range(count))
    random.shuffle(order)
    return order
