"""Rewrite a table, or those of whole schemas; measured on copies with the same indexes."""

from toolkit.operations.tables import OverTables

OPERATION = OverTables("table-move", 1, anew=False)
