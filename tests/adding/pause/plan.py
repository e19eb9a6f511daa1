"""Plans a pause, and how the host does it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.adding.pause import DECLARATION
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Implementation, Kept
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Query
from toolkit.model.records import Metric
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName, Support
from toolkit.model.words import ObjectKind, Role, StepKind, SupportState
from toolkit.operations.base import Piece, Planner, assemble


class Pause:
    """One program that waits."""

    name = DECLARATION.name
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        del planner
        return ()

    def check(self, planner: Planner) -> None:
        del planner

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        ref = ObjectRef(ObjectKind.SESSION, QualifiedName("pause"))
        return (Piece(Work(self.name, planner.spec.mode, ref, planner.options(cell)), "pause"),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        return assemble(planner, cell, self.pieces(planner, cell))


class PauseOfHost(Implementation):
    """`sleep` of this host."""

    def support(self, work: Work, facts: Facts) -> Support:
        del work, facts
        return Support(SupportState.SUPPORTED)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        argv = ("sleep", str(_asked(work)))
        return (Call("sleep", kind=StepKind.COMMAND, session=Role.WORKER, argv=argv),)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        del kept, deltas
        return TrialFindings((Metric("share_waited", _asked(work) / seconds * 100, "%", "the clock"),))


def _asked(work: Work) -> float:
    return int(str(work.option("milliseconds") or 0)) / 1000


OPERATION = Pause()
