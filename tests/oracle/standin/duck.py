"""The DuckDB behind: running what was translated, and saying its errors in Oracle's words."""

from __future__ import annotations

import datetime

import duckdb

from tests.oracle.standin.errors import ora
from tests.oracle.standin.grammar import Name
from tests.oracle.standin.guarded import SCN_BEGAN
from tests.oracle.standin.translate import Translated

Rows = tuple[list[tuple[str, str]], list[tuple[object, ...]]]  # (name, DuckDB type) of each column, rows

_FORMATS = (
    ("YYYY", "%Y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("HH24", "%H"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("FF6", "%f"),
    ("TZH:TZM", "+00:00"),
)


def fetch(data: duckdb.DuckDBPyConnection, translated: Translated) -> Rows:
    """Run a translated query; return its columns and rows."""
    try:
        cursor = data.execute(translated.text, translated.parameters)
        columns = [(column[0].upper(), str(column[1])) for column in cursor.description or []]
        return columns, cursor.fetchall()
    except duckdb.Error as error:
        raise as_oracle(error) from error


def run(data: duckdb.DuckDBPyConnection, text: str, degree: int) -> None:
    """Run a statement with as many threads as the degree granted."""
    data.execute(f"SET threads = {max(1, degree)}")
    try:
        data.execute(text)
    except duckdb.Error as error:
        raise as_oracle(error) from error


def as_oracle(error: duckdb.Error) -> Exception:
    """Turn an error of DuckDB into the one Oracle would raise."""
    text = str(error)
    if isinstance(error, duckdb.ConstraintException):
        return ora(1452, text)
    if isinstance(error, duckdb.CatalogException) and "Table" in text.split("\n", maxsplit=1)[0]:
        return ora(942, text)
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        return ora(904, text)
    if isinstance(error, duckdb.ConversionException):
        return ora(1722, text)
    return ora(900, text)


def define_functions(data: duckdb.DuckDBPyConnection) -> None:
    """Give an instance of DuckDB what queries of Oracle call."""

    def to_char(value: datetime.datetime, form: str) -> str:
        for oracle, python in _FORMATS:
            form = form.replace(oracle, python)
        return value.strftime(form)

    data.create_function("oracle_to_char", to_char, ["TIMESTAMP", "VARCHAR"], "VARCHAR")


def define_macros(data: duckdb.DuckDBPyConnection) -> None:
    """Give a database what queries of Oracle call and SQL can say."""
    data.execute("CREATE MACRO rowidtochar(x) AS 'AAAR3s' || LPAD(CAST(x AS VARCHAR), 12, '0')")
    data.execute("CREATE MACRO chartorowid(x) AS CAST(SUBSTR(x, 7) AS BIGINT)")
    data.execute(f"CREATE MACRO scn_to_timestamp(x) AS {SCN_BEGAN} + TO_SECONDS(CAST(x AS DOUBLE))")
    data.execute(
        "CREATE MACRO oracle_text(x) AS CASE WHEN TRY_CAST(x AS DOUBLE) = ROUND(TRY_CAST(x AS DOUBLE)) "
        "THEN CAST(CAST(x AS BIGINT) AS VARCHAR) ELSE CAST(x AS VARCHAR) END"
    )


def ensure_schema(data: duckdb.DuckDBPyConnection, name: Name) -> None:
    """Make the schema of a name, and DUAL."""
    data.execute(f"CREATE SCHEMA IF NOT EXISTS {quote(name[0])}")
    data.execute("CREATE TABLE IF NOT EXISTS main.dual AS SELECT 'X' AS DUMMY")


def count(data: duckdb.DuckDBPyConnection, name: Name) -> int:
    """Count the rows of a table."""
    row = data.execute(f"SELECT COUNT(*) FROM {spell(name)}").fetchone()
    return int(row[0]) if row else 0


def quote(name: str) -> str:
    """Quote one name."""
    return '"' + name.replace('"', '""') + '"'


def spell(name: Name) -> str:
    """Spell a qualified name."""
    return f"{quote(name[0])}.{quote(name[1])}"
