"""What an engine's dialect is: names, spellings and support, as data and pure functions.

Operations decide *what* is worked on, a dialect *how* its engine spells that: it answers with `Call`s, each naming
a template of `templates/<engine>/` and its values. A new engine is a folder here, a target, templates, SQL files.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from toolkit.dialects.answers import (
    Calibration,
    Check,
    DegreeLimit,
    ErrorAdvice,
    Grant,
    LockWaits,
    Room,
    Watching,
)
from toolkit.dialects.implementations import Implementations
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.redefinitions import WithScripts
from toolkit.dialects.rows import Counting
from toolkit.dialects.settings import WithSettings
from toolkit.dialects.work import Call, Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Attribute, ObjectRef, Place, Step, Takes
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import EngineName, ObjectKind, OperationName


class Identifiers(Protocol):
    """How an engine spells and reads names and values."""

    upper_names: bool
    terminator: str
    """Ends a statement in the engine's own client (`;`); blocks end as the client wants it."""

    def quote(self, name: str) -> str:
        """Quote one catalogue name, always.

        Raises:
            ToolkitError: TK-0104 when no spelling of it exists (a NUL, on Oracle a double quote).
        """
        ...

    def literal(self, value: Scalar) -> str:
        """Spell a value as a literal of the engine."""
        ...

    def parse_name(self, text: str, release: Release | None = None) -> QualifiedName:
        """Read what a user typed: `schema.name`, each part folded unless in double quotes.

        Raises:
            ToolkitError: TK-0104 for anything else, naming the rule that is broken (length in bytes included).
        """
        ...


class Server(Protocol):
    """What an engine's server is, which errors it has, and whose sessions are at work."""

    keeps_identity: bool
    """Whether a changed object keeps what `identity` tells of it, rebuilt or truncated as it may be."""
    set_by_others: str | None
    """The code of the error by which an undo says that somebody else has set the value meanwhile."""
    usual_values: tuple[tuple[str, str], ...]
    """Of what a run sets of the user's objects: another value may be what a killed run of another store left."""
    place_files: tuple[str, ...]
    """SQL files read before every run, and by doctor: where a session is, what limits it; each optional."""
    scheduler_files: tuple[str, ...]
    """SQL files, each optional, of windows that the database's own scheduler keeps; empty where it has none."""

    def release(self, server: Row) -> Release:
        """Read version and edition from the row of `sql/<engine>/server.sql`."""
        ...

    def assume(self, text: str) -> Facts:
        """Return default facts for `--assume` (`19-ee,rac`, `17`, `1.4`).

        Raises:
            ToolkitError: TK-0102 naming the values that are known.
        """
        ...

    def explain(self, code: str, message: str) -> ErrorAdvice | None:
        """Look an error of the engine up in its catalogue."""
        ...

    def program_error(self, name: str, status: int, lines: Sequence[str]) -> DatabaseError | None:
        """Tell how a program failed, from its exit status and from what it wrote; None when it did not.

        Args:
            name: of the step, `<engine>/<name of the call>`.
            status: its exit status; minus the number of the signal that ended it.
            lines: all it wrote.
        """
        ...

    def sessions_of(self, run: str) -> Call:
        """List sessions of a run: columns `session_id`, `begun`, `kill_text` (the statement that ends it)."""
        ...

    def sessions_there(self) -> Call | None:
        """List all sessions (`session_id`, `asks`: `yes` for one's own); None where some may be hidden."""
        ...

    def sessions_waiting(self) -> Call | None:
        """List sessions of runs that wait for their client: `run`, `session_id`, `waited_seconds`, `kill_text`."""
        ...

    def lock_waits(self, options: Mapping[str, OptionValue]) -> LockWaits:
        """Say how changes of the control session wait for locks, by the options `lock_wait` and `lock_tries`."""
        ...

    def claim(self) -> Call | None:
        """Take the lock of the database itself: `taken` (`yes`, `no`), and its holder; None without such locks."""
        ...

    def sessions_everywhere(self, run: str) -> Call | None:
        """List the same on all instances of a cluster; None where a database has one instance."""
        ...

    def other_instances(self) -> Call | None:
        """Ask whether there are instances that `sessions_of` does not see: one row with `others` YES or NO."""
        ...

    def transaction(self) -> tuple[Call, ...]:
        """Ask for the transaction of a session that changed rows, so that `transaction_end` can be asked later.

        The rows of the calls with `keep_as` are kept; empty where the database cannot tell later how it ended.
        """
        ...

    def transaction_end(self, noted: Mapping[str, Scalar]) -> tuple[Call, ...]:
        """Ask how a transaction ended: the last call's row has `transaction_state`, `committed` or `aborted`.

        Args:
            noted: what `transaction`, or the driver (`transaction_id`), told of it.
        """
        ...

    def instant(self) -> Call:
        """Ask for the database's present instant, in the terms of `born`: one row with column `born`."""
        ...


class Judging(Protocol):
    """How an engine's server is judged; nothing to say is an answer."""

    doctor_files: tuple[str, ...]
    """SQL files (without suffix) that doctor reads besides `server`; each optional, key = file name."""
    calibration: Calibration | None
    """How the server measures itself what its files give to reads; None where it cannot."""

    def environment_files(self, release: Release) -> tuple[str, ...]:
        """Name the SQL files of what `model.environment` calls values; the first has the settings."""

    def checks(self, facts: Facts) -> tuple[Check, ...]:
        """Judge what `doctor` read (`server` and `doctor_files`): parallelism, settings, space, grants."""

    def object_files(self, operation: OperationName, *, calls: bool = False) -> tuple[str, ...]:
        """Name the SQL files doctor reads of the objects of a work; each optional.

        Binds: :schema, :name of what is worked on; :source_schema, :source_name of what is read; with `calls`
        :words, the words before a parenthesis in the text of the work, each between bars.
        """

    def degree_limit(self, facts: Facts, work: Work | None = None) -> DegreeLimit:
        """Say which degree can be had now, for a work or for any statement; doctor, plan and run ask the same."""

    def grants(self, facts: Facts, operation: OperationName | None = None) -> tuple[Grant, ...]:
        """List the privileges that are missing, for one operation or for all."""

    def shown_by(self, name: QualifiedName, kind: ObjectKind, facts: Facts) -> str | None:
        """Return the GRANT that would show an object of others; None where the catalogue hides none."""


class Watched(Protocol):
    """How an engine is watched while statements run."""

    def watching(self, facts: Facts) -> Watching:
        """Say what is read of the server around and during a trial."""
        ...

    def statement_id(self, text: str) -> str | None:
        """Return how the engine names a statement of this text; None when only the server can tell."""
        ...


class Catalogue(Protocol):
    """What is read of an engine's tables and indexes beside the files that every engine has."""

    copy_files: tuple[str, ...]
    """Catalogue files (:schema, :name) that `empty_copy` needs of the table copied; key = file name."""

    def space_files(self, facts: Facts, owners: Collection[str | None]) -> tuple[str, ...]:
        """Name optional catalogue files without binds that tell of space and redo; `owners`: where objects go."""
        ...

    def table_reads(self, table: QualifiedName, facts: Facts, prefix: str = "") -> tuple[Query, ...]:
        """Return further optional questions about a table, asked after `PREFIXcolumns`; keys are `PREFIXfile`."""
        ...

    def filled_reads(self, table: QualifiedName, facts: Facts) -> tuple[Query, ...]:
        """Return further optional questions about the table that is filled; the key of each is its file's name."""
        ...

    def room(self, place: Place, facts: Facts) -> Room:
        """Say how much room there is in a place that a work or a step takes bytes of."""
        ...

    logs_file: str | None
    """The catalogue file without binds that tells of the room of what `logged` answers; read between trials."""

    def logged(self, step: Step, facts: Facts) -> Takes | None:
        """Say what a step writes into logs that the server keeps; None for nothing, or where it keeps none."""
        ...

    def index_reads(
        self, schema: str | None, name: str | None, facts: Facts, suffix: str = "", *, copied: bool = False
    ) -> tuple[Query, ...]:
        """Ask for keys and parts of an index, of a table's indexes, or (no name) of a schema's.

        With `copied` also for what a copy of the table that is named takes after it.
        Keys of the answers are the files' names with `suffix`. Rows under `index_partitions` and
        `index_subpartitions` have `of_schema`, `of_index`, `part_name`, `byte_count`, `is_valid`; under
        `index_segments`, where sizes may be read, the better `byte_count`.
        """
        ...


class ScratchObjects(Protocol):
    """How an engine makes, proves and drops the objects that measurements work on."""

    def copy_table(
        self,
        source: QualifiedName,
        copy: ObjectRef,
        mark: str,
        facts: Facts,
        degree: int = 1,
        *,
        nologging: bool = False,
    ) -> tuple[Call, ...]:
        """Make a full copy of a table's rows (no indexes), marked as created by dbatk.

        `nologging` says that somebody asked for work without redo; the engine judges whether it may be.
        """
        ...

    def empty_copy(
        self, source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts, *, bare: bool
    ) -> tuple[Call, ...]:
        """Make an empty table like another; with its indexes and constraints unless `bare`."""
        ...

    def build_index_copy(
        self,
        index: IndexDefinition,
        copy: ObjectRef,
        on: QualifiedName,
        facts: Facts,
        degree: int = 1,
        *,
        nologging: bool = False,
    ) -> tuple[Call, ...]:
        """Build the same index under another name on a copy of its table."""
        ...

    def fill_copy(
        self, source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts
    ) -> tuple[Call, ...]:
        """Put the rows of a table into a copy of it, off the clock, so that a load finds it filled."""
        ...

    def in_one_go(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """Send auxiliary DDL of new scratch objects in few statements, where the engine can; the rest stays."""

    def drop(self, ref: ObjectRef) -> tuple[Call, ...]:
        """Drop a scratch object; the effect is `drops`."""

    def identity(self, ref: ObjectRef) -> Call:
        """Ask what proves which object this is: one row, or none when it does not exist.

        Columns: `identity` (what must be equal later: OBJECT_ID and CREATED, oid ...), `mark` (its comment),
        `born` (a number that grows with creation: SCN, xid, seconds; null when the engine has none).
        """
        ...

    def renamed(self, ref: ObjectRef, identity: Scalar) -> Call | None:
        """Ask under which other name the object of an identity is now.

        Columns: `new_name`, and `new_schema` where it may have moved; no row where it is gone. None where nothing
        but the name tells an object.
        """
        ...

    def absence(self, ref: ObjectRef) -> Call | None:
        """Ask in one statement for `identity` (null when there is no such object) and `born` of this instant.

        None where `identity` and `instant` have to do.
        """
        ...

    def attributes(self, ref: ObjectRef) -> Call | None:
        """Ask for the present values of what changes to an object name in `Call.restores`.

        Columns: `name` (`degree`, `logging`; `identity` as of `identity`, where it is shown), `part` (of a
        partition; null for the object itself), `value`. None where no change of the engine names any.
        """
        ...

    def definition(self, ref: ObjectRef) -> Call | None:
        """Ask what a table or an index is, so that a stranger of its name is told from it.

        Columns: `name`, `value`; of a table `column` for each of its columns, of an index `table`, `kind`, and
        `key` (`1 ID`, or `1 (expression)`) for each part of its key; of both `partitioning`, where the engine has
        it. No row where it is not there or not shown. None where creations say no definition.
        """
        ...

    def unfinished(self, ref: ObjectRef) -> Call | None:
        """Ask what a failed or interrupted statement left of an object that it was to make.

        Columns: `state` (what is wrong with it, as the rest of a sentence), `remedy` (the statement to run),
        and where the engine can tell `cut_off` (`yes`: it never was complete, and can simply be dropped).
        No row where it is complete. None where a statement makes an object whole or not at all.
        """
        ...

    def scratch_objects(self) -> tuple[Call, ...]:
        """List tables and indexes under generated names, whoever made them: the first call that is not refused.

        Columns: `schema_name`, `object_name`, `object_kind` (table, index), `table_name` (of an index).
        """
        ...

    def still_as_read(self, ref: ObjectRef, change: Attribute) -> Call | None:
        """Raise an error in a script without us where a value that it overwrites is not what was read.

        None where the engine has no such statement.
        """
        ...

    def by_hand(
        self, text: str, ref: ObjectRef, identity: Scalar, born: Scalar, restores: Sequence[Attribute] = ()
    ) -> Call | None:
        """Run a statement only where an object is still the one, in a script without us.

        A value that somebody else set meanwhile is left, and the script says so by an error.

        Args:
            text: the statement.
            ref: the object it changes or drops.
            identity: what `identity` returned for the object; None if the process ended before it could ask.
            born: the instant before the object was made, in the terms of `instant`; None when it was there before.
            restores: what the statement restores, with each value that may have been set; empty when unknown.

        Returns:
            None where the engine has no such statement: then the text itself is given.
        """
        ...


class Unlogged(Protocol):
    """What an engine records of changes that its log lacks."""

    def backup_reads(self, since: Scalar) -> Call | None:
        """Ask what the server records of changes that redo lacks, since an instant; None without a record."""
        ...

    def backup_sentence(self, what: str, since: Scalar, rows: Sequence[Row] | None) -> str | None:
        """Say that an object written without redo needs a backup, or None where redo was written all the same.

        Args:
            what: the object.
            since: when that began, in the terms of `instant`.
            rows: the answer to `backup_reads`; None when there is none.
        """
        ...


class Dialect(
    Identifiers, Server, Judging, Watched, Catalogue, ScratchObjects, Unlogged, Counting, WithSettings,
    WithScripts, Protocol,
):  # fmt: skip
    """All that is particular to an engine, without a connection; `quiet.Quiet` answers what one lacks."""

    engine: EngineName
    work: Implementations
    """How the operations are done; an operation it has no implementation of is unsupported."""
    gathers_schemas: bool
    """Whether statistics of a whole schema are one call (its `Work` names the schema)."""
    online_rebuilds_apart: bool
    """Whether two online rebuilds of indexes of one table must not run at once."""
