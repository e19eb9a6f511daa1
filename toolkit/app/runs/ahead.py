"""What is known before a run of how it will go: what is before it, what limits it, what its result depends on."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.app.runs.planning import degree_notes
from toolkit.app.runs.space import space_notes
from toolkit.dialects.chunks import ChunkedChange
from toolkit.model.operations import declaration
from toolkit.model.words import Mode
from toolkit.runner import PlanningContext
from toolkit.targets.base import Target
from toolkit.units import byte_size

_SINGULAR = {"indexes": "index"}


@dataclass(frozen=True, slots=True)
class RunNotes:
    """What is known before a run of how it will go: how much is before it, which degrees, how much space.

    `remarks` is what its works depend on; of each sentence about space it is known whether it is a warning.
    """

    ahead: str | None
    degrees: tuple[str, ...]
    space: tuple[tuple[str, bool], ...]
    remarks: tuple[str, ...]


def notes_of(planning: PlanningContext, target: Target | None) -> RunNotes:
    """Return the notes of what was planned; of a target on this host its disks are asked what is free."""
    notes = space_notes(planning, target)
    return RunNotes(ahead_of(planning), degree_notes(planning), notes, remarks_of(planning))


def remarks_of(planning: PlanningContext) -> tuple[str, ...]:
    """Say each thing once that the works of all cells depend on; or why there is nothing to do."""
    remarks = planning.dialect.work.remarks
    if not any(planning.all_pieces()):
        why = [each for one in planning.scripts if one.stages for _, each in one.stages.timed.left_out]
        more = f", and of {len(why) - 1} more nothing either" if why[1:] else ""
        return (f"nothing to do: {why[0]}{more}",)
    return tuple(dict.fromkeys(
        remark for piece in planning.all_pieces() for remark in remarks(piece.work, planning.facts)
    ))  # fmt: skip


def ahead_of(planning: PlanningContext) -> str | None:
    """Say how much a job over several objects or chunks has before it, for who must know whether it will fit."""
    how = planning.dialect.work.of(planning.experiment.operation)
    if isinstance(how, ChunkedChange) and planning.experiment.mode is Mode.JOB:
        return how.ahead([piece.work for piece in planning.pieces(planning.cells[0])], planning.facts)
    kind = declaration(planning.experiment.operation).several
    if planning.experiment.mode is Mode.MEASUREMENT or not kind:
        return None
    cell = planning.cells[0]
    pieces = planning.pieces(cell)
    if len(pieces) < 2:
        return None
    one = _SINGULAR.get(kind, kind.removesuffix("s"))
    works = [piece.work for piece in pieces]
    # where partitions themselves are the objects, several of one table are no parts of one
    objects = len({(w.object.name, w.part.name if w.part and w.part.level == one else None) for w in works})
    what = f"{objects} {kind}" if objects > 1 else f"1 {one}"
    parts = f" in {len(pieces)} parts" if len(pieces) > objects else ""
    total, first = sum(piece.weight for piece in pieces), max(pieces, key=lambda piece: piece.weight)
    biggest = f"the biggest first: {first.label} with {byte_size(first.weight)}"
    size = f", {byte_size(total)}, {biggest}" if total else ""
    sessions = min(planning.planner().workers(cell), len(pieces))
    return f"before it: {what}{parts}{size}; {sessions} session{'s' if sessions > 1 else ''}"
