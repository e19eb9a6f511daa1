"""Extended statistics of several columns of a table, or of expressions, kept for the optimizer."""

from dataclasses import replace

from toolkit.design.user_sql import expressions_of
from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

KINDS = ("ndistinct", "dependencies", "mcv")


def _check(options: Options, levels: Levels) -> None:
    """Refuse a group of one column, a name that does not count, and a kind that PostgreSQL does not have.

    Raises:
        ToolkitError: TK-0102.
    """
    del levels
    given = options.get("columns")
    columns, expressions = given if isinstance(given, tuple) else (), expressions_of(options)
    if not expressions and len(set(columns)) < 2:
        raise ToolkitError(
            "a column group has two columns at least",
            code="TK-0102",
            hint="as in `--columns CITY,ZIP`, or give `--expression`; a single column has statistics of its own",
        )
    if options.get("drop") and "name" in options and not expressions:
        raise ToolkitError(
            "`--name` and `--drop` do not go together without `--expression`",
            code="TK-0107",
            hint="statistics of columns are found by their columns",
        )
    kinds = options.get("kinds") or ()
    if kinds and len(columns) + len(expressions) == 1:
        raise ToolkitError(
            "statistics of one expression alone have no kinds",
            code="TK-0107",
            hint="omit `--kinds`, or add columns or another expression",
        )
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
    help="Create or drop statistics of columns that depend on each other, or of expressions.",
    options=(
        shared.DEGREE,
        replace(shared.TABLE, help="table of the columns"),
        replace(shared.COLUMNS, help="columns of the group: CITY,ZIP"),
        Option("expression", OptionKind.EXPRESSIONS, "an expression of the columns: 'lower(city)' (several)",
               engines=shared.NOT_DUCKDB,
               notes_on={"oracle": "Oracle: one alone", "postgresql": "PostgreSQL: also beside --columns"}),
        Option("kinds", OptionKind.NAMES, "which statistics: ndistinct, dependencies, mcv (default all)",
               engines=shared.POSTGRESQL),
        Option("name", OptionKind.NAME, "name of the statistics (default: made of table and columns)",
               engines=shared.POSTGRESQL),
        Option("drop", OptionKind.FLAG, "drop these statistics instead", engines=shared.NOT_DUCKDB),
        *shared.LOCKS,
    ),
    examples=(
        "dbatk stats extend -t orcl --table SHOP.CUSTOMERS --columns CITY,ZIP",
        "dbatk stats extend -t crm --table shop.customers --expression 'lower(city)'",
    ),
    planned_by="toolkit.operations.stats_extend.plan",
    required=(("table",),),
    common=("columns", "expression", "kinds", "drop"),
    object=ObjectKind.TABLE,
    excludes=(("drop", "kinds", "statistics are dropped with all their kinds"),),
    check=_check,
    several="tables",
    keeps=False,
    cookbook="statistics-of-column-groups.md",
    order=5,
)  # fmt: skip
