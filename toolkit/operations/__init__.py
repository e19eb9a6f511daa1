"""The operations: what is worked on, in which stages; how it is spelled is the dialects' business."""

from toolkit.operations.base import Operation, Planner
from toolkit.operations.registry import operation

__all__ = ["Operation", "Planner", "operation"]
