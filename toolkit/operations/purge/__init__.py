"""DELETE in chunks."""

from __future__ import annotations

from dataclasses import replace

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options, RowSemantics, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_DEGREE = replace(
    shared.DEGREE, help=f"{shared.DEGREE.help}; on postgresql, sessions that take one chunk after the other"
)
_ROWS = (
    Option("where", OptionKind.PREDICATE, "which rows to delete (- or @FILE to read it)"),
    Option("all_rows", OptionKind.FLAG, "allow to delete every row of the table", topic=Topic.SAFETY),
)
_CHUNKS = (
    Option("chunk", OptionKind.INTEGER, "rows of a chunk, deleted by one statement (default 10000)", factor=True,
           low=1, high=10_000_000, unit="rows"),
    Option("commit_every", OptionKind.INTEGER, "chunks of a transaction (default 1)", factor=True,
           low=1, high=10_000, unit="chunks"),
)  # fmt: skip


def _check(options: Options, levels: Levels) -> None:
    """Refuse to delete without a condition unless that was asked for.

    Raises:
        ToolkitError: TK-0107.
    """
    del levels
    if "where" not in options and not options.get("all_rows"):
        raise ToolkitError(
            "`purge` needs `--where`: without a condition it would delete every row",
            code="TK-0107",
            hint="give `--where`, or `--all-rows` to delete them all",
        )


DECLARATION = OperationDeclaration(
    name="purge",
    command=("purge",),
    help="Delete rows in chunks, each in a short transaction, once or as a measurement on copies.",
    options=(_DEGREE, replace(shared.TABLE, help="table to delete from"), *_ROWS, *_CHUNKS, *shared.LOCKS),
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
    check=_check,
    keeps=False,
    cookbook="delete-old-rows.md",
    order=7,
)
