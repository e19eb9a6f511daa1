"""Load of data files."""

from dataclasses import replace

from toolkit.model.operations import Levels, OperationDeclaration, Options, RowSemantics, VerifiedBy
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared
from toolkit.operations.hosts import options_of


def _check(options: Options, levels: Levels) -> None:
    from toolkit.operations.load.checks import check

    check(options, levels)


_DEGREE = replace(
    shared.DEGREE,
    help="sessions that load, each a part of the files; on duckdb, threads: 4 (default 1); to compare "
    "several: 1,2,4",
)
_TABLE = replace(
    shared.TABLE,
    help="table to load into, which exists (`dbatk table create` makes one for the files); "
    "a measurement loads copies of it",
)
_COLUMNS = replace(
    shared.COLUMNS, help="columns of the table in the order of the files (default: by the first line of each file)"
)
_BAD_ROWS = (
    shared.MAX_REJECTS,
    Option("rejects", OptionKind.PATH, "file for the rows left out, with line and reason "
           "(default dbatk-rejects-RUN.csv in the folder of the first file)", topic=Topic.SAFETY),
    Option("check_rows", OptionKind.INTEGER, "rows of each file whose types are checked first (default 1000)",
           low=0, high=10_000_000, unit="rows", topic=Topic.SAFETY),
)  # fmt: skip
_HOW = (
    Option("method", OptionKind.CHOICE, "how rows are loaded: array (default; dbatk sends them by INSERT), or "
           "SQL*Loader's conventional or direct path, in a bundle (`dbatk export`)", engines=shared.ORACLE,
           factor=True, choices=("array", "conventional", "direct"),
           elsewhere="elsewhere rows go as one stream"),
    Option("commit_every", OptionKind.SIZE, "bytes of the files in a transaction (default 64M)",
           factor=True, words=("file",)),
    Option("batch_rows", OptionKind.INTEGER, "rows sent at once (default 5000)", engines=frozenset({"oracle"}),
           factor=True, low=1, high=100_000, unit="rows",
           elsewhere="elsewhere rows go as one stream"),
    Option("file_order", OptionKind.CHOICE, "order in which the files are begun: as given (default), or "
                                            "the biggest first",
           factor=True, choices=("given", "biggest")),
)  # fmt: skip
_INTO = (Option("bare", OptionKind.FLAG, "load into a copy without indexes and constraints", factor=True),)

DECLARATION = OperationDeclaration(
    name="load",
    command=("load",),
    help="Load data files into an existing table, once or as a measurement.",
    options=(
        Option("files", OptionKind.FILES,
               "CSV, CSV compressed by gzip, or parquet; a pattern in quotes names several"),
        _DEGREE, _TABLE, _COLUMNS, *_HOW, *shared.FILE_TEXT, *_BAD_ROWS, shared.LOGGING, *_INTO, *shared.LOCKS,
        *options_of("sessions are", "the database is a library of one process there"), *shared.SERVER_LOG,
    ),
    examples=(
        "dbatk load -t dwh lines.csv --table LINES --degree 4",
        "dbatk load -t dwh 'lines_*.csv.gz' --table LINES --degree 1,2,4 --repeat 3",
    ),
    planned_by="toolkit.operations.load.plan",
    required=(("files",), ("table",)),
    common=("max_rejects",),
    object=ObjectKind.TABLE,
    rows=RowSemantics.ADDS,
    created_by="table-create",
    verified_by=VerifiedBy.ROWS,
    check=_check,
    one_session="a job loads one table once, in as many sessions as its degree",
    temporary_hint="measure into a copy without indexes (--bare)",
    cookbook="which-load-is-fastest.md",
    order=3,
)  # fmt: skip
