"""The host answers no guard by a query."""

from toolkit.dialects.guards import GuardFiles

GUARDS = GuardFiles()
