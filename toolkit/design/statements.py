"""Several statements in one text, divided where the engine would divide them."""

from __future__ import annotations

from toolkit.design.lexis import TokenKind, syntax_of, tokens
from toolkit.model.words import EngineName


def split(text: str, engine: EngineName) -> tuple[str, ...]:
    """Return the statements of a text without terminators; comments alone are none.

    Args:
        text: statements that each end in a semicolon, the last one or not.
        engine: whose quotes and comments count.
    """
    found: list[str] = []
    begin, end = -1, 0
    for token in tokens(text, syntax_of(engine)):
        if token.kind is TokenKind.COMMENT:
            continue
        if token.sign == ";" and token.depth < 1:
            if begin >= 0:
                found.append(text[begin:end])
            begin = -1
            continue
        begin, end = (token.begin if begin < 0 else begin), token.end
    if begin >= 0:
        found.append(text[begin:end])
    return tuple(found)
