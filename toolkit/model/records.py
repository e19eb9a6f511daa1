"""What was measured: immutable records as the store keeps them and analysis and reports read them.

Instants are timezone-aware UTC, times are seconds, sizes bytes. Raw values only; summaries are computed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random, SystemRandom

from toolkit.model.ceilings import Ceiling
from toolkit.model.experiment import Experiment
from toolkit.model.values import Cell, Scalar
from toolkit.model.words import EngineName, EntryState, Mode, Outcome, RunState

RUN_ID = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{4}\b", re.ASCII)
PROGRAMS = "programs.json"
"""The artifact that has what each of several programs of a trial used."""


def new_run_id(now: datetime, random: Random) -> str:
    """Return a fresh run id such as `20261121-051342-ab3f`.

    Args:
        now: an aware instant; the id shows it in UTC.
        random: gives the last four characters, which tell runs of one second apart.
    """
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{random.getrandbits(16):04x}"


def fresh_run_id() -> str:
    """Return the id of a run that begins now."""
    return new_run_id(datetime.now(UTC), SystemRandom())


def run_key(run_id: str) -> str:
    """Return the run id without dashes and century, in capitals: 16 characters for a name of 30 bytes.

    >>> run_key("20261121-051342-ab3f")
    '261121051342AB3F'
    """
    return run_id.replace("-", "")[2:].upper()


def run_of_key(key: str) -> str:
    """Return the run id of a key.

    >>> run_of_key("261121051342AB3F")
    '20261121-051342-ab3f'
    """
    return f"20{key[:6]}-{key[6:12]}-{key[12:].lower()}"


_GENERATED = re.compile(r"DBATK_(\d{12}[0-9A-F]{4})_S?\d+(?:[A-Z]\d*)?", re.IGNORECASE)


def run_of_object(name: str) -> str | None:
    """Return the run that made an object under a name that dbatk generates; None of any other name.

    >>> run_of_object("dbatk_261121051342ab3f_s2")
    '20261121-051342-ab3f'
    """
    found = _GENERATED.fullmatch(name)
    return None if found is None else run_of_key(found[1])


SAMPLER, SAMPLE_QUERIES, SAMPLING_SECONDS = "sampler", "sample_queries", "sampling_seconds"
"""The source of what sampling cost a trial, and the names of its two metrics."""


BY_WAIT4, BY_PROC = "wait4", "/proc, sampled"
"""Sources of what programs used."""
IMPORTED = "imported"
"""The source of a metric that somebody else measured."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A named number with a unit and the source it came from."""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A metric at an instant: seconds since the trial's clock began."""

    at_seconds: float
    name: str
    value: float


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """One object within a trial; `begin_seconds` counts from the trial's clock."""

    label: str
    outcome: Outcome
    elapsed_seconds: float | None = None
    begin_seconds: float | None = None
    worker: int = 0
    rows: int | None = None
    bytes: int | None = None
    reason: str | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One timed execution of one cell. A trial that did not end ok has no `elapsed_seconds` to compare."""

    trial: int
    attempt: int
    cell: Cell
    repeat: int
    outcome: Outcome
    began_at: datetime
    ended_at: datetime
    reason: str | None = None
    error_code: str | None = None
    elapsed_seconds: float | None = None
    requested_degree: int | None = None
    granted_degree: int | None = None
    granted_source: str | None = None
    effective_parallelism: float | None = None
    rows: int | None = None
    bytes: int | None = None
    disturbed: bool = False
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds of the stages off the clock: prepare, evidence, conclude ..."""
    items: tuple[ItemRecord, ...] = ()
    metrics: tuple[Metric, ...] = ()
    samples: tuple[Sample, ...] = ()

    @property
    def warmup(self) -> bool:
        return self.repeat == 0

    @property
    def done(self) -> bool:
        """Whether its work was done, if perhaps with less parallelism than was asked for."""
        ran = self.outcome is Outcome.DOWNGRADED and self.elapsed_seconds is not None
        return ran or self.outcome is Outcome.OK

    @property
    def counts(self) -> bool:
        """Whether it enters the numbers: ok, not a warm-up, not disturbed, and with something measured.

        What others measured may have a rate and no time; a job whose end nobody recorded has neither.
        """
        measured = self.elapsed_seconds is not None or bool(self.metrics)
        return measured and self.outcome is Outcome.OK and not self.warmup and not self.disturbed


MEASURED_BY = "measured_by"
"""In the environment of a run: what measured it, where that was not dbatk."""
PROVENANCE = "provenance"
"""In the environment of a run: who ran it, when it was not dbatk itself."""
IN_TURNS = "runs in turns"
"""How that begins where it is one measurement on several targets."""
READ_DIRECT = "blocks read directly"
READ_INTO_CACHE = "blocks read into the buffer cache"
FOUND_IN_CACHE = "blocks found in the buffer cache"
"""Metrics of a trial, of the kinds that an engine tells: how its statements came by what they read."""

BUSIEST_THREAD = "db_busiest_thread_pct"
"""Metric of an embedded engine: the part of its threads' CPU time that the busiest of them used."""
PLAN_IS_SERIAL = "plan"
THREADS_AT_WORK = "threads that used CPU"
"""Sources of a granted degree that say that a statement offered no more parallel work, not that it got none."""


@dataclass(frozen=True, slots=True)
class TrialMark:
    """A trial that began, and of which nothing else is known yet: written before the first statement."""

    trial: int
    attempt: int
    cell: Cell
    repeat: int
    began_at: datetime


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run without its trials: what `runs list` shows."""

    run: str
    experiment: Experiment
    engine: EngineName
    state: RunState
    began_at: datetime
    ended_at: datetime | None = None
    operation_version: int = 1
    tool_version: str = ""
    parent: str | None = None
    trials_planned: int = 0
    trials_ended: int = 0
    target_name: str = ""
    """What identifies the database itself: for messages and the lease, without secrets."""

    @property
    def label(self) -> str | None:
        return self.experiment.label

    @property
    def mode(self) -> Mode:
        return self.experiment.mode


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something kept as received: a script, a log, facts."""

    name: str
    media_type: str
    content: bytes
    trial: int | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run with everything needed to analyse and report it."""

    head: RunHead
    trials: tuple[TrialRecord, ...] = ()
    environment: Mapping[str, Scalar] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    """Small text artifacts (scripts, facts); large ones are read one by one."""
    ceilings: tuple[Ceiling, ...] = ()
    """What the host it ran on can do at most, as far as that was measured."""

    @property
    def latest_trials(self) -> tuple[TrialRecord, ...]:
        """Of each trial its latest attempt."""
        return tuple({each.trial: each for each in sorted(self.trials, key=lambda each: each.attempt)}.values())

    @property
    def all_ok(self) -> bool:
        return all(trial.outcome is Outcome.OK for trial in self.latest_trials)


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A change of the database: intended, then made, then undone.

    `object_kind`, `schema` and `name` say what; `identity` proves it is the one we made (Oracle OBJECT_ID and
    CREATED, PostgreSQL oid and system identifier ...), `proof` that the name was free and the database's
    instant before. `undo` are the statements that put it back.
    """

    entry: int
    run: str
    trial: int | None
    state: EntryState
    effect: str
    object_kind: str
    schema: str | None
    name: str
    scratch: bool
    undo: tuple[str, ...] = ()
    proof: Mapping[str, Scalar] = field(default_factory=dict)
    identity: Mapping[str, Scalar] = field(default_factory=dict)
    table_schema: str | None = None
    table_name: str | None = None
    sealed: bool = True
    """Whether approved work wrote it, where that is asked for; what is not sealed is undone by hand."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who works on a target now."""

    target: str
    run: str
    host: str
    pid: int
    process_began: float
    heartbeat_at: datetime
    boot: str | None = None
    """Which start of which machine `host` is: two may share a name, a cloned one even everything that stays."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease, since when, and whether it is alive, by the store's clock.

    `in_sight` is a process of this host: its end is seen at once, that of another when its heartbeat stays out.
    """

    lease: Lease
    since: datetime
    silent_seconds: float
    alive: bool
    in_sight: bool
