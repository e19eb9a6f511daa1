"""INSERT AS SELECT."""

from toolkit.model.operations import OperationDeclaration, RowSemantics, SizeReads, SpaceEstimate, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_LOAD = (
    Option("load", OptionKind.CHOICE, "direct-path or conventional insert", engines=shared.ORACLE, factor=True,
           choices=("direct", "conventional")),
    Option("parallel_dml", OptionKind.CHOICE, "enable parallel DML by ALTER SESSION or by hint",
           engines=shared.ORACLE, factor=True, choices=("session", "hint")),
)  # fmt: skip
_INTO = (
    Option("into", OptionKind.CHOICE, "load into an empty copy, or into one that holds the table's rows",
           factor=True, choices=("empty", "filled")),
    Option("identity", OptionKind.CHOICE,
           "identity columns: keep the source's values and move their sequences, or generate new values",
           engines=shared.POSTGRESQL, choices=("keep", "generate")),
    Option("bare", OptionKind.FLAG, "load into a copy without indexes, constraints or partitions"),
)  # fmt: skip

DECLARATION = OperationDeclaration(
    name="insert",
    command=("insert",),
    help="Insert as select, once or as a measurement.",
    options=(
        shared.DEGREE, shared.CONCURRENCY, shared.SOURCE, shared.QUERY, shared.TABLE, shared.PARTITION,
        shared.COLUMNS, *shared.ROWS, shared.LOGGING, *_LOAD, shared.PQ_DISTRIBUTE, *_INTO,
        shared.ONLINE_STATISTICS, shared.WORK_MEM, *shared.SESSION, shared.CACHE, *shared.LOCKS,
    ),
    planned_by="toolkit.operations.insert.plan",
    required=(("source", "query"), ("table",)),
    object=ObjectKind.TABLE,
    rows=RowSemantics.ADDS,
    verified_by=VerifiedBy.ROWS,
    sizes=SizeReads(source="relation"),
    space=SpaceEstimate.TABLES,
    space_factor=1.3,
    sorts_keys=True,
    of_source=("where", "sample"),
    one_session="a job loads one table with one statement in one session",
    temporary_hint="add temporary space, or measure into a copy without indexes (--bare)",
    cookbook="which-degree.md",
    order=2,
)  # fmt: skip
