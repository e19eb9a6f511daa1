"""Sweep by sweep, until what was asked for is known: the rule itself is given (`analysis.sequential`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import Event
from toolkit.model.values import Cell
from toolkit.model.words import RunState
from toolkit.runner.context import RunContext
from toolkit.runner.todo import SweepProgress
from toolkit.units import counted, seconds


def until_known(
    context: RunContext,
    todo: Sequence[PlannedTrial],
    progress: SweepProgress,
    given_up: set[Cell],
    run: Callable[[Sequence[PlannedTrial]], RunState],
) -> RunState:
    """Run sweep by sweep, and end where what was asked for is known or the budget has no room for another.

    Args:
        context: the run; without a rule to stop by all trials are run.
        todo: its trials, sweep by sweep.
        progress: how long they take.
        given_up: the configurations that are run no more; added to here.
        run: runs the trials it is given.
    """
    stopping = context.stopping
    if stopping is None:
        return run(todo)
    stored = partial(context.store.load_run, context.run, samples=False)
    chosen = stopping(todo[0].repeat - 1, stored).cells
    for number, (repeat, trials) in enumerate(groupby(todo, key=lambda planned: planned.repeat)):
        sweep = [planned for planned in trials if planned.cell not in given_up]
        if chosen is not None:
            sweep = [planned for planned in sweep if planned.cell in chosen]
            progress.total = progress.ended + len(sweep)
        if number and repeat > 1 and not _has_time_for(context, sweep, progress):
            return RunState.DONE
        state = run(sweep)
        if state is not RunState.DONE:
            return state
        after = stopping(repeat, stored)
        for cell in sorted(after.given_up - given_up, key=str):
            given_up.add(cell)
            context.events.emit(Event("sweep-ended", f"{cell} is given up: shown to be clearly worse"))
        if after.reason:
            ended = f"ended after {counted(repeat, 'repeat')}: {after.reason}"
            context.events.emit(Event("sweep-ended", ended, {"repeat": repeat, "reason": after.reason}))
            return RunState.DONE
        chosen = after.cells
    return RunState.DONE


def _has_time_for(context: RunContext, sweep: Sequence[PlannedTrial], progress: SweepProgress) -> bool:
    budget = context.experiment.budget_seconds
    takes = progress.expect_like(each.cell for each in sweep)
    if budget is None or progress.spent + takes <= budget:
        return True
    # no warning: the run says why it ended with what it knows
    context.events.emit(Event("sweep-ended", f"the budget of {seconds(budget)} has no room for another sweep"))
    return False
