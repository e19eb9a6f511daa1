"""The statement firewall: what a text would need, judged from the text alone.

`look` takes any text that may be sent (a statement, a PL/SQL block) and says which licences it uses, which names
it mentions, and what cannot be seen from here; `look_script` takes a script of SQL*Plus. Nothing is raised. The
work is linear in the length of the text: literals are read as code to a fixed depth, and what can be put together
is bounded.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeVar
from urllib.parse import unquote

from toolkit.design.lexis import Token, TokenKind, tokens, without_comments
from toolkit.dialects.oracle.licences import dictionary
from toolkit.dialects.oracle.licences.dictionary import canonical
from toolkit.dialects.oracle.licences.lists import TUNING, as_of, find_clauses, licences, programs
from toolkit.dialects.oracle.licences.reading import read

_Any = TypeVar("_Any")
_DEPTH = 8
_WORDS = re.compile(r"[^\W\d][\w$#]*")
_LONGEST_PATH = 4
_KEPT_CHARACTERS = 100_000
# Commands of SQL*Plus (User's Guide and Reference).
_INCLUDE = re.compile(r"\s*(@@?|STA(?:RT?)?\s)\s*(\"[^\"]+\"|'[^']+'|\S+)", re.IGNORECASE)
_HOST = re.compile(r"\s*(?:!|\$|HO(?:ST?)?\s)\s*(\S.*)", re.IGNORECASE)
_EXECUTE = re.compile(r"\s*EXEC(?:UTE)?\s+(.*)", re.IGNORECASE)
_PROSE = re.compile(r"(?im)^[ \t]*(?:REM(?:ARK)?|PRO(?:MPT)?|PAUSE|[TB]TI(?:TLE)?)\b(.*)$")
# Reserved words of SQL (SQL Language Reference, appendix E): without quotes no object can be called so.
_RESERVED = frozenset(
    {"ALL", "ALTER", "AND", "ANY", "AS", "ASC", "BETWEEN", "BY", "CHAR", "CHECK", "CONNECT", "CREATE", "DATE",
     "DECIMAL", "DEFAULT", "DELETE", "DESC", "DISTINCT", "DROP", "ELSE", "EXISTS", "FLOAT", "FOR", "FROM",
     "GRANT", "GROUP", "HAVING", "IN", "INDEX", "INSERT", "INTEGER", "INTERSECT", "INTO", "IS", "LIKE", "MINUS",
     "NOT", "NULL", "NUMBER", "OF", "ON", "OR", "ORDER", "PRIOR", "RAW", "ROWID", "ROWNUM", "SELECT", "SET",
     "SMALLINT", "START", "SYNONYM", "SYSDATE", "TABLE", "THEN", "TO", "TRIGGER", "UID", "UNION", "UNIQUE",
     "UPDATE", "VALUES", "VARCHAR", "VARCHAR2", "VIEW", "WHERE", "WITH"}
)  # fmt: skip
# Statements after which names, or whole texts, mean something else; and programs that are not in SQL or PL/SQL.
_HIDES = (
    (re.compile(r"\bALTER SESSION SET\b.*\b(?:CURRENT_SCHEMA|EDITION|CONTAINER|SQL_TRANSLATION_PROFILE) ="),
     "it changes how the session reads names or texts"),
    (re.compile(r"\bLANGUAGE (?:JAVA|C|JAVASCRIPT)\b|\bMLE (?:LANGUAGE|MODULE)\b|\bJAVA (?:SOURCE|CLASS)\b"),
     "a program in another language than PL/SQL cannot be read"),
    (re.compile(r"\bDBMS_SCHEDULER \. (?:RUN_(?:JOB|CHAIN)|ENABLE)\b|\bDBMS_JOB \. RUN\b"),
     "a job that exists is run, and what it does cannot be seen from here"),
    (re.compile(r"\bSELECT AI\b(?! ?(?:,|FROM|AS|\.|$))"),
     "SELECT AI runs a statement that is made from a sentence"),
)  # fmt: skip
# Methods of the URI types that read what a value names (XML DB Developer's Guide); XMLType has none of them.
_OF_URIS = frozenset(["GETCLOB", "GETBLOB", "GETXML", "GETCONTENTTYPE"])
_WITH_GETXML = frozenset(["DBMS_XMLGEN", "DBMS_XMLQUERY"])
_RUN = re.compile(r"\s*/\s*")
_TYPES = frozenset(["VARCHAR2", "VARCHAR", "NVARCHAR2", "CHAR", "CLOB", "NCLOB", "NUMBER", "DATE"])
_READ = frozenset([TokenKind.WORD, TokenKind.NAME, TokenKind.SIGN])


@dataclass(frozen=True, slots=True)
class Use:
    """An object or clause of a licence that a text uses; `by` says how it is reached when it is not named."""

    licence: str
    thing: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class LicenceFindings:
    """What a text uses, mentions, and hides.

    Attributes:
        uses: what belongs to a licence, each once, in the order found.
        notes: what needs no licence as it stands, but a reader may want to know.
        unseen: what cannot be known from the text, in sentences.
        names: names of objects, as parts (`("APP", "T")`), to be resolved where there is a connection.
        changes_packs: whether it would change `control_management_pack_access`.
        written: which of the names an INSERT, UPDATE, DELETE or MERGE writes: its triggers are fired.
        deletes: whether it may delete rows, which reaches other tables by their foreign keys.
    """

    uses: tuple[Use, ...] = ()
    notes: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    changes_packs: bool = False
    written: tuple[tuple[str, ...], ...] = ()
    deletes: bool = False

    def needs(self) -> frozenset[str]:
        """Return the licences used, with those that they need beside them."""
        used = {use.licence for use in self.uses}
        return frozenset(used.union(*(licences()[key].needs for key in used)))

    def __add__(self, other: LicenceFindings) -> LicenceFindings:
        return LicenceFindings(
            _once((*self.uses, *other.uses)),
            _once((*self.notes, *other.notes)),
            _once((*self.unseen, *other.unseen)),
            _once((*self.names, *other.names)),
            self.changes_packs or other.changes_packs,
            _once((*self.written, *other.written)),
            self.deletes or other.deletes,
        )


def look(text: str, own: frozenset[tuple[str, ...]] = frozenset()) -> LicenceFindings:
    """Return what a text uses, mentions and hides; the same text is read once.

    Args:
        text: any text.
        own: names, as parts, of which the catalogue says that they are objects of a user's: like what of Oracle's
            they may be called, they do not count.
    """
    return _look_kept(text, own) if len(text) <= _KEPT_CHARACTERS else _look(text, own)


def scan(text: str) -> LicenceFindings:
    """Return what a text names, word by word: for what may or may not be part of a statement."""
    work = _Work(budget=0)
    work.scan(text)
    return work.findings()


def uses_of(name: str, constants: frozenset[str] = frozenset()) -> LicenceFindings:
    """Return what one name means, whatever its spelling.

    Args:
        name: as written or as the catalogue has it.
        constants: literals that stand beside it, in upper case.
    """
    known = canonical(name)
    uses: list[Use] = []
    notes: list[str] = []
    unseen: list[str] = []
    for licence in licences().values():
        if licence.holds(known):
            uses.append(Use(licence.key, name.upper()))
        for one in licence.when:
            if one.covers(known):
                answer = one.answer(constants)
                uses += [Use(licence.key, name.upper())] if answer == "paid" else []
                notes += [f"{name.upper()}: {one.note}"] if answer == "noted" else []
                unseen += [f"{name.upper()}: {one.note}"] if answer == "unseen" else []
    if programs().is_opaque(name.upper()):
        unseen.append(f"what {name.upper()} reads cannot be seen in its text")
    elif not uses and dictionary.looks_like_oracles(name) and not _is_free(known):
        unseen.append(
            f"`{name.upper()}` looks like an object of Oracle's, and the lists of {as_of()} do not have it"
        )
    return LicenceFindings(tuple(uses), tuple(notes), tuple(unseen))


def _is_free(known: str) -> bool:
    """Tell whether a name in canonical form is known to need nothing, or to be judged by a rule of its own."""
    return dictionary.is_known_free(known) or any(
        known in one.free or any(when.covers(known) for when in one.when) for one in licences().values()
    )


@functools.lru_cache(maxsize=512)
def _look_kept(text: str, own: frozenset[tuple[str, ...]]) -> LicenceFindings:
    return _look(text, own)


def _look(text: str, own: frozenset[tuple[str, ...]]) -> LicenceFindings:
    work = _Work(budget=4 * len(text) + 4096, own=own)
    waiting = [(text, 0)]
    while waiting:
        piece, depth = waiting.pop()
        codes = work.take(piece, deep=depth >= _DEPTH)
        waiting += [(code, depth + 1) for code in codes]
    return work.findings()


@dataclass(slots=True)
class _Work:
    """Gathers findings over a text and the texts inside it."""

    budget: int
    own: frozenset[tuple[str, ...]] = frozenset()
    words: dict[str, None] = field(default_factory=dict)
    names: dict[tuple[str, ...], None] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    changes_packs: bool = False
    written: dict[tuple[str, ...], None] = field(default_factory=dict)
    deletes: bool = False

    def take(self, text: str, *, deep: bool) -> list[str]:
        """Look at one text; return the texts that it may run."""
        if deep:
            self.unseen.append("strings within strings are nested too deeply to be read")
            self.scan(text)
            return []
        found = []
        for token in tokens(text):
            if token.kind is TokenKind.COMMENT:
                self._comment(token.text)
            else:
                found.append(token)
        if found and found[-1].kind is TokenKind.BROKEN:
            self.unseen.append("a quote or a comment is not closed: the rest was searched word by word")
            self.scan(found[-1].text)
        self._clauses(found)
        self._paths(found)
        inner = read(found, self.budget)
        self.budget = max(0, inner.budget)
        self.constants |= inner.constants
        self.unseen += inner.unseen
        return inner.codes

    def findings(self) -> LicenceFindings:
        constants = frozenset(self.constants)
        words = dict.fromkeys(part for path in self.names if path not in self.own for part in path) | self.words
        found = LicenceFindings(
            _once(self.uses), _once(self.notes), _once(self.unseen), tuple(self.names),
            changes_packs=self.changes_packs, written=tuple(self.written), deletes=self.deletes,
        )  # fmt: skip
        meant = [uses_of(word, constants) for word in words]
        return found + LicenceFindings(
            tuple(use for one in meant for use in one.uses),
            tuple(note for one in meant for note in one.notes),
            tuple(sentence for one in meant for sentence in one.unseen),
        )

    def scan(self, text: str) -> None:
        """Note every word of a text that cannot be read otherwise."""
        for word in _WORDS.findall(unquote(text).upper()):  # a URI may spell any letter as %41
            self.words[word] = None
            self.changes_packs = self.changes_packs or word == "CONTROL_MANAGEMENT_PACK_ACCESS"

    def _comment(self, text: str) -> None:
        """Note the hints of a comment, and what a comment would hide if the server ended it elsewhere."""
        if text[2:3] == "+":
            outside = re.sub(r"\([^()]*\)", " ", text[3:].upper())
            for hint in _WORDS.findall(outside):
                self.uses += [Use(key, f"hint {hint}") for key, one in licences().items() if hint in one.hints]
        if text.startswith("--") and "\r" in text.rstrip("\r"):
            self.unseen.append("a comment goes on after a carriage return, where the server may end it")

    def _clauses(self, found: Sequence[Token]) -> None:
        if any(token.word == "EVENTS" for token in found) and any(
            token.kind is TokenKind.STRING and "SQL_MONITOR" in token.text.upper() for token in found
        ):
            self.uses.append(Use(TUNING, "event sql_monitor"))
        words = " ".join(token.text for token in found if token.kind in _READ)
        self.unseen += [sentence for pattern, sentence in _HIDES if pattern.search(words)]
        if "SQL_MACRO" in words and not all(
            _returns_known(found, at) for at, one in enumerate(found) if one.word == "RETURN"
        ):
            self.unseen.append("a SQL macro returns a text that is built at run time")
        clauses, packs = find_clauses(found)
        self.changes_packs = self.changes_packs or packs
        for one in clauses:
            if one.noted:
                self.notes.append(f"{one.says} ({licences()[one.licence].title})")
            else:
                self.uses.append(Use(one.licence, one.says))

    def _paths(self, found: Sequence[Token]) -> None:
        """Note every name with its schema, and those that lie behind a database link."""
        path: list[str] = []
        before: list[str] = []
        for at, token in enumerate(found):
            sign = token.text if token.kind is TokenKind.SIGN else ""
            if token.text.upper() in _OF_URIS and _is_method_of_value(found, at):
                self.unseen.append(f"the method {token.text.upper()} may read what a URI names")
            if token.kind is TokenKind.NAME and "/" in token.text:
                self.scan(token.text)  # XQuery names a table as "oradb:/SYS/T"
            if token.kind in (TokenKind.WORD, TokenKind.NAME):
                dotted = path and _is(found, at - 1, ".")
                before, path = path, [*path, token.text] if dotted else [token.text]
                if path == [token.word] and token.word in _RESERVED:
                    self.deletes = self.deletes or token.word == "DELETE"
                    continue
                if len(path) == _LONGEST_PATH or not _is(found, at + 1, "."):
                    self.names[tuple(path)] = None
                    if _is_written(found, at - 2 * len(path) + 1):
                        self.written[tuple(path)] = None
                    path = [] if len(path) == _LONGEST_PATH else path
            elif sign == "@" and path and at and found[at - 1].kind in (TokenKind.WORD, TokenKind.NAME):
                link = found[at + 1].text if at + 1 < len(found) else ""
                self.unseen.append(f"`{'.'.join(path)}@{link}` is in another database")
            if token.text == "WRAPPED" and _is(found, 0, "CREATE", TokenKind.WORD) and at < 12:
                self.unseen.append(f"the wrapped text of `{'.'.join(before)}` cannot be read")
            path = path if sign == "." or token.kind in (TokenKind.WORD, TokenKind.NAME) else []


def _is(found: Sequence[Token], at: int, text: str, kind: TokenKind = TokenKind.SIGN) -> bool:
    return 0 <= at < len(found) and found[at].kind is kind and found[at].text == text


def _is_written(found: Sequence[Token], before: int) -> bool:
    """Tell whether the word before a name, at a place, is one after which a table is written."""
    word = found[before].word if before >= 0 else ""
    return word in {"INTO", "UPDATE", "DELETE"} or (
        word == "FROM" and before > 0 and found[before - 1].word == "DELETE"
    )


def _is_method_of_value(found: Sequence[Token], at: int) -> bool:
    """Tell whether a word after a period is a method of a value, not a function of a package of Oracle's."""
    if found[at].kind not in (TokenKind.WORD, TokenKind.NAME) or not _is(found, at - 1, "."):
        return False
    package = found[at - 2].text.upper() if at > 1 else ""
    given = _is(found, at + 1, "(") and not _is(found, at + 2, ")")
    return not (package in _WITH_GETXML and given)


def _returns_known(found: Sequence[Token], at: int) -> bool:
    """Tell whether RETURN at a place gives a literal, or declares the type of a function."""
    after = found[at + 1] if at + 1 < len(found) else Token(TokenKind.SIGN, "")
    return (after.kind is TokenKind.STRING and _is(found, at + 2, ";")) or after.word in _TYPES


def _once(values: Iterable[_Any]) -> tuple[_Any, ...]:
    return tuple(dict.fromkeys(values))


# -- scripts of SQL*Plus ----------------------------------------------------------------------------------------
def look_script(text: str) -> LicenceFindings:
    """Return what a script uses; the scripts that it calls are not read, and count as unseen.

    Oracle's own report scripts (`?/rdbms/admin/awrrpt`) are known by name.
    """
    lines: list[str] = []
    uses: list[Use] = []
    unseen: list[str] = []
    for line in without_comments(_PROSE.sub("", text)).split("\n"):
        if include := _INCLUDE.match(line):
            script = include[2].strip("\"';")
            uses += _known_script(script)
            unseen.append(f"the script `{script}` was not read")
        elif host := _HOST.match(line):
            unseen.append(f"the script runs a host command: `{host[1].strip()[:60]}`")
        elif execute := _EXECUTE.match(line):
            lines.append(f"BEGIN {execute[1]}; END;")
        else:
            lines.append(";" if _RUN.fullmatch(line) else line)
        if "&" in line and not include:
            unseen.append("the script asks for values (`&`) that become part of its statements")
    # A line of SQL may begin like REM or PROMPT: its words count, an apostrophe in it does not.
    prose = scan("\n".join(_PROSE.findall(text)))
    return look("\n".join(lines)) + prose + LicenceFindings(uses=tuple(uses), unseen=tuple(unseen))


def _known_script(script: str) -> Iterator[Use]:
    stem = PurePosixPath(script.replace("\\", "/")).stem.lower()
    for key, one in licences().items():
        if stem in one.scripts:
            yield Use(key, f"@{stem}.sql")
