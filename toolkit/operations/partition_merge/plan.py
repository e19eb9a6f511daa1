"""Merge partitions into one."""

from toolkit.operations.tables import OverTables

OPERATION = OverTables("partition-merge", 1, anew=False)
