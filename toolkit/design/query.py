"""Whether a text is exactly one SELECT: a look at its words, aware of quotes and comments, not a full parser.

The engine parses the query itself; this guard only keeps a second statement, or one that changes something,
from riding along. Engines read quotes differently, so the text is read in the way of each engine that may get it.
"""

from __future__ import annotations

from itertools import pairwise

from toolkit.design.lexis import Text, Token, tokens
from toolkit.errors import ToolkitError
from toolkit.model.words import EngineName

_LONGEST = 1_000_000
_HINT = "give one SELECT, WITH ... SELECT or VALUES, without anything after it"
_OPENERS = frozenset({"select", "with", "values", "from", "table"})
_BODIES = _OPENERS - {"with"}
_CHANGES = {"insert": {"into"}, "delete": {"from"}, "merge": {"into"}}


def check_query(text: str, engine: EngineName | None = None) -> str:
    """Return the query without its terminator and trailing comments, or refuse it.

    Args:
        text: what the user gave.
        engine: whose quotes count; without it the reading of any engine will do, and the caller checks again
            when the engine is known.

    Raises:
        ToolkitError: TK-0105 with what is wrong.
    """
    return Text(text, "the query", _HINT).read(_check, engine, _LONGEST)


def _check(given: Text, engine: EngineName) -> str:
    found = _without_terminator(list(tokens(given, engine)))
    if not found:
        raise _bad("is empty")
    _check_parentheses(found)
    _check_opening(found, engine)
    _check_words(found, engine)
    return given.text[: found[-1].end].lstrip()


def _without_terminator(found: list[Token]) -> list[Token]:
    for place, token in enumerate(found):
        if token.text == ";":
            if place < len(found) - 1:
                raise _bad("holds more than one statement")
            return found[:place]
    return found


def _check_parentheses(found: list[Token]) -> None:
    last = found[-1]
    if last.depth - (last.text == ")") > 0:
        raise _bad("leaves a parenthesis open")


def _check_opening(found: list[Token], engine: EngineName) -> None:
    first = next((token for token in found if token.text != "("), None)
    allowed = {"select", "with"} if engine == "oracle" else _OPENERS
    if first is None or not first.word or first.text not in allowed:
        raise _bad(f"begins with `{first.text[:30] if first else '('}`, not with SELECT")
    if first.text == "with" and not _has_body(found, first.depth):
        raise _bad("has WITH but no SELECT after it")


def _has_body(found: list[Token], depth: int) -> bool:
    """Whether a WITH is followed, at its own depth, by what it is for."""
    for before, token in pairwise(found):
        if token.depth != depth and not (token.text == "(" and token.depth == depth + 1):
            continue
        if token.word and token.text in _BODIES:
            return True
        if token.text == "(" and before.text == ")":
            return True
    return False


def _check_words(found: list[Token], engine: EngineName) -> None:
    for place, token in enumerate(found):
        before = found[place - 1].text if place else "("
        after = found[place + 1] if place + 1 < len(found) else None
        if token.text == "\\":
            raise _bad("holds a backslash outside quotes")
        if token.text == "$":
            raise _bad("has a `$` outside quotes: values cannot be bound, or a quote is not closed")
        if token.text == "&" and engine == "oracle":
            raise _bad("has a `&` outside quotes, which only SQL*Plus replaces: write the value itself")
        if token.word and token.text == "into":
            raise _bad("has SELECT ... INTO, which makes an object of its own")
        if token.word and before in {"(", ")"} and _changes(token.text, after):
            raise _bad(f"has {token.text.upper()} inside, which changes data")
        if token.word and token.text == "for" and after is not None and _locks(found[place + 1 : place + 3]):
            raise _bad("has FOR UPDATE or FOR SHARE, which locks rows")


def _changes(word: str, after: Token | None) -> bool:
    if after is None:
        return False
    if word == "update":
        return after.word or after.text == '""'
    return after.text in _CHANGES.get(word, ())


def _locks(after: list[Token]) -> bool:
    words = [token.text for token in after if token.word]
    if words[:1] == ["update"] or words[:2] in (["no", "key"], ["key", "share"]):
        return True
    return words[:1] == ["share"] and words[1:2] != ["in"]


def _bad(sentence: str) -> ToolkitError:
    return ToolkitError(f"the query {sentence}", code="TK-0105", hint=_HINT)
