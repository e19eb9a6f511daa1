"""What can be searched: levels in an order, numbers and sizes, of which something lies between."""

from __future__ import annotations

import math
from collections.abc import Sequence

from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor, Level
from toolkit.units import parse_bytes

FEWEST_SEARCHED = 4
"""Of fewer configurations a search would run all."""
_MOST_SEARCHED_FACTORS = 2


def number_of(level: Level) -> float | None:
    """Return a number or a size as a number; None for what has no order."""
    if isinstance(level, bool):
        return None
    if isinstance(level, int | float):
        return float(level)
    try:
        return float(parse_bytes(level))
    except ToolkitError:
        return None


def places_of(levels: Sequence[Level]) -> tuple[float, ...]:
    """Place levels between 0, the lowest, and 1: by their logarithms where all are positive.

    Raises:
        ValueError: a level has no order.
    """
    numbers = [number for level in levels if (number := number_of(level)) is not None]
    if len(numbers) < len(levels):
        msg = f"levels without an order: {levels}"
        raise ValueError(msg)
    if min(numbers) > 0:
        numbers = [math.log(number) for number in numbers]
    low, width = min(numbers), max(numbers) - min(numbers)
    return tuple((number - low) / width if width else 0.0 for number in numbers)


def searched_factors(factors: Sequence[Factor]) -> tuple[Factor, ...]:
    """Return the factors that are varied."""
    return tuple(factor for factor in factors if len(factor.levels) > 1)


def refuse_search(experiment: Experiment, where: str) -> None:
    """Refuse a search where configurations are fixed before the first trial.

    Raises:
        ToolkitError: TK-0107.
    """
    if experiment.search:
        raise ToolkitError(
            f"`search` chooses after each sweep what to run next, which {where} cannot do",
            code="TK-0107",
            hint="omit it, and give the levels to compare",
        )


def check_searchable(factors: Sequence[Factor]) -> None:
    """Refuse to search where nothing lies between two levels, or where there is nothing to leave out.

    Raises:
        ToolkitError: TK-0107.
    """
    varied = searched_factors(factors)
    cells = math.prod(len(factor.levels) for factor in varied)
    if cells < FEWEST_SEARCHED:
        only = "is only one" if cells == 1 else f"are only {cells}"
        raise ToolkitError(
            f"`--search` leaves configurations out, but there {only}",
            code="TK-0107",
            hint=f"give {FEWEST_SEARCHED} or more levels, such as `--degree 1..32`, or omit `--search`",
        )
    if len(varied) > _MOST_SEARCHED_FACTORS:
        names = " and ".join(f"`{factor.name}`" for factor in varied)
        raise ToolkitError(
            f"`--search` is over one factor or two, but {names} are varied",
            code="TK-0107",
            hint="give all but two factors one level each, or omit `--search`",
        )
    for factor in varied:
        wrong = next((level for level in factor.levels if number_of(level) is None), None)
        if wrong is not None:
            raise ToolkitError(
                f"`--search` needs levels in an order, but `{factor.name}` has `{wrong}`",
                code="TK-0107",
                hint="give numbers or sizes, or omit `--search`",
            )
