"""A load of data files: measured into an empty copy of the named table, as a job into the table itself.

The files are divided into chunks, each an item on the clock with a transaction of its own: what is committed is in
the journal, and a load that was cut off goes on with the other chunks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from toolkit.design.csv_style import style_of
from toolkit.dialects.transfers import FILES, checked_rows
from toolkit.dialects.work import Call, Work
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.transfers import CsvStyle, FileFormat, FilePart, Transfer
from toolkit.model.values import Cell, QualifiedName, Row
from toolkit.model.words import ObjectKind, ProbeKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.copies import refuse_kinds
from toolkit.operations.loads import (
    chosen_columns,
    column_names,
    make_notes,
    notes_of,
    other_delimiter,
    reads_of_filled,
    reads_of_space,
    refuse_nested,
)


class LoadFiles:
    """Every trial fills a new, empty copy, so that all begin in the same state."""

    name = "load"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        assert table is not None
        read_here = {"array"}.issuperset(planner.spec.values("method"))
        sizes = () if read_here else (relation_query("column_sizes", table, "column_sizes"),)
        return (*reads_of_filled(planner), *sizes, *reads_of_space(planner))

    def check(self, planner: Planner) -> None:
        planner.existing("target", "table")
        refuse_kinds(planner, ("materialized view",), "which takes no rows", "load a table it reads")
        if planner.measuring:
            kinds = ("view", "foreign table")
            refuse_kinds(planner, kinds, "whose copy would be an ordinary table", "give the table itself")
        for row in planner.facts.rows(FILES):
            refuse_nested(row)
            _columns_in(planner, row)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = planner.existing("target", "table")
        whole = planner.workers(cell) // planner.sessions(cell)
        if planner.measuring:
            letters = planner.letters(whole)
            filled = [
                planner.scratch(ObjectKind.TABLE, planner.naming.trial_object(one), table) for one in letters
            ]
        else:
            filled = [ObjectRef(ObjectKind.TABLE, table)]
        sizes = {str(row["path"]): float(str(row["byte_count"])) for row in planner.facts.rows(FILES)}
        biggest = planner.options(cell).get("file_order") == "biggest"
        pieces = tuple(
            Piece(
                self._work(planner, cell, into, transfer, label),
                label,
                sizes.get(transfer.chunk.path, 0.0) if biggest else 0.0,
            )
            for into in filled
            for label, transfer in _labelled(_transfers(planner, cell, into.name), into, several=len(filled) > 1)
        )
        return (replace(pieces[0], work=_checking_first(pieces[0].work, pieces)), *pieces[1:])

    def _work(self, planner: Planner, cell: Cell, into: ObjectRef, transfer: Transfer, label: str) -> Work:
        return Work(
            self.name, planner.spec.mode, into, planner.options(cell), degree=planner.degree(cell),
            columns=transfer.columns, mark=planner.mark, concurrency=planner.workers(cell), transfer=transfer,
            label=label, notes=notes_of(planner, cell, into.name),
        )  # fmt: skip

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        table = planner.existing("target", "table")
        copies = dict.fromkeys(piece.work.object for piece in pieces if piece.work.object.scratch)
        before = [call for copy in copies for call in self._copy(planner, cell, table, copy)]
        notes = pieces[0].work.notes
        if notes is None:
            stages = assemble(planner, cell, pieces, before=before, drops=copies)
        else:
            stages = assemble(
                planner, cell, pieces, setup=make_notes(planner, notes), cleanup=planner.dialect.drop(notes)
            )
        hosts = planner.options(cell).get("hosts")
        return replace(stages, timed=replace(stages.timed, hosts=hosts if isinstance(hosts, int) else 0))

    def _copy(self, planner: Planner, cell: Cell, table: QualifiedName, copy: ObjectRef) -> tuple[Call, ...]:
        mark, bare = mark_of(planner.naming.key), bool(planner.options(cell).get("bare"))
        return planner.dialect.empty_copy(table, copy, mark, planner.facts, bare=bare)


def _checking_first(work: Work, pieces: tuple[Piece, ...]) -> Work:
    """Let the first chunk check the first rows of all files before it is loaded."""
    rows = checked_rows(work.options)
    if not rows:
        return work
    first = {transfer.chunk.path: transfer for piece in reversed(pieces) if (transfer := piece.work.transfer)}
    paths = dict.fromkeys(transfer.chunk.path for piece in pieces if (transfer := piece.work.transfer))
    return replace(work, samples=tuple(replace(first[path], sample_rows=rows) for path in paths))


def _transfers(planner: Planner, cell: Cell, table: QualifiedName) -> Iterator[Transfer]:
    options = planner.options(cell)
    files = {str(row["path"]): row for row in planner.facts.rows(FILES)}
    style, most = style_of(options), options.get("max_rejects")
    for chunk in _chunks(planner, cell, files):
        row = files.get(chunk.path)
        columns = _columns_in(planner, row) if row is not None else _table_columns(planner)
        yield Transfer(
            chunk, style, columns, table, max_rejects=most if isinstance(most, int) else 0,
            rejects=_rejects(planner, chunk.path),
        )  # fmt: skip


def _rejects(planner: Planner, first: str) -> str:
    rows = planner.facts.rows(FILES)
    folder = PurePath(str(rows[0]["path"]) if rows else first).parent
    return planner.spec.text("rejects") or str(folder / f"dbatk-rejects-{planner.naming.key}.csv")


def _chunks(planner: Planner, cell: Cell, files: dict[str, Row]) -> Iterator[FilePart]:
    how = planner.dialect.work.of(planner.spec.operation)
    keys = (
        probe.key for probe in how.probes(planner.options(cell), planner.facts) if probe.kind is ProbeKind.CHUNKS
    )
    rows = planner.facts.rows(next(keys, ""))
    if not rows:  # without a look at the files, each is a chunk as it was named
        for path in planner.spec.names("files"):
            form = FileFormat.PARQUET if path.endswith(".parquet") else FileFormat.CSV
            yield FilePart(path, form, gzipped=path.endswith(".gz"))
        return
    counts = [row["path"] for row in rows]
    for row in rows:
        file = files[str(row["path"])]
        end = row["end"]
        yield FilePart(
            str(row["path"]), FileFormat(str(file["format"])), file["is_gzipped"] == "yes", int(str(row["first"])),
            None if end is None else int(str(end)), float(str(row["byte_count"])),
            whole=counts.count(row["path"]) == 1,
        )  # fmt: skip


def _labelled(transfers: Iterator[Transfer], into: ObjectRef, *, several: bool) -> Iterator[tuple[str, Transfer]]:
    """Give each chunk a label of its own: files of one name in two folders have their folders with them."""
    taken: set[str] = set()
    for transfer in transfers:
        label = transfer.chunk.name
        if label in taken:
            label = label.replace(PurePath(transfer.chunk.path).name, transfer.chunk.path, 1)
        taken.add(label)
        yield (f"{into.name.name} {label}" if several else label), transfer


# -- columns --------------------------------------------------------------------------------------------------
def _table_columns(planner: Planner) -> tuple[str, ...]:
    known = column_names(planner, ["columns"])
    if not planner.spec.names("columns"):
        return known
    return chosen_columns(planner, known, f"`{planner.spec.text('table')}`")


def _columns_in(planner: Planner, row: Row) -> tuple[str, ...]:
    """Return the columns of the table that a file fills, in the order of the file.

    Raises:
        ToolkitError: TK-0107 where they do not fit, naming file, line and column.
    """
    names = [str(name) for name in json.loads(str(row["columns"]))]
    style = style_of(planner.spec.options)
    if not names and style.header:
        what = "there is none, and it should name the columns"
        raise _does_not_fit(row, what, "leave the file out, or see why it is empty")
    if planner.spec.names("columns") or not (style.header or row["format"] == FileFormat.PARQUET):
        return _by_position(planner, row, names)
    known = column_names(planner, ["columns"])
    exact = {name.lower(): name for name in reversed(known)}
    found: list[str] = []
    for number, name in enumerate(names, 1):
        column = name if name in known else exact.get(name.strip().lower())
        if column is None:
            raise _does_not_fit(
                row, f"column {number} is `{name}`, which `{planner.spec.text('table')}` does not have",
                other_delimiter(names, style) or did_you_mean(name.strip(), list(known)) or _hint(style),
            )  # fmt: skip
        if column in found:
            raise _does_not_fit(
                row, f"column {number} is `{name}` a second time", "name the columns with --columns"
            )
        found.append(column)
    return tuple(found)


def _by_position(planner: Planner, row: Row, names: list[str]) -> tuple[str, ...]:
    columns = _table_columns(planner)
    if len(names) != len(columns):
        of = "--columns names" if planner.spec.names("columns") else f"`{planner.spec.text('table')}` has"
        raise _does_not_fit(row, f"{len(names)} fields, and {of} {len(columns)}", "name them with --columns")
    return columns


def _does_not_fit(row: Row, what: str, hint: str) -> ToolkitError:
    line = "" if row["format"] == FileFormat.PARQUET else ", line 1"
    return ToolkitError(f"`{row['path']}`{line}: {what}", code="TK-0107", hint=hint)


def _hint(style: CsvStyle) -> str:
    return f"name the columns with --columns, or check --header and --delimiter (now `{style.delimiter}`)"


OPERATION = LoadFiles()
