"""Scratch objects: copies, marks, their identity, and how they are dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolkit.dialects import sizes
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.postgresql import space
from toolkit.dialects.postgresql.names import quote
from toolkit.dialects.rows import ALL_ROWS
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Attribute, ObjectRef, Takes, values_set
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import Effect, ObjectKind, Role

Values = Mapping[str, ContextValue]
_GONE = frozenset({"42P01", "42704"})
"""undefined_table and undefined_object: a DROP that finds nothing has nothing to do."""


def keyword(ref: ObjectRef) -> str:
    """Return the SQL word for the kind of an object."""
    return "INDEX" if ref.kind is ObjectKind.INDEX else "TABLE"


def name_binds(name: QualifiedName) -> dict[str, Scalar]:
    """Return the binds of a catalogue read about one relation."""
    return {"schema": name.schema, "name": name.name}


def users_index(work: Work) -> QualifiedName:
    """Return the name of the user's index that is rebuilt, also where a copy of it is."""
    return work.object.name if work.index is None else work.index.of or work.index.name


def index_row(work: Work, facts: Facts) -> Row:
    """Return what the catalogue says of an index that is rebuilt; empty where it was not read."""
    name = users_index(work)
    return _by_name(facts).get((name.schema, name.name), {})


_Named = Mapping[tuple[Scalar, Scalar], Row]
_LATEST: list[tuple[Mapping[str, tuple[Row, ...]], _Named]] = []
"""The answers that were looked into last, and their indexes by name: there may be many, each asked for often."""


def _by_name(facts: Facts) -> _Named:
    for answers, known in tuple(_LATEST):
        if answers is facts.answers:
            return known
    rows = (row for key, found in facts.answers.items() if key.partition(":")[0] == "indexes" for row in found)
    named = {(row.get("schema_name"), row.get("index_name")): row for row in rows}
    _LATEST[:] = [(facts.answers, named)]
    return named


def comment(ref: ObjectRef, mark: str | None, session: Role) -> tuple[Call, ...]:
    """Mark an object as created by dbatk; nothing without a mark (a job)."""
    if mark is None:
        return ()
    values: Values = {"kind": keyword(ref), "name": ref.name, "text": mark}
    return (Call("comment", values, session=session, effect=Effect.CHANGES, object=ref),)


def transaction(*calls: Call) -> tuple[Call, ...]:
    """Put calls into one transaction, so that every scratch object has its mark."""
    session = calls[0].session
    return (Call("begin", session=session), *calls, Call("commit", session=session, effect=Effect.COMMITS))


def marked(make: Call, mark: str | None) -> tuple[Call, ...]:
    """Make and mark in one transaction; without a mark, just make."""
    assert make.object is not None
    marks = comment(make.object, mark, make.session)
    return transaction(make, *marks) if marks else (make,)


def copy_table(source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts) -> tuple[Call, ...]:
    """Make a full copy of the rows, marked as created by dbatk."""
    values: Values = {
        "table": copy.name,
        "source": source,
        "query": None,
        "unlogged": False,
        "fillfactor": None,
        "tablespace": None,
        **ALL_ROWS,
    }
    takes = space.of_copy(source, facts)
    return marked(Call("ctas", values, effect=Effect.CREATES, object=copy, takes=takes), mark)


def empty_copy(source: QualifiedName, copy: ObjectRef, mark: str, *, bare: bool) -> tuple[Call, ...]:
    """Create an empty table like another, marked as created by dbatk.

    Foreign keys and triggers are never copied. A bare copy keeps what decides on the rows' own shape (generated
    columns, storage, compression), without indexes and constraints.
    """
    values: Values = {"table": copy.name, "source": source, "bare": bare}
    return marked(Call("create_like", values, effect=Effect.CREATES, object=copy), mark)


def move_sequence(table: ObjectRef, column: str, session: Role = Role.CONTROL) -> Call:
    """Move the sequence of a column past its values, where they went ahead of it."""
    text = ".".join(quote(part) for part in (table.name.schema, table.name.name) if part)
    values: Values = {"table": table.name, "table_text": text, "column": column}
    return Call("move_sequence", values, session=session, effect=Effect.CHANGES, object=table)


def fill_copy(source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts) -> tuple[Call, ...]:
    """Put a table's rows into its copy, and move the sequences of its own past them.

    OVERRIDING changes nothing where no column is an identity.
    """
    values: Values = {
        **ALL_ROWS,
        "table": copy.name,
        "source": source,
        "query": None,
        "columns": columns,
        "overriding": bool(columns),
        "explain": False,
        "first_block": None,
        "end_block": None,
    }
    own = [str(row["column_name"]) for row in facts.rows("columns") if row.get("identity")]
    moves = (move_sequence(copy, column) for column in own if column in columns)
    size = sizes.table_bytes(source, facts)
    takes = (*space.of_copy(source, facts), *space.of_entries(source, size, facts))
    return (Call("insert", values, effect=Effect.CHANGES, object=copy, takes=takes), *moves)


def build_index_copy(index: IndexDefinition, copy: ObjectRef, on: QualifiedName, facts: Facts) -> tuple[Call, ...]:
    """Build the same index under another name, from the server's own definition."""
    values: Values = {
        "index": QualifiedName(copy.name.name),
        "table": on,
        "unique": index.unique,
        "definition": index.definition,
    }
    takes = (Takes(index.bytes, space.new(None, facts)), space.sorting(sizes.SORTED * index.bytes, facts))
    return (Call("index_like", values, effect=Effect.CREATES, object=copy, takes=takes),)


def drop(ref: ObjectRef) -> tuple[Call, ...]:
    """Drop an scratch object; without CASCADE, so that nothing of the user's goes with it."""
    values: Values = {"kind": keyword(ref), "name": ref.name}
    return (Call("drop", values, effect=Effect.DROPS, object=ref, tolerates=_GONE),)


def identity(ref: ObjectRef) -> Call:
    """Ask which object this is: oid, database and system identifier; its mark; the transaction that made it."""
    return Call("identity", file=True, binds=name_binds(ref.name))


def renamed(ref: ObjectRef, identity: Scalar) -> Call | None:
    """Ask under which other name the oid is now."""
    oid = str(identity).partition("@")[0]
    if ref.kind not in (ObjectKind.TABLE, ObjectKind.INDEX) or not oid.isdecimal():
        return None
    return Call("renamed", file=True, binds={**name_binds(ref.name), "oid": oid})


def definition(ref: ObjectRef) -> Call | None:
    """Ask for the columns of a table, or table, kind and key of an index."""
    if ref.kind not in (ObjectKind.TABLE, ObjectKind.INDEX):
        return None
    file = "definition_index" if ref.kind is ObjectKind.INDEX else "definition_table"
    return Call(file, file=True, binds=name_binds(ref.name))


def unfinished(ref: ObjectRef) -> Call | None:
    """Ask whether an index is not valid, as CREATE INDEX CONCURRENTLY leaves it."""
    return Call("unfinished", file=True, binds=name_binds(ref.name)) if ref.kind is ObjectKind.INDEX else None


def by_hand(text: str, ref: ObjectRef, identity: Scalar, restores: Sequence[Attribute] = ()) -> Call:
    """Run a statement only where the relation is there, with the oid known, and the value is still the run's."""
    oid, _, rest = str(identity or "").partition("@")
    database = rest.partition("@")[0]
    change = restores[0] if restores else None
    values: Values = {
        "schema": ref.name.schema,
        "name": ref.name.name,
        "oid": int(oid) if oid.isdecimal() else None,
        "database": int(database) if database.isdecimal() else None,
        "text": text,
        "what_value": None if change is None else f"{ref.kind} `{ref.name}`: {change.title}",
        "option": None if change is None else f"{change.name}=([0-9]+)",
        "back": None if change is None else change.back,
        "ours": values_set(restores),
    }
    return Call("undo_by_hand", values, effect=Effect.CHANGES, object=ref)
