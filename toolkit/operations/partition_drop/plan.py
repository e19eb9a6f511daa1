"""Drop old partitions of a table, the oldest first, each by a statement of its own."""

from toolkit.operations.tables import OverTables

OPERATION = OverTables("partition-drop", 1, anew=False)
