"""Restore a backup: files brought into a scratch folder, a server on them, checks, and nothing left.

What is on the clock is what a person would wait for and what proves it: copy, verification, start. The recovery
time is that of copy and start. The checks run after the clock; server and folder go at the end, whatever happened.
"""

from __future__ import annotations

from dataclasses import replace

from toolkit.design.order import cells_of
from toolkit.dialects.restores import Restores, restores_of
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import Stages
from toolkit.model.values import Cell
from toolkit.operations.base import Piece, Planner, assemble, relation_query


class Restore:
    """The neutral half: the engine's implementation says what is read, refused, restored, asked and ended."""

    name = "restore-try"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        own = _ways(planner).reads(planner.spec.options, planner.facts)
        return (
            *own,
            *(relation_query(_key(name), planner.qualified(name)) for name in planner.spec.names("tables")),
        )

    def check(self, planner: Planner) -> None:
        for name in planner.spec.names("tables"):
            if not planner.facts.assumed and not planner.facts.first(_key(name)):
                raise ToolkitError(
                    f"`{name}` does not exist or is not visible to this user",
                    code="TK-0204",
                    hint="check the names of `--tables`",
                )
        for cell in cells_of(planner.spec.factors):
            _ways(planner).refuse(self._work(planner, cell), planner.facts)

    def _work(self, planner: Planner, cell: Cell) -> Work:
        options = planner.options(cell)
        return Work(
            self.name,
            planner.spec.mode,
            _ways(planner).object(options, planner.naming.trial_object()),
            options,
            degree=planner.degree(cell),
            mark=mark_of(planner.naming.key),
            tables=tuple(map(planner.qualified, planner.spec.names("tables"))),
        )

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        work = self._work(planner, cell)
        return (Piece(work, _ways(planner).label(work)),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        work, ways = pieces[0].work, _ways(planner)
        stages = assemble(planner, cell, pieces, drops=(work.object,) if work.object.scratch else ())
        ended = planner.steps(ways.end(work, planner.facts))
        return replace(stages, conclude=(*ended, *stages.conclude))


def _key(table: str) -> str:
    return f"compared:{table}"


def _ways(planner: Planner) -> Restores:
    return restores_of(planner.dialect.work, planner.spec.operation)


OPERATION = Restore()
