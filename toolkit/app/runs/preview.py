"""What a user reads before a run: what its result depends on, and what it would process."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.executors import Sessions
from toolkit.model.operations import declaration
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Row
from toolkit.model.words import Mode
from toolkit.operations.backup.plan import backups_of
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext
from toolkit.targets.base import Target
from toolkit.units import byte_size, counted

_MOST_LINES = 400
_LEAST_FREEDOM = 4
_SINGULAR = {"indexes": "index"}


def remarks_of(planning: PlanningContext) -> tuple[str, ...]:
    """Say each thing once that the works of all cells depend on."""
    remarks = planning.dialect.work.remarks
    return tuple(dict.fromkeys(
        remark for piece in planning.all_pieces() for remark in remarks(piece.work, planning.facts)
    ))  # fmt: skip


def only_reads(planning: PlanningContext) -> bool:
    """Tell whether no trial of a backup writes anything (RMAN's VALIDATE)."""
    if not declaration(planning.experiment.operation).backs_up:
        return False
    ways = backups_of(planning.planner())
    return not any(ways.drops(piece.work) for piece in planning.all_pieces())


def too_few(cells: int, repeat: int) -> tuple[str, ...]:
    """Say before, not after, that so few repeats cannot tell a difference."""
    if cells < 2 or (cells - 1) * (repeat - 1) >= _LEAST_FREEDOM:
        return ()
    enough = 1 + -(-_LEAST_FREEDOM // (cells - 1))
    sentence = f"{counted(repeat, 'repeat')} of each configuration cannot separate a difference from noise"
    return (f"{sentence}; use at least --repeat {enough}",)


def ahead_of(planning: PlanningContext) -> str | None:
    """Say how much a job over several objects has before it, for a user who must know whether it will fit."""
    kind = declaration(planning.experiment.operation).several
    if planning.experiment.mode is Mode.MEASUREMENT or not kind:
        return None
    cell = planning.cells[0]
    pieces = planning.pieces(cell)
    if len(pieces) < 2:
        return None
    objects = len({piece.work.object.name for piece in pieces})
    what = f"{objects} {kind}" if objects > 1 else f"1 {_SINGULAR.get(kind, kind.removesuffix('s'))}"
    parts = f" in {len(pieces)} parts" if len(pieces) > objects else ""
    total, first = sum(piece.weight for piece in pieces), max(pieces, key=lambda piece: piece.weight)
    biggest = f"the biggest first: {first.label} with {byte_size(first.weight)}"
    size = f", {byte_size(total)}, {biggest}" if total else ""
    sessions = min(planning.planner().workers(cell), len(pieces))
    return f"before it: {what}{parts}{size}; {sessions} session{'s' if sessions > 1 else ''}"


def preview_of(planning: PlanningContext, target: Target | None) -> tuple[str, ...]:
    """Ask the engine what the first cell would process, changing nothing; no lines without a connection."""
    ways = planning.dialect.statistics
    if target is None or ways is None or not declaration(planning.experiment.operation).publishes_statistics:
        return ()
    works = [piece.work for piece in planning.pieces(planning.cells[0])]
    if any(work.object.scratch for work in works):
        return ()
    calls = [call for work in works for call in ways.preview(work, planning.facts)]
    if not calls:
        return ("this release cannot list what would be gathered",)
    sessions = Sessions(target, "dbatk dry-run", read_only=True)
    lines = ["what would be gathered, according to the database (nothing was gathered):"]
    try:
        for call in calls:
            lines += _lines(sessions.run(step_of(planning.dialect, call)).rows)
    except DatabaseError as error:
        return (f"the list of what would be gathered could not be read: {error.sentence}",)
    finally:
        sessions.close()
    return (*lines[:_MOST_LINES], *(["..."] if len(lines) > _MOST_LINES else []))


def _lines(rows: tuple[Row, ...]) -> Iterator[str]:
    """Yield the lines of a report without what could end a comment or mislead a terminal."""
    for row in rows:
        for line in str(row.get("report_text") or "").splitlines():
            shown = "".join(char if char.isprintable() else " " for char in line).rstrip()
            if shown:
                yield f"  {shown}"
