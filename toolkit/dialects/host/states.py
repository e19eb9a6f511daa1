"""Nothing is read of the host as of an engine: a snapshot of it needs no target."""

from toolkit.dialects.states import GuardFiles, States
from toolkit.model.plan import Guard

STATES = States("osstat", (), lambda _: ())


_NONE = "this target has no database"
GUARDS = GuardFiles(
    lacks={
        Guard.ACTIVE_SESSIONS: _NONE,
        Guard.LAG: _NONE,
        Guard.RECOVERY_AREA: _NONE,
        Guard.LOCK_WAITERS: _NONE,
        Guard.BLOCKING: _NONE,
    }
)
