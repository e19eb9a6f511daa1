"""Approvals and the audit log: what may run by whose approval, and what is logged of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import sha256

from toolkit.model.values import Level

# -- approvals ----------------------------------------------------------------------------------------------------
Value = Level | tuple[Level, ...]
"""What stands under a key of a plan; what is not set has no key."""


@dataclass(frozen=True, slots=True)
class Approved:
    """What is approved; everything that has a part in the hash.

    Names of our own objects, ids of runs, times and the seed are no part of it: they differ each time. Nor are the
    objects that a schema or a pattern of the plan stands for: they are what the catalogue says when the plan runs.

    Attributes:
        name: of the plan or the experiment.
        kind: `plan` or `experiment`.
        values: each key of the file with what it means, defaults filled in (`step copy retries`).
        databases: for each target what identifies the database (`name`, `DBID` ...).
        version: of dbatk.
        program: hash of dbatk's own files.
        files: hashes of the scripts and templates that it uses.
        other_files: hashes of the others of the same engines: one of them may be used when something goes wrong,
            and must be the same then.
        valid_until: the last day (ISO 8601, UTC) on which it may run.
    """

    name: str
    kind: str
    values: Mapping[str, Value]
    databases: Mapping[str, Mapping[str, str]]
    version: str
    program: str
    files: Mapping[str, str]
    other_files: Mapping[str, str]
    valid_until: str = ""

    @property
    def hash(self) -> str:
        """The hash over everything; equal whatever the order of keys, comments and blanks of the file were."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return f"sha256:{sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Approval:
    """What was approved, by whom and when."""

    approved: Approved
    by: str
    user: str
    host: str
    at: str
    reason: str | None = None
    notes: tuple[str, ...] = field(default=())
    """What could not be checked when it was approved."""
    hash: str = ""
    """As it stands in the file; must be that of what is approved."""
    signature: str | None = None

    @property
    def signed_text(self) -> str:
        """What a signature is made over: what was approved, and by whom."""
        parts = (self.hash, self.by, self.user, self.host, self.at, self.reason or "")
        return json.dumps(parts, ensure_ascii=True)


# -- the audit log ------------------------------------------------------------------------------------------------
class AuditKind(StrEnum):
    """What a line of the log tells."""

    LOG_BEGIN = "log-begin"
    """The first line of a log; says which log lay there before, if the store has seen one."""
    LINE_CUT = "line-cut"
    """The line before was cut short: a power failure, or a full disk."""
    LOG_ALTERED = "log-altered"
    """Lines before this one are not those that the store has seen."""
    LOG_CONTINUED = "log-continued"
    """The log that lay there before was shown, whole: what it says of approvals stands before this line again."""
    APPROVE = "approve"
    REVOKE = "revoke"
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
        carried: of a line that an earlier log had: when it was written there (ISO 8601), and by whom.
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
    carried: str | None = None


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


@dataclass(frozen=True, slots=True)
class AuditSeal:
    """The part of a log that was found whole: so many lines, their bytes, and the SHA-256 of these."""

    lines: int
    size: int
    digest: str

    def as_mark(self) -> AuditMark:
        """Return it as the table of marks holds it, in a row of its own: in place of the log's name, its bytes."""
        return AuditMark(log=str(self.size), lines=self.lines, last=self.digest)

    @staticmethod
    def of_mark(mark: AuditMark) -> AuditSeal:
        """Return what `as_mark` wrote."""
        return AuditSeal(mark.lines, int(mark.log), mark.last)
