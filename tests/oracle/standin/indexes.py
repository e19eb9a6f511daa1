"""Indexes of the stand-in: their kinds, keys and partitions, and the views that tell of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.oracle.standin.errors import ora
from tests.oracle.standin.index_grammar import Key, unquoted

if TYPE_CHECKING:
    from tests.oracle.standin.state import Made, State

VIEWS = {
    "ALL_INDEXES": "OWNER INDEX_NAME INDEX_TYPE TABLE_OWNER TABLE_NAME TABLE_TYPE UNIQUENESS COMPRESSION "
    "PCT_FREE:n PREFIX_LENGTH:n TABLESPACE_NAME LOGGING STATUS DEGREE INSTANCES PARTITIONED TEMPORARY SECONDARY "
    "DROPPED VISIBILITY JOIN_INDEX",
    "ALL_IND_EXPRESSIONS": "INDEX_OWNER INDEX_NAME TABLE_OWNER TABLE_NAME COLUMN_EXPRESSION COLUMN_POSITION:n",
    "ALL_PART_INDEXES": "OWNER INDEX_NAME TABLE_NAME PARTITIONING_TYPE SUBPARTITIONING_TYPE PARTITION_COUNT:n "
    "PARTITIONING_KEY_COUNT:n LOCALITY",
    "ALL_IND_PARTITIONS": "INDEX_OWNER INDEX_NAME COMPOSITE PARTITION_NAME HIGH_VALUE PARTITION_POSITION:n STATUS "
    "TABLESPACE_NAME LOGGING COMPRESSION LEAF_BLOCKS:n",
    "ALL_IND_SUBPARTITIONS": "INDEX_OWNER INDEX_NAME PARTITION_NAME SUBPARTITION_NAME SUBPARTITION_POSITION:n "
    "STATUS TABLESPACE_NAME LOGGING LEAF_BLOCKS:n",
    "ALL_PART_TABLES": "OWNER TABLE_NAME PARTITIONING_TYPE SUBPARTITIONING_TYPE PARTITION_COUNT:n INTERVAL "
    "AUTOLIST REF_PTN_CONSTRAINT_NAME",
    "ALL_PART_KEY_COLUMNS": "OWNER NAME OBJECT_TYPE COLUMN_NAME COLUMN_POSITION:n",
    "ALL_TAB_PARTITIONS": "TABLE_OWNER TABLE_NAME COMPOSITE PARTITION_NAME HIGH_VALUE PARTITION_POSITION:n "
    "TABLESPACE_NAME PCT_FREE:n LOGGING COMPRESSION COMPRESS_FOR INTERVAL BLOCKS:n",
    "ALL_TAB_SUBPARTITIONS": "TABLE_OWNER TABLE_NAME PARTITION_NAME SUBPARTITION_NAME SUBPARTITION_POSITION:n "
    "TABLESPACE_NAME PCT_FREE:n LOGGING COMPRESSION COMPRESS_FOR",
}
_BLOCK = 8192
_STORED = (
    r'(?:PCTFREE\s+\d+|TABLESPACE\s+"[^"]+"|(?:ROW|COLUMN)\s+STORE\s+COMPRESS[A-Z ]*'
    r"|COMPRESS[A-Z ]*|NOCOMPRESS)"
)


@dataclass
class Part:
    """A partition of a table or an index, or a subpartition of one."""

    name: str
    high_value: str | None = None
    status: str = "USABLE"
    logging: str = "YES"
    rows: int = 0
    data_object_id: int = 0
    """Of a partition of a table: its segment; given when it is first shown."""
    tablespace: str = "USERS"
    pct_free: int = 10
    compress_for: str | None = None
    """Of a partition of a table: BASIC, ADVANCED ...; None when it is not compressed."""
    subs: list[Part] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return 65536 * (1 + self.rows // 100)


@dataclass
class Shape:
    """What an index is besides its name: its type, its key, its partitions."""

    type: str = "NORMAL"
    keys: list[Key] = field(default_factory=list)
    locality: str | None = None
    method: str = "RANGE"
    parts: list[Part] = field(default_factory=list)
    prefix: int | None = None
    temporary: str = "N"

    @property
    def composite(self) -> bool:
        return any(part.subs for part in self.parts)

    def find(self, level: str, name: str) -> Part:
        """Return a part by level and name.

        Raises:
            BackendError: ORA-01418 when there is none, ORA-14287 for the partition of a composite index.
        """
        if level == "PARTITION" and self.composite:
            raise ora(14287)
        there = self.parts if level == "PARTITION" else [sub for part in self.parts for sub in part.subs]
        found = next((part for part in there if part.name == name), None)
        if found is None:
            raise ora(1418, name)
        return found


def columns_of(key: Key) -> list[str]:
    """Return the columns a part of a key reads."""
    return [key.column] if key.expression is None else re.findall(r'"([^"]+)"', key.expression)


def set_degree(made: Made, clause: str | None) -> None:
    """Set DEGREE and INSTANCES as the dictionary shows them: PARALLEL 4 is 4 and 1, PARALLEL DEFAULT twice."""
    words = re.findall(r"\d+|DEFAULT", (clause or "NOPARALLEL").upper())
    if (clause or "NOPARALLEL").upper() == "NOPARALLEL":
        words = ["1"]
    made.degree = words[0] if words else "DEFAULT"
    made.instances = words[1] if len(words) > 1 else "1" if words else "DEFAULT"


def logging_of(word: str | None) -> str:
    """Return LOGGING as the dictionary shows it."""
    return "NO" if (word or "").upper() == "NOLOGGING" else "YES"


def partition_table(made: Made, clause: str | None) -> None:
    """Note the bounds of a table's partitions; those of a hash have none."""
    if not clause:
        return
    key = re.match(r"\w+\s*\(([^()]*)\)", clause)
    made.keyed_by = unquoted(key[1].strip()) if key else ""
    count = re.search(r"PARTITIONS\s+(\d+)", clause)
    bounds = re.findall(rf"VALUES\s+(?:LESS\s+THAN\s+)?\((.*?)\)(?:\s+{_STORED})*(?=\s*[,)])", clause)
    made.method = clause.split("(")[0].strip().upper()
    made.bounds = bounds or [""] * int(count[1] if count else 1)


# -- what the dictionary tells ------------------------------------------------------------------------------------
def rows_of(state: State, view: str) -> list[dict[str, object]]:
    """Return the rows of a view of this module."""
    of_tables = _OF_TABLES.get(view)
    if of_tables is not None:
        return [row for made in state.tables() if made.bounds for row in of_tables(made)]
    return [row for made in state.indexes() for row in _TOLD[view](made)]


def _part_table(made: Made) -> list[dict[str, object]]:
    return [
        {"OWNER": made.name[0], "TABLE_NAME": made.name[1], "PARTITIONING_TYPE": made.method,
         "SUBPARTITIONING_TYPE": made.sub_method, "PARTITION_COUNT": len(made.bounds), "AUTOLIST": "NO"}
    ]  # fmt: skip


def _part_keys(made: Made) -> list[dict[str, object]]:
    return [
        {"OWNER": made.name[0], "NAME": made.name[1], "OBJECT_TYPE": "TABLE", "COLUMN_NAME": made.keyed_by,
         "COLUMN_POSITION": 1}
    ]  # fmt: skip


def table_parts(made: Made) -> list[Part]:
    """Return the partitions of a table; they are made when they are first asked for."""
    if len(made.parts) != len(made.bounds):
        made.parts = [Part(f"P{number}", bound or None) for number, bound in enumerate(made.bounds, 1)]
        if made.sub_method != "NONE":
            for part in made.parts:
                part.subs = [Part(f"{part.name}_S{number}") for number in (1, 2)]
    return made.parts


def outside_of(made: Made, level: str, name: str) -> str:
    """Return the condition of rows that do not belong to a part of a table by ranges of one number.

    Which subpartition of a hash a row belongs to is not pretended: every row of the partition may.

    Raises:
        BackendError: ORA-02149 for a partition that is not there, ORA-14251 for a subpartition.
    """
    for number, part in enumerate(table_parts(made)):
        if name in ([part.name] if level == "PARTITION" else [sub.name for sub in part.subs]):
            least = f"{made.keyed_by} < {made.bounds[number - 1]}" if number else "FALSE"
            most = "FALSE" if part.high_value == "MAXVALUE" else f"{made.keyed_by} >= {part.high_value}"
            return f"{least} OR {most}"
    raise ora(2149 if level == "PARTITION" else 14251, name)


def set_logging(made: Made, name: str, word: str) -> None:
    """Set LOGGING of a table's partition, which sets that of its subpartitions too (VLDBG, MODIFY PARTITION).

    ALTER TABLE without a partition sets the default of future partitions alone here: what it does to those that
    are there is documented nowhere that was found.
    """
    part = next((part for part in table_parts(made) if part.name == name), None)
    if part is None:
        raise ora(2149, name)
    for each in (part, *part.subs):
        each.logging = logging_of(word)


def _tab_partitions(made: Made) -> list[dict[str, object]]:
    return [
        {"TABLE_OWNER": made.name[0], "TABLE_NAME": made.name[1], "PARTITION_NAME": part.name,
         "COMPOSITE": "YES" if part.subs else "NO", "HIGH_VALUE": part.high_value, "PARTITION_POSITION": number,
         "BLOCKS": part.bytes // _BLOCK, **_attributes(part)}
        for number, part in enumerate(table_parts(made), 1)
    ]  # fmt: skip


def _tab_subpartitions(made: Made) -> list[dict[str, object]]:
    return [
        {"TABLE_OWNER": made.name[0], "TABLE_NAME": made.name[1], "PARTITION_NAME": part.name,
         "SUBPARTITION_NAME": sub.name, "SUBPARTITION_POSITION": number, **_attributes(sub)}
        for part in table_parts(made)
        for number, sub in enumerate(part.subs, 1)
    ]  # fmt: skip


def _attributes(part: Part) -> dict[str, object]:
    return {
        "TABLESPACE_NAME": part.tablespace,
        "PCT_FREE": part.pct_free,
        "LOGGING": "NONE" if part.subs else part.logging,
        "COMPRESSION": "ENABLED" if part.compress_for else "DISABLED",
        "COMPRESS_FOR": part.compress_for,
    }


def _index(made: Made) -> list[dict[str, object]]:
    shape: Shape = made.shape
    return [
        {"PCT_FREE": None if shape.locality else made.pct_free,
         "OWNER": made.name[0], "INDEX_NAME": made.name[1], "INDEX_TYPE": shape.type, "TABLE_OWNER": made.table[0],
         "TABLE_NAME": made.table[1], "TABLE_TYPE": "TABLE",
         "UNIQUENESS": "UNIQUE" if made.unique else "NONUNIQUE",
         "COMPRESSION": made.compression, "PREFIX_LENGTH": shape.prefix,
         "TABLESPACE_NAME": None if shape.locality else made.tablespace,
         "LOGGING": None if shape.locality else made.logging, "STATUS": "N/A" if shape.locality else made.status,
         "DEGREE": made.degree.ljust(4), "INSTANCES": made.instances.ljust(4),
         "PARTITIONED": "YES" if shape.locality else "NO", "TEMPORARY": shape.temporary, "SECONDARY": "N",
         "DROPPED": "YES" if made.dropped else "NO", "VISIBILITY": made.visibility,
         "JOIN_INDEX": "NO"}
    ]  # fmt: skip


def _expressions(made: Made) -> list[dict[str, object]]:
    return [
        {"INDEX_OWNER": made.name[0], "INDEX_NAME": made.name[1], "TABLE_OWNER": made.table[0],
         "TABLE_NAME": made.table[1], "COLUMN_EXPRESSION": key.expression, "COLUMN_POSITION": number}
        for number, key in enumerate(made.shape.keys, 1)
        if key.expression is not None
    ]  # fmt: skip


def _part_index(made: Made) -> list[dict[str, object]]:
    shape: Shape = made.shape
    if shape.locality is None:
        return []
    return [
        {"OWNER": made.name[0], "INDEX_NAME": made.name[1], "TABLE_NAME": made.table[1],
         "PARTITIONING_TYPE": shape.method, "SUBPARTITIONING_TYPE": "HASH" if shape.composite else "NONE",
         "PARTITION_COUNT": len(shape.parts), "PARTITIONING_KEY_COUNT": 1, "LOCALITY": shape.locality}
    ]  # fmt: skip


def _partitions(made: Made) -> list[dict[str, object]]:
    return [
        {"INDEX_OWNER": made.name[0], "INDEX_NAME": made.name[1], "COMPOSITE": "YES" if part.subs else "NO",
         "PARTITION_NAME": part.name, "HIGH_VALUE": part.high_value, "PARTITION_POSITION": number,
         "STATUS": "N/A" if part.subs else part.status, "TABLESPACE_NAME": "USERS", "LOGGING": part.logging,
         "COMPRESSION": made.compression, "LEAF_BLOCKS": part.bytes // _BLOCK}
        for number, part in enumerate(made.shape.parts, 1)
    ]  # fmt: skip


def _subpartitions(made: Made) -> list[dict[str, object]]:
    return [
        {"INDEX_OWNER": made.name[0], "INDEX_NAME": made.name[1], "PARTITION_NAME": part.name,
         "SUBPARTITION_NAME": sub.name, "SUBPARTITION_POSITION": number, "STATUS": sub.status,
         "TABLESPACE_NAME": "USERS", "LOGGING": sub.logging, "LEAF_BLOCKS": sub.bytes // _BLOCK}
        for part in made.shape.parts
        for number, sub in enumerate(part.subs, 1)
    ]  # fmt: skip


def ind_columns(state: State) -> list[dict[str, object]]:
    """Return the rows of ALL_IND_COLUMNS."""
    return [
        {"INDEX_OWNER": made.name[0], "INDEX_NAME": made.name[1], "TABLE_OWNER": made.table[0],
         "TABLE_NAME": made.table[1], "COLUMN_NAME": key.column, "COLUMN_POSITION": number,
         "DESCEND": key.descend}
        for made in state.indexes()
        for number, key in enumerate(made.shape.keys, 1)
    ]  # fmt: skip


def segments(made: Made) -> list[tuple[str | None, str, int]]:
    """Return name, type and bytes of the segments of a table or an index."""
    if made.kind != "INDEX" or made.shape.locality is None:
        return [(None, made.kind, made.bytes)]
    whole = [("INDEX SUBPARTITION", sub) for part in made.shape.parts for sub in part.subs]
    whole += [("INDEX PARTITION", part) for part in made.shape.parts if not part.subs]
    return [(part.name, kind, part.bytes) for kind, part in whole]


_TOLD = {
    "ALL_INDEXES": _index,
    "ALL_IND_EXPRESSIONS": _expressions,
    "ALL_PART_INDEXES": _part_index,
    "ALL_IND_PARTITIONS": _partitions,
    "ALL_IND_SUBPARTITIONS": _subpartitions,
}
_OF_TABLES = {
    "ALL_PART_TABLES": _part_table,
    "ALL_PART_KEY_COLUMNS": _part_keys,
    "ALL_TAB_PARTITIONS": _tab_partitions,
    "ALL_TAB_SUBPARTITIONS": _tab_subpartitions,
}
