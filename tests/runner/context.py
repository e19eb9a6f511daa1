"""A run context around a `World`: what a trial works with, without a database."""

from __future__ import annotations

from dataclasses import replace

from tests.engines.arena import Heard
from tests.runner.world import DIALECT, RUN, World
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Keep, Mode
from toolkit.runner import Changes, PlanningContext, RunContext, Stop
from toolkit.store import Store

EXPERIMENT = Experiment(
    "db", "ctas", {"source": "ORDERS", "table": "MADE"}, (Factor("degree", (1, 8)),), Mode.MEASUREMENT
)


def context_of(world: World, store: Store, *, allow_commands: bool = True, **fields: object) -> RunContext:
    """Return a context; `fields` replace those of the experiment."""
    changes = Changes(world, DIALECT, store.journal(RUN), allow_commands=allow_commands)  # type: ignore[arg-type]
    experiment = replace(EXPERIMENT, **fields)  # type: ignore[arg-type]
    planning = PlanningContext(experiment, DIALECT, DIALECT.assume("19-ee"))
    return RunContext(RUN, planning, None, world, store, changes, (), Stop(), Heard())  # type: ignore[arg-type]


def warnings_of(context: RunContext) -> list[str]:
    assert isinstance(context.events, Heard)
    return context.events.texts("warning")


__all__ = ["EXPERIMENT", "Keep", "Mode", "context_of", "warnings_of"]
