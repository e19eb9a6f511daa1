"""Copies of the user's tables: the same columns, partitions, indexes and constraints, under generated names.

CREATE TABLE AS SELECT takes types and explicit NOT NULLs along, nothing else (SQLRF, CREATE TABLE, AS subquery).
The rest is added here, so that a load into the copy does what a load into the real table does. Left out, and
reported: foreign keys (they would make every direct load conventional), triggers, grants, subpartitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.oracle import archiving, degrees, index_facts, partitions, redo, storage, taking
from toolkit.dialects.oracle.catalog import fact_about, indexes_of
from toolkit.dialects.oracle.objects import build_index_copy, comment
from toolkit.dialects.oracle.work.base import table_attribute
from toolkit.dialects.oracle.work.loads import select_list
from toolkit.dialects.rows import ALL_ROWS
from toolkit.dialects.work import Call, ContextValue
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Effect, ObjectKind

_NOT_NULL = re.compile(r'"[^"]+" IS NOT NULL')
_KEYS = {"P": "PRIMARY KEY", "U": "UNIQUE"}


def copy_table(
    source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts, degree: int = 1, *, nologging: bool = False
) -> tuple[Call, ...]:
    """Copy all rows into a scratch table and mark it: stored and, where that was read, partitioned as the source.

    So a local index has what it is local to. The copy is not what is measured: it is made in parallel, and without
    redo only where that was asked for, or none is archived: the user's own data files would be unrecoverable.
    """
    made = partitions.of_table(facts)[0] if index_facts.table_is_copied_alike(facts, source) else None
    known = facts.value("target", "table_name") == source.name
    rows = facts.rows("columns") if known else ()
    unlogged, servers = redo.may_be_left_out(facts, asked=nologging), degrees.at_most(degree, facts)
    values = {
        **_head(source, copy, facts, made),
        **select_list(rows),
        "logging": "NOLOGGING" if unlogged else None,
        "parallel": f"PARALLEL {servers}" if servers > 1 else "NOPARALLEL",
        "with_rows": True,
    }
    written = archiving.redo_of_copy(source, facts, logged=not unlogged)
    takes = taking.of_copy(source, copy.name, facts, made)
    made_so = Call("copy_table", values, effect=Effect.CREATES, object=copy, redo_bytes=written, takes=takes)
    serial = (table_attribute(copy, "NOPARALLEL"),) if servers > 1 else ()
    return (made_so, comment(copy, mark), *serial)


def _head(
    source: QualifiedName, copy: ObjectRef, facts: Facts, made: partitions.Partitioning | None
) -> dict[str, ContextValue]:
    return {
        "copy": copy.name,
        "source": source,
        **storage.values(source, copy.name, facts, made),
        **(made.values() if made else partitions.NOT_PARTITIONED),
    }


def empty_copy(source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts, *, bare: bool) -> tuple[Call, ...]:
    """Make an empty table like another; unless `bare` with its indexes, constraints, defaults and compression."""
    calls = [_create(source, copy, facts, bare=bare), comment(copy, mark)]
    if bare:
        return tuple(calls)
    calls += _own_values(copy, facts)
    built = dict(_indexes(source, copy, facts))
    calls += built.values()
    calls += _constraints(copy, facts, {name: call.object.name for name, call in built.items() if call.object})
    return (*calls, *_defaults(copy, facts))


def fill_copy(source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts) -> tuple[Call, ...]:
    """Put a table's rows into its copy by a serial direct load."""
    values: dict[str, ContextValue] = {
        **ALL_ROWS,
        "table": copy.name,
        "part": None,
        "load_hints": "APPEND NO_PARALLEL(t)",
        "query_hints": "NO_PARALLEL(s)",
        "source": source,
        "query": None,
        "columns": columns or None,
        "long_columns": (),
    }
    written = archiving.redo_of_copy(source, facts)
    size = fact_about(facts, source, "byte_count")
    takes = (
        *taking.of_copy(source, copy.name, facts, partitions.of_table(facts)[0]),
        *taking.of_indexes(source, copy.name, float(size) if isinstance(size, int | float) else None, facts),
    )
    load = Call("insert", values, effect=Effect.CHANGES, object=copy, redo_bytes=written, takes=takes)
    return load, Call("commit", effect=Effect.COMMITS, object=copy)


def _create(source: QualifiedName, copy: ObjectRef, facts: Facts, *, bare: bool) -> Call:
    rows = [row for row in facts.rows("columns") if row["column_name"] not in _identities(facts)]
    unseen = facts.rows("invisible_columns")  # a load may name them; `s.*` would leave them out
    listed = bool(_identities(facts) or facts.rows("virtual_columns") or unseen)
    chosen = [str(row["column_name"]) for row in (*rows, *unseen)] if listed else ()
    made = None if bare else partitions.of_table(facts)[0]
    plain = storage.Storage().values() | {"partition_attributes": ()} if bare else {}
    values: dict[str, ContextValue] = {
        **_head(source, copy, facts, made),
        **plain,
        **select_list(rows, chosen),
        "logging": None,
        "parallel": "NOPARALLEL",
        "with_rows": False,
    }
    return Call("copy_table", values, effect=Effect.CREATES, object=copy, redo_bytes=archiving.DICTIONARY)


def _identities(facts: Facts) -> tuple[str, ...]:
    return tuple(str(row["column_name"]) for row in facts.rows("identity_columns"))


def _own_values(copy: ObjectRef, facts: Facts) -> Iterator[Call]:
    """Add the columns that make their own values: they take part in every insert of the real table."""
    virtual = [row for row in facts.rows("virtual_columns") if row.get("expression")]
    if virtual or _identities(facts):
        values: dict[str, ContextValue] = {
            "table": copy.name,
            "virtual_columns": tuple(str(row["column_name"]) for row in virtual),
            "expressions": tuple(str(row["expression"]).strip() for row in virtual),
            "identity_columns": _identities(facts),
        }
        yield Call("add_columns", values, effect=Effect.CHANGES, object=copy, redo_bytes=archiving.DICTIONARY)


def _indexes(source: QualifiedName, copy: ObjectRef, facts: Facts) -> Iterator[tuple[str, Call]]:
    partitioned = partitions.of_table(facts)[0] is not None
    for number, row in enumerate(indexes_of(facts, source), 1):
        name = QualifiedName(f"{copy.name.name}_I{number}", copy.name.schema)
        text = row.get("definition")
        definition = IndexDefinition(
            name,
            source,
            unique=row.get("is_unique") == "yes",
            definition=None if text is None else str(text),
            of=QualifiedName(str(row["index_name"]), str(row.get("schema_name"))),
        )
        ref = ObjectRef(ObjectKind.INDEX, name, scratch=True, table=copy.name)
        (call,) = build_index_copy(definition, ref, copy.name, facts, 0)
        if partitioned and index_facts.is_local(row):
            call = replace(call, values={**call.values, "partitioning": "LOCAL"})
        yield str(row["index_name"]), call


def _constraints(copy: ObjectRef, facts: Facts, built: dict[str, QualifiedName]) -> Iterator[Call]:
    for row in facts.rows("constraints"):
        kind, condition = str(row.get("constraint_type")), str(row.get("condition_text") or "").strip()
        if kind in _KEYS and row.get("column_list"):
            yield _constraint(copy, row, kind=_KEYS[kind], index=built.get(str(row.get("enforcing_index"))))
        elif kind == "C" and condition and not _NOT_NULL.fullmatch(condition):
            yield _constraint(copy, row, condition=condition)


def _constraint(
    copy: ObjectRef,
    row: Row,
    *,
    kind: str | None = None,
    condition: str | None = None,
    index: QualifiedName | None = None,
) -> Call:
    deferrable = str(row.get("deferrable") or "").strip() == "DEFERRABLE"
    initially = "DEFERRED" if str(row.get("deferred") or "").strip() == "DEFERRED" else "IMMEDIATE"
    values: dict[str, ContextValue] = {
        "table": copy.name,
        "constraint_kind": kind,
        "columns_text": None if row.get("column_list") is None else str(row["column_list"]),
        "condition_text": condition,
        "index": index,
        "deferral": f"DEFERRABLE INITIALLY {initially}" if deferrable else None,
    }
    return Call("add_constraint", values, effect=Effect.CHANGES, object=copy, redo_bytes=archiving.DICTIONARY)


def _defaults(copy: ObjectRef, facts: Facts) -> Iterator[Call]:
    """Give the columns their defaults: a load that leaves such a column out works on the real table."""
    known = [row for row in facts.rows("column_defaults") if row["column_name"] not in _identities(facts)]
    found = {str(row["column_name"]): str(row.get("default_text") or "").strip() for row in known}
    given = {name: text for name, text in found.items() if text and text.upper() != "NULL"}
    if given:
        values: dict[str, ContextValue] = {
            "table": copy.name, "columns": tuple(given), "defaults": tuple(given.values()),
        }  # fmt: skip
        yield Call("set_defaults", values, effect=Effect.CHANGES, object=copy, redo_bytes=archiving.DICTIONARY)
