"""Back a database up: one thing on the clock, worked on by channels.

What a channel is differs (a server process of RMAN, a process of pgBackRest, a worker that compresses, a thread);
it plays the part of the degree everywhere. A job's backup stays where the user wants it; a trial's is in a place
of its own, never among the real backups, and is removed by its mark, tag or handle.
"""

from __future__ import annotations

from dataclasses import replace

from toolkit.design.order import cells_of
from toolkit.dialects.backups import Backups, backups_of
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import Stages
from toolkit.model.values import Cell
from toolkit.model.words import Keep, Mode, OperationName
from toolkit.operations.base import Piece, Planner, assemble


class Backup:
    """The neutral half: the engine's implementation says what is read, named, refused and dropped."""

    version = 1

    def __init__(self, name: OperationName = "backup") -> None:
        self.name = name

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        return _ways(planner).reads(planner.spec.options, planner.facts)

    def check(self, planner: Planner) -> None:
        if planner.spec.keep is not Keep.NONE:
            _ways(planner).refuse_keeping(planner.spec.keep)
        for cell in cells_of(planner.spec.factors):
            work = self._work(planner, cell)
            _ways(planner).refuse(work, planner.facts)
            if planner.spec.keep is Keep.BEST:
                _refuse_job(planner, replace(work, mode=Mode.JOB))

    def _work(self, planner: Planner, cell: Cell) -> Work:
        options = planner.options(cell)
        name = planner.naming.trial_object()
        return Work(
            self.name,
            planner.spec.mode,
            _ways(planner).object(options, name, measuring=planner.measuring),
            options,
            degree=planner.degree(cell),
            mark=mark_of(planner.naming.key),
        )

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        work = self._work(planner, cell)
        return (Piece(work, _ways(planner).label(work)),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        work = pieces[0].work
        dropped = planner.measuring and _ways(planner).drops(work)
        return assemble(planner, cell, pieces, drops=(work.object,) if dropped else ())


def _refuse_job(planner: Planner, job: Work) -> None:
    """Refuse to measure for the sake of a job that would be refused at the end.

    Raises:
        ToolkitError: as the job's.
    """
    try:
        _ways(planner).refuse(job, planner.facts)
    except ToolkitError as error:
        raise ToolkitError(
            f"`--keep best` would lead to a job that is refused: {error.message}",
            code=error.code,
            hint="omit it, and run the best setting once as a job",
        ) from None


def _ways(planner: Planner) -> Backups:
    return backups_of(planner.dialect.work, planner.spec.operation)


OPERATION = Backup()
