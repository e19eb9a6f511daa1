"""What users of a workload run: rows that are inserted, updated and deleted with binds, tables made of numbers.

DuckDB takes two changes of one row at once for a conflict, where a server lets one wait: it is told as ORA-08177,
which on a server only serializable sessions get.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import duckdb

from tests.oracle.standin.duck import as_oracle
from tests.oracle.standin.errors import ora
from tests.oracle.standin.grammar import Name, qualified
from tests.oracle.standin.state import Made
from tests.oracle.standin.translate import Translated, translate

_CHANGES = re.compile(
    r"\s*(?:INSERT\s+INTO\b(?:(?!\bSELECT\b).)*\bVALUES\b|UPDATE\b|DELETE\s+FROM\b)", re.I | re.S
)
_NAMED_ROW = re.compile(r'\s*INSERT INTO (?P<name>[^\s(]+)\s*\((?P<columns>\s*"[^()]*)\)\s*VALUES\b', re.I)
_NUMBERS = re.compile(r"SELECT LEVEL AS n FROM dual CONNECT BY LEVEL <= (CEIL\([^()]*\)|\d+)", re.I)


def is_change(text: str) -> bool:
    """Tell whether a statement changes rows one by one."""
    return _CHANGES.match(text) is not None


def with_numbers(query: str) -> str:
    """Return a query with its hierarchical ones, which make numbers in a row, as DuckDB makes them."""
    return _NUMBERS.sub(r"SELECT n FROM UNNEST(GENERATE_SERIES(1, CAST(\1 AS INTEGER))) AS u(n)", query)


def refuse_nulls(text: str, binds: Sequence[object], tables: Mapping[Name, Made], schema: str) -> None:
    """Refuse a row without a value that a column must have, before DuckDB sees it: its transaction would be over.

    Raises:
        BackendError: ORA-01400.
    """
    found = _NAMED_ROW.match(text)
    table = tables.get(qualified(found["name"], schema)) if found else None
    if found is None or table is None:
        return
    needed = {name for name, _, nullable in table.columns if nullable == "N"}
    for column, value in zip(re.findall(r'"([^"]+)"', found["columns"]), binds, strict=False):
        if value is None and column in needed:
            raise ora(1400, f'("{table.name[0]}"."{table.name[1]}"."{column}")')


def change(
    data: duckdb.DuckDBPyConnection, text: str, binds: Sequence[object], context: Mapping[str, str | None]
) -> tuple[Translated, int]:
    """Run a change; return what it was, and the number of its rows.

    Raises:
        BackendError: of the change.
    """
    translated = translate(text, binds, context)
    try:
        row = data.execute(translated.text, translated.parameters).fetchone()
    except duckdb.TransactionException as error:
        raise ora(8177, str(error)) from error
    except duckdb.Error as error:
        raise as_oracle(error) from error
    return translated, int(row[0]) if row else 0
