"""Oracle's text in pieces: words, quoted names, literals, numbers, signs; comments fall away.

One pass, one regular expression, linear in the length of the text. A quote or comment that is never closed leaves
the rest as `broken`: it is then looked at word by word, because nobody can tell how a server reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<line>--[^\n]*)
    |(?P<comment>/\*)
    |(?P<quote>[nN]?[qQ]'(?P<mark>\S))
    |(?P<escaped>[uU]'(?:[^']|'')*+')
    |(?P<text>[nN]?'(?:[^']|'')*+')
    |(?P<name>"[^"]*+")
    |(?P<word>[^\W\d][\w$\#]*)
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<sign>\|\||:=|=>|<>|!=|\^=|~=|<=|>=|\*\*|\.\.|<<|>>|.)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}
_NOT_LINE_END = re.compile(r"[^\n]")
_UNISTR = re.compile(r"\\(\\|[0-9A-Fa-f]{4})")


class TokenKind(StrEnum):
    """What a token is."""

    WORD = "word"
    NAME = "name"
    TEXT = "text"
    NUMBER = "number"
    SIGN = "sign"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class SqlToken:
    """A piece that means something: words in upper case, names and literals without their quotes."""

    kind: TokenKind
    text: str


def tokens(text: str) -> Iterator[SqlToken]:
    """Yield the tokens of a text; the last may be `broken`, with the rest of the text."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None  # the last alternative takes any character
        kind = match.lastgroup if match.lastgroup != "mark" else "quote"
        end = _end(text, match, kind or "")
        if end < 0 or (kind == "sign" and match[0] in "'\""):
            yield SqlToken(TokenKind.BROKEN, text[at:])
            return
        token = _token(kind or "", match, text[at:end])
        if token is not None:
            yield token
        at = end


def without_comments(text: str) -> str:
    """Return a text with its comments blanked; line ends stay, and what is broken stays as it is."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None
        kind = match.lastgroup if match.lastgroup != "mark" else "quote"
        end = _end(text, match, kind or "")
        if end < 0:
            return "".join(parts) + text[at:]
        piece = text[at:end]
        parts.append(_NOT_LINE_END.sub(" ", piece) if kind in {"line", "comment"} else piece)
        at = end
    return "".join(parts)


def unistr(text: str) -> str:
    r"""Return what UNISTR makes of a text: `\0041` is a UTF-16 unit, `\\` a backslash."""
    return _UNISTR.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1], 16)), text)


def _end(text: str, match: re.Match[str], kind: str) -> int:
    """Return where a token ends, -1 when it never does."""
    if kind == "comment":
        at = text.find("*/", match.end())
        return at + 2 if at >= 0 else -1
    if kind == "quote":
        mark = match["mark"]
        at = text.find(_CLOSERS.get(mark, mark) + "'", match.end())
        return at + 2 if at >= 0 else -1
    return match.end()


def _token(kind: str, match: re.Match[str], piece: str) -> SqlToken | None:
    if kind in {"text", "quote", "escaped"}:
        return SqlToken(TokenKind.TEXT, _literal(kind, match, piece))
    if kind == "word":
        return SqlToken(TokenKind.WORD, piece.upper())
    if kind == "name":
        return SqlToken(TokenKind.NAME, piece[1:-1])
    return SqlToken(TokenKind(kind), piece) if kind in {"number", "sign"} else None


def _literal(kind: str, match: re.Match[str], piece: str) -> str:
    if kind == "quote":
        return piece[match.end() - match.start() : -2]
    inner = piece[piece.index("'") + 1 : -1].replace("''", "'")
    return unistr(inner) if kind == "escaped" else inner
