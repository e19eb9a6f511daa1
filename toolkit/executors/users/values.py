"""Draws the parameters of transactions: cheap, since it is done for each, and alike in every trial."""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, count

from toolkit.model.workload import Draw, Drawn, Transaction

Value = str | int
Values = Mapping[str, Value]


def choice_of(transactions: Sequence[Transaction], own: random.Random) -> Callable[[], int]:
    """Return what chooses a transaction by weight."""
    if len(transactions) == 1:
        return lambda: 0
    sums = list(accumulate(one.weight for one in transactions))
    whole, draw = sums[-1], own.random
    return lambda: min(bisect(sums, draw() * whole), len(sums) - 1)


def drawing(
    transaction: Transaction, own: random.Random, share: tuple[int, int], read: Mapping[str, Sequence[Value]]
) -> Callable[[], Values]:
    """Return what draws all parameters of a transaction.

    Args:
        transaction: whose.
        own: the source of chance of one user.
        share: the number of this user, from 0, and how many there are: a number of a sequence is drawn once.
        read: what the query of a parameter told, by the query.
    """
    draws = [(one.name, _of(one, own, share, read)) for one in transaction.parameters]
    return lambda: {name: draw() for name, draw in draws}


def _of(
    one: Drawn, own: random.Random, share: tuple[int, int], read: Mapping[str, Sequence[Value]]
) -> Callable[[], Value]:
    if one.draw is Draw.UNIFORM:
        low, span, draw = one.low, one.high - one.low + 1, own.random
        return lambda: low + int(draw() * span)
    if one.draw is Draw.ZIPF:
        zipf = Zipf(one.high - one.low + 1, one.skew, own.random)
        return lambda: one.low + zipf() - 1
    if one.draw is Draw.SEQUENCE:
        last = int(read[one.read][0]) + 1 if one.read and read[one.read] else one.low
        return count(last + share[0], share[1]).__next__
    values, draw = (read[one.read] if one.read else one.values), own.random
    length = len(values)
    return lambda: values[int(draw() * length)]


class Zipf:
    """Draws numbers from 1 to `count`, number n as often as n to the power of -skew says.

    By rejection-inversion: W. Hoermann, G. Derflinger, "Rejection-inversion to generate variates from monotone
    discrete distributions", ACM TOMACS 6 (1996): a few steps whatever the count.
    """

    def __init__(self, count: int, skew: float, draw: Callable[[], float]) -> None:
        self._count, self._skew, self._draw = count, skew, draw
        self._low = self._integral(1.5) - 1.0
        self._high = self._integral(count + 0.5)
        self._near = 2.0 - self._inverse(self._integral(2.5) - 2.0**-skew)

    def _integral(self, x: float) -> float:
        log = math.log(x)
        return log if abs(1.0 - self._skew) < 1e-9 else math.expm1((1.0 - self._skew) * log) / (1.0 - self._skew)

    def _inverse(self, y: float) -> float:
        if abs(1.0 - self._skew) < 1e-9:
            return math.exp(y)
        return math.exp(math.log1p(max(-1.0 + 1e-15, y * (1.0 - self._skew))) / (1.0 - self._skew))

    def __call__(self) -> int:
        while True:
            u = self._high + self._draw() * (self._low - self._high)
            x = self._inverse(u)
            number = min(max(int(x + 0.5), 1), self._count)
            if number - x <= self._near or u >= self._integral(number + 0.5) - number**-self._skew:
                return number
