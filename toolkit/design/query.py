"""Whether a text is exactly one SELECT: a look at its words, aware of quotes and comments, not a full parser.

The engine parses the query itself; this guard only keeps a second statement, or one that changes something,
from riding along. Engines read quotes differently, so the text is read in the way of each engine that may get it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from toolkit.errors import ToolkitError
from toolkit.model.words import EngineName

_LONGEST = 1_000_000
_HINT = "give one SELECT, WITH ... SELECT or VALUES, without anything after it"
_OPENERS = frozenset({"select", "with", "values", "from", "table"})
_BODIES = _OPENERS - {"with"}
_CHANGES = {"insert": {"into"}, "delete": {"from"}, "merge": {"into"}}

_COMMON = (
    r"(?P<space>\s+)"
    r"|(?P<line>--[^\n]*)"
    r"|(?P<comment>/\*)"
    r'|(?P<name>"(?:[^"]|"")*+")'
)
_POSTGRES = r"|(?P<dollar>\$(?:[^\W\d]\w*)?\$)|(?P<escape>[eE]'(?:[^'\\]|\\.|'')*+')"
_ORACLE = r"|(?P<quote>[nN]?[qQ]'(?P<mark>\S))"
_REST = r"|(?P<string>'(?:[^']|'')*+')|(?P<word>[^\W\d][\w$#]*)|(?P<number>\d[\w.]*)|(?P<sign>.)"
_LEXERS = {
    EngineName.DUCKDB: re.compile(_COMMON + _POSTGRES + _REST, re.DOTALL),
    EngineName.POSTGRESQL: re.compile(_COMMON + _POSTGRES + _REST, re.DOTALL),
    EngineName.ORACLE: re.compile(_COMMON + _ORACLE + _REST, re.DOTALL),
}
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}
_NESTED = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of the text that means something: words are in lower case, quoted text is `''` or `""`."""

    text: str
    depth: int
    end: int
    word: bool = False


def check_query(text: str, engine: EngineName | None = None) -> str:
    """Return the query without its terminator and trailing comments, or refuse it.

    Args:
        text: what the user gave.
        engine: whose quotes count; without it the reading of any engine will do, and the caller checks again
            when the engine is known.

    Raises:
        ToolkitError: TK-0105 with what is wrong.
    """
    if len(text) > _LONGEST:
        raise _bad("is longer than a million characters")
    if "\x00" in text:
        raise _bad("holds a NUL character")
    readings = (engine,) if engine else (EngineName.POSTGRESQL, EngineName.ORACLE)
    first: ToolkitError | None = None
    for reading in readings:
        try:
            return _check(text, reading)
        except ToolkitError as error:
            first = first or error
    raise first or _bad("is empty")


def _check(text: str, engine: EngineName) -> str:
    tokens = _without_terminator(list(_tokens(text, engine)))
    if not tokens:
        raise _bad("is empty")
    _check_parentheses(tokens)
    _check_opening(tokens, engine)
    _check_words(tokens)
    return text[: tokens[-1].end].lstrip()


def _without_terminator(tokens: list[_Token]) -> list[_Token]:
    for place, token in enumerate(tokens):
        if token.text == ";":
            if place < len(tokens) - 1:
                raise _bad("holds more than one statement")
            return tokens[:place]
    return tokens


def _check_parentheses(tokens: list[_Token]) -> None:
    last = tokens[-1]
    if last.depth - (last.text == ")") > 0:
        raise _bad("leaves a parenthesis open")


def _check_opening(tokens: list[_Token], engine: EngineName) -> None:
    first = next((token for token in tokens if token.text != "("), None)
    allowed = {"select", "with"} if engine is EngineName.ORACLE else _OPENERS
    if first is None or not first.word or first.text not in allowed:
        raise _bad(f"begins with `{first.text[:30] if first else '('}`, not with SELECT")
    if first.text == "with" and not _has_body(tokens, first.depth):
        raise _bad("has WITH but no SELECT after it")


def _has_body(tokens: list[_Token], depth: int) -> bool:
    """Whether a WITH is followed, at its own depth, by what it is for."""
    for before, token in pairwise(tokens):
        if token.depth != depth and not (token.text == "(" and token.depth == depth + 1):
            continue
        if token.word and token.text in _BODIES:
            return True
        if token.text == "(" and before.text == ")":
            return True
    return False


def _check_words(tokens: list[_Token]) -> None:
    for place, token in enumerate(tokens):
        before = tokens[place - 1].text if place else "("
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.text == "\\":
            raise _bad("holds a backslash outside quotes")
        if token.text == "$":
            raise _bad("has a `$` outside quotes: values cannot be bound, or a quote is not closed")
        if token.word and token.text == "into":
            raise _bad("has SELECT ... INTO, which makes an object of its own")
        if token.word and before in {"(", ")"} and _changes(token.text, after):
            raise _bad(f"has {token.text.upper()} inside, which changes data")
        if token.word and token.text == "for" and after is not None and _locks(tokens[place + 1 : place + 3]):
            raise _bad("has FOR UPDATE or FOR SHARE, which locks rows")


def _changes(word: str, after: _Token | None) -> bool:
    if after is None:
        return False
    if word == "update":
        return after.word or after.text == '""'
    return after.text in _CHANGES.get(word, ())


def _locks(after: list[_Token]) -> bool:
    words = [token.text for token in after if token.word]
    if words[:1] == ["update"] or words[:2] in (["no", "key"], ["key", "share"]):
        return True
    return words[:1] == ["share"] and words[1:2] != ["in"]


def _tokens(text: str, engine: EngineName) -> Iterator[_Token]:
    lexer, at, depth = _LEXERS[engine], 0, 0
    while at < len(text):
        match = lexer.match(text, at)
        assert match is not None
        kind = match.lastgroup if match.lastgroup != "mark" else "quote"
        at = _end(text, match, kind or "", nested=engine is not EngineName.ORACLE)
        if kind in {"space", "line", "comment"}:
            continue
        if kind == "sign" and match[0] in "'\"":
            raise _bad("has a quote that is not closed")
        depth += match[0] == "("
        yield _Token(_shown(kind or "", match[0]), depth, at, kind == "word")
        depth -= match[0] == ")"
        if depth < 0:
            raise _bad("closes a parenthesis that is not open")


def _shown(kind: str, piece: str) -> str:
    if kind in {"word", "sign", "number"}:
        return piece.lower()
    return '""' if kind == "name" else "''"


def _end(text: str, match: re.Match[str], kind: str, *, nested: bool) -> int:
    if kind == "comment":
        return _comment_end(text, match.end(), nested=nested)
    if kind == "dollar":
        return _after(text, match[0], match.end())
    if kind == "quote":
        mark = match["mark"]
        return _after(text, _CLOSERS.get(mark, mark) + "'", match.end())
    return match.end()


def _after(text: str, closer: str, begin: int) -> int:
    at = text.find(closer, begin)
    if at < 0:
        raise _bad("has a quote that is not closed")
    return at + len(closer)


def _comment_end(text: str, begin: int, *, nested: bool) -> int:
    depth = 1
    for match in _NESTED.finditer(text, begin):
        if match[0] == "*/":
            depth -= 1
        elif nested:
            depth += 1
        if depth == 0:
            return match.end()
    raise _bad("has a comment that is not closed")


def _bad(sentence: str) -> ToolkitError:
    return ToolkitError(f"the query {sentence}", code="TK-0105", hint=_HINT)
