"""Simulated sweeps that are predicted by earlier ones: how often one number is said, and how often it is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from statistics import fmean

from tests.analysis.curves import Machine, law, repeated, swept
from toolkit.analysis.cells import analyse
from toolkit.analysis.outlook import NEAR, Forecast, detectable, expected
from toolkit.analysis.sequential import decide
from toolkit.design.order import cells_of
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell, Factor

LEVELS = ((1, 2), (1, 2, 4), (1, 2, 4, 8), (1, 2, 4, 8, 16, 32))
OTHERS = (3, 5, 7)
Predicted = Iterator[tuple[str, Forecast, float]]


@dataclass(frozen=True)
class Scene:
    """What is known before a sweep, and of which machine.

    Attributes:
        name: as a table has it.
        runs: that are stored.
        of: repeats of each of them; None for those that ended by themselves.
        noise: of a trial at most; at least 1 %.
        is_equal: whether all configurations are alike; else they follow a scaling law.
        repeats: `--repeat` of the sweep that is predicted; none for a run by default.
        varies: the standard deviation of the logarithm of the noise from run to run.
        shifts: the standard deviation of the logarithm of all times of a run.
        is_known: whether the configurations that are predicted are those of the stored runs.
    """

    name: str
    runs: int
    of: int | None
    noise: float
    is_equal: bool
    repeats: int | None = None
    varies: float = 0.0
    shifts: float = 0.0
    is_known: bool = True

    def sweeps(self, count: int) -> Iterator[Predicted]:
        """Simulate sweeps, each on another machine, and yield what was predicted of it, and what came."""
        for seed in range(count):
            yield self._sweep(Random(f"{self}{seed}"))

    def _sweep(self, random: Random) -> Predicted:
        levels = random.choice(LEVELS[1:] if self.repeats else LEVELS)
        times: Callable[[int], float] = law(random.uniform(0, 0.3), 2 ** random.uniform(1, 5))
        noise = random.uniform(0.01, self.noise)

        def machine(levels: tuple[int, ...]) -> Machine:
            factor, longer = Factor("degree", levels), math.exp(random.gauss(0, self.shifts))
            each = {
                cell: 10 * longer * (1.0 if self.is_equal else times(int(cell["degree"])))
                for cell in cells_of([factor])
            }
            return Machine("given", (factor,), each, noise * math.exp(random.gauss(0, self.varies)))

        earlier = []
        for number in range(self.runs):
            one, seed = machine(levels if self.is_known else OTHERS), random.getrandbits(32)
            run = (swept(one, seed) if self.of is None else repeated(one, seed, self.of)).run
            earlier.append(replace(run, head=replace(run.head, run=f"r{number}")))
        one, seed = machine(levels), random.getrandbits(32)
        last = repeated(one, seed, self.repeats) if self.repeats else swept(one, seed)
        cells = list(one.seconds)
        return predictions(last.run, cells, earlier, last.spent)


def predictions(run: RunRecord, cells: list[Cell], earlier: Sequence[RunRecord], spent: float) -> Predicted:
    """Predict a run by earlier ones, the newest first, and yield each quantity beside what came."""
    is_fixed = run.head.experiment.detect_pct is None
    return (_fixed if is_fixed else _by_default)(run, cells, earlier, spent)


def _by_default(run: RunRecord, cells: list[Cell], earlier: Sequence[RunRecord], spent: float) -> Predicted:
    told = expected(run.head.experiment, cells, earlier)
    assert told.repeats is not None and told.detects is not None
    yield "repeats", told.repeats, max(trial.repeat for trial in run.trials)
    if told.seconds is not None:
        yield "time", told.seconds, spent
    yield "difference", told.detects, detected(run)


def _fixed(run: RunRecord, cells: list[Cell], earlier: Sequence[RunRecord], spent: float) -> Predicted:
    told = detectable(run.head.experiment, cells, earlier)
    assert told is not None and told.seconds is not None
    yield "time", told.seconds, spent
    yield "difference", told.detects, detected(run)


def detected(run: RunRecord) -> float:
    """Return what was asked for of a run that ended by itself, else what its last look detects, in per cent."""
    asked = run.head.experiment.detect_pct
    if asked is not None and decide(run).reason:
        return asked
    repeats = max(trial.repeat for trial in run.trials)
    found = analyse(run).fit.noise.times(2 / repeats).minimum_detectable_pct()
    return max(asked or 0.0, math.inf if found is None else found)


@dataclass
class Tally:
    """How well one quantity was predicted: whether a number was said and right, and whether the range held."""

    right: list[bool] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)

    def add(self, told: Forecast, came: float) -> None:
        """Count one sweep."""
        self.held.append(told.low <= came <= told.high)
        if told.number is not None:
            self.right.append(abs(told.number - came) <= NEAR * came)

    @property
    def said(self) -> float:
        """Return the share of sweeps of which a number was said."""
        return len(self.right) / len(self.held)

    def holds(self, errors: float = 2.0) -> bool:
        """Whether the numbers and the ranges are right in nine of ten, but for so many standard errors."""
        return all(
            fmean(each) >= 0.9 - errors * math.sqrt(0.09 / len(each)) for each in (self.right, self.held) if each
        )


def tallied(scene: Scene, count: int) -> dict[str, Tally]:
    """Simulate sweeps and count what was predicted well, by quantity."""
    tallies: dict[str, Tally] = {}
    for sweep in scene.sweeps(count):
        for quantity, told, came in sweep:
            tallies.setdefault(quantity, Tally()).add(told, came)
    return tallies
