"""Whether a backup fits where it goes: looked at before anything is written, and between trials."""

from __future__ import annotations

import shutil

from toolkit.dialects.backups import too_small
from toolkit.dialects.registry import dialect_of
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.operations import SpaceEstimate, declaration
from toolkit.model.values import Scalar
from toolkit.operations.backup.plan import backups_of
from toolkit.runner import PlanningContext


def needed_bytes(experiment: Experiment, facts: Facts) -> float | None:
    """Return the size of the largest backup among the cells: one exists at a time."""
    planning = PlanningContext(experiment, dialect_of(facts.engine), facts)
    ways = backups_of(planning.planner())
    found = (ways.needed_bytes(piece.work, facts) for piece in planning.all_pieces())
    sizes = [size for size in found if size is not None]
    return max(sizes, default=None)


def whole_bytes(experiment: Experiment, facts: Facts) -> dict[str, Scalar]:
    """Return the size of the whole database where only a part is backed up: what its rate means for all of it."""
    scope = experiment.options.get("scope", "database")
    if declaration(experiment.operation).space is not SpaceEstimate.BACKUP or scope in ("database", "archivelog"):
        return {}
    sizes = [row.get("byte_count") for row in facts.rows("backup_files")]
    known = sum(size for size in sizes if isinstance(size, int | float))
    return {"database_bytes": known} if known else {}


def free_bytes(facts: Facts) -> float | None:
    """Return what is free now in the folder of this host that a backup goes to; None elsewhere."""
    place = facts.value("destination", "path")
    if place is None:
        return None
    try:
        return float(shutil.disk_usage(str(place)).free)
    except OSError:
        return None


def check(experiment: Experiment, facts: Facts) -> None:
    """Refuse a backup that cannot fit; what is not known is not refused.

    Raises:
        ToolkitError: TK-0305 with both sizes.
    """
    planning = PlanningContext(experiment, dialect_of(facts.engine), facts)
    ways, needed = backups_of(planning.planner()), needed_bytes(experiment, facts)
    work = planning.pieces(planning.cells[0])[0].work
    free = ways.free_bytes(work, facts)
    if needed is not None and free is not None and needed > free:
        raise too_small(needed, free, str(facts.value("destination", "path", "") or work.object.name.schema or ""))
