"""Split a partition in two."""

from toolkit.operations.tables import OverTables

OPERATION = OverTables("partition-split", 1, anew=False)
