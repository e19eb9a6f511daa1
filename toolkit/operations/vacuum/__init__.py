"""Vacuuming tables."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.plan import ConditionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_ON = (
    replace(shared.TABLE, help="table to vacuum"),
    replace(shared.SCHEMA, help="schemas whose tables are all vacuumed"),
)
_HOW = (
    Option("freeze", OptionKind.FLAG, "freeze every row version that can be (FREEZE)", engines=shared.POSTGRESQL,
           factor=True),
    Option("index_cleanup", OptionKind.CHOICE, "remove dead entries from indexes: auto leaves it to the server",
           engines=shared.POSTGRESQL, factor=True, choices=("auto", "on", "off")),
    Option("truncate", OptionKind.CHOICE,
           "give empty blocks at the end of a table back to the disk, which locks out readers for a moment",
           engines=shared.POSTGRESQL, factor=True, choices=("yes", "no")),
    Option("analyze", OptionKind.FLAG, "also gather statistics (ANALYZE)", engines=shared.POSTGRESQL, factor=True),
    replace(shared.MAINTENANCE_WORK_MEM, help="memory for the addresses of dead rows: 256M, 2G", merge_buffer=0),
)  # fmt: skip
_DEAD_ROWS = Option("dead_rows", OptionKind.NUMBER,
                    "percentage of rows deleted in the copy before each trial (default 20)",
                    factor=True, low=0, high=100, unit="%")  # fmt: skip

DECLARATION = OperationDeclaration(
    name="vacuum",
    command=("vacuum",),
    help="Vacuum a table or all tables of schemas (on DuckDB: a checkpoint).",
    options=(shared.DEGREE, shared.CONCURRENCY, *_ON, *_HOW, _DEAD_ROWS, *shared.LOCKS),
    examples=(
        "dbatk vacuum -t crm --schema shop --freeze --concurrency 4",
        "dbatk vacuum -t crm --table orders --degree 1,2,4 --repeat 5",
    ),
    planned_by="toolkit.operations.vacuum.plan",
    required=(("table", "schema"),),
    common=("concurrency", "freeze"),
    object=ObjectKind.TABLE,
    verified_by=VerifiedBy.SIZES,
    sizes=SizeReads("schema_tables", "relation"),
    conditions=frozenset({ConditionKind.TRANSACTION_AGE}),
    several="tables",
    keeps=False,
    cookbook="is-it-worth-to-reorganise.md",
    order=7,
)
