"""What gathering depends on, shown before it runs: preferences, locks, how copies and pending mode differ."""

from __future__ import annotations

from collections import Counter

from toolkit.dialects.oracle.statistics import preferences, reads, server
from toolkit.dialects.oracle.statistics.arguments import extends, of_schema, owner_of, values
from toolkit.dialects.oracle.statistics.isolation import on_live, table_of
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import SupportState
from toolkit.units import counted

_SENT_AS = {
    "DEGREE": ("degree", "degree_constant"),
    "ESTIMATE_PERCENT": ("estimate_percent", "estimate_constant"),
    "METHOD_OPT": ("method_opt",),
    "GRANULARITY": ("granularity",),
    "CASCADE": ("cascade", "cascade_constant"),
    "NO_INVALIDATE": ("no_invalidate", "no_invalidate_constant"),
}
"""Preferences that a parameter overrides, with the parameters that do."""
_DEFAULTS = {
    "ESTIMATE_PERCENT": ("AUTO_SAMPLE_SIZE",),
    "METHOD_OPT": ("FOR ALL COLUMNS SIZE AUTO",),
    "DEGREE": ("NULL", ""),
    "GRANULARITY": ("AUTO",),
    "CASCADE": ("AUTO_CASCADE",),
    "NO_INVALIDATE": ("AUTO_INVALIDATE",),
    "PUBLISH": ("TRUE",),
    "INCREMENTAL": ("FALSE",),
    "STALE_PERCENT": ("10",),
    "CONCURRENT": ("OFF", "FALSE"),
    "PREFERENCE_OVERRIDES_PARAMETER": ("FALSE",),
}
"""What each preference is before anybody sets it (PL/SQL Packages, DBMS_STATS.SET_GLOBAL_PREFS)."""


def remarks(work: Work, facts: Facts) -> tuple[str, ...]:
    """Say what the result depends on; nothing of what was not read."""
    if server.is_server(work):
        return server.remarks(work, facts)
    sentences = [_preferences(work, facts), _stored(work, facts), _locked(work, facts), _concurrent(facts)]
    sentences += preferences.remarks(work, facts)
    if extends(work) and not work.object.scratch:
        sentences += [
            "a group of columns or an expression in METHOD_OPT becomes a hidden column of the table where it has "
            "none yet, which stays: DBMS_STATS.DROP_EXTENDED_STATS drops it"
        ]
    if on_live(work):
        sentences += [
            "statistics are gathered as pending, which are stored in other dictionary tables than published ones"
        ]
        sentences += [_incremental(work, facts)]
    elif work.object.scratch:
        lacks = "" if any(key.partition(":")[0] == "indexes" for key in facts.answers) else "no indexes, "
        sentences += [
            f"copies have {lacks}no partitions and no column usage history (SIZE AUTO creates few histograms): "
            "gathering the live tables may take longer"
        ]
    return tuple(sentence for sentence in sentences if sentence)


def _preferences(work: Work, facts: Facts) -> str:
    known = {
        name: value.removeprefix("DBMS_STATS.")
        for name in reads.PREFERENCES
        if (value := reads.preference(facts, name)) is not None
    }
    if not known:
        return ""
    sent = values(work)
    over = [name for name, keys in _SENT_AS.items() if any(sent.get(key) is not None for key in keys)]
    if sent["compute"] and "ESTIMATE_PERCENT" not in over:
        over.append("ESTIMATE_PERCENT")
    left = {name: value for name, value in known.items() if name not in over}
    if known.get("PREFERENCE_OVERRIDES_PARAMETER", "FALSE").upper() == "TRUE":
        return (
            f"PREFERENCE_OVERRIDES_PARAMETER is TRUE: preferences override the parameters ({', '.join(over)}), "
            f"so all levels may measure the same; preferences are {_listed(known)}"
        )
    named = {name: value for name, value in left.items() if value.upper() not in _DEFAULTS[name]}
    decide = f"preferences decide {_listed(named)}" if named else "the preferences are Oracle's own"
    return f"{decide}; sent with the call: {', '.join(over)}" if over else decide


def _listed(preferences: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in preferences.items())


def _stored(work: Work, facts: Facts) -> str:
    table = table_of(work)
    rows = [
        row
        for row in facts.rows(reads.of_schema("stats_table_preferences", owner_of(work)))
        if table in (None, row.get("preferring_table"))
    ]
    if not rows:
        return ""
    if table is not None:
        shown = ", ".join(f"{row['preference_name']} {row['preference_value']}" for row in rows)
        return f"table {table} has its own preferences: {shown}"
    times = Counter(str(row["preference_name"]) for row in rows)
    shown = ", ".join(f"{name} ({count})" for name, count in sorted(times.items()))
    tables = len({row["preferring_table"] for row in rows})
    return f"own preferences in {counted(tables, 'table')} of {owner_of(work)}: {shown}"


def _tables(work: Work, facts: Facts) -> list[tuple[str, str | None]]:
    """Return each table gathered with the word of its lock, or None."""
    table = table_of(work)
    return [
        (str(row["analyzed_table"]), None if row.get("locked") is None else str(row["locked"]))
        for row in facts.rows(reads.of_schema("stats_tables", owner_of(work)))
        if table in (None, row["analyzed_table"])
    ]


def _locked(work: Work, facts: Facts) -> str:
    tables = _tables(work, facts)
    locked = [name for name, lock in tables if lock]
    if not locked or not of_schema(work) or work.option("force_locked") is True:
        return ""
    names = ", ".join(locked[:5]) + (", ..." if len(locked) > 5 else "")
    return (
        f"{len(locked)} of {len(tables)} tables of {owner_of(work)} are locked and will be skipped, never forced: "
        f"{names}"
    )


def _concurrent(facts: Facts) -> str:
    value = (reads.preference(facts, "CONCURRENT") or "OFF").upper()
    if value in ("OFF", "FALSE"):
        return ""
    return f"CONCURRENT is {value}: several tables may be gathered at once in jobs"


def _incremental(work: Work, facts: Facts) -> str:
    table = table_of(work)
    names = [
        str(row["preferring_table"])
        for row in facts.rows(reads.of_schema("stats_table_preferences", owner_of(work)))
        if row.get("preference_name") == "INCREMENTAL"
        and row.get("preference_value") == "TRUE"
        and table in (None, row["preferring_table"])
    ]
    if not names:
        return ""
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    return f"INCREMENTAL needs PUBLISH TRUE: {shown} are measured as full gathers here"


# -- what stands in the way of any gathering --------------------------------------------------------------------
def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse a table whose statistics are locked, and schemas of others without the right."""
    return _lock_of_table(work, facts) or _right(work, facts)


def _lock_of_table(work: Work, facts: Facts) -> Support | None:
    if of_schema(work) or work.object.scratch or work.option("force_locked") is True:
        return None
    lock = next((lock for _, lock in _tables(work, facts) if lock), None)
    if lock is None:
        return None
    return Support(
        SupportState.UNSUPPORTED,
        f"the statistics of {work.object.name} are locked ({lock}; would raise ORA-20005): unlock them with "
        "DBMS_STATS.UNLOCK_TABLE_STATS, or give --force-locked, if that is intended",
    )


def _right(work: Work, facts: Facts) -> Support | None:
    user, owner = facts.value("server", "user_name"), owner_of(work)
    if reads.RIGHTS not in facts.answers or work.object.scratch or owner is None or owner == user:
        return None
    if any(row.get("privilege") == "ANALYZE ANY" for row in facts.rows(reads.RIGHTS)):
        return None
    return Support(
        SupportState.NEEDS_PRIVILEGE,
        f"gathering statistics of {owner} needs the user {owner}, or GRANT ANALYZE ANY TO {user}",
    )
