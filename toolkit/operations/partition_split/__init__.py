"""Splitting a partition in two."""

from __future__ import annotations

from dataclasses import replace

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_WHAT = (
    replace(shared.TABLE, help="table whose partition is split"),
    Option("partition", OptionKind.NAME, "partition to split"),
    Option("at", OptionKind.TEXT, "of ranges: where the first of the two ends: 2026-11-01, 5000"),
    Option("in_values", OptionKind.TEXT, "of lists: the values of the first of the two: NORTH,SOUTH"),
    Option("new_names", OptionKind.NAMES,
           "names of the two; one may be the former one"),
    replace(shared.TABLESPACE, help="tablespace of both (default: the former)", factor=False,
            engines=shared.ORACLE),
    replace(shared.ONLINE, help="allow changes meanwhile (ONLINE)", factor=False,
            engines=shared.ORACLE),
)  # fmt: skip


def _check(options: Options, levels: Levels) -> None:
    """Refuse other than two different names.

    Raises:
        ToolkitError: TK-0102.
    """
    del levels
    into = options["new_names"]
    names = into if isinstance(into, tuple) else (into,)
    if len(set(names)) != 2 or len(names) != 2:
        raise ToolkitError(
            "`--new-names` takes the names of two partitions",
            code="TK-0102",
            hint="as in --new-names P2026_10,P2026_11",
        )


DECLARATION = OperationDeclaration(
    name="partition-split",
    command=("partition", "split"),
    help="Split a partition in two, and keep the indexes of the table usable.",
    options=(shared.DEGREE, *_WHAT, *shared.LOCKS),
    examples=(
        "dbatk partition split -t orcl --table SALES --partition PMAX --at 2026-12-01 --new-names P2026_11,PMAX",
        "dbatk partition split -t orcl --table SALES --partition REST --in-values N,S --new-names A,B --dry-run",
    ),
    planned_by="toolkit.operations.tables:OverTables",
    required=(("table",), ("partition",), ("at", "in_values"), ("new_names",)),
    common=("online",),
    object=ObjectKind.TABLE,
    verified_by=VerifiedBy.SIZES,
    sizes=SizeReads(table="relation"),
    check=_check,
    once=True,
    keeps=False,
    several="partitions",
    temporary_hint="split when the partition is smaller, or give another tablespace",
    cookbook="change-partitions.md",
    order=9,
)
