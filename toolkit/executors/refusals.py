"""Several reads in one statement: parts that are refused are read one by one, once, and then left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import Step, together
from toolkit.model.values import Row

Ask = Callable[[Step], Answer]


@dataclass(slots=True)
class Refusals:
    """Parts that were refused in this run: name of the part, and the message of the database."""

    messages: dict[str, str] = field(default_factory=dict)

    def read(self, step: Step, ask: Ask) -> tuple[Row, ...]:
        """Return the rows of all parts that are not refused.

        Args:
            step: a read with parts; one without is its own only part.
            ask: runs a step in its session; must not tolerate what should be noted here.

        Raises:
            DatabaseError: when the session is lost.
        """
        left = [part for part in step.parts if part.name not in self.messages] if step.parts else [step]
        if not left:
            return ()
        try:
            return ask(together(left)).rows
        except (DatabaseError, ToolkitError) as error:
            if len(left) == 1:
                self._refuse(left[0], error)
                return ()
            _raise_when_lost(error)
        return tuple(row for part in left for row in self._alone(part, ask))

    def _alone(self, part: Step, ask: Ask) -> tuple[Row, ...]:
        try:
            return ask(part).rows
        except (DatabaseError, ToolkitError) as error:
            self._refuse(part, error)
            return ()

    def _refuse(self, part: Step, error: DatabaseError | ToolkitError) -> None:
        _raise_when_lost(error)
        self.messages[part.name] = error.sentence


def _raise_when_lost(error: DatabaseError | ToolkitError) -> None:
    if not isinstance(error, DatabaseError) or error.lost or error.cancelled:
        raise error
