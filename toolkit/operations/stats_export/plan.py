"""Export statistics to a table, made where it is absent; a job, since nothing of it is worth measuring."""

from __future__ import annotations

from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.index_rebuild.plan import check_schemas

HOLDER = "stat_table"


class StatsExport:
    """One work: the table that takes the statistics, one call for the table or for each schema."""

    name = "stats-export"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table, holder = planner.named("table"), planner.named("stat_table")
        asked = [] if table is None else [relation_query("target", table)]
        kept = [] if holder is None else [relation_query(HOLDER, holder)]
        schemas = (Query(f"schema:{schema}", "schema", {"schema": schema}) for schema in planner.schemas())
        return (*asked, *kept, *schemas)

    def check(self, planner: Planner) -> None:
        if planner.measuring:
            raise ToolkitError(
                "statistics are exported once: there is nothing to measure",
                code="TK-0107",
                hint="one configuration without `--repeat` is a job",
            )
        if planner.spec.text("table") is not None:
            planner.existing("target", "table")
        elif self.name in planner.dialect.work:
            check_schemas(planner)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = None if planner.spec.text("table") is None else planner.existing("target", "table")
        holder = planner.named("stat_table")
        assert holder is not None
        work = Work(
            self.name, planner.spec.mode, ObjectRef(ObjectKind.TABLE, holder), planner.options(cell), source=table
        )
        return (Piece(work, str(holder)),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        return assemble(planner, cell, self.pieces(planner, cell))


OPERATION = StatsExport()
