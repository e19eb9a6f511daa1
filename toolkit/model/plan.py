"""A plan: ordered steps on targets within a window and under guards, and what became of each of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from toolkit.model.experiment import OptionValue
from toolkit.model.values import Level
from toolkit.model.window import Windows
from toolkit.model.words import OperationName, RunState


# -- guards -------------------------------------------------------------------------------------------------------
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


# -- as written ---------------------------------------------------------------------------------------------------
class OnFailure(StrEnum):
    """What a plan does when a step has failed for good."""

    STOP = "stop"
    """Begin no other step."""
    CONTINUE = "continue"
    """Go on with the steps that do not need it."""
    UNDO = "undo"
    """Put back what it changed, then go on."""


class AtDeadline(StrEnum):
    """What becomes of a step that still runs when the window closes."""

    STOP = "stop"
    """It is cancelled, and goes on in the next window where it stopped."""
    LEAVE = "leave"
    """It may end."""


class SchedulerWindows(StrEnum):
    """What the windows of a database's own scheduler mean to a plan."""

    WARN = "warn"
    """A warning is shown when they overlap."""
    AVOID = "avoid"
    """No step begins or goes on while one is open."""
    INSIDE = "inside"
    """Steps are at work only while one is open."""


class RowCount(StrEnum):
    """What is counted again after a load, beside the number that the engine tells."""

    SOURCE = "source"
    """What it read, by the same condition, and what it made."""
    TARGET = "target"
    """Only what it made."""
    NONE = "none"
    """Nothing: the engine's number is taken."""


@dataclass(frozen=True, slots=True)
class ExpectedRows:
    """How many rows a load is to make; none at all must be allowed."""

    at_least: int = 1
    at_most: int | None = None

    def hold(self, rows: int) -> bool:
        return self.at_least <= rows and (self.at_most is None or rows <= self.at_most)


class ConditionKind(StrEnum):
    """What a condition measures."""

    SQL = "sql"
    """The number that a query of the user's returns."""
    AGE = "older_than"
    """Seconds since the step last ended well on this target."""
    STALE = "stale_tables"
    """How many tables of the step's schemas have stale statistics."""
    INDEX_BYTES = "index_bytes"
    """The size of the step's indexes together."""
    GROWTH = "index_growth"
    """By what part the step's indexes have grown since it last ended well: 0.2 is a fifth."""
    TRANSACTION_AGE = "transaction_age"
    """How many transactions ago the oldest row of the step's tables that is not frozen may have been written."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A step is begun only if what is measured lies between the bounds, both included."""

    kind: ConditionKind
    sql: str | None = None
    at_least: float | None = None
    at_most: float | None = None

    def holds(self, measured: float) -> bool:
        above = self.at_least is None or measured >= self.at_least
        return above and (self.at_most is None or measured <= self.at_most)


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One operation of a plan: always a job.

    Attributes:
        name: unique in the plan.
        operation: what is done.
        options: single values, as in an experiment.
        levels: one level for each factor that is given.
        settings: of the database for this step, each with its level as typed.
        best_of: for each factor named, the measurement that recommends its level.
        target: another target than the plan's.
        needs: steps that must have ended well before.
        only_if: conditions, all of which must hold.
        priority: the greater is begun earlier, among those that may begin.
        retries: how often it is tried again after an error that may pass.
        time_limit_seconds: it is cancelled after so long.
        guards: the plan's, with the step's own laid over them.
        expect_rows: how many rows a load is to make; another number is a failure.
        count_rows: what is counted after a load; None leaves it to its source: a table is counted again, a query
            is not.
    """

    name: str
    operation: OperationName
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    levels: Mapping[str, Level] = field(default_factory=dict)
    settings: Mapping[str, Level] = field(default_factory=dict)
    best_of: Mapping[str, str] = field(default_factory=dict)
    target: str | None = None
    needs: tuple[str, ...] = ()
    only_if: tuple[Condition, ...] = ()
    priority: int = 0
    retries: int = 0
    on_failure: OnFailure = OnFailure.STOP
    time_limit_seconds: float | None = None
    work_schema: str | None = None
    snapshot: str = "auto"
    guards: Guards = field(default_factory=Guards)
    expect_rows: ExpectedRows = field(default_factory=ExpectedRows)
    count_rows: RowCount | None = None


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """Steps, where they run and when.

    `targets` are names of profiles, patterns of them (`erp*`) or URLs. `max_degree` bounds the sum of the degrees
    of the steps at work on one target; `concurrency` how many they are; `at_once` on how many targets.
    """

    name: str
    targets: tuple[str, ...]
    steps: tuple[PlanStep, ...]
    windows: Windows = field(default_factory=Windows)
    max_degree: int | None = None
    concurrency: int = 1
    at_once: int = 1
    at_deadline: AtDeadline = AtDeadline.STOP
    wait_for_target_seconds: float | None = None
    """How long a target is waited for that somebody else is at work on; None: while a step still fits into the
    window."""
    proved_within_seconds: float | None = None
    """How long ago a restore may last have proved a backup of each target before the run report warns."""
    scheduler_windows: SchedulerWindows = SchedulerWindows.WARN
    guards: Guards = field(default_factory=Guards)
    approved_only: bool = False
    """It runs only as it was approved."""
    text: str = ""
    """The file as it was read."""

    def step(self, name: str) -> PlanStep:
        return next(step for step in self.steps if step.name == name)


# -- as run -------------------------------------------------------------------------------------------------------
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
KILLED = "its process was killed, or its host went down"
"""The reason of a step that died with its process."""


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
    """What was verified afterwards, and how."""
    unverified: str | None = None
    """What could not be verified, and why."""

    @property
    def elapsed_seconds(self) -> float | None:
        """How long it took; unknown of one that was killed: it ended some time after it was last heard of."""
        if self.began_at is None or self.ended_at is None or self.reason == KILLED:
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
