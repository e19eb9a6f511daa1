"""Reads the parts of an index's key as a user types them: columns, expressions, directions.

An expression is taken apart into tokens and put together again from them, so nothing of the text reaches a
statement unread: columns are looked up and quoted, literals spelled anew, and what is not understood is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from toolkit.dialects.indexes import IndexKey
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.values import QualifiedName, Scalar

_TOKEN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<text>'(?:[^'\0]|'')*')"
    r'|(?P<quoted>"[^"\0]+")'
    r"|(?P<number>\d+(?:\.\d+)?)(?![\w$#])"
    r"|(?P<word>[^\W\d][\w$#]*)"
    r"|(?P<sign>\|\||<=|>=|<>|!=|[-+*/=<>(),.])"
)
_COMMENT = re.compile(r"--|/\*|\*/")
_SYNTAX = frozenset(
    "CASE WHEN THEN ELSE END AND OR NOT IS NULL IN LIKE ESCAPE BETWEEN".split()  # noqa: SIM905
)
_LITERAL_WORDS = frozenset({"DATE", "TIMESTAMP"})
_WITH_FROM = frozenset({"EXTRACT", "TRIM"})
_FIELDS = frozenset("YEAR MONTH DAY HOUR MINUTE SECOND BOTH LEADING TRAILING".split())  # noqa: SIM905
_NEVER = frozenset(
    "SELECT WITH TABLE CURSOR MULTISET EXISTS UNION MINUS INTERSECT EXCEPT VALUES ANY SOME ALL PRIOR "  # noqa: SIM905
    "INSERT UPDATE DELETE MERGE CREATE ALTER DROP GRANT EXECUTE BEGIN DECLARE XMLTABLE LATERAL".split()
)
_LONGEST = 2000
_HINT = "write columns, numbers, 'texts', operators, CASE and functions of columns: `UPPER(NAME)`, `A || '-' || B`"


class Spelling(Protocol):
    """What of a dialect spells a key."""

    def quote(self, name: str) -> str: ...
    def literal(self, value: Scalar) -> str: ...
    def parse_name(self, text: str) -> QualifiedName: ...


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str

    @property
    def word(self) -> str:
        return self.text.upper() if self.kind == "word" else ""


def read_key(text: str, known: Sequence[str], spelling: Spelling) -> IndexKey:
    """Read one part of a key: `NAME`, `CREATED DESC`, `UPPER(NAME)`.

    Args:
        text: as typed.
        known: the table's columns; empty when nobody looked, and then any is taken.
        spelling: the engine's.

    Raises:
        ToolkitError: TK-0104 for what is no column and no expression, TK-0204 for a column that is not there.
    """
    tokens = _tokens(text)
    descending = False
    if len(tokens) > 1 and tokens[-1].word in ("ASC", "DESC"):
        descending = tokens.pop().word == "DESC"
    if len(tokens) == 1 and tokens[0].kind in ("word", "quoted"):
        column = _column(tokens[0], known, spelling)
        return IndexKey(spelling.quote(column), column, descending)
    return IndexKey(_Reader(text, tokens, known, spelling).expression(), None, descending)


def names_in(text: str) -> tuple[str, ...]:
    """Return the words of a key, for the name of an index made of it."""
    return tuple(
        token.text.strip('"')
        for token in _tokens(text)
        if token.kind in ("word", "quoted") and token.word not in ("ASC", "DESC")
    )


def _tokens(text: str) -> list[_Token]:
    if len(text) > _LONGEST:
        raise _bad(text, f"it is longer than {_LONGEST} characters")
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or _COMMENT.match(text, at):
            raise _bad(text, f"`{text[at : at + 12]}` is not understood")
        if match.lastgroup != "blank":
            found.append(_Token(str(match.lastgroup), match[0]))
        at = match.end()
    if not found:
        raise _bad(text, "it is empty")
    return found


def _column(token: _Token, known: Sequence[str], spelling: Spelling) -> str:
    name = spelling.parse_name(token.text).name
    if not known or name in known:
        return name
    alike = next((each for each in known if each.lower() == name.lower()), None)
    if alike is None or token.kind == "quoted":
        raise ToolkitError(f"the table has no column `{name}`", code="TK-0204", hint=did_you_mean(name, known))
    return alike


class _Reader:
    """Walks over the tokens of one expression and spells them again."""

    def __init__(self, text: str, tokens: Sequence[_Token], known: Sequence[str], spelling: Spelling) -> None:
        self._text, self._tokens, self._known, self._spelling = text, tokens, known, spelling
        self._out: list[str] = []
        self._open: list[str] = []
        """For each bracket that is open the function before it, or nothing."""
        self._at = 0

    def expression(self) -> str:
        while self._at < len(self._tokens):
            self._next()
        if self._open:
            raise _bad(self._text, "a bracket is not closed")
        return _joined(self._out)

    def _peek(self, ahead: int = 1) -> _Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else _Token("end", "")

    def _next(self) -> None:
        token = self._tokens[self._at]
        readers: dict[str, Callable[[_Token], None]] = {
            "text": self._read_text, "number": self._read_as_it_is, "sign": self._read_sign,
            "word": self._read_word, "quoted": self._read_name,
        }  # fmt: skip
        readers[token.kind](token)
        self._at += 1

    def _read_as_it_is(self, token: _Token) -> None:
        self._out.append(token.text)

    def _read_text(self, token: _Token) -> None:
        self._out.append(self._spelling.literal(token.text[1:-1].replace("''", "'")))

    def _read_sign(self, token: _Token) -> None:
        if token.text == "(":
            self._open.append("")
        elif token.text == ")":
            if not self._open:
                raise _bad(self._text, "a bracket is closed that was not opened")
            self._open.pop()
        elif token.text == "," and not self._open:
            raise _bad(self._text, "several keys are given one by one, with commas between them")
        elif token.text == ".":
            raise _bad(self._text, "a column bears no table's name here")
        self._out.append(token.text)

    def _read_word(self, token: _Token) -> None:
        word = token.word
        if word in _NEVER:
            raise _bad(self._text, f"`{token.text}` has no place in an index")
        inside = self._open[-1] if self._open else ""
        field = word in _FIELDS and inside in _WITH_FROM and self._out[-1].endswith("(")
        from_ = word == "FROM" and inside in _WITH_FROM
        literal = word in _LITERAL_WORDS and self._peek().kind == "text"
        if word in _SYNTAX or field or from_ or literal:
            self._out.append(word)
        elif word == "AS" and inside == "CAST":
            self._out.append(word)
            self._type()
        else:
            self._read_name(token)

    def _type(self) -> None:
        """Read a type up to the bracket that closes CAST: words, and lengths in brackets."""
        depth = 0
        while self._peek().kind != "end" and not (self._peek().text == ")" and depth == 0):
            self._at += 1
            token = self._tokens[self._at]
            depth += (token.text == "(") - (token.text == ")")
            if token.kind not in ("word", "number") and token.text not in ("(", ")", ","):
                raise _bad(self._text, f"`{token.text}` is no part of a type")
            if token.word in _NEVER:
                raise _bad(self._text, f"`{token.text}` has no place in an index")
            self._out.append(token.text)

    def _read_name(self, token: _Token) -> None:
        path = [token]
        while self._peek().text == "." and self._peek(2).kind in ("word", "quoted"):
            path.append(self._peek(2))
            self._at += 2
        if self._peek().text == "(":
            self._call(path)
        elif len(path) > 1:
            raise _bad(self._text, "a column bears no table's name here")
        else:
            self._out.append(self._spelling.quote(_column(token, self._known, self._spelling)))

    def _call(self, path: Sequence[_Token]) -> None:
        """A function: a plain name stays as it is typed, so that the engine finds its own ones."""
        if len(path) > 3 or any(part.word in _NEVER for part in path):
            raise _bad(self._text, "no function is called so")
        spelled = [self._spelling.quote(part.text[1:-1]) if part.kind == "quoted" else part.text for part in path]
        self._out.append(".".join(spelled) + "(")
        self._open.append(path[-1].word)
        self._at += 1


def _joined(words: Sequence[str]) -> str:
    """Put blanks between words, none inside brackets and before commas; what a literal holds stays as it is."""
    text = words[0]
    for before, word in pairwise(words):
        tight = before.endswith("(") or word in (")", ",")
        text += word if tight else f" {word}"
    return text


def _bad(text: str, why: str) -> ToolkitError:
    return ToolkitError(f"`{_shown(text)}` is no key of an index: {_shown(why)}", code="TK-0104", hint=_HINT)


def _shown(text: str) -> str:
    return (text if text.isprintable() else text.encode("unicode_escape").decode("ascii"))[:140]
