"""Simulated machines, of which the true times are known, searched and swept by the rules of real runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from tests.report.make import run_of, trial
from toolkit.analysis import search, sequential
from toolkit.analysis.advice import advise
from toolkit.analysis.cells import RunAnalysis, analyse
from toolkit.analysis.choice import best_of, granted_cells
from toolkit.design.order import cells_of
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import AfterSweep
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell, Factor

DETECT_PCT, MOST = 10.0, 20
DRIFT = 0.02
"""Standard deviation between sweeps, which all configurations of a sweep share."""


@dataclass(frozen=True)
class Machine:
    """The true seconds of each configuration, and the noise of a trial on the logarithmic scale."""

    kind: str
    factors: tuple[Factor, ...]
    seconds: Mapping[Cell, float]
    noise: float


def law(serial: float, peak: float) -> Callable[[int], float]:
    """Return the time by the Universal Scalability Law; Amdahl's with a peak at infinity."""
    return lambda n: (1 + serial * (n - 1) + (1 - serial) / peak**2 * n * (n - 1)) / n


def drawn_curve(random: Random, kind: str, count: int) -> list[float]:
    """Return the times of the levels 1 to `count`."""
    if kind == "peak":
        times = law(random.uniform(0, 0.3), 2 ** random.uniform(0.5, math.log2(count) + 0.5))
    elif kind == "amdahl":
        times = law(random.uniform(0.02, 0.3), math.inf)
    elif kind == "monotone":
        power = random.uniform(-1, -0.3)
        times = lambda n: n**power  # noqa: E731
    elif kind == "step":
        at, height = random.randint(2, count), random.uniform(1.1, 2)
        times = lambda n: height if n < at else 1.0  # noqa: E731
    else:
        times = lambda n: 1.0  # noqa: E731
    return [10 * times(n) for n in range(1, count + 1)]


KINDS = ("peak", "peak", "peak", "flat", "amdahl", "monotone", "step")


def drawn_machine(seed: int) -> Machine:
    """Return a machine with one factor of 16 to 64 levels."""
    random = Random(seed)
    count, kind = random.choice((16, 24, 32, 64)), random.choice(KINDS)
    factor = Factor("degree", tuple(range(1, count + 1)))
    times = drawn_curve(random, kind, count)
    cells = cells_of([factor])
    return Machine(kind, (factor,), dict(zip(cells, times, strict=True)), random.uniform(0.02, 0.10))


def drawn_grid(seed: int) -> Machine:
    """Return a machine with two factors, whose effects multiply or the second one's depends on the first."""
    random = Random(seed)
    factors = (Factor("degree", tuple(range(1, 17))), Factor("memory", tuple(2**n for n in range(8))))
    degree = drawn_curve(random, random.choice(KINDS), 16)
    enough, gain, shared = 2 ** random.uniform(0, 8), random.uniform(0, 0.6), random.choice((0.0, 1.0))

    def seconds(cell: Cell) -> float:
        n, memory = float(cell["degree"]), float(cell["memory"])
        return degree[int(n) - 1] * (1 + gain / (1 + (memory / n**shared / enough) ** 2))

    cells = cells_of(factors)
    return Machine("grid", factors, {cell: seconds(cell) for cell in cells}, random.uniform(0.02, 0.10))


@dataclass(frozen=True)
class Measured:
    """A simulated run: what was stored, and how long all its trials took, warm-ups included."""

    run: RunRecord
    spent: float
    spent_after_three: float

    @cached_property
    def found(self) -> RunAnalysis:
        return analyse(self.run)


def _measure(
    machine: Machine, random: Random, experiment: Experiment, rule: Callable[[int, RunRecord], AfterSweep]
) -> Measured:
    trials: list[TrialRecord] = []
    made = run_of((), factors=machine.factors)
    head = replace(made.head, experiment=experiment)
    run = replace(made, head=head)
    given_up: set[Cell] = set()
    spent = three = 0.0
    after = rule(-1, run)
    for sweep in range(MOST + 1):
        drift = random.gauss(0, DRIFT)
        for cell in machine.seconds if after.cells is None else [c for c in machine.seconds if c in after.cells]:
            if cell not in given_up:
                took = machine.seconds[cell] * math.exp(random.gauss(0, machine.noise) + drift)
                trials.append(trial(len(trials) + 1, cell, sweep, took))
                spent += took
        run = replace(run, trials=tuple(trials))
        three = spent if sweep == 3 else three
        after = rule(sweep, run)
        given_up |= after.given_up
        if after.reason:
            break
    return Measured(run, spent, three or spent)


def _experiment(machine: Machine, *, searched: bool) -> Experiment:
    made = run_of((), factors=machine.factors).head.experiment
    return replace(made, detect_pct=DETECT_PCT, repeat=MOST, search=searched)


def searched(machine: Machine, seed: int) -> Measured:
    """Search, as `--search` does."""
    return _measure(
        machine,
        Random(seed),
        _experiment(machine, searched=True),
        lambda sweep, run: search.after_sweep(sweep, lambda: run),
    )


def swept(machine: Machine, seed: int) -> Measured:
    """Sweep all configurations until enough is known, as a measurement does without `--search`."""
    return _measure(
        machine,
        Random(seed),
        _experiment(machine, searched=False),
        lambda sweep, run: sequential.after_sweep(sweep, lambda: run),
    )


def repeated(machine: Machine, seed: int, repeats: int) -> Measured:
    """Sweep all configurations so many times, as `--repeat` does."""
    experiment = replace(_experiment(machine, searched=False), detect_pct=None, repeat=repeats)
    return _measure(
        machine, Random(seed), experiment, lambda sweep, run: AfterSweep("" if sweep < repeats else "all are run")
    )


def best_of_run(measured: Measured) -> Cell:
    """Return the configuration that a run takes for the best."""
    found = measured.found
    return best_of(found, granted_cells(found))


def recommended(measured: Measured) -> Sequence[Cell]:
    """Return what a run recommends, if anything."""
    return advise(measured.found).recommended


def claims_falsely(machine: Machine, measured: Measured) -> bool:
    """Whether any interval of two configurations that were run tells a difference that is not there."""
    found = measured.found
    cells = granted_cells(found)
    for place, one in enumerate(cells):
        for other in cells[place + 1 :]:
            interval, true = found.ratio(one, other)[1], machine.seconds[one] / machine.seconds[other]
            if interval is not None and (
                (interval.low > 1 and true <= 1 + 1e-9) or (interval.high < 1 and true >= 1 - 1e-9)
            ):
                return True
    return False
