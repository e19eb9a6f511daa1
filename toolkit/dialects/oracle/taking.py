"""What works and copies take of tablespaces, quotas and temporary space, segment by segment.

A segment goes to the tablespace that its statement names, else to that of what it is part of: partitions of a
local index to those of the table's partitions, a rebuilt index or partition to where it is (SQL Language
Reference, CREATE INDEX, ALTER INDEX); else to the default one of the schema that owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from toolkit.dialects import sizes
from toolkit.dialects.oracle import index_facts, partitions, space, storage
from toolkit.dialects.oracle.catalog import fact_about, indexes_of
from toolkit.dialects.oracle.work.base import parts_of, tablespace
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Place, PlaceKind, Takes, Until, added
from toolkit.model.values import QualifiedName, Row

Sized = Sequence[tuple[str | None, float | None]]
_LOBS = frozenset({"CLOB", "NCLOB", "BLOB", "JSON", "VECTOR", "XMLTYPE"})
"""Types that are kept in segments of their own, which the size of a table leaves out."""
_UNCOUNTED = "its LOBs are not counted"
_IF_ANY = "its LOBs, if it has any, are not counted"
_NO_SIZE = "{} has no statistics and is not the user's own"


def of_copy(
    source: QualifiedName, copy: QualifiedName, facts: Facts, made: partitions.Partitioning | None
) -> tuple[Takes, ...]:
    """Say what a copy with all rows takes."""
    known = "columns" in facts.answers and facts.value("target", "table_name") == source.name
    why = _uncounted(facts.rows("columns")) if known else _IF_ANY
    return tuple(_each(storage.places(source, copy, facts, made), copy.schema, facts, f"`{source}`", why))


def of_index_copy(index: QualifiedName, copy: QualifiedName, on: QualifiedName, facts: Facts) -> tuple[Takes, ...]:
    """Say what the same index takes on a copy with all rows, sorting included."""
    row = index_facts.row_of(facts, index)
    size = _size(row)
    why = "" if size is not None else _NO_SIZE.format(f"`{index}`")
    sort = space.sorting(None if size is None else sizes.SORTED * size, why)
    return (*_of_index_on_copy(row, index, copy, on, size, facts), sort)


def _of_index_on_copy(
    row: Row, index: QualifiedName, copy: QualifiedName, on: QualifiedName, size: float | None, facts: Facts
) -> Iterator[Takes]:
    """Say where `size` bytes of an index on a copy go, partition by partition where all of it is there."""
    if index_facts.is_partitioned(row) and index_facts.is_local(row):
        table = QualifiedName(str(row.get("table_name")), str(row.get("table_schema")))
        alike = index_facts.table_is_copied_alike(facts, table)
        stored = storage.places(table, on, facts, partitions.of_table(facts)[0] if alike else None)
        parts = index_facts.details(facts, "index_partitions", index) if alike and size == _size(row) else ()
        if len(parts) == len(stored) > 1:
            pairs = zip(stored, parts, strict=True)
            sized = [(place, _size(part)) for (place, _), part in pairs]
            yield from _each(sized, copy.schema, facts, f"`{index}`")
            return
        yield from space.spread(size, (place for place, _ in stored), copy.schema, facts)
        return
    place = row.get("tablespace_name") if copy.schema == index.schema else None
    why = "" if size is not None else _NO_SIZE.format(f"`{index}`")
    yield from space.takes(size, None if place is None else str(place), copy.schema, facts, unknown=why)


def of_indexes(
    table: QualifiedName, copy: QualifiedName | None, loaded: float | None, facts: Facts, why: str = ""
) -> tuple[Takes, ...]:
    """Say what the indexes of a table, or of its copy, grow by in a load of this many bytes.

    Args:
        table: the user's.
        copy: the table that is loaded in its place, if one is.
        loaded: bytes of the rows.
        facts: with `table_indexes`.
        why: nobody knows how many bytes.
    """
    found: list[Takes] = []
    whole = {"byte_count": fact_about(facts, table, "byte_count")}
    for row in indexes_of(facts, table):
        size = sizes.entry_bytes(row, whole, loaded)
        name = QualifiedName(str(row["index_name"]), str(row.get("schema_name")))
        if copy is not None:
            found += _of_index_on_copy(row, name, QualifiedName(name.name, copy.schema), copy, size, facts)
        elif index_facts.is_partitioned(row):
            parts = index_facts.details(facts, "index_partitions", name)
            found += _of_parts(parts, f"the partitions of `{name}`", size, name.schema, facts, why)
        else:
            found += space.takes(size, str(row.get("tablespace_name")), name.schema, facts, unknown=why)
    return tuple(found)


def of_load(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what a load takes: its rows, the entries of the indexes, and what is sorted for those."""
    loaded, why = sizes.loaded_bytes(work, facts)
    why = why or _uncounted(facts.rows("source_columns"))
    return of_rows(work, loaded, why, facts, direct=work.option("load") != "conventional")


def of_rows(work: Work, loaded: float | None, why: str, facts: Facts, *, direct: bool) -> tuple[Takes, ...]:
    """Say what so many bytes of rows take, with the entries of the indexes, which only a direct load sorts."""
    rows = _rows(work, loaded, facts, why)
    if work.operation == "ctas" or (work.object.scratch and work.option("bare")) or not facts.first("target"):
        return tuple(rows)
    table = _filled(work, facts)
    entries = of_indexes(table, work.object.name if work.object.scratch else None, loaded, facts, why)
    keys = [taken.bytes for taken in entries if taken.place.kind is PlaceKind.TABLESPACE]
    return (*rows, *entries, *((space.sorting(added(keys), why),) if direct and keys else ()))


def _rows(work: Work, loaded: float | None, facts: Facts, why: str) -> Iterator[Takes]:
    name = work.object.name
    if work.operation == "ctas":
        asked = tablespace(work)
        yield from space.takes(loaded, None if asked is None else str(asked), name.schema, facts, unknown=why)
    elif work.object.scratch:
        made = None if work.option("bare") else partitions.of_table(facts)[0]
        filled = _filled(work, facts)
        stored = storage.places(filled, name, facts, made)
        if work.option("bare"):
            stored = ((None, None),)
        if work.source == filled and len(stored) > 1 and loaded == fact_about(facts, filled, "byte_count"):
            yield from _each(stored, name.schema, facts, f"`{filled}`", why)
        else:
            yield from space.spread(loaded, (place for place, _ in stored), name.schema, facts, unknown=why)
    else:
        yield from _into_live(work, loaded, facts, why)


def _into_live(work: Work, loaded: float | None, facts: Facts, why: str) -> Iterator[Takes]:
    name, about = work.object.name, facts.first("target")
    parts = parts_of(work, facts)
    if about.get("temporary") == "Y":
        yield Takes(loaded, Place(PlaceKind.TEMPORARY), unknown=why)
    elif about.get("iot_type") is not None:
        yield Takes(loaded, space.named(None, f"the index of `{name}`"), unknown=why)
    elif str(about.get("partitioned") or "NO") == "YES":
        yield from _of_parts(parts, f"the partitions of `{name}`", loaded, name.schema, facts, why)
    else:
        place = about.get("tablespace_name")
        yield from space.takes(loaded, None if place is None else str(place), name.schema, facts, unknown=why)


def _filled(work: Work, facts: Facts) -> QualifiedName:
    row = facts.first("target")
    return QualifiedName(str(row.get("table_name")), str(row.get("schema_name"))) if row else work.object.name


def of_build(work: Work, table: QualifiedName, keys: Sequence[str], facts: Facts) -> tuple[Takes, ...]:
    """Say what building an index takes: its segments, and temporary space for its sorted keys.

    Args:
        work: the build.
        table: the user's, where it is built on a copy too.
        keys: as the user wrote them.
        facts: with `target` and `columns`.
    """
    size, why = sizes.built_bytes(keys, facts), ""
    if size is None:
        why = f"the size of `{table}` is not known"
    elif work.option("bitmap"):
        size, why = None, "a bitmap is as small as its values repeat"
    sort = space.sorting(None if size is None else sizes.SORTED * size, why)
    asked, schema = tablespace(work), work.object.name.schema
    if asked is not None or not work.option("local"):
        return (*space.takes(size, None if asked is None else str(asked), schema, facts, unknown=why), sort)
    on = work.object.table or table
    stored = storage.places(table, on, facts, partitions.of_table(facts)[0]) if on != table else _live_parts(facts)
    sized = _in_proportion(size, stored)
    if not sized:
        return (Takes(None, space.named(None, f"the partitions of `{table}`"), unknown=why), sort)
    return (*_each(sized, schema, facts, f"the partitions of `{table}`", why), sort)


def _live_parts(facts: Facts) -> Sized:
    return tuple((_place(row), _size(row)) for row in facts.rows("partitions") if row.get("composite") != "YES")


def _in_proportion(size: float | None, stored: Sized) -> Sized:
    """Divide an index among the partitions of its table, as these are divided."""
    whole, tablespaces = added(each for _, each in stored), dict.fromkeys(place for place, _ in stored)
    if size is None or not whole or len(tablespaces) == 1:
        return tuple((place, size if len(tablespaces) == 1 else None) for place in tablespaces)
    return tuple((place, None if each is None else size * each / whole) for place, each in stored)


def of_rebuild(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what a rebuild takes: its second segment, beside the former one until that is dropped, and its sort."""
    name, schema = index_facts.original(work), work.object.name.schema
    row = _rebuilt_row(work, name, facts)
    size = sizes.rebuilt_bytes(work, row)
    why = "" if size is not None else _NO_SIZE.format(f"`{name}`")
    sort = space.sorting(None if size is None else sizes.SORTED * size, why)
    asked = tablespace(work)
    if asked is not None:
        stays = tuple(space.takes(size, str(asked), schema, facts, unknown=why))
        twice = space.takes(size, str(asked), schema, facts, until=Until.STEP, unknown=why)
        return (*stays, *(twice if work.object.scratch else ()), sort)
    place = _place_on_copy(work, name, row, facts) if work.object.scratch else _place(row)
    if place is None and not work.object.scratch:
        return (Takes(size, space.named(None, f"`{name}`"), Until.STEP, why), sort)
    return (*space.takes(size, place, schema, facts, until=Until.STEP, unknown=why), sort)


def _rebuilt_row(work: Work, name: QualifiedName, facts: Facts) -> Row:
    """Return the catalogue row of the index or of its part."""
    if work.part is None:
        return index_facts.row_of(facts, name)
    rows = index_facts.details(facts, f"index_{work.part.level}s", name)
    return next((row for row in rows if row.get("part_name") == work.part.name), {})


def _place_on_copy(work: Work, name: QualifiedName, rebuilt: Row, facts: Facts) -> str | None:
    """Return where the copy of an index, or of its part, is; None for the default tablespace of its schema."""
    row, copy = index_facts.row_of(facts, name), work.object.table
    if not index_facts.is_partitioned(row):
        return _place(row) if work.object.name.schema == name.schema else None
    if not index_facts.is_local(row) or copy is None:
        return None
    table = QualifiedName(str(row.get("table_name")), str(row.get("table_schema")))
    stored = storage.places(table, copy, facts, partitions.of_table(facts)[0])
    at = [part.get("part_name") for part in index_facts.details(facts, "index_partitions", name)]
    number = at.index(rebuilt.get("part_name")) if len(at) == len(stored) else 0
    return stored[number][0]


def _each(sized: Sized, schema: str | None, facts: Facts, what: str, why: str = "") -> Iterator[Takes]:
    """Say what segments take, those of one tablespace together."""
    found: dict[str | None, list[float | None]] = {}
    for place, size in sized:
        found.setdefault(place, []).append(size)
    for place, each in found.items():
        total = added(each)
        unknown = why if total is not None or why else _NO_SIZE.format(what)
        yield from space.takes(total, place, schema, facts, unknown=unknown)


def _of_parts(
    parts: Iterable[Row], what: str, size: float | None, schema: str | None, facts: Facts, why: str
) -> Iterator[Takes]:
    """Say what a load takes of the tablespaces of partitions; those that have subpartitions do not tell theirs."""
    known = tuple(parts)
    if not known or any(row.get("composite") == "YES" or _place(row) is None for row in known):
        yield Takes(size, space.named(None, what), unknown=why)
        return
    yield from space.spread(size, (_place(row) for row in known), schema, facts, unknown=why)


def _place(row: Row) -> str | None:
    place = row.get("tablespace_name")
    return None if place is None else str(place)


def _size(row: Row) -> float | None:
    size = row.get("byte_count")
    return float(size) if isinstance(size, int | float) else None


def _uncounted(columns: Iterable[Row]) -> str:
    return _UNCOUNTED if any(row.get("data_type") in _LOBS for row in columns) else ""
