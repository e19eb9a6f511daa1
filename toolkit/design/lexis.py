"""The lexer of SQL: a text in tokens, with the quotes and comments of each engine.

One pass, linear in the length of the text. A quote or comment that is never closed leaves the rest of the text as
one `broken` token, because it is unknown how a server reads it. Nothing is raised here: what a token means, and
whether a broken text is refused, is for each reader to say.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from toolkit.model.engines import SqlReading, engine
from toolkit.model.words import EngineName

_LEXER = r"""(?P<space>{spaces}+)
    |(?P<comment>--[^{line_ends}]*)
    |(?P<block>/\*)
    |{quotes}
    |(?P<word>{words})
    |(?P<number>\d+(?:\.(?!\.)\d*)?(?:[eE][+-]?\d+(?![\w$\#]))?)
    |(?P<sign>{signs}\|\||:=|=>|<>|!=|\^=|~=|<=|>=|\*\*|\.\.|<<|>>|.)"""
_ORACLE_QUOTES = r"""(?P<alternative>[nN]?[qQ]'\S)
    |(?P<unicode>[uU]'(?:[^']|'')*+')
    |(?P<string>[nN]?'(?:[^']|'')*+')
    |(?P<name>"[^"]*+")"""
_GAP = r"(?=[^\S\n\r]*+(?:--[^\n\r]*+)?[\n\r])(?>(?:\s++|--[^\n\r]*+[\n\r])*)"
"""Between the parts of a literal that goes on in a later line."""
_STANDARD_QUOTES = rf"""(?P<dollar>\$(?:[^\W\d]\w*)?\$)
    |(?P<escape>[eE]'(?:[^'\\]|\\.|'')*+'(?>(?:{_GAP}'(?:[^']|'')*+')*))
    |(?P<string>'(?:[^']|'')*+'(?>(?:{_GAP}'(?:[^']|'')*+')*))
    |(?P<name>"(?:[^"]|"")*+")"""
_POSTGRESQL_QUOTES = rf"""(?P<coded>[uU]&'(?:[^']|'')*+'(?>(?:{_GAP}'(?:[^']|'')*+')*))
    |(?P<coded_name>[uU]&"(?:[^"]|"")*+")
    |(?P<long_escape>[eE]'(?:[^'\\]|\\.|'')*+'(?>(?:{_GAP}'(?:[^'\\]|\\.|'')*+')*))
    |{_STANDARD_QUOTES}"""
_UNICODE_SPACES = "\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
"""What DuckDB takes for blanks beside those of ASCII; to PostgreSQL they are letters of a name."""
_PART = re.compile(rf"'((?:[^']|'')*+)'(?:{_GAP})?")
_ESCAPED_PART = re.compile(rf"'((?:[^'\\]|\\.|'')*+)'(?:{_GAP})?", re.DOTALL)
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}
_COMMENT_MARK = re.compile(r"/\*|\*/")
_UNISTR = re.compile(r"\\(\\|[0-9A-Fa-f]{4})")
_CODED = re.compile(r"\\(?:(\\)|\+([0-9A-Fa-f]{6})|([0-9A-Fa-f]{4}))")
_ESCAPES = r"(?P<bytes>(?:\\x[0-9A-Fa-f]{1,2}|\\[0-7]{1,3})+)|\\(?P<other>.)"
_ESCAPE = re.compile(_ESCAPES, re.DOTALL)
_LONG_ESCAPE = re.compile(rf"\\(?:u(?P<short>[0-9A-Fa-f]{{4}})|U(?P<long>[0-9A-Fa-f]{{8}}))|{_ESCAPES}", re.DOTALL)
_BYTE = re.compile(r"\\(?:x([0-9A-Fa-f]+)|([0-7]+))")
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


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
    "dollar": TokenKind.STRING, "escape": TokenKind.STRING, "long_escape": TokenKind.STRING,
    "coded": TokenKind.STRING, "coded_name": TokenKind.NAME, **{kind.value: kind for kind in TokenKind},
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


def _lexer(quotes: str, *, spaces: str, words: str, line_ends: str = r"\n\r", signs: str = "") -> re.Pattern[str]:
    text = _LEXER.format(quotes=quotes, spaces=spaces, words=words, line_ends=line_ends, signs=signs)
    return re.compile(text, re.VERBOSE | re.DOTALL)


_OPENERS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
ORACLE = Syntax(
    _lexer(_ORACLE_QUOTES, spaces=r"\s", words=r"[^\W\d][\w$\#]*", line_ends=r"\n"),
    nested_comments=False,
    substitution=True,
    openers=frozenset({"SELECT", "WITH"}),
)
STANDARD = Syntax(
    _lexer(
        _STANDARD_QUOTES,
        spaces=rf"[ \t\n\v\f\r{_UNICODE_SPACES}]",
        words=rf"(?:[A-Za-z_]|[^\x00-\x7f{_UNICODE_SPACES}])(?:[A-Za-z0-9_$]|[^\x00-\x7f{_UNICODE_SPACES}])*",
        signs="::|",
    ),
    nested_comments=True,
    substitution=False,
    openers=_OPENERS,
)
POSTGRESQL = Syntax(
    _lexer(
        _POSTGRESQL_QUOTES,
        spaces=r"[ \t\n\v\f\r]",
        words=r"(?:[A-Za-z_]|[^\x00-\x7f])(?:[A-Za-z0-9_$]|[^\x00-\x7f])*",
        signs="::|",
    ),
    nested_comments=True,
    substitution=False,
    openers=_OPENERS,
)
"""By `scan.l` of PostgreSQL: all that is not ASCII is a letter."""
_SYNTAXES = {SqlReading.ORACLE: ORACLE, SqlReading.STANDARD: STANDARD, SqlReading.POSTGRESQL: POSTGRESQL}


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
    """Return a token's text as its readers want it: what the engine makes of quotes and escapes."""
    opening = len(match[0])
    match group:
        case "word":
            return piece.upper()
        case "name":
            return piece[1:-1].replace('""', '"')
        case "coded_name":
            return _coded(piece[3:-1].replace('""', '"'))
        case "alternative":
            return piece[opening:-2]
        case "dollar":
            return piece[opening:-opening]
        case _:
            return _literal(piece, group)


def _literal(piece: str, group: str) -> str:
    """Return what a literal says; any other piece as it is."""
    reading = _READINGS.get(group)
    if reading is None:
        return piece
    parts = (_ESCAPED_PART if group.endswith("escape") else _PART).finditer(piece, piece.index("'"))
    return reading("".join(part[1] for part in parts).replace("''", "'"))


def _coded(text: str) -> str:
    r"""Return what `U&` makes of a text: `\0061` and `\+000061` are characters, `\\` a backslash."""
    found = _CODED.sub(lambda found: "\\" if found[1] else _character(found[2] or found[3]), text)
    return _paired(found)


def _escaped(text: str) -> str:
    r"""Return what DuckDB's `E` makes of a text: `\n`, octal and hexadecimal bytes; else what follows `\`."""
    return _ESCAPE.sub(_escape, text)


def _long_escaped(text: str) -> str:
    r"""Return what PostgreSQL's `E` makes of a text: the same, and of `\u0061` and `\U00000061` characters."""
    return _paired(_LONG_ESCAPE.sub(_long_escape, text))


def _long_escape(found: re.Match[str]) -> str:
    digits = found["short"] or found["long"]
    return _character(digits) if digits else _escape(found)


def _escape(found: re.Match[str]) -> str:
    if found["bytes"]:
        each = (int(one[1], 16) if one[1] else int(one[2], 8) & 0xFF for one in _BYTE.finditer(found["bytes"]))
        return bytes(each).decode(errors="replace")
    return _CONTROLS.get(found["other"], found["other"])


def _character(digits: str) -> str:
    """Return the character of a number; nothing where there is none."""
    number = int(digits, 16)
    return chr(number) if number <= sys.maxunicode else ""


def _paired(text: str) -> str:
    """Join the halves of characters that are written as two of UTF-16."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_READINGS: Mapping[str, Callable[[str], str]] = {
    "string": str, "unicode": unistr, "escape": _escaped, "long_escape": _long_escaped, "coded": _coded,
}  # fmt: skip
"""What is made of a literal's text, by the group of the lexer."""
