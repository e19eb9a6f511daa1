"""The licence guard: which paid pack a statement would need, told from its text before it is sent.

Lists from Database Licensing Information (management packs): all of AWR, ASH and ADDM belongs to the Diagnostics
Pack through any interface, SQL Monitor and SQL tuning to the Tuning Pack. Six DBA_HIST_ views are free.

The guard reads names as Oracle does, not as a human writes: case, double quotes, blanks, line breaks and comments
between the parts of a name do not hide it. It also looks into string literals, because dynamic SQL, DBMS_XMLGEN
and EXECUTE IMMEDIATE carry statements there. It therefore refuses the harmless literal 'DBA_HIST_SYSSTAT' as well:
a false refusal costs a sentence, a false pass an audit.
"""

from __future__ import annotations

import re

DIAGNOSTICS = "diagnostics_pack"
TUNING = "tuning_pack"

PACK_NAMES = {DIAGNOSTICS: "Diagnostics Pack", TUNING: "Tuning Pack"}

# Named as free in Licensing Information 10g to 19c.
FREE = frozenset(
    [
        "DBA_HIST_SNAPSHOT",
        "DBA_HIST_DATABASE_INSTANCE",
        "DBA_HIST_SNAP_ERROR",
        "DBA_HIST_SEG_STAT",
        "DBA_HIST_SEG_STAT_OBJ",
        "DBA_HIST_UNDOSTAT",
    ]
)

# Whole families: every object whose name begins so.
_FAMILIES: tuple[tuple[str, str], ...] = (
    ("DBA_HIST_", DIAGNOSTICS),
    ("CDB_HIST_", DIAGNOSTICS),
    ("AWR_PDB_", DIAGNOSTICS),
    ("AWR_ROOT_", DIAGNOSTICS),
    ("AWR_CDB_", DIAGNOSTICS),
    ("WRH$_", DIAGNOSTICS),
    ("WRI$_ADV_", DIAGNOSTICS),
    ("WRM$_", DIAGNOSTICS),
    ("DBA_ADDM_", DIAGNOSTICS),
    ("USER_ADDM_", DIAGNOSTICS),
    ("DBA_STREAMS_TP_PATH_BOTTLENECK", DIAGNOSTICS),
    ("DBA_SQLTUNE_", TUNING),
    ("USER_SQLTUNE_", TUNING),
    ("V$SQL_MONITOR", TUNING),
    ("GV$SQL_MONITOR", TUNING),
    ("V_$SQL_MONITOR", TUNING),
    ("GV_$SQL_MONITOR", TUNING),
    ("V$SQL_PLAN_MONITOR", TUNING),
    ("GV$SQL_PLAN_MONITOR", TUNING),
    ("V_$SQL_PLAN_MONITOR", TUNING),
    ("GV_$SQL_PLAN_MONITOR", TUNING),
)

_ASH_VIEWS = tuple(
    prefix + name for prefix in ("V$", "GV$", "V_$", "GV_$") for name in ("ACTIVE_SESSION_HISTORY", "ASH_INFO")
)

_OBJECTS: dict[str, str] = {
    **dict.fromkeys(_ASH_VIEWS, DIAGNOSTICS),
    **dict.fromkeys(
        [
            "X$ASH",
            "X$KEWASH",
            "DBMS_ADDM",
            "DBMS_ADVISOR",
            "DBMS_ASH",
            "DBMS_WORKLOAD_REPOSITORY",
            "DBMS_PERF",
            "DISPLAY_AWR",
            "AWR_REPORT_HTML",
            "AWR_REPORT_TEXT",
            "ASH_REPORT_HTML",
            "ASH_REPORT_TEXT",
        ],
        DIAGNOSTICS,
    ),
    **dict.fromkeys(
        [
            "DBMS_SQLTUNE",
            "DBMS_SQL_MONITOR",
            "DBMS_AUTO_SQLTUNE",
            "DBMS_SQLTUNE_INTERNAL",
            "REPORT_SQL_MONITOR",
            "REPORT_SQL_MONITOR_LIST",
        ],
        TUNING,
    ),
}

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|--[^\n]*", re.DOTALL)
_STRING = re.compile(r"""'(?:[^']|'')*'|"[^"]*\"""", re.DOTALL)
_JOIN = re.compile(r"'\s*\|\|\s*N?'")
_WORD = re.compile(r"[A-Z][A-Z0-9_$#]*")


def pack_needed(text: str) -> str | None:
    """Return the pack a statement needs (`diagnostics_pack`, `tuning_pack`), or None.

    Args:
        text: the statement as it would be sent.
    """
    needed = {pack for word in _words(text) if (pack := _pack_of(word))}
    return DIAGNOSTICS if DIAGNOSTICS in needed else TUNING if needed else None


def packs_needed(text: str) -> frozenset[str]:
    """Return every pack a statement needs; the Tuning Pack needs the Diagnostics Pack beside it."""
    needed = {pack for word in _words(text) if (pack := _pack_of(word))}
    return frozenset(needed | {DIAGNOSTICS}) if TUNING in needed else frozenset(needed)


def _words(text: str) -> set[str]:
    # As written, and with the pieces of literals joined the way `||` joins them, comments between them or not.
    upper = text.upper()
    variants = (upper, _JOIN.sub("", upper), _JOIN.sub("", _without_comments(upper)))
    return {word for variant in variants for word in _WORD.findall(variant)}


def _without_comments(text: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(text):
        string, comment = _STRING.search(text, at), _COMMENT.search(text, at)
        if comment is None:
            break
        if string is not None and string.start() < comment.start():
            parts.append(text[at : string.end()])
            at = string.end()
        else:
            parts.append(text[at : comment.start()] + " ")
            at = comment.end()
    return "".join(parts) + text[at:]


def _pack_of(word: str) -> str | None:
    if word in FREE:
        return None
    if word in _OBJECTS:
        return _OBJECTS[word]
    return next((pack for family, pack in _FAMILIES if word.startswith(family)), None)


def objects_listed() -> tuple[str, ...]:
    """Return every name the guard knows, families by one example each (for tests and documentation)."""
    return tuple(_OBJECTS) + tuple(family + ("SYSSTAT" if family.endswith("_") else "") for family, _ in _FAMILIES)
