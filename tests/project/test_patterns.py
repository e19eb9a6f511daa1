"""Patterns match alike in each version of Python that is allowed.

Before 3.11.5 (Debian 12 has 3.11.2) a possessive quantifier of a group, `(?:ab?c)++`, keeps what an attempt to
match the group once more had consumed before it failed (https://github.com/python/cpython/issues/106052): such a
group stands in an atomic one instead, `(?>(?:ab?c)+)`. Groups in which nothing repeats and of which all
alternatives begin at the same place are not affected. Looked at are the patterns in the values of modules; those
that are made in functions are few, and one of them stands here.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import toolkit
from tests.for_each import for_each
from toolkit.executors.field_kinds import _many

_SINGLE = {codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.AT}


def within(value: object) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns that a value of a module is, holds or has as an attribute."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        yield from within((*value, *value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from within(each)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from within([getattr(value, field.name) for field in dataclasses.fields(value)])


def flat(parsed: Any) -> list[tuple[Any, Any]]:
    """Return what stands in a sequence, and in groups that capture nothing in their places."""
    found: list[tuple[Any, Any]] = []
    for code, given in parsed:
        plain = code is codes.SUBPATTERN and given[:3] == (None, 0, 0)
        found += flat(given[3]) if plain else [(code, given)]
    return found


def is_matched_alike(group: Any) -> bool:
    items = flat(group)
    if items and items[0][0] is codes.BRANCH:
        items = [*items[1:], *(each for branch in items[0][1][1] for each in flat(branch))]
    return all(code in _SINGLE for code, _ in items)


def affected(parsed: Any) -> Iterator[Any]:
    """Yield the groups of a parsed pattern that older versions match in another way."""
    for code, given in parsed:
        if code is codes.POSSESSIVE_REPEAT and not is_matched_alike(given[2]):
            yield given[2]
        parts = given if isinstance(given, tuple | list) else (given,)
        for part in parts:
            if isinstance(part, parser.SubPattern):
                yield from affected(part)
            elif isinstance(part, list) and part and isinstance(part[0], parser.SubPattern):
                for branch in part:
                    yield from affected(branch)


def affected_of(pattern: re.Pattern[Any]) -> list[Any]:
    return list(affected(parser.parse(pattern.pattern, pattern.flags)))


@for_each("pattern, is_found", [
    (r"(?:ab?c)++", True),
    (r"(?:,\d{3})++", True),
    (r"(?:a(?:bb|cc))?+", True),
    (r"(?:(?!C).)++", True),
    (r"x|(y(?=(?:a+b)*+))", True),
    (r"[ab]*+\d{1,3}+", False),
    (r"'(?:[^']|'')*+'", False),
    (r"(?>(?:ab?c)+)", False),
])  # fmt: skip
def test_what_older_versions_match_in_another_way_is_found(pattern: str, is_found: bool) -> None:
    assert bool(affected_of(re.compile(pattern))) is is_found


def test_no_pattern_is_matched_in_another_way_by_older_versions() -> None:
    names = [each.name for each in pkgutil.walk_packages(toolkit.__path__, "toolkit.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    patterns = {each for module in modules for value in vars(module).values() for each in within(value)}
    assert len(patterns) > 300
    assert [each.pattern for each in (*patterns, _many("-?[0-9]{1,9}")) if affected_of(each)] == []
