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

from toolkit.design.lexis import Token, TokenKind, tokens, without_comments
from toolkit.dialects.oracle.licences.lists import canonical, find_clauses, licences
from toolkit.dialects.oracle.licences.reading import read

_Any = TypeVar("_Any")
_DEPTH = 8
_WORDS = re.compile(r"[^\W\d][\w$#]*")
_MOST_NAMES = 400
_LONGEST_PATH = 4
_KEPT_CHARACTERS = 100_000
# Commands of SQL*Plus (User's Guide and Reference).
_INCLUDE = re.compile(r"\s*(@@?|STA(?:RT?)?\s)\s*(\"[^\"]+\"|'[^']+'|\S+)", re.IGNORECASE)
_HOST = re.compile(r"\s*(?:!|\$|HO(?:ST?)?\s)\s*(\S.*)", re.IGNORECASE)
_EXECUTE = re.compile(r"\s*EXEC(?:UTE)?\s+(.*)", re.IGNORECASE)
_PROSE = re.compile(r"(?im)^[ \t]*(?:REM(?:ARK)?|PRO(?:MPT)?|PAUSE|[TB]TI(?:TLE)?)\b(.*)$")
_RUN = re.compile(r"\s*/\s*")


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
    """

    uses: tuple[Use, ...] = ()
    notes: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    changes_packs: bool = False

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
        )


def look(text: str) -> LicenceFindings:
    """Return what a text uses, mentions and hides; the same text is read once."""
    return _look_kept(text) if len(text) <= _KEPT_CHARACTERS else _look(text)


def scan(text: str) -> LicenceFindings:
    """Return what a text names, word by word: for what may or may not be part of a statement."""
    work = _Work(budget=0)
    work.scan(text)
    return work.findings()


def uses_of(name: str, constants: frozenset[str] = frozenset()) -> tuple[list[Use], list[str]]:
    """Return the uses and notes of one name, whatever its spelling.

    Args:
        name: as written or as the catalogue has it.
        constants: literals that stand beside it, in upper case.
    """
    known = canonical(name)
    uses: list[Use] = []
    notes: list[str] = []
    for licence in licences().values():
        if licence.holds(known):
            uses.append(Use(licence.key, name.upper()))
        for one in licence.when:
            if one.covers(known):
                answer = one.answer(constants)
                uses += [Use(licence.key, name.upper())] if answer == "paid" else []
                notes += [f"{name.upper()}: {one.note}"] if answer == "noted" else []
    return uses, notes


def is_free(name: str) -> bool:
    """Tell whether a name is an exception of a family that belongs to a licence."""
    return any(canonical(name) in licence.free for licence in licences().values())


@functools.lru_cache(maxsize=512)
def _look_kept(text: str) -> LicenceFindings:
    return _look(text)


def _look(text: str) -> LicenceFindings:
    work = _Work(budget=4 * len(text) + 4096)
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
    words: dict[str, None] = field(default_factory=dict)
    names: dict[tuple[str, ...], None] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    changes_packs: bool = False

    def take(self, text: str, *, deep: bool) -> list[str]:
        """Look at one text; return the texts that it may run."""
        if deep:
            self.unseen.append("strings within strings are nested too deeply to be read")
            self.scan(text)
            return []
        found = [token for token in tokens(text) if token.kind is not TokenKind.COMMENT]
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
        for word in self.words:
            uses, notes = uses_of(word, constants)
            self.uses += uses
            self.notes += notes
        names = tuple(self.names)[:_MOST_NAMES]
        return LicenceFindings(
            _once(self.uses), _once(self.notes), _once(self.unseen), names, changes_packs=self.changes_packs
        )

    def scan(self, text: str) -> None:
        """Note every word of a text that cannot be read otherwise."""
        for word in _WORDS.findall(text.upper()):
            self.words[word] = None
            self.changes_packs = self.changes_packs or word == "CONTROL_MANAGEMENT_PACK_ACCESS"

    def _clauses(self, found: Sequence[Token]) -> None:
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
            if token.kind is TokenKind.NAME and "/" in token.text:
                self.scan(token.text)  # XQuery names a table as "oradb:/SYS/T"
            if token.kind in (TokenKind.WORD, TokenKind.NAME):
                dotted = path and _is(found, at - 1, ".")
                before, path = path, [*path[:_LONGEST_PATH], token.text] if dotted else [token.text]
                self.words[token.text] = None
                if not _is(found, at + 1, "."):
                    self.names[tuple(path[:_LONGEST_PATH])] = None
            elif sign == "@" and path and at and found[at - 1].kind in (TokenKind.WORD, TokenKind.NAME):
                link = found[at + 1].text if at + 1 < len(found) else ""
                self.unseen.append(f"`{'.'.join(path)}@{link}` is in another database")
            if token.text == "WRAPPED" and _is(found, 0, "CREATE", TokenKind.WORD) and at < 12:
                self.unseen.append(f"the wrapped text of `{'.'.join(before)}` cannot be read")
            path = path if sign == "." or token.kind in (TokenKind.WORD, TokenKind.NAME) else []


def _is(found: Sequence[Token], at: int, text: str, kind: TokenKind = TokenKind.SIGN) -> bool:
    return 0 <= at < len(found) and found[at].kind is kind and found[at].text == text


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
