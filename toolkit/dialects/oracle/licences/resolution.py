"""Synonyms, views and programs behind the names of a statement, followed to what they read.

The rows of `sql/oracle/name_leads_to.sql` are followed from name to name: a bounded number of reads, each name
once, so that a circle ends. Objects of the database software are not followed: the lists know them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toolkit.dialects.oracle.licences.look import LicenceFindings, Use, is_free, uses_of
from toolkit.dialects.oracle.releases import MAINTAINED_SCHEMAS
from toolkit.model.values import Row

LeadsTo = Callable[[str | None, str], tuple[Row, ...]]
_MOST_READS = 40
_PROGRAMS = frozenset(["FUNCTION", "PROCEDURE", "PACKAGE", "PACKAGE BODY", "TYPE BODY", "TRIGGER"])
_NO_OBJECT = frozenset(
    {"SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "EXISTS", "BETWEEN", "LIKE", "IS", "NULL", "AS",
     "ON", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "NATURAL", "USING", "GROUP", "BY",
     "ORDER", "HAVING", "UNION", "ALL", "MINUS", "INTERSECT", "EXCEPT", "WITH", "CASE", "WHEN", "THEN",
     "ELSE", "END", "DISTINCT", "UNIQUE", "ASC", "DESC", "NULLS", "FIRST", "LAST", "FETCH", "NEXT", "ROW",
     "ROWS", "ONLY", "OFFSET", "SAMPLE", "BLOCK", "SEED", "PARTITION", "SUBPARTITION", "OVER", "COUNT",
     "SUM", "MIN", "MAX", "AVG", "ROUND", "TRUNC", "MOD", "NVL", "COALESCE", "DECODE", "SYSDATE",
     "SYSTIMESTAMP", "DUAL", "ROWNUM", "ROWID", "LEVEL", "CONNECT", "PRIOR", "START", "ALTER", "SYSTEM",
     "SESSION", "SET", "TABLE", "INDEX", "CREATE", "DATE", "TIMESTAMP", "INTERVAL", "NUMBER", "VARCHAR2",
     "CAST", "TO_CHAR", "TO_DATE", "TO_NUMBER", "TO_TIMESTAMP", "UPPER", "LOWER", "SUBSTR", "INSTR",
     "TRIM", "VALUE", "NAME", "SCOPE", "MEMORY", "BEFORE"}
)  # fmt: skip


def follow(names: Iterable[tuple[str, ...]], leads_to: LeadsTo) -> tuple[Row, ...]:
    """Return what names lead to, each row with the name asked for (`name`) and how it was reached (`by`).

    Args:
        names: as parts, as `look` finds them.
        leads_to: reads what one name leads to; a schema of None is the current one, and PUBLIC.
    """
    waiting = [(schema, name, "") for parts in names for schema, name in _candidates(parts)]
    seen: set[tuple[str | None, str]] = set()
    rows: list[Row] = []
    reads = 0
    while waiting:
        schema, name, by = waiting.pop(0)
        if (schema, name) in seen or schema in MAINTAINED_SCHEMAS or uses_of(name)[0] or is_free(name):
            continue
        seen.add((schema, name))
        if reads == _MOST_READS:
            rows.append({"name": name, "by": by, "kind": "UNREAD"})
            break
        reads += 1
        for row in leads_to(schema, name):
            shown = f"{row.get('owner')}.{name}"
            way = f"{by} > {shown}" if by else shown
            rows.append({**row, "name": name, "by": way})
            if row.get("link") is None and row.get("referenced_name"):
                owner = row.get("referenced_owner")
                waiting.append((None if owner is None else str(owner), str(row["referenced_name"]), way))
    return tuple(rows)


def findings(rows: Iterable[Row]) -> LicenceFindings:
    """Return the uses behind the names, and what stays unseen."""
    found = LicenceFindings()
    for row in rows:
        by = str(row.get("by") or "")
        if row.get("kind") == "UNREAD":
            found += LicenceFindings(unseen=(f"more than {_MOST_READS} names: `{row.get('name')}` was not read",))
            continue
        target = str(row.get("referenced_name") or "")
        uses, notes = uses_of(target)
        found += LicenceFindings(tuple(Use(use.licence, use.thing, f"through {by}") for use in uses), tuple(notes))
        if row.get("link") is not None:
            found += LicenceFindings(unseen=(f"`{by}` leads to another database (`@{row['link']}`)",))
        if row.get("kind") in _PROGRAMS:
            found += LicenceFindings(unseen=(f"the dynamic SQL of `{by}` cannot be checked",))
    return found


def _candidates(parts: tuple[str, ...]) -> Iterable[tuple[str | None, str]]:
    """Read a path both ways: an object of the current schema (and its column), or a schema and its object."""
    if parts[0] in _NO_OBJECT and len(parts) == 1:
        return
    yield None, parts[0]
    if len(parts) > 1:
        yield parts[0], parts[1]
