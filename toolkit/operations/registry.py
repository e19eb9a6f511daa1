"""Finds an operation by its name."""

from __future__ import annotations

from toolkit.model.words import OperationName
from toolkit.operations.backup import Backup
from toolkit.operations.base import Operation
from toolkit.operations.ctas import Ctas
from toolkit.operations.index_build import IndexBuild
from toolkit.operations.index_rebuild import IndexRebuild
from toolkit.operations.insert import Insert
from toolkit.operations.stats_gather import StatsGather

_OPERATIONS: dict[OperationName, Operation] = {
    each.name: each for each in (Ctas(), Insert(), IndexBuild(), IndexRebuild(), StatsGather(), Backup())
}


def operation(name: OperationName) -> Operation:
    """Return the operation of a name."""
    return _OPERATIONS[name]
