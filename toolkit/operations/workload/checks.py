"""What is refused of a workload before anybody connects."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, Options
from toolkit.operations.hosts import check_hosts
from toolkit.units import counted, parse_duration

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
        ToolkitError: TK-0102, TK-0107.
    """
    check_hosts(options, levels, "users live")
    for level in levels.get("weights", ()):
        weights_of(str(level), _names(options))
    for name in ("rate", "think_time"):
        if "server" in levels.get("loop", ()) and any(float(str(level)) for level in levels.get(name, ())):
            flag = f"--{name.replace('_', '-')}"
            raise ToolkitError(
                f"`{flag}` lets users wait, and a loop in the server begins each transaction when the last one "
                "has ended",
                code="TK-0107",
                hint=f"omit `{flag}`, or `--loop server`",
            )
    if measured_seconds(options) < _SHORTEST_SECONDS:
        raise ToolkitError(
            "`--measure-for` is shorter than a second: nothing could be told from it",
            code="TK-0107",
            hint="30s is the default",
        )


def weights_of(text: str, names: Sequence[str]) -> tuple[float, ...]:
    """Read one level of `--weights`: a number for each transaction; one of 0 is left out.

    Raises:
        ToolkitError: TK-0102 for what is no such number, or nothing but 0; TK-0107 where they are too few or many.
    """
    parts = [part.strip() for part in text.split(":")]
    if not all(_WEIGHT.fullmatch(part) for part in parts) or not any(map(float, parts)):
        raise ToolkitError(
            f"`--weights` cannot be `{text}`",
            code="TK-0102",
            hint="give a number for each transaction, at least one of them above 0, as 45:43:6:6",
        )
    if len(parts) != len(names):
        raise ToolkitError(
            f"`--weights {text}` has {counted(len(parts), 'number')}, and there {_are(len(names))}",
            code="TK-0107",
            hint=f"give one for each: {', '.join(names)}",
        )
    return tuple(map(float, parts))


def _are(count: int) -> str:
    return f"{'is' if count == 1 else 'are'} {counted(count, 'transaction')}"


def _names(options: Options) -> tuple[str, ...]:
    """Return the names of the transactions, in their order."""
    from toolkit.design.transactions import parse_transactions
    from toolkit.dialects.workloads import BUILT_IN

    if (name := options.get("builtin")) is not None:
        return tuple(one.name for one in BUILT_IN[str(name)].transactions)
    return tuple(one.name for one in parse_transactions(str(options["transactions"])))


_WEIGHT = re.compile(r"\d{1,9}(?:\.\d{1,9})?", re.ASCII)
