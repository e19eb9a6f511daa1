"""What DuckDB answers the guards of a plan: it has no server, so only disk and load of this host."""

from __future__ import annotations

from toolkit.dialects.guards import GuardFiles
from toolkit.model.plan import Guard

_ALONE = "a DuckDB file belongs to a single process"
GUARDS = GuardFiles(
    lacks={
        Guard.ACTIVE_SESSIONS: _ALONE,
        Guard.LAG: "DuckDB has no standby",
        Guard.RECOVERY_AREA: "DuckDB has no recovery area",
        Guard.LOCK_WAITERS: _ALONE,
        Guard.BLOCKING: _ALONE,
    }
)
