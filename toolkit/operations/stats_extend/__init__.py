"""Extended statistics: what several columns of a table have to do with each other, kept for the optimizer."""

from dataclasses import replace

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

KINDS = ("ndistinct", "dependencies", "mcv")


def _check(options: Options, levels: Levels) -> None:
    """Refuse a group of one column, and a kind that PostgreSQL does not have.

    Raises:
        ToolkitError: TK-0102.
    """
    del levels
    columns = options.get("columns")
    if not isinstance(columns, tuple) or len(set(columns)) < 2:
        raise ToolkitError(
            "a column group has two columns at least",
            code="TK-0102",
            hint="as in `--columns CITY,ZIP`; a single column has statistics of its own",
        )
    kinds = options.get("kinds") or ()
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if str(kind).lower() not in KINDS:
            raise ToolkitError(
                f"there are no statistics of the kind `{str(kind)[:40]}`",
                code="TK-0102",
                hint=f"one or more of {', '.join(KINDS)}",
            )


DECLARATION = OperationDeclaration(
    name="stats-extend",
    command=("stats", "extend"),
    help="Create or drop statistics of a group of columns that depend on each other.",
    options=(
        shared.DEGREE,
        replace(shared.TABLE, help="table of the columns"),
        replace(shared.COLUMNS, help="columns of the group: CITY,ZIP"),
        Option("kinds", OptionKind.NAMES, "which statistics: ndistinct, dependencies, mcv (default all)",
               engines=shared.POSTGRESQL),
        Option("name", OptionKind.NAME, "name of the statistics (default: made of table and columns)",
               engines=shared.POSTGRESQL),
        Option("drop", OptionKind.FLAG, "drop the statistics of the group instead", engines=shared.NOT_DUCKDB),
        *shared.LOCKS,
    ),
    examples=(
        "dbatk stats extend -t orcl --table SHOP.CUSTOMERS --columns CITY,ZIP",
        "dbatk stats extend -t crm --table shop.customers --columns city,zip --kinds dependencies",
    ),
    planned_by="toolkit.operations.stats_extend.plan",
    required=(("table",), ("columns",)),
    common=("kinds", "drop"),
    object=ObjectKind.TABLE,
    excludes=(
        ("drop", "kinds", "statistics are dropped with all their kinds"),
        ("drop", "name", "they are found by their columns"),
    ),
    check=_check,
    several="tables",
    keeps=False,
    cookbook="statistics-of-column-groups.md",
    order=5,
)  # fmt: skip
