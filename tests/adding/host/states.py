"""A snapshot of this host reads nothing, and it answers no guard by a query."""

from toolkit.dialects.states import GuardFiles, States

STATES = States("host", (), lambda _: ())


GUARDS = GuardFiles()
