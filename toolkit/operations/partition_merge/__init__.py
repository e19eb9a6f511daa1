"""Merging partitions into one."""

from __future__ import annotations

from dataclasses import replace

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_WHAT = (
    replace(shared.TABLE, help="table whose partitions are merged"),
    Option("merged", OptionKind.NAMES, "partitions to merge; of ranges neighbours, the lowest first"),
    Option("new_name", OptionKind.NAME, "name of the partition that they become"),
    replace(shared.TABLESPACE, help="tablespace of it (default: that of the table)", factor=False,
            engines=shared.ORACLE),
)  # fmt: skip


def _check(options: Options, levels: Levels) -> None:
    """Refuse fewer than two partitions, or one named twice.

    Raises:
        ToolkitError: TK-0102.
    """
    del levels
    merged = options["merged"]
    names = merged if isinstance(merged, tuple) else (merged,)
    if len(names) < 2 or len(set(names)) != len(names):
        raise ToolkitError(
            "`--merged` takes the names of two or more different partitions",
            code="TK-0102",
            hint="as in --merged P2024_01,P2024_02,P2024_03",
        )


DECLARATION = OperationDeclaration(
    name="partition-merge",
    command=("partition", "merge"),
    help="Merge partitions of a table into one, and keep its indexes usable.",
    options=(shared.DEGREE, *_WHAT, *shared.LOCKS),
    examples=(
        "dbatk partition merge -t orcl --table SALES --merged P2024_01,P2024_02 --new-name P2024 --dry-run",
        "dbatk partition merge -t orcl --table SALES --merged NORTH,SOUTH --new-name HOME --degree 4",
    ),
    planned_by="toolkit.operations.tables:OverTables",
    required=(("table",), ("merged",), ("new_name",)),
    common=("tablespace",),
    object=ObjectKind.TABLE,
    verified_by=VerifiedBy.SIZES,
    sizes=SizeReads(table="relation"),
    check=_check,
    once=True,
    keeps=False,
    several="partitions",
    temporary_hint="merge fewer partitions at once, or give another tablespace",
    cookbook="change-partitions.md",
    order=9,
)
