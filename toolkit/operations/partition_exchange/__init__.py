"""Exchanging a partition with a table: each gets the rows of the other, and none is moved."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, RowSemantics, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_WHAT = (
    replace(shared.TABLE, help="partitioned table"),
    Option("partition", OptionKind.NAME, "partition to exchange (oracle: or subpartition)"),
    Option("with_table", OptionKind.NAME, "table of the same columns in the same order"),
)
_HOW = (
    Option("validation", OptionKind.CHOICE, "check that rows fit the partition (default: with)",
           engines=shared.ORACLE, choices=("with", "without"),
           elsewhere="a CHECK constraint that says what the bounds say spares the check (postgresql)"),
    Option("exchange_indexes", OptionKind.CHOICE,
           "exchange local indexes (default), or leave them unusable",
           engines=shared.ORACLE, choices=("including", "excluding"),
           elsewhere="postgresql keeps indexes that fit, and builds those that lack"),
)  # fmt: skip

DECLARATION = OperationDeclaration(
    name="partition-exchange",
    command=("partition", "exchange"),
    help="Exchange a partition with a table of the same columns, without moving rows.",
    options=(
        replace(shared.DEGREE, help="parallel degree of the maintenance of global indexes"),
        *_WHAT,
        *_HOW,
        *shared.LOCKS,
    ),
    examples=(
        "dbatk partition exchange -t orcl --table SALES --partition P2026_11 --with-table SALES_NEW --dry-run",
        "dbatk partition exchange -t crm --table sales --partition sales_2026_11 --with-table sales_new",
    ),
    planned_by="toolkit.operations.partition_exchange.plan",
    required=(("table",), ("partition",), ("with_table",)),
    common=("validation",),
    object=ObjectKind.TABLE,
    rows=RowSemantics.DROPS,
    verified_by=VerifiedBy.SIZES,
    sizes=SizeReads(table="relation"),
    once=True,
    keeps=False,
    several="partitions",
    cookbook="change-partitions.md",
    order=9,
)
