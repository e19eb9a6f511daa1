"""What a dialect answers with: the degree granted, advice on errors, room, checks, limits and grants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the advice on errors is read beside logs, where nothing of this is loaded
    from toolkit.dialects.work import Call
    from toolkit.errors import ToolkitError
    from toolkit.model.records import ItemRecord, Metric, Sample
    from toolkit.model.values import Row


@dataclass(frozen=True, slots=True)
class Granted:
    """The degree a statement really had; `degree` None when no evidence could be had (say why in `sentence`).

    `downgraded` says that the server counted a downgrade, whatever the degree looks like.
    """

    degree: int | None
    source: str
    sentence: str = ""
    downgraded: bool = False


class Calibration(Protocol):
    """How a server measures what its files give to reads; rows have `mbps`, `iops`, `disks` and `measured`."""

    file: str
    """The SQL file of what was measured last, as a session of the target sees it."""
    place_file: str
    """The SQL file of where such a session is: column `place`."""

    def measure(self, place: str, disks: int, latency_ms: int) -> Call:
        """Return the call that measures, in the server of that place alone; it needs the client of SYSDBA.

        Args:
            place: of the session of the target.
            disks: about how many the database's storage has.
            latency_ms: the most that the read of a block may take.
        """
        ...

    def read(self) -> Call:
        """Return the call by which that client reads what was measured last."""
        ...

    def seen(self, lines: Iterable[str]) -> Row | None:
        """Return what `read` printed as a row; None where nothing was measured."""
        ...


class Continuation(StrEnum):
    """What can go on after an error.

    `trial`: it may pass, the same trial may be tried again. `run`: this trial fails, others may do. `nothing`: it
    does not depend on the cell, every trial would fail alike until somebody mends it.
    """

    TRIAL = "trial"
    RUN = "run"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ErrorAdvice:
    """What a database's error means to a DBA and what to do about it.

    `goes_on` says what can go on after it; `downgrade` says that the degree could not be had; `outside` says that
    the cause lies outside of what was tried (a full disk, a crash, a lost connection), so that the trial tells
    nothing of its configuration and is repeated. What a lower degree or concurrency would help is never outside.
    `of_text` says that what was sent is wrong as it is written: a name, its syntax, a value of another type.
    """

    code: str
    meaning: str
    advice: str
    goes_on: Continuation = Continuation.RUN
    downgrade: bool = False
    outside: bool = False
    of_text: bool = False

    @property
    def passing(self) -> bool:
        """Whether it may be gone at the next try."""
        return self.goes_on is Continuation.TRIAL


@dataclass(frozen=True, slots=True)
class Watching:
    """How an engine is watched during a trial, on the monitor session: plain SQL files, without suffix.

    Attributes:
        snapshots: counters read before and after: metric_name, metric_value, metric_unit, metric_kind (see
            `toolkit.snapshots.counters`). The provider's name is the file's name without `snapshot_`.
        gauges: read after only, with the first of the snapshots and in its columns: their value is the later one.
        samples: read again and again meanwhile (bind :run): metric_name, metric_value. Peaks of `parallel_workers`
            become evidence of the granted degree, and how long `active_sessions` was above zero that there was
            none (`watched_seconds` of the peaks); the rest is drawn.
        progress: read now and then during long statements (binds :run, :seconds): operation, target, done, total,
            unit, seconds_left.
        plan: the plan of a statement that ran (bind :statement_id), its lines as metric_name, in the columns of a
            snapshot.
        together: whether files are read in one statement: where every statement is a round trip.
        after_evidence: whether the server publishes its counters only when the worker asks it to; elsewhere they
            are read at once, before our own questions are counted.
    """

    snapshots: tuple[str, ...] = ()
    gauges: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    progress: str | None = None
    plan: str | None = None
    together: bool = False
    after_evidence: bool = True


@dataclass(frozen=True, slots=True)
class TrialFindings:
    """What the evidence of a trial tells besides the degree; `sentences` are warnings.

    `items` are parts of the one thing on the clock that its own log tells of: pieces of a backup, its files;
    `samples` are what it counted itself while the clock ran; `disturbed` says that its time is not its own.
    """

    metrics: tuple[Metric, ...] = ()
    sentences: tuple[str, ...] = ()
    bytes: int | None = None
    cpu_seconds: float | None = None
    items: tuple[ItemRecord, ...] = ()
    samples: tuple[Sample, ...] = ()
    disturbed: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """What is free in one place.

    Attributes:
        free_bytes: how many bytes, with what its files may grow by; None where that is not known.
        growth_bytes: those of them that are there only when files grow as far as they may.
        folder: the folder, on the host of the server, whose file system holds it, where only that tells.
        unknown: why it is not known what is free.
        hint: what helps where it is too little, or not known; empty for the usual.
        refusal: why nothing can be put there at all: TK-0204, TK-0305.
        least_bytes: what must be free before something of unknown size goes there.
        doubled_by: what may take as much again; empty for nothing.
        when_full: what happens when nothing is free there any more, where that is worse than a failed statement.
    """

    free_bytes: float | None = None
    growth_bytes: float = 0.0
    folder: str = ""
    unknown: str = ""
    hint: str = ""
    refusal: ToolkitError | None = None
    least_bytes: float = 0.0
    doubled_by: str = ""
    when_full: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`: state (`ok`, `note`, `warning`, `problem`), evidence, consequence, what to do.

    `read` names the read whose refusal it stands for.
    """

    name: str
    state: str
    evidence: str
    consequence: str = ""
    action: str = ""
    read: str = ""


@dataclass(frozen=True, slots=True)
class DegreeLimit:
    """The highest degree that can be had now (None: not known), and each limit with its reason, tightest first."""

    degree: int | None = None
    reasons: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Grant:
    """A privilege that is missing: the statement that gives it, a comment where none does, and what it is for."""

    statement: str
    purpose: str


@dataclass(frozen=True, slots=True)
class EndlessWait:
    """A wait for transactions of others that the server does not bound, and when it is to be ended.

    Attributes:
        call: asks who waits (bind :run): `statement_id`, `waited_seconds`, and `blocker`, whose transaction it is.
        seconds: how long may be waited.
        ends_late: whether a wait is ended, too, that comes after the statement's work began, and costs that work.
    """

    call: Call
    seconds: float
    ends_late: bool = False


@dataclass(frozen=True, slots=True)
class BlockedBy:
    """How to learn, while sessions of a run wait for locks, who has them.

    Attributes:
        call: lists who blocks them, a row each, by `session_id`; its bind is `run`.
        tell: says of the rows of one session who that is.
    """

    call: Call
    tell: Callable[[Sequence[Row]], str]


@dataclass(frozen=True, slots=True)
class LockWaits:
    """How the control session waits for locks of others: set before its first change, and tried again.

    Attributes:
        begin: statements that let it wait.
        busy: codes that say that the lock was not free in time.
        tries: how often a change, or an object of a job, is tried; objects that were locked come back at the end.
        reads: whether queries of the catalogue wait for locks, too; they are tried as often.
        blocked_by: tells who has them; None where the database is not asked.
    """

    begin: tuple[Call, ...] = ()
    busy: frozenset[str] = frozenset()
    tries: int = 1
    reads: bool = False
    blocked_by: BlockedBy | None = None
