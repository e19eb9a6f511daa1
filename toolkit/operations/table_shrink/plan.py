"""Shrink a table in place, or those of whole schemas: a job on the tables themselves, never a measurement."""

from toolkit.operations.tables import OverTables

OPERATION = OverTables("table-shrink", 1, anew=False)
