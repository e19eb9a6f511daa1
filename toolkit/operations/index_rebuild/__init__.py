"""Rebuilding indexes."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.plan import ConditionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_WHICH = (
    Option("index", OptionKind.NAME, "index to rebuild"),
    replace(shared.TABLE, help="table whose indexes are all rebuilt"),
    replace(shared.SCHEMA, help="schemas whose indexes are all rebuilt"),
)
_PARTITION = replace(shared.PARTITION, help="only this partition or subpartition of the index or indexes")
_UNUSABLE_ONLY = Option("unusable_only", OptionKind.FLAG, "only indexes that are unusable or invalid",
                        engines=shared.NOT_DUCKDB)  # fmt: skip

_COALESCE = Option(
    "coalesce", OptionKind.FLAG, "merge the blocks of the index where it is, and write no new one (COALESCE)",
    engines=shared.ORACLE,
)  # fmt: skip

DECLARATION = OperationDeclaration(
    name="index-rebuild",
    command=("index", "rebuild"),
    help="Rebuild an index, or all indexes of a table or schema.",
    options=(
        shared.DEGREE, shared.CONCURRENCY, *_WHICH, _PARTITION, shared.PCTFREE,
        shared.TABLESPACE, shared.INDEX_COMPRESSION, shared.LOGGING, shared.ONLINE, shared.SORT_AREA,
        shared.MAINTENANCE_WORK_MEM, shared.PARALLEL_WORKERS, _UNUSABLE_ONLY, _COALESCE,
        shared.ON_LIVE_OBJECTS, shared.RESTORE_ALL, *shared.SESSION, *shared.LOCKS, *shared.SERVER_LOG,
    ),
    examples=(
        "dbatk index rebuild -t orcl --schema SHOP --unusable-only --concurrency 4",
        "dbatk index rebuild -t crm --table sales --online --lock-wait 30s",
    ),
    planned_by="toolkit.operations.index_rebuild.plan",
    required=(("index", "table", "schema"),),
    common=("online", "unusable_only", "concurrency"),
    object=ObjectKind.INDEX,
    verified_by=VerifiedBy.INDEXES,
    sizes=SizeReads("schema_indexes", "table_indexes", "index"),
    excludes=(
        ("partition", "schema", "a schema has no partitions: name the table or the index"),
        *(("coalesce", other, "COALESCE keeps the blocks of the index: it takes a degree and a partition alone")
          for other in ("pctfree", "tablespace", "compression", "logging", "online", "unusable_only")),
    ),
    conditions=frozenset({ConditionKind.INDEX_BYTES, ConditionKind.GROWTH}),
    several="indexes",
    keeps=False,
    temporary_hint="add temporary space, or use fewer concurrent sessions (--concurrency)",
    cookbook="rebuild-in-the-window.md",
    order=4,
)  # fmt: skip
