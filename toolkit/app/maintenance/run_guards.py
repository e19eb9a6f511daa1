"""Guards of one run: the same limits as a plan's, for a job or a measurement from the command line.

Each trial waits for them as a step of a plan waits for its begin; a trial that runs is stopped where a plan would
stop its step.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from toolkit.app.maintenance.guards import GuardKeeper
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.runs.execute import Guarding
from toolkit.app.targets import ResolvedTarget
from toolkit.design.guards import guards_of
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.plan import PlanStep
from toolkit.model.protocols import Event, Events
from toolkit.runner import Stop

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
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def before_trial(self) -> None:
        """Wait until a trial may begin; ask the run to end when it has waited long enough."""
        self.at_work = False
        while not self.stop.requested:
            with self._turn:
                hold = self.keeper.before(self.step)
            if hold is None:
                self.at_work = True
                return
            if hold.for_good:
                self.stop.request(self._ended(f"the next trial was {hold.reason}"))
            else:
                self.stop.wait(_TICK_SECONDS)

    def look(self) -> None:
        """Ask the run to end when a guard stops the trial at work."""
        with self._turn:
            for _, because in self.keeper.to_stop((self.step.name,) if self.at_work else ()):
                self.stop.request(self._ended(because.message))

    def _ended(self, sentence: str) -> ToolkitError:
        hint = f"`dbatk runs resume {self.run}` continues it, under the same guards"
        return ToolkitError(sentence, code="TK-0311", hint=hint)


def guarding(resolved: ResolvedTarget, events: Events) -> Guarding:
    """Return what watches the guards of a run while it lasts.

    Args:
        resolved: the target of the run.
        events: receive what the guards have to say.
    """

    @contextmanager
    def guarded(run: str, experiment: Experiment, stop: Stop) -> Iterator[Callable[[], None]]:
        if not experiment.guards:
            yield lambda: None
            return
        step = PlanStep(str(experiment.operation), experiment.operation, guards=guards_of(experiment.guards))
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
                yield guards.before_trial
            finally:
                ended.set()

    return guarded
