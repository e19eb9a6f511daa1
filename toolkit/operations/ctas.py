"""CREATE TABLE AS SELECT: from a table or from the user's one SELECT."""

from __future__ import annotations

from toolkit.dialects.base import Work
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind, OperationName
from toolkit.operations.base import Piece, Planner, assemble, relation_query


class Ctas:
    """Measured: every trial makes a table under a generated name and drops it."""

    name = OperationName.CTAS
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        source = planner.named("source")
        assert table is not None
        queries = [relation_query("target_name", table, "name_in_use")]
        if source is not None:
            queries.append(relation_query("source", source))
        schema = planner.work_schema(table)
        queries.append(Query("space", "space", {"schema": schema}, optional=True))
        return tuple(queries)

    def check(self, planner: Planner) -> None:
        if planner.spec.text("source") is not None:
            planner.existing("source", "source")
        table = planner.named("table")
        assert table is not None
        if not planner.measuring or planner.spec.keep != "none":
            planner.must_be_free("target_name", table)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = planner.named("table")
        assert table is not None
        source = planner.existing("source", "source") if planner.spec.text("source") else None
        letters = planner.letters(planner.workers(cell) if planner.measuring else 1)
        return tuple(self._piece(planner, cell, table, source, letter) for letter in letters)

    def _piece(
        self, planner: Planner, cell: Cell, table: QualifiedName, source: QualifiedName | None, letter: str
    ) -> Piece:
        if planner.measuring:
            made = planner.ours(ObjectKind.TABLE, planner.naming.trial_object(letter), table)
        else:
            made = ObjectRef(ObjectKind.TABLE, table)
        work = Work(
            self.name,
            planner.spec.mode,
            made,
            planner.options(cell),
            degree=planner.degree(cell),
            source=source,
            query=planner.spec.text("query"),
            mark=planner.mark,
            concurrency=planner.workers(cell),
        )
        return Piece(work, str(made.name))

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        source = pieces[0].work.source
        return assemble(
            planner,
            cell,
            pieces,
            setup=(planner.dialect.has_rows(source),) if source else (),
            drops=[piece.work.object for piece in pieces] if planner.measuring else (),
        )
