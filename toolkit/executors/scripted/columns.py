"""The columns of a query of ours, told from its text: each is named by `AS`, or is a column of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|[A-Za-z][\w$#]*|[(),]", re.DOTALL)
_QUALIFIED = 2
"""Words of a column and the alias before it."""


def columns_of(query: str) -> tuple[str, ...]:
    """Return the names of a query's columns, in capitals.

    Args:
        query: one SELECT; of a WITH the last, of a UNION the first counts.

    Raises:
        ValueError: it names none: a fault of ours.
    """
    found: list[str] = []
    item: list[str] = []
    reading = False
    for word in _outermost(query):
        if word == "SELECT":
            if found:
                break
            reading, item = True, []
        elif word in {",", "FROM"} and reading:
            found += _name(item)
            item = []
            reading = word == ","
        elif reading:
            item.append(word)
    if not found:
        msg = f"a read names no column: {query[:60]}"
        raise ValueError(msg)
    return tuple(found)


def _name(item: Sequence[str]) -> Iterator[str]:
    """Yield the name of one column: what follows AS, or a column of a table under its own name."""
    words = [word for word in item if word != "DISTINCT"]
    if "AS" in words[:-1]:
        yield words[words.index("AS") + 1].strip('"')
    elif 1 <= len(words) <= _QUALIFIED:
        yield words[-1].strip('"')


def _outermost(query: str) -> Iterator[str]:
    """Yield the words that stand in no brackets."""
    depth = 0
    for match in _TOKEN.finditer(query):
        word = match[0]
        if word.startswith(("--", "/*", "'")):
            continue
        if word in "()":
            depth += 1 if word == "(" else -1
        elif depth == 0:
            yield word if word.startswith('"') else word.upper()
