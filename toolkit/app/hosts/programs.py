"""A host on which jobs of a mix run, seen from the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from toolkit.app.hosts.agent import Assignment, run_program
from toolkit.app.hosts.held import HeldHost
from toolkit.app.hosts.talk import ClusterHost
from toolkit.model.protocols import Answer
from toolkit.model.steps import Step
from toolkit.model.words import Effect, Role


class ProgramsElsewhere(HeldHost):
    """Runs programs on a host of a cluster; safe to `cancel` from another thread."""

    def __init__(self, place: ClusterHost, assignment: Assignment) -> None:
        super().__init__(place, assignment)
        self.at_work = 0

    def run(self, step: Step, asked_to_end: Callable[[], bool]) -> Answer:
        """Run a program to its end; when it began and ended is told by our clock.

        Raises:
            DatabaseError: it failed or was cancelled, or the host is lost.
        """
        if step.session is not Role.WORKER or self._talk is None:
            self.make_ready()  # off the clock it may be there again
        talk, told = self._talk_of(), False

        def tick() -> None:
            nonlocal told
            if not told and step.effect is not Effect.DROPS and asked_to_end():
                told = True
                talk.dismiss(only_cancel=True)

        with self._lock:
            self.at_work += 1
        try:
            ran = talk.call(partial(run_program, talk.key, step), tick)
        finally:
            with self._lock:
                self.at_work -= 1
        return ran.answer(ahead=talk.clock.ahead_seconds)
