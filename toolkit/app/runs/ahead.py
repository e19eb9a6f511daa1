"""How much a job has before it: the objects or chunks that it works through."""

from __future__ import annotations

from toolkit.dialects.chunks import ChunkedChange
from toolkit.model.operations import declaration
from toolkit.model.words import Mode
from toolkit.runner import PlanningContext
from toolkit.units import byte_size

_SINGULAR = {"indexes": "index"}


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
