"""Options that are mutually exclusive whatever the database: refused before anybody connects.

Levels of a sweep count where every one of them says it: a cell that cannot be had among others that can is a
result of the sweep, not bad input.
"""

from __future__ import annotations

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, Options, declaration, every_option
from toolkit.model.words import OperationName


def check_contradictions(operation: OperationName, options: Options, levels: Levels) -> None:
    """Refuse what no cell could do on any database.

    Raises:
        ToolkitError: TK-0107 for options that are mutually exclusive; as the operation's own check.
    """
    declared = declaration(operation)
    for one, other, why in declared.excludes:
        if surely(one, options, levels) and surely(other, options, levels):
            raise exclude(one, other, why)
    if declared.check is not None:
        declared.check(options, levels)


def check_one_session(operation: OperationName, levels: Levels) -> None:
    """Refuse several sessions for a job that one statement does.

    Raises:
        ToolkitError: TK-0107.
    """
    why = declaration(operation).one_session
    if why and levels.get("concurrency", (1,)) != (1,):
        raise ToolkitError(
            f"`--concurrency` is for measurements only: {why}",
            code="TK-0107",
            hint="use `--degree` for more processes, or measure with `--repeat 3`",
        )


def values_of(name: str, options: Options, levels: Levels) -> tuple[object, ...]:
    """Return every value that an option was given."""
    return levels[name] if name in levels else (options[name],) if name in options else ()


def surely(name: str, options: Options, levels: Levels) -> bool:
    """Tell whether an option is on in every cell."""
    values = values_of(name, options, levels)
    return bool(values) and all(values)


def exclude(one: str, other: str, why: str) -> ToolkitError:
    """Return the refusal of two options together."""
    known = every_option()
    flags = f"`{known[one].flag}` and `{known[other].flag}`"
    return ToolkitError(f"{flags} are mutually exclusive: {why}", code="TK-0107", hint="use only one of them")
