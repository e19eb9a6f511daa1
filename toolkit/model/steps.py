"""Steps and stages: what an operation plans and an executor runs.

An operation returns steps, an executor runs or prints them; nothing both builds and executes SQL. A trial walks
through prepare, timed, evidence and conclude; setup and cleanup surround the run. Only `timed` is on the clock.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from toolkit.model.values import QualifiedName, Scalar
from toolkit.model.words import Effect, ObjectKind, Role, StepKind

if TYPE_CHECKING:
    from toolkit.model.transfers import Transfer
    from toolkit.model.workload import UsersStep


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """What a step creates, changes or drops. `scratch` means: under a generated name."""

    kind: ObjectKind
    name: QualifiedName
    scratch: bool = False
    table: QualifiedName | None = None
    """The table an index or a preference belongs to."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """What a statement of an undo puts back, as the catalogue spells it: from `ours`, which was set, to `back`.

    `name` is its column or its parameter, as `degree`; `part` is the partition whose attribute it is, None for the
    object itself.
    """

    name: str
    ours: str
    back: str
    part: str | None = None

    @property
    def title(self) -> str:
        """How a sentence names it."""
        return f"{self.name} of partition `{self.part}`" if self.part else self.name


def values_set(changes: Iterable[Attribute]) -> tuple[str, ...]:
    """Return the values that one restores, each once: several configurations of a run set one each."""
    return tuple(dict.fromkeys(each.ours for each in changes if each.ours != each.back))


class PlaceKind(StrEnum):
    """What kind of place bytes go to, as sentences call it."""

    TABLESPACE = "tablespace"
    QUOTA = "the quota"
    TEMPORARY = "temporary space"
    FOLDER = "folder"
    RECOVERY_AREA = "the recovery area"
    LOGS = "the folder of archived logs"


@dataclass(frozen=True, slots=True)
class Place:
    """Where bytes go; equal places share what is free there.

    Attributes:
        kind: what it is.
        name: as the catalogue spells it, of a folder its path on this host; empty where it is not known.
        owner: the schema whose quota it is; of a place whose name is not known, what has it.
    """

    kind: PlaceKind
    name: str = ""
    owner: str = ""

    def __str__(self) -> str:
        """Name it as a sentence does after `in`."""
        if self.kind is PlaceKind.QUOTA:
            return f"the quota of {self.owner} in tablespace `{self.name}`"
        if not self.name:
            return f"the {self.kind} of {self.owner}" if self.owner else str(self.kind)
        return f"{self.kind} `{self.name}`"


class Until(StrEnum):
    """How long bytes are taken."""

    STEP = "step"
    """While the step runs that takes them: sorted keys, the new segment of an index that is rebuilt."""
    OBJECT = "object"
    """As long as the object exists that the step makes or fills."""
    RUN = "run"
    """Until somebody else takes it away: a run gives nothing of it back, and its trials add up."""


@dataclass(frozen=True, slots=True)
class Takes:
    """What a step, or a work, takes of one place.

    Attributes:
        bytes: about how many; None where that is not known.
        place: where.
        until: how long.
        unknown: why the size is not known; with `bytes`, why it may be more.
        what: what it is, where the place does not tell: `archived redo`.
    """

    bytes: float | None
    place: Place
    until: Until = Until.OBJECT
    unknown: str = ""
    what: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """How a program of the user's is run, beside its arguments.

    Attributes:
        cwd, stdin: the folder in which it begins, empty for that of dbatk; the file that it reads, empty for none.
        environment: variables that it gets, which may be shown.
        secret: names of variables of dbatk's own environment that it gets, whose values are shown nowhere.
        allowed, refused: exit statuses that are no failure; patterns of lines of its output that are one.
        ends_all: whether whatever it leaves running is ended, and its failure.
        own: whether it is this `dbatk`, with the same store and profiles.
    """

    cwd: str = ""
    stdin: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    secret: tuple[str, ...] = ()
    allowed: tuple[int, ...] = (0,)
    refused: tuple[str, ...] = ()
    ends_all: bool = False
    own: bool = False
    cpus: tuple[int, ...] = ()  # empty for all
    node: int = 0  # which of the hosts of a cluster it runs on, from 1; 0 for this host


@dataclass(frozen=True, slots=True)
class Step:
    """One statement, block or command.

    Attributes:
        name: where the text comes from, such as `duckdb/ctas` (template or SQL file).
        text: one statement without its terminator; binds are written `:name`.
        session: which session runs it.
        effect: what it does to the database.
        object: what it creates, changes or drops; every creating, changing or dropping step has one.
        undo: statements that put the change back, run in this order after a failure, by resume and by clean; of a
            creation those that settle the object of a job (its degree), which stays. They take no binds.
        before: the former value that `undo` puts back, kept in the journal and shown to people.
        unlogged: what it writes is not in the redo log: the object needs a backup afterwards.
        redo_bytes: about how much redo it writes; None where that was not estimated: nothing, if it changes no
            object of the database, else unknown (`Dialect.logged`).
        takes: what of it stays or is sorted where, beside what the timed work takes (`TimedItem.takes`).
        tolerates: database codes that are no failure here.
        keep_as: key under which the rows it returns are kept as evidence.
        limit_seconds: cancel it after so long; None means no limit.
    """

    name: str
    text: str
    kind: StepKind = StepKind.SQL
    session: Role = Role.CONTROL
    binds: Mapping[str, Scalar] = field(default_factory=dict)
    effect: Effect = Effect.READS
    object: ObjectRef | None = None
    undo: tuple[str, ...] = ()
    restores: tuple[Attribute | None, ...] = ()
    """What each statement of `undo` restores, so that a value of somebody else is left; empty when unknown."""
    overwrites: tuple[Attribute, ...] = ()
    """What it sets of an object of the user's; it is not sent where one of them is no longer what it was."""
    puts_back: Attribute | None = None
    """What it restores itself; it is not sent where somebody else has set another value meanwhile."""
    definition: tuple[tuple[str, str], ...] = ()
    """Of a creation: what the catalogue says of the object then, as name and value (`key`, `1 ID`)."""
    like: QualifiedName | None = None
    """Of a creation: the table whose columns it has, where `definition` does not name them."""
    before: str | None = None
    unlogged: bool = False
    redo_bytes: float | None = None
    takes: tuple[Takes, ...] = ()
    tolerates: frozenset[str] = frozenset()
    keep_as: str | None = None
    same_rows: bool = False
    """Whether it must have as many rows as others of its transaction that say so; else nothing is committed."""
    awaits: str | None = None
    """Key of what a step of `prepare` keeps: its one value stands in the text where scripts show `AWAITED`."""
    limit_seconds: float | None = None
    own_read: bool = False
    """A plain SQL file of dbatk that only reads: a script names it instead of showing it."""
    argv: tuple[str, ...] = ()
    """Of a program: its argument list (`text` shows it; of RMAN and of a script `text` is what it reads from its
    standard input). Of a folder: what is done to it, and to which (see `toolkit.model.steps`)."""
    program: Program | None = None
    """Of a program of the user's: how it is run."""
    users: UsersStep | None = None
    """Of users: what is done with them; `text` says it."""
    undo_argv: tuple[str, ...] = ()
    """The command of this host that puts the change back."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that a program gets beside the usual ones; nothing secret."""
    as_user: str | None = None
    """The user of this host as whom root runs a program; nobody else can choose."""
    without: tuple[str, ...] = ()
    """Beginnings of the names of variables that a program must not inherit."""
    access: tuple[str, ...] = ()
    """Names of the variables by which the target lets a program in; their values are known to the target alone."""
    transfer: Transfer | None = None
    """What it takes from a data file of this host."""
    otherwise: Step | None = None
    """Asked instead where a row says `unseen`: that the session's catalogue may hide what is asked for."""
    parts: tuple[Step, ...] = ()
    """Reads of the same columns that go as one statement; `text` is all of them, joined by UNION ALL."""


AWAITED = "EXPORTED"
"""Stands in a text for a value that only exists when it runs."""


def added(sizes: Iterable[float | None]) -> float | None:
    """Add up sizes; None where one of them is not known."""
    known = tuple(sizes)
    return None if None in known else sum(size for size in known if size is not None)


def together(parts: Iterable[Step]) -> Step:
    """Make one read of several of the same columns: one statement, one round trip.

    Binds, tolerated codes and `keep_as` are those of all parts.
    """
    each = tuple(parts)
    if len(each) == 1:
        return each[0]
    first = each[0]
    folder = first.name.rpartition("/")[0]
    return replace(
        first,
        name=f"{folder}/{'+'.join(part.name.rpartition('/')[2] for part in each)}",
        text="\nUNION ALL\n".join(part.text for part in each),
        binds={name: value for part in each for name, value in part.binds.items()},
        tolerates=frozenset().union(*(part.tolerates for part in each)),
        parts=each,
    )


@dataclass(frozen=True, slots=True)
class TimedItem:
    """Steps that one worker runs in a row on the clock: one object of a trial.

    `weight` orders the queue, biggest first (bytes or rows of the object). Items of one `apart` (a table, say)
    are never worked on at once. `takes` is the space that the work takes. `alike` says in what the item differs
    from the others, where that is all. It is begun `due_seconds` after the clock at the earliest, and after the
    items with the labels `needs` have ended well.
    """

    label: str
    steps: tuple[Step, ...]
    weight: float = 0.0
    apart: str | None = None
    takes: tuple[Takes, ...] = ()
    alike: str = ""
    due_seconds: float = 0.0
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timed:
    """The queue on the clock: taken biggest first by `workers` sessions, on `hosts` other hosts (0: on all)."""

    items: tuple[TimedItem, ...]
    workers: int = 1
    ends_with_error: bool = False
    """Whether nothing more is begun once an item failed."""
    left_out: tuple[tuple[str, str], ...] = ()
    """What is not worked on although it was asked for among others: label, and the sentence why."""
    hosts: int = 0
    flush: Step | None = None  # by each worker: puts on disk what its items have committed, before they are told

    def ordered(self) -> tuple[TimedItem, ...]:
        """Return the items biggest first, stable for equal weights."""
        return tuple(sorted(self.items, key=lambda item: -item.weight))

    def shares(self) -> tuple[tuple[TimedItem, ...], ...]:
        """Deal the items out to the workers, as a script must: those of one `apart` to the same worker."""
        shares: list[list[TimedItem]] = [[] for _ in range(self.workers)]
        owners: dict[str, int] = {}
        for turn, item in enumerate(self.ordered()):
            owner = turn % self.workers
            shares[owner if item.apart is None else owners.setdefault(item.apart, owner)].append(item)
        return tuple(map(tuple, shares))


@dataclass(frozen=True, slots=True)
class Stages:
    """All steps of one trial, and those around the run (the same for every cell).

    `worker_begin` and `worker_end` are run by each worker session before and after the clock, off it.
    """

    timed: Timed
    setup: tuple[Step, ...] = ()
    prepare: tuple[Step, ...] = ()
    worker_begin: tuple[Step, ...] = ()
    evidence: tuple[Step, ...] = ()
    worker_end: tuple[Step, ...] = ()
    conclude: tuple[Step, ...] = ()
    cleanup: tuple[Step, ...] = ()


# -- folders as objects of steps ----------------------------------------------------------------------------------
MARK_FILE = ".dbatk"
CONTENT = "backup"
SUMS = "SHA256SUMS"
"""The file of a backup that has the checksums of all others, as `sha256sum` writes and reads it."""


class FolderAct(StrEnum):
    """What is done to a folder.

    Arguments: `make PATH MARK [OWNER]`, `look PATH`, `list PATH`, `measure PATH`, `publish PATH FINAL`,
    `seal PATH` (writes the checksums of all files below), `prove PATH` (compares them),
    `take_back PATH FINAL IDENTITY` (the last is `DEVICE:INODE` of what is at FINAL), `remove PATH`.
    """

    MAKE = "make"
    LOOK = "look"
    LIST = "list"
    MEASURE = "measure"
    PUBLISH = "publish"
    TAKE_BACK = "take_back"
    REMOVE = "remove"
    SEAL = "seal"
    PROVE = "prove"


def path_of(ref: ObjectRef) -> str:
    """Return the path of such a folder."""
    return f"{(ref.name.schema or '').rstrip('/')}/{ref.name.name}"


def content_of(ref: ObjectRef) -> str:
    """Return the path that the program writes to."""
    return f"{path_of(ref)}/{CONTENT}"


def moved_by(step: Step) -> ObjectRef | None:
    """Return what a step moves to the name that it gives it; None when it moves nothing."""
    if step.kind is not StepKind.FOLDER or step.argv[:1] != (FolderAct.PUBLISH.value,):
        return None
    return ObjectRef(ObjectKind.BACKUP, QualifiedName(CONTENT, step.argv[1]))


def spell_program(argv: Sequence[str], program: Program) -> str:
    """Spell a program of the user's so that a shell would run it alike; variables with secrets are inherited."""
    bound = f"taskset -c {','.join(map(str, program.cpus))} " if program.cpus else ""
    spelled = bound + shlex.join(argv)
    if program.environment:
        spelled = f"env {shlex.join(map('='.join, program.environment))} {spelled}"
    if program.stdin:
        spelled += f" < {shlex.quote(program.stdin)}"
    return f"(cd {shlex.quote(program.cwd)} && {spelled})" if program.cwd else spelled


def spell_on_host(kind: StepKind, argv: Sequence[str]) -> str:
    """Spell what is done on the host as a shell would take it."""
    if kind is not StepKind.FOLDER:
        return shlex.join(argv)
    act, path = FolderAct(argv[0]), shlex.quote(argv[1])
    if act is FolderAct.MAKE:
        made = f"mkdir -m 700 -- {path} && echo {shlex.quote(argv[2])} > {shlex.quote(f'{argv[1]}/{MARK_FILE}')}"
        return made + (f" && chown -- {shlex.quote(argv[3])} {path}" if len(argv) > 3 else "")
    if act in _SUMS:
        return f"cd {path} && {_SUMS[act]}"
    if act is FolderAct.PUBLISH:
        content = shlex.quote(f"{argv[1]}/{CONTENT}")
        return f"chmod -R go= -- {content} && mv -T -n -- {content} {shlex.quote(argv[2])} && rm -r -- {path}"
    if act is FolderAct.TAKE_BACK:
        final, content = shlex.quote(argv[2]), shlex.quote(f"{argv[1]}/{CONTENT}")
        return f'[ "$(stat -c %d:%i -- {final})" = {shlex.quote(argv[3])} ] && mv -T -n -- {final} {content}'
    return f"{_SHELL[act]} -- {path}"


_SUMS = {
    FolderAct.SEAL: f"find * -type f ! -name {SUMS} -exec sha256sum {{}} + > {SUMS}",
    FolderAct.PROVE: f"sha256sum --check --strict --quiet {SUMS}",
}
_SHELL = {
    FolderAct.LOOK: "ls -ld", FolderAct.LIST: "ls -lAR",
    FolderAct.MEASURE: "du -s --apparent-size",
    FolderAct.REMOVE: "rm -r",
}  # fmt: skip
