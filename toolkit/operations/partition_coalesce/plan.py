"""Give a table partitioned by hash one partition fewer."""

from toolkit.operations.tables import OverTables

OPERATION = OverTables("partition-coalesce", 1, anew=False)
