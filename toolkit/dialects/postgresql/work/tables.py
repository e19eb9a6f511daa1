"""CREATE TABLE for data files."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from toolkit.dialects import new_tables
from toolkit.dialects.implementations import Options
from toolkit.dialects.postgresql.work.base import InSession, tablespace
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.file_columns import ColumnKind

_TYPES = {
    ColumnKind.NOTHING: "TEXT",
    ColumnKind.BOOLEAN: "BOOLEAN",
    ColumnKind.INTEGER: "BIGINT",
    ColumnKind.DECIMAL: "NUMERIC",
    ColumnKind.FLOAT: "DOUBLE PRECISION",
    ColumnKind.DATE: "DATE",
    ColumnKind.TIMESTAMP: "TIMESTAMP",
    ColumnKind.ZONED_TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
    ColumnKind.BYTES: "BYTEA",
    ColumnKind.TEXT: "TEXT",
}
"""NUMERIC without a size keeps every digit of later files, too."""


class CreateTable(InSession):
    """CREATE TABLE."""

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return ()

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        return new_tables.probes_of(options)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (new_tables.create(work, tuple(_TYPES[field.kind] for field in work.fields), tablespace(work)),)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return new_tables.remarks_of(facts)
