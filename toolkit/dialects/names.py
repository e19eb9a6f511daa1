"""Reads the names that users type: `schema.name`, each part folded unless it stands in double quotes."""

from __future__ import annotations

import re
from collections.abc import Callable

from toolkit.errors import ToolkitError
from toolkit.model.values import QualifiedName

_PART = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^\s".]+))\s*(?P<end>\.|$)')


def bad_name(text: str, why: str, hint: str | None = None) -> ToolkitError:
    """Make the error for a name that cannot be one."""
    return ToolkitError(f"`{text}` is not a valid name: {why}", code="TK-0104", hint=hint)


def split_name(text: str, fold: Callable[[str], str], plain: re.Pattern[str], most_bytes: int) -> QualifiedName:
    """Split and fold a name as typed.

    Args:
        text: `name`, `schema.name`, parts in double quotes where they must stay as they are.
        fold: what the engine does to the case of unquoted parts.
        plain: which unquoted parts the engine takes.
        most_bytes: longest part in UTF-8 bytes.

    Raises:
        ToolkitError: TK-0104 naming the rule that is broken.
    """
    parts: list[str] = []
    at = 0
    while True:
        match = _PART.match(text, at)
        if match is None:
            raise _unread(text, plain)
        parts.append(_part(text, match, fold, plain))
        at = match.end()
        if match["end"] == "":
            break
    if len(parts) > 2:
        raise bad_name(text, "it has more than two parts", "write schema.name")
    for part in parts:
        length = len(part.encode())
        if length > most_bytes:
            raise bad_name(text, f"`{part}` has {length} bytes, at most {most_bytes} are allowed", "shorten it")
    return QualifiedName(parts[-1], parts[0] if len(parts) == 2 else None)


def _part(text: str, match: re.Match[str], fold: Callable[[str], str], plain: re.Pattern[str]) -> str:
    quoted = match["quoted"]
    if quoted is not None:
        if "\0" in quoted:
            raise bad_name(text.replace("\0", "\\0"), "it contains a NUL character")
        return quoted.replace('""', '"')
    if "," in match["plain"]:
        raise bad_name(text, "it has a comma", "give one name; a name that has a comma stands in double quotes")
    if not plain.fullmatch(match["plain"]):
        raise bad_name(text, f"`{match['plain']}` needs double quotes", _written(f'"{match["plain"]}"'))
    return fold(match["plain"])


def _unread(text: str, plain: re.Pattern[str]) -> ToolkitError:
    """Return the error of a text that is no name: mostly one with spaces, of which a shell took the quotes."""
    parts = [part.strip() for part in text.split(".")]
    if '"' in text or len(parts) > 2 or not all(parts):
        return bad_name(text, "it cannot be read", 'write schema.name, or "Schema"."odd name"')
    quoted = ".".join(part if plain.fullmatch(part) else f'"{part}"' for part in parts)
    return bad_name(text, "it needs double quotes", _written(quoted))


def _written(name: str) -> str:
    """Say how the name is written where a shell or TOML reads it: both take single quotes off."""
    if "'" in name:
        return f"write {name}, with its double quotes"
    return f"""write '{name}' (on a command line and in a file; the single quotes keep the double ones)"""
