"""The registry of operations: what each declares about itself, in the one place where it is declared.

An operation is a package of `toolkit.operations`: its `DECLARATION` says everything that anybody outside needs to
know of it, and is light to import; its module `plan` holds the functions that plan it, imported when a run is
planned. The packages are found by looking, so that a new one touches no list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from toolkit.model.declarations import Declarations
from toolkit.model.experiment import OptionValue
from toolkit.model.options import Option
from toolkit.model.values import Level
from toolkit.model.words import ObjectKind, OperationName

if TYPE_CHECKING:
    from toolkit.model.plan import ConditionKind

Options = Mapping[str, OptionValue]
Levels = Mapping[str, tuple[Level, ...]]


class RowSemantics(StrEnum):
    """What an operation does to rows.

    Nothing, it makes the table that holds them, or an empty one for them, adds them to a table, changes or removes
    those of a table, or lets whole partitions of them go, which are not counted.
    """

    NONE = "none"
    MAKES = "makes"
    EMPTY = "empty"
    ADDS = "adds"
    CHANGES = "changes"
    DROPS = "drops"


class VerifiedBy(StrEnum):
    """What a plan verifies after a step: by the catalogue, by a count, or by the output of the program."""

    NOTHING = "nothing"
    ROWS = "rows"
    REST = "rest"
    """By a count of the rows that still match its condition."""
    INDEXES = "indexes"
    STATISTICS = "statistics"
    BACKUP = "backup"
    RESTORE = "restore"
    SIZES = "sizes"
    """By what the run itself read before and right after its work."""


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """The metric by which configurations of an operation are compared; the elapsed time by default.

    Attributes:
        metric: its name among the metrics of a trial; values are above 0.
        unit: of its values, as `toolkit.units.quantity` spells them.
        lower_is_better: whether less of it is better.
        title: what reports call it, in the singular.
        passes: whether it is time that passes, of which less is faster: CPU time is used, and waits are summed.
    """

    metric: str = "elapsed_seconds"
    unit: str = "seconds"
    lower_is_better: bool = True
    title: str = "time"
    passes: bool = True


@dataclass(frozen=True, slots=True)
class SizeReads:
    """The catalogue files that tell the size of what an operation works on, by what names it."""

    schema: str = ""
    table: str = ""
    index: str = ""
    source: str = ""
    database: bool = False


@dataclass(frozen=True, slots=True)
class OperationDeclaration:
    """All that is known of an operation outside its package and the engines' implementations of it.

    Attributes:
        name: in files, stores and reports.
        command: the words of its command line: `("index", "build")`.
        help: one sentence.
        examples: whole command lines that its help shows.
        group: what the group of its command line does, where no other operation says it.
        options: in the order of help.
        required: groups of options of which exactly one is given.
        common: options that help shows first, besides what is required and the degree.
        planned_by: the module whose `OPERATION` plans it, `<package>.plan` for a package of dbatk; or
            `<module>:<maker>`, whose maker returns it for the name of the operation.
        object: what a trial works on; None for work on this host.
        degree: the factor that says how parallel it is.
        rows: what it does to rows.
        adds_with: option and value with which it adds rows to tables that are there, where it does not always.
        judged_by: the metric by which configurations are compared.
        verified_by: what a plan verifies after a step.
        sizes: which files tell the size of what it works on.
        conditions: the conditions of a plan's step that ask for its objects.
        of_source: options that speak of `--source`, so that `--query` excludes them.
        excludes: pairs of options that are mutually exclusive, with the reason.
        check: refuses further contradictions before anybody connects.
        one_session: why a job of it has one session; empty where several may work.
        once: whether it is done once, and leaves nothing to measure a second time.
        one_object: whether a job makes one object by one statement, so that the object proves the work.
        several: what a job over several objects works through, as a plural; empty where there is one.
        keeps: whether a trial makes an object that can stay.
        created_by: the operation that makes the table it fills, if it has files and no table is there.
        then: what is usually done after a job of it, for a hint.
        publishes_statistics: whether on live objects it may move the statistics that plans are made from.
        writes_files: whether it writes into folders of this host.
        complete_when_timed: whether the work is done as soon as the timed steps succeeded.
        runs_programs: whether it runs programs that the user names, to which a user of a file must consent.
        free_factors: whether any factor may be named, which stands as a placeholder in its options.
        default_target: where it works when no target is named; empty where one must be.
        temporary_hint: what helps where temporary space is short.
        cookbook: the page of `docs/cookbook` that shows it.
        order: its place in help; ties go by name.
    """

    name: OperationName
    command: tuple[str, ...]
    help: str
    options: tuple[Option, ...]
    planned_by: str
    examples: tuple[str, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    common: tuple[str, ...] = ()
    object: ObjectKind | None = None
    degree: str = "degree"
    rows: RowSemantics = RowSemantics.NONE
    adds_with: tuple[str, str] | None = None
    judged_by: JudgedBy = field(default_factory=JudgedBy)
    verified_by: VerifiedBy = VerifiedBy.NOTHING
    sizes: SizeReads = field(default_factory=SizeReads)
    conditions: frozenset[ConditionKind] = frozenset()
    of_source: tuple[str, ...] = ()
    excludes: tuple[tuple[str, str, str], ...] = ()
    check: Callable[[Options, Levels], None] | None = None
    one_session: str = ""
    once: bool = False
    one_object: bool = False
    several: str = ""
    group: str = ""
    keeps: bool = True
    created_by: OperationName = ""
    then: str = ""
    publishes_statistics: bool = False
    writes_files: bool = False
    complete_when_timed: bool = True
    runs_programs: bool = False
    free_factors: bool = False
    default_target: str = ""
    temporary_hint: str = "add temporary space"
    cookbook: str = ""
    order: int = 100

    @property
    def backs_up(self) -> bool:
        return self.object is ObjectKind.BACKUP

    @property
    def makes_rows(self) -> bool:
        return self.rows in (RowSemantics.MAKES, RowSemantics.ADDS)

    @property
    def changes_rows(self) -> bool:
        """Whether it changes or removes rows of the table named."""
        return self.rows in (RowSemantics.CHANGES, RowSemantics.DROPS)

    @property
    def counts_rows(self) -> bool:
        """Whether the rows of a trial are counted."""
        return self.rows not in (RowSemantics.NONE, RowSemantics.DROPS, RowSemantics.EMPTY)

    @property
    def counts_twice(self) -> bool:
        """Whether to do it again on the user's own table is not the same as to do it once."""
        return self.rows in (RowSemantics.ADDS, RowSemantics.CHANGES)

    @property
    def makes_table(self) -> bool:
        """Whether the table named is made, and so not there yet."""
        return self.rows in (RowSemantics.MAKES, RowSemantics.EMPTY)


_OPERATIONS: Declarations[OperationDeclaration] = Declarations("toolkit.operations", "an operation")
operations = _OPERATIONS.every
declaration = _OPERATIONS.of
registered = _OPERATIONS.registered


def options_of(name: OperationName) -> tuple[Option, ...]:
    """Return the options an operation takes, in the order of help."""
    return declaration(name).options


def every_option() -> dict[str, Option]:
    """Return the options of all operations by name; one that several take is the first one's."""
    found: dict[str, Option] = {}
    for one in operations().values():
        for option in one.options:
            found.setdefault(option.name, option)
    return found


PARALLEL = ("threads", "jobs", "workers", "processes", "clients", "users", "connections", "degree", "concurrency")
"""How factors of any name are called that say how many work at once."""


def degree_factor(name: OperationName, factors: Collection[str] = ()) -> str:
    """Name the factor by which an operation works in parallel; speed-up and efficiency are judged by it.

    Args:
        name: of the operation.
        factors: of the experiment; where any name will do, what it is called tells.
    """
    found = _OPERATIONS.get(name)
    if found is not None and found.free_factors:
        return next((one for one in PARALLEL if one in factors), "")
    return "degree" if found is None else found.degree


def judged_by(name: OperationName) -> JudgedBy:
    """Return what an operation is judged by; the elapsed time for one that is not known here."""
    found = _OPERATIONS.get(name)
    return JudgedBy() if found is None else found.judged_by


def degree_level(levels: Mapping[str, object]) -> object:
    """Return the level of the factor that plays the part of the degree, whatever its name; None if not given."""
    if "degree" in levels or not levels:
        return levels.get("degree")
    names = dict.fromkeys(one.degree for one in operations().values())
    return next((levels[name] for name in names if name in levels), None)


def degree_of(cell: Mapping[str, Level]) -> int:
    """Return the degree of a cell as a number; absent, `default` and `auto` give 1, 0 and 0."""
    level = degree_level(cell)
    return 1 if level is None else int(level) if isinstance(level, int | float) else 0
