"""What the workers' sessions are set to.

Where every step that sets a session up says how it is undone, the session stays as it is from trial to trial and
only what differs is sent: every statement is a round trip. After a failure it is put back as a whole, and at the
end of the run in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Stages, Step
from toolkit.model.words import Role


@dataclass(frozen=True, slots=True)
class _Set:
    """A session as it was set up: which one it is, by which steps, and how it is put back."""

    identity: str
    begun: tuple[Step, ...]
    end: tuple[Step, ...]


def stays(stages: Stages) -> bool:
    """Tell whether a session set up for these stages may stay so after the trial."""
    return bool(stages.worker_begin) and all(step.undo for step in stages.worker_begin)


@dataclass(slots=True)
class Workers:
    """The sessions that are set up now, by number."""

    _now: dict[int, _Set] = field(default_factory=dict)

    def due(self, number: int, identity: str, stages: Stages) -> Iterator[Step]:
        """Yield the steps that make a session what a trial wants, from what it is; all of them for a new one."""
        now = self._now.pop(number, None)
        begun = now.begun if now is not None and now.identity == identity else ()
        wanted = {step.text for step in stages.worker_begin}
        for step in reversed(begun):
            if step.text not in wanted:
                yield from (replace(step, text=text, undo=(), name=f"{step.name} undo") for text in step.undo)
        there = {step.text for step in begun}
        yield from (step for step in stages.worker_begin if step.text not in there)
        if stays(stages):
            self._now[number] = _Set(identity, stages.worker_begin, stages.worker_end)

    def forget(self, number: int) -> None:
        """Take a session out: it was put back, or is lost."""
        self._now.pop(number, None)

    def set_up(self, sessions: Sessions, stages: Stages) -> None:
        """Set sessions up before the first trial; what fails here fails again, and is reported, in the trial."""
        for number in range(stages.timed.workers if stays(stages) else 0):
            with suppress(DatabaseError, ToolkitError):
                identity = sessions.get(Role.WORKER, number).identity
                for step in self.due(number, identity, stages):
                    sessions.run(step, number)

    def put_back(self, sessions: Sessions, failed: Callable[[int, DatabaseError | ToolkitError], None]) -> None:
        """Put every session back at the end of the run."""
        for number, now in list(self._now.items()):
            self.forget(number)
            try:
                if sessions.get(Role.WORKER, number).identity != now.identity:
                    continue
                for step in now.end:
                    sessions.run(step, number)
            except (DatabaseError, ToolkitError) as error:
                failed(number, error)
