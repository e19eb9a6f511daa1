"""Guards of a maintenance plan: limits that are watched while it runs, and what it does when one is passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Guard(StrEnum):
    """What is watched; the words of the plan file."""

    ACTIVE_SESSIONS = "max_active_sessions"
    """Sessions of others at work at an instant."""
    LAG = "max_lag"
    """Seconds that the slowest standby is behind."""
    TABLESPACE = "min_free.tablespace"
    """Free bytes of the fullest tablespace that the plan's objects lie in."""
    TEMP = "min_free.temp"
    """Free bytes of temporary space."""
    RECOVERY_AREA = "min_free.recovery_area"
    """Free bytes of the recovery area, or of the disk with the write-ahead log."""
    LOAD = "max_load"
    """Load average of the database's host, divided by its CPUs."""
    LOCK_WAITERS = "max_lock_waiters"
    """Sessions of others that wait for locks behind a session of the plan run."""
    BLOCKING = "max_blocking"
    """Seconds that one of them has waited."""

    @property
    def at_least(self) -> bool:
        """Whether the limit is a lower one."""
        return self in SPACES


SPACES = frozenset({Guard.TABLESPACE, Guard.TEMP, Guard.RECOVERY_AREA})
OF_LOCKS = frozenset({Guard.LOCK_WAITERS, Guard.BLOCKING})
"""Guards that concern only the step whose sessions others wait for."""


class OnBreach(StrEnum):
    """What becomes of a step that runs when a limit is passed; none begins in either case."""

    WAIT = "wait"
    """It goes on."""
    STOP = "stop"
    """It is stopped, and goes on in the next plan run."""


class Unreadable(StrEnum):
    """What a plan does when a guard cannot be read."""

    CONTINUE = "continue"
    """It says so once, and goes on without it."""
    STOP = "stop"
    """It takes the limit for passed."""


WAIT_WITHOUT_WINDOW_SECONDS = 3600.0
"""How long a step waits at most when neither the plan nor a window says."""


@dataclass(frozen=True, slots=True)
class Guards:
    """Limits, and what passing one means.

    Attributes:
        limits: of each guard that is watched: seconds, bytes, counts.
        on_breach: what becomes of a running step.
        unreadable: what a guard that cannot be read means.
        wait_at_most_seconds: how long a step waits for its begin; None until the window closes.
        every_seconds: how often is looked.
        looks: how many looks in a row must show a limit passed before a running step is stopped.
    """

    limits: Mapping[Guard, float] = field(default_factory=dict)
    on_breach: OnBreach = OnBreach.WAIT
    unreadable: Unreadable = Unreadable.CONTINUE
    wait_at_most_seconds: float | None = None
    every_seconds: float = 10.0
    looks: int = 3

    def passed(self, guard: Guard, value: float) -> bool:
        """Tell whether a value lies beyond the limit."""
        limit = self.limits[guard]
        return value < limit if guard.at_least else value > limit
