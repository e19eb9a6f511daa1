"""Blocks that send several statements at once, each as a text of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TEXT = r"EXECUTE\s+IMMEDIATE\s+'(?P<{0}>(?:[^']|'')*)'\s*;"
FORMS: tuple[tuple[str, str], ...] = (("block", rf"BEGIN\s+(?P<inside>(?:{_TEXT.format('one')}\s*)+)END\s*;"),)
_BLOCK = re.compile(FORMS[0][1], re.IGNORECASE)
_INSIDE = re.compile(_TEXT.format("text"), re.IGNORECASE)


def statements(inside: str) -> list[str]:
    """Return the statements of a block, in order."""
    return [found["text"].replace("''", "'") for found in _INSIDE.finditer(inside)]


def spread(texts: Iterable[str]) -> list[str]:
    """Return what was sent statement by statement, also what stood in blocks."""
    found: list[str] = []
    for text in texts:
        match = _BLOCK.fullmatch(text.strip())
        found += statements(match["inside"]) if match else [text]
    return found
