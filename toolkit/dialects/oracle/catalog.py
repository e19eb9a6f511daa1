"""What facts hold about one object, whichever read it came from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from toolkit.model.facts import Facts, SameFacts
from toolkit.model.values import QualifiedName, Row, Scalar


def same_schema(facts: Facts, schema: str | None) -> bool:
    """Tell whether a schema is surely that of the session's user, so that the USER_ views speak of it."""
    user = facts.value("server", "user_name")
    current = facts.value("server", "current_schema", user)
    return user is not None and (schema if schema is not None else current) == user


def rows_about(facts: Facts, name: QualifiedName) -> tuple[Row, ...]:
    """Return all catalogue rows that describe a table or an index of that name."""
    schema = name.schema or facts.value("server", "current_schema")
    found = _by_name(SameFacts(facts)).get(name.name, ())
    return found if schema is None else tuple(row for row in found if row.get("schema_name") == schema)


def fact_about(facts: Facts, name: QualifiedName, column: str) -> Scalar:
    """Return the value of one catalogue column for an object; None without one."""
    return next((row[column] for row in rows_about(facts, name) if row.get(column) is not None), None)


def indexes_of(facts: Facts, table: QualifiedName) -> tuple[Row, ...]:
    """Return the catalogue rows of a table's indexes, each index once."""
    schema = table.schema or facts.value("server", "current_schema")
    found = {
        (row.get("schema_name"), row["index_name"]): row
        for rows in facts.answers.values()
        for row in rows
        if row.get("index_name") is not None
        and row.get("table_name") == table.name
        and schema in (None, row.get("table_schema"))
    }
    return tuple(found.values())


@lru_cache(maxsize=8)
def _by_name(same: SameFacts) -> Mapping[Scalar, tuple[Row, ...]]:
    found: dict[Scalar, list[Row]] = {}
    for rows in same.facts.answers.values():
        for row in rows:
            index = row.get("index_name")
            found.setdefault(row.get("table_name") if index is None else index, []).append(row)
    return {name: tuple(rows) for name, rows in found.items()}
