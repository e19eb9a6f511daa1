"""A load: the table or query that it reads, the columns it takes of it, and the table that it fills."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from toolkit.dialects.work import Call, Work
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of, queries_of
from toolkit.model.facts import Query
from toolkit.model.operations import RowSemantics, declaration
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.transfers import CsvStyle
from toolkit.model.values import Cell, QualifiedName, Row
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.units import counted

_QUERY_ROWS = "query_rows:"
VALUED = ("columns", "virtual_columns", "invisible_columns")
"""Answers that name columns whose values can be read."""
_NESTED = ("STRUCT", "MAP", "UNION")


def reads_of_source(planner: Planner) -> list[Query]:
    """Return what is read about the table of `--source`; nothing with `--query`."""
    source = planner.named("source")
    if source is None:
        return []
    further = planner.dialect.table_reads(source, planner.facts, "source_")
    queries = [relation_query("source", source)]
    if further or planner.spec.names("columns") or declaration(planner.spec.operation).rows is RowSemantics.ADDS:
        queries.append(relation_query("source_columns", source, "columns"))
    return [*queries, *further]


def reads_of_filled(planner: Planner) -> list[Query]:
    """Return what is read about the table that is filled, and for its copies."""
    table = planner.named("table")
    assert table is not None
    queries = [
        relation_query("target", table),
        relation_query("columns", table, "columns"),
        relation_query("table_indexes", table, "table_indexes"),
    ]
    queries += [relation_query(file, table, file) for file in planner.dialect.copy_files]
    if planner.measuring and planner.spec.values("bare") != (True,):
        queries += planner.dialect.index_reads(table.schema, table.name, planner.facts)
    return [*queries, *planner.dialect.filled_reads(table, planner.facts)]


def reads_of_space(planner: Planner) -> list[Query]:
    """Return what is read about the places where objects go."""
    named = (planner.named(option) for option in ("table", "index") if planner.spec.text(option) is not None)
    owners = {name.schema for name in named if name is not None} | set(planner.schemas())
    owners.add(planner.work_schema(None))
    return [Query(file, file, optional=True) for file in planner.dialect.space_files(planner.facts, owners)]


def reads_of_logs(planner: Planner) -> list[Query]:
    """Return what is read about the place of logs that the server keeps, where nothing but those takes space."""
    file = planner.dialect.logs_file
    return [] if file is None else [Query(file, file, optional=True)]


def computed_columns(planner: Planner, table: QualifiedName) -> list[Query]:
    """Ask for the columns of a table whose values are computed, where the engine lists them apart."""
    return [query for query in planner.dialect.table_reads(table, planner.facts) if query.file in VALUED]


def existing_source(planner: Planner) -> QualifiedName | None:
    """Return the exact name of `--source`; None with `--query`.

    Raises:
        ToolkitError: TK-0204 when there is no such table.
    """
    return planner.existing("source", "source") if planner.spec.text("source") is not None else None


def external_source(planner: Planner) -> ObjectRef | None:
    """Refer to the table of the run through which files of the server are read; None where none are."""
    if not planner.spec.names("external_files"):
        return None
    return planner.scratch(ObjectKind.TABLE, planner.naming.run_object(1), planner.named("table"))


def readable_columns(planner: Planner) -> tuple[str, ...]:
    """Return every column of the source that can be named: virtual and invisible ones come last."""
    return column_names(planner, [f"source_{key}" for key in VALUED])


def column_names(planner: Planner, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the column names of several answers, each once."""
    names = [str(row["column_name"]) for key in keys for row in planner.facts.rows(key)]
    return tuple(dict.fromkeys(names))


def chosen_columns(planner: Planner, known: Sequence[str], of: str) -> tuple[str, ...]:
    """Return the columns of `--columns` as the catalogue spells them.

    Raises:
        ToolkitError: TK-0204 for a column that is not among `known`, with the nearest; TK-0103 for one twice.
    """
    return checked_columns(planner, planner.spec.names("columns"), known, of, "--columns")


def checked_columns(
    planner: Planner, given: Sequence[str], known: Sequence[str], of: str, option: str
) -> tuple[str, ...]:
    """Return columns that an option names as the catalogue spells them; as `chosen_columns`."""
    exact = {name.lower(): name for name in reversed(known)}
    found: list[str] = []
    for text in given:
        if "(" in text and not text.startswith('"'):
            raise ToolkitError(
                f"`{text}` is not a column", code="TK-0104", hint="an expression belongs in the SELECT of --query"
            )
        read = planner.dialect.parse_name(text, planner.facts.release)
        name = read.name if read.name in known else exact.get(read.name.lower(), read.name)
        if read.schema is not None or (name not in known and (known or not planner.facts.assumed)):
            raise ToolkitError(
                f"{of} has no column `{text}`", code="TK-0204", hint=did_you_mean(read.name, list(known))
            )
        if name in found:
            raise ToolkitError(f"`{option}` has `{name}` twice", code="TK-0103", hint="give each once")
        found.append(name)
    return tuple(found)


def pieces_into(planner: Planner, cell: Cell, table: QualifiedName, columns: tuple[str, ...]) -> tuple[Piece, ...]:
    """Return the loads of a trial: each into a scratch table of its own; as a job one, into the table itself.

    Where a degree is sessions, each load is divided among so many.
    """
    sessions = planner.sessions(cell)
    if planner.measuring:
        letters = planner.letters(planner.workers(cell) // sessions)
        filled = [planner.scratch(ObjectKind.TABLE, planner.naming.trial_object(one), table) for one in letters]
    else:
        filled = [ObjectRef(ObjectKind.TABLE, table)]
    source, query, external = existing_source(planner), planner.spec.query(cell), external_source(planner)
    notes = notes_of(planner, cell, table)
    works = (
        Work(
            planner.spec.operation,
            planner.spec.mode,
            into,
            planner.options(cell),
            degree=planner.degree(cell),
            source=source if external is None else external.name,
            query=query,
            columns=columns,
            mark=planner.mark,
            concurrency=planner.workers(cell),
            label=into.name.name if notes else "",
            notes=notes,
        )
        for into in filled
    )
    parts = planner.dialect.work.of(planner.spec.operation).parts
    return tuple(
        Piece(part, part.label or f"{part.object.name} {which}".strip())
        for work in works
        for which, part in (parts.divided(work, sessions, planner.facts) if parts else (("", work),))
    )


def stages_of(planner: Planner, cell: Cell, pieces: Sequence[Piece], before: Iterable[Call] = ()) -> Stages:
    """Put the stages of loads together: a source is seen to have rows, and what a trial filled is dropped."""
    source, external, notes = existing_source(planner), external_source(planner), pieces[0].work.notes
    made: tuple[Call, ...] = (planner.dialect.has_rows(source),) if source else _rows_of_queries(planner)
    if external is not None:
        how = planner.dialect.work.of(planner.spec.operation)
        made = how.make_source(external, pieces[0].work, planner.facts, mark_of(planner.naming.key))
    if notes is not None:
        made = (*made, *make_notes(planner, notes))
    own = external or notes
    return assemble(
        planner,
        cell,
        pieces,
        setup=made,
        cleanup=() if own is None else planner.dialect.drop(own),
        before=before,
        drops=dict.fromkeys(piece.work.object for piece in pieces if piece.work.object.scratch),
    )


def notes_of(planner: Planner, cell: Cell, table: QualifiedName) -> ObjectRef | None:
    """Refer to the table that says what is committed, on engines that cannot be asked for a transaction."""
    how = planner.dialect.work.of(planner.spec.operation)
    if planner.measuring or not how.notes_transactions(planner.options(cell)):
        return None
    return planner.scratch(ObjectKind.TABLE, planner.naming.run_object(1), table)


def make_notes(planner: Planner, notes: ObjectRef) -> tuple[Call, ...]:
    """Make that table."""
    how = planner.dialect.work.of(planner.spec.operation)
    return how.make_notes(notes, mark_of(planner.naming.key))


def _rows_of_queries(planner: Planner) -> tuple[Call, ...]:
    """Ask what each of several queries gives: they are compared only if it is the same, or need not be."""
    queries = queries_of(planner.spec.options)
    if len(queries) < 2 or planner.spec.flag("different_rows"):
        return ()
    calls = ((name, planner.dialect.query_rows(text)) for name, text in queries.items())
    return tuple(replace(call, keep_as=f"{_QUERY_ROWS}{name}") for name, call in calls)


def check_same_rows(kept: Mapping[str, Sequence[Row]]) -> str | None:
    """Compare what several queries give, as the setup of a run found it; return what could not be compared.

    Raises:
        ToolkitError: TK-0110 where they give different rows.
    """
    found = {key.removeprefix(_QUERY_ROWS): rows[0] for key, rows in kept.items() if key.startswith(_QUERY_ROWS)}
    first = next(iter(found), "")
    for name, row in found.items():
        counts = [int(str(one["row_count"])) for one in (found[first], row)]
        if counts[0] != counts[1]:
            sentence = f"`{name}` gives {counted(counts[1], 'row')}, `{first}` gives {counted(counts[0], 'row')}"
        elif row.get("checksum") != found[first].get("checksum"):
            sentence = f"`{name}` gives as many rows as `{first}` ({counts[0]:,}), but not the same"
        else:
            continue
        raise ToolkitError(
            f"{sentence}: these are not variants of one query",
            code="TK-0110",
            hint="correct the query, or measure them all the same with `--different-rows`",
        )
    if found and found[first].get("checksum") is None:
        return "the queries give as many rows; whether these are the same was not compared on this engine"
    return None


def refuse_nested(row: Row) -> None:
    """Refuse a parquet file whose columns hold more than one value.

    Raises:
        ToolkitError: TK-0107.
    """
    for name, of_type in zip(json.loads(str(row["columns"])), json.loads(str(row["types"])), strict=False):
        if of_type.endswith("]") or of_type.startswith(_NESTED):
            raise ToolkitError(
                f"`{row['path']}`: column `{name}` is nested ({of_type}), and a table's column holds one value",
                code="TK-0107",
                hint="write it flat first, or load it with the database's own statement",
            )


def other_delimiter(names: Sequence[str], style: CsvStyle) -> str | None:
    """Say which delimiter a header seems to have that was read as one name."""
    found = next((each for each in ";\t|," if each != style.delimiter and each in names[0]), None)
    if len(names) > 1 or found is None:
        return None
    return f"the names seem to be divided by `{found}`: add `--delimiter '{found}'`".replace("\t", "tab")
