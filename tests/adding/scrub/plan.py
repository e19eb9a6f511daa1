"""Plans a scrub, which is a VACUUM: measured on a copy of the table, as a job on the table itself."""

from __future__ import annotations

from tests.adding.scrub import DECLARATION
from toolkit.dialects.implementations import Implementation
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, Support
from toolkit.model.words import Effect, ObjectKind, Role, SupportState
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.copies import copies_of


class Scrub:
    """One table."""

    name = DECLARATION.name
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        assert table is not None
        return (relation_query("target", table),)

    def check(self, planner: Planner) -> None:
        planner.existing("target", "table")

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = planner.existing("target", "table")
        ref = (
            copies_of(planner, [table]).tables[table] if planner.measuring else ObjectRef(ObjectKind.TABLE, table)
        )
        work = Work(self.name, planner.spec.mode, ref, planner.options(cell), degree=planner.degree(cell))
        return (Piece(work, str(table)),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        if not planner.measuring:
            return assemble(planner, cell, pieces)
        copies = copies_of(planner, [planner.existing("target", "table")])
        return assemble(planner, cell, pieces, setup=copies.setup, cleanup=copies.cleanup)


class ScrubBySql(Implementation):
    """One statement, in one process."""

    def support(self, work: Work, facts: Facts) -> Support:
        del facts
        if work.degree > 1:
            return Support(SupportState.UNSUPPORTED, "a scrub of one table is one process")
        return Support(SupportState.SUPPORTED)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        values = {"table": work.object.name}
        return (Call("scrub", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object),)


OPERATION = Scrub()
