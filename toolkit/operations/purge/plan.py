"""DELETE and UPDATE in chunks: as a job on the table itself, measured on copies filled anew for each trial."""

from __future__ import annotations

from toolkit.design.user_sql import assignments_of, parts_of_assignment
from toolkit.dialects.chunks import (
    MATCHING,
    MOST_CHUNKS,
    chunk_rows,
    chunked,
    chunks_in,
    matching_rows,
    survey_key,
)
from toolkit.dialects.work import Call, Chunk, Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import Keep, ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.copies import refuse_kinds
from toolkit.operations.loads import checked_columns, column_names, reads_of_space
from toolkit.units import counted

EVERY_ROW = "TK-0315"
_NO_ROWS_OF_ITS_OWN = ("view", "materialized view", "foreign table")


class Purge:
    """The chunks of a trial are its items: each transaction is one, taken by whichever session is free."""

    name = "purge"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        assert table is not None
        queries = [relation_query("target", table), relation_query("columns", table, "columns")]
        queries += [relation_query(file, table, file) for file in self._table_files(planner)]
        archive = planner.named("archive_to")
        if archive is not None:
            queries += [relation_query("archive", archive), relation_query("archive_columns", archive, "columns")]
            files = chunked(planner.dialect.work, self.name).archive_files
            queries += [relation_query(file, archive, file) for file in files]
            queries += reads_of_space(planner)
        if planner.measuring:
            queries += [relation_query(file, table, file) for file in planner.dialect.copy_files]
            queries += planner.dialect.index_reads(table.schema, table.name, planner.facts)
            queries += [*planner.dialect.filled_reads(table, planner.facts), *reads_of_space(planner)]
        return tuple(queries)

    @staticmethod
    def _table_files(planner: Planner) -> tuple[str, ...]:
        return planner.dialect.work.of(planner.spec.operation).table_files

    def check(self, planner: Planner) -> None:
        table = planner.existing("target", "table")
        refuse_kinds(planner, _NO_ROWS_OF_ITS_OWN, "which has no rows of its own", "give the table that has them")
        self._check_archive(planner, table)
        self._assignments(planner)
        if planner.measuring and planner.spec.keep is Keep.BEST:
            raise ToolkitError(
                "`--keep best` would work on the table itself",
                code="TK-0107",
                hint="omit it; then run a job with the levels that the measurement recommends",
            )
        self._refuse_every_row(planner, table)

    def _refuse_every_row(self, planner: Planner, table: QualifiedName) -> None:
        """Refuse a condition that every row of the table meets.

        Raises:
            ToolkitError: TK-0315.
        """
        rows = matching_rows(planner.facts)
        if planner.spec.flag("all_rows") or not rows or planner.facts.value(MATCHING, "others") != "no":
            return
        raise ToolkitError(
            f"every row of `{table}` matches the condition ({counted(rows, 'row')})",
            code=EVERY_ROW,
            hint="check the condition; if all are to go, add `--all-rows`",
        )

    @staticmethod
    def _check_archive(planner: Planner, table: QualifiedName) -> None:
        """Refuse an archive that is not there, is the table itself, or lacks a column of it.

        Raises:
            ToolkitError: TK-0204, TK-0107.
        """
        if planner.spec.text("archive_to") is None:
            return
        archive = planner.existing("archive", "archive_to")
        if archive == table:
            raise ToolkitError(
                f"`{table}` cannot be its own archive", code="TK-0107", hint="give another table with --archive-to"
            )
        there = column_names(planner, ["archive_columns"])
        missing = [name for name in column_names(planner, ["columns"]) if name not in there]
        if missing and not planner.facts.assumed:
            raise ToolkitError(
                f"`{archive}` has no column `{missing[0]}`, which `{table}` has",
                code="TK-0204",
                hint="an archive has every column of its table, under the same names; add it",
            )

    @staticmethod
    def _assignments(planner: Planner) -> tuple[tuple[str, str], ...]:
        """Return what is set: columns as the catalogue spells them, each with its expression.

        Raises:
            ToolkitError: TK-0204 for a column that is not there, TK-0103 for one twice, TK-0107 of the key.
        """
        parts = [
            parts_of_assignment(text, planner.dialect.engine) for text in assignments_of(planner.spec.options)
        ]
        known = column_names(planner, ["columns"])
        table = f"`{planner.spec.text('table')}`"
        found = checked_columns(planner, [column for column, _ in parts], known, table, "--set")
        key = chunked(planner.dialect.work, planner.spec.operation).key(planner.facts)
        for name in found:
            if name in key.columns:
                raise ToolkitError(
                    f"`{name}` is part of the key `{key.name}` that divides {table} into chunks",
                    code="TK-0107",
                    hint="a row with another key could be changed twice: change it by a statement of your own",
                )
        return tuple((name, expression) for name, (_, expression) in zip(found, parts, strict=True))

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table, options = planner.existing("target", "table"), planner.options(cell)
        how = chunked(planner.dialect.work, self.name)
        size, each = chunk_rows(options), int(str(options.get("commit_every") or 1))
        chunks = planner.once(("chunks", size), lambda: self._chunks(planner, size))
        away, notes, bounds = ObjectRef(ObjectKind.TABLE, table), None, None
        if planner.measuring:
            away = planner.scratch(ObjectKind.TABLE, planner.naming.trial_object(), table)
            if how.divides_copies:
                bounds = planner.scratch(ObjectKind.TABLE, planner.naming.trial_object("B"), table)
        elif how.keeps_notes:
            notes = planner.scratch(ObjectKind.TABLE, planner.naming.run_object(1), table)
        work = Work(
            self.name, planner.spec.mode, away, options, degree=planner.degree(cell), mark=planner.mark,
            concurrency=planner.workers(cell), matching=sum(chunk.rows for chunk in chunks), notes=notes,
            bounds=bounds, archive=self._archive(planner), columns=column_names(planner, ["columns"]),
            assignments=self._assignments(planner),
        )  # fmt: skip
        return tuple(Piece(part, part.label) for part in how.in_transactions(work, chunks, each, planner.facts))

    @staticmethod
    def _archive(planner: Planner) -> ObjectRef | None:
        if planner.spec.text("archive_to") is None:
            return None
        archive = planner.existing("archive", "archive_to")
        if planner.measuring:
            return planner.scratch(ObjectKind.TABLE, planner.naming.trial_object("A"), archive)
        return ObjectRef(ObjectKind.TABLE, archive)

    @staticmethod
    def _chunks(planner: Planner, size: int) -> tuple[Chunk, ...]:
        """Return the chunks of the table.

        Raises:
            ToolkitError: TK-0112 where they were not read, TK-0102 when there are too many.
        """
        chunks = chunks_in(planner.facts.require(survey_key(size)), size)
        if len(chunks) <= MOST_CHUNKS:
            return chunks
        rows = sum(chunk.rows for chunk in chunks)
        raise ToolkitError(
            f"{counted(rows, 'row')} in chunks of {size} are {counted(len(chunks), 'chunk')}",
            code="TK-0102",
            hint=f"give a `--chunk` of at least {-(-rows // MOST_CHUNKS)}",
        )

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        away = pieces[0].work.object
        if away.scratch:
            work = pieces[0].work
            copied = self._copy(planner, away, work.archive)
            if work.bounds is not None:
                how, mark = chunked(planner.dialect.work, self.name), mark_of(planner.naming.key)
                copied = (*copied, *how.divide_copy(work, work.bounds, mark))
            drops = tuple(ref for ref in (away, work.archive, work.bounds) if ref is not None)
            return assemble(planner, cell, pieces, before=copied, drops=drops)
        notes = pieces[0].work.notes
        if notes is None:
            return assemble(planner, cell, pieces)
        made = chunked(planner.dialect.work, self.name).make_notes(notes, mark_of(planner.naming.key))
        return assemble(planner, cell, pieces, setup=made, cleanup=planner.dialect.drop(notes))

    @staticmethod
    def _copy(planner: Planner, copy: ObjectRef, archive: ObjectRef | None) -> tuple[Call, ...]:
        """Make the table that a trial works on, with the rows, keys and indexes of the real one, and its archive.

        The archive is an empty table with the columns alone.
        """
        dialect, facts = planner.dialect, planner.facts
        table = planner.existing("target", "table")
        own = column_names(planner, ["identity_columns"])
        columns = tuple(name for name in column_names(planner, ["columns"]) if name not in own)
        made = dialect.empty_copy(table, copy, mark_of(planner.naming.key), facts, bare=False)
        filled = (*made, *dialect.fill_copy(table, copy, columns, facts))
        if archive is None:
            return filled
        real = planner.existing("archive", "archive_to")
        return (*filled, *dialect.empty_copy(real, archive, mark_of(planner.naming.key), facts, bare=True))


OPERATION = Purge()
