"""What became of a plan: one run of it, and each of its steps on each target."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from toolkit.model.words import RunState


class StepState(StrEnum):
    """How far a step of a plan is, or how it ended."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    """Not begun, for a reason that is right: its condition did not hold."""
    STOPPED = "stopped"
    """Not begun or not ended, because of the window, a guard, a signal: the next plan run goes on."""
    FAILED = "failed"


ENDED_WELL = frozenset({StepState.DONE, StepState.SKIPPED})


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step on one target in one plan run; times that were expected come from its own history."""

    position: int
    target: str
    step: str
    state: StepState = StepState.WAITING
    reason: str | None = None
    run: str | None = None
    """The run that did it, the last one where it was tried again."""
    tries: int = 0
    began_at: datetime | None = None
    ended_at: datetime | None = None
    expected_seconds: float | None = None
    slow_seconds: float | None = None
    size_bytes: float | None = None
    """What it worked on, where that is known: expectations are scaled by it."""
    size_rows: float | None = None
    """The same in rows, by the catalogue's estimate, for engines and views that tell no bytes."""
    verified: str | None = None
    """What was looked at afterwards and found right, and how."""
    unverified: str | None = None
    """What could not be looked at, and why."""

    @property
    def elapsed_seconds(self) -> float | None:
        if self.began_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.began_at).total_seconds()


@dataclass(frozen=True, slots=True)
class PlanNote:
    """What happened on a target beside its steps: what was waited for, what could not be watched."""

    target: str
    text: str
    noted_at: datetime


@dataclass(frozen=True, slots=True)
class PlanRunRecord:
    """One execution of a plan."""

    plan_run: str
    plan: str
    plan_hash: str
    state: RunState
    began_at: datetime
    host: str
    text: str
    ended_at: datetime | None = None
    window_begin: datetime | None = None
    window_end: datetime | None = None
    stopped_by: str | None = None
    steps: tuple[StepRecord, ...] = ()
    notes: tuple[PlanNote, ...] = ()
