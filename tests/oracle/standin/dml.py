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
from tests.oracle.standin.translate import Translated, translate

_CHANGES = re.compile(
    r"\s*(?:INSERT\s+INTO\b(?:(?!\bSELECT\b).)*\bVALUES\b|UPDATE\b|DELETE\s+FROM\b)", re.I | re.S
)
_NUMBERS = re.compile(r"SELECT LEVEL AS n FROM dual CONNECT BY LEVEL <= (CEIL\([^()]*\)|\d+)", re.I)


def is_change(text: str) -> bool:
    """Tell whether a statement changes rows one by one."""
    return _CHANGES.match(text) is not None


def with_numbers(query: str) -> str:
    """Return a query with its hierarchical ones, which make numbers in a row, as DuckDB makes them."""
    return _NUMBERS.sub(r"SELECT n FROM UNNEST(GENERATE_SERIES(1, CAST(\1 AS INTEGER))) AS u(n)", query)


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
