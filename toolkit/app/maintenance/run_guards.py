"""Guards of one run: the same limits as a plan's, for a job or a measurement from the command line.

Each trial, and each chunk of a purge, waits for them as a step of a plan waits for its begin; a trial that runs is
stopped where a plan would stop its step.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from toolkit.app.maintenance.guards import GuardKeeper, wait_for_guards
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.runs.execute import Guarding
from toolkit.app.targets import ResolvedTarget
from toolkit.design.guards import guards_of
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.plan import Guards, OnBreach, PlanStep
from toolkit.model.protocols import Event, Events
from toolkit.runner import Gates, Stop

_TICK_SECONDS = 0.5
_NAME = "dbatk guards"
"""Of their session: it is none of the run's, which are ended when the run is repaired."""


@dataclass(slots=True)
class RunGuards:
    """Holds the trials of one run back while a limit is passed."""

    keeper: GuardKeeper
    step: PlanStep
    run: str
    stop: Stop
    at_work: bool = False

    def before_trial(self) -> None:
        """Wait until a trial may begin; ask the run to end when it has waited long enough."""
        self.at_work = False
        self.at_work = wait_for_guards(self.keeper, self.step, self.stop, "trial", self._hint)

    def before_item(self) -> None:
        """Wait until the next chunk may begin, while those of other sessions go on; as `before_trial`."""
        wait_for_guards(self.keeper, self.step, self.stop, "chunk", self._hint)

    def look(self) -> None:
        """Ask the run to end when a guard stops the trial at work."""
        for _, because in self.keeper.to_stop((self.step.name,) if self.at_work else ()):
            self.stop.request(ToolkitError(because.message, code="TK-0311", hint=self._hint))

    @property
    def _hint(self) -> str:
        return f"`dbatk runs resume {self.run}` continues it, under the same guards"


def _guards_of_run(experiment: Experiment) -> Guards:
    """Return the guards; what is to be stopped where it runs is not waited for either, unless it is said how long.

    A trial that may not begin is given up after as many looks as one at work; a plan has a window instead.
    """
    guards = guards_of(experiment.guards)
    if guards.on_breach is not OnBreach.STOP or guards.wait_at_most_seconds is not None:
        return guards
    return replace(guards, wait_at_most_seconds=guards.looks * guards.every_seconds)


def guarding(resolved: ResolvedTarget, events: Events) -> Guarding:
    """Return what watches the guards of a run while it lasts.

    Args:
        resolved: the target of the run.
        events: receive what the guards have to say.
    """

    @contextmanager
    def guarded(run: str, experiment: Experiment, stop: Stop) -> Iterator[Gates]:
        if not experiment.guards:
            yield Gates()
            return
        step = PlanStep(str(experiment.operation), experiment.operation, guards=_guards_of_run(experiment))
        place = PlanTarget(experiment.target, resolved, (TargetStep(step, experiment),))

        def say(sentence: str) -> None:
            events.emit(Event("warning", sentence, {"run": run}))

        keeper = GuardKeeper(
            place, _NAME, lambda: {run: step.name}, say, lambda: datetime.now(UTC), in_window=False
        )
        guards, ended = RunGuards(keeper, step, run, stop), threading.Event()

        def looks() -> None:
            while not ended.wait(_TICK_SECONDS):
                guards.look()

        with keeper:
            threading.Thread(target=looks, daemon=True, name="guards of the run").start()
            try:
                yield Gates(guards.before_trial, guards.before_item)
            finally:
                ended.set()

    return guarded
