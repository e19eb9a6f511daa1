"""Whether the objects of a run fit: looked at before the first trial."""

from __future__ import annotations

import shutil
from pathlib import Path

from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.words import EngineName, Mode, OperationName
from toolkit.targets.base import Target
from toolkit.units import byte_size

_COPIES = {
    OperationName.CTAS: 1.0,
    OperationName.INSERT: 1.3,
    OperationName.INDEX_BUILD: 1.6,
    OperationName.INDEX_REBUILD: 1.6,
    OperationName.STATS_GATHER: 1.1,
}
"""Size of what exists at once, as a multiple of the tables worked on (a copy, and what is made from it)."""


def needed_bytes(experiment: Experiment, facts: Facts) -> float | None:
    """Estimate the bytes that exist at once, or None when no size is known."""
    rows = [row for key, answer in facts.answers.items() for row in answer if _is_size(key)]
    found = (row.get("byte_count") for row in rows)
    sizes = [float(size) for size in found if isinstance(size, int | float)]
    if not sizes:
        return None
    concurrency = max(
        (int(level) for f in experiment.factors if f.name == "concurrency" for level in f.levels), default=1
    )
    times = concurrency if experiment.operation is OperationName.CTAS else 1
    return sum(sizes) * _COPIES[experiment.operation] * times


def _is_size(key: str) -> bool:
    return key in {"source", "target"} or key.startswith("tables:")


def free_bytes(facts: Facts, target: Target) -> float | None:
    """Return the free bytes where objects go: as the server says, or of the disk of an embedded file."""
    said = facts.value("space", "free_byte_count")
    return float(said) if isinstance(said, int | float) else free_disk_bytes(facts, target)


def free_disk_bytes(facts: Facts, target: Target) -> float | None:
    """Return the free bytes of the disk under an embedded database's file now; None elsewhere."""
    if target.engine is EngineName.DUCKDB:
        place = str(facts.value("space", "place", ""))
        if place and place != ":memory:" and Path(place).parent.is_dir():
            return float(shutil.disk_usage(Path(place).parent).free)
    return None


def check_space(experiment: Experiment, facts: Facts, target: Target) -> None:
    """Refuse a run whose objects cannot fit; what is not known is not refused.

    Raises:
        ToolkitError: TK-0305 with both sizes.
    """
    needed, free = needed_bytes(experiment, facts), free_bytes(facts, target)
    if needed is None or free is None or needed <= free:
        return
    what = "trials" if experiment.mode is Mode.MEASUREMENT else "job"
    raise ToolkitError(
        f"the {what} need about {byte_size(needed)} at once and {byte_size(free)} are free",
        code="TK-0305",
        hint="free space, choose another place (--work-schema, --tablespace), or take a smaller source",
    )
