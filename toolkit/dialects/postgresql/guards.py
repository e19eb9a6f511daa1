"""What PostgreSQL answers the guards of a plan; free space and load only its host tells."""

from __future__ import annotations

from toolkit.dialects.guards import GuardFiles
from toolkit.model.plan import Guard

GUARDS = GuardFiles(
    {
        Guard.ACTIVE_SESSIONS: ("guard_sessions",),
        Guard.LAG: ("guard_lag",),
        Guard.LOCK_WAITERS: ("guard_locks",),
        Guard.BLOCKING: ("guard_locks",),
    }
)
