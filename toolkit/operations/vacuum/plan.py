"""Vacuum a table, or those of whole schemas; each trial of a measurement gets a copy with dead rows."""

from toolkit.operations.tables import OverTables

OPERATION = OverTables("vacuum", anew=True)
