"""Options and levels of an experiment as words of a command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.operations import every_option
from toolkit.model.options import OptionKind
from toolkit.model.values import Level, spell_level

_NOT_TYPED = frozenset({OptionKind.QUERY, OptionKind.TRANSACTIONS, OptionKind.JOBS, OptionKind.ARGUMENTS})
"""Options whose value is a text that no command line has."""


def typed(options: Mapping[str, OptionValue]) -> Iterator[str]:
    """Spell options as typed.

    Raises:
        ToolkitError: TK-0107 for one whose value is a text that no command line has.
    """
    for name, value in options.items():
        option = every_option()[name]
        if option.kind in _NOT_TYPED:
            raise ToolkitError(
                f"`{option.key}` cannot stand in a mix",
                code="TK-0107",
                hint='put it into an experiment file, and name that: `file = "x.toml"`',
            )
        if option.kind is OptionKind.FLAG:
            yield from (option.flag,) if value else ()
        elif option.kind is OptionKind.FILES:
            yield from map(str, value if isinstance(value, tuple) else ())
        elif isinstance(value, tuple):
            joined = option.kind in (OptionKind.NAMES, OptionKind.PATHS)
            for one in (",".join(value),) if joined else value:
                yield from (option.flag, one)
        else:
            yield from (option.flag, str(value))


def typed_levels(levels: Mapping[str, tuple[Level, ...]]) -> Iterator[str]:
    """Spell the one level of each factor as typed."""
    for name, (level,) in levels.items():
        option = every_option()[name]
        if level is not False:
            yield from (option.flag,) if level is True else (option.flag, spell_level(level))
