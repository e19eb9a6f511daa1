"""Coalescing a table partitioned by hash: one partition fewer."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, SizeReads, VerifiedBy
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

DECLARATION = OperationDeclaration(
    name="partition-coalesce",
    command=("partition", "coalesce"),
    help="Give a table partitioned by hash one partition fewer, and keep its indexes usable.",
    options=(
        shared.DEGREE,
        replace(shared.TABLE, help="table partitioned by hash, whose last partition goes into another"),
        *shared.LOCKS,
    ),
    examples=(
        "dbatk partition coalesce -t orcl --table SHOP.SESSIONS --dry-run",
        "dbatk partition coalesce -t orcl --table SHOP.SESSIONS --degree 4 --lock-wait 10s",
    ),
    planned_by="toolkit.operations.tables:OverTables",
    required=(("table",),),
    object=ObjectKind.TABLE,
    verified_by=VerifiedBy.SIZES,
    sizes=SizeReads(table="relation"),
    once=True,
    keeps=False,
    several="partitions",
    cookbook="change-partitions.md",
    order=9,
)
