"""An index: as the catalogue describes it, and the parts of its key as a user types them.

An expression is taken apart into tokens and put together again from them, so nothing of the text reaches a
statement unread: columns are looked up and quoted, literals spelled anew, and what is not understood is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from toolkit.design.lexis import Token, TokenKind, tokens
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.values import QualifiedName, Scalar


@dataclass(frozen=True, slots=True)
class IndexKey:
    """One part of an index's key: a column or an expression, spelled for a statement (names quoted)."""

    text: str
    column: str | None = None
    """The column's name; None for an expression."""
    descending: bool = False
    collation: str = ""
    operator_class: str = ""
    nulls: str = ""
    """`FIRST` or `LAST`, where that was said."""

    @property
    def spelled(self) -> str:
        """The key as CREATE INDEX takes it."""
        return f"{self.text}{self.ending}"

    @property
    def ending(self) -> str:
        """What stands after a column or an expression."""
        collation = f" COLLATE {self.collation}" if self.collation else ""
        operators = f" {self.operator_class}" if self.operator_class else ""
        nulls = f" NULLS {self.nulls}" if self.nulls else ""
        return f"{collation}{operators}{' DESC' if self.descending else ''}{nulls}"

    @property
    def refined(self) -> str:
        """What of it only some engines have; empty for a column or expression with a direction."""
        if self.nulls:
            return f"NULLS {self.nulls}"
        return f"operator class {self.operator_class}" if self.operator_class else self.collation and "COLLATE"


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A partition or subpartition of an index, where an engine rebuilds each by a statement of its own."""

    name: str
    level: str
    """`partition` or `subpartition`."""
    bytes: float = 0.0
    valid: bool = True
    of: str | None = None
    """Of a subpartition: its partition."""

    def __str__(self) -> str:
        return f"{self.level} {self.name}"


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """An index as the catalogue describes it, enough to build the same one on a copy of its table.

    `definition` is the engine's own text after the table's name (PostgreSQL: `USING btree (a) WHERE ...`);
    where an engine has none, `columns` (already quoted where needed) serve. `leftover` says that an online rebuild
    of an index of this table failed before and left an invalid index there.
    """

    name: QualifiedName
    table: QualifiedName
    unique: bool = False
    columns: tuple[str, ...] = ()
    definition: str | None = None
    bytes: float = 0.0
    valid: bool = True
    leftover: bool = False
    parts: tuple[IndexPart, ...] = ()
    """What is rebuilt one by one; empty for an index that one statement rebuilds."""
    of: QualifiedName | None = None
    """The user's index that a copy stands for."""


_ARROWS = frozenset({"->", "->>", "#>", "#>>"})
_SIGNS = frozenset({"||", "<=", ">=", "<>", "!=", *"-+*/=<>(),."}) | _ARROWS
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
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
_NAMES = (TokenKind.WORD, TokenKind.NAME)
_END = Token(TokenKind.SIGN, "")
_LONGEST = 2000
_HINT = "write columns, numbers, 'texts', operators, CASE and functions of columns: `UPPER(NAME)`, `A || '-' || B`"


class Spelling(Protocol):
    """What of a dialect spells a key."""

    def quote(self, name: str) -> str: ...
    def literal(self, value: Scalar) -> str: ...
    def parse_name(self, text: str) -> QualifiedName: ...


def read_key(text: str, known: Sequence[str], spelling: Spelling) -> IndexKey:
    """Read one part of a key: `NAME`, `CREATED DESC`, `UPPER(NAME)`, `lower(name) text_pattern_ops NULLS FIRST`.

    Args:
        text: as typed.
        known: the table's columns; empty when they were not read, and then any is taken.
        spelling: the engine's.

    Raises:
        ToolkitError: TK-0104 for what is neither a column nor an expression, TK-0204 for an unknown column.
    """
    found = _tokens(text)
    if len(found) > 1 and text.strip() in known:
        raise ToolkitError(
            f"`{_shown(text)}` is a column whose name needs double quotes", code="TK-0104",
            hint=f"in a shell: --columns '\"{_shown(text.strip())}\"'",
        )  # fmt: skip
    nulls, descending = _taken_order(found)
    operators = _taken_name(found, 1, text, spelling) if _has_operator_class(found) else ""
    collated = len(found) > 2 and found[-2].word == "COLLATE" and found[-1].kind in _NAMES
    collation = _taken_name(found, 2, text, spelling) if collated else ""
    if len(found) == 1 and found[0].kind in _NAMES:
        column = _column(_typed(found[0], text), known, spelling)
        return IndexKey(spelling.quote(column), column, descending, collation, operators, nulls)
    spelled = _Reader(text, found, known, spelling).expression()
    return IndexKey(spelled, None, descending, collation, operators, nulls)


def names_in(text: str) -> tuple[str, ...]:
    """Return the words of a key, for the name of an index made of it."""
    found = _tokens(text)
    _taken_order(found)
    if _has_operator_class(found):
        found.pop()
    return tuple(_typed(token, text).strip('"') for token in found if token.kind in _NAMES)


def _taken_order(found: list[Token]) -> tuple[str, bool]:
    """Take NULLS FIRST or LAST, and ASC or DESC, from the end of a key."""
    nulls = ""
    if len(found) > 2 and found[-2].word == "NULLS" and found[-1].word in ("FIRST", "LAST"):
        nulls = found.pop().word
        found.pop()
    ordered = len(found) > 1 and found[-1].word in ("ASC", "DESC")
    return nulls, ordered and found.pop().word == "DESC"


def _has_operator_class(found: Sequence[Token]) -> bool:
    """Tell whether the last word of a key is an operator class: a name that comes right after a value."""
    if len(found) < 2 or found[-1].kind not in _NAMES or found[-1].word in _SYNTAX:
        return False
    before = found[-2]
    collated = before.word == "COLLATE" and len(found) > 2
    value = before.kind in (*_NAMES, TokenKind.STRING, TokenKind.NUMBER) or before.sign == ")"
    return value and not collated and (before.word not in _SYNTAX or before.word == "END")


def _taken_name(found: list[Token], count: int, text: str, spelling: Spelling) -> str:
    """Take a name and what stands before it from the end of a key; spell it."""
    name = spelling.parse_name(_typed(found[-1], text)).name
    del found[-count:]
    return spelling.quote(name)


def _tokens(text: str) -> list[Token]:
    """Take a key apart, and refuse every token that no key has."""
    if len(text) > _LONGEST:
        raise _bad(text, f"it is longer than {_LONGEST} characters")
    found = _with_arrows(tokens(text))
    for token in found:
        if not _has_place(token, text) or "\0" in token.text:
            raise _bad(text, f"`{text[token.begin : token.begin + 12]}` is not understood")
    if not found:
        raise _bad(text, "it is empty")
    return found


def _with_arrows(found: Iterable[Token]) -> list[Token]:
    """Put the signs of an operator on JSON together; the lexer reads them one by one."""
    made: list[Token] = []
    for token in found:
        joined = made[-1].sign + token.sign if made and token.sign and made[-1].end == token.begin else ""
        if joined in _ARROWS:
            made[-1] = made[-1]._replace(text=joined, end=token.end)
        else:
            made.append(token)
    return made


def _has_place(token: Token, text: str) -> bool:
    if token.kind is TokenKind.SIGN:
        return token.text in _SIGNS and not text.startswith("*/", token.begin)
    if token.kind is TokenKind.NUMBER:
        after = text[token.end : token.end + 1]
        return _PLAIN_NUMBER.fullmatch(token.text) is not None and not re.match(r"[\w$#]", after)
    if token.kind is TokenKind.STRING:
        return text[token.begin] == "'"  # a plain one, without a prefix
    return token.kind is TokenKind.WORD or (token.kind is TokenKind.NAME and token.text != "")


def _typed(token: Token, text: str) -> str:
    return text[token.begin : token.end]


def _column(typed: str, known: Sequence[str], spelling: Spelling) -> str:
    name = spelling.parse_name(typed).name
    if not known or name in known:
        return name
    alike = next((each for each in known if each.lower() == name.lower()), None)
    if alike is None or typed.startswith('"'):
        raise ToolkitError(f"the table has no column `{name}`", code="TK-0204", hint=did_you_mean(name, known))
    return alike


class _Reader:
    """Walks over the tokens of one expression and spells them again."""

    def __init__(self, text: str, found: Sequence[Token], known: Sequence[str], spelling: Spelling) -> None:
        self._text, self._tokens, self._known, self._spelling = text, found, known, spelling
        self._out: list[str] = []
        self._open: list[str] = []
        """For each open parenthesis the function before it, or nothing."""
        self._at = 0

    def expression(self) -> str:
        while self._at < len(self._tokens):
            self._read(self._tokens[self._at])
            self._at += 1
        if self._open:
            raise self._bad("a parenthesis is not closed")
        return _joined(self._out)

    def _read(self, token: Token) -> None:
        if token.kind is TokenKind.SIGN:
            self._read_sign(token.text)
        elif token.kind is TokenKind.WORD:
            self._read_word(token)
        elif token.kind is TokenKind.NAME:
            self._read_name(token)
        else:
            string = token.kind is TokenKind.STRING
            self._out.append(self._spelling.literal(token.text) if string else token.text)

    def _peek(self, ahead: int = 1) -> Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else _END

    def _typed(self, token: Token) -> str:
        return _typed(token, self._text)

    def _bad(self, why: str) -> ToolkitError:
        return _bad(self._text, why)

    def _read_sign(self, sign: str) -> None:
        if sign == "(":
            self._open.append("")
        elif sign == ")":
            if not self._open:
                raise self._bad("a parenthesis is closed that was not opened")
            self._open.pop()
        elif sign == "," and not self._open:
            raise self._bad("give the parts of a key one by one, with commas between them")
        elif sign == ".":
            raise self._bad("a column is written without the name of its table")
        self._out.append(sign)

    def _read_word(self, token: Token) -> None:
        word = token.word
        if word in _NEVER:
            raise self._bad(f"`{self._typed(token)}` has no place in an index")
        inside = self._open[-1] if self._open else ""
        field = word in _FIELDS and inside in _WITH_FROM and self._out[-1].endswith("(")
        from_ = word == "FROM" and inside in _WITH_FROM
        literal = word in _LITERAL_WORDS and self._peek().kind is TokenKind.STRING
        if word in _SYNTAX or field or from_ or literal:
            self._out.append(word)
        elif word == "AS" and inside == "CAST":
            self._out.append(word)
            self._read_type()
        else:
            self._read_name(token)

    def _read_type(self) -> None:
        """Read a type up to the parenthesis that closes CAST: words, and lengths in parentheses."""
        depth = 0
        while self._peek() is not _END and not (self._peek().sign == ")" and depth == 0):
            self._at += 1
            token = self._tokens[self._at]
            depth += (token.sign == "(") - (token.sign == ")")
            if token.kind not in (TokenKind.WORD, TokenKind.NUMBER) and token.sign not in ("(", ")", ","):
                raise self._bad(f"`{self._typed(token)}` is not part of a type")
            if token.word in _NEVER:
                raise self._bad(f"`{self._typed(token)}` has no place in an index")
            self._out.append(self._typed(token))

    def _read_name(self, token: Token) -> None:
        path = [token]
        while self._peek().sign == "." and self._peek(2).kind in _NAMES:
            path.append(self._peek(2))
            self._at += 2
        if self._peek().sign == "(":
            self._read_call(path)
        elif len(path) > 1:
            raise self._bad("a column is written without the name of its table")
        else:
            column = _column(self._typed(token), self._known, self._spelling)
            self._out.append(self._spelling.quote(column))

    def _read_call(self, path: Sequence[Token]) -> None:
        """Read a function: a plain name stays as it is typed, so that the engine finds its own ones."""
        if len(path) > 3 or any(part.word in _NEVER for part in path):
            raise self._bad("this is not the name of a function")
        quote = self._spelling.quote
        spelled = [quote(part.text) if part.kind is TokenKind.NAME else self._typed(part) for part in path]
        self._out.append(".".join(spelled) + "(")
        self._open.append(path[-1].word)
        self._at += 1


def _joined(words: Sequence[str]) -> str:
    """Put blanks between words, none inside parentheses and before commas; literals stay as they are."""
    text = words[0]
    for before, word in pairwise(words):
        tight = before.endswith("(") or word in (")", ",")
        text += word if tight else f" {word}"
    return text


def _bad(text: str, why: str) -> ToolkitError:
    return ToolkitError(f"`{_shown(text)}` is not a key of an index: {_shown(why)}", code="TK-0104", hint=_HINT)


def _shown(text: str) -> str:
    return (text if text.isprintable() else text.encode("unicode_escape").decode("ascii"))[:140]
