"""Catalogue rows of indexes for the tests, as the reads return them."""

from __future__ import annotations

from tests.oracle.make import assumed
from toolkit.dialects.indexes import IndexDefinition, IndexPart
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import ObjectKind

SALES = QualifiedName("SALES", "APP")


def index_row(name: str, **columns: object) -> Row:
    """Return a row of `index`, `table_indexes` or `schema_indexes`."""
    plain: dict[str, object] = {
        "schema_name": "APP", "index_name": name, "table_schema": "APP", "table_name": "SALES",
        "is_unique": "no", "is_valid": "yes", "byte_count": 65536, "definition": None, "column_list": None,
        "index_type": "NORMAL", "join_index": "NO", "temporary": "N", "visibility": "VISIBLE",
        "prefix_length": None, "partitioned": "NO", "locality": None, "partitioning_type": None,
        "subpartitioning_type": None, "partitioning_key_count": None, "logging": "YES", "degree": "1",
        "compression": "DISABLED", "tablespace_name": "USERS",
    }  # fmt: skip
    return {**plain, **columns}  # type: ignore[dict-item]


def key_rows(name: str, *keys: tuple[str, str | None, str]) -> tuple[Row, ...]:
    """Return rows of `index_keys`: column, expression, ASC or DESC."""
    return tuple(
        {"of_schema": "APP", "of_index": name, "position": number, "column_name": column, "descend": way,
         "expression": expression}
        for number, (column, expression, way) in enumerate(keys, 1)
    )  # fmt: skip


def part_rows(name: str, *parts: str, **columns: object) -> tuple[Row, ...]:
    """Return rows of `index_partitions`, the later the bigger."""
    return tuple(
        {"of_schema": "APP", "of_index": name, "part_name": part, "position": number, "composite": "NO",
         "is_valid": "yes", "logging": "YES", "compression": "DISABLED", "byte_count": 1000 * number,
         "high_value": str(10 * number), **columns}
        for number, part in enumerate(parts, 1)
    )  # type: ignore[return-value]  # fmt: skip


def facts_with(*rows: Row, release: str = "19-ee", **answers: tuple[Row, ...]) -> Facts:
    """Return facts with these indexes."""
    return assumed(release, indexes=rows, **answers)


def live(name: str) -> ObjectRef:
    """Return a user's index."""
    return ObjectRef(ObjectKind.INDEX, QualifiedName(name, "APP"), table=SALES)


def copied(name: str, part: IndexPart | None = None, valid: bool = True) -> tuple[ObjectRef, IndexDefinition]:
    """Return a copy of a user's index and what it stands for."""
    ref = ObjectRef(
        ObjectKind.INDEX,
        QualifiedName("DBATK_RUN_S2", "DBATK"),
        scratch=True,
        table=QualifiedName("DBATK_RUN_S1", "DBATK"),
    )
    parts = (part,) if part else ()
    return ref, IndexDefinition(ref.name, SALES, valid=valid, parts=parts, of=QualifiedName(name, "APP"))
