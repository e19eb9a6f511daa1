"""An empty table made from data files, for a load of them."""

from dataclasses import replace

from toolkit.model.operations import Levels, OperationDeclaration, Options, RowSemantics
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared


def _check(options: Options, levels: Levels) -> None:
    """Refuse what says nothing of how the text is to be read; raises TK-0102, TK-0107."""
    del levels
    from toolkit.design.csv_style import style_of

    style_of(options)


DECLARATION = OperationDeclaration(
    name="table-create",
    command=("table", "create"),
    help="Create an empty table for data files: columns from their first line, types from all their rows.",
    options=(
        Option("files", OptionKind.FILES,
               "CSV, CSV compressed by gzip, or parquet; a pattern in quotes names several"),
        replace(shared.TABLE, help="table to create, which `dbatk load` then fills"),
        replace(shared.COLUMNS,
                help="names of the columns in the order of the files (default: by the first line of each file)"),
        *shared.FILE_TEXT, replace(shared.TABLESPACE, factor=False),
    ),
    examples=(
        "dbatk table create -t crm orders.csv --table orders --dry-run",
        "dbatk table create -t crm 'orders_*.csv.gz' --table shop.orders --delimiter ';'",
    ),
    planned_by="toolkit.operations.table_create.plan",
    required=(("files",), ("table",)),
    common=("columns", "delimiter"),
    object=ObjectKind.TABLE,
    degree="",
    rows=RowSemantics.EMPTY,
    once=True,
    one_object=True,
    check=_check,
    keeps=False,
    then="`dbatk load` with the same files and options fills the table",
    cookbook="which-load-is-fastest.md",
    order=3,
)  # fmt: skip
