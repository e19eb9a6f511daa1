"""The seams: what the engine of the toolkit needs from the outside, and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from toolkit.model.records import JournalEntry, RunRecord
    from toolkit.model.steps import ObjectRef, Step
    from toolkit.model.transfers import Stream
    from toolkit.model.values import Cell, Row, Scalar


@dataclass(frozen=True, slots=True)
class OutputLine:
    """A line that a program wrote, and when: seconds since it began."""

    at_seconds: float
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a database answered: rows with lower-case column names, the row count, and its notices.

    `warnings` are those of the notices that the server calls warnings: it did not do all it was asked for.
    Of a program: what it wrote, line by line, and one row with `exit_status`, `cpu_seconds`, `elapsed_seconds`.
    `span` is when it began and ended, by `time.perf_counter`, where that was seen closer than by who asked.
    """

    rows: tuple[Row, ...] = ()
    rowcount: int | None = None
    notices: tuple[str, ...] = ()
    lines: tuple[OutputLine, ...] = ()
    warnings: tuple[str, ...] = ()
    span: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class At:
    """A place in the text of a chunk: its line counted from 1, or its record (`by_record`), and the column.

    `by_copy`: its line as COPY of PostgreSQL counts, which is where the record ends.
    """

    line: int
    column: str = ""
    by_record: bool = False
    by_copy: bool = False


class DatabaseError(Exception):
    """An error of a database, translated by the engine's wrapper.

    Attributes:
        code: the database's own code (`ORA-01652`, SQLSTATE, DuckDB's exception name).
        lost: the session is gone.
        unsent: it was gone before the statement came, which was not run: it may be sent again in a new session.
        cancelled: the statement was cancelled on request.
        headline: the line that says the cause, where that is not the first one of the message.
        lines: what a program wrote before it failed.
        at: where in the text of a data file it was met.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        lost: bool = False,
        unsent: bool = False,
        cancelled: bool = False,
        headline: str | None = None,
        lines: tuple[OutputLine, ...] = (),
        at: At | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.lost = lost
        self.unsent = unsent
        self.cancelled = cancelled
        self.headline = headline
        self.lines = lines
        self.at = at

    @property
    def sentence(self) -> str:
        """The line that says the cause, or the code where the database gave no message."""
        return self.headline or (self.message.strip().splitlines() or [self.code])[0]


class Connection(Protocol):
    """One session of a database. Safe to `cancel` from another thread; nothing else is."""

    @property
    def identity(self) -> str:
        """How the database calls this session: `pid 4711`, `sid 12,345`."""
        ...

    @property
    def transaction_id(self) -> str | None:
        """What the driver knows of the transaction that the next COMMIT ends; None where it knows nothing."""
        ...

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        """Run one statement (autocommit unless it opens a transaction itself).

        Raises:
            DatabaseError: whatever the driver raised, translated.
            ToolkitError: TK-0303 when the guard refuses the statement.
        """
        ...

    def tag(self, action: str) -> None:
        """Say what this session does now (`ctas degree=8 trial 3`), where the engine can show it."""
        ...

    def cancel(self) -> None:
        """Cancel the running statement from another thread; harmless when none runs."""
        ...

    def close(self) -> None:
        """Close it; never raises."""
        ...


class LoadingConnection(Connection, Protocol):
    """A session of an engine that implements loads: its driver takes rows from data files of this host."""

    def load(self, text: str, stream: Stream) -> Answer:
        """Run a statement that takes its rows from a data file of this host.

        Returns:
            How many rows were loaded.

        Raises:
            DatabaseError: with the line within the chunk and the column, as far as the database tells.
        """
        ...


class Journal(Protocol):
    """What was changed in the database, written before and after each change."""

    def intend(self, step: Step, *, trial: int | None, proof: Mapping[str, Scalar]) -> int:
        """Record a change about to be made; return the entry's number. Durable on return."""
        ...

    def intend_all(
        self, changes: Sequence[tuple[Step, Mapping[str, Scalar]]], *, trial: int | None
    ) -> Sequence[int]:
        """Record several at once, each with its proof; as `intend`."""
        ...

    def made(self, entry: int, identity: Mapping[str, Scalar]) -> None:
        """Record that it was made, and what proves that this run made it."""
        ...

    def undone(self, entry: int) -> None:
        """Record that it was put back."""
        ...

    def abandon(self, entry: int) -> None:
        """Record that the intended change never happened or is no longer to be undone."""
        ...

    def entries(self) -> Sequence[JournalEntry]:
        """Return all entries of this run."""
        ...

    def open_entries(self) -> Sequence[JournalEntry]:
        """Return the entries of this run not yet undone, newest first."""
        ...

    def find(self, ref: ObjectRef) -> JournalEntry | None:
        """Return the newest open entry of an object, or None."""
        ...


@dataclass(frozen=True, slots=True)
class AfterSweep:
    """What follows from the sweeps so far: with a reason the run ends; some configurations may be given up.

    Where `cells` are given, the next sweep runs those and no others.
    """

    reason: str = ""
    given_up: frozenset[Cell] = frozenset()
    cells: frozenset[Cell] | None = None


class Stopping(Protocol):
    """Decides after each whole sweep how a run goes on; `load` gives the run as it is stored.

    Sweep 0 is that of warm-ups; it is asked before the first sweep, too.
    """

    def __call__(self, sweep: int, load: Callable[[], RunRecord]) -> AfterSweep: ...


@dataclass(frozen=True, slots=True)
class Event:
    """Something a user may want to see while it happens.

    `kind` is one of: mode, plan, estimate, setup, trial-begun, progress, statement-progress, trial-ended,
    sweep-ended, waiting, warning, cleanup, run-ended. `data` holds what the sentence is made of; a
    `statement-progress` without data says that the statement ended.
    """

    kind: str
    text: str
    data: Mapping[str, object] = field(default_factory=dict)


class Events(Protocol):
    """Takes events; the command line shows them, tests collect them."""

    def emit(self, event: Event) -> None: ...


@dataclass(frozen=True, slots=True)
class TaggedEvents:
    """Events that say what they belong to: a step, a target, a run."""

    events: Events
    tags: Mapping[str, object]

    def emit(self, event: Event) -> None:
        """Pass an event on with the tags; what it says itself outweighs them."""
        self.events.emit(Event(event.kind, event.text, {**self.tags, **event.data}))
