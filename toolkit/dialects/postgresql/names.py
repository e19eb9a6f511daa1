"""Names, literals and index columns as PostgreSQL reads and spells them."""

from __future__ import annotations

import math
import re

from toolkit.dialects.names import bad_name, split_name
from toolkit.errors import ToolkitError
from toolkit.model.values import QualifiedName, Scalar

MOST_BYTES = 63
_PLAIN = re.compile(r"[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*")
_UPPER = re.compile(r"[A-Z]+")


def _fold(name: str) -> str:
    """Fold ASCII letters only: in a UTF-8 database the server leaves all others alone (downcase_identifier)."""
    return _UPPER.sub(lambda match: match[0].lower(), name)


def _shown(name: str) -> str:
    return name.encode("unicode_escape").decode() if not name.isprintable() else name


def _check(name: str) -> None:
    """Refuse what the server would refuse, or worse, cut off in silence."""
    if not name or "\0" in name:
        raise bad_name(_shown(name), "it is empty or contains a NUL character")
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        raise bad_name(_shown(name), "it cannot be written in UTF-8") from None
    if length > MOST_BYTES:
        raise bad_name(
            _shown(name), f"it has {length} bytes and PostgreSQL truncates names after {MOST_BYTES}", "shorten it"
        )


def quote(name: str) -> str:
    """Quote one catalogue name, always.

    Raises:
        ToolkitError: TK-0104 for an empty name, a NUL, or more than 63 bytes.
    """
    _check(name)
    return '"' + name.replace('"', '""') + '"'


def literal(value: Scalar) -> str:
    """Spell a value; right whatever `standard_conforming_strings` says.

    Raises:
        ToolkitError: TK-0102 for a text with a NUL, which PostgreSQL cannot hold.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"'{value}'::float8"
    if "\0" in value:
        raise ToolkitError("a text contains a NUL character", code="TK-0102", hint="PostgreSQL cannot hold it")
    quoted = value.replace("'", "''")
    return f"'{quoted}'" if "\\" not in value else "E'" + quoted.replace("\\", "\\\\") + "'"


def parse_name(text: str) -> QualifiedName:
    """Read `schema.name` as typed; unquoted parts fold to lower case.

    Raises:
        ToolkitError: TK-0104 naming the rule that is broken.
    """
    if "\0" in text or not text.strip():
        raise bad_name(_shown(text), "it is empty or contains a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise bad_name(_shown(text), "it cannot be written in UTF-8") from None
    return split_name(text, _fold, _PLAIN, MOST_BYTES)
