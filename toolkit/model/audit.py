"""What the audit log says: who did what to which database or schedule, when, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AuditKind(StrEnum):
    """What a line of the log tells."""

    LOG_BEGIN = "log-begin"
    """The first line of a log; says which log lay there before, if the store has seen one."""
    LINE_CUT = "line-cut"
    """The line before was cut short: a power failure, or a full disk."""
    LOG_ALTERED = "log-altered"
    """Lines before this one are not those that the store has seen."""
    APPROVE = "approve"
    REFUSE = "refuse"
    PLAN_BEGIN = "plan-begin"
    PLAN_END = "plan-end"
    STEP = "step"
    RUN_BEGIN = "run-begin"
    RUN_END = "run-end"
    CLEAN_BEGIN = "clean-begin"
    CLEAN_END = "clean-end"
    SNAPSHOT = "snapshot"
    SCHEDULE = "schedule"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """Something that is noted; what does not apply is None.

    Attributes:
        kind: what it is.
        plan: name of the plan or experiment.
        step: of the plan.
        target: profile or URL, as it is shown.
        database: what identifies the database itself.
        database_user: who works in it.
        run: of a single run, or of a plan.
        hash: of what was approved, or of the script that runs.
        outcome: how it ended.
        reason: why, in a sentence.
        details: anything more, a sentence each.
    """

    kind: AuditKind
    plan: str | None = None
    step: str | None = None
    target: str | None = None
    database: str | None = None
    database_user: str | None = None
    run: str | None = None
    hash: str | None = None
    outcome: str | None = None
    reason: str | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Actor:
    """Who sits before the keyboard, as far as the host tells."""

    user: str
    host: str
    pid: int
    login: str | None = None
    """The user who logged in, where that is another one (`sudo`, `su`)."""
    command: tuple[str, ...] = ()
    """The command line, secrets made dots."""


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A line as the log holds it; `at` is ISO 8601 in UTC, `before` the SHA-256 of the line before."""

    number: int
    at: str
    actor: Actor
    event: AuditEvent
    before: str | None


@dataclass(frozen=True, slots=True)
class AuditMark:
    """How far the store has seen a log: so many lines, and the SHA-256 of the last of them."""

    log: str
    lines: int
    last: str
