"""Dropping old partitions: those whose rows are all older than is to be kept."""

from __future__ import annotations

from dataclasses import replace

from toolkit.model.operations import Levels, OperationDeclaration, Options, RowSemantics, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_HOW = (
    Option("keep_rows", OptionKind.TEXT, 'how long rows are kept: "24 months", "90 days", "3 years"'),
    Option("detach", OptionKind.FLAG, "keep each old partition as a table of its own (DETACH)",
           engines=shared.POSTGRESQL),
)  # fmt: skip


def _check(options: Options, levels: Levels) -> None:
    """Refuse a time that cannot be read.

    Raises:
        ToolkitError: TK-0102.
    """
    del levels
    from toolkit.dialects.aging import parse_keep

    parse_keep(str(options["keep_rows"]))


DECLARATION = OperationDeclaration(
    name="partition-drop",
    command=("partition", "drop"),
    help="Drop the partitions of a table in which every row is past its retention.",
    group="Drop, exchange, split, merge and coalesce partitions.",
    options=(
        replace(shared.DEGREE, help=f"{shared.DEGREE.help}; on oracle, of the maintenance of global indexes"),
        replace(shared.TABLE, help="table partitioned by ranges of time"),
        *_HOW,
        *shared.LOCKS,
    ),
    examples=(
        'dbatk partition drop -t orcl --table SALES --keep-rows "24 months" --dry-run',
        'dbatk partition drop -t crm --table sales --keep-rows "90 days" --detach',
    ),
    planned_by="toolkit.operations.tables:OverTables",
    required=(("table",), ("keep_rows",)),
    common=("keep_rows", "detach"),
    object=ObjectKind.TABLE,
    rows=RowSemantics.DROPS,
    verified_by=VerifiedBy.SIZES,
    sizes=SizeReads(table="relation"),
    check=_check,
    once=True,
    keeps=False,
    several="partitions",
    cookbook="drop-old-partitions.md",
    order=9,
)
