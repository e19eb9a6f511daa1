"""ALTER TABLE DROP PARTITION of old partitions of a table by ranges of time, with UPDATE INDEXES.

Sources: VLDB and Partitioning Guide, "Dropping Table Partitions" (referential constraints: ORA-02266; from 12.1
global indexes are maintained later); Database Error Messages: ORA-14083, the only partition; ORA-14758, the last
one of the range section, which 12.2 drops (enhancement 17571086).
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from toolkit.dialects.aging import Aged, Aging, parse_keep
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.options import option_is_off
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.work.base import segment_bytes
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Row, Support
from toolkit.model.words import Effect, Mode, Role, StepKind, SupportState

PARTITIONS, REFERRING, REFERRING_ELSEWHERE = "aging_partitions", "referring", "elsewhere_referring"
_GONE = frozenset({"ORA-02149"})
"""The partition is not there: it was dropped, by this run or by somebody else."""
_BOUND = re.compile(
    r"(?:TO_DATE\(|TIMESTAMP|DATE) *' *(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*)?'"
    r"(?:, *'SYYYY-MM-DD HH24:MI:SS', *'NLS_CALENDAR=GREGORIAN'\))?"
)
"""HIGH_VALUE of a DATE and of a TIMESTAMP; whatever else is there has no end that is known."""


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: a drop reads no rows."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the look at the bound and the drop; where nothing is old, look once more and change nothing."""
    table = work.object.name
    binds = {"schema": table.schema, "name": table.name}
    row = next(
        (each for each in facts.rows(PARTITIONS) if work.part and each["part_name"] == work.part.name), None
    )
    if row is None:
        return (Call(PARTITIONS, session=Role.WORKER, file=True, binds=binds),)
    part, parallel = row["part_name"], None if spelling.is_serial(work) else spelling.parallel_clause(work)
    as_read = {**binds, "part": part, "high_value": row.get("high_value")}
    return (
        Call("partition_as_read", as_read, StepKind.BLOCK, session=Role.WORKER, object=work.object),
        Call(
            "partition_drop",
            {"table": table, "part": part, "parallel": parallel},
            session=Role.WORKER,
            effect=Effect.CHANGES,
            object=work.object,
            tolerates=_GONE,
        ),
    )


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: a drop leaves the attributes of the table as they are."""
    return ()


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the table."""
    return (segment_bytes(work.object, facts),)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Nothing: it gives space back."""
    return ()


def parts_of(work: Work, facts: Facts) -> tuple[IndexPart, ...]:
    """Return the partitions that go, the oldest first."""
    return tuple(IndexPart(part.name, "partition") for part in _aged(work, facts).old)


def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse what has no age, what foreign keys refer to, and a measurement."""
    table, row = work.source or work.object.name, facts.first(PARTITIONS)
    if work.mode is Mode.MEASUREMENT:
        return no("partitions are dropped once: there is nothing left to measure; omit --repeat, give one level")
    if facts.assumed and not row:
        return None
    if (why := facts.refused.get(PARTITIONS) or facts.refused.get(REFERRING)) is not None:
        return no(f"the partitions of `{table}`, or the foreign keys that refer to it, cannot be read: {why}")
    partitioned = str(fact_about(facts, table, "partitioned") or "NO").strip().upper() == "YES"
    if not partitioned or not row:
        return no(f"`{table}` is not partitioned")
    if option_is_off(facts, "Partitioning"):
        return no("V$OPTION says that Partitioning is not part of this installation")
    return _judge_key(str(table), row) or _judge_references(str(table), facts)


def _judge_key(table: str, row: Row) -> Support | None:
    kind = str(row.get("key_type") or "")
    ranges = str(row.get("partitioning_type") or "").strip() == "RANGE" and row.get("key_count") == 1
    if ranges and (kind == "DATE" or kind.startswith("TIMESTAMP")):
        return None
    return no(
        f"`{table}` is not partitioned by ranges of one DATE or TIMESTAMP, so that the age of its partitions is "
        "not known"
    )


def _judge_references(table: str, facts: Facts) -> Support | None:
    row = facts.first(REFERRING_ELSEWHERE) or facts.first(REFERRING)
    if not row and REFERRING_ELSEWHERE in facts.refused:
        user = facts.value("server", "user_name") or "this_user"
        return Support(
            SupportState.NEEDS_PRIVILEGE,
            f"whether a table in a schema that this user cannot see is partitioned by its reference to `{table}`, "
            "and would lose its rows with it, is not known",
            f"GRANT SELECT ON SYS.DBA_CONSTRAINTS TO {user}; GRANT SELECT ON SYS.DBA_PART_TABLES TO {user}",
        )
    if not row:
        return None
    child = f"`{row['referring_schema']}.{row['referring_table']}`"
    if row.get("partitions") == "yes":
        return Support(
            SupportState.UNSUPPORTED,
            f"{child} is partitioned by its reference to `{table}`: with a partition its rows would go, too",
            "drop the partitions by hand, after a look at the rows of both",
        )
    return Support(
        SupportState.UNSUPPORTED,
        f"the foreign key {row['constraint_name']} of {child} refers to `{table}`, whose partitions with rows "
        "Oracle does not drop meanwhile (ORA-02266)",
        f"delete the rows that refer to old ones, disable {row['constraint_name']}, and enable it afterwards",
    )


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what goes, what stays and why, what is locked, and that nothing brings it back."""
    aged = _aged(work, facts)
    yield from aged.sentences("dropped")
    if not aged.old:
        return
    yield (
        f"locks: each drop waits for open transactions on its partition, and cursors on `{work.object.name}` are "
        "parsed again; rows of other partitions can be changed meanwhile"
    )
    if not has(facts.release, Feature.DEFERRED_INDEX_CLEANUP):
        yield "global indexes are maintained within each drop, row by row, with the redo of a delete"
    else:
        yield (
            "entries of global indexes are removed later, by the server's own job or by ALTER INDEX ... COALESCE "
            "CLEANUP"
        )
    yield "there is no undo: a dropped partition is not in the recycle bin; its rows come back from a backup alone"


def _aged(work: Work, facts: Facts) -> Aged:
    rows, table = facts.rows(PARTITIONS), str(work.source or work.object.name)
    if not rows:
        return Aged(table, (), datetime.min)
    now = datetime.fromisoformat(str(rows[0]["now"]))
    last = _last_of_ranges(rows, facts)
    every = tuple(_aging(row, is_last=row is last) for row in rows)
    return Aged(table, every, parse_keep(str(work.option("keep_rows"))).before(now))


def _last_of_ranges(rows: tuple[Row, ...], facts: Facts) -> Row | None:
    """Return the partition that a table with intervals does not give away before 12.2."""
    if rows[0].get("interval_text") is None or has(facts.release, Feature.RANGE_SECTION_DROP):
        return None
    return next((row for row in reversed(rows) if str(row.get("by_interval")).strip() != "YES"), None)


def instant_of(high_value: str) -> datetime | None:
    """Return the instant of a bound that is a DATE or a TIMESTAMP; None for any other."""
    bound = _BOUND.fullmatch(high_value.strip())
    return None if bound is None else datetime.fromisoformat(f"{bound[1]} {bound[2] or '00:00:00'}")


def _aging(row: Row, *, is_last: bool) -> Aging:
    size = row.get("byte_count")
    part = Aging(
        str(row["part_name"]),
        instant_of(str(row.get("high_value") or "")),
        float(size) if isinstance(size, int | float) else None,
    )
    if is_last:
        why = "before 12.2 Oracle keeps the last partition of the range section of a table with intervals"
        return replace(part, stays=f"{why} (ORA-14758)")
    return part
