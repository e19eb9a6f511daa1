"""The forms of statements about indexes, and the parts of their keys."""

from __future__ import annotations

import re
from dataclasses import dataclass

IDENTIFIER = r'(?:"[^"]+"|[A-Za-z][A-Za-z0-9_$#]*)'
NAME = rf"(?:{IDENTIFIER}\.)?{IDENTIFIER}"
_TEXT = r"'(?:[^']|'')*'"
_LEAF = rf"(?:[^()']|{_TEXT})"
BRACKETS = rf"\((?:{_LEAF}|\((?:{_LEAF}|\((?:{_LEAF}|\({_LEAF}*\))*\))*\))*\)"
PARALLEL = r"NOPARALLEL|PARALLEL(?:\s+\d+|\s*\(DEGREE (?:\d+|DEFAULT) INSTANCES (?:\d+|DEFAULT)\))?"
"""The last form is superseded and still accepted (SQL Language Reference, parallel_clause)."""
_LOGGING = r"NOLOGGING|LOGGING"
_PARTS = (
    rf"LOCAL(?:\s*{BRACKETS})?|GLOBAL\s+PARTITION\s+BY\s+HASH\s*{BRACKETS}\s*(?:PARTITIONS\s+\d+|{BRACKETS})"
    rf"|GLOBAL\s+PARTITION\s+BY\s+RANGE\s*{BRACKETS}\s*{BRACKETS}"
)
_ATTRIBUTE = (
    rf"PCTFREE\s+\d+|TABLESPACE\s+{IDENTIFIER}|{_LOGGING}|ONLINE|{PARALLEL}|INVISIBLE|VISIBLE|NOCOMPRESS|REVERSE"
    r"|COMPRESS(?: ADVANCED(?: LOW| HIGH)?| \d+)?"
)
_PART = rf"(?P<level>PARTITION|SUBPARTITION)\s+(?P<part>{IDENTIFIER})"

FORMS: tuple[tuple[str, str], ...] = (
    (
        "index_build",
        rf"CREATE\s+(?P<unique>UNIQUE\s+)?(?P<bitmap>BITMAP\s+)?INDEX\s+(?P<name>{NAME})\s+ON\s+(?P<table>{NAME})"
        rf"\s*(?P<keys>{BRACKETS})(?:\s+(?P<partitioning>{_PARTS}))?(?P<attributes>(?:\s+(?:{_ATTRIBUTE}))*)",
    ),
    (
        "index_rebuild",
        rf"ALTER\s+INDEX\s+(?P<name>{NAME})\s+REBUILD(?:\s+{_PART})?(?P<attributes>(?:\s+(?:{_ATTRIBUTE}))*)",
    ),
    (
        "index_coalesce",
        rf"ALTER\s+INDEX\s+(?P<name>{NAME})\s+(?:MODIFY\s+{_PART}\s+)?COALESCE(?:\s+(?P<parallel>{PARALLEL}))?",
    ),
    (
        "alter_index",
        rf"ALTER\s+INDEX\s+(?P<name>{NAME})\s+(?:MODIFY\s+{_PART}\s+)?(?P<attribute>{PARALLEL}|{_LOGGING}|UNUSABLE)",
    ),
)


@dataclass
class Key:
    """One part of a key, as the dictionary keeps it."""

    column: str
    expression: str | None = None
    descend: str = "ASC"


def read_keys(text: str) -> list[Key]:
    """Read a key in its brackets; what is no plain rising column gets a hidden column, as in Oracle."""
    keys = []
    for number, part in enumerate(split(text.strip()[1:-1]), 1):
        body, falls = (part[:-5].rstrip(), True) if part.upper().endswith(" DESC") else (part, False)
        plain = re.fullmatch(IDENTIFIER, body)
        column = unquoted(body) if plain else f"SYS_NC{number:05d}$"
        if plain and not falls:
            keys.append(Key(column))
        else:
            text_of = f'"{column}"' if plain else body
            keys.append(Key(f"SYS_NC{number:05d}$", text_of, "DESC" if falls else "ASC"))
    return keys


def split(text: str) -> list[str]:
    """Split at commas outside brackets and literals."""
    parts, depth, quoted, current = [], 0, False, ""
    for char in text:
        quoted ^= char == "'"
        depth += (char == "(" and not quoted) - (char == ")" and not quoted)
        if char == "," and not depth and not quoted:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    return [*parts, current.strip()]


def unquoted(name: str) -> str:
    """Read one name as Oracle does."""
    return name[1:-1] if name.startswith('"') else name.upper()
