"""What the guards of a plan read from Oracle; none of it needs a pack."""

from __future__ import annotations

from toolkit.dialects.guards import GuardFiles
from toolkit.model.plan import Guard

_LOCKS = ("guard_locks", "guard_locks_instance")
GUARDS = GuardFiles(
    {
        Guard.ACTIVE_SESSIONS: ("guard_sessions",),
        Guard.LAG: ("guard_lag",),
        Guard.TABLESPACE: ("guard_tablespaces",),
        Guard.TEMP: ("guard_temp",),
        Guard.RECOVERY_AREA: ("guard_recovery_area",),
        Guard.LOAD: ("guard_load",),
        Guard.LOCK_WAITERS: _LOCKS,
        Guard.BLOCKING: _LOCKS,
    }
)
