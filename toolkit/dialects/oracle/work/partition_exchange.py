"""ALTER TABLE EXCHANGE PARTITION: a partition and a table change segments, and no row is moved.

Oracle compares the types of the columns and not their names: two columns of one type in another order change their
values in silence. They are compared here, by name and order. An exchange done twice is none: what tells it is the
number of the segment (DATA_OBJECT_ID), which goes with the rows.
Sources: SQL Language Reference, ALTER TABLE, exchange_partition_subpart; VLDB and Partitioning Guide, "About
Exchanging Partitions" (an enabled primary key or unique constraint is validated whatever is asked); Database
Error Messages: ORA-02266, ORA-14095 to 14099. That DATA_OBJECT_IDs change places is not in these books: notes on
object_id and data_object_id by Yong Huang.
"""

# ruff: noqa: ARG002 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle.catalog import fact_about, indexes_of
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.session import lock_wait_seconds
from toolkit.dialects.oracle.work import partition_drop
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.oracle.work.partition_change import PartitionChange, change, check, part_named
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import SupportState

COLUMNS, SEGMENTS, OTHER = "stored_columns", "segment_identities", ":other"
FILES = (COLUMNS, SEGMENTS, "subpartitions")


class SwapSegments(PartitionChange):
    """ALTER TABLE EXCHANGE PARTITION."""

    verb = "exchanged"
    ways = ("RANGE", "LIST", "HASH")

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        name = None if work.option("partition") is None else _named(work)
        subs = (IndexPart(str(row["part_name"]), "subpartition", of=str(row["partition_name"]))
                for row in facts.rows("subpartitions"))  # fmt: skip
        return part_named(work, facts) or tuple(part for part in subs if name in (None, part.name))

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Nothing: segments change places."""
        return ()

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        name, number = _named(work), _segment(facts, _named(work))
        look = (
            () if number is None else (check("exchange_as_read", {"part": name, "data_object_id": number}, work),)
        )
        statement = change(
            "partition_exchange",
            {
                "level": work.part.level.upper() if work.part else "PARTITION",
                "part": name,
                "other": other_of(work, facts),
                "including": _including(work),
                "validation": work.option("validation") != "without",
            },
            work,
        )
        return (*look, statement)

    # -- what stands in the way -----------------------------------------------------------------------------------
    def judge_partitions(self, work: Work, facts: Facts) -> Support | None:
        other = other_of(work, facts)
        why = next(_other_kinds(other, work, facts), None)
        if why is not None:
            return no(f"`{other}` is not exchanged with a partition: {why}")
        if facts.rows("subpartitions") and work.part is not None and work.part.level == "partition":
            return no(f"`{_named(work)}` has subpartitions (ORA-14291): exchange these with tables, one by one")
        return _referred(work, facts) or _columns(work, other, facts) or _indexes(work, other, facts)

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        """Tell whether the segments have changed places since."""
        name = _named(work)
        before, after = ((_segment(facts, name), _segment(facts, None, OTHER)) for facts in (begun, now))
        return None not in before and after == (before[1], before[0])

    # -- what to know before --------------------------------------------------------------------------------------
    def remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        other, name, wait = other_of(work, facts), _named(work), lock_wait_seconds(work.options)
        yield (
            f"`{name}` of `{work.object.name}` gets the rows of `{other}`, and `{other}` those of `{name}`; "
            "statistics change places, too"
        )
        yield (
            f"locks: `{other}` and the partition alone while it lasts; it waits up to {wait} s for open "
            "transactions of either (--lock-wait); cursors on both tables are parsed again"
        )
        if work.option("validation") == "without":
            yield (
                "WITHOUT VALIDATION: rows that do not belong into the partition are not found, and queries that "
                "read the right partition alone miss them; where a primary key or unique constraint is enabled, "
                "Oracle validates all the same"
            )
        else:
            yield "WITH VALIDATION: all rows of the table are read, to see that they belong into the partition"
        if not _including(work):
            yield (
                "EXCLUDING INDEXES: local indexes of the partition and all indexes of the table are unusable "
                "afterwards; `dbatk index rebuild --unusable-only` of both tables mends that"
            )
        yield "entries of global indexes are changed within the statement, row by row"
        yield "the same exchange once more takes it back, as long as neither was changed"


def other_of(work: Work, facts: Facts) -> QualifiedName:
    """Return the table that the partition is exchanged with, as the catalogue spells it."""
    row = facts.first("other")
    if row:
        return QualifiedName(str(row["table_name"]), str(row["schema_name"]))
    name = parse_name(str(work.option("with_table")))
    return QualifiedName(name.name, name.schema or work.object.name.schema)


def _named(work: Work) -> str:
    return parse_name(str(work.option("partition"))).name


def _including(work: Work) -> bool:
    return work.option("exchange_indexes") != "excluding"


def _segment(facts: Facts, part: str | None, of: str = "") -> int | None:
    rows = facts.rows(f"{SEGMENTS}{of}")
    found = next((row.get("data_object_id") for row in rows if row.get("part_name") == part), None)
    return int(found) if isinstance(found, int | float) else None


def _other_kinds(other: QualifiedName, work: Work, facts: Facts) -> Iterator[str]:
    def said(column: str) -> str:
        return str(fact_about(facts, other, column) or "").strip().upper()

    if other == work.object.name:
        yield "it is the partitioned table itself"
    if said("kind") != "TABLE":
        yield f"it is a {said('kind').lower() or 'view'}"
    if said("partitioned") == "YES":
        yield "it is partitioned itself (ORA-14095)"
    if said("temporary") == "Y" or said("cluster_name") or said("iot_type"):
        yield "it is temporary, in a cluster or index-organized"
    if said("external_count") not in ("", "0", "0.0"):
        yield "it is external"


def _referred(work: Work, facts: Facts) -> Support | None:
    for table, key in ((work.object.name, ""), (other_of(work, facts), OTHER)):
        row = facts.first(f"{partition_drop.REFERRING}{key}")
        if row:
            child = f"`{row['referring_schema']}.{row['referring_table']}`"
            return Support(
                SupportState.UNSUPPORTED,
                f"the foreign key {row['constraint_name']} of {child} refers to `{table}` (ORA-02266)",
                f"disable {row['constraint_name']} before, and enable it afterwards",
            )
    return None


def _columns(work: Work, other: QualifiedName, facts: Facts) -> Support | None:
    """Compare columns by place: name and type; Oracle looks at the types alone."""
    ours, theirs = facts.rows(COLUMNS), facts.rows(f"{COLUMNS}{OTHER}")
    if not ours or not theirs:
        refused = (
            facts.refused.get(COLUMNS) or facts.refused.get(f"{COLUMNS}{OTHER}") or "nothing is shown of them"
        )
        return no(f"the columns of `{work.object.name}` and `{other}` cannot be compared: {refused}")
    if len(ours) != len(theirs):
        hidden = any(row.get("hidden") == "YES" for row in (*ours, *theirs))
        more = ", hidden and unused ones counted" if hidden else ""
        return no(
            f"`{work.object.name}` has {len(ours)} columns and `{other}` has {len(theirs)}{more} (ORA-14096)"
        )
    for place, (one, two) in enumerate(zip(ours, theirs, strict=True), 1):
        if _spelled(one) != _spelled(two):
            return no(
                f"column {place} is {_spelled(one)} in `{work.object.name}` and {_spelled(two)} in `{other}`: "
                "Oracle compares types alone, and would put values into the wrong columns"
            )
    return None


def _spelled(row: Row) -> str:
    hidden = row.get("hidden") == "YES"
    name = "a hidden column" if hidden else f"`{row['stored_column']}`"
    numbers: tuple[Scalar, ...] = (row.get("data_precision"), row.get("data_scale"))
    size = (
        row.get("data_length")
        if row.get("data_type") in ("VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR", "RAW")
        else None
    )
    inside = [f"{number:g}" for number in (size, *numbers) if isinstance(number, int | float)]
    null = " NOT NULL" if row.get("nullable") == "N" else ""
    return f"{name} {row.get('data_type')}{'(' + ','.join(inside) + ')' if inside else ''}{null}"


def _indexes(work: Work, other: QualifiedName, facts: Facts) -> Support | None:
    """Compare the keys of local indexes with those of the table, where they are exchanged, too (ORA-14098)."""
    if not _including(work):
        return None
    local = sorted(_key(row) for row in indexes_of(facts, work.object.name) if row.get("locality") == "LOCAL")
    theirs = sorted(_key(row) for row in indexes_of(facts, other))
    if local == theirs:
        return None
    lacks = [key for key in local if key not in theirs] or [key for key in theirs if key not in local]
    where = other if lacks[0] in local else work.object.name
    return Support(
        SupportState.UNSUPPORTED,
        f"`{where}` has no {'local ' if where != other else ''}index {lacks[0]}, as the other table has, so that "
        "indexes cannot be exchanged (ORA-14098)",
        "create it, or give --exchange-indexes excluding and rebuild indexes afterwards",
    )


def _key(row: Row) -> str:
    unique = "UNIQUE " if row.get("is_unique") == "yes" else ""
    return f"{unique}{row.get('definition') or row.get('index_type')}"


EXCHANGE = SwapSegments()
