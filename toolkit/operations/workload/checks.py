"""What is refused of a workload before anybody connects."""

from __future__ import annotations

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, Options
from toolkit.units import parse_duration

MEASURE, UP, DOWN = 30.0, 5.0, 0.0
"""Default seconds."""
TRIES = 10
_SHORTEST_SECONDS = 1.0


def measured_seconds(options: Options) -> float:
    """Return how long is measured."""
    given = options.get("measure_for")
    return MEASURE if given is None else parse_duration(str(given))


def check(options: Options, levels: Levels) -> None:
    """Refuse what cannot be right.

    Raises:
        ToolkitError: TK-0107.
    """
    del levels
    if measured_seconds(options) < _SHORTEST_SECONDS:
        raise ToolkitError(
            "`--measure-for` is shorter than a second: nothing could be told from it",
            code="TK-0107",
            hint="30s is the default",
        )
