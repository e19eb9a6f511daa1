"""What a run works with, put together once and handed to every trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Refusals, Sessions
from toolkit.model.experiment import Experiment, Naming, Spec
from toolkit.model.facts import Facts
from toolkit.model.protocols import Event, Events
from toolkit.model.runid import run_key
from toolkit.model.values import Cell
from toolkit.model.words import Mode
from toolkit.operations import Operation, Planner
from toolkit.runner.changes import Changes
from toolkit.runner.stop import Stop
from toolkit.runner.workers import Workers
from toolkit.snapshots import Provider
from toolkit.snapshots.host import DISTURBED_ABOVE, STANDS_OUT_BY
from toolkit.store import Store


def spec_of(experiment: Experiment) -> Spec:
    """Return what an operation needs to know of an experiment."""
    return Spec(
        experiment.operation,
        experiment.mode,
        experiment.options,
        experiment.work_schema,
        experiment.keep,
        experiment.factors,
    )


@dataclass(slots=True)
class BackgroundLoad:
    """The load of others so far: a trial is disturbed when it stands out, not when the host is always busy."""

    seen: list[float] = field(default_factory=list)

    def disturbs(self, part: float | None) -> bool:
        """Note the part of the host that others took in a trial, and tell whether it disturbed it."""
        if part is None:
            return False
        usual = sorted(self.seen)[len(self.seen) // 2] if self.seen else part
        self.seen.append(part)
        return part > max(DISTURBED_ABOVE, usual + STANDS_OUT_BY)

    @property
    def sentence(self) -> str | None:
        """Say it when the host was busy with other work all along."""
        if not self.seen:
            return None
        usual = sorted(self.seen)[len(self.seen) // 2]
        if usual <= DISTURBED_ABOVE / 2:
            return None
        return (
            f"others used {100 * usual:.0f} % of this host's CPU during the trials (median): times are uncertain"
        )


@dataclass(slots=True)
class RunContext:
    """The run, its database and its store; `attempt` counts the times it was begun or resumed."""

    run: str
    experiment: Experiment
    operation: Operation
    dialect: Dialect
    facts: Facts
    sessions: Sessions
    store: Store
    changes: Changes
    providers: Sequence[Provider]
    stop: Stop
    events: Events
    attempt: int = 1
    source_has_rows: bool = False
    warned: set[str] = field(default_factory=set)
    others: BackgroundLoad = field(default_factory=BackgroundLoad)
    refusals: Refusals = field(default_factory=Refusals)
    record: Facts | None = None
    """The facts of the run's very beginning, where it was resumed."""
    plans_kept: set[Cell] = field(default_factory=set)
    workers: Workers = field(default_factory=Workers)
    needed_bytes: float | None = None
    free_bytes: Callable[[], float | None] = lambda: None

    def planner(self, sequence: int = 0) -> Planner:
        """Return the planner for objects of one attempt of one trial."""
        naming = Naming(run_key(self.run), sequence, self.dialect.upper_names)
        return Planner(self.dialect, spec_of(self.experiment), self.facts, naming)

    @property
    def job(self) -> bool:
        return self.experiment.mode is Mode.JOB

    def warn(self, sentence: str) -> None:
        """Show a warning and keep it with the run, once; also where the store cannot be written any more."""
        if sentence in self.warned:
            return
        self.warned.add(sentence)
        self.events.emit(Event("warning", sentence))
        # Warnings are said while things are put back, which goes on; the next result that cannot be kept raises.
        with suppress(ToolkitError):
            self.store.warn(self.run, sentence)
