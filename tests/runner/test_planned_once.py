"""What a run works on is derived from the catalogue once for each configuration, however many ask for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.runner.context import EXPERIMENT, context_of
from tests.runner.world import DIALECT, RUN, World
from tests.store.make import head
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Stages
from toolkit.model.values import Cell
from toolkit.model.words import Mode
from toolkit.operations.base import Planner
from toolkit.operations.index_rebuild.plan import IndexRebuild
from toolkit.runner import PlanningContext, RunContext
from toolkit.store import open_store


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


def test_the_indexes_to_rebuild_are_found_once_for_all_names_and_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    rebuild = replace(
        EXPERIMENT, operation="index-rebuild", options={"index": "ORDERS_I"}, mode=Mode.JOB, factors=()
    )
    planning = PlanningContext(rebuild, DIALECT, DIALECT.assume("19-ee"))
    real, asked = IndexRebuild._judged, []

    def judged(own: IndexRebuild, planner: Planner) -> object:
        asked.append(planner.naming)
        return real(own, planner)

    monkeypatch.setattr(IndexRebuild, "_judged", judged)
    (script,) = planning.scripts
    stages = [planning.operation.plan(planning.planner("KEY", number), planning.cells[0]) for number in (1, 2)]
    assert [one.timed for one in stages] == [script.stages.timed if script.stages else None] * 2
    assert len(asked) == 1
    other = replace(planning, facts=DIALECT.assume("11.2-ee"))
    assert other.scripts
    assert len(asked) == 2  # what was derived from other facts is not taken over


@pytest.mark.parametrize(("mode", "renderings"), [(Mode.JOB, 1), (Mode.MEASUREMENT, 3)])
def test_what_works_on_live_objects_is_rendered_once_and_on_copies_for_each_name(
    monkeypatch: pytest.MonkeyPatch, mode: Mode, renderings: int
) -> None:
    gather = replace(EXPERIMENT, operation="stats-gather", options={"table": "ORDERS"}, mode=mode)
    planning = PlanningContext(gather, DIALECT, DIALECT.assume("19-ee"))
    how = DIALECT.work.of("stats-gather")
    real, asked = type(how).timed, []

    def timed(own: object, work: Work, facts: Facts) -> object:
        asked.append(work)
        return real(own, work, facts)  # type: ignore[arg-type]

    monkeypatch.setattr(type(how), "timed", timed)
    assert planning.scripts
    cells = len(planning.cells)
    for number in (7, 8):
        for cell in planning.cells:
            planning.operation.plan(planning.planner(f"KEY{number}"), cell)
    assert len(asked) == renderings * cells


def test_the_stages_asked_for_last_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        store.create_run(head(RUN))
        context = context_of(World(), store, mode=Mode.JOB, factors=())
        (planned,) = context.planning.trials
        real, made = context.operation, []

        def plan(planner: Planner, cell: Cell) -> Stages:
            made.append(planner.naming.sequence)
            return real.plan(planner, cell)

        counted = SimpleNamespace(pieces=real.pieces, plan=plan)
        monkeypatch.setattr(RunContext, "operation", property(lambda _: counted))
        first = [context.stages(planned.cell, 1) for _ in range(2)]
        assert first[0] is first[1]
        assert context.stages(planned.cell, 2) == context.stages(planned.cell, 2)
        assert replace(context).stages(planned.cell, 2) is not context.stages(planned.cell, 2)
        assert made == [1, 2, 2]
