"""Shrinking tables in place: rows are moved to the front, and the space behind them is given back."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_HOW = (
    replace(shared.TABLE, help="table to shrink"),
    replace(shared.SCHEMA, help="schemas whose tables are all shrunk"),
    replace(shared.PARTITION, help="only this partition or subpartition of the table"),
    Option("cascade", OptionKind.FLAG, "also shrink the indexes of the table (CASCADE)",
           engines=shared.ORACLE),
    Option("compact", OptionKind.FLAG, "only move the rows, and give no space back (COMPACT)",
           engines=shared.ORACLE),
)  # fmt: skip

DECLARATION = OperationDeclaration(
    name="table-shrink",
    command=("table", "shrink"),
    help="Shrink a table or all tables of schemas in place, while rows are read and changed.",
    options=(
        replace(shared.CONCURRENCY, help="concurrent sessions, each with a table of its own", factor=False),
        *_HOW,
        *(replace(one, factor=False) for one in shared.SESSION),
        *shared.LOCKS,
    ),
    examples=(
        "dbatk table shrink -t orcl --table SHOP.ORDERS --compact",
        "dbatk table shrink -t orcl --schema SHOP --cascade --concurrency 4",
    ),
    planned_by="toolkit.operations.tables:OverTables",
    required=(("table", "schema"),),
    excludes=(("partition", "schema", "a schema has no partitions: name the table"),),
    common=("cascade", "compact", "partition"),
    object=ObjectKind.TABLE,
    degree="",
    verified_by=VerifiedBy.SIZES,
    sizes=SizeReads("schema_tables", "relation"),
    once=True,
    several="tables",
    keeps=False,
    cookbook="is-it-worth-to-reorganise.md",
    order=8,
)
