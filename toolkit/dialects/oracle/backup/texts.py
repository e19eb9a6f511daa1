"""What may stand in an RMAN script, by what it is: patterns, and nothing that they do not know.

In a quoted string of RMAN `?` is ORACLE_HOME, `@` ORACLE_SID and `&` asks for a value (Backup and Recovery
Reference, Entering RMAN Commands); a quote ends it. `%` belongs to formats alone.
"""

from __future__ import annotations

import re

PATTERNS = {
    "rman_channel": re.compile(r"[a-z][a-z0-9]{0,9}"),
    "rman_name": re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,29}"),
    "rman_pdb_name": re.compile(r"[A-Z][A-Z0-9_$#]{0,29}(?::[A-Z][A-Z0-9_$#]{0,29})?"),
    "rman_id": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}"),
    "rman_format": re.compile(r"[A-Za-z0-9_+/\\:.,=() %~-]{1,512}"),
    "rman_parms": re.compile(r"[A-Za-z0-9_+/\\:.,=() -]{1,1000}"),
    "rman_connect": re.compile(r"/@[A-Za-z0-9_.-]{1,128}(?: as (?:sysbackup|sysdba))?"),
    "rman_catalog": re.compile(r"/@[A-Za-z0-9_.-]{1,128}"),
    "rman_size": re.compile(r"[1-9][0-9]{0,8}[KMG]?"),
    "rman_duration": re.compile(r"[0-9]{1,4}:[0-5][0-9]"),
    "rman_number": re.compile(r"[1-9][0-9]{0,6}"),
    "rman_dbid": re.compile(r"[1-9][0-9]{0,11}"),
    "rman_word": re.compile(r"[A-Z][A-Z0-9_]{0,29}"),
    "rman_until": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"),
}
"""The filters of the templates by name; a value fits as a whole or not at all."""

BARE = frozenset(
    {"rman_channel", "rman_size", "rman_pdb_name", "rman_number", "rman_duration", "rman_dbid", "rman_word"}
)
"""What stands without quotes."""


def fits(name: str, value: object) -> bool:
    """Tell whether a filter of this name lets a value through."""
    return isinstance(value, str) and PATTERNS[name].fullmatch(value) is not None


def not_unique(form: str, *, several_pieces: bool) -> str | None:
    """Tell what a format lacks to give each piece a name of its own; None when it has all.

    `%U` is `%u_%p_%c`. A set is told from others by `%u` or `%s` (`%t` is a time, and two channels may begin a set
    in the same second), its pieces by `%p`; a bare disk group of ASM makes its own names (Backup and Recovery
    Reference, formatSpec).
    """
    if re.fullmatch(r"\+[A-Za-z0-9_$#]+", form):
        return None
    marks = set(re.findall(r"%(.)", form.replace("%%", "")))
    if "U" in marks:
        return None
    if not marks & {"u", "s"}:
        return "each backup set needs a name of its own, by `%s` or `%u`"
    if several_pieces and "p" not in marks:
        return "a set has several pieces, each with a name of its own by `%p`"
    return None
