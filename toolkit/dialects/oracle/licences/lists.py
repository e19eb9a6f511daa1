"""The dated lists of what belongs to which licence (`lists.toml`), and the search for the clauses they name.

A clause is searched in a normal form of the statement: words in upper case and one blank between all parts;
literals keep a plain word only, quoted names become `"N"`. So neither a name nor a comment can look like a clause,
nor hide one.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

from toolkit.design.lexis import Token, TokenKind
from toolkit.dialects.oracle.licences import dictionary

DIAGNOSTICS, TUNING = "diagnostics_pack", "tuning_pack"

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
class ConditionalObjects:
    """Objects that are paid for, free, or only noted, depending on the words that stand beside them."""

    objects: frozenset[str]
    families: tuple[str, ...]
    paid: tuple[str, ...]
    free: tuple[str, ...]
    otherwise: str
    note: str
    source: str

    def covers(self, name: str) -> bool:
        """Tell whether a name in canonical form is one of these objects."""
        return name in self.objects or name.startswith(self.families)

    def answer(self, constants: frozenset[str]) -> str:
        """Return `paid`, `free` or `noted` for a text with these constants (upper case)."""
        if any(word.startswith(self.paid) for word in constants):
            return "paid"
        return "free" if self.free and not constants.isdisjoint(self.free) else self.otherwise


@dataclass(frozen=True, slots=True)
class LicensedClause:
    """A clause in the normal form of a statement; `of` is empty where it may stand in any."""

    says: str
    find: re.Pattern[str]
    of: frozenset[str]
    head: bool
    flat: bool


@dataclass(frozen=True, slots=True)
class OraclePrograms:
    """Oracle's own programs, by what they do with a text that they are given.

    Attributes:
        families: beginnings of the names of Oracle's packages.
        quiet: packages that run no text they are given.
        texts: `PACKAGE.FUNCTION` to the places (from 0) and the names of the arguments that are run; of a package
            that stands here no other function runs a text.
        opaque: names behind which nobody sees what is read, whatever they are given.
        opaque_families: beginnings of such names.
    """

    families: tuple[str, ...]
    quiet: frozenset[str]
    texts: Mapping[str, tuple[tuple[int, str], ...]]
    opaque: frozenset[str]
    opaque_families: tuple[str, ...]

    def is_opaque(self, name: str) -> bool:
        """Tell whether a name in upper case hides what it reads."""
        return name in self.opaque or name.startswith(self.opaque_families)

    def may_run_text(self, package: str) -> bool:
        """Tell whether a package of Oracle's may run a text that it is given."""
        return package.startswith(self.families) and package not in self.quiet


@dataclass(frozen=True, slots=True)
class LicenceList:
    """All that belongs to one licence, its source, and how to do without it."""

    key: str
    title: str
    kind: str
    needs: tuple[str, ...]
    source: str
    alternative: str
    objects: frozenset[str]
    families: tuple[str, ...]
    free: frozenset[str]
    named: tuple[re.Pattern[str], ...]
    hints: frozenset[str]
    scripts: frozenset[str]
    when: tuple[ConditionalObjects, ...]
    clauses: tuple[LicensedClause, ...]
    noted: tuple[LicensedClause, ...]

    @property
    def declarable(self) -> bool:
        """Whether somebody has to declare it: what comes with the edition or storage does not."""
        return self.kind in {"pack", "option"}

    def holds(self, name: str) -> bool:
        """Tell whether a name in canonical form belongs to the licence whatever is asked of it."""
        if name in self.free:
            return False
        return name in self.objects or name.startswith(self.families) or name in _listed(self.key)


@functools.cache
def _listed(key: str) -> frozenset[str]:
    """Return the names of the generated list; of a subprogram its own name, for a synonym may stand before it."""
    return frozenset(name.rpartition(".")[2] for name in dictionary.named().get(key, frozenset()))


@functools.cache
def _document() -> dict[str, object]:
    text = files("toolkit.dialects.oracle.licences").joinpath("lists.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def as_of() -> date:
    """Return the day on which the lists were last held against their sources."""
    day = _document()["as_of"]
    assert isinstance(day, date)
    return day


@functools.cache
def licences() -> Mapping[str, LicenceList]:
    """Return the lists by key, as it stands in a profile: `diagnostics_pack`."""
    return {
        key: _list(key, value) for key, value in _document().items() if isinstance(value, dict) and "kind" in value
    }


@functools.cache
def programs() -> OraclePrograms:
    """Return what is known of Oracle's own programs."""
    data = _document()["programs"]
    assert isinstance(data, dict)
    texts = data["texts"]
    assert isinstance(texts, dict)
    return OraclePrograms(
        _words(data, "families"),
        frozenset(_words(data, "quiet")),
        {str(name): tuple((int(place), str(word)) for place, word in run) for name, run in texts.items()},
        frozenset(_words(data, "opaque")),
        _words(data, "opaque_families"),
    )


def declarable() -> tuple[str, ...]:
    """Return the licences that a profile can declare."""
    return tuple(key for key, one in licences().items() if one.declarable)


def spellings(name: str) -> Iterator[str]:
    """Yield all names of an object of the lists: a V$ view has four."""
    if not name.startswith("V$"):
        yield name
        return
    for prefix in ("V$", "GV$", "V_$", "GV_$"):
        yield prefix + name[2:]


def _list(key: str, data: Mapping[str, object]) -> LicenceList:
    return LicenceList(
        key,
        str(data["title"]),
        str(data["kind"]),
        _words(data, "needs"),
        str(data["source"]),
        str(data["alternative"]),
        frozenset(_words(data, "objects")),
        _words(data, "families"),
        frozenset(_words(data, "free")),
        tuple(map(re.compile, _words(data, "named"))),
        frozenset(_words(data, "hints")),
        frozenset(_words(data, "scripts")),
        tuple(_when(one) for one in _tables(data, "when")),
        tuple(_clause(one) for one in _tables(data, "clauses")),
        tuple(_clause(one) for one in _tables(data, "noted")),
    )


def _when(data: Mapping[str, object]) -> ConditionalObjects:
    return ConditionalObjects(
        frozenset(_words(data, "objects")),
        _words(data, "families"),
        _words(data, "paid"),
        _words(data, "free"),
        str(data["otherwise"]),
        str(data.get("note", "")),
        str(data["source"]),
    )


def _clause(data: Mapping[str, object]) -> LicensedClause:
    head, flat = data.get("head") is True, data.get("flat") is True
    return LicensedClause(
        str(data["says"]), re.compile(str(data["find"])), frozenset(_words(data, "of")), head, flat
    )


def _words(data: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = data.get(key, [])
    assert isinstance(value, list)
    return tuple(map(str, value))


def _tables(data: Mapping[str, object], key: str) -> tuple[Mapping[str, object], ...]:
    value = data.get(key, [])
    assert isinstance(value, list)
    return tuple(value)


# -- clauses of DDL ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Found:
    """A clause of a licence; `noted` ones need nothing, but a reader may want to know."""

    licence: str
    says: str
    noted: bool = False


@dataclass(frozen=True, slots=True)
class _Statement:
    """One statement in normal form: all of it, before its query, and outside parentheses."""

    kinds: frozenset[str]
    packs: bool
    whole: str
    head: str
    flat: str


def find_clauses(found: Sequence[Token]) -> tuple[list[Found], bool]:
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


def _statements(found: Sequence[Token]) -> Iterator[_Statement]:
    part: list[Token] = []
    for token in [*found, Token(TokenKind.SIGN, ";")]:
        if token.kind is TokenKind.SIGN and token.text == ";":
            if part:
                yield _statement(part)
            part = []
        else:
            part.append(token)


def _statement(part: Sequence[Token]) -> _Statement:
    words = [_normal(token) for token in part]
    query = _query(words) if "CREATE" in words else len(words)
    whole, head = " ".join(words), " ".join(words[:query])
    kinds = frozenset(kind for kind, pattern in _KINDS if pattern.search(head))
    packs = any(token.kind in (TokenKind.WORD, TokenKind.NAME) and token.text.upper() == _PACKS for token in part)
    return _Statement(kinds, packs, whole, head, " ".join(_outside(words[:query])))


def _normal(token: Token) -> str:
    if token.kind is TokenKind.STRING:
        return f"'{token.text.upper()}'" if _PLAIN.fullmatch(token.text) else "''"
    return '"N"' if token.kind is TokenKind.NAME else token.text if token.kind is not TokenKind.BROKEN else ""


def _query(words: Sequence[str]) -> int:
    """Return where the query of CREATE ... AS begins: AS outside parentheses, before SELECT, WITH or `(`."""
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
