"""CREATE TABLE AS SELECT: from a table or from the user's one SELECT."""

from __future__ import annotations

from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.sources import (
    chosen_columns,
    existing_source,
    readable_columns,
    reads_of_source,
    reads_of_space,
)


class Ctas:
    """Measured: every trial makes a table under a generated name and drops it."""

    name = "ctas"
    version = 2

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        assert table is not None
        return (
            relation_query("target_name", table, "name_in_use"),
            *reads_of_source(planner),
            *reads_of_space(planner, planner.work_schema(table)),
        )

    def check(self, planner: Planner) -> None:
        source = existing_source(planner)
        self._columns(planner)
        table = planner.named("table")
        assert table is not None
        if source == table:
            raise ToolkitError(
                f"`--source` and `--table` are both `{table}`: a table cannot be created from itself",
                code="TK-0107",
                hint="give the new table a different name",
            )
        if not planner.measuring or planner.spec.keep != "none":
            planner.must_be_free("target_name", table)

    def _columns(self, planner: Planner) -> tuple[str, ...]:
        """Return the columns chosen; none when all are copied."""
        return chosen_columns(planner, readable_columns(planner), f"`{planner.spec.text('source')}`")

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = planner.named("table")
        assert table is not None
        source = existing_source(planner)
        letters = planner.letters(planner.workers(cell) if planner.measuring else 1)
        return tuple(self._piece(planner, cell, table, source, letter) for letter in letters)

    def _piece(
        self, planner: Planner, cell: Cell, table: QualifiedName, source: QualifiedName | None, letter: str
    ) -> Piece:
        if planner.measuring:
            made = planner.scratch(ObjectKind.TABLE, planner.naming.trial_object(letter), table)
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
            columns=self._columns(planner),
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


OPERATION = Ctas()
