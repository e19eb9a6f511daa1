"""What an engine answers the guards of a plan: catalogue files, one for each guard, with the columns named here.

A guard without a file is read from the host where that is possible (space, load), or the engine has no such thing.
Where a guard has several files, the next one is read when the one before is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.model.plan import Guard

COLUMNS: Mapping[Guard, tuple[str, ...]] = {
    # :ours -> how many sessions of others are at work; `hidden_sessions` are those whose state is not shown
    Guard.ACTIVE_SESSIONS: ("active_sessions", "hidden_sessions"),
    # no binds -> each standby; `lag_seconds` null and a `problem` where it is not known
    Guard.LAG: ("standby_name", "lag_seconds", "problem"),
    # :places -> each of those tablespaces
    Guard.TABLESPACE: ("place", "free_byte_count"),
    # no binds -> where sessions of this user sort; no row where there is no such place
    Guard.TEMP: ("place", "free_byte_count"),
    Guard.RECOVERY_AREA: ("place", "free_byte_count"),
    # no binds -> of the host, null where it does not tell
    Guard.LOAD: ("load_average", "cpu_count"),
    # no binds -> who waits for a lock behind whom; names are those of the sessions, ours are run ids
    Guard.LOCK_WAITERS: ("waiter", "waiter_name", "waited_seconds", "blocker", "blocker_name"),
}
"""Lists of :ours, :places, :schemas and :tablespaces stand between bars: `|a|b|`."""

PLACES = ("place_kind", "place", "path")
"""Columns of the file `guard_places` (:schemas, :tablespaces): where the plan's objects go, read once.

`place_kind` is `tablespace`, `temp` or `recovery_area`; `path` is a folder or file on the server's host, null
where the server itself tells free space."""


@dataclass(frozen=True, slots=True)
class GuardFiles:
    """Which files an engine has; `lacks` says of a guard what the engine has not."""

    files: Mapping[Guard, tuple[str, ...]] = field(default_factory=dict)
    lacks: Mapping[Guard, str] = field(default_factory=dict)
