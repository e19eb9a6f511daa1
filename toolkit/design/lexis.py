"""The words of a text of the user's, aware of quotes and comments in the way of each engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from toolkit.errors import ToolkitError
from toolkit.model.words import EngineName

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
    "duckdb": re.compile(_COMMON + _POSTGRES + _REST, re.DOTALL),
    "postgresql": re.compile(_COMMON + _POSTGRES + _REST, re.DOTALL),
    "oracle": re.compile(_COMMON + _ORACLE + _REST, re.DOTALL),
}
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}
_NESTED = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the user's: what it is called in errors, and what is said to whoever gets it wrong."""

    text: str
    name: str
    hint: str
    comments: bool = True

    def bad(self, sentence: str) -> ToolkitError:
        return ToolkitError(f"{self.name} {sentence}", code="TK-0105", hint=self.hint)

    def read(self, check: Callable[[Text, EngineName], str], engine: EngineName | None, longest: int) -> str:
        """Return what a check makes of the text, read as the engine does.

        Args:
            check: refuses the text, or returns what of it counts.
            engine: whose quotes count; without it the reading of any engine will do, and the caller checks again
                when the engine is known.
            longest: characters at most.

        Raises:
            ToolkitError: TK-0105; without an engine what was wrong in the first reading.
        """
        if len(self.text) > longest:
            raise self.bad(f"is longer than {longest:,} characters")
        if "\x00" in self.text:
            raise self.bad("holds a NUL character")
        first: ToolkitError | None = None
        for reading in (engine,) if engine else ("postgresql", "oracle"):
            try:
                return check(self, reading)
            except ToolkitError as error:
                first = first or error
        raise first or self.bad("is empty")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text that means something: words are in lower case, quoted text is `''` or `""`."""

    text: str
    depth: int
    end: int
    word: bool = False


def tokens(given: Text, engine: EngineName) -> Iterator[Token]:
    """Yield the tokens of a text, without blanks and comments.

    Raises:
        ToolkitError: TK-0105 for a quote, comment or parenthesis that does not close, or a comment not wanted.
    """
    text = given.text
    lexer, at, depth = _LEXERS[engine], 0, 0
    while at < len(text):
        match = lexer.match(text, at)
        assert match is not None
        kind = match.lastgroup if match.lastgroup != "mark" else "quote"
        if kind in {"line", "comment"} and not given.comments:
            raise given.bad("holds a comment")
        at = _end(given, match, kind or "", nested=engine != "oracle")
        if kind in {"space", "line", "comment"}:
            continue
        if kind == "sign" and match[0] in "'\"":
            raise given.bad("has a quote that is not closed")
        depth += match[0] == "("
        yield Token(_shown(kind or "", match[0]), depth, at, kind == "word")
        depth -= match[0] == ")"
        if depth < 0:
            raise given.bad("closes a parenthesis that is not open")


def _shown(kind: str, piece: str) -> str:
    if kind in {"word", "sign", "number"}:
        return piece.lower()
    return '""' if kind == "name" else "''"


def _end(given: Text, match: re.Match[str], kind: str, *, nested: bool) -> int:
    if kind == "comment":
        return _comment_end(given, match.end(), nested=nested)
    if kind == "dollar":
        return _after(given, match[0], match.end())
    if kind == "quote":
        mark = match["mark"]
        return _after(given, _CLOSERS.get(mark, mark) + "'", match.end())
    return match.end()


def _after(given: Text, closer: str, begin: int) -> int:
    at = given.text.find(closer, begin)
    if at < 0:
        raise given.bad("has a quote that is not closed")
    return at + len(closer)


def _comment_end(given: Text, begin: int, *, nested: bool) -> int:
    depth = 1
    for match in _NESTED.finditer(given.text, begin):
        if match[0] == "*/":
            depth -= 1
        elif nested:
            depth += 1
        if depth == 0:
            return match.end()
    raise given.bad("has a comment that is not closed")
