"""Scratch objects: index copies, marks, drops, and the proof of identity."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.oracle import archiving, degrees, index_facts, redo, taking
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import Attribute, ObjectRef, values_set
from toolkit.model.values import QualifiedName, Scalar
from toolkit.model.words import Effect, ObjectKind, Role, StepKind

_GONE = frozenset({"ORA-00942", "ORA-01418"})
_NOT_GRANTED = frozenset({"ORA-00942", "ORA-01031", "ORA-41900"})
_ATTRIBUTES_ELSEWHERE = "elsewhere_attributes_"
TABLES_OF_OTHERS = (f"{_ATTRIBUTES_ELSEWHERE}{ObjectKind.TABLE}", "elsewhere_definition_table")
"""What shows attributes and columns of a table that was made for another user, to whom it belongs."""
_OBJECT_TYPES = {ObjectKind.TABLE: "TABLE", ObjectKind.INDEX: "INDEX"}


def build_index_copy(
    index: IndexDefinition,
    copy: ObjectRef,
    on: QualifiedName,
    facts: Facts,
    degree: int = 1,
    *,
    nologging: bool = False,
) -> tuple[Call, ...]:
    """Build the same index under another name on a copy of its table: its kind, key, storage and partitions.

    With `degree` 0 on an empty copy, whose loads are measured: serially, and logged as any other index.

    Raises:
        ToolkitError: TK-0112 when the catalogue was not read; TK-0304 for an index that a copy cannot have.
    """
    name = index.of or index.name
    row = index_facts.row_of(facts, name)
    keys = index_facts.key_of(facts, name)
    columns = f"({', '.join(keys)})" if keys else index.definition
    why = index_facts.not_copied(row, facts) if row else None
    if columns is None or why is not None:
        if facts.assumed:
            facts.require("indexes")
        reason = why or "its key is an expression, or it is not a B-tree index"
        raise ToolkitError(
            f"the index `{name}` cannot be built on a copy: {reason}",
            code="TK-0304",
            hint="measure into a copy without indexes (--bare), or exclude this index",
        )
    free, place = row.get("pct_free"), row.get("tablespace_name")
    unlogged = degree > 0 and redo.may_be_left_out(facts, asked=nologging)
    servers = degrees.at_most(degree, facts)
    values: dict[str, ContextValue] = {
        "index": copy.name,
        "table": on,
        "unique": index.unique,
        "bitmap": "BITMAP" in index_facts.kind(row),
        "columns": columns,
        "partitioning": index_facts.partitioning_of(row, facts) if index_facts.copied_alike(row, facts) else None,
        "compression": index_facts.compression_of(row),
        "reverse": index_facts.kind(row).endswith("/REV"),
        "pctfree": int(free) if isinstance(free, int | float) else None,
        "tablespace": str(place) if place and copy.name.schema == name.schema else None,
        "logging": "NOLOGGING" if unlogged else None,
        "parallel": f"PARALLEL {servers}" if servers > 1 else "NOPARALLEL",
    }
    written = archiving.redo_of_index(index.bytes or None, logged=not unlogged) if degree else archiving.DICTIONARY
    takes = taking.of_index_copy(name, copy.name, on, facts) if degree else ()
    made = Call("index_copy", values, effect=Effect.CREATES, object=copy, redo_bytes=written, takes=takes)
    back: dict[str, ContextValue] = {"index": copy.name, "attribute": "NOPARALLEL", "level": None, "part": None}
    serial = Call("index_attribute", back, effect=Effect.CHANGES, object=copy, redo_bytes=archiving.DICTIONARY)
    return (made, serial) if servers > 1 else (made,)


def comment(table: ObjectRef, mark: str, session: Role = Role.CONTROL) -> Call:
    """Mark a table as a scratch object; an index of Oracle cannot have a comment."""
    values: dict[str, ContextValue] = {"table": table.name, "mark": mark}
    return Call(
        "comment", values, session=session, effect=Effect.CHANGES, object=table, redo_bytes=archiving.DICTIONARY
    )


def in_one_go(calls: Sequence[Call]) -> tuple[Call, ...]:
    """Put calls that follow each other on new scratch tables into one block: each statement is a round trip.

    A measured insert fills a new copy in every trial. Emptying one copy by TRUNCATE would be cheaper still, but
    not the same work each time: the first load would make segments that later ones find (DROP STORAGE keeps
    MINEXTENTS, DROP ALL STORAGE none: SQLRF, TRUNCATE TABLE), a load that fails leaves unusable indexes to the
    next, and one statement text would share its cursor and its figures in V$SQL with all its repetitions. So
    every trial makes its copy anew, and all that comes after CREATE TABLE goes in one call. Nothing in it needs
    an entry of its own in the journal: indexes, constraints and rows go with the table that has one.
    """
    found: list[Call] = []
    run: list[Call] = []
    for call in (*calls, None):
        if call is not None and _auxiliary_ddl(call):
            run.append(call)
            continue
        found += run if len(run) < 2 else [_block(run)]
        run = []
        found += [call] if call is not None else []
    return tuple(found)


def _auxiliary_ddl(call: Call) -> bool:
    """Tell whether a call changes nothing but a scratch table, or what goes with it, and needs no answer."""
    ref = call.object
    if ref is None or not ref.scratch or call.session is not Role.CONTROL or call.kind is not StepKind.SQL:
        return False
    index = call.effect is Effect.CREATES and ref.kind is ObjectKind.INDEX and ref.table is not None
    silent = not (call.undo or call.unlogged or call.tolerates or call.keep_as or call.binds or call.file)
    return silent and (index or call.effect in (Effect.CHANGES, Effect.COMMITS))


def _block(calls: Sequence[Call]) -> Call:
    return Call(
        "in_one_go", kind=StepKind.BLOCK, effect=Effect.CHANGES, object=calls[0].object, inside=tuple(calls)
    )


def drop(ref: ObjectRef) -> tuple[Call, ...]:
    """Drop a scratch object, past the recycle bin: a dropped table there would keep its space."""
    if ref.kind is ObjectKind.BACKUP:
        from toolkit.dialects.oracle.backup import work as backup

        return backup.drop(ref)
    if ref.kind is ObjectKind.TABLE:
        template = "drop_table"
    elif ref.kind is ObjectKind.INDEX:
        template = "drop_index"
    else:
        return ()
    return (Call(template, {"name": ref.name}, effect=Effect.DROPS, object=ref, tolerates=_GONE),)


def has_rows(table: QualifiedName) -> Call:
    """Ask whether a table has a row; the scan ends at the first one."""
    return Call("has_rows", {"table": table}, keep_as="has_rows")


def identity(ref: ObjectRef) -> Call:
    """Ask for OBJECT_ID and CREATED; the name alone proves nothing, a rename keeps the id."""
    if ref.kind is ObjectKind.BACKUP:
        from toolkit.dialects.oracle.backup import work as backup

        return backup.identity(ref)
    return _seen("identity", _who(ref))


def renamed(ref: ObjectRef, identity: Scalar) -> Call | None:
    """Ask under which other name OBJECT_ID and CREATED are now: a rename keeps both."""
    if ref.kind not in _OBJECT_TYPES:
        return None
    return _seen("renamed", {**_who(ref), "identity": str(identity)})


def absence(ref: ObjectRef) -> Call | None:
    """Ask whether the name is free, and for the database's clock, in one statement."""
    if ref.kind is ObjectKind.BACKUP:
        return None
    return _seen("absence", _who(ref))


def attributes(ref: ObjectRef) -> Call | None:
    """Ask for degree and logging of a table or an index, and of its partitions."""
    if ref.kind not in _OBJECT_TYPES:
        return None
    return _seen("attributes", _who(ref), elsewhere=f"{_ATTRIBUTES_ELSEWHERE}{ref.kind}")


def definition(ref: ObjectRef) -> Call | None:
    """Ask for the columns of a table, or table, kind and key of an index, and for its partitioning."""
    if ref.kind not in _OBJECT_TYPES:
        return None
    binds: dict[str, Scalar] = {"schema": ref.name.schema, "name": ref.name.name}
    if ref.kind is ObjectKind.INDEX:
        return Call("definition_index", file=True, binds=binds)
    return _seen("definition_table", binds)


def unfinished(ref: ObjectRef) -> Call | None:
    """Ask whether an index is half-built or not usable; a table is made whole or not at all."""
    if ref.kind is not ObjectKind.INDEX:
        return None
    return _seen("unfinished", {"schema": ref.name.schema, "name": ref.name.name})


def _seen(file: str, binds: dict[str, Scalar], *, elsewhere: str | None = None) -> Call:
    """Ask the ALL_ views, and where they would not show the object to this user, the DBA_ views."""
    beyond = Call(elsewhere or f"elsewhere_{file}", file=True, binds=binds, tolerates=_NOT_GRANTED)
    return Call(file, file=True, binds=binds, otherwise=beyond)


def _who(ref: ObjectRef) -> dict[str, Scalar]:
    return {
        "schema": ref.name.schema,
        "name": ref.name.name,
        "kind": _OBJECT_TYPES.get(ref.kind, "TABLE"),
    }


def scratch_objects() -> tuple[Call, ...]:
    """List what bears a generated name: in all schemas where that may be read, else what is shown."""
    return Call("elsewhere_scratch_objects", file=True), Call("scratch_objects", file=True)


def instant() -> Call:
    """Ask for the database's clock in the terms of `born`."""
    return Call("instant", file=True)


def by_hand(
    text: str, ref: ObjectRef, identity: Scalar, born: Scalar, restores: Sequence[Attribute] = ()
) -> Call | None:
    """Run a statement only where the object and its value are still those of the run.

    OBJECT_ID and CREATED must be the object's, or it was made since an instant.
    """
    if ref.kind is ObjectKind.BACKUP:
        return None
    number, _, created = str(identity or "").partition(" ")
    change = restores[0] if restores else None
    what = f"{ref.kind} `{ref.name}`"
    values: dict[str, ContextValue] = {
        "schema": ref.name.schema,
        "name": ref.name.name,
        "kind": _OBJECT_TYPES.get(ref.kind, "TABLE"),
        "object_id": int(number) if number.isdecimal() else None,
        "created": created or None,
        "born": None if born is None else int(born),
        "text": text,
        "what": what,
        "compares": change is not None,
        "back": None if change is None else change.back,
        "ours": values_set(restores),
        **(_where_it_stands(ref, change) if change is not None else {}),
    }
    return Call("undo_by_hand", values, kind=StepKind.BLOCK, effect=Effect.CHANGES, object=ref)


def still_as_read(ref: ObjectRef, change: Attribute) -> Call:
    """Raise ORA-20002 where an attribute that a script overwrites is not what the catalogue told before."""
    values: dict[str, ContextValue] = {"back": change.back, **_where_it_stands(ref, change)}
    return Call("still_as_read", values, kind=StepKind.BLOCK, object=ref)


def _where_it_stands(ref: ObjectRef, change: Attribute) -> dict[str, ContextValue]:
    """Say which column of which ALL_ view shows an attribute."""
    short, whole = ("IND", "INDEX") if ref.kind is ObjectKind.INDEX else ("TAB", "TABLE")
    views = {"INDEX": "ALL_INDEXES", "TABLE": "ALL_TABLES"}
    return {
        "schema": ref.name.schema,
        "name": ref.name.name,
        "what_value": f"{ref.kind} `{ref.name}`: {change.title}",
        "column": change.name.upper(),
        "with_instances": change.name == "degree",
        "part": change.part,
        "view": f"ALL_{short}_PARTITIONS" if change.part else views[whole],
        "owner_column": f"{whole}_OWNER" if change.part else "OWNER",
        "name_column": f"{whole}_NAME",
    }


def sessions_of(run: str) -> Call:
    """List the sessions that carry a run's identifier."""
    return Call("sessions_of", file=True, binds={"run": run})
