"""The catalogue's description of an index: kind, key and partitions, and what a copy or a rebuild takes over.

The views: ALL_INDEXES, ALL_PART_INDEXES, ALL_IND_COLUMNS, ALL_IND_EXPRESSIONS, ALL_IND_PARTITIONS,
ALL_IND_SUBPARTITIONS (Database Reference).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from toolkit.dialects.oracle import partitions
from toolkit.dialects.oracle.catalog import rows_about, same_schema
from toolkit.dialects.oracle.names import quote
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts, Query, SameFacts
from toolkit.model.values import QualifiedName, Row, Scalar

FILES = ("index_keys", "index_partitions", "index_subpartitions")
TABLE_FILES = ("partitioning", "partition_keys", "partitions")
"""What the partitions of a table's copy are made from."""


def reads(
    schema: str | None, name: str | None, facts: Facts, suffix: str = "", *, copied: bool = False
) -> tuple[Query, ...]:
    """Ask for keys and parts; sizes of another schema's segments are read where that is granted."""
    binds: dict[str, Scalar] = {"schema": schema, "name": name}
    divided = {f"indexes{suffix}": "partitioned", "table_indexes": "partitioned"}
    twice = {f"index_partitions{suffix}": "composite"}
    needed: tuple[dict[str, str], ...] = ({}, divided, twice)
    asked = tuple(
        Query(f"{file}{suffix}", file, binds, only_if=need) for file, need in zip(FILES, needed, strict=True)
    )
    if copied and name is not None:
        asked += tuple(Query(file, file, binds, only_if=partitions.ONLY_IF) for file in TABLE_FILES)
    if same_schema(facts, schema):
        return asked
    return (*asked, Query(f"index_segments{suffix}", "index_segments", binds, optional=True))


def original(work: Work) -> QualifiedName:
    """Return the user's index that a work is about, where it works on a copy of it."""
    return work.index.of if work.index is not None and work.index.of is not None else work.object.name


def row_of(facts: Facts, index: QualifiedName) -> Row:
    """Return the catalogue row of an index, or an empty one."""
    return next((row for row in rows_about(facts, index) if row.get("index_name") is not None), {})


def details(facts: Facts, file: str, index: QualifiedName) -> tuple[Row, ...]:
    """Return the rows of `index_keys`, `index_partitions` or `index_subpartitions` about an index, each once."""
    schema = index.schema or facts.value("server", "current_schema")
    rows = _detailed(SameFacts(facts), file).get(index.name, ())
    return tuple(row for row in rows if schema in (None, row.get("of_schema")))


@functools.lru_cache(maxsize=32)
def _detailed(same: SameFacts, file: str) -> Mapping[Scalar, tuple[Row, ...]]:
    found: dict[Scalar, list[Row]] = {}
    for key, rows in same.facts.answers.items():
        for row in rows if key.partition(":")[0] == file else ():
            listed = found.setdefault(row.get("of_index"), [])
            if row not in listed:
                listed.append(row)
    return {name: tuple(rows) for name, rows in found.items()}


def key_of(facts: Facts, index: QualifiedName) -> tuple[str, ...]:
    """Spell the key part by part: a column quoted, an expression as Oracle keeps it, DESC where it falls."""
    spelled = []
    for row in details(facts, "index_keys", index):
        text = row.get("expression")
        part = str(text).strip() if text is not None else quote(str(row["column_name"]))
        spelled.append(f"{part} DESC" if row.get("descend") == "DESC" else part)
    return tuple(spelled)


def kind(row: Row) -> str:
    """Return the type of an index (INDEX_TYPE)."""
    return str(row.get("index_type") or "NORMAL")


def is_partitioned(row: Row) -> bool:
    """Tell whether an index has partitions."""
    return str(row.get("partitioned") or "NO") == "YES"


def is_local(row: Row) -> bool:
    """Tell whether an index is partitioned as its table is."""
    return str(row.get("locality") or "") == "LOCAL"


def not_rebuilt(row: Row) -> str | None:
    """Say why an index is never rebuilt by ALTER INDEX REBUILD, or None (SQLRF, ALTER INDEX, restrictions)."""
    word = kind(row)
    if word.startswith("IOT"):
        return "it is the index-organized table itself: ALTER TABLE ... MOVE rebuilds it"
    if "DOMAIN" in word:
        return "it is a domain index: its own indextype decides how it is rebuilt"
    if word.startswith("LOB"):
        return "it is a LOB index: it is rebuilt by moving the LOB"
    if word.startswith("CLUSTER"):
        return "it is a cluster index"
    if str(row.get("temporary") or "N") == "Y":
        return "it is on a temporary table: its rows are private to a session"
    return None


def not_copied(row: Row, facts: Facts) -> str | None:
    """Say why the same index cannot be built on a copy of its table, or None."""
    if str(row.get("join_index") or "NO") == "YES":
        return "it is a bitmap join index, which a copy of one table cannot have"
    name = QualifiedName(str(row.get("index_name")), str(row.get("schema_name")))
    plain = kind(row) in ("NORMAL", "NORMAL/REV")
    if not plain and not key_of(facts, name):
        return "its key was not read (ALL_IND_COLUMNS, ALL_IND_EXPRESSIONS)"
    return None


def compression_of(row: Row) -> str | None:
    """Spell how an index is compressed; None when it is not."""
    word = str(row.get("compression") or "DISABLED")
    if word.startswith("ADVANCED"):
        return f"COMPRESS {word}"
    if word != "ENABLED":
        return None
    length = row.get("prefix_length")
    return f"COMPRESS {int(length)}" if isinstance(length, int | float) and length else "COMPRESS"


def partitioning_of(row: Row, facts: Facts) -> str | None:
    """Spell the partitions of an index as CREATE INDEX takes them, under their own names.

    A local index takes the bounds of its table; a global one keeps its own (HIGH_VALUE as Oracle wrote it).
    """
    if not is_partitioned(row):
        return None
    name = QualifiedName(str(row.get("index_name")), str(row.get("schema_name")))
    parts = details(facts, "index_partitions", name)
    if is_local(row) and not parts:
        return "LOCAL"
    if is_local(row):
        return f"LOCAL ({', '.join(_local(part, facts, name) for part in parts)})"
    how = str(row.get("partitioning_type") or "")
    count = int(row.get("partitioning_key_count") or 1)
    columns = ", ".join(key_of(facts, name)[:count])
    listed = ", ".join(_global(part, how) for part in parts)
    return f"GLOBAL PARTITION BY {how} ({columns}) ({listed})"


def _local(part: Row, facts: Facts, index: QualifiedName) -> str:
    spelled = f"PARTITION {quote(str(part['part_name']))}"
    subs = [
        quote(str(row["part_name"]))
        for row in details(facts, "index_subpartitions", index)
        if row.get("partition_name") == part["part_name"]
    ]
    return f"{spelled} ({', '.join(f'SUBPARTITION {sub}' for sub in subs)})" if subs else spelled


def _global(part: Row, how: str) -> str:
    spelled = f"PARTITION {quote(str(part['part_name']))}"
    return f"{spelled} VALUES LESS THAN ({part['high_value']})" if how == "RANGE" else spelled


def table_rows(facts: Facts, table: QualifiedName) -> tuple[Row, ...]:
    """Return the catalogue rows about a table itself."""
    return tuple(
        row for row in rows_about(facts, table) if row.get("index_name") is None and row.get("kind") is not None
    )


def copied_alike(row: Row, facts: Facts) -> bool:
    """Tell whether a copy has the same partitions: a global index its own, a local one those of its table."""
    if not is_partitioned(row) or not is_local(row):
        return is_partitioned(row)
    return table_is_copied_alike(facts, QualifiedName(str(row.get("table_name")), str(row.get("table_schema"))))


def table_is_copied_alike(facts: Facts, table: QualifiedName) -> bool:
    """Tell whether the copy of a table has the same partitions: then they were read, and have no subpartitions."""
    if facts.value("target", "table_name") != table.name:
        return False
    made, left_out = partitions.of_table(facts)
    return made is not None and left_out is None
