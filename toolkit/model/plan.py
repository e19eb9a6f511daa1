"""A maintenance plan as written: ordered operations for a window, and what each waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from toolkit.model.experiment import OptionValue
from toolkit.model.guards import Guards
from toolkit.model.values import Level
from toolkit.model.window import Windows
from toolkit.model.words import OperationName


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
        best_of: for each factor named, the measurement whose best cell gives its level.
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
    scheduler_windows: SchedulerWindows = SchedulerWindows.WARN
    guards: Guards = field(default_factory=Guards)
    approved_only: bool = False
    """It runs only as it was approved."""
    text: str = ""
    """The file as it was read."""

    def step(self, name: str) -> PlanStep:
        return next(step for step in self.steps if step.name == name)
