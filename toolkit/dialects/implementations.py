"""How an engine does the operations: one implementation each, and a sentence where it has none."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import Protocol

from toolkit.dialects.answers import EndlessWait, Granted, TrialFindings
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts, Probe
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import EngineName, OperationName, SupportState

Kept = Mapping[str, tuple[Row, ...]]
Options = Mapping[str, OptionValue]
BEFORE, AFTER = "before", "after"
"""Under which keys the answers of `before_and_after` are kept."""
PRINTED = "printed_plan"
"""The key of a plan's lines as the database prints them, one column: kept with the first trial of each cell."""
ABSENT = "`dbatk doctor` lists what this target does not support"
"""The hint where a whole operation is absent: no option that is left out would help."""


class Parts(Protocol):
    """How a load is done in parts: by several sessions, each in one transaction of its own."""

    even_alone: bool
    """Whether one session, too, works in several transactions."""

    def divided(self, work: Work, sessions: int, facts: Facts) -> tuple[tuple[str, Work], ...]:
        """Return the parts of a load, each with what tells it from the others; one for what has no parts."""
        ...

    def as_begun(self, facts: Facts, recorded: Facts) -> Facts:
        """Return present facts with those of the run's beginning by which parts are divided."""
        ...

    def source_changed(self, source: QualifiedName, proof: Mapping[str, Scalar]) -> Call | None:
        """Ask whether a source is another than the one that a part read: `changed`, yes or no.

        None where it may be another.
        """
        ...

    def still_there(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        """Ask whether a table has rows that transactions loaded: `has_rows`, 1 or 0; `noted` as in the journal.

        None where they loaded none.
        """
        ...

    def delete_by_hand(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        """Spell the statement by which a person deletes what transactions loaded; `noted` as in the journal.

        None where nothing takes it back.
        """
        ...


class Implementation(ABC):
    """How an engine does one operation; what it has nothing to say about is answered here."""

    degree_by_sessions: bool = False
    """Whether degree n is n sessions working through the objects; their `Work` has degree 1."""
    parts: Parts | None = None
    """Where one table is worked on in several transactions: how, and what they leave."""
    ends_by_commit: bool = False
    """Whether each work of a job on users' rows ends with a COMMIT, in the journal before it is sent."""
    keeps_notes: bool = False
    """Whether a load notes its transactions in a table, since the server cannot be asked for them."""
    object_files: tuple[str, ...] = ()
    """SQL files that doctor reads of the objects of a work, for this operation; see `Judging.object_files`."""
    table_files: tuple[str, ...] = ()
    """SQL files (:schema, :name; no name means all of the schema), each optional, read of the tables worked on."""
    table_files_for: Mapping[str, tuple[str, Scalar]] = MappingProxyType({})
    """Those of them that are read only where an option has a value: the file, the option, and the value."""
    schema_file: str = "schema_tables"
    """The SQL file (:schema) that lists the tables of a schema that are worked on in place, the biggest first."""
    whole_database: bool = False
    """Whether its statement works on the whole database, whichever tables are named: then one is enough."""
    privileges: tuple[str, ...] = ()
    """System privileges that it needs for objects in the user's own schema."""
    privileges_elsewhere: tuple[str, ...] = ()
    """Those that it needs besides in the schema of another user."""

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        """Say what must be known of this host before planning; `facts` hold the answers of the catalogue.

        Args:
            options: with the levels of a cell.
            facts: of the server, with the answers to what the operation reads.
        """
        return ()

    def notes_transactions(self, options: Options) -> bool:
        """Tell whether a job with these options keeps notes (`keeps_notes`)."""
        return self.keeps_notes

    def survey(self, options: Options, facts: Facts) -> tuple[Call, ...]:
        """Ask what must be known of the rows before planning; each answer is kept under its `keep_as`.

        Args:
            options: with the levels of a cell.
            facts: with the answers to what the operation reads.
        """
        return ()

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        """Name catalogue files without binds, each optional, that an option needs; `asked`: values of each."""
        return ()

    def stored_queries(self, facts: Facts) -> tuple[QualifiedName, ...]:
        """Name the objects whose stored queries the work runs; `facts` as `parts_of` has them."""
        return ()

    def perishable(self, work: Work) -> tuple[str, ...]:
        """Name catalogue files without binds by which a trial is judged anew: others may change what they tell."""
        return ()

    @abstractmethod
    def support(self, work: Work, facts: Facts) -> Support:
        """Say whether this work can be done so, with the sentence a DBA would want."""

    @abstractmethod
    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Spell the work itself, COMMIT included; everything here is on the clock, in the worker's session.

        Rows that it returns are counted but not kept: what `tell` needs is asked for in `evidence`.
        """

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Set the worker's session up (degree, DML mode, time-outs); off the clock.

        When every call says how it is undone, the session stays so from trial to trial and only what differs is
        sent.
        """
        return ()

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Put the worker's session back."""
        return ()

    def setup(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Change, once per run and before the first trial, what the trials work on; equal for all cells.

        What is not the run's own says how it is undone, and is put back when the run ends.
        """
        return ()

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Do what must come just before the clock (a checkpoint); equal calls of several works run once."""
        return ()

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask, right after the clock, in the worker's own session: degree granted (first), then rows and bytes.

        Rows are kept under `degree`, `rows` (column `row_count`) and `bytes` (column `byte_count`). A bind
        `statement_id` is filled with that of the timed statement.
        """
        return ()

    def before_and_after(self, works: Sequence[Work], facts: Facts) -> Call | None:
        """Ask, before the clock and right after it, what the works change: kept under `before` and `after`."""
        return None

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        """Return the parts of a table that are worked on one by one; empty where one statement works on all."""
        return ()

    def left_out(self, work: Work, facts: Facts) -> str | None:
        """Say why one of several tables is left out rather than refused; None where it is worked on."""
        return None

    def idle(self, work: Work, facts: Facts) -> str | None:
        """Say why nothing of a table is to be done; a job with nothing to do at all has ended well."""
        return None

    def evidence_of_sessions(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask what is to be known of the sessions where several objects are worked on: of none its degree."""
        return ()

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        """Tell metrics and doubts from what the evidence kept, and from the plan (`plan`, column `line`).

        Args:
            work: what was done.
            kept: rows by key.
            deltas: differences of counters, by name.
            seconds: the trial's elapsed time.
        """
        return TrialFindings()

    def make_source(self, source: ObjectRef, work: Work, facts: Facts, mark: str) -> tuple[Call, ...]:
        """Make the table through which files of the server are read; of who reads none."""
        return ()

    def make_notes(self, notes: ObjectRef, mark: str) -> tuple[Call, ...]:
        """Make the table in which transactions are noted; of who keeps none."""
        return ()

    def refuted(self, work: Work, kept: Kept) -> str | None:
        """Say what the evidence shows to have gone wrong without an error; None where nothing did."""
        return None

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Finish an object that stays (a job, `--keep`): degree, logging and visibility put as they should be."""
        return ()

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        """Tell the granted degree from evidence, sampled peaks (`parallel_workers`, `busy_threads`), notices."""
        return Granted(1, "one process")

    def equal_levels(self, factor: str, works: Sequence[Work], facts: Facts) -> str | None:
        """Say why all levels of a factor would do the same work here; None where they differ, or may.

        Args:
            factor: its name.
            works: one of each configuration.
            facts: of the server and its objects.
        """
        return None

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        """Tell whether the work of a job that was cut off is done all the same, so that a resume sends nothing.

        Args:
            work: as the job had it.
            begun: what was read when the job began.
            now: what is read now.
        """
        return False

    def flush(self, work: Work, facts: Facts) -> Call | None:
        """Put on disk what works of a trial committed without waiting for it; None where each commit waits.

        Args:
            work: the first of them.
            facts: of the run.
        """
        return None

    def verification(self, works: Sequence[Work], kept: Kept) -> Call | None:
        """Ask the catalogue, off the clock, whether works were done; `kept` is what `prepare` read before them.

        The `number` of a row says which work it is about, counted from 1. None where a statement without an error
        has done all it was asked for.
        """
        return None

    def undone(self, rows: tuple[Row, ...], warnings: tuple[str, ...]) -> str | None:
        """Say what was left undone without an error, from the rows of `verification` about it and the warnings."""
        return None

    def endless_wait(self, work: Work, facts: Facts) -> EndlessWait | None:
        """Say how a wait for others is seen that the server would never end; None where it bounds every wait."""
        return None

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Say how much space the timed work takes, and where: unknown where it is not known, never left out.

        What is made for it before, such as copies, says so itself (`Call.takes`).
        """
        return ()

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        """Say what a DBA should know before this work is done: what it leaves out, what will not help."""
        return ()


class NotImplementedHere(Implementation):
    """Stands for an operation that an engine has no implementation of: unsupported, whatever is asked."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    def support(self, work: Work, facts: Facts) -> Support:
        return Support(SupportState.UNSUPPORTED, self.sentence, ABSENT)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Refuse to be spelled.

        Raises:
            ToolkitError: TK-0304.
        """
        raise ToolkitError(self.sentence, code="TK-0304", hint=ABSENT)


class Implementations:
    """An engine's implementations by operation; asked about a work, the one of its operation answers."""

    def __init__(
        self,
        name: EngineName,
        known: Mapping[OperationName, Implementation],
        *,
        later: Mapping[OperationName, str] | None = None,
        instead: Mapping[OperationName, str] | None = None,
    ) -> None:
        """Name the implementations of an engine.

        Args:
            name: the engine.
            known: implementations by operation.
            later: by operation the module whose `WORK` has its implementation, imported when it is asked for.
            instead: by an operation that is absent what does as much of it as can be had, in words.
        """
        self._engine = name
        self._known = known
        self._later = later or {}
        self._instead = instead or {}

    def __contains__(self, operation: OperationName) -> bool:
        return operation in self._known or operation in self._later

    def of(self, operation: OperationName) -> Implementation:
        """Return the implementation of an operation, or what stands for its absence."""
        found = self._known.get(operation)
        if found is None and operation in self._later:
            work: Mapping[OperationName, Implementation] = import_module(self._later[operation]).WORK
            found = work[operation]
        return found or NotImplementedHere(self.absence(operation))

    def absence(self, *operations: OperationName) -> str:
        """Say that there is no implementation of an operation, or of several."""
        named = ", ".join(f"`{operation}`" for operation in operations)
        instead = "".join(f": {self._instead[one]}" for one in operations if one in self._instead)
        return f"dbatk does not support {named} on {engine(self._engine).title}{instead}"

    def refusal(self, operation: OperationName) -> ToolkitError:
        """Return the error of an operation that there is no implementation of."""
        return ToolkitError(self.absence(operation), code="TK-0304", hint=ABSENT)

    @contextmanager
    def registered(self, operation: OperationName, implementation: Implementation) -> Iterator[None]:
        """Add the implementation of an operation from elsewhere for as long as the block lasts."""
        known = self._known
        self._known = {**known, operation: implementation}
        try:
            yield
        finally:
            self._known = known

    def support(self, work: Work, facts: Facts) -> Support:
        return self.of(work.operation).support(work, facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return self.of(work.operation).timed(work, facts)

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return self.of(work.operation).worker_begin(work, facts)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return self.of(work.operation).worker_end(work, facts)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return self.of(work.operation).prepare(work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return self.of(work.operation).evidence(work, facts)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return self.of(work.operation).tell(work, kept, deltas, seconds)

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return self.of(work.operation).settle(work, facts)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return self.of(work.operation).granted(work, kept, peaks, notices)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return self.of(work.operation).remarks(work, facts)
