"""When a measurement has enough: after each further sweep, until what it was asked to detect is known.

A measurement without a number of repeats goes on until each configuration is settled against the best one: shown
to be worse, or shown not to differ by as much as was asked for (`--detect 10%`). Configurations that are shown to
be worse by more than that are given up on the way.

Who looks again and again must be more careful at each look. Looks follow each other at growing distances, at ten
numbers of repeats at most, and each is held at the same level (Pocock, *Biometrika* 64 (1977), 191), of 99.25 %:
the intervals of all looks hold together at 95 %, those of all configurations of a run, too (Tukey's range at each
look). The level was chosen by simulation, for 2 to 12 configurations (`tests/analysis/test_sequential.py`). An
interval that is shown of such a run is that of its look: nothing is reported by a narrower one than decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from toolkit.analysis import search
from toolkit.analysis.cells import analyse
from toolkit.analysis.fit import FEWEST_DEGREES, ConfidenceInterval
from toolkit.design.order import budget_used_up
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.protocols import AfterSweep, Stopping
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.model.words import Outcome, RunState
from toolkit.units import counted, seconds

LOOKS = (3, 4, 5, 6, 8, 10, 12, 14, 17, 20)
"""Numbers of repeats after which a run is looked at; the last one is the most that is measured."""


def rule_of(experiment: Experiment) -> Stopping | None:
    """Return who decides between the sweeps of an experiment; None where all that is planned is run."""
    if experiment.detect_pct is None:
        return None
    return search.after_sweep if experiment.search else after_sweep


def after_sweep(sweep: int, load: Callable[[], RunRecord]) -> AfterSweep:
    """Say whether a run goes on after a whole sweep, and which configurations are given up.

    Args:
        sweep: the number of repeats of each configuration so far.
        load: gives the run as it is stored.
    """
    if sweep not in LOOKS:
        return AfterSweep()
    return decide(load())


def decide(run: RunRecord) -> AfterSweep:
    """Judge what a run has measured so far by what it was asked to detect."""
    asked = run.head.experiment.detect_pct
    found = analyse(run)
    measured = [summary.cell for summary in found.cells if summary.n]
    if asked is None:
        return AfterSweep()
    if len(measured) < 2:
        return AfterSweep("fewer than two configurations have a result")
    if found.fit.noise.degrees < FEWEST_DEGREES:
        return AfterSweep()
    best = min(measured, key=found.rank)
    against = {cell: found.ratio(cell, best)[1] for cell in measured if cell != best}
    bad = frozenset(cell for cell, interval in against.items() if interval and interval.low > 1 + asked / 100)
    if all(_settled(interval, asked) for interval in against.values()):
        return AfterSweep(_reason(best, against, asked), bad)
    return AfterSweep("", bad)


def _settled(interval: ConfidenceInterval | None, asked: float) -> bool:
    """Whether it is known that one is worse than the other, or that they do not differ by as much as was asked."""
    if interval is None:
        return False
    return interval.low > 1 or (interval.high <= 1 + asked / 100 and interval.low >= 1 / (1 + asked / 100))


def _reason(best: Cell, against: Mapping[Cell, ConfidenceInterval | None], asked: float) -> str:
    worse = sum(interval is not None and interval.low > 1 for interval in against.values())
    parts = [f"{counted(worse, 'configuration')} shown to be worse than `{best}`"] if worse else []
    if worse < len(against):
        parts.append(f"a difference of {asked:g} % from `{best}` excluded for {len(against) - worse}")
    return "; ".join(parts)


# -- afterwards -------------------------------------------------------------------------------------------------
def given_up(run: RunRecord) -> dict[Cell, int]:
    """Return the configurations that were given up, and after how many repeats."""
    if run.head.experiment.detect_pct is None or run.head.experiment.search:
        return {}
    last: dict[Cell, int] = {}
    for trial in run.trials:
        last[trial.cell] = max(last.get(trial.cell, 0), trial.repeat)
    most = max(last.values(), default=0)
    # a sweep that was cut off lacks some that nobody gave up
    whole = most if run.head.state is RunState.DONE else most - 1
    return {cell: repeat for cell, repeat in last.items() if repeat < whole}


def used_up_budget(run: RunRecord) -> str | None:
    """Say that the budget ended a run between two trials; None where something else did."""
    budget = run.head.experiment.budget_seconds
    if budget is None or run.head.state is not RunState.INTERRUPTED:
        return None
    said = budget_used_up(budget)
    return said if any(warning.startswith(said) for warning in run.warnings) else None


def ended_because(run: RunRecord) -> str | None:
    """Say why a run that went on until it knew enough has no more trials; None for other runs."""
    experiment = run.head.experiment
    if experiment.detect_pct is None or run.head.state is not RunState.DONE:
        return None
    if experiment.search:
        return search.ended_because(run)
    repeats = counted(max((trial.repeat for trial in run.trials), default=0), "repeat")
    reason = decide(run).reason
    if reason:
        return f"ended after {repeats}: {reason}"
    if any(trial.repeat >= experiment.repeat for trial in run.trials):
        return f"ended after {repeats}, the most without `--repeat`: {_open(experiment)}"
    if experiment.budget_seconds is not None:
        return (
            f"ended after {repeats}, since the budget of {seconds(experiment.budget_seconds)} was used up: "
            + _open(experiment)
        )
    return f"ended after {repeats}: {_open(experiment)}"


def _open(experiment: Experiment) -> str:
    return f"it is still open whether some configurations differ by {experiment.detect_pct:g} %"


def how_it_ended(run: RunRecord) -> tuple[str, ...]:
    """Say why a run that went on until it knew enough has no more trials, and which configurations it gave up."""
    why = ended_because(run)
    up: dict[int, list[Cell]] = {}
    for cell, repeats in given_up(run).items():
        up.setdefault(repeats, []).append(cell)
    worse = f"shown to be worse by more than {run.head.experiment.detect_pct or 0:g} %"
    return (
        *((why,) if why else ()),
        *search.what_was_not_run(run),
        *(
            f"given up after {counted(repeats, 'repeat')}, {worse}: {_named(cells)}"
            for repeats, cells in sorted(up.items())
        ),
    )


def _named(cells: Sequence[Cell]) -> str:
    more = len(cells) - _MOST_NAMED
    return ", ".join(f"`{cell}`" for cell in cells[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


_MOST_NAMED = 6


# -- what is left -----------------------------------------------------------------------------------------------
def left_to_do(planned: Sequence[PlannedTrial], run: RunRecord) -> tuple[PlannedTrial, ...]:
    """Leave out, of a run that goes on, what was decided: all further sweeps, or those of some configurations."""
    if run.head.experiment.detect_pct is None:
        return tuple(planned)
    if run.head.experiment.search:
        return search.left_to_do(planned, run)
    begun = max((trial.repeat for trial in run.trials), default=0)
    if begun in LOOKS and _whole(planned, run, begun) and decide(run).reason:
        return tuple(each for each in planned if each.repeat <= begun and each.cell not in given_up(run))
    return tuple(each for each in planned if each.cell not in given_up(run))


def _whole(planned: Sequence[PlannedTrial], run: RunRecord, sweep: int) -> bool:
    """Whether all trials of a sweep ended."""
    ended = {trial.trial for trial in run.trials if trial.outcome is not Outcome.INTERRUPTED}
    up = given_up(run)
    return all(each.number in ended for each in planned if each.repeat == sweep and each.cell not in up)


def sure_to_run(experiment: Experiment, planned: Sequence[PlannedTrial]) -> tuple[PlannedTrial, ...]:
    """Return the trials up to the first look: later ones are watched for room one by one."""
    if experiment.detect_pct is None:
        return tuple(planned)
    if experiment.search:
        return search.first_to_run(experiment, planned)
    return tuple(each for each in planned if each.repeat <= LOOKS[0])
