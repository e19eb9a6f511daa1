"""The dated lists of what belongs to which licence (`lists.toml`), read once and checked on reading."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

DIAGNOSTICS, TUNING = "diagnostics_pack", "tuning_pack"

_DYNAMIC = re.compile(r"G?V_?\$")


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
    scripts: frozenset[str]
    when: tuple[ConditionalObjects, ...]
    clauses: tuple[LicensedClause, ...]
    noted: tuple[LicensedClause, ...]

    @property
    def declarable(self) -> bool:
        """Whether somebody has to declare it: what comes with edition or storage needs no word."""
        return self.kind in {"pack", "option"}

    def holds(self, name: str) -> bool:
        """Tell whether a name in canonical form belongs to the licence whatever is asked of it."""
        return name in self.objects or (name.startswith(self.families) and name not in self.free)


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
    return {key: _list(key, value) for key, value in _document().items() if isinstance(value, dict)}


def declarable() -> tuple[str, ...]:
    """Return the licences that a profile can declare."""
    return tuple(key for key, one in licences().items() if one.declarable)


def canonical(name: str) -> str:
    """Return a name as the lists have it: upper case, and GV$X, V_$X and GV_$X as V$X."""
    upper = name.upper()
    found = _DYNAMIC.match(upper)
    return "V$" + upper[found.end() :] if found else upper


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
