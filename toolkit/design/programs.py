"""What a user writes of programs: argument lists, variables, exit statuses, and factors of any name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from toolkit.design.levels import parse_levels
from toolkit.errors import ToolkitError
from toolkit.model.options import Option, OptionKind
from toolkit.model.values import Factor, Level

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,59}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SECRET = re.compile(r"(?i)(?:^|[_-])(?:pass(?:word|wd|phrase)?|pwd|secret|token|api_?key|credentials?)(?:$|[_-])")
_NUMERIC = re.compile(r"[+-]?\d+(?:\.\d+)?(?:\.\.\d+(?:\.\d+)?(?:x\d+(?:\.\d+)?)?)?", re.ASCII)
_MOST_STATUS = 255


def read_factor(text: str) -> Factor:
    """Read `NAME=LEVELS` as typed: `threads=1,2,4`, `jobs=1..32x2`, `mode=fast,safe`.

    Raises:
        ToolkitError: TK-0102, TK-0103.
    """
    name, sign, levels = text.partition("=")
    if not sign or not levels.strip():
        raise ToolkitError(
            f"`--factor {text[:80]}` has no levels", code="TK-0102", hint="write `--factor threads=1,2,4`"
        )
    check_name(name)
    return Factor(name, free_levels(name, levels))


def check_name(name: str) -> None:
    """Refuse a name that cannot stand in braces.

    Raises:
        ToolkitError: TK-0102.
    """
    if _NAME.fullmatch(name) is None:
        raise ToolkitError(
            f"`{name[:80]}` cannot name a factor", code="TK-0102", hint="use letters, digits, `_`, `.` and `-`"
        )


def free_levels(name: str, text: str) -> tuple[Level, ...]:
    """Read the levels of a factor of which nothing is declared: numbers and ranges, else words."""
    parts = [part.strip() for part in text.split(",")]
    numeric = all(_NUMERIC.fullmatch(part) for part in parts)
    kind = OptionKind.NUMBER if numeric else OptionKind.TEXT
    return parse_levels(Option(name, kind, "", factor=True), text)


# -- variables ----------------------------------------------------------------------------------------------------
def variables(given: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the variables with values, and the names of those whose value dbatk's own environment has.

    Raises:
        ToolkitError: TK-0102 for a bad name, TK-0108 for a value that should not stand there.
    """
    pairs: list[tuple[str, str]] = []
    names: list[str] = []
    for text in given:
        name, sign, value = text.partition("=")
        if _VARIABLE.fullmatch(name) is None:
            raise ToolkitError(
                f"`--env {name[:80]}` does not name a variable", code="TK-0102", hint="write NAME=value, or NAME"
            )
        if sign and _SECRET.search(name):
            raise ToolkitError(
                f"`--env {name}=...` shows what looks like a secret",
                code="TK-0108",
                hint=f"export it and write `--env {name}`: the value is then stored and shown nowhere",
            )
        pairs += [(name, value)] if sign else []
        names += [] if sign else [name]
    return tuple(pairs), tuple(names)


def check_no_secret_in(argv: Sequence[str]) -> None:
    """Refuse an argument that shows a password to everybody who lists the processes.

    Raises:
        ToolkitError: TK-0108.
    """
    for word in argv:
        name, sign, value = word.partition("=")
        if sign and value and name.startswith("-") and _SECRET.search(name.lstrip("-")):
            raise ToolkitError(
                f"the argument `{name}=...` shows what looks like a secret to all who list the processes",
                code="TK-0108",
                hint="let the program read it from a variable, and name that with `--env NAME`",
            )


# -- exit statuses ------------------------------------------------------------------------------------------------
def exit_statuses(text: str) -> tuple[int, ...]:
    """Read exit statuses that are no failure: `1,3`; 0 never is.

    Raises:
        ToolkitError: TK-0102.
    """
    return (0, *_statuses(text))


def _statuses(text: str) -> Iterator[int]:
    for part in text.split(","):
        word = part.strip()
        if not word.isascii() or not word.isdigit() or int(word) > _MOST_STATUS:
            raise ToolkitError(
                f"`--allow-exit` cannot be `{text[:80]}`", code="TK-0102", hint="give exit statuses: `1` or `1,3`"
            )
        yield int(word)
