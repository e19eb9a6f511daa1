"""How an engine counts rows: what a load found, and what it made of it."""

from __future__ import annotations

from typing import Protocol

from toolkit.dialects.work import Call, Work
from toolkit.model.values import QualifiedName


class Counting(Protocol):
    """The part of a dialect that counts rows."""

    def has_rows(self, table: QualifiedName) -> Call:
        """Ask whether a table has a row at all (column `has_rows`, 1 or 0), cheaply."""
        ...

    def reading_begin(self) -> tuple[Call, ...]:
        """Let a session that only reads see the database as it is now, until it is closed."""
        ...

    def count_target(self, work: Work) -> Call:
        """Count the rows of the table that a load makes or fills (column `row_count`)."""
        ...

    def count_source(self, work: Work) -> Call:
        """Count the rows that a load reads, by the same condition or query (column `row_count`); no sample."""
        ...
