"""What a run works on is derived from the catalogue once for each configuration, however many ask for it."""

from __future__ import annotations

from types import SimpleNamespace

from tests.runner.context import EXPERIMENT
from tests.runner.world import DIALECT
from toolkit.model.values import Cell
from toolkit.operations.base import Planner
from toolkit.runner import PlanningContext


def test_the_pieces_of_each_configuration_are_made_once() -> None:
    planning = PlanningContext(EXPERIMENT, DIALECT, DIALECT.assume("19-ee"))
    real, asked = planning.operation, []

    def pieces(planner: Planner, cell: Cell) -> object:
        asked.append(cell)
        return real.pieces(planner, cell)

    planning.__dict__["operation"] = SimpleNamespace(pieces=pieces)
    every = [list(planning.all_pieces()) for _ in range(3)]
    assert all(support.ok for _, support in planning.support)
    assert every == [[piece for cell in planning.cells for piece in real.pieces(planning.planner(), cell)]] * 3
    assert asked == list(planning.cells)
