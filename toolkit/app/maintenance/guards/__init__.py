"""Guards of a plan: read on a session of their own, judged against limits, and what follows for its steps."""

from toolkit.app.maintenance.guards.keeper import GuardKeeper, Held
from toolkit.app.maintenance.guards.told import GuardRow, guard_rows

__all__ = ["GuardKeeper", "GuardRow", "Held", "guard_rows"]
