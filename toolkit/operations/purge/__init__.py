"""DELETE and UPDATE in chunks."""

from __future__ import annotations

from dataclasses import replace

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options, RowSemantics, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_DEGREE = replace(
    shared.DEGREE,
    help=f"{shared.DEGREE.help}; on oracle and postgresql, sessions that take one chunk after the other",
)
_ROWS = (
    Option("where", OptionKind.PREDICATE, "which rows (- or @FILE to read it)"),
    Option("all_rows", OptionKind.FLAG, "allow to work on every row of the table", topic=Topic.SAFETY),
)
_CHUNKS = (
    Option("chunk", OptionKind.INTEGER, "rows of a chunk, the work of one statement (default 10000)", factor=True,
           low=1, high=10_000_000, unit="rows"),
    Option("commit_every", OptionKind.INTEGER, "chunks of a transaction (default 1)", factor=True,
           low=1, high=10_000, unit="chunks"),
)  # fmt: skip

_WAYS = (
    Option("archive_to", OptionKind.NAME, "move the rows to this table: inserted and deleted in one transaction"),
    Option("set", OptionKind.ASSIGNMENTS, "change the rows instead of deleting them (several)"),
)


def _check(options: Options, levels: Levels) -> None:
    """Refuse to work without a condition unless that was asked for.

    Raises:
        ToolkitError: TK-0107.
    """
    del levels
    if "where" not in options and not options.get("all_rows"):
        raise ToolkitError(
            "`purge` needs `--where`: without a condition it would work on every row",
            code="TK-0107",
            hint="give `--where`, or `--all-rows` if all are meant",
        )


DECLARATION = OperationDeclaration(
    name="purge",
    command=("purge",),
    help="Delete, move or change rows in chunks, each in a short transaction; measured on copies.",
    options=(_DEGREE, replace(shared.TABLE, help="table with the rows"), *_ROWS, *_WAYS, *_CHUNKS, *shared.LOCKS),
    examples=(
        'dbatk purge -t shop --table ORDERS --where "STATE = 9" --dry-run',
        'dbatk purge -t shop --table ORDERS --where "STATE = 9" --chunk 1000,9000',
    ),
    planned_by="toolkit.operations.purge.plan",
    required=(("table",),),
    common=("where", "chunk"),
    object=ObjectKind.TABLE,
    rows=RowSemantics.CHANGES,
    verified_by=VerifiedBy.REST,
    sizes=SizeReads(table="relation"),
    excludes=(("archive_to", "set", "rows that are moved away are not changed"),),
    check=_check,
    keeps=False,
    cookbook="delete-old-rows.md",
    order=7,
)
