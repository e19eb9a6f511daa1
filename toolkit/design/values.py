"""Single values of options: from the command line (text) and from files (TOML types)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolkit.design.levels import check_level, example, parse_levels
from toolkit.design.user_sql import check_predicate, check_query
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.options import Option, OptionKind
from toolkit.units import parse_duration

_LONGEST_NAME = 400
_LONGEST_PATH = 4000
_MOST_NAMES = 1000


def parse_value(option: Option, text: str) -> OptionValue:
    """Read the one value of an option as typed.

    Raises:
        ToolkitError: TK-0102 for a wrong value, TK-0103 where a list was given, TK-0105 for a bad query.
    """
    if option.kind in {OptionKind.INTEGER, OptionKind.NUMBER, OptionKind.DEGREE, OptionKind.CHOICE}:
        return _single(option, parse_levels(option, text))
    return check_value(option, text)


def check_value(option: Option, value: object) -> OptionValue:
    """Check the one value of an option as a file gives it.

    Raises:
        ToolkitError: as `parse_value`.
    """
    if option.kind is OptionKind.DURATION:
        parse_duration(_text(option, value))
    check = _CHECKS.get(option.kind)
    return _single(option, (check_level(option, value),)) if check is None else check(option, value)


def split_names(text: str) -> list[str]:
    """Split a list of names at commas outside double quotes; `"a,b",c` has two names.

    A name may hold parentheses (an index on an expression): commas inside them do not count.
    """
    names, current, quoted, depth = [], "", False, 0
    for char in text:
        if char == '"':
            quoted = not quoted
        elif not quoted:
            depth += (char == "(") - (char == ")")
        if char == "," and not quoted and depth <= 0:
            names.append(current)
            current = ""
        else:
            current += char
    return [name.strip() for name in (*names, current)]


def _single(option: Option, levels: tuple[OptionValue, ...]) -> OptionValue:
    if len(levels) != 1:
        raise ToolkitError(f"`{option.name}` accepts one value", code="TK-0103", hint=example(option))
    return levels[0]


def _text(option: Option, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ToolkitError(f"`{option.name}` must be a non-empty string", code="TK-0102", hint=example(option))
    if "\x00" in value:
        raise ToolkitError(f"`{option.name}` contains a NUL character", code="TK-0102", hint="remove it")
    return value


def _name(option: Option, value: object) -> str:
    name = _text(option, value).strip()
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise ToolkitError(
            f"`{option.name}` is not a valid name: it is too long or holds control characters",
            code="TK-0104",
            hint="give `NAME` or `SCHEMA.NAME`, in double quotes if it has other characters",
        )
    return name


def _paths(option: Option, value: object) -> OptionValue:
    """Read one path or several; on the command line commas stand between them."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not given or len(given) > _MOST_NAMES:
        raise ToolkitError(f"`{option.name}` must be a list of paths", code="TK-0102", hint=example(option))
    return tuple(_path(option, one) for one in given)


def _path(option: Option, value: object) -> str:
    path = _text(option, value)
    if not path.isprintable() or len(path.encode(errors="replace")) > _LONGEST_PATH:
        raise ToolkitError(
            f"`{option.name}` is not a valid path: it holds control characters or is too long",
            code="TK-0104",
            hint="give the full path of a folder, without line breaks",
        )
    return path


def _names(option: Option, value: object) -> tuple[str, ...]:
    given = split_names(value) if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not given or len(given) > _MOST_NAMES:
        raise ToolkitError(f"`{option.name}` must be a list of names", code="TK-0102", hint=example(option))
    if any(isinstance(name, str) and not name.strip() for name in given):
        raise ToolkitError(f"`{option.name}` has an empty name", code="TK-0103", hint=example(option))
    names = tuple(_name(option, name) for name in given)
    for name in names:
        if names.count(name) > 1:
            raise ToolkitError(f"`{option.name}` has `{name}` twice", code="TK-0103", hint="give each once")
    return names


_CHECKS: Mapping[OptionKind, Callable[[Option, object], OptionValue]] = {
    OptionKind.QUERY: lambda option, value: check_query(_text(option, value)),
    OptionKind.PREDICATE: lambda option, value: check_predicate(_text(option, value)),
    OptionKind.NAME: _name,
    OptionKind.NAMES: _names,
    OptionKind.PATHS: _paths,
    OptionKind.TEXT: _text,
    OptionKind.DURATION: _text,
}
