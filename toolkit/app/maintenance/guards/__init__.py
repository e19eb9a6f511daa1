"""Guards of a plan: read on a session of their own, judged against limits, and what follows for its steps."""

from toolkit.app.maintenance.guards.keeper import GuardHold, GuardKeeper
from toolkit.app.maintenance.guards.rows import GuardRow, guard_rows

__all__ = ["GuardHold", "GuardKeeper", "GuardRow", "guard_rows"]
