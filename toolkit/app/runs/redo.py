"""The redo that a whole run writes, and whether there is room where it is archived: before it, and between trials.

A server whose archived logs find no room stops every session that changes anything (Oracle: ORA-00257).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from toolkit.app.runs import space
from toolkit.dialects.answers import ArchiveRoom
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Stages, Step
from toolkit.model.values import Cell
from toolkit.model.words import Mode
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext
from toolkit.targets.base import Target
from toolkit.units import byte_size, counted

_LEAST_FREE = 0.03
"""Of the recovery area, where it is not known what the next trial writes: the server's own critical alert comes
then (Backup and Recovery User's Guide, managing space in the fast recovery area)."""


@dataclass(frozen=True, slots=True)
class Redo:
    """Bytes of redo; `complete` says that nothing of unknown size is missing in them."""

    bytes: float = 0.0
    complete: bool = True

    def __add__(self, other: Redo) -> Redo:
        return Redo(self.bytes + other.bytes, self.complete and other.complete)

    def __str__(self) -> str:
        if not self.complete and not self.bytes:
            return "an unknown amount of redo"
        return f"{'about' if self.complete else 'at least'} {byte_size(self.bytes)} of redo"


def redo_of_trials(planning: PlanningContext) -> Mapping[Cell, Redo]:
    """Estimate the redo of one trial of each cell that can be had."""
    stages = zip(planning.cells, planning.scripts, strict=True)
    return {cell: _redo_of(_of_trial(one.stages)) for cell, one in stages if one.stages is not None}


def redo_of_run(planning: PlanningContext, trials: Sequence[PlannedTrial]) -> Redo:
    """Estimate the redo of trials, and of what is made for them once."""
    first = next((one.stages for one in planning.scripts if one.stages is not None), None)
    each = redo_of_trials(planning)
    known = [each[trial.cell] for trial in trials if trial.cell in each]
    return sum(known, _redo_of(first.setup) if first is not None else Redo())


def _of_trial(stages: Stages) -> Iterator[Step]:
    yield from stages.prepare
    for item in stages.timed.items:
        yield from item.steps


def _redo_of(steps: Sequence[Step] | Iterator[Step]) -> Redo:
    sizes = [step.redo_bytes for step in steps]
    known = [size for size in sizes if size is not None]
    return Redo(sum(known), len(known) == len(sizes))


def redo_notes(planning: PlanningContext) -> tuple[str, ...]:
    """Say before a run how much redo it writes, where that goes, and what is free there."""
    room, redo = planning.dialect.archive_room(planning.facts), redo_of_run(planning, planning.trials)
    if room is None or (redo.complete and not redo.bytes):
        return ()
    return (_sentence(redo, len(planning.trials), room),)


def is_doubtful(planning: PlanningContext) -> bool:
    """Tell whether a run's redo may find no room: it is not known, or only flashback logs would have to go."""
    room, redo = planning.dialect.archive_room(planning.facts), redo_of_run(planning, planning.trials)
    if room is None or (redo.complete and not redo.bytes):
        return False
    if room.free_bytes is None or not redo.complete:
        return True
    return redo.bytes * (2 if room.flashback else 1) > room.free_bytes


def _sentence(redo: Redo, trials: int, room: ArchiveRoom) -> str:
    written = f"the run writes {redo} in {counted(trials, 'trial')}"
    place = f" in `{room.place}`" if room.place else ""
    sentence = f"it is unknown what is free for archived logs{place}: {room.unknown}"
    if room.free_bytes is not None:
        sentence = f"{byte_size(room.free_bytes)} are free for archived logs{place}"
    also = f"; {room.flashback}: flashback logs take up to as much again" if room.flashback else ""
    return f"{written}; {sentence}{also}"


def check_redo(planning: PlanningContext, trials: Sequence[PlannedTrial]) -> None:
    """Refuse a run whose archived redo cannot fit; what is not known is not refused.

    Raises:
        ToolkitError: TK-0305 with both sizes.
    """
    room, redo = planning.dialect.archive_room(planning.facts), redo_of_run(planning, trials)
    if room is None or room.free_bytes is None or redo.bytes <= room.free_bytes:
        return
    raise ToolkitError(
        f"{counted(len(trials), 'trial')} would write {redo}, but only {byte_size(room.free_bytes)} are free "
        f"for archived logs in `{room.place}`; when it is full, every session that changes data stops (ORA-00257)",
        code="TK-0305",
        hint="back up and delete archived logs, use --nologging where no standby follows, fewer repeats, or a "
        "smaller source",
    )


def watching_room(
    planning: PlanningContext, target: Target, sessions: Sessions, attempt: int
) -> Callable[[PlannedTrial], str | None]:
    """Return who says before a trial what it would find no room for: on its disk, or where redo is archived."""
    needed = space.needed_bytes(planning.experiment, planning.facts)
    # How much of a job is left is not known here: what is done of it needs no room any more.
    resumed_job = attempt > 1 and planning.experiment.mode is Mode.JOB
    redo = (lambda _: None) if resumed_job else _watching_redo(planning, sessions)

    def short(trial: PlannedTrial) -> str | None:
        return space.short_of_disk(needed, space.free_disk_bytes(planning.facts, target)) or redo(trial)

    return short


def _watching_redo(planning: PlanningContext, sessions: Sessions) -> Callable[[PlannedTrial], str | None]:
    """Return who says before a trial that its redo would find no room; what cannot be read says nothing."""
    room, file = planning.dialect.archive_room(planning.facts), planning.dialect.archive_file
    if room is None or room.free_bytes is None or file is None:
        return lambda _: None
    each, read = redo_of_trials(planning), step_of(planning.dialect, Call(file, file=True))

    def short(trial: PlannedTrial) -> str | None:
        try:
            rows = sessions.run(read).rows
        except (DatabaseError, ToolkitError):
            return None
        facts = replace(planning.facts, answers={**planning.facts.answers, file: rows})
        return _short(each.get(trial.cell, Redo()), planning.dialect.archive_room(facts))

    return short


def _short(redo: Redo, room: ArchiveRoom | None) -> str | None:
    if room is None or room.free_bytes is None:
        return None
    least = 0.0 if redo.complete else _LEAST_FREE * (room.limit_bytes or 0.0)
    if room.free_bytes >= max(space.SPARE * redo.bytes, least):
        return None
    return (
        f"only {byte_size(room.free_bytes)} are left for archived logs in `{room.place}`, and the next trial "
        f"writes {redo}; back up and delete archived logs, then `dbatk runs resume`"
    )
