"""INSERT AS SELECT."""

from dataclasses import replace

from toolkit.model.operations import Levels, OperationDeclaration, Options, RowSemantics, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared


def _check(options: Options, levels: Levels) -> None:
    from toolkit.operations.insert.checks import check

    check(options, levels)


_DEGREE = replace(
    shared.DEGREE,
    help=f"{shared.DEGREE.help}; on postgresql, sessions that divide the source",
)
_TABLE = replace(shared.TABLE, help="table to load; a measurement loads copies of it")
_LOAD = (
    Option("load", OptionKind.CHOICE, "direct-path (default) or conventional insert", engines=shared.ORACLE,
           factor=True, choices=("direct", "conventional")),
    Option("parallel_dml", OptionKind.CHOICE, "enable parallel DML by ALTER SESSION (default) or by hint",
           engines=shared.ORACLE, factor=True, choices=("session", "hint")),
)  # fmt: skip
_EXTERNAL = (
    Option("external_files", OptionKind.NAMES,
           "files on the server to read instead, in --directory: lines_1.csv,lines_2.csv", engines=shared.ORACLE),
    Option("directory", OptionKind.NAME, "directory object of the database that holds --external-files",
           engines=shared.ORACLE, topic=Topic.WHERE),
    *shared.FILE_TEXT,
    shared.MAX_REJECTS,
)  # fmt: skip
_INTO = (
    Option("into", OptionKind.CHOICE, "load into an empty copy (default), or into one that already holds "
                                      "the table's rows",
           factor=True, choices=("empty", "filled")),
    Option("identity", OptionKind.CHOICE,
           "identity columns: keep the source's values and move their sequences, or generate new values",
           engines=shared.POSTGRESQL, choices=("keep", "generate")),
    Option("bare", OptionKind.FLAG, "load into a copy without indexes, constraints or partitions",
           factor=True),
)  # fmt: skip

DECLARATION = OperationDeclaration(
    name="insert",
    command=("insert",),
    help="Insert as select, once or as a measurement.",
    options=(
        _DEGREE, shared.CONCURRENCY, shared.SOURCE, shared.QUERY, shared.DIFFERENT_ROWS, _TABLE, shared.PARTITION,
        shared.COLUMNS, *shared.ROWS, *_EXTERNAL, shared.LOGGING, *_LOAD, shared.PQ_DISTRIBUTE, *_INTO,
        shared.ONLINE_STATISTICS, shared.WORK_MEM, *shared.SESSION, shared.CACHE, *shared.LOCKS,
        *shared.SERVER_LOG,
    ),
    examples=(
        "dbatk insert -t orcl --source STAGE --table SALES --degree 8",
        "dbatk insert -t orcl --query new.sql --table SALES --degree 1,2,4 --repeat 5",
    ),
    planned_by="toolkit.operations.insert.plan",
    required=(("source", "query", "external_files"), ("table",)),
    object=ObjectKind.TABLE,
    rows=RowSemantics.ADDS,
    verified_by=VerifiedBy.ROWS,
    sizes=SizeReads(source="relation"),
    of_source=("where", "sample"),
    check=_check,
    one_session="a job loads one table once, in one session, or on postgresql in as many as its degree",
    temporary_hint="add temporary space, or measure into a copy without indexes (--bare)",
    cookbook="which-degree.md",
    order=2,
)  # fmt: skip
