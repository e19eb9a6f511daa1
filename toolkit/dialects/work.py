"""What operations hand to dialects, and what they get back: a piece of work, and the call of a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.dialects.indexes import IndexDefinition, IndexKey, IndexPart
from toolkit.model.experiment import OptionValue
from toolkit.model.file_columns import ColumnValues
from toolkit.model.steps import Attribute, ObjectRef, Program, Takes
from toolkit.model.transfers import Transfer
from toolkit.model.values import QualifiedName, Scalar
from toolkit.model.words import Effect, Mode, OperationName, Role, StepKind
from toolkit.model.workload import UsersStep, Workload

ContextValue = Scalar | QualifiedName | tuple[Scalar, ...] | tuple[QualifiedName, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A template (or, with `file`, a plain SQL file) and what it takes; becomes a `Step`.

    `undo` are calls that put the change back; of a creation, those that settle the object when it stays (a job's):
    how an scratch object is dropped needs no saying. Other fields as in `Step`.

    Whatever is changed outside a session is journalled by its call alone: `effect` CHANGES, an `object` (kind
    TABLE or INDEX, looked up again before the undo; SETTING, STATISTICS or PREFERENCE, which are not), the
    `undo` calls, and the former value in `before`. A crash at any later step puts it back, newest first.
    """

    template: str
    values: Mapping[str, ContextValue] = field(default_factory=dict)
    kind: StepKind = StepKind.SQL
    session: Role = Role.CONTROL
    effect: Effect = Effect.READS
    object: ObjectRef | None = None
    undo: tuple[Call, ...] = ()
    restores: Attribute | None = None
    """Of a call that undoes or settles: which attribute it restores."""
    overwrites: tuple[Attribute, ...] = ()
    """What it sets of an object of the user's: nothing is sent where that is no longer what the facts say."""
    definition: tuple[tuple[str, str], ...] = ()
    """Of a creation: what `ScratchObjects.definition` answers of the object then, to know it again."""
    like: QualifiedName | None = None
    """Of a creation: the table whose columns it has, where `definition` does not name them."""
    before: str | None = None
    unlogged: bool = False
    redo_bytes: float | None = None
    takes: tuple[Takes, ...] = ()
    tolerates: frozenset[str] = frozenset()
    keep_as: str | None = None
    same_rows: bool = False
    awaits: str | None = None
    file: bool = False
    binds: Mapping[str, Scalar] = field(default_factory=dict)
    otherwise: Call | None = None
    """Asked instead, of a catalogue that shows more, where a row of this one says `unseen`."""
    also: tuple[Call, ...] = ()
    """Further files of the same columns, read in the same statement; a refused one is left out."""
    inside: tuple[Call, ...] = ()
    """Calls that this one sends in one block: the template takes their texts as `statements`."""
    argv: tuple[str, ...] = ()
    """Of a program or a folder: its arguments, as in `Step`; then there is no template but for RMAN."""
    program: Program | None = None
    users: UsersStep | None = None
    """Of users: what is done with them; `text` says it, since there is no template."""
    text: str = ""
    undo_argv: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    as_user: str | None = None
    without: tuple[str, ...] = ()
    access: tuple[str, ...] = ()
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of a table from one value of its key on and before another, or up to it; values as texts.

    Attributes:
        low: the first key; empty where no row matched.
        high: the key before which it ends.
        first: whether it is the first chunk.
        closed: whether it ends with `high` instead: the last chunk.
        rows: how many matched when they were counted.
        number: of the chunk among those of its table, from 1.
    """

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()
    first: bool = False
    closed: bool = False
    rows: int = 0
    number: int = 1


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of an operation on one object: what is done, to what, from what, how.

    Attributes:
        object: the table or index created, filled, rebuilt or gathered (for statistics: the table, or the
            schema as `QualifiedName(name=schema)` with kind `statistics`).
        source: the table read; `query` instead when the user gave one SELECT.
        columns: column names: of the insert, or the index's columns as the user wrote them.
        keys: the key of an index to build, with expressions and directions.
        include: columns that an index holds beside its key.
        part: the one partition of an index that is rebuilt, or of a table that is moved.
        indexes: of work on a table, its indexes; of a copy those of the copy.
        options: the experiment's options with the cell's levels laid over them.
        degree: the requested degree; 0 leaves it to the engine (`default`, `auto`).
        mark: the comment that marks the object as created by dbatk, None in a job.
    """

    operation: OperationName
    mode: Mode
    object: ObjectRef
    options: Mapping[str, OptionValue]
    degree: int = 1
    source: QualifiedName | None = None
    query: str | None = None
    columns: tuple[str, ...] = ()
    index: IndexDefinition | None = None
    mark: str | None = None
    concurrency: int = 1
    keys: tuple[IndexKey, ...] = ()
    include: tuple[str, ...] = ()
    part: IndexPart | None = None
    tables: tuple[QualifiedName, ...] = ()
    """Tables that are compared with their copies."""
    indexes: tuple[IndexDefinition, ...] = ()
    blocks: tuple[int, int | None] | None = None
    """Of a load in parts: the first block of the source that this part reads, and the one it ends before."""
    users: Workload | None = None
    """Of a workload: who does what."""
    chunks: tuple[Chunk, ...] = ()
    """Of a change in chunks: those of one transaction."""
    fields: tuple[ColumnValues, ...] = ()
    """Of a table to create: what its columns hold."""
    notes: ObjectRef | None = None
    """Of a change in chunks: the table of the run in which its transactions are noted, where it keeps one."""
    bounds: ObjectRef | None = None
    """Of a change in chunks of a copy: the table with the first row of each, where addresses are its own."""
    label: str = ""
    """Of a change in chunks: what tells its transaction from the others."""
    archive: ObjectRef | None = None
    """Of a change in chunks: the table that the rows are moved to."""
    assignments: tuple[tuple[str, str], ...] = ()
    """Of a change in chunks: the columns that are set, each with its expression; without any, rows are removed."""
    matching: int = 0
    """Of a change in chunks: how many rows matched before, in all of them."""

    set_by_run: frozenset[str] = frozenset()
    """Of gathered statistics: the settings of the database that the run sets (`--setting`)."""
    transfer: Transfer | None = None
    """Of a load of files: the chunk, and how it is read."""
    samples: tuple[Transfer, ...] = ()
    """Of the first chunk: rows of all files that are checked before the first one is loaded."""

    @property
    def repeatable(self) -> bool:
        """Whether it leaves nothing behind when a lock of others ends it; ONLINE and CONCURRENTLY may."""
        return not self.option("online")

    def option(self, name: str) -> OptionValue | None:
        """Return an option or level, or None if it was not given."""
        return self.options.get(name)
