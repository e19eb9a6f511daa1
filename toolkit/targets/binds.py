"""Translates `:name` of our SQL files into what a driver takes.

Text inside quotes, comments and casts (`::int`) is left alone. Oracle's driver takes `:name` as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"""(?P<skip>--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|::)|:(?P<name>[a-z][a-z0-9_]*)""",
    re.DOTALL,
)


def translate(text: str, spell: Callable[[str], str], escape: Callable[[str], str] = str) -> str:
    """Return the text with every bind spelled by `spell`; all other text goes through `escape`.

    Args:
        text: one statement with binds as `:name`.
        spell: turns a bind's name into the driver's spelling.
        escape: for drivers that give another character a meaning (psycopg's `%`).
    """
    parts: list[str] = []
    at = 0
    for match in _TOKEN.finditer(text):
        parts.append(escape(text[at : match.start()]))
        name = match["name"]
        parts.append(spell(name) if name else escape(match[0]))
        at = match.end()
    parts.append(escape(text[at:]))
    return "".join(parts)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of the binds, in order, each once."""
    found = (match["name"] for match in _TOKEN.finditer(text) if match["name"])
    return tuple(dict.fromkeys(found))
