"""What an engine answers that has nothing to say on a matter: most of Oracle's matters are no other engine's.

A dialect that knows better overrides the one answer. See `toolkit.dialects.base.Dialect` for what each means.
"""

# ruff: noqa: ARG002 (the protocol gives every engine the same arguments)

from __future__ import annotations

from collections.abc import Sequence

from toolkit.dialects.answers import DegreeLimit, Grant, Room
from toolkit.dialects.backups import Backups, failed
from toolkit.dialects.statistics import LiveStatistics
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row, Scalar
from toolkit.model.words import OperationName


class Quiet:
    """Answers of an engine without statement ids, plans, segments, redo of its own and parts of indexes."""

    upper_names = False
    terminator = ";"
    place_files: tuple[str, ...] = ()
    space_files: tuple[str, ...] = ()
    gathers_schemas = False
    backups: Backups | None = None
    statistics: LiveStatistics | None = None

    def program_error(self, name: str, status: int, lines: Sequence[str]) -> DatabaseError | None:
        """Believe the exit status."""
        return None if status == 0 else failed(name, status, lines)

    def object_files(self, operation: OperationName, *, calls: bool = False) -> tuple[str, ...]:
        return ()

    def degree_limit(self, facts: Facts, work: Work | None = None) -> DegreeLimit:
        return DegreeLimit()

    def grants(self, facts: Facts, operation: OperationName | None = None) -> tuple[Grant, ...]:
        return ()

    def statement_id(self, text: str) -> str | None:
        return None

    def table_files(self, facts: Facts, *, filled: bool) -> tuple[str, ...]:
        return ()

    def room(self, facts: Facts, schema: str | None, tablespace: str | None) -> Room:
        """Return the free bytes that the file `space` tells."""
        said = facts.value("space", "free_byte_count")
        return Room(free_bytes=float(said) if isinstance(said, int | float) else None)

    def index_reads(
        self, schema: str | None, name: str | None, facts: Facts, suffix: str = "", *, copied: bool = False
    ) -> tuple[Query, ...]:
        return ()

    def absence(self, ref: ObjectRef) -> Call | None:
        return None

    def backup_reads(self, since: Scalar) -> Call | None:
        return None

    def backup_sentence(self, what: str, since: Scalar, rows: Sequence[Row] | None) -> str | None:
        return None
