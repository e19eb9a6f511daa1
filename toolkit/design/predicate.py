"""Whether a text is one condition on rows, fit to stand in parentheses after WHERE.

The condition is put in parentheses of ours. What closes them, ends the statement, hides the rest in a comment or
opens a query of its own is refused; so nothing can ride along, and what is left the engine judges itself.
"""

from __future__ import annotations

from toolkit.design.lexis import Text, Token, tokens
from toolkit.model.words import EngineName

_LONGEST = 100_000
_HINT = "give one condition, such as `order_date >= date '2026-01-01'`; anything more belongs into --query"
_QUERIES = frozenset({"select", "with", "values", "table", "from"})
"""Words that open a query when they stand behind a parenthesis."""
_CLAUSES = frozenset(
    {"where", "group", "having", "order", "union", "intersect", "except", "minus", "connect", "start", "fetch",
     "limit", "offset", "for", "window", "qualify", "returning", "from", "into", "model"}
)  # fmt: skip
_JOINING = frozenset({"and", "or", "not"})


def check_predicate(text: str, engine: EngineName | None = None) -> str:
    """Return a condition without blanks around it, or refuse it.

    Args:
        text: what the user gave.
        engine: whose quotes count; without it the reading of any engine will do, and the caller checks again
            when the engine is known.

    Raises:
        ToolkitError: TK-0105 with what is wrong.
    """
    return Text(text.strip(), "the condition", _HINT, comments=False).read(_check, engine, _LONGEST)


def _check(given: Text, engine: EngineName) -> str:
    found = list(tokens(given, engine))
    if not found:
        raise given.bad("is empty")
    last = found[-1]
    if last.depth - (last.text == ")") > 0:
        raise given.bad("leaves a parenthesis open")
    _check_ends(given, found)
    for place, token in enumerate(found):
        _check_sign(given, found, place, engine)
        if token.word:
            _check_word(given, token, found[place - 1] if place else None)
    return given.text


def _check_ends(given: Text, found: list[Token]) -> None:
    first, last = found[0], found[-1]
    if first.text in _JOINING - {"not"}:
        raise given.bad(f"begins with {first.text.upper()}")
    if last.text in _JOINING:
        raise given.bad(f"ends with {last.text.upper()}")
    if first.word and first.text in _QUERIES | {"where"}:
        raise given.bad(f"begins with {first.text.upper()}; only what comes after WHERE is wanted")
    if len(found) == 1 and (first.text == "''" or first.text[0].isdigit()):
        raise given.bad("is a value, neither true nor false")


def _check_sign(given: Text, found: list[Token], place: int, engine: EngineName) -> None:
    sign = found[place].text
    if sign == ";":
        raise given.bad("holds a semicolon")
    if sign == "\\":
        raise given.bad("holds a backslash outside quotes")
    if sign == "$":
        raise given.bad("has a `$` outside quotes: values cannot be bound, or a quote is not closed")
    if sign == "&" and engine == "oracle":
        raise given.bad("has a `&` outside quotes, which only SQL*Plus replaces: write the value itself")
    if sign == ":" and (engine == "oracle" or not _is_cast(found, place)):
        raise given.bad("has a `:` outside quotes: values cannot be bound")


def _is_cast(found: list[Token], place: int) -> bool:
    """Whether a colon is one of the two of `::`."""
    near = (*found[max(0, place - 1) : place], *found[place + 1 : place + 2])
    return any(other.text == ":" and abs(other.end - found[place].end) == 1 for other in near)


def _check_word(given: Text, token: Token, before: Token | None) -> None:
    if token.text == "select" or (before is not None and before.text == "(" and token.text in _QUERIES):
        raise given.bad("has a subquery")
    behind_value = before is not None and before.text not in _JOINING | {"distinct", "(", ",", "."}
    if token.depth == 0 and token.text in _CLAUSES and behind_value and not _is_operator(before):
        raise given.bad(f"has {token.text.upper()} after it, which is a clause of its own")


def _is_operator(token: Token | None) -> bool:
    return token is not None and not token.word and token.text in "=<>!+-*/|%^"
