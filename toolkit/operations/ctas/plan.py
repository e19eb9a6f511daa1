"""CREATE TABLE AS SELECT: from a table or from the user's one SELECT."""

from __future__ import annotations

from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.steps import Stages
from toolkit.model.values import Cell
from toolkit.operations.base import Piece, Planner, relation_query
from toolkit.operations.loads import (
    chosen_columns,
    existing_source,
    pieces_into,
    readable_columns,
    reads_of_source,
    reads_of_space,
    stages_of,
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
            *reads_of_space(planner),
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
        return pieces_into(planner, cell, table, self._columns(planner))

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        return stages_of(planner, cell, self.pieces(planner, cell))


OPERATION = Ctas()
