"""The columns of a query of ours, told from its text: every one of them is named by `AS`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|[A-Za-z][\w$#]*|[()]", re.DOTALL)


def columns_of(query: str) -> tuple[str, ...]:
    """Return the names of a query's columns, in capitals.

    Args:
        query: one SELECT; of a WITH the last, of a UNION the first counts.

    Raises:
        ValueError: it names none: a fault of ours.
    """
    found: list[str] = []
    before, reading = "", False
    for word in _outermost(query):
        if word == "SELECT":
            if found:
                break
            reading = True
        elif word == "FROM" and reading:
            break
        elif reading and before == "AS":
            found.append(word.strip('"'))
        before = word
    if not found:
        msg = f"a read names no column: {query[:60]}"
        raise ValueError(msg)
    return tuple(found)


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
