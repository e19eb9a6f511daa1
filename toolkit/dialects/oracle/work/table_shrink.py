"""ALTER TABLE SHRINK SPACE of a table, or of the partitions of one, with row movement enabled meanwhile.

Sources: SQL Language Reference, ALTER TABLE, shrink_clause (restrictions: LONG columns, clusters, function-based,
domain and bitmap join indexes, compression other than ADVANCED, masters of ON COMMIT materialized views);
Administrator's Guide, "Reclaiming Unused Space": rows are moved by INSERT and DELETE under row locks, and at the
end changes of the table are blocked for a short time.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle import archiving, spelling
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.options import option_is_off
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.work.base import segment_bytes
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Attribute, Takes
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, Mode, Role

SHRINKABLE, PARTS = "shrinkable", "shrinkable_parts"
_SHRUNK_COMPRESSED = frozenset({"ADVANCED", "OLTP"})
_MOVEMENT = Attribute("row_movement", "ENABLED", "DISABLED")


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Enable row movement where it is not (ORA-10636)."""
    if not _lacks_movement(work, facts):
        return ()
    back = _movement(work, enabled=False, restores=_MOVEMENT)
    return (_movement(work, enabled=True, undo=(back,), before=_MOVEMENT.back, overwrites=(_MOVEMENT,)),)


def _lacks_movement(work: Work, facts: Facts) -> bool:
    return _upper(fact_about(facts, work.object.name, "row_movement")) != "ENABLED"


def _movement(
    work: Work,
    *,
    enabled: bool,
    undo: tuple[Call, ...] = (),
    restores: Attribute | None = None,
    before: str | None = None,
    overwrites: tuple[Attribute, ...] = (),
) -> Call:
    return Call(
        "row_movement",
        {"table": work.object.name, "enabled": enabled},
        effect=Effect.CHANGES,
        object=work.object,
        redo_bytes=archiving.DICTIONARY,
        undo=undo,
        restores=restores,
        before=before,
        overwrites=overwrites,
    )


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the shrink."""
    part = work.part
    values: dict[str, ContextValue] = {
        "table": work.object.name,
        "level": part.level.upper() if part else None,
        "part": part.name if part else None,
        "compact": bool(work.option("compact")),
        "cascade": bool(work.option("cascade")),
    }
    return (Call("table_shrink", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object),)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Disable row movement where it was not enabled."""
    return (_movement(work, enabled=False, restores=_MOVEMENT),) if _lacks_movement(work, facts) else ()


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the table."""
    return (segment_bytes(work.object, facts),)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Nothing beside the segment; redo and undo of the rows that are moved are not known before."""
    return ()


def parts_of(work: Work, facts: Facts) -> tuple[IndexPart, ...]:
    """Return what has a segment of a partitioned table; what was named."""
    if not _is_partitioned(work, facts):
        return ()
    parts = tuple(
        IndexPart(str(row["part_name"]), str(row["part_level"]), of=str(row["partition_name"]))
        for row in facts.rows(PARTS)
    )
    asked = spelling.text_option(work, "partition")
    if asked is None:
        return parts
    name = parse_name(asked).name
    return tuple(part for part in parts if name in (part.name, part.of))


# -- what stands in the way -------------------------------------------------------------------------------------
def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse a measurement, and what Oracle does not shrink."""
    if work.mode is Mode.MEASUREMENT:
        return no(
            "a table is shrunk once: a second time there is nothing left to move, so that nothing is measured; "
            "omit --repeat and give one configuration"
        )
    why = hindrance(work, facts) or _part(work, facts)
    return None if why is None else no(why)


def hindrance(work: Work, facts: Facts) -> str | None:
    """Say why a table is never shrunk."""
    name = work.source or work.object.name
    found = next((words for words in _kinds(name, facts)), None)
    return None if found is None else f"`{name}` is not shrunk: {found}"


def by_parts(work: Work, facts: Facts) -> str | None:
    """Say that the partitions of a table are not shrunk with a whole schema."""
    if not _is_partitioned(work, facts):
        return None
    return f"`{work.object.name}` is partitioned: shrink its partitions with --table"


def _kinds(name: QualifiedName, facts: Facts) -> Iterator[str]:
    def said(column: str) -> str:
        return str(fact_about(facts, name, column) or "").strip().upper()

    if fact_about(facts, name, "kind") == "view":
        yield "it is a view"
    if said("iot_type"):
        yield "it is index-organized (ALTER TABLE ... COALESCE by hand merges its blocks)"
    if said("nested") == "YES":
        yield "it is the storage of a nested table"
    if said("cluster_name"):
        yield "it is in a cluster"
    if said("temporary") == "Y":
        yield "it is temporary: its rows are private to a session"
    if said("external_count") not in ("", "0", "0.0"):
        yield "it is external: its rows are in files"
    if said("long_count") not in ("", "0", "0.0"):
        yield "it has a LONG column"
    if index := fact_about(facts, name, "hindering_index"):
        yield (
            f"its index `{index}` is function-based, a domain index or a bitmap join index (ORA-10631); `dbatk "
            "table move` rewrites such a table"
        )
    if view := fact_about(facts, name, "commit_view"):
        yield f"the materialized view `{view}` is refreshed from it at each commit"
    if said("partitioned") != "YES":
        yield from _storage(
            {column: fact_about(facts, name, column) for column in ("compression", "compress_for", *_PLACE)}, facts
        )


_PLACE = ("tablespace_name", "segment_management")


def _storage(row: Row, facts: Facts) -> Iterator[str]:
    """Say what of a segment's own storage stands in the way (ORA-10635)."""
    level = _upper(row.get("compress_for")) or "BASIC"
    if _upper(row.get("compression")) == "ENABLED" and level not in _SHRUNK_COMPRESSED:
        yield f"it is compressed ({level}; ORA-10635); `dbatk table move` rewrites it"
    elif _upper(row.get("compression")) == "ENABLED" and not has(facts.release, Feature.PLUGGABLE):
        yield "it is compressed, and 11.2 shrinks no compressed table (ORA-10635)"
    if _upper(row.get("segment_management")) == "MANUAL":
        yield (
            f"tablespace `{row.get('tablespace_name')}` manages the free space of its segments by lists, and a "
            "shrink needs SEGMENT SPACE MANAGEMENT AUTO (ORA-10635)"
        )


def _upper(value: Scalar) -> str:
    return str(value or "").strip().upper()


def _part(work: Work, facts: Facts) -> str | None:
    name = work.source or work.object.name
    if not _is_partitioned(work, facts):
        asked = work.option("partition") is not None and not facts.assumed
        return f"`{name}` has no partitions: omit `--partition`" if asked else None
    if option_is_off(facts, "Partitioning"):
        return "V$OPTION says that Partitioning is not part of this installation"
    if work.part is None:
        return "a partitioned table is shrunk partition by partition, and its partitions are not known"
    row = next((each for each in facts.rows(PARTS) if each["part_name"] == work.part.name), {})
    found = next(_storage(row, facts), None)
    return None if found is None else f"{work.part} of `{name}` is not shrunk: {found}"


def _is_partitioned(work: Work, facts: Facts) -> bool:
    return _upper(fact_about(facts, work.source or work.object.name, "partitioned")) == "YES"


# -- what to know before ----------------------------------------------------------------------------------------
def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what is locked, what is changed for the run, what stays as large as it is."""
    name = work.object.name
    yield (
        f"locks: rows of `{name}` are locked as they are moved, so that others can read and change the table"
        + ("" if work.option("compact") else "; when its space is given back at the end, changes wait a moment")
    )
    if _lacks_movement(work, facts):
        yield (
            f"row movement of `{name}` is enabled before and disabled afterwards; statements that use the "
            "table are parsed again"
        )
    if work.option("compact"):
        yield "COMPACT gives nothing back: the same without --compact does that later, in little time"
    if not work.option("cascade"):
        yield "indexes stay as large as they are (--cascade shrinks them, `dbatk index rebuild` rewrites them)"
    if int(fact_about(facts, name, "lob_count") or 0):
        yield f"`{name}` has LOB columns: before release 21 SecureFiles LOBs stay as they are"
    if _upper(fact_about(facts, name, "compress_for")) in _SHRUNK_COMPRESSED:
        yield "whether this release shrinks a table with Advanced Row Compression is not known (ORA-10635 if not)"
    yield (
        "each row that is moved writes redo and undo like a DELETE and an INSERT; row addresses change: what "
        "stores ROWIDs of it, such as ROWID materialized views, must be renewed; there is no undo"
    )
