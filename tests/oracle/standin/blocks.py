"""Blocks that send several statements at once, each as a text of its own."""

from __future__ import annotations

import re

_TEXT = r"EXECUTE\s+IMMEDIATE\s+'(?P<{0}>(?:[^']|'')*)'\s*;"
FORMS: tuple[tuple[str, str], ...] = (
    ("block", rf"BEGIN\s+(?P<inside>(?:{_TEXT.format('one')}\s*)+)END\s*;"),
)  # fmt: skip
_INSIDE = re.compile(_TEXT.format("text"), re.IGNORECASE)


def statements(inside: str) -> list[str]:
    """Return the statements of a block, in order."""
    return [found["text"].replace("''", "'") for found in _INSIDE.finditer(inside)]


def spread(text: str) -> list[str]:
    """Return what a statement sends: those inside a block, else itself."""
    match = re.fullmatch(FORMS[0][1], text.strip(), re.IGNORECASE)
    return statements(match["inside"]) if match else [text]
