"""ALTER TABLE MOVE of a table, or of the partitions of one; indexes are usable again when it ends.

A partition is moved with UPDATE INDEXES. Of a table without partitions ONLINE keeps the indexes, or UPDATE
INDEXES (both 12.2); otherwise the move makes them unusable, and each is rebuilt right after it, on the clock.
The degree of what is altered is put back as it was, and the logging of indexes.
Sources: SQL Language Reference, ALTER TABLE, move_table_clause and move_table_partition; whether MOVE PARALLEL
leaves its degree with the table is not said there, so it is put back in any case.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolkit.dialects.indexes import IndexDefinition, IndexPart
from toolkit.dialects.oracle import space, spelling
from toolkit.dialects.oracle.catalog import fact_about, same_schema
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.options import option_is_off
from toolkit.dialects.oracle.releases import Feature, edition_of, has
from toolkit.dialects.oracle.session import lock_wait_seconds
from toolkit.dialects.oracle.work import index_rebuild, loads
from toolkit.dialects.oracle.work.base import (
    NOT_GRANTED,
    former_degree,
    restored,
    restoring,
    segment_bytes,
    table_attribute,
    tablespace,
)
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef, Takes, Until
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, ObjectKind, Role

MOVABLE, LOBS = "movable", "lob_columns"
PARTITIONS, SUBPARTITIONS = "partitions", "subpartitions"


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: every move reads all rows and writes them."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the move, and the rebuild of each index that it makes unusable."""
    part = work.part
    level = spelling.text_option(work, "compression")
    values: dict[str, ContextValue] = {
        "table": work.object.name,
        "level": part.level.upper() if part else None,
        "part": part.name if part else None,
        "online": bool(work.option("online")),
        "pctfree": None if _is_sub(work) else spelling.integer_option(work, "pctfree"),
        "tablespace": tablespace(work),
        **_lobs_by_kind(work, facts),
        "lob_tablespace": _lob_tablespace(work),
        "compression": spelling.table_compression(level, facts.release) if level else None,
        "parallel": spelling.parallel_clause(work),
        "update_indexes": part is not None or bool(work.option("update_indexes")),
    }
    move = Call("table_move", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object)
    if not work.object.scratch:
        degree = spelling.parallel_clause(work)
        set_by_it = restoring(_former_degree(work, facts), degree)
        move = replace(move, undo=_degree_back(work, facts), overwrites=(set_by_it,) if set_by_it else ())
    rebuilds = (call for each in _rebuilt(work) for call in index_rebuild.timed(each, facts))
    return (move, *rebuilds)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Put the degree of the table back, and degree and logging of each index that was rebuilt."""
    return (
        *_degree_back(work, facts),
        *(call for each in _rebuilt(work) for call in index_rebuild.settle(each, facts)),
    )


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the table."""
    return (segment_bytes(work.object, facts),)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what the new segment takes beside the old one, and each index that is rebuilt after it."""
    return tuple(_takes(work, facts))


def _takes(work: Work, facts: Facts) -> Iterator[Takes]:
    name = work.source or work.object.name
    row = _part_row(work, facts) if work.part else {}
    size = row.get("byte_count") if work.part else fact_about(facts, name, "byte_count")
    known = float(size) if isinstance(size, int | float) else None
    why = "" if known is not None else f"`{name}` has no statistics and is not the user's own"
    asked = tablespace(work)
    own = row.get("tablespace_name") if work.part else fact_about(facts, name, "tablespace_name")
    place = asked or own
    until = Until.STEP if asked is None else Until.OBJECT
    yield from space.takes(
        known, None if place is None else str(place), work.object.name.schema, facts, until=until, unknown=why
    )
    if (place := _lob_tablespace(work)) is not None:
        sizes = [row.get("byte_count") for row in _lob_rows(work, facts)]
        known_all = work.part is None and all(isinstance(size, int | float) for size in sizes)
        lobs = sum(float(size or 0) for size in sizes) if known_all else None
        why = "" if known_all else f"the LOBs of `{name}` are not the user's own, or not those of one partition"
        yield from space.takes(lobs, place, work.object.name.schema, facts, until=Until.OBJECT, unknown=why)
    for each in _rebuilt(work):
        yield from index_rebuild.takes(each, facts)


# -- LOB columns ------------------------------------------------------------------------------------------------
def _lob_tablespace(work: Work) -> str | None:
    text = spelling.text_option(work, "lob_tablespace")
    return None if text is None else parse_name(text).name


def _lob_rows(work: Work, facts: Facts) -> tuple[Row, ...]:
    """Return the LOB columns that a clause names: those that are columns of their own."""
    return facts.rows(LOBS)


def _lobs_by_kind(work: Work, facts: Facts) -> dict[str, ContextValue]:
    """Return their names by how they are stored, which a MOVE is told: else DB_SECUREFILE would decide it anew."""
    kinds = {"secure_lobs": "YES", "basic_lobs": "NO"}
    rows = _lob_rows(work, facts)
    return {
        name: tuple(str(row["lob_column"]) for row in rows if row.get("securefile") == kind)
        for name, kind in kinds.items()
    }


def _no_lobs(work: Work, facts: Facts) -> Support | None:
    if _lob_tablespace(work) is None or _lob_rows(work, facts):
        return None
    name = work.source or work.object.name
    if (why := facts.refused.get(LOBS)) is not None or facts.assumed:
        return no(f"which LOB columns `{name}` has is not known: {why or 'the catalogue was not read'}")
    return no(f"`{name}` has no LOB columns of its own: omit `--lob-tablespace`")


# -- the indexes ------------------------------------------------------------------------------------------------
def _rebuilt(work: Work) -> Iterator[Work]:
    """Return the rebuilds that a move makes necessary; one for each part of a partitioned index."""
    if work.part is not None or work.option("online") or work.option("update_indexes"):
        return
    for index in work.indexes:
        ref = ObjectRef(ObjectKind.INDEX, index.name, scratch=work.object.scratch, table=work.object.name)
        parts: tuple[IndexPart | None, ...] = index.parts or (None,)
        for part in parts:
            yield replace(
                work,
                operation="index-rebuild",
                object=ref,
                options={name: value for name, value in work.options.items() if name == "restore"},
                index=_usable(index),
                part=part,
                indexes=(),
            )


def _usable(index: IndexDefinition) -> IndexDefinition:
    return replace(index, valid=True)


def parts_of(work: Work, facts: Facts) -> tuple[IndexPart, ...]:
    """Return the partitions of a table, or the subpartitions of a composite one; those that were named."""
    rows = facts.rows(SUBPARTITIONS) or facts.rows(PARTITIONS)
    level = "subpartition" if facts.rows(SUBPARTITIONS) else "partition"
    if not _is_partitioned(work, facts):
        return ()
    asked = spelling.text_option(work, "partition")
    parts = tuple(
        IndexPart(str(row["part_name"]), level, float(row.get("byte_count") or 0), of=_of(row)) for row in rows
    )
    if asked is None:
        return parts
    name = asked.strip('"') if asked.startswith('"') else asked.upper()
    return tuple(part for part in parts if name in (part.name, part.of))


def _of(row: Row) -> str | None:
    name = row.get("partition_name")
    return None if name is None else str(name)


# -- what stands in the way -------------------------------------------------------------------------------------
def judge(work: Work, facts: Facts) -> Support | None:
    """Judge the kind of table, then what was asked of the move."""
    why = hindrance(work, facts)
    if why is not None:
        return no(why)
    return (
        _part(work, facts)
        or _no_lobs(work, facts)
        or _online(work, facts)
        or _update(work, facts)
        or loads.judge_compression(work, facts)
    )


def hindrance(work: Work, facts: Facts) -> str | None:
    """Say why a table is never moved here, whatever the options."""
    name = work.source or work.object.name
    found = next((words for words in _kinds(name, facts)), None)
    return None if found is None else f"`{name}` is not moved: {found}"


def by_parts(work: Work, facts: Facts) -> str | None:
    """Say that the partitions of a table are not moved with a whole schema."""
    if not _is_partitioned(work, facts):
        return None
    return f"`{work.object.name}` is partitioned: move its partitions with --table"


def reclaimed(table: QualifiedName, facts: Facts) -> Call:
    """Ask for the bytes of a table and its indexes; refused without DBA_SEGMENTS in another user's schema."""
    owned = same_schema(facts, table.schema)
    schema = table.schema or str(facts.value("server", "current_schema") or "")
    binds = {"schema": schema, "name": table.name}
    return Call("reclaimed_own" if owned else "reclaimed", file=True, binds=binds, tolerates=NOT_GRANTED)


def unusable(table: QualifiedName) -> Call:
    """Ask how many indexes of a table are unusable."""
    return Call("unusable", file=True, binds={"schema": table.schema, "name": table.name})


def _kinds(name: QualifiedName, facts: Facts) -> Iterator[str]:
    def said(column: str) -> str:
        return str(fact_about(facts, name, column) or "").strip().upper()

    def counted(column: str) -> bool:
        return said(column) not in ("", "0", "0.0")

    if fact_about(facts, name, "kind") == "view":
        yield "it is a view"
    if said("iot_type"):
        yield "it is index-organized, and has a MOVE of its own (ALTER TABLE ... MOVE ONLINE by hand)"
    if said("nested") == "YES":
        yield "it is the storage of a nested table, which moves with its own clause"
    if said("cluster_name"):
        yield "it is in a cluster, whose segment it has not alone"
    if said("temporary") == "Y":
        yield "it is temporary: its rows are private to a session"
    if counted("external_count"):
        yield "it is external: its rows are in files"
    if counted("long_count"):
        yield "it has a LONG column, which no MOVE takes; convert it to a LOB, or use Data Pump"
    if said("partitioning_type") == "SYSTEM":
        yield "it is partitioned by system, which a domain index may rely on"
    if counted("domain_index_count"):
        yield "it has a domain index, whose own indextype decides how it is rebuilt: drop it and create it again"


def _part(work: Work, facts: Facts) -> Support | None:
    if not _is_partitioned(work, facts):
        named = work.option("partition") is not None and not facts.assumed
        what = work.source or work.object.name
        return no(f"`{what}` has no partitions: omit `--partition`") if named else _lobs(work, facts)
    why = _no_part(work, facts)
    return None if why is None else no(why)


def _no_part(work: Work, facts: Facts) -> str | None:
    if option_is_off(facts, "Partitioning"):
        return "V$OPTION says that Partitioning is not part of this installation"
    if work.object.scratch:
        return "a partitioned table is not measured on a copy: move one of its partitions as a job (--partition)"
    if work.part is None:
        return "a partitioned table is moved partition by partition, and its partitions are not known"
    if _is_sub(work) and work.option("pctfree") is not None:
        return "a subpartition takes a tablespace and a compression when it is moved, no `pctfree`"
    return None


def _lobs(work: Work, facts: Facts) -> Support | None:
    """Refuse a degree that a table with LOBs cannot have (VLDBG, rules for parallel DDL)."""
    name = work.source or work.object.name
    lobs, objects = (int(fact_about(facts, name, each) or 0) for each in ("lob_count", "object_count"))
    if spelling.is_serial(work) or work.object.scratch:
        return None
    if lobs and not has(facts.release, Feature.PARALLEL_LOB_DDL):
        return no(f"`{name}` has LOB columns: before release 21 it is moved serially; use degree 1")
    if objects:
        return no(f"`{name}` has columns of object types: it is moved serially; use degree 1")
    return None


def _online(work: Work, facts: Facts) -> Support | None:
    if not work.option("online"):
        return None
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Online Index Build"):
        return no(f"ONLINE needs Enterprise Edition; this is {edition.words}")
    feature = Feature.ONLINE_PARTITION_MOVE if work.part is not None else Feature.ONLINE_TABLE_MOVE
    if not has(facts.release, feature):
        what = (
            "a partition is moved ONLINE from 12.1"
            if work.part is not None
            else "a table is moved ONLINE from 12.2"
        )
        return no(f"{what}; before, changes of its rows wait")
    if int(fact_about(facts, work.source or work.object.name, "join_index_count") or 0):
        return no("a table with a bitmap join index is not moved ONLINE")
    return None


def _update(work: Work, facts: Facts) -> Support | None:
    if not work.option("update_indexes") or work.part is not None:
        return None
    if not has(facts.release, Feature.ONLINE_TABLE_MOVE):
        return no(
            "MOVE of a whole table takes UPDATE INDEXES from 12.2; omit it, and the indexes are rebuilt after it"
        )
    return None


def _is_partitioned(work: Work, facts: Facts) -> bool:
    return str(fact_about(facts, work.source or work.object.name, "partitioned") or "NO").strip().upper() == "YES"


def _is_sub(work: Work) -> bool:
    return work.part is not None and work.part.level == "subpartition"


def _part_row(work: Work, facts: Facts) -> Row:
    rows = (*facts.rows(SUBPARTITIONS), *facts.rows(PARTITIONS))
    return next((row for row in rows if work.part and row.get("part_name") == work.part.name), {})


def _former_degree(work: Work, facts: Facts) -> str:
    return restored(former_degree(fact_about(facts, work.object.name, "degree")), work)


def _degree_back(work: Work, facts: Facts) -> tuple[Call, ...]:
    return (table_attribute(work.object, _former_degree(work, facts), instead_of=spelling.parallel_clause(work)),)


# -- what to know before ----------------------------------------------------------------------------------------
def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what is locked, what is not moved, and what mends a move that was cut off."""
    name = work.source or work.object.name
    lobs = int(fact_about(facts, name, "lob_count") or 0)
    moved = len(_lob_rows(work, facts)) if _lob_tablespace(work) else 0
    if lobs and not moved:
        yield (
            f"`{name}` has LOB columns: their segments stay where they are and as large as they are "
            "(--lob-tablespace moves them, too)"
        )
    elif lobs > moved:
        yield f"{moved} of {lobs} LOBs of `{name}` are moved; those of object types, XML and hidden columns stay"
    if work.object.scratch:
        return
    what = f"{work.part} of `{name}`" if work.part is not None else f"`{name}`"
    wait = lock_wait_seconds(work.options)
    if work.option("online"):
        yield (
            f"locks: changes of {what} go on; the move waits for open transactions when it begins and before it "
            f"ends, and parallel DML and direct loads wait for it; dbatk cancels it after {wait} s of the first "
            "wait (--lock-wait; an explicit one also at the end, where the move is lost)"
        )
        return
    yield (
        f"locks: nobody can change rows of {what} until it is moved; it waits up to {wait} s for open "
        "transactions (--lock-wait), and changes that come later queue behind it; queries go on, and may fail "
        "where they need an index that is not rebuilt yet (ORA-01502)"
    )
    if any(True for _ in _rebuilt(work)):
        yield (
            "the move makes its indexes unusable, and each is rebuilt right after it: if this is cut off between, "
            f"`dbatk index rebuild --table {name} --unusable-only` mends it, or resume the run; new statistics of "
            "them are gathered by that (unless they are locked), so plans may change"
        )
    yield "row addresses change: what stores ROWIDs of it must be renewed; there is no undo"
