"""What the copy of a table keeps of its original's storage (tablespace, PCTFREE, compression), and what it lacks.

ALL_TABLES has null for what each partition of a partitioned table has for itself (Database Reference), which is no
default: then the partitions are asked. A copy in another schema goes to that schema's own tablespace, since its
owner may have no quota in the original's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.dialects.oracle import index_facts, partitions, redo, spelling
from toolkit.dialects.oracle.catalog import fact_about, indexes_of
from toolkit.dialects.oracle.names import parse_name, quote
from toolkit.dialects.oracle.work.base import asks_nologging
from toolkit.dialects.work import ContextValue, Work
from toolkit.model.facts import Facts, Release
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode
from toolkit.units import counted

# ALL_TABLES.COMPRESS_FOR, whose words changed in 12.1 (Database Reference).
_LEVELS = {
    "BASIC": "basic", "OLTP": "oltp", "ADVANCED": "advanced", "QUERY LOW": "query_low", "QUERY HIGH": "query_high",
    "ARCHIVE LOW": "archive_low", "ARCHIVE HIGH": "archive_high",
}  # fmt: skip
TABLESPACES = "tablespace_storage"
_LOCKING = " ROW LEVEL LOCKING"
_UNLOGGED = (
    "the copies are made without redo and dropped at the end; until the next backup RMAN lists their data files "
    "as unrecoverable (REPORT UNRECOVERABLE)"
)
_LOGGED = (
    "the copies are made with redo, since the database archives it: their tablespaces are the user's (only an "
    "explicit --nologging, where the operation has it, leaves it out)"
)
_ELSEWHERE = "on other disks than these it fails with ORA-64307"
_LOBS = ("CLOB", "NCLOB", "BLOB")


@dataclass(frozen=True, slots=True)
class Storage:
    """Attributes of a table or a partition; None: those of the schema, the tablespace or the server."""

    tablespace: str | None = None
    pctfree: int | None = None
    compression: str | None = None

    def values(self) -> dict[str, ContextValue]:
        """Return what the template of a copy takes for the table."""
        return {"tablespace": self.tablespace, "pctfree": self.pctfree, "compression": self.compression}

    def __str__(self) -> str:
        """Spell the attributes of one partition, in the documented order (SQLRF, table_partition_description)."""
        words = (
            None if self.pctfree is None else f"PCTFREE {self.pctfree}",
            None if self.tablespace is None else f"TABLESPACE {quote(self.tablespace)}",
            self.compression,
        )
        return " ".join(word for word in words if word)


def values(
    source: QualifiedName, copy: QualifiedName, facts: Facts, made: partitions.Partitioning | None
) -> dict[str, ContextValue]:
    """Return the storage of a copy as its template takes it; of partitions each its own, where they differ."""
    own = _of_table(source, facts, stays=source.schema == copy.schema)
    parts = _of_partitions(source, copy, facts)
    if not parts:
        return {**own.values(), "partition_attributes": ()}
    if len(set(parts)) == 1:
        return {**parts[0].values(), "partition_attributes": ()}
    each = tuple(map(str, parts)) if made is not None and len(made.bounds) == len(parts) else ()
    return {**own.values(), "partition_attributes": each}


def places(
    source: QualifiedName, copy: QualifiedName, facts: Facts, made: partitions.Partitioning | None
) -> tuple[tuple[str | None, float | None], ...]:
    """Return the tablespaces of a copy's segments (None: its schema's own), each with the original's bytes."""
    size = fact_about(facts, source, "byte_count")
    whole = float(size) if isinstance(size, int | float) else None
    stored = values(source, copy, facts, made)
    if not stored["partition_attributes"]:
        place = stored["tablespace"]
        return ((None if place is None else str(place), whole),)
    rows = zip(_of_partitions(source, copy, facts), facts.rows("partitions"), strict=True)
    sizes = [(part.tablespace, row.get("byte_count")) for part, row in rows]
    return tuple((place, float(size) if isinstance(size, int | float) else None) for place, size in sizes)


def remarks(work: Work, facts: Facts) -> tuple[str, ...]:
    """Say what disks may refuse, how copies of a measurement differ from their originals, how they are made."""
    level, tablespace = (spelling.text_option(work, name) for name in ("compression", "tablespace"))
    return (*of_disks(level, tablespace, facts), *_of_copies(work, facts))


def of_disks(level: str | None, tablespace: str | None, facts: Facts) -> Iterator[str]:
    """Warn of hybrid columnar compression where the disks are not Exadata's: only the statement itself tells.

    PREDICATE_EVALUATION (Database Reference, DBA_TABLESPACES, since 11.2) is STORAGE on Exadata; ZFS, Axiom and
    FS1 storage take that compression, too, and are told from others by no view.
    """
    if level not in spelling.HYBRID_COLUMNAR or facts.assumed:
        return
    rows = facts.rows(TABLESPACES)
    able = {str(row["tablespace_name"]) for row in rows if row.get("predicate_evaluation") == "STORAGE"}
    named = None if tablespace is None else parse_name(tablespace).name
    if (named in able) or (named is None and able and len(able) == len(rows)):
        return
    what = f"compression `{level}` needs Exadata, ZFS, Axiom or FS1 storage"
    if not rows:
        yield f"{what}; what storage there is cannot be read: {_ELSEWHERE}"
    elif named is not None:
        yield f"{what}; tablespace `{named}` is not on Exadata: {_ELSEWHERE}"
    else:
        where = f"only {', '.join(sorted(able))}" if able else "no tablespace"
        yield f"{what}; {where} is on Exadata here: {_ELSEWHERE}"


def _of_copies(work: Work, facts: Facts) -> tuple[str, ...]:
    if work.mode is not Mode.MEASUREMENT or not work.object.scratch or facts.assumed or work.option("bare"):
        return ()
    copied = _copied(work, facts)
    if copied is None:
        return tuple(_of_schema(facts)) if work.operation == "stats-gather" else ()
    said = differences(*copied, facts)
    return (*((said,) if said else ()), *_of_redo(work, facts))


def _of_redo(work: Work, facts: Facts) -> Iterator[str]:
    if work.operation == "insert":
        return
    if redo.may_be_left_out(facts, asked=asks_nologging(work)):
        yield _UNLOGGED
    elif work.option("logging") is None and redo.is_archived(facts):
        yield _LOGGED


def _copied(work: Work, facts: Facts) -> tuple[QualifiedName, QualifiedName] | None:
    """Return a table and the name of its copy; None where the work is on none, or on one of many."""
    row = facts.first("target")
    if work.index is not None:
        row = index_facts.row_of(facts, index_facts.original(work))
        row = {"table_name": row.get("table_name"), "schema_name": row.get("table_schema")}
    copy = work.object.table or work.object.name
    live = work.operation == "ctas" or work.option("on_live_objects")
    if live or row.get("table_name") is None:
        return None
    return QualifiedName(str(row["table_name"]), str(row["schema_name"])), copy


def _of_schema(facts: Facts) -> Iterator[str]:
    rows = [row for key, found in facts.answers.items() if key.startswith("tables:") for row in found]
    other = [
        f"{row.get('schema_name')}.{row.get('table_name')}"
        for row in rows
        if str(row.get("partitioned") or "NO") == "YES" or row.get("iot_type") or row.get("cluster_name")
    ]
    if other:
        more = f" and {len(other) - 5} more" if len(other) > 5 else ""
        what = "copies of partitioned, index-organized or clustered tables are plain tables"
        yield f"{what}: {', '.join(other[:5])}{more}"


def differences(source: QualifiedName, copy: QualifiedName, facts: Facts) -> str | None:
    """Say in one sentence what a copy does not have of its original; None where nothing is known to differ."""
    found = [*_of_kind(source, facts), *_of_partitioning(source, copy, facts), *_of_columns(source, facts)]
    if source.schema != copy.schema:
        found.append(f"it is in the default tablespace of {copy.schema}")
    return f"the copy of `{source}` differs from it: {'; '.join(found)}" if found else None


def _of_table(source: QualifiedName, facts: Facts, *, stays: bool) -> Storage:
    names = ("tablespace_name", "pct_free", "compression", "compress_for")
    return _read({name: fact_about(facts, source, name) for name in names}, facts.release, stays=stays)


def _of_partitions(source: QualifiedName, copy: QualifiedName, facts: Facts) -> tuple[Storage, ...]:
    """Return the storage of each partition of the target, in their order; empty where it has none."""
    if not _is_partitioned(source, facts) or facts.value("target", "table_name") != source.name:
        return ()
    stays = source.schema == copy.schema
    return tuple(_read(row, facts.release, stays=stays) for row in facts.rows("partitions"))


def _read(row: Row, release: Release, *, stays: bool) -> Storage:
    free, place = row.get("pct_free"), row.get("tablespace_name")
    word = None
    if str(row.get("compression") or "").strip() == "ENABLED":
        level = _LEVELS.get(str(row.get("compress_for") or "BASIC").strip().removesuffix(_LOCKING))
        word = spelling.table_compression(level, release) if level else None
    return Storage(
        str(place) if place and stays else None, int(free) if isinstance(free, int | float) else None, word
    )


def _is_partitioned(table: QualifiedName, facts: Facts) -> bool:
    return str(fact_about(facts, table, "partitioned") or "NO").strip().upper() == "YES"


def _of_kind(source: QualifiedName, facts: Facts) -> Iterator[str]:
    if fact_about(facts, source, "partitioned") is None:
        yield "it has default storage and no partitions, since the table itself was not read"
    if fact_about(facts, source, "iot_type") is not None:
        yield "it is a heap table, not index-organized"
    if fact_about(facts, source, "cluster_name") is not None:
        yield "it is not in the cluster"


def _of_partitioning(source: QualifiedName, copy: QualifiedName, facts: Facts) -> Iterator[str]:
    if not _is_partitioned(source, facts):
        return
    if not index_facts.table_is_copied_alike(facts, source):
        yield "it is not partitioned"
    parts = _of_partitions(source, copy, facts)
    made = partitions.of_table(facts)[0] if parts else None
    spelled = made is not None and len(made.bounds) == len(parts)
    if len(set(parts)) > 1 and not spelled:
        yield "it has one storage for all rows, where the partitions have each their own"


def _of_columns(source: QualifiedName, facts: Facts) -> Iterator[str]:
    if facts.value("target", "table_name") != source.name:
        return
    rows = facts.rows("columns")
    hidden = [str(row["column_name"]) for row in rows if row.get("encrypted_by")]
    if hidden:
        yield f"its columns are not encrypted ({', '.join(hidden[:5])}{', ...' if len(hidden) > 5 else ''})"
    lobs = sum(row.get("data_type") in _LOBS for row in rows)
    if lobs:
        yield f"{counted(lobs, 'LOB column')} with default storage"
    parted = sum(index_facts.is_partitioned(row) for row in indexes_of(facts, source))
    if parted:
        yield f"partitions of {counted(parted, 'index', 'indexes')} in default storage"
