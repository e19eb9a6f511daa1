"""INSERT AS SELECT: measured into an empty copy of the named table, as a job into the table itself."""

from __future__ import annotations

from toolkit.dialects.base import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind, OperationName
from toolkit.operations.base import Piece, Planner, assemble, relation_query


class Insert:
    """Every trial fills a new, empty copy, so that all begin in the same state."""

    name = OperationName.INSERT
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        source = planner.named("source")
        assert table is not None
        queries = [
            relation_query("target", table),
            relation_query("columns", table, "columns"),
            relation_query("table_indexes", table, "table_indexes"),
        ]
        queries += [relation_query(file, table, file) for file in planner.dialect.copy_files]
        if source is not None:
            queries += [relation_query("source", source), relation_query("source_columns", source, "columns")]
        queries.append(Query("space", "space", {"schema": planner.work_schema(table)}, optional=True))
        return tuple(queries)

    def check(self, planner: Planner) -> None:
        planner.existing("target", "table")
        if planner.spec.text("source") is not None:
            planner.existing("source", "source")
        if not planner.facts.assumed and not self._columns(planner):
            raise ToolkitError(
                "source and table have no column name in common",
                code="TK-0107",
                hint="name the columns yourself with --query",
            )

    def _columns(self, planner: Planner) -> tuple[str, ...]:
        """Return the columns filled: those of the table that the source has too, in the table's order."""
        target = [str(row["column_name"]) for row in planner.facts.rows("columns")]
        if planner.spec.text("source") is None:
            return tuple(target)
        source = {str(row["column_name"]) for row in planner.facts.rows("source_columns")}
        return tuple(name for name in target if name in source)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = planner.existing("target", "table")
        source = planner.existing("source", "source") if planner.spec.text("source") else None
        letters = planner.letters(planner.workers(cell) if planner.measuring else 1)
        return tuple(self._piece(planner, cell, table, source, letter) for letter in letters)

    def _piece(
        self, planner: Planner, cell: Cell, table: QualifiedName, source: QualifiedName | None, letter: str
    ) -> Piece:
        if planner.measuring:
            into = planner.ours(ObjectKind.TABLE, planner.naming.trial_object(letter), table)
        else:
            into = ObjectRef(ObjectKind.TABLE, table)
        work = Work(
            self.name,
            planner.spec.mode,
            into,
            planner.options(cell),
            degree=planner.degree(cell),
            source=source,
            query=planner.spec.text("query"),
            columns=self._columns(planner),
            mark=planner.mark,
            concurrency=planner.workers(cell),
        )
        return Piece(work, str(into.name))

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        source = pieces[0].work.source
        copies = [piece.work.object for piece in pieces] if planner.measuring else []
        table = planner.existing("target", "table")
        before = [
            call
            for copy in copies
            for call in planner.dialect.empty_copy(
                table, copy, mark_of(planner.naming.key), planner.facts, bare=planner.spec.flag("bare")
            )
        ]
        return assemble(
            planner,
            cell,
            pieces,
            setup=(planner.dialect.has_rows(source),) if source else (),
            before=before,
            drops=copies,
        )
