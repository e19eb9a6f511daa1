"""Exporting statistics to a table."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

DECLARATION = OperationDeclaration(
    name="stats-export",
    command=("stats", "export"),
    help="Export the statistics of a table or of whole schemas to a table, from which they can be imported.",
    options=(
        replace(shared.TABLE, help="table whose statistics are exported"),
        replace(shared.SCHEMA, help="schemas whose statistics are all exported"),
        replace(
            shared.STAT_TABLE,
            help="table that receives them (DBMS_STATS.CREATE_STAT_TABLE); created if it does not exist",
        ),
        shared.STAT_ID,
        *shared.LOCKS,
    ),
    examples=(
        "dbatk stats export -t orcl --schema SHOP --stat-table SHOP.KEPT",
        "dbatk stats export -t orcl --table SHOP.ORDERS --stat-table KEPT --stat-id MAY",
    ),
    group="Gather, publish and keep optimizer statistics.",
    planned_by="toolkit.operations.stats_export.plan",
    required=(("table", "schema"), ("stat_table",)),
    object=ObjectKind.STATISTICS,
    one_session="exports run one after another",
    degree="",
    keeps=False,
    cookbook="gather-statistics.md",
    order=5,
)
