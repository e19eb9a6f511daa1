"""A snapshot of this host reads nothing."""

from toolkit.dialects.states import States

STATES = States("host", (), lambda _: ())
