"""Validating constraints: the rows that are there are checked against what was only asked of new ones."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, SizeReads
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

DECLARATION = OperationDeclaration(
    name="constraint-validate",
    command=("constraint", "validate"),
    help="Validate constraints of a table or of schemas that are enforced for new rows only.",
    group="Validate constraints.",
    options=(
        replace(shared.DEGREE, help="parallel degree that the tables have meanwhile (Oracle)", words=()),
        replace(shared.CONCURRENCY, help="concurrent sessions, each with a table of its own", factor=False),
        replace(shared.TABLE, help="table whose constraints are validated"),
        replace(shared.SCHEMA, help="schemas whose constraints are all validated"),
        Option("constraint", OptionKind.NAMES, "only these constraints of the table", engines=shared.NOT_DUCKDB),
        Option("disabled", OptionKind.FLAG,
               "also constraints that are disabled: enabled for new rows first (ENABLE NOVALIDATE)",
               engines=shared.ORACLE),
        shared.RESTORE,
        *(replace(one, factor=False) for one in shared.SESSION),
        *shared.LOCKS,
    ),
    examples=(
        "dbatk constraint validate -t orcl --table SHOP.ORDERS --degree 8 --disabled",
        "dbatk constraint validate -t crm --schema shop --concurrency 4",
    ),
    planned_by="toolkit.operations.constraint_validate.plan",
    required=(("table", "schema"),),
    excludes=(("constraint", "schema", "name the table of the constraint with --table"),),
    common=("constraint", "disabled"),
    object=ObjectKind.TABLE,
    sizes=SizeReads("schema_tables", "relation"),
    once=True,
    several="tables",
    keeps=False,
    cookbook="validate-constraints.md",
    order=9,
)  # fmt: skip
