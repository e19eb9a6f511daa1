"""CREATE TABLE AS SELECT."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, RowSemantics, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_TABLE = replace(shared.TABLE, help="table to create")
_PARTITIONS = (
    Option("partition_by", OptionKind.TEXT,
           "'hash(ID) 16', 'range(DT) interval 1 month', 'range(ID) below 10,20,max' or 'list(C) automatic'",
           engines=shared.ORACLE),
    Option("partitions", OptionKind.INTEGER, "number of partitions of --partition-by 'hash(...)'",
           engines=shared.ORACLE, factor=True, low=1, high=1048575),
)  # fmt: skip

DECLARATION = OperationDeclaration(
    name="ctas",
    command=("ctas",),
    help="Create a table as select, once or as a measurement.",
    options=(
        shared.DEGREE, shared.CONCURRENCY, shared.SOURCE, shared.QUERY, shared.DIFFERENT_ROWS, _TABLE,
        shared.COLUMNS, *shared.ROWS, *_PARTITIONS, shared.PCTFREE, shared.TABLESPACE, shared.TABLE_COMPRESSION,
        shared.LOGGING, shared.PQ_DISTRIBUTE, shared.ONLINE_STATISTICS, shared.WORK_MEM, shared.PARALLEL_WORKERS,
        shared.RESTORE_WORKERS,
        shared.CACHE,
        *shared.SESSION, *shared.LOCKS, *shared.SERVER_LOG,
    ),
    examples=(
        "dbatk ctas -t orcl --source SALES --table SALES_COPY --degree 8 --nologging",
        "dbatk ctas -t orcl --source SALES --table SALES_2 --degree 1,2,4 --repeat 5",
    ),
    planned_by="toolkit.operations.ctas.plan",
    required=(("source", "query"), ("table",)),
    object=ObjectKind.TABLE,
    rows=RowSemantics.MAKES,
    verified_by=VerifiedBy.ROWS,
    sizes=SizeReads(source="relation"),
    of_source=("where", "sample", "columns", "parallel_workers", "restore"),
    one_session="a job creates one table with one statement in one session",
    one_object=True,
    cookbook="which-degree.md",
    order=1,
)  # fmt: skip
