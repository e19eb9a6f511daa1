"""Dumps of Data Pump, imported by the server."""

from dataclasses import replace

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared


def _check(options: Options, levels: Levels) -> None:
    """Refuse one new schema for several, and rows alone without a word on those that are there.

    Raises:
        ToolkitError: TK-0102, TK-0107.
    """
    del levels
    # Utilities, TABLE_EXISTS_ACTION: with CONTENT=DATA_ONLY its default is APPEND, and REPLACE is not valid
    if options.get("content") == "data_only" and options.get("if_exists") not in ("append", "truncate"):
        raise ToolkitError(
            "`--content data_only` imports into tables that are there, to whose rows Data Pump would add its own",
            code="TK-0107",
            hint="say what is done with their rows: --if-exists append or truncate",
        )
    given = options.get("schema")
    if options.get("into_schema") and isinstance(given, tuple | list) and len(given) > 1:
        raise ToolkitError(
            "`--into-schema` takes the objects of one schema, and `--schema` names several",
            code="TK-0102",
            hint="import one schema after another",
        )


DECLARATION = OperationDeclaration(
    name="datapump-import",
    command=("datapump", "import"),
    help="Import schemas or a table by Data Pump, once or as a measurement.",
    options=(
        replace(shared.DEGREE, help="workers of the job (PARALLEL): 4 (default 1); to compare several: "
                                    "1,2,4", words=()),
        replace(shared.TABLE, help="table to import, as the dump names it"),
        replace(shared.SCHEMA, help="schemas to import, as the dump names them"),
        Option("directory", OptionKind.NAME, "directory object of the database that has the files",
               engines=shared.ORACLE),
        Option("dump_files", OptionKind.NAMES, "names of the files in it; %U for their numbers: SHOP_%U.dmp",
               engines=shared.ORACLE),
        Option("into_schema", OptionKind.NAME, "schema that takes the objects (default: as in the dump)",
               engines=shared.ORACLE),
        Option("into_table", OptionKind.NAME, "name of the new table (default: as in the dump)",
               engines=shared.ORACLE),
        Option("if_exists", OptionKind.CHOICE,
               "what is done with a table that is there (default: it stays, and the job fails)",
               engines=shared.ORACLE, choices=("append", "truncate", "replace")),
        Option("bare", OptionKind.FLAG, "without indexes, constraints, triggers, statistics, comments and grants",
               engines=shared.ORACLE),
        Option("method", OptionKind.CHOICE, "how the job is begun: by the package (default; DBMS_DATAPUMP), or "
               "by the program impdp", engines=shared.ORACLE, factor=True, choices=("package", "program")),
        Option("content", OptionKind.CHOICE, "what is imported (default all)", engines=shared.ORACLE,
               choices=("all", "data_only", "metadata_only")),
    ),
    examples=(
        "dbatk datapump import -t orcl --schema SHOP --directory DUMPS --dump-files SHOP_%U.dmp --degree 4",
        "dbatk datapump import -t orcl --table SHOP.ORDERS --directory DUMPS --dump-files X.dmp --degree 1,2,4",
    ),
    planned_by="toolkit.operations.datapump_import.plan",
    required=(("schema", "table"), ("directory",), ("dump_files",)),
    excludes=(("schema", "into_table", "name the table that gets another name with --table"),),
    object=ObjectKind.DUMP,
    one_session="one job of the server does it, with its own workers",
    keeps=False,
    adds_with=("if_exists", "append"),
    check=_check,
    cookbook="dump-schemas-by-data-pump.md",
    order=7,
)  # fmt: skip
