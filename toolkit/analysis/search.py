"""Search instead of sweep: which configurations run next, and when the answer is found (`--search`).

A search begins wide, with the lowest level, the highest and the one in the middle (of two factors: the corners and
the middle). After each sweep it predicts all configurations from those that were run (`surface`) and runs next

- the best one, and the likeliest of those of which it is still open how they compare with it (as in `sequential`);
- configurations that were never run, first those that are likeliest to be better by more than `MATTERS_PCT`;
- one in the widest gap, so that a second valley between what was run is not missed;
- on the way to the smallest level, one below it that should be good enough, too.

It ends when nothing of this is left. What it tells of configurations that were run stands on their intervals, as
in any run that goes on until enough is known; of the others it says what is predicted, not more.
Simulated beside whole sweeps in `benchmarks/search_curves.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby

from toolkit.analysis.cells import RunAnalysis, analyse, scale_level
from toolkit.analysis.choice import WORTH_PCT, granted_cells, shown_worse
from toolkit.analysis.fit import FEWEST_DEGREES
from toolkit.analysis.surface import Prediction, places, predictions
from toolkit.design.order import cells_of
from toolkit.design.searchable import searched_factors
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.protocols import AfterSweep
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.model.words import Outcome, RunState
from toolkit.units import counted, percent, seconds

MATTERS_PCT = 3.0
"""A configuration that was never run is tried where it may be better by more than this."""
_CHANCE = 0.1
"""As likely as this, at least."""
_SPREADS = 1.2816
"""Standard deviations of a normal value that are passed with this chance."""
_WIDEST = (0.15, 0.4)
"""How far what was never run may lie from what was, with one factor and with two (from 0 to 1)."""
_NEW, _APART = 2, 0.15
"""How many new ones a sweep tries, and how far they lie apart at least."""
_FEWEST = 3
"""Trials of the best one, at least."""
_OPEN = (1, 4)
"""How many run again that could not be told from the best one, with one factor and with two."""
_PASSED = 2
"""How many smaller ones not shown to be worse."""
_CLEARLY = WORTH_PCT + MATTERS_PCT


def after_sweep(sweep: int, load: Callable[[], RunRecord]) -> AfterSweep:
    """Say what the next sweep runs, or why there is none.

    Args:
        sweep: the one that ended, 0 for warm-ups; -1 where not even those have run.
        load: gives the run as it is stored.
    """
    run = load()
    wide = _wide(run.head.experiment)
    if sweep < 0:
        return AfterSweep(cells=frozenset(wide[1:]))  # what all share is warm then; the lowest takes longest
    ended = tuple(trial for trial in run.trials if trial.repeat <= sweep)
    return AfterSweep(cells=frozenset(wide)) if sweep == 0 else decide(replace(run, trials=ended))


def decide(run: RunRecord) -> AfterSweep:
    """Judge what a search has measured so far: what to run next, or why it ends."""
    found = analyse(run)
    if not granted_cells(found):
        return AfterSweep("no configuration that was tried has a result and was granted what it asked for")
    state = _State(found, predictions(found), _at(run.head.experiment))
    new = state.promising() or state.in_widest_gap() or state.smaller()
    open_ones = state.open()
    if not new and not open_ones and state.noise_is_known and found.by_cell[state.best].n >= _FEWEST:
        return AfterSweep(_reason(state))
    if not new and len(state.measured) < 2:
        return AfterSweep("fewer than two configurations have a result")
    again = open_ones[:1] if new or not state.noise_is_known else open_ones
    return AfterSweep(cells=frozenset((state.best, *again, *new)))


def undecided(found: RunAnalysis) -> list[Cell]:
    """Return the best of a search, and what it has run and has yet to learn of how it compares with the best."""
    if not granted_cells(found):
        return []
    state = _State(found, predictions(found), _at(found.run.head.experiment))
    return [state.best, *state.open()]


@dataclass(frozen=True, eq=False)
class _State:
    """A search so far: what was measured, and what is predicted."""

    found: RunAnalysis
    predicted: Mapping[Cell, Prediction]
    at: Mapping[Cell, tuple[float, ...]]

    @property
    def experiment(self) -> Experiment:
        return self.found.run.head.experiment

    @cached_property
    def measured(self) -> list[Cell]:
        """Return what has a result and was granted what it asked for."""
        return granted_cells(self.found)

    @cached_property
    def tried(self) -> frozenset[Cell]:
        return frozenset(summary.cell for summary in self.found.cells if summary.n or summary.outcomes)

    @cached_property
    def never_run(self) -> list[Cell]:
        """Return what was not tried yet, in the order of levels."""
        return [cell for cell in self.predicted if cell not in self.tried]

    @cached_property
    def best(self) -> Cell:
        return min(self.measured, key=lambda cell: self.predicted[cell].at_worst)

    @property
    def noise_is_known(self) -> bool:
        return self.found.fit.noise.degrees >= FEWEST_DEGREES

    def chance_better(self, cell: Cell) -> float:
        """Return how likely a configuration is better than the best one by more than what matters."""
        return self.predicted[cell].chance_below(self.predicted[self.best].mean - math.log1p(MATTERS_PCT / 100))

    def worse_pct(self, cell: Cell) -> float:
        """Return by how many per cent a configuration is predicted to be worse than the best one."""
        return 100 * math.expm1(self.predicted[cell].mean - self.predicted[self.best].mean)

    def surely_worse_pct(self, cell: Cell) -> float:
        """Return by how many per cent it is worse, but for as little a chance as what is tried for its own."""
        one, best = self.predicted[cell], self.predicted[self.best]
        return 100 * math.expm1(one.mean - _SPREADS * one.deviation - best.mean)

    def nearest(self, cell: Cell) -> Cell:
        """Return what was tried nearest to a configuration."""
        return min(self.tried, key=lambda other: math.dist(self.at[cell], self.at[other]))

    # -- what to run next -------------------------------------------------------------------------------------
    def promising(self) -> list[Cell]:
        chosen: list[Cell] = []
        chances = {cell: self.chance_better(cell) for cell in self.never_run}
        for cell in sorted(chances, key=lambda cell: -chances[cell]):
            if chances[cell] < _CHANCE or len(chosen) == _NEW:
                break
            if all(math.dist(self.at[cell], self.at[other]) > _APART for other in chosen):
                chosen.append(cell)
        return chosen

    def in_widest_gap(self) -> list[Cell]:
        tried_places = [self.at[cell] for cell in self.tried]
        far = {cell: min(math.dist(self.at[cell], other) for other in tried_places) for cell in self.never_run}
        widest = max(far, key=lambda cell: far[cell], default=None)
        limit = _WIDEST[len(searched_factors(self.experiment.factors)) - 1]
        return [] if widest is None or far[widest] <= limit else [widest]

    def smaller(self) -> list[Cell]:
        """Return one below the smallest level that is good enough which should be good enough, too."""
        smallest = min(self.level(cell) for cell in self.measured if self.worse_pct(cell) <= WORTH_PCT)
        below = [c for c in self.never_run if self.level(c) < smallest and self.worse_pct(c) <= WORTH_PCT]
        below.sort(key=lambda cell: (self.level(cell), self.worse_pct(cell)))
        return below[len(below) // 2 :][:1]

    def open(self) -> list[Cell]:
        """Return the measured configurations of which it matters how they compare with the best one."""
        if not self.noise_is_known:
            return sorted(set(self.measured) - {self.best}, key=lambda cell: self.predicted[cell].mean)
        asked = 1 + (self.experiment.detect_pct or 0.0) / 100
        against = {cell: self.found.ratio(cell, self.best)[1] for cell in self.measured if cell != self.best}
        alike = {cell for cell, seen in against.items() if seen and 1 / asked <= seen.low and seen.high <= asked}
        unsettled = [
            cell
            for cell, seen in against.items()
            if not shown_worse(seen) and (cell not in alike or self.chance_better(cell) > _CHANCE)
        ]
        worth = 1 + WORTH_PCT / 100
        passed = [
            cell
            for cell, interval in against.items()
            if self.level(cell) < self.level(self.best) and self.worse_pct(cell) > _CLEARLY
            and not shown_worse(interval, worth)
        ]  # fmt: skip
        unsettled.sort(key=lambda cell: self.predicted[cell].mean)
        passed.sort(key=self.level)
        most = _OPEN[len(searched_factors(self.experiment.factors)) - 1]
        return list(dict.fromkeys((*unsettled[:most], *passed[:_PASSED])))

    def level(self, cell: Cell) -> float:
        """Return the level of the factor of which the smallest good one is recommended; 0 without one."""
        return scale_level(cell, self.found.scale) or 0.0


def _at(experiment: Experiment) -> dict[Cell, tuple[float, ...]]:
    return dict(zip(cells_of(experiment.factors), places(experiment), strict=True))


def _wide(experiment: Experiment) -> tuple[Cell, ...]:
    """Return what a search begins with, the lowest first: every corner, and what is nearest to the middle."""
    at = _at(experiment)
    corners = sorted((cell for cell in at if {0.0, 1.0}.issuperset(at[cell])), key=lambda cell: at[cell])
    middle = tuple(0.5 for _ in at[corners[0]])
    return tuple(dict.fromkeys((*corners, min(at, key=lambda cell: math.dist(at[cell], middle)))))


# -- afterwards -------------------------------------------------------------------------------------------------
class Prospect(StrEnum):
    """What is predicted of configurations that were never run."""

    WORSE = "worse"
    NO_BETTER = "no better"
    NO_RESULT = "no result"
    """Nothing: what was tried nearest to them has no result."""
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class NotRun:
    """Configurations that a search left out, and what is predicted of them; `worse_pct` of the best of them."""

    cells: tuple[Cell, ...]
    expected: Prospect
    worse_pct: float

    @property
    def sentence(self) -> str:
        """Say what is predicted."""
        if self.expected is Prospect.WORSE:
            return f"{_named(self.cells)}: predicted to be worse by {percent(self.worse_pct)} or more"
        if self.expected is Prospect.NO_BETTER:
            return f"{_named(self.cells)}: not predicted to be better by more than {MATTERS_PCT:g} %"
        if self.expected is Prospect.NO_RESULT:
            return f"{_named(self.cells)}: not tried, since their neighbours had no result or were downgraded"
        return f"{_named(self.cells)}: may be better by more than {MATTERS_PCT:g} %"


def not_run(run: RunRecord) -> tuple[NotRun, ...]:
    """Return what a search has not run, in the order of levels, in groups of which the same is predicted."""
    if not run.head.experiment.search:
        return ()
    found = analyse(run)
    if not granted_cells(found):
        begun = {trial.cell for trial in run.trials}
        left = tuple(cell for cell in cells_of(run.head.experiment.factors) if cell not in begun)
        return (NotRun(left, Prospect.OPEN, 0.0),) if left else ()
    state = _State(found, predictions(found), _at(run.head.experiment))
    never = set(state.never_run)
    ordered = sorted(state.at, key=lambda cell: state.at[cell])
    groups = groupby(ordered, key=lambda cell: _expected(state, cell) if cell in never else None)
    return tuple(
        NotRun(cells, expected, min(map(state.surely_worse_pct, cells)))
        for expected, each in groups
        if expected is not None and (cells := tuple(each))
    )


def _expected(state: _State, cell: Cell) -> Prospect:
    if state.nearest(cell) not in state.measured:
        return Prospect.NO_RESULT
    if state.surely_worse_pct(cell) > MATTERS_PCT:
        return Prospect.WORSE
    return Prospect.NO_BETTER if state.chance_better(cell) < _CHANCE else Prospect.OPEN


def ended_because(run: RunRecord) -> str:
    """Say why a search that is done has no more trials."""
    experiment = run.head.experiment
    sweeps = counted(max((trial.repeat for trial in run.trials), default=0), "sweep")
    reason = decide(run).reason
    if reason:
        return f"the search ended after {sweeps}: {reason}"
    if any(trial.repeat >= experiment.repeat for trial in run.trials):
        return f"the search ended after {sweeps}, the most there are: {_STILL_OPEN}"
    budget = experiment.budget_seconds
    used = "" if budget is None else f", since the budget of {seconds(budget)} was used up"
    return f"the search ended after {sweeps}{used}: {_STILL_OPEN}"


_STILL_OPEN = "some configurations that were run could not be told from the best, or some others may be better"


def what_was_not_run(run: RunRecord) -> tuple[str, ...]:
    """Say which configurations were never run, and what is predicted of them."""
    left = not_run(run)
    if not left:
        return ()
    many = sum(len(group.cells) for group in left)
    most_telling = sorted(left, key=lambda group: group.expected is not Prospect.OPEN)
    more = len(left) - _MOST_SHOWN
    shown = "; ".join(group.sentence for group in most_telling[: _MOST_SHOWN if more > 1 else None])
    return (
        f"{counted(many, 'configuration')} never run, so nothing is claimed of them; by the curve through those "
        f"that were run, against the best: {shown}{f'; and {more} more such groups' if more > 1 else ''}",
    )


_MOST_SHOWN = 6


def _reason(state: _State) -> str:
    cells = len(state.predicted)
    left = len(state.never_run)
    ran = f"{cells - left} of {counted(cells, 'configuration')} were run"
    if not left:
        return f"{ran}, and each is told from `{state.best}` or shown not to differ from it"
    return f"{ran}, and no other is likely to be better than `{state.best}` by more than {MATTERS_PCT:g} %"


def _named(cells: Sequence[Cell]) -> str:
    """Name neighbours in the order of levels: of one factor by the first and the last."""
    if len(cells) == 1:
        return f"`{cells[0]}`"
    if len(cells) == 2:
        return f"`{cells[0]}` and `{cells[1]}`"
    return f"{len(cells):,} from `{cells[0]}` to `{cells[-1]}`"


# -- what is left -----------------------------------------------------------------------------------------------
def left_to_do(planned: Sequence[PlannedTrial], run: RunRecord) -> tuple[PlannedTrial, ...]:
    """Leave out, of a search that goes on, what its sweeps so far did not run; all if it has ended."""
    if not run.trials:
        return tuple(planned)
    begun = max(trial.repeat for trial in run.trials)
    numbers = {trial.trial for trial in run.trials}
    ended = {trial.trial for trial in run.trials if trial.outcome is not Outcome.INTERRUPTED}
    cells = after_sweep(begun - 1, lambda: run).cells or frozenset()
    now = [each for each in planned if each.repeat == begun and (each.cell in cells or each.number in numbers)]
    earlier = [each for each in planned if each.repeat < begun and each.number in numbers]
    over = begun > 0 and all(each.number in ended for each in now) and bool(decide(run).reason)
    return (*earlier, *now, *(() if over else (each for each in planned if each.repeat > begun)))


def first_to_run(experiment: Experiment, planned: Sequence[PlannedTrial]) -> tuple[PlannedTrial, ...]:
    """Return the trials that a search begins with: later ones are watched for room one by one."""
    wide = _wide(experiment)
    return tuple(each for each in planned if each.repeat <= 1 and each.cell in (wide if each.repeat else wide[1:]))


def what_a_search_needs(experiment: Experiment, history: Sequence[RunRecord]) -> str:
    """Say what a search begins with and when it ends, and what the last one like it took."""
    begins = ", ".join(f"`{cell}`" for cell in sorted(_wide(experiment), key=lambda cell: _at(experiment)[cell]))
    ends = (
        f"a search: it begins with {begins} and ends when none that was not run is likely to be better by more "
        f"than {MATTERS_PCT:g} %, after {experiment.repeat} sweeps at most"
    )
    alike = [
        run
        for run in history
        if run.head.experiment.search
        and run.head.state is RunState.DONE
        and run.head.ended_at is not None
        and (run.head.experiment.options, run.head.experiment.factors) == (experiment.options, experiment.factors)
    ]
    last = max(alike, key=lambda run: run.head.began_at, default=None)
    if last is None or last.head.ended_at is None:
        return f"{ends}; how long that takes is not known: no such search is stored"
    took = seconds((last.head.ended_at - last.head.began_at).total_seconds())
    ran = counted(len({trial.cell for trial in last.trials}), "configuration")
    return f"{ends}; the last one ran {ran} in {took}"
