"""Moving tables: all rows are rewritten, without the space that dead ones left."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.plan import ConditionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_ON = (
    replace(shared.TABLE, help="table to rewrite"),
    replace(shared.SCHEMA, help="schemas whose tables are all rewritten"),
)
_HOW = (
    replace(shared.PARTITION, help="only this partition or subpartition of the table"),
    replace(shared.ONLINE, help="allow changes to the rows meanwhile (ONLINE)", engines=shared.ORACLE),
    Option("update_indexes", OptionKind.FLAG, "keep indexes usable during the move, not rebuild them after it",
           engines=shared.ORACLE, factor=True),
    Option("compression", OptionKind.CHOICE, "compression of the table", engines=shared.ORACLE, factor=True,
           choices=shared.TABLE_COMPRESSION.choices_of("oracle")),
    replace(shared.PCTFREE, engines=shared.ORACLE),
    replace(shared.TABLESPACE, help="tablespace to move it to", engines=shared.ORACLE),
    Option("lob_tablespace", OptionKind.NAME, "tablespace to move its LOB columns to, too (default: they stay)",
           engines=shared.ORACLE),
    Option("method", OptionKind.CHOICE,
           "rewrite locks the table (VACUUM FULL, CLUSTER: default); pg_repack lets others change it meanwhile",
           engines=shared.POSTGRESQL, factor=True, choices=("rewrite", "pg_repack")),
    Option("bin_dir", OptionKind.TEXT, "folder of pg_repack, if it is not found automatically",
           engines=shared.POSTGRESQL),
    Option("order_by_index", OptionKind.NAME, "put the rows in the order of this index (CLUSTER)",
           engines=shared.POSTGRESQL),
    replace(shared.MAINTENANCE_WORK_MEM, help="memory to rebuild the indexes: 256M, 2G"),
)  # fmt: skip

DECLARATION = OperationDeclaration(
    name="table-move",
    command=("table", "move"),
    help="Rewrite a table or all tables of schemas, so that they take no more space than their rows.",
    group="Reorganise tables.",
    options=(
        shared.DEGREE,
        shared.CONCURRENCY,
        *_ON,
        *_HOW,
        shared.ON_LIVE_OBJECTS,
        shared.RESTORE,
        *shared.SESSION,
        *shared.LOCKS,
    ),
    examples=(
        "dbatk table move -t orcl --table SHOP.ORDERS --online --degree 4",
        "dbatk table move -t crm --table shop.orders --method rewrite,pg_repack --repeat 5",
    ),
    planned_by="toolkit.operations.tables:OverTables",
    required=(("table", "schema"),),
    excludes=(
        ("partition", "schema", "a schema has no partitions: name the table"),
        ("update_indexes", "online", "ONLINE keeps indexes usable by itself"),
        ("lob_tablespace", "schema", "LOB columns are moved table by table: name it with --table"),
        ("order_by_index", "schema", "an index belongs to one table: name it with --table"),
    ),
    common=("concurrency", "online", "partition"),
    object=ObjectKind.TABLE,
    verified_by=VerifiedBy.SIZES,
    sizes=SizeReads("schema_tables", "relation"),
    conditions=frozenset({ConditionKind.TRANSACTION_AGE}),
    several="tables",
    keeps=False,
    temporary_hint="free space, or move one table after the other (--concurrency 1)",
    cookbook="is-it-worth-to-reorganise.md",
    order=8,
)
