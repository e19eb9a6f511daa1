"""Dumps of Data Pump, written by the server."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, SizeReads
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

DECLARATION = OperationDeclaration(
    name="datapump-export",
    command=("datapump", "export"),
    help="Dump schemas or a table by Data Pump into a directory of the server, once or as a measurement.",
    group="Run Data Pump.",
    options=(
        replace(shared.DEGREE, help="workers of the job (PARALLEL): 4 (default 1); to compare several: "
                                    "1,2,4", words=()),
        replace(shared.SCHEMA, help="schemas to dump"),
        replace(shared.TABLE, help="table to dump"),
        Option("directory", OptionKind.NAME, "directory object of the database that takes the files",
               engines=shared.ORACLE, factor=True),
        Option("compression", OptionKind.CHOICE, "compression of the dump", engines=shared.ORACLE, factor=True,
               choices=("none", "metadata_only", "data_only", "all")),
        Option("method", OptionKind.CHOICE, "how the job is begun: by the package (default; DBMS_DATAPUMP), or "
               "by the program expdp", engines=shared.ORACLE, factor=True, choices=("package", "program")),
        Option("content", OptionKind.CHOICE, "what is dumped (default all)", engines=shared.ORACLE,
               choices=("all", "data_only", "metadata_only")),
    ),
    examples=(
        "dbatk datapump export -t orcl --schema SHOP --directory DUMPS --degree 4",
        "dbatk datapump export -t orcl --schema SHOP --directory DUMPS --degree 1,2,4",
    ),
    planned_by="toolkit.operations.datapump_export.plan",
    required=(("schema", "table"), ("directory",)),
    common=("compression",),
    object=ObjectKind.DUMP,
    sizes=SizeReads("schema_tables", "relation"),
    one_session="one job of the server does it, with its own workers",
    keeps=False,
    cookbook="dump-schemas-by-data-pump.md",
    order=6,
)  # fmt: skip
