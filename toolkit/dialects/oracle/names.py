"""Names and literals of Oracle (SQLRF, Database Object Names and Qualifiers).

An unquoted name is folded to upper case; whatever we emit is quoted, so a reserved word is safe.
Letters outside ASCII are taken in double quotes only: how they fold depends on the database's character set.
"""

from __future__ import annotations

import math
import re

from toolkit.dialects.oracle.releases import name_limit
from toolkit.errors import ToolkitError
from toolkit.model.facts import Release
from toolkit.model.values import QualifiedName, Scalar

_PART = re.compile(r'"(?P<quoted>[^"\0]*)"|(?P<plain>[A-Za-z][A-Za-z0-9_$#]*)')
_PLAIN = re.compile(r"[A-Z][A-Z0-9_$#]*")


def quote(name: str) -> str:
    """Quote one catalogue name.

    Raises:
        ToolkitError: TK-0104 for an empty name, a NUL, a double quote or more than 128 bytes.
    """
    if not name or "\0" in name or '"' in name:
        raise _bad(name, "a name must not be empty or contain a double quote or NUL")
    if _length(name) > 128:
        raise _bad(name, "a name can have at most 128 bytes")
    return f'"{name}"'


def literal(value: Scalar) -> str:
    """Spell a value as a SQL literal; texts double their apostrophes.

    Raises:
        ToolkitError: TK-0102 for a NUL or a number that is not finite.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ToolkitError(f"`{value}` cannot be written as an Oracle literal", code="TK-0102")
        return repr(value)
    if "\0" in value:
        raise ToolkitError("a string with a NUL cannot be written as an Oracle literal", code="TK-0102")
    return "'" + value.replace("'", "''") + "'"


def package_name(name: str) -> str:
    """Spell a name as an argument of a package that folds what is not quoted (DBMS_STATS)."""
    return name if _PLAIN.fullmatch(name) else quote(name)


def parse_name(text: str, release: Release | None = None) -> QualifiedName:
    """Read `name` or `schema.name` as a user types it.

    Raises:
        ToolkitError: TK-0104 naming the rule that is broken.
    """
    if "@" in text:
        raise _bad(text, "objects behind a database link cannot be used", hint="connect to that database")
    parts = _split(text)
    if len(parts) == 2 and parts[0] == "PUBLIC":
        raise _bad(text, "PUBLIC has only synonyms and links, no tables", hint="give the schema that it points to")
    limit = name_limit(release)
    for part in parts:
        if not part:
            raise _bad(text, 'an empty name `""` is not possible')
        if _length(part) > limit:
            raise _bad(text, f"`{part}` has {_length(part)} bytes; {limit} are allowed", hint="shorten the name")
    return QualifiedName(parts[-1], parts[0] if len(parts) == 2 else None)


def _split(text: str) -> list[str]:
    parts: list[str] = []
    at = 0
    while True:
        match = _PART.match(text, at)
        if match is None and _is_beyond(text[at : at + 1]):
            raise _beyond_ascii(text, at)
        if match is None:
            raise _bad(text, "a name begins with a letter, followed by letters, digits, `_`, `$`, `#`")
        parts.append(match["plain"].upper() if match["plain"] else match["quoted"])
        at = match.end()
        if at == len(text):
            break
        if _is_beyond(text[at]) and match["plain"]:
            raise _beyond_ascii(text, match.start())
        if text[at] != "." or len(parts) == 2:
            raise _bad(text, "a name is `name` or `schema.name`")
        at += 1
    return parts


def _is_beyond(char: str) -> bool:
    return not char.isascii() and char.isalpha()


def _beyond_ascii(text: str, at: int) -> ToolkitError:
    """Refuse an unquoted name with such letters, and guess how the catalogue spells it."""
    part = text[at:].partition(".")[0]
    # Oracle folds letter by letter: what would become two (a sharp s) stays.
    folded = "".join(char.upper() if len(char.upper()) == 1 else char for char in part)
    return _bad(
        text,
        "non-ASCII letters need double quotes, as spelled in the catalogue",
        hint=f"""write '"{folded}"' if it was created without quotes; ALL_OBJECTS has the exact spelling""",
    )


def _length(name: str) -> int:
    # Measured as AL32UTF8, the widest of the usual character sets: a shorter one never fits less.
    return len(name.encode("utf-8", "surrogatepass"))


def _bad(name: str, rule: str, hint: str = 'put other characters in double quotes: `"My Table"`') -> ToolkitError:
    shown = name.encode("unicode_escape").decode("ascii") if not name.isprintable() else name
    return ToolkitError(f"`{shown[:140]}` is not a name in Oracle: {rule}", code="TK-0104", hint=hint)
