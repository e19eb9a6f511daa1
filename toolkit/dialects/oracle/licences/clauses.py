"""Clauses of DDL that are paid for, or that only Enterprise Edition has, found in a normal form of the statement.

The normal form has words in upper case and one blank between all parts; literals keep a plain word only, quoted
names become `"N"`. So neither a name nor a comment can look like a clause, nor hide one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolkit.dialects.oracle.licences.lists import LicensedClause, licences
from toolkit.dialects.oracle.licences.tokens import SqlToken, TokenKind

_PLAIN = re.compile(r"\w{1,30}")
_KINDS = (
    ("table", re.compile(r"\b(?:CREATE|ALTER)(?: [A-Z]+){0,3} TABLE\b")),
    ("index", re.compile(r"\b(?:CREATE|ALTER)(?: [A-Z]+){0,2} INDEX\b")),
    ("index made", re.compile(r"\bCREATE(?: [A-Z]+){0,2} INDEX\b")),
    ("view", re.compile(r"\b(?:CREATE|ALTER) MATERIALIZED VIEW\b")),
    ("tablespace", re.compile(r"\b(?:CREATE|ALTER)(?: [A-Z]+){0,3} TABLESPACE\b")),
    ("setting", re.compile(r"\bALTER (?:SYSTEM|SESSION|DATABASE)\b|^SET\b")),
)
_PACKS = "CONTROL_MANAGEMENT_PACK_ACCESS"
_KEY_COMPRESSION = re.compile(r"\bORGANIZATION INDEX\b")


@dataclass(frozen=True, slots=True)
class Found:
    """A clause of a licence; `noted` ones need nothing, but a reader may want to know."""

    licence: str
    says: str
    noted: bool = False


@dataclass(frozen=True, slots=True)
class _Statement:
    """One statement in normal form: all of it, before its query, and outside brackets."""

    kinds: frozenset[str]
    packs: bool
    whole: str
    head: str
    flat: str


def find_clauses(found: Sequence[SqlToken]) -> tuple[list[Found], bool]:
    """Return the clauses of all statements of a text, and whether one would change the packs' parameter."""
    clauses: list[Found] = []
    packs = False
    for statement in _statements(found):
        packs = packs or (statement.packs and "setting" in statement.kinds)
        for licence in licences().values():
            clauses += [Found(licence.key, one.says) for one in licence.clauses if _stands(one, statement)]
            clauses += [
                Found(licence.key, one.says, noted=True) for one in licence.noted if _stands(one, statement)
            ]
    return clauses, packs


def _stands(clause: LicensedClause, statement: _Statement) -> bool:
    if clause.of and statement.kinds.isdisjoint(clause.of):
        return False
    text = statement.flat if clause.flat else statement.head if clause.head else statement.whole
    if clause.says == "table compression" and _KEY_COMPRESSION.search(statement.head):
        return False  # the key of an index-organized table, as of any index
    return clause.find.search(text) is not None


def _statements(found: Sequence[SqlToken]) -> Iterator[_Statement]:
    part: list[SqlToken] = []
    for token in [*found, SqlToken(TokenKind.SIGN, ";")]:
        if token.kind is TokenKind.SIGN and token.text == ";":
            if part:
                yield _statement(part)
            part = []
        else:
            part.append(token)


def _statement(part: Sequence[SqlToken]) -> _Statement:
    words = [_normal(token) for token in part]
    query = _query(words) if "CREATE" in words else len(words)
    whole, head = " ".join(words), " ".join(words[:query])
    kinds = frozenset(kind for kind, pattern in _KINDS if pattern.search(head))
    packs = any(token.kind in (TokenKind.WORD, TokenKind.NAME) and token.text.upper() == _PACKS for token in part)
    return _Statement(kinds, packs, whole, head, " ".join(_outside(words[:query])))


def _normal(token: SqlToken) -> str:
    if token.kind is TokenKind.TEXT:
        return f"'{token.text.upper()}'" if _PLAIN.fullmatch(token.text) else "''"
    return '"N"' if token.kind is TokenKind.NAME else token.text if token.kind is not TokenKind.BROKEN else ""


def _query(words: Sequence[str]) -> int:
    """Return where the query of CREATE ... AS begins: AS outside brackets, before SELECT, WITH or a bracket."""
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if word == "AS" and depth <= 0 and at + 1 < len(words) and words[at + 1] in {"SELECT", "WITH", "("}:
            return at
    return len(words)


def _outside(words: Sequence[str]) -> Iterator[str]:
    depth = 0
    for word in words:
        depth -= word == ")"
        if depth <= 0:
            yield word
        depth += word == "("
