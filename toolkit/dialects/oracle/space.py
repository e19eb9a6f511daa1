"""Room for objects: free space of each tablespace, the quota of the schema that owns them, and temporary space.

`space_free`, `space_temp` and `space_quotas` need DBA_ views; what could not be read is unknown,
never zero and never unlimited. MAX_BYTES -1 is no limit; a holder of UNLIMITED TABLESPACE, which no role can have
(ORA-01931), needs no quota (Database Reference, DBA_TS_QUOTAS; SQL Language Reference, GRANT). The quota that
counts is that of the owner, whoever makes the object; sorts go to the temporary tablespace of the session's user.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from toolkit.dialects.answers import Room
from toolkit.dialects.oracle.names import quote
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import Place, PlaceKind, Takes, Until
from toolkit.model.values import Row, Scalar

_OF_OTHERS = "space_quotas"
FILES = ("space_free", "space_quota", _OF_OTHERS, "space_temp")
_SORT_PLACE = Place(PlaceKind.TEMPORARY)
_NEEDS = {
    "space_free": "DBA_TABLESPACES, DBA_FREE_SPACE and DBA_DATA_FILES",
    "space_quotas": "DBA_USERS, DBA_TS_QUOTAS and DBA_SYS_PRIVS",
    "space_temp": "DBA_TEMP_FREE_SPACE, DBA_TABLESPACE_GROUPS and DBA_TEMP_FILES",
}


def files_for(facts: Facts, owners: Collection[str | None]) -> tuple[str, ...]:
    """Name what is read where objects go into these schemas: the quotas of others only where one is another's."""
    user = facts.value("server", "user_name")
    own = user is not None and {owner or facts.value("server", "current_schema") for owner in owners} <= {user}
    return tuple(file for file in FILES if not (own and file == _OF_OTHERS))


def takes(
    size: float | None,
    tablespace: str | None,
    schema: str | None,
    facts: Facts,
    *,
    until: Until = Until.OBJECT,
    unknown: str = "",
) -> Iterator[Takes]:
    """Say what an object takes of its tablespace, and of the quota of its schema where that is limited or unknown.

    Args:
        size: in bytes; None where it is not known.
        tablespace: where it goes; None for the default of the schema.
        schema: that owns it; None for the session's.
        facts: with what was read of places.
        until: how long.
        unknown: why the size is not known.
    """
    owner = str(_owner(facts, schema)[0] or "")
    name = tablespace or default_tablespace(facts, schema)
    yield Takes(size, named(name, f"schema {owner}"), until, unknown)
    if name and not _is_unlimited(facts, owner, name):
        yield Takes(size, Place(PlaceKind.QUOTA, name, owner), until, unknown)


def named(tablespace: str | None, of: str) -> Place:
    """Return a tablespace as a place; without its name that of what has it."""
    return Place(PlaceKind.TABLESPACE, tablespace or "", "" if tablespace else of)


def spread(
    size: float | None,
    tablespaces: Iterable[str | None],
    schema: str | None,
    facts: Facts,
    *,
    until: Until = Until.OBJECT,
    unknown: str = "",
    divided: str = "it depends on the rows how much goes to each partition",
) -> Iterator[Takes]:
    """Say what an object takes whose parts go to these tablespaces; `divided` is why nobody knows how."""
    places = tuple(dict.fromkeys(tablespaces)) or (None,)
    for place in places:
        known = len(places) == 1 or size == 0
        yield from takes(
            size if known else None, place, schema, facts, until=until, unknown=unknown if known else divided
        )


def sorting(size: float | None, unknown: str = "") -> Takes:
    """Say what sorted keys take of the temporary tablespace while they are sorted."""
    return Takes(size, _SORT_PLACE, Until.STEP, unknown)


def room(place: Place, facts: Facts) -> Room:
    """Return the room in a tablespace, a quota, the temporary tablespace of the session's user, or elsewhere."""
    answered = {
        PlaceKind.TABLESPACE: _of_tablespace,
        PlaceKind.QUOTA: _of_quota,
        PlaceKind.TEMPORARY: _of_temporary,
        PlaceKind.RECOVERY_AREA: _of_area,
        PlaceKind.FOLDER: _of_folder,
    }
    return answered[place.kind](place, facts)


def _of_temporary(_: Place, facts: Facts) -> Room:
    row = facts.first("space_temp")
    return _unknown("space_temp", facts) if _sum(row, "free_byte_count") is None else _grows(row)


def _of_folder(place: Place, _: Facts) -> Room:
    if place.name.startswith("+"):
        return Room(unknown="V$ASM_DISKGROUP was not read")
    return Room(folder=place.name) if place.name else Room(unknown="which one it is was not read")


def _of_area(_: Place, facts: Facts) -> Room:
    """Return what the recovery area has left, with what Oracle may delete there by itself."""
    row = facts.first("backup_recovery_area")
    if not row.get("place"):
        return Room(unknown="there is none, or it was not read")
    sizes = [row.get(name) for name in ("limit_bytes", "used_bytes", "reclaimable_bytes")]
    limit, used, back = (float(size) if isinstance(size, int | float) else 0.0 for size in sizes)
    return Room(max(0.0, limit - used + back))


def default_tablespace(facts: Facts, schema: str | None) -> str | None:
    """Return where the objects of a schema go unless told otherwise; None where that is not known."""
    owner, user = _owner(facts, schema)
    own = facts.value("space_quota", "default_tablespace") if owner == user else None
    others = (row for row in facts.rows("space_quotas") if row.get("user_name") == owner)
    found = own or next((row["default_tablespace"] for row in others if row.get("default_tablespace")), None)
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


def _of_tablespace(place: Place, facts: Facts) -> Room:
    if not place.name:
        known = "space_quotas" in facts.answers
        return Room(unknown="which one it is was not read") if known else _unknown("space_quotas", facts)
    rows = {str(row.get("tablespace_name")): row for row in facts.rows("space_free")}
    if not rows:
        return _unknown("space_free", facts)
    row = rows.get(place.name)
    if row is None:
        missing = f"tablespace `{place.name}` does not exist"
        return Room(refusal=ToolkitError(missing, code="TK-0204", hint=did_you_mean(place.name, list(rows))))
    if not _takes_tables(row):
        refusal = ToolkitError(
            f"the tablespace `{place.name}` cannot hold tables: "
            f"it is {row.get('contents')} and {row.get('status')}",
            code="TK-0305",
            hint="choose another one with --tablespace",
        )
        return Room(refusal=refusal)
    return _grows(row)


def _grows(row: Row) -> Room:
    free = _sum(row, "free_byte_count", "growth_byte_count")
    unknown = "" if free is not None else "it is not shown"
    return Room(free, _sum(row, "growth_byte_count") or 0.0, unknown=unknown)


def _of_quota(place: Place, facts: Facts) -> Room:
    """Return what is left of a quota; a schema that has none can put nothing there (ORA-01950)."""
    found = _quotas(facts, place.owner)
    if found is None:
        return _unknown("space_quotas", facts)
    more = f"ALTER USER {quote(place.owner)} QUOTA UNLIMITED ON {quote(place.name)}"
    for row in found:
        limit, used = row.get("quota_byte_count"), row.get("used_byte_count")
        if row.get("tablespace_name") == place.name and isinstance(limit, int | float):
            return Room(None if limit < 0 else max(0.0, float(limit) - float(str(used or 0))), hint=more)
    sentence = f"{place.owner} has no quota in tablespace `{place.name}`"
    return Room(refusal=ToolkitError(sentence, code="TK-0305", hint=more))


def _quotas(facts: Facts, owner: str) -> tuple[Row, ...] | None:
    """Return the quotas of a schema; None where they were not read."""
    if owner == _owner(facts, None)[1] and facts.rows("space_quota"):
        return facts.rows("space_quota")
    if "space_quotas" not in facts.answers:
        return None
    return tuple(row for row in facts.rows("space_quotas") if row.get("user_name") == owner)


def _is_unlimited(facts: Facts, owner: str, tablespace: str) -> bool:
    """Tell whether a schema is known to need no quota, by its privilege or by MAX_BYTES -1."""
    if owner == _owner(facts, None)[1] and facts.value("space_quota", "unlimited") not in (None, 0, "0"):
        return True
    holders = {row.get("user_name") for row in facts.rows("space_quotas") if row.get("unlimited") in (1, "1")}
    if not holders.isdisjoint({owner, "PUBLIC"}):
        return True
    limits = [
        row.get("quota_byte_count")
        for row in _quotas(facts, owner) or ()
        if row.get("tablespace_name") == tablespace
    ]
    return any(isinstance(limit, int | float) and limit < 0 for limit in limits)


def _unknown(file: str, facts: Facts) -> Room:
    """Say that a view could not be read, and where it was refused the grant that shows it."""
    views = _NEEDS[file]
    grant = f"GRANT SELECT ON the views {views} of SYS" if file in facts.refused else ""
    return Room(unknown=f"{views} cannot be read", hint=grant)


def _sum(row: Row, *columns: str) -> float | None:
    sizes = [row.get(column) for column in columns]
    numbers = [float(size) for size in sizes if isinstance(size, int | float)]
    return sum(numbers) if numbers else None
