"""DELETE in chunks: as a job from the table itself, measured from copies that are filled anew for each trial."""

from __future__ import annotations

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
from toolkit.operations.loads import column_names, reads_of_space
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
        refuse_kinds(
            planner, _NO_ROWS_OF_ITS_OWN, "which has no rows of its own to delete", "give the table that has them"
        )
        if planner.measuring and planner.spec.keep is Keep.BEST:
            raise ToolkitError(
                "`--keep best` would delete rows of the table itself",
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

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table, options = planner.existing("target", "table"), planner.options(cell)
        how = chunked(planner.dialect.work, self.name)
        size, each = chunk_rows(options), int(str(options.get("commit_every") or 1))
        chunks = planner.once(("chunks", size), lambda: self._chunks(planner, size))
        away, notes = ObjectRef(ObjectKind.TABLE, table), None
        if planner.measuring:
            away = planner.scratch(ObjectKind.TABLE, planner.naming.trial_object(), table)
        elif how.keeps_notes:
            notes = planner.scratch(ObjectKind.TABLE, planner.naming.run_object(1), table)
        work = Work(
            self.name, planner.spec.mode, away, options, degree=planner.degree(cell), mark=planner.mark,
            concurrency=planner.workers(cell), matching=sum(chunk.rows for chunk in chunks), notes=notes,
        )  # fmt: skip
        return tuple(Piece(part, part.label) for part in how.in_transactions(work, chunks, each, planner.facts))

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
            return assemble(planner, cell, pieces, before=self._copy(planner, away), drops=(away,))
        notes = pieces[0].work.notes
        if notes is None:
            return assemble(planner, cell, pieces)
        made = chunked(planner.dialect.work, self.name).make_notes(notes, mark_of(planner.naming.key))
        return assemble(planner, cell, pieces, setup=made, cleanup=planner.dialect.drop(notes))

    @staticmethod
    def _copy(planner: Planner, copy: ObjectRef) -> tuple[Call, ...]:
        """Make the table that a trial deletes from: with the rows, the keys and the indexes of the real one."""
        dialect, facts = planner.dialect, planner.facts
        table = planner.existing("target", "table")
        own = column_names(planner, ["identity_columns"])
        columns = tuple(name for name in column_names(planner, ["columns"]) if name not in own)
        made = dialect.empty_copy(table, copy, mark_of(planner.naming.key), facts, bare=False)
        return (*made, *dialect.fill_copy(table, copy, columns, facts))


OPERATION = Purge()
