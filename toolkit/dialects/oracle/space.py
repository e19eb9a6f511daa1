"""Room for new objects: free space of the tablespace, the quota of its schema, and temporary space.

`space_free` and `space_temp` need DBA_ views; what could not be read is unknown, never zero. A holder of UNLIMITED
TABLESPACE has no row among the quotas, and MAX_BYTES -1 is no limit (Database Reference, DBA_TS_QUOTAS).
"""

from __future__ import annotations

from toolkit.dialects.answers import Room
from toolkit.dialects.oracle.names import parse_name, quote
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.values import Row, Scalar


def room(facts: Facts, schema: str | None, tablespace: str | None) -> Room:
    """Return the room in the tablespace where new objects of a schema go.

    Raises:
        ToolkitError: TK-0204 for a tablespace that is not there, TK-0305 for one that takes no tables or in which
            the schema has no quota.
    """
    owner, user = _owner(facts, schema)
    place = parse_name(tablespace).name if tablespace else default_tablespace(facts, schema)
    temp = _sum(facts.first("space_temp"), "free_byte_count", "growth_byte_count")
    if place is None:
        return Room(temporary_bytes=temp)
    free = _free(facts, place)
    quota = _quota(facts, place) if owner == user else None
    known = [size for size in (free, quota) if size is not None]
    return Room(place, min(known) if known else None, temp)


def default_tablespace(facts: Facts, schema: str | None) -> str | None:
    """Return where the objects of a schema go unless told otherwise; None where that is not known."""
    owner, user = _owner(facts, schema)
    own = facts.value("space_quota", "default_tablespace") if owner == user else None
    found = own or next(
        (row.get("default_tablespace") for row in facts.rows("space_schemas") if row.get("user_name") == owner),
        None,
    )
    return None if found is None else str(found)


def _owner(facts: Facts, schema: str | None) -> tuple[Scalar, Scalar]:
    """Return who will own new objects, and who we are."""
    user = facts.value("space_quota", "user_name", facts.value("server", "user_name"))
    return schema or facts.value("server", "current_schema") or user, user


def tablespaces(facts: Facts) -> tuple[Row, ...]:
    """Return the tablespaces that take tables: permanent and online."""
    return tuple(row for row in facts.rows("space_free") if _takes_tables(row))


def _takes_tables(row: Row) -> bool:
    return row.get("status") in (None, "ONLINE") and row.get("contents") in (None, "PERMANENT")


def _free(facts: Facts, place: str) -> float | None:
    rows = {str(row.get("tablespace_name")): row for row in facts.rows("space_free")}
    if not rows:
        return None
    if place not in rows:
        raise ToolkitError(
            f"tablespace `{place}` does not exist", code="TK-0204", hint=did_you_mean(place, list(rows))
        )
    if not _takes_tables(rows[place]):
        raise ToolkitError(
            f"the tablespace `{place}` cannot hold tables: it is {rows[place].get('contents')} and "
            f"{rows[place].get('status')}",
            code="TK-0305",
            hint="choose another one with --tablespace",
        )
    return _sum(rows[place], "free_byte_count", "growth_byte_count")


def _quota(facts: Facts, place: str) -> float | None:
    """Return what is left of the user's quota; None without a limit, or when quotas were not read."""
    if not facts.rows("space_quota") or facts.value("space_quota", "unlimited") not in (0, "0"):
        return None
    for row in facts.rows("space_quota"):
        limit, used = row.get("quota_byte_count"), row.get("used_byte_count")
        if row.get("tablespace_name") == place and isinstance(limit, int | float):
            return None if limit < 0 else max(0.0, float(limit) - float(str(used or 0)))
    user = str(facts.value("space_quota", "user_name"))
    raise ToolkitError(
        f"{user} has no quota in tablespace `{place}`",
        code="TK-0305",
        hint=f"ALTER USER {quote(user)} QUOTA UNLIMITED ON {quote(place)}",
    )


def _sum(row: Row, *columns: str) -> float | None:
    sizes = [row.get(column) for column in columns]
    numbers = [float(size) for size in sizes if isinstance(size, int | float)]
    return sum(numbers) if numbers else None
