"""Lists of names as typed: each may be quoted, and hold commas then."""

from __future__ import annotations


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
