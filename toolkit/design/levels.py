"""Values and lists of levels, from the command line (text) and from files (TOML types), by one declaration.
Numbers may be given as a range: `1..4` is 1,2,3,4 and `1..64x2` is 1,2,4,...,64.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from toolkit.design.names import split_names
from toolkit.design.user_sql import check_assignment, check_expression, check_predicate
from toolkit.design.variants import read_query
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.options import Option, OptionKind
from toolkit.model.values import Level, spell_level
from toolkit.units import parse_duration

MOST_LEVELS = 1000
"""More levels of one factor than this are a slip of the keyboard, not a sweep."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?", re.ASCII)
_RANGE = re.compile(
    r"(?P<low>[0-9]{1,15}(?:\.[0-9]{1,15})?)\.\.(?P<high>[0-9]{1,15}(?:\.[0-9]{1,15})?)"
    r"(?:x(?P<factor>[0-9]{1,6}(?:\.[0-9]{1,6})?))?",
    re.ASCII,
)
_SIZE = re.compile(r"([1-9][0-9]{0,8}[KMG]?)(?:(?<=[KMG])B)?", re.ASCII)
_EXAMPLES = {
    OptionKind.FLAG: "give true or false",
    OptionKind.NAMES: "give comma-separated names",
    OptionKind.SIZE: "give a whole number with K, M or G, such as `32G`",
    OptionKind.PATHS: "give the full path of a folder",
    OptionKind.FILES: "give paths of files, or patterns such as `lines_*.csv`",
    OptionKind.DURATION: "give a duration such as `4h` or `1h30m`",
}
_WHOLE = frozenset({OptionKind.DEGREE, OptionKind.INTEGER})
_NUMERIC = _WHOLE | {OptionKind.NUMBER}


def parse_levels(option: Option, text: str) -> tuple[Level, ...]:
    """Read a list of levels as typed: `4`, `1,2,4`, `1..64x2`, `none,basic`.

    Raises:
        ToolkitError: TK-0103 for an empty list, an empty part, a bad range or a level given twice;
            TK-0102 for a level of the wrong type or outside the option's range.
    """
    levels: list[Level] = []
    for part in _parts(option, text):
        levels.extend(_levels_of(option, part.strip(), text))
        _check_count(option, len(levels))
    return _distinct(option, levels)


def check_levels(option: Option, value: object) -> tuple[Level, ...]:
    """Check levels as a file gives them: one value or a list of values; a text may also be a range.

    Raises:
        ToolkitError: as `parse_levels`.
    """
    given = value if isinstance(value, list | tuple) else [value]
    if not given:
        raise _bad_list(option, "is empty")
    _check_count(option, len(given))
    levels: list[Level] = []
    for one in given:
        if isinstance(one, str) and option.kind in _NUMERIC:
            levels.extend(_levels_of(option, one.strip(), one))
        else:
            levels.append(check_level(option, one))
    _check_count(option, len(levels))
    return _distinct(option, levels)


def check_level(option: Option, value: object) -> Level:
    """Check one level of the right TOML type.

    Raises:
        ToolkitError: TK-0102 naming what is allowed.
    """
    if option.kind in _NUMERIC:
        if isinstance(value, str):
            return _one(option, value.strip())
        return _number(option, value)
    if option.kind is OptionKind.CHOICE:
        return _choice(option, value)
    if option.kind in (OptionKind.SIZE, OptionKind.PATH):
        return (_size if option.kind is OptionKind.SIZE else _path)(option, value)
    if option.kind is OptionKind.NAME:
        return _name(option, value)
    if (option.kind is OptionKind.FLAG and isinstance(value, bool)) or (
        option.kind is OptionKind.TEXT and isinstance(value, str) and value.strip()
    ):
        return value
    raise _bad_value(option, value)


def example(option: Option) -> str:
    """Return a hint that shows what may be written for an option."""
    words = "".join(f" or `{word}`" for word in option.words)
    if option.kind in _NUMERIC:
        kind = "a whole number" if option.kind in _WHOLE else "a number"
        kind += f" in `{option.unit}`" if option.unit else ""
        several = f"; several as `{_sample(option)}`" if option.factor else ""
        bounds = f" from {spell_bound(option.low)} to {spell_bound(option.high)}"
        within = bounds if (option.low, option.high) != (None, None) else ""
        return f"give {kind}{within}{words}{several}"
    if option.kind is OptionKind.CHOICE:
        return "give " + " or ".join(f"`{choice}`" for choice in option.choices)
    return _EXAMPLES.get(option.kind, "give a string")


def spell_bound(bound: float | None) -> str:
    """Spell a bound without a needless `.0`."""
    if bound is None:
        return "any"
    return str(int(bound)) if float(bound).is_integer() else f"{Decimal(repr(bound)):f}"


def _sample(option: Option) -> str:
    if option.kind is OptionKind.NUMBER:
        return "1,10,100"
    return "1,2,4` or `1..64x2" if (option.high or 0) >= 64 else "1,2,4"


def _parts(option: Option, text: str) -> list[str]:
    """Split a list of levels at its commas; a name may hold some in double quotes, as others in each level."""
    if option.kind is OptionKind.NAME:
        return split_names(text)
    between = rf",(?=\s*{option.level_begins}\b)" if option.level_begins else ","
    return re.split(between, text, flags=re.IGNORECASE)


def _levels_of(option: Option, part: str, text: str) -> Iterator[Level]:
    if not part:
        raise _bad_list(option, "is empty" if not text.strip(" ,") else f"has an empty item: `{text[:80]}`")
    if ".." in part and option.kind in _NUMERIC:
        yield from _range(option, part)
    else:
        yield _one(option, part)


def _range(option: Option, part: str) -> Iterator[Level]:
    match = _RANGE.fullmatch(part)
    if match is None:
        raise _bad_list(option, f"has a range that cannot be read: `{part[:80]}`")
    low, high = Decimal(match["low"]), Decimal(match["high"])
    factor = Decimal(match["factor"]) if match["factor"] else None
    if low > high:
        raise _bad_list(option, f"has a range that runs backwards: `{part}`")
    if factor is not None and (factor <= 1 or low == 0):
        raise _bad_list(option, f"has a range that never ends: `{part}`")
    _check_bounds(option, float(low))
    _check_bounds(option, float(high))
    level, count = low, 0
    while level <= high:
        count += 1
        _check_count(option, count)
        yield _tidy(option, float(level))
        level = level + 1 if factor is None else level * factor


def _one(option: Option, part: str) -> Level:
    if option.kind in _NUMERIC:
        if part.lower() in option.words:
            return part.lower()
        number = part.removesuffix(option.unit or "")  # `5s` where seconds are meant
        if _NUMBER.fullmatch(number) is None:
            raise _bad_value(option, part)
        return _number(option, float(number))
    return check_level(option, _flag(part) if option.kind is OptionKind.FLAG else part)


def _flag(part: str) -> object:
    return {"yes": True, "true": True, "no": False, "false": False}.get(part.lower(), part)


def _number(option: Option, value: object) -> Level:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _bad_value(option, value)
    if isinstance(value, float) and not math.isfinite(value):
        raise _bad_value(option, value)
    _check_bounds(option, value)
    return _tidy(option, value)


def _tidy(option: Option, value: float) -> Level:
    if float(value).is_integer():
        return int(value)
    if option.kind in _WHOLE:
        raise _bad_value(option, value)
    return float(value)


def _check_bounds(option: Option, value: float) -> None:
    low = -math.inf if option.low is None else option.low
    high = math.inf if option.high is None else option.high
    if not low <= value <= high:
        raise _bad_value(option, value)


def _size(option: Option, value: object) -> Level:
    """Spell a size as RMAN does: a whole number, and K, M or G; `64MB` and the option's words are taken, too."""
    text = str(value).strip().upper() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    found = _SIZE.fullmatch(text)
    if found is None and text.lower() not in option.words:
        raise _bad_value(option, value)
    return found[1] if found is not None else text.lower()


def _choice(option: Option, value: object) -> Level:
    if isinstance(value, bool) and {"yes", "no"} <= set(option.choices):
        return "yes" if value else "no"
    if not isinstance(value, str):
        raise _bad_value(option, value)
    word = value.strip().lower().replace("-", "_")
    if word not in option.choices:
        raise ToolkitError(
            f"`{option.name}` cannot be `{value[:80]}`",
            code="TK-0102",
            hint=did_you_mean(value, option.choices),
        )
    return word


def _distinct(option: Option, levels: list[Level]) -> tuple[Level, ...]:
    seen: set[Level] = set()
    for level in levels:
        if level in seen:
            raise _bad_list(option, f"has `{spell_level(level)}` twice")
        seen.add(level)
    return tuple(levels)


def _check_count(option: Option, count: int) -> None:
    if count > MOST_LEVELS:
        raise _bad_list(option, f"has more than {MOST_LEVELS} levels")


def _bad_list(option: Option, sentence: str) -> ToolkitError:
    return ToolkitError(f"the list of levels of `{option.name}` {sentence}", code="TK-0103", hint=example(option))


def _bad_value(option: Option, value: object) -> ToolkitError:
    shown = spell_level(value) if isinstance(value, bool | int | float) else str(value)
    return ToolkitError(f"`{option.name}` cannot be `{shown[:80]}`", code="TK-0102", hint=example(option))


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


def _single(option: Option, levels: tuple[OptionValue, ...]) -> OptionValue:
    if len(levels) != 1:
        raise ToolkitError(f"`{option.name}` accepts one value", code="TK-0103", hint=example(option))
    return levels[0]


def _text(option: Option, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ToolkitError(f"`{option.key}` must be a non-empty string", code="TK-0102", hint=example(option))
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
    if isinstance(given, list | tuple) and 0 < len(given) <= _MOST_NAMES:
        return tuple(_path(option, one) for one in given)
    raise ToolkitError(f"`{option.name}` must be a list of paths", code="TK-0102", hint=example(option))


def _path(option: Option, value: object) -> str:
    path = _text(option, value)
    if not path.isprintable() or len(path.encode(errors="replace")) > _LONGEST_PATH:
        raise ToolkitError(
            f"`{option.name}` is not a valid path: it holds control characters or is too long",
            code="TK-0104",
            hint="give the full path, without line breaks",
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


def _arguments(option: Option, value: object) -> tuple[str, ...]:
    """Read an argument list; an argument may be empty, the program may not."""
    words = tuple(value) if isinstance(value, list | tuple) else ()
    if not words or not words[0] or not all(isinstance(word, str) and "\x00" not in word for word in words):
        raise ToolkitError(
            f"`{option.key}` must be a list of arguments",
            code="TK-0102",
            hint=f'write `{option.key} = ["program", "argument"]`; no shell reads it',
        )
    return words


def _several(option: Option, value: object) -> tuple[str, ...]:
    return tuple(_text(option, one) for one in (value if isinstance(value, list | tuple) else [value]))


def _commands(option: Option, value: object) -> tuple[str, ...]:
    """Read programs, each a line quoted as for a shell, or an argument list; they are kept as such lines."""
    given = value if isinstance(value, list | tuple) else [value]
    lines = (shlex.join(_arguments(option, one)) if isinstance(one, list) else _text(option, one) for one in given)
    return tuple(shlex.join(_words(option, line)) for line in lines)


def _words(option: Option, line: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ToolkitError(
            f"`{option.key}` cannot be split into arguments: {str(error).lower()}",
            code="TK-0102",
            hint="quote as for a shell; of its other signs none means anything, unless you run `sh -c` yourself",
        ) from None
    if not words or not words[0]:
        raise ToolkitError(f"`{option.key}` names no program", code="TK-0102", hint="give it with its arguments")
    return words


def _transactions(option: Option, value: object) -> str:
    from toolkit.design.transactions import check_transactions

    return check_transactions(_text(option, value))


_CHECKS: Mapping[OptionKind, Callable[[Option, object], OptionValue]] = {
    OptionKind.QUERY: lambda option, value: read_query(value, lambda text: _text(option, text)),
    OptionKind.TRANSACTIONS: _transactions,
    OptionKind.PREDICATE: lambda option, value: check_predicate(_text(option, value)),
    OptionKind.NAME: _name,
    OptionKind.NAMES: _names,
    OptionKind.PATHS: _paths,
    **dict.fromkeys((OptionKind.TEXT, OptionKind.DURATION, OptionKind.JOBS), _text),
    OptionKind.PATH: _path,
    OptionKind.FILES: lambda option, value: tuple(
        os.path.abspath(_path(option, one))  # noqa: PTH100 (`..` is no link's here)
        for one in _several(option, value)
    ),
    OptionKind.ARGUMENTS: _arguments,
    OptionKind.COMMANDS: _commands,
    OptionKind.TEXTS: _several,
    OptionKind.ASSIGNMENTS: lambda option, value: tuple(map(check_assignment, _several(option, value))),
    OptionKind.EXPRESSIONS: lambda option, value: tuple(map(check_expression, _several(option, value))),
}
