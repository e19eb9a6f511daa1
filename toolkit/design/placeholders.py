"""Placeholders in the arguments of programs: `{threads}` is the level of the factor `threads`.

A name in braces that is to stay is written with two (`{{name}}`). `${name}` is left to the shell that the user
runs, and braces around anything but a name stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from toolkit.errors import ToolkitError

_PLACEHOLDER = re.compile(r"(?<!\$)\{(?:\{(?P<kept>[A-Za-z_][\w.-]*)\}|(?P<name>[A-Za-z_][\w.-]*))\}", re.ASCII)


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names of the placeholders in a text.

    >>> placeholders("-p{threads} {{kept}} ${shell} awk '{print $1}'")
    ('threads',)
    """
    return tuple(match["name"] for match in _PLACEHOLDER.finditer(text) if match["name"])


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put levels into a text.

    >>> fill("-p{threads} {{threads}} ${threads}", {"threads": "4"})
    '-p4 {threads} ${threads}'
    """
    return _PLACEHOLDER.sub(lambda match: values[match["name"]] if match["name"] else f"{{{match['kept']}}}", text)


def check_placeholders(flag: str, text: str, factors: Collection[str]) -> None:
    """Refuse a placeholder that is no factor.

    Raises:
        ToolkitError: TK-0107.
    """
    for name in placeholders(text):
        if name not in factors:
            known = f"the factors are {', '.join(factors)}" if factors else "there are no factors"
            raise ToolkitError(
                f"`{flag}` uses `{{{name}}}`, which is no factor",
                code="TK-0107",
                hint=f"add `--factor {name}=...`, or write `{{{{{name}}}}}` for the braces themselves; {known}",
            )
