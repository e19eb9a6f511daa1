"""A bench around a `World`: what a trial works with, without a database."""

from __future__ import annotations

from dataclasses import replace

from tests.engines.arena import Heard
from tests.runner.world import DIALECT, RUN, World
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Keep, Mode, OperationName
from toolkit.operations import operation
from toolkit.runner import Bench, Changes, Stop
from toolkit.store import Store

EXPERIMENT = Experiment(
    "db", OperationName.CTAS, {"source": "ORDERS", "table": "MADE"}, (Factor("degree", (1, 8)),), Mode.MEASUREMENT
)


def bench_of(world: World, store: Store, *, allow_commands: bool = True, **fields: object) -> Bench:
    """Return a bench; `fields` replace those of the experiment."""
    changes = Changes(world, DIALECT, store.journal(RUN), allow_commands=allow_commands)  # type: ignore[arg-type]
    experiment = replace(EXPERIMENT, **fields)  # type: ignore[arg-type]
    return Bench(
        RUN, experiment, operation(experiment.operation), DIALECT, DIALECT.assume("19-ee"), world, store,  # type: ignore[arg-type]
        changes, (), Stop(), Heard(),
    )  # fmt: skip


def warnings_of(bench: Bench) -> list[str]:
    assert isinstance(bench.events, Heard)
    return bench.events.texts("warning")


__all__ = ["EXPERIMENT", "Keep", "Mode", "bench_of", "warnings_of"]
