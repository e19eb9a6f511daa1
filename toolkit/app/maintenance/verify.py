"""Looks at what a step says it did, so that nothing fails in silence."""

from __future__ import annotations

from toolkit.app.maintenance.figures import invalid_indexes, old_statistics
from toolkit.app.maintenance.places import Job, Place
from toolkit.errors import ToolkitError
from toolkit.model.words import EngineName, OperationName

_SHOWN = 3
_CLOCK_SECONDS = 2.0
"""A server tells times by the second, and its clock reads on while it is asked."""
_INDEXES = frozenset({OperationName.INDEX_BUILD, OperationName.INDEX_REBUILD})
_SOME_ONLY = frozenset({"stale", "empty", "auto"})
"""Values of `gather` with which statistics of some tables only are renewed."""
_OF_PARTS = frozenset({"partition", "granularity"})
"""Options with which those of partitions may be all that is renewed."""


def fault_of(job: Job, place: Place, took_seconds: float) -> str | None:
    """Return what is wrong with what a step did, or None; what cannot be looked at is wrong too.

    Indexes must be valid, statistics newer than the step's beginning. That a load made rows, and a backup ended
    well, the run itself has looked at.

    Args:
        job: the step here.
        place: its target.
        took_seconds: since it began.
    """
    try:
        if job.step.operation in _INDEXES:
            return _said(invalid_indexes(job, place), "index", "invalid afterwards")
        if job.step.operation is OperationName.STATS_GATHER and _gathers_all(job, place):
            old = old_statistics(job, place, took_seconds + _CLOCK_SECONDS)
            return _said(old, "table", "with statistics from before it began")
    except ToolkitError as error:
        return f"whether it was done could not be verified: {error.sentence}"
    return None


def _gathers_all(job: Job, place: Place) -> bool:
    """Whether every table that the step names must have new statistics; duckdb does not tell their age."""
    said = {**job.step.options, **job.step.levels}
    if place.reached.target.engine is EngineName.DUCKDB or _OF_PARTS & set(said):
        return False
    return str(said.get("gather", "gather")).lower() not in _SOME_ONLY


def _said(names: list[str], what: str, how: str) -> str | None:
    if not names:
        return None
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    many = {"index": "indexes", "table": "tables"}[what]
    return f"{len(names)} {what if len(names) == 1 else many} {how}: {shown}"
