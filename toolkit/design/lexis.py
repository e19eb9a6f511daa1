"""The lexer of SQL: a text in tokens, with the quotes and comments of each engine.

One pass, linear in the length of the text. A quote or comment that is never closed leaves the rest of the text as
one `broken` token, because it is unknown how a server reads it. Nothing is raised here: what a token means, and
whether a broken text is refused, is for each reader to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from toolkit.model.engines import SqlReading, engine
from toolkit.model.words import EngineName

_LEXER = r"""(?P<space>\s+)
    |(?P<comment>--[^\n]*)
    |(?P<block>/\*)
    |{quotes}
    |(?P<word>[^\W\d][\w$\#]*)
    |(?P<number>\d+(?:\.(?!\.)\d*)?(?:[eE][+-]?\d+(?![\w$\#]))?)
    |(?P<sign>{signs}\|\||:=|=>|<>|!=|\^=|~=|<=|>=|\*\*|\.\.|<<|>>|.)"""
_ORACLE_QUOTES = r"""(?P<alternative>[nN]?[qQ]'\S)
    |(?P<unicode>[uU]'(?:[^']|'')*+')
    |(?P<string>[nN]?'(?:[^']|'')*+')
    |(?P<name>"[^"]*+")"""
_POSTGRESQL_QUOTES = r"""(?P<dollar>\$(?:[^\W\d]\w*)?\$)
    |(?P<escape>[eE]'(?:[^'\\]|\\.|'')*+')
    |(?P<string>'(?:[^']|'')*+')
    |(?P<name>"(?:[^"]|"")*+")"""
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}
_COMMENT_MARK = re.compile(r"/\*|\*/")
_UNISTR = re.compile(r"\\(\\|[0-9A-Fa-f]{4})")


class TokenKind(StrEnum):
    """What a token is."""

    WORD = "word"
    NAME = "name"
    STRING = "string"
    NUMBER = "number"
    SIGN = "sign"
    COMMENT = "comment"
    BROKEN = "broken"


_KINDS = {
    "block": TokenKind.COMMENT, "alternative": TokenKind.STRING, "unicode": TokenKind.STRING,
    "dollar": TokenKind.STRING, "escape": TokenKind.STRING, **{kind.value: kind for kind in TokenKind},
}  # fmt: skip


class Token(NamedTuple):
    """A piece of a text that means something.

    Attributes:
        kind: what it is.
        text: words in upper case; names and strings without their quotes; the rest as written.
        begin: where it begins in the text.
        end: where it ends.
        depth: the parentheses that are open around it; a parenthesis counts itself.
    """

    kind: TokenKind
    text: str
    begin: int = 0
    end: int = 0
    depth: int = 0

    @property
    def word(self) -> str:
        """The word in upper case; empty for anything else, a quoted name too."""
        return self.text if self.kind is TokenKind.WORD else ""

    @property
    def sign(self) -> str:
        """The sign; empty for anything else."""
        return self.text if self.kind is TokenKind.SIGN else ""


@dataclass(frozen=True, slots=True)
class Syntax:
    """How an engine reads a text.

    Attributes:
        lexer: matches one token, up to the opening of what has a closing of its own.
        nested_comments: whether a comment may hold another.
        substitution: whether `&` is replaced by the tool that sends the text (SQL*Plus).
        openers: words that may begin a query.
    """

    lexer: re.Pattern[str]
    nested_comments: bool
    substitution: bool
    openers: frozenset[str]


ORACLE = Syntax(
    re.compile(_LEXER.format(quotes=_ORACLE_QUOTES, signs=""), re.VERBOSE | re.DOTALL),
    nested_comments=False,
    substitution=True,
    openers=frozenset({"SELECT", "WITH"}),
)
POSTGRESQL = Syntax(
    re.compile(_LEXER.format(quotes=_POSTGRESQL_QUOTES, signs="::|"), re.VERBOSE | re.DOTALL),
    nested_comments=True,
    substitution=False,
    openers=frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"}),
)
_SYNTAXES = {SqlReading.ORACLE: ORACLE, SqlReading.STANDARD: POSTGRESQL}


def syntax_of(name: EngineName) -> Syntax:
    """Return how an engine reads a text."""
    return _SYNTAXES[engine(name).reads]


def tokens(text: str, syntax: Syntax = ORACLE) -> Iterator[Token]:
    """Yield the tokens of a text, comments among them; the last may be `broken`, with the rest of the text."""
    at = depth = 0
    while at < len(text):
        match = syntax.lexer.match(text, at)
        assert match is not None  # the last alternative takes any character
        group = match.lastgroup or ""
        end = _end(text, match, group, syntax)
        if end < 0 or (group == "sign" and match[0] in "'\""):
            yield Token(TokenKind.BROKEN, text[at:], at, len(text), depth)
            return
        if group != "space":
            sign = match[0] if group == "sign" else ""
            depth += sign == "("
            yield Token(_KINDS[group], _meaning(text[at:end], match, group), at, end, depth)
            depth -= sign == ")"
        at = end


def without_comments(text: str, syntax: Syntax = ORACLE) -> str:
    """Return a text with its comments blanked; line ends stay, and what is broken stays as it is."""
    parts: list[str] = []
    at = 0
    for token in tokens(text, syntax):
        if token.kind is TokenKind.COMMENT:
            parts += (text[at : token.begin], re.sub(r"[^\n]", " ", token.text))
            at = token.end
    return "".join((*parts, text[at:]))


def unistr(text: str) -> str:
    r"""Return what UNISTR makes of a text: `\0041` is a UTF-16 unit, `\\` a backslash."""
    return _UNISTR.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1], 16)), text)


def _end(text: str, match: re.Match[str], group: str, syntax: Syntax) -> int:
    """Return where a token ends, -1 when it never does."""
    if group == "block" and syntax.nested_comments:
        return _nested_end(text, match.end())
    if group not in {"block", "alternative", "dollar"}:
        return match.end()
    mark = match[0][-1]
    closer = {"block": "*/", "dollar": match[0]}.get(group) or _CLOSERS.get(mark, mark) + "'"
    at = text.find(closer, match.end())
    return at + len(closer) if at >= 0 else -1


def _nested_end(text: str, begin: int) -> int:
    depth = 1
    for match in _COMMENT_MARK.finditer(text, begin):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    return -1


def _meaning(piece: str, match: re.Match[str], group: str) -> str:
    """Return a token's text as its readers want it; escapes of PostgreSQL's E'' strings stay as they are."""
    if group == "word":
        return piece.upper()
    if group == "name":
        return piece[1:-1].replace('""', '"')
    opening = len(match[0])
    if group == "alternative":
        return piece[opening:-2]
    if group == "dollar":
        return piece[opening:-opening]
    if group not in {"string", "unicode", "escape"}:
        return piece
    inner = piece[piece.index("'") + 1 : -1].replace("''", "'")
    return unistr(inner) if group == "unicode" else inner
