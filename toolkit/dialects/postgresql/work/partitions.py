"""DROP or DETACH of old partitions: each a table whose rows all lie before the day from which rows are kept.

Each statement locks the partitioned table against everybody while it runs, which takes moments: files are removed,
no rows. Right before it the bounds of the partition are compared with those that were read, so that a table that
took its name meanwhile stays.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from toolkit.dialects import reclaimed
from toolkit.dialects.aging import Aged, Aging, parse_keep
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Kept
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.postgresql import support
from toolkit.dialects.postgresql.objects import name_binds
from toolkit.dialects.postgresql.work.base import InSession, change
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, Mode, Role

PARTITIONS = "aging_partitions"
_TIMES = ("date", "timestamp without time zone", "timestamp with time zone")
_GONE = frozenset({"42P01"})
"""undefined_table: it was dropped, or it is a partition of the table no more (commands/tablecmds.c)."""


class DropPartitions(InSession):
    """DROP TABLE, or ALTER TABLE ... DETACH PARTITION."""

    table_files = (PARTITIONS,)
    sizes = ()
    serial = "PostgreSQL drops a partition in one process, in moments; omit --degree"

    def judge(self, work: Work, facts: Facts) -> Support | None:
        table, row = work.source or work.object.name, facts.first(PARTITIONS)
        if work.mode is Mode.MEASUREMENT:
            return support.refused(
                "partitions are dropped once: there is nothing left to measure", "omit --repeat and give one level"
            )
        if facts.assumed and not row:
            return None
        if (why := facts.refused.get(PARTITIONS)) is not None:
            return support.refused(f"the partitions of `{table}` cannot be read: {why}")
        if facts.value("target", "partitioned") != "yes" or not row:
            return support.refused(f"`{table}` is not partitioned", "delete rows in chunks: dbatk purge")
        if facts.value("target", "owned") == "no":
            return support.refused(f"this user does not own `{table}`", "connect as its owner")
        return self._judge_key(table, row) or self._judge_references(work, table, row)

    @staticmethod
    def _judge_key(table: QualifiedName, row: Row) -> Support | None:
        ranges = row.get("strategy") == "r" and row.get("key_count") == 1
        if ranges and row.get("key_type") in _TIMES:
            return None
        return support.refused(
            f"`{table}` is not partitioned by ranges of one date or timestamp, so that the age of its partitions "
            "is not known"
        )

    @staticmethod
    def _judge_references(work: Work, table: QualifiedName, row: Row) -> Support | None:
        if row.get("referred_by") is None or work.option("detach"):
            return None
        return support.refused(
            f"PostgreSQL drops no partition of `{table}`: the foreign key {row['referred_by']} refers to it",
            "detach them (--detach), which checks that no row of them is referred to, and drop them afterwards",
        )

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        return tuple(IndexPart(part.name, "partition") for part in _aged(work, facts).old)

    def before_and_after(self, works: Sequence[Work], facts: Facts) -> Call | None:
        return Call("reclaimed", file=True, binds={"objects": reclaimed.names_of(works[:1])})

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return reclaimed.tell(kept)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Spell the look at the bounds and the drop; where nothing is old, look once more and change nothing."""
        table = work.object.name
        row = next((row for row in facts.rows(PARTITIONS) if work.part and _name(row) == work.part.name), None)
        if row is None:
            return (Call(PARTITIONS, session=Role.WORKER, file=True, binds=name_binds(table)),)
        as_read: dict[str, ContextValue] = {
            **name_binds(table),
            "part_schema": row.get("part_schema"),
            "part_name": row.get("part_name"),
            "bound": row.get("bound"),
        }
        part = QualifiedName(str(row["part_name"]), str(row["part_schema"]))
        values: dict[str, ContextValue] = {"table": table, "part": part, "detach": bool(work.option("detach"))}
        drop = change("partition_drop", values, work)
        return (
            Call("partition_as_read", as_read, session=Role.WORKER, effect=Effect.READS, object=work.object),
            replace(drop, tolerates=_GONE),
        )

    def verification(self, works: Sequence[Work], kept: Kept) -> Call | None:
        """Ask which of them are still there: the code of a partition that is gone may be that of a trigger."""
        names = [None if work.part is None else work.part.name for work in works]
        binds = {**name_binds(works[0].object.name), "parts": json.dumps(names)}
        return Call("partitions_left", file=True, binds=binds)

    def undone(self, rows: tuple[Row, ...], warnings: tuple[str, ...]) -> str | None:
        return f"partition `{rows[0]['part_name']}` is still there" if rows else None

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(self._remarks(work, facts))

    @staticmethod
    def _remarks(work: Work, facts: Facts) -> Iterator[str]:
        aged, detach = _aged(work, facts), bool(work.option("detach"))
        yield from aged.sentences("detached" if detach else "dropped")
        if not aged.old:
            return
        yield (
            f"locks: ACCESS EXCLUSIVE on `{work.object.name}` and the partition for moments, one partition after "
            "the other: nobody reads or writes the table meanwhile, and others wait"
        )
        if detach:
            yield "a detached partition is a table of its own, with its rows; ATTACH PARTITION undoes it"
        else:
            yield "there is no undo: rows of a dropped partition come back from a backup alone"


def _aged(work: Work, facts: Facts) -> Aged:
    rows = [row for row in facts.rows(PARTITIONS) if row.get("part_name") is not None]
    table = str(work.source or work.object.name)
    if not rows:
        return Aged(table, (), datetime.min)
    now = datetime.fromisoformat(str(rows[0]["now"]))
    return Aged(table, tuple(map(_aging, rows)), parse_keep(str(work.option("keep_rows"))).before(now))


def _aging(row: Row) -> Aging:
    size, ends = row.get("byte_count"), row.get("ends_at")
    stays = "its DETACH was not finished (ALTER TABLE ... DETACH PARTITION ... FINALIZE finishes it)"
    return Aging(
        _name(row),
        None if ends is None else datetime.fromisoformat(str(ends)),
        float(size) if isinstance(size, int | float) else None,
        stays if row.get("detach_pending") == "yes" else "",
    )


def _name(row: Row) -> str:
    """Return how a partition is called: by its schema too where that is not its table's."""
    own = row.get("part_schema") == row.get("schema_name")
    return str(row["part_name"]) if own else str(QualifiedName(str(row["part_name"]), str(row["part_schema"])))
