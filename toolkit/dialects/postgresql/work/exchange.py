"""A table in the place of a partition: DETACH and ATTACH in one transaction, by a block of the server.

The block spells the bounds itself, and compares them with those that were read.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.postgresql import support
from toolkit.dialects.postgresql.names import parse_name
from toolkit.dialects.postgresql.work.base import InSession, change
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Mode

TABLES, OTHER = "exchangeable", "exchangeable:other"


class ExchangePartition(InSession):
    """ALTER TABLE DETACH PARTITION and ATTACH PARTITION."""

    table_files = (TABLES,)
    sizes = ()
    serial = "PostgreSQL attaches a table in one process; omit --degree"

    def judge(self, work: Work, facts: Facts) -> Support | None:
        if work.mode is Mode.MEASUREMENT:
            return support.refused(
                "a partition is exchanged once, which cannot be measured", "omit --repeat and give one level"
            )
        if facts.assumed and not facts.rows(TABLES):
            return None
        why = next(self._hindrances(work, facts), None)
        return None if why is None else support.refused(why)

    @staticmethod
    def _hindrances(work: Work, facts: Facts) -> Iterator[str]:
        table, other = work.object.name, _other(facts)
        for key, name in ((TABLES, table), (OTHER, other)):
            if (refused := facts.refused.get(key)) is not None:
                yield f"what `{name}` is cannot be read: {refused}"
        row, its = facts.first(TABLES), facts.first(OTHER)
        if row.get("relation_kind") != "p":
            yield f"`{table}` is not partitioned"
        part = _part_row(work, facts)
        if not part:
            yield f"`{work.option('partition')}` is no partition of `{table}`"
        if row.get("owned") == "no" or its.get("owned") == "no":
            yield f"this user does not own both `{table}` and `{other}`"
        if its.get("is_partition") == "yes" or its.get("inherits") == "yes":
            yield f"`{other}` is a partition already, or inherits"
        if its.get("relation_kind") not in ("r", "p"):
            yield f"`{other}` is no ordinary table"
        if row.get("all_columns") != its.get("all_columns"):
            yield f"the columns of `{table}` are {row.get('all_columns')}, of `{other}` {its.get('all_columns')}"
        if row.get("referred_by") is not None:
            yield (
                f"the foreign key {row['referred_by']} refers to `{table}`: rows of the partition may not leave "
                "it unless none is referred to; detach it by hand"
            )

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        parts = (
            IndexPart(_name(row), "partition") for row in facts.rows(TABLES) if row.get("part_name") is not None
        )
        asked = work.option("partition")
        return tuple(part for part in parts if asked is None or part.name in _spellings(str(asked)))

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        table, other, row = work.object.name, _other(facts), _part_row(work, facts)
        name = parse_name(str(work.option("partition")))
        if not other.name:
            other = parse_name(str(work.option("with_table")))
        values: dict[str, ContextValue] = {
            "schema": table.schema,
            "name": table.name,
            "part_schema": row.get("part_schema") or name.schema or table.schema,
            "part_name": row.get("part_name") or name.name,
            "other_schema": other.schema or table.schema,
            "other_name": other.name,
            "bound": row.get("bound"),
        }
        return (change("partition_exchange", values, work),)

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        """Tell whether the table is the partition now, with the bounds of the one that is gone."""
        was, other = _part_row(work, begun), _other(begun)
        gone = not _part_row(work, now) and bool(was)
        names = ((row.get("part_schema"), row.get("part_name"), row.get("bound")) for row in now.rows(TABLES))
        return gone and (other.schema, other.name, was.get("bound")) in names

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        table, other = work.object.name, _other(facts)
        return (
            f"locks: ACCESS EXCLUSIVE on `{table}`, the partition and `{other}` until all rows of `{other}` are "
            "read, to see that they belong into it: nobody reads or writes them meanwhile, and others wait; a "
            "CHECK constraint that says what the bounds say spares that, and so does one of a DEFAULT partition",
            f"indexes of `{table}` that `{other}` lacks are built within the statement, and its foreign keys are "
            "checked for each row",
            "a failure or a kill leaves both as they were; the same with the names exchanged takes it back",
        )


def _other(facts: Facts) -> QualifiedName:
    row = facts.first("other")
    return QualifiedName(str(row.get("table_name") or ""), str(row.get("schema_name") or "") or None)


def _name(row: Row) -> str:
    own = row.get("part_schema") == row.get("schema_name")
    return str(row["part_name"]) if own else str(QualifiedName(str(row["part_name"]), str(row["part_schema"])))


def _spellings(text: str) -> tuple[str, ...]:
    name = parse_name(text)
    return (str(name), name.name)


def _part_row(work: Work, facts: Facts) -> Row:
    asked = _spellings(str(work.option("partition")))
    return next(
        (row for row in facts.rows(TABLES) if row.get("part_name") is not None and _name(row) in asked), {}
    )
