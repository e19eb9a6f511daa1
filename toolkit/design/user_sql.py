"""The SQL that a user gives: exactly one query, or one condition on rows; anything else is refused.

This is no parser: it looks at the tokens, and the engine parses the text itself. It keeps a second statement, one
that changes something, and whatever would leave the parentheses around a condition from being sent along. Engines
read quotes differently, so a text is read with the syntax of each engine that may get it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from toolkit.design.lexis import ORACLE, POSTGRESQL, Syntax, Token, TokenKind, syntax_of, tokens
from toolkit.errors import ToolkitError
from toolkit.model.words import EngineName

_LONGEST_QUERY = 1_000_000
_LONGEST_CONDITION = 100_000
_QUERY_HINT = "give one SELECT, WITH ... SELECT or VALUES, without anything after it"
_CONDITION_HINT = "give one condition, such as `order_date >= date '2026-01-01'`; anything more belongs in --query"
_EXPRESSION_HINT = "give one expression of the table's columns, such as `lower(city)`"
_ASSIGNMENT_HINT = "give `column = expression`, such as `state = 9`; for several columns give --set several times"
_BODIES = POSTGRESQL.openers - {"WITH"}
_CHANGES = {"INSERT": "INTO", "DELETE": "FROM", "MERGE": "INTO"}
_SUBQUERIES = POSTGRESQL.openers
"""Words that open a query when they stand behind a parenthesis."""
_PARTITIONING_HINT = "give the clause alone, such as `PARTITION BY HASH (ID) PARTITIONS 16`"
_CLAUSES = frozenset(
    {"WHERE", "GROUP", "HAVING", "ORDER", "UNION", "INTERSECT", "EXCEPT", "MINUS", "CONNECT", "START", "FETCH",
     "LIMIT", "OFFSET", "FOR", "WINDOW", "QUALIFY", "RETURNING", "FROM", "INTO", "MODEL"}
)  # fmt: skip
_JOINING = frozenset({"AND", "OR", "NOT"})
_OPERATORS = frozenset("=<>!+-*/|%^")


@dataclass(frozen=True, slots=True)
class _UserText:
    """A text of the user's, what it is called in errors, and the hint of each error."""

    text: str
    name: str
    hint: str

    def bad(self, sentence: str) -> ToolkitError:
        return ToolkitError(f"{self.name} {sentence}", code="TK-0105", hint=self.hint)

    def read(self, check: Callable[[_UserText, Syntax], str], engine: EngineName | None, longest: int) -> str:
        """Return what a check makes of the text; without an engine the reading of any engine will do."""
        if len(self.text) > longest:
            raise self.bad(f"is longer than {longest:,} characters")
        if "\x00" in self.text:
            raise self.bad("contains a NUL character")
        first: ToolkitError | None = None
        for syntax in (syntax_of(engine),) if engine else (POSTGRESQL, ORACLE):
            try:
                return check(self, syntax)
            except ToolkitError as error:
                first = first or error
        raise first or self.bad("is empty")

    def tokens(self, syntax: Syntax, *, comments: bool) -> list[Token]:
        """Return the tokens without comments; refuse what is not closed, and comments that are not wanted."""
        found: list[Token] = []
        for token in tokens(self.text, syntax):
            broken = token.kind is TokenKind.BROKEN
            comment = token.kind is TokenKind.COMMENT or (broken and token.text.startswith("/*"))
            if comment and not comments:
                raise self.bad("contains a comment")
            if broken:
                raise self.bad(f"has an unclosed {'comment' if comment else 'quote'}")
            if token.sign == ")" and token.depth < 1:
                raise self.bad("closes a parenthesis that is not open")
            if not comment:
                found.append(token)
        return found

    def check_end(self, found: Sequence[Token]) -> None:
        """Refuse a text without tokens, or whose last one leaves a parenthesis open."""
        if not found:
            raise self.bad("is empty")
        if found[-1].depth > (found[-1].sign == ")"):
            raise self.bad("has an unclosed parenthesis")

    def check_sign(self, token: Token, syntax: Syntax) -> None:
        """Refuse signs that only a tool on the way to the server would understand."""
        if token.sign == "\\":
            raise self.bad("contains a backslash outside quotes")
        if token.sign == "$":
            raise self.bad("has a `$` outside quotes: values cannot be bound, or a quote is unclosed")
        if token.sign == "&" and syntax.substitution:
            raise self.bad("has a `&` outside quotes, which only SQL*Plus replaces: write the actual value")


# -- one query --------------------------------------------------------------------------------------------------
def check_query(text: str, engine: EngineName | None = None) -> str:
    """Return the query without its terminator and trailing comments, or refuse it.

    Args:
        text: what the user gave.
        engine: whose quotes count; without it the reading of any engine will do, and the caller checks again
            when the engine is known.

    Raises:
        ToolkitError: TK-0105 with what is wrong; without an engine what was wrong in the first reading.
    """
    return _UserText(text, "the query", _QUERY_HINT).read(_check_query, engine, _LONGEST_QUERY)


def _check_query(given: _UserText, syntax: Syntax) -> str:
    found = given.tokens(syntax, comments=True)
    end = next((place for place, token in enumerate(found) if token.sign == ";"), len(found))
    if end < len(found) - 1:
        raise given.bad("contains more than one statement")
    found = found[:end]
    given.check_end(found)
    _check_opening(given, found, syntax)
    for place in range(len(found)):
        given.check_sign(found[place], syntax)
        _check_query_word(given, found, place)
    return given.text[: found[-1].end].lstrip()


def _check_opening(given: _UserText, found: list[Token], syntax: Syntax) -> None:
    first = next((token for token in found if token.sign != "("), None)
    if first is None or first.word not in syntax.openers:
        shown = given.text[first.begin : first.end][:30].lower() if first else "("
        raise given.bad(f"begins with `{shown}`, not with SELECT")
    if first.word == "WITH" and not _has_body(found, first.depth):
        raise given.bad("has WITH but no SELECT after it")


def _has_body(found: list[Token], depth: int) -> bool:
    """Whether a WITH is followed, at its own depth, by what it is for."""
    for before, token in pairwise(found):
        if token.depth != depth and not (token.sign == "(" and token.depth == depth + 1):
            continue
        if token.word in _BODIES or (token.sign == "(" and before.sign == ")"):
            return True
    return False


def _check_query_word(given: _UserText, found: list[Token], place: int) -> None:
    word = found[place].word
    before = found[place - 1].sign if place else "("
    after = found[place + 1] if place + 1 < len(found) else None
    if word == "INTO":
        raise given.bad("has SELECT ... INTO, which creates an object")
    if before in {"(", ")"} and after is not None and _changes(word, after):
        raise given.bad(f"has {word} inside, which changes data")
    if word == "FOR" and _locks([each.word for each in found[place + 1 : place + 3] if each.word]):
        raise given.bad("has FOR UPDATE or FOR SHARE, which locks rows")


def _changes(word: str, after: Token) -> bool:
    if word == "UPDATE":
        return after.kind in (TokenKind.WORD, TokenKind.NAME)
    return word in _CHANGES and after.word == _CHANGES[word]


def _locks(words: list[str]) -> bool:
    if words[:1] == ["UPDATE"] or words in (["NO", "KEY"], ["KEY", "SHARE"]):
        return True
    return words[:1] == ["SHARE"] and words[1:] != ["IN"]


# -- one condition ----------------------------------------------------------------------------------------------
def check_predicate(text: str, engine: EngineName | None = None) -> str:
    """Return a condition, fit to stand in parentheses after WHERE, without blanks around it; or refuse it.

    Args:
        text: what the user gave.
        engine: as for `check_query`.

    Raises:
        ToolkitError: TK-0105 with what is wrong.
    """
    given = _UserText(text.strip(), "the condition", _CONDITION_HINT)
    return given.read(_check_predicate, engine, _LONGEST_CONDITION)


def _check_predicate(given: _UserText, syntax: Syntax) -> str:
    found = given.tokens(syntax, comments=False)
    given.check_end(found)
    _check_ends(given, found)
    for before, token in zip((None, *found), found, strict=False):
        given.check_sign(token, syntax)
        if token.sign == ";":
            raise given.bad("contains a semicolon")
        if token.sign in {":", ":="}:
            raise given.bad("has a `:` outside quotes: values cannot be bound")
        if token.word:
            _check_condition_word(given, token, before)
    return given.text


def _check_ends(given: _UserText, found: list[Token]) -> None:
    first, last = found[0], found[-1]
    if first.word in _JOINING - {"NOT"}:
        raise given.bad(f"begins with {first.word}")
    if last.word in _JOINING:
        raise given.bad(f"ends with {last.word}")
    if first.word in _SUBQUERIES | {"WHERE"}:
        raise given.bad(f"begins with {first.word}; give only what comes after WHERE")
    if len(found) == 1 and first.kind in (TokenKind.STRING, TokenKind.NUMBER):
        raise given.bad("is a value, not a condition")


def _check_condition_word(given: _UserText, token: Token, before: Token | None) -> None:
    if token.word == "SELECT" or (before is not None and before.sign == "(" and token.word in _SUBQUERIES):
        raise given.bad("has a subquery")
    ends_value = before is not None and before.word not in _JOINING | {"DISTINCT"}
    if before is not None and before.sign:
        ends_value = before.sign not in {"(", ",", "."} and not _OPERATORS.issuperset(before.sign)
    if token.depth == 0 and token.word in _CLAUSES and ends_value:
        raise given.bad(f"has {token.word} after it, which begins another clause")


# -- what a column is set to ------------------------------------------------------------------------------------
def check_assignment(text: str, engine: EngineName | None = None) -> str:
    """Return `column = expression` without blanks around it, or refuse it.

    Args:
        text: what the user gave.
        engine: as for `check_query`.

    Raises:
        ToolkitError: TK-0105 with what is wrong.
    """
    given = _UserText(text.strip(), "the assignment", _ASSIGNMENT_HINT)
    return given.read(_check_assignment, engine, _LONGEST_CONDITION)


def parts_of_assignment(text: str, engine: EngineName) -> tuple[str, str]:
    """Return the column as written, and the expression, of an assignment that was checked."""
    found = list(tokens(text, syntax_of(engine)))
    return text[found[0].begin : found[0].end], text[found[1].end :].strip()


def assignments_of(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return what an experiment sets columns to."""
    given = options.get("set")
    return tuple(map(str, given)) if isinstance(given, tuple) else ()


def _check_assignment(given: _UserText, syntax: Syntax) -> str:
    found = given.tokens(syntax, comments=False)
    given.check_end(found)
    named = len(found) > 2 and found[0].kind in (TokenKind.WORD, TokenKind.NAME) and found[1].sign == "="
    if not named:
        raise given.bad("is none: it begins with one column and `=`")
    for before, token in pairwise(found[1:]):
        _check_expression_token(given, token, before, syntax)
    return given.text


def _check_expression_token(given: _UserText, token: Token, before: Token | None, syntax: Syntax) -> None:
    given.check_sign(token, syntax)
    if token.sign == ";" or (token.sign == "," and token.depth == 0):
        raise given.bad("holds more than one expression")
    if token.sign in {":", ":="}:
        raise given.bad("has a `:` outside quotes: values cannot be bound")
    if token.word:
        _check_condition_word(given, token, before)


# -- an expression of columns -----------------------------------------------------------------------------------
def check_expression(text: str, engine: EngineName | None = None) -> str:
    """Return an expression, fit to stand in parentheses, without blanks around it; or refuse it.

    Args:
        text: what the user gave.
        engine: as for `check_query`.

    Raises:
        ToolkitError: TK-0105 with what is wrong.
    """
    given = _UserText(text.strip(), "the expression", _EXPRESSION_HINT)
    return given.read(_check_expression, engine, _LONGEST_CONDITION)


def expressions_of(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return the expressions that an experiment names."""
    given = options.get("expression")
    return tuple(map(str, given)) if isinstance(given, tuple) else ()


def _check_expression(given: _UserText, syntax: Syntax) -> str:
    found = given.tokens(syntax, comments=False)
    given.check_end(found)
    for before, token in zip((None, *found), found, strict=False):
        _check_expression_token(given, token, before, syntax)
    if "\n" in given.text:
        raise given.bad("has several lines")
    return given.text


# -- how a table is partitioned ---------------------------------------------------------------------------------
def check_partitioning(text: str, engine: EngineName) -> str:
    """Return a partitioning clause on one line where its quotes allow it, without blanks around it; or refuse it.

    Args:
        text: what the user gave.
        engine: whose quotes count.

    Raises:
        ToolkitError: TK-0105 with what is wrong.
    """
    given = _UserText(text.strip(), "the partitioning", _PARTITIONING_HINT)
    return given.read(_check_partitioning, engine, _LONGEST_CONDITION)


def _check_partitioning(given: _UserText, syntax: Syntax) -> str:
    found = given.tokens(syntax, comments=False)
    given.check_end(found)
    if [token.word for token in found[:2]] != ["PARTITION", "BY"]:
        raise given.bad("does not begin with PARTITION BY")
    for token in found:
        given.check_sign(token, syntax)
        if token.sign == ";":
            raise given.bad("contains a semicolon")
        if token.sign in {":", ":="}:
            raise given.bad("has a `:` outside quotes: values cannot be bound")
        if token.word == "SELECT" or (token.word == "AS" and token.depth == 0):
            raise given.bad(f"has {token.word} in it, which begins a query")
        if "\n" in given.text[token.begin : token.end]:
            raise given.bad("has a line end inside quotes")
    return " ".join(given.text.split("\n"))
