"""CREATE INDEX."""

from collections.abc import Sequence
from dataclasses import replace

from toolkit.design.contradictions import exclude, surely, values_of
from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_ON = (
    replace(shared.TABLE, help="table to index"),
    replace(shared.COLUMNS, help="columns of the index, in order"),
)
_KIND = (
    Option("name", OptionKind.NAME, "name of the new index", file_key="index_name"),
    Option("unique", OptionKind.FLAG, "build a unique index", factor=True),
    Option("bitmap", OptionKind.FLAG, "build a bitmap index", engines=shared.ORACLE, factor=True),
    Option("reverse", OptionKind.FLAG, "build a reverse key index", engines=shared.ORACLE, factor=True),
    Option("prefix", OptionKind.INTEGER, "number of leading columns to compress (COMPRESS n)",
           engines=shared.ORACLE, factor=True, low=1, high=31, unit="columns"),
    Option("local", OptionKind.FLAG, "partition the index like its table", engines=shared.ORACLE, factor=True),
    Option("global_hash", OptionKind.INTEGER, "number of hash partitions, on the index's first column",
           engines=shared.ORACLE, factor=True, low=2, high=1024, unit="partitions"),
    Option("global_range", OptionKind.TEXT,
           "range-partition the index on its first column at 10,20 or 'K','T'", engines=shared.ORACLE),
    Option("method", OptionKind.TEXT, "index method: btree, hash, gin, gist, spgist, brin",
           engines=shared.POSTGRESQL, factor=True),
    Option("include", OptionKind.NAMES, "columns stored in the index besides its key (INCLUDE)",
           engines=shared.POSTGRESQL),
    Option("where", OptionKind.PREDICATE, "partial index: only the rows of this condition (- or @FILE to read it)",
           engines=shared.POSTGRESQL),
    Option("storage_parameters", OptionKind.NAMES,
           "storage parameters of the index: deduplicate_items=off,fillfactor=70", engines=shared.POSTGRESQL),
    Option("invisible", OptionKind.FLAG, "build the index invisible to the optimizer", engines=shared.ORACLE),
)  # fmt: skip


def _check_prefix(options: Options, levels: Levels) -> None:
    """Judge COMPRESS n: all columns at most, of a unique index all but one (SQLRF, prefix_compression)."""
    compressions = values_of("compression", options, levels)
    if surely("bitmap", options, levels) and compressions and "none" not in compressions:
        raise exclude("bitmap", "compression", "a bitmap index is always compressed")
    prefixes = [level for level in values_of("prefix", options, levels) if isinstance(level, int)]
    if not prefixes:
        return
    if compressions and "basic" not in compressions:
        raise exclude(
            "prefix", "compression", f"a prefix is compressed with `basic`, not with `{compressions[0]}`"
        )
    columns = options.get("columns")
    unique = surely("unique", options, levels)
    most = (len(columns) if isinstance(columns, Sequence) and not isinstance(columns, str) else 0) - unique
    if min(prefixes) > most:
        kind = "unique index" if unique else "index"
        raise ToolkitError(
            f"`--prefix` cannot be `{min(prefixes)}`: this {kind} has {max(most, 0)} columns to prefix",
            code="TK-0107",
            hint="all columns but one for a unique index, all columns for any other (ORA-25193, ORA-25194)",
        )


DECLARATION = OperationDeclaration(
    name="index-build",
    command=("index", "build"),
    help="Build an index, once or as a measurement.",
    group="Build and rebuild indexes.",
    options=(
        shared.DEGREE, shared.CONCURRENCY, *_ON, *_KIND, shared.PCTFREE, shared.TABLESPACE,
        shared.INDEX_COMPRESSION, shared.LOGGING, shared.ONLINE, shared.SORT_AREA, shared.MAINTENANCE_WORK_MEM,
        shared.PARALLEL_WORKERS, shared.RESTORE_WORKERS, shared.ON_LIVE_OBJECTS,
        *shared.SESSION, shared.CACHE, *shared.LOCKS, *shared.SERVER_LOG,
    ),
    examples=(
        "dbatk index build -t orcl --table SALES --columns SOLD_ON --degree 8 --online",
        "dbatk index build -t orcl --table SALES --columns CUSTOMER --degree 1,2,4",
    ),
    planned_by="toolkit.operations.index_build.plan",
    required=(("table",), ("columns",)),
    common=("online",),
    object=ObjectKind.INDEX,
    verified_by=VerifiedBy.INDEXES,
    sizes=SizeReads(table="relation"),
    # SQL Language Reference, CREATE INDEX: restrictions of bitmap indexes and of partitioned ones.
    excludes=(
        ("bitmap", "unique", "a bitmap index cannot be unique"),
        ("bitmap", "reverse", "a bitmap index cannot be a reverse key index"),
        ("bitmap", "prefix", "a bitmap index is always compressed and accepts no other compression"),
        ("bitmap", "global_hash", "a bitmap index cannot be partitioned globally (ORA-25113)"),
        ("bitmap", "global_range", "a bitmap index cannot be partitioned globally (ORA-25113)"),
        ("local", "global_hash", "an index is partitioned in only one way"),
        ("local", "global_range", "an index is partitioned in only one way"),
        ("global_hash", "global_range", "an index is partitioned in only one way"),
    ),
    check=_check_prefix,
    one_session="a job builds one index with one statement in one session",
    one_object=True,
    cookbook="which-degree.md",
    order=3,
)  # fmt: skip
