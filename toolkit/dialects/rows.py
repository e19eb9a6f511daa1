"""Which rows and columns of its source a load takes, as values for templates; and how rows are counted."""

from __future__ import annotations

from typing import Protocol

from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.values import QualifiedName

ALL_ROWS: dict[str, ContextValue] = {
    "columns": None,
    "where": None,
    "sample_percent": None,
    "sample_blocks": False,
    "sample_seed": None,
}
"""The values of a load that takes everything."""


class Counting(Protocol):
    """The part of a dialect that counts rows."""

    def has_rows(self, table: QualifiedName) -> Call:
        """Ask whether a table has a row at all (column `has_rows`, 1 or 0), cheaply."""
        ...

    def query_rows(self, query: str) -> Call:
        """Count the rows of a user's query (`row_count`), and sum a hash of each (`checksum`) if it can."""
        ...

    def reading_begin(self) -> tuple[Call, ...]:
        """Let a session that only reads see the database as it is now, until it is closed."""

    def count_target(self, work: Work) -> Call:
        """Count the rows of the table that a load makes or fills (column `row_count`)."""
        ...

    def count_source(self, work: Work) -> Call:
        """Count the rows that a load reads, by the same condition or query (column `row_count`); no sample."""
        ...


def rows_of(work: Work) -> dict[str, ContextValue]:
    """Return the columns, the condition and the sample of a work; the condition was checked before."""
    where, percent = work.option("where"), work.option("sample")
    if not isinstance(percent, int | float):
        percent = None
    return {
        "columns": work.columns or None,
        "where": None if where is None else str(where),
        "sample_percent": percent,
        "sample_blocks": work.option("sample_by") == "blocks",
        "sample_seed": None if percent is None else int(str(work.option("sample_seed") or 1)),
    }


def count_target(work: Work) -> Call:
    """Count the rows of the table that a load makes or fills."""
    return Call("count_rows", {"table": work.object.name}, keep_as="rows")


def count_source(work: Work, **more: ContextValue) -> Call:
    """Count the rows that a load reads; the condition was checked before."""
    where = work.option("where")
    values: dict[str, ContextValue] = {
        "source": work.source,
        "query": work.query,
        "where": None if where is None else str(where),
        **more,
    }
    return Call("count_source", values, keep_as="rows")
