"""What a user reads before a run: what its result depends on, and what it would process."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.executors import Sessions
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Cell, Row
from toolkit.model.words import OperationName
from toolkit.operations import Planner, operation
from toolkit.operations.backup import backups_of
from toolkit.rendering import step_of
from toolkit.targets.base import Target
from toolkit.units import byte_size, counted

_MOST_LINES = 400
_LEAST_FREEDOM = 4
_OVER_SEVERAL = frozenset({OperationName.INDEX_REBUILD, OperationName.STATS_GATHER})


def remarks_of(planner: Planner, cells: tuple[Cell, ...]) -> tuple[str, ...]:
    """Say each thing once that the works of all cells depend on."""
    said: dict[str, None] = {}
    for cell in cells:
        for piece in operation(planner.spec.operation).pieces(planner, cell):
            said.update(dict.fromkeys(planner.dialect.remarks(piece.work, planner.facts)))
    return tuple(said)


def only_reads(planner: Planner, cells: tuple[Cell, ...]) -> bool:
    """Tell whether no trial of a backup writes anything (RMAN's VALIDATE)."""
    if planner.spec.operation is not OperationName.BACKUP:
        return False
    pieces = (piece for cell in cells for piece in operation(planner.spec.operation).pieces(planner, cell))
    return not any(backups_of(planner).drops(piece.work) for piece in pieces)


def too_few(cells: int, repeat: int) -> tuple[str, ...]:
    """Say before, not after, that so few repeats cannot tell a difference."""
    if cells < 2 or (cells - 1) * (repeat - 1) >= _LEAST_FREEDOM:
        return ()
    enough = 1 + -(-_LEAST_FREEDOM // (cells - 1))
    sentence = f"{counted(repeat, 'repeat')} of each cell will not tell a difference from noise"
    return (f"{sentence}; --repeat {enough} is the least that can",)


def ahead_of(planner: Planner, cell: Cell) -> str | None:
    """Say how much a job over several objects has before it: whoever begins it wonders whether it will fit."""
    if planner.measuring or planner.spec.operation not in _OVER_SEVERAL:
        return None
    pieces = operation(planner.spec.operation).pieces(planner, cell)
    if len(pieces) < 2:
        return None
    objects = len({piece.work.object.name for piece in pieces})
    kind = "indexes" if planner.spec.operation is OperationName.INDEX_REBUILD else "objects"
    what = f"{objects} {kind}" if objects > 1 else "1 index" if kind == "indexes" else "1 object"
    parts = f" in {len(pieces)} parts" if len(pieces) > objects else ""
    total, first = sum(piece.weight for piece in pieces), max(pieces, key=lambda piece: piece.weight)
    biggest = f"the biggest first: {first.label} with {byte_size(first.weight)}"
    size = f", {byte_size(total)}, {biggest}" if total else ""
    sessions = min(planner.workers(cell), len(pieces))
    return f"before it: {what}{parts}{size}; {sessions} session{'s' if sessions > 1 else ''}"


def preview_of(planner: Planner, cell: Cell, target: Target | None) -> tuple[str, ...]:
    """Ask the engine what the works of one cell would process, changing nothing; no lines without a connection."""
    ways = planner.dialect.statistics
    if target is None or ways is None or planner.spec.operation is not OperationName.STATS_GATHER:
        return ()
    works = [piece.work for piece in operation(planner.spec.operation).pieces(planner, cell)]
    if any(work.object.scratch for work in works):
        return ()
    calls = [call for work in works for call in ways.preview(work, planner.facts)]
    if not calls:
        return ("what would be gathered cannot be asked in this release",)
    sessions = Sessions(target, "dbatk dry-run", read_only=True)
    lines = ["what would be gathered, as the database says (nothing was gathered for this):"]
    try:
        for call in calls:
            lines += _lines(sessions.run(step_of(planner.dialect, call)).rows)
    except DatabaseError as error:
        return (f"what would be gathered could not be asked: {error.sentence}",)
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
