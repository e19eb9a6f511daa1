"""What exchanges, splits, merges and coalesces partitions in the stand-in, with what Oracle refuses.

Which rows are in a partition of ranges of one number its bounds tell; an exchange moves them for real.
"""

from __future__ import annotations

import re

import duckdb

from tests.oracle.standin import grammar, parallel
from tests.oracle.standin.duck import count, spell
from tests.oracle.standin.errors import ora
from tests.oracle.standin.grammar import Command
from tests.oracle.standin.indexes import Part, outside_of, table_parts
from tests.oracle.standin.state import Made, Session


class ChangedPartitions:
    """What an engine does to the partitions of a table."""

    def _do_partition_exchange(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Let a partition and a table change rows, segments and index segments.

        Raises:
            BackendError: ORA-02149, ORA-14095 for a table that is partitioned, ORA-14097 for other types,
                ORA-14098 for other indexes, ORA-14099 for rows that do not belong into the partition.
        """
        table, part = self._part(command)
        other = self._found("TABLE", grammar.qualified(command.parts["other"], session.user))  # type: ignore[attr-defined]
        if other.bounds:
            raise ora(14095)
        if [kind for _, kind, _ in other.columns] != [kind for _, kind, _ in table.columns]:
            raise ora(14097)
        if command.parts["indexes"] == "INCLUDING" and self._keys(table, local=True) != self._keys(other):
            raise ora(14098)
        outside = outside_of(table, "PARTITION", part.name)
        bad = data.execute(f"SELECT count(*) FROM {spell(other.name)} WHERE {outside}").fetchone()
        if command.parts["validation"] == "WITH" and bad and bad[0]:
            raise ora(14099)
        _swap(data, table, other, f"NOT ({outside})")
        part.data_object_id, other.data_object_id = other.data_object_id, part.data_object_id
        table.rows, other.rows = count(data, table.name), count(data, other.name)
        if command.parts["indexes"] == "EXCLUDING":
            for each in self.state.indexes():  # type: ignore[attr-defined]
                if each.table == other.name:
                    each.status = "UNUSABLE"
        self._changed(session, command, table)

    def _do_partition_split(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Put two partitions in the place of one.

        Raises:
            BackendError: ORA-02149, ORA-14012 for a name that another partition has.
        """
        table, part = self._part(command)
        names = grammar.names(re.sub(r"PARTITION\s+|TABLESPACE\s+\S+?(?=,|$)", "", command.parts["into"] or ""))
        if any(each.name in names for each in table.parts if each is not part):
            raise ora(14012)
        at, bound = table.parts.index(part), (command.parts["values"] or "").strip()
        low, high = (Part(name, tablespace=part.tablespace) for name in names)
        low.high_value, high.high_value = bound, part.high_value
        table.parts[at : at + 1] = [low, high]
        self._changed(session, command, table)

    def _do_partition_merge(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Put one partition in the place of several.

        Raises:
            BackendError: ORA-02149, ORA-14274 for ranges that are no neighbours.
        """
        table = self._found("TABLE", command.name)  # type: ignore[attr-defined]
        names, (into,) = grammar.names(command.parts["parts"]), grammar.names(command.parts["into"])
        every = [part.name for part in table_parts(table)]
        if not set(names) <= set(every):
            raise ora(2149)
        at = every.index(names[0])
        if table.method == "RANGE" and every[at : at + len(names)] != names:
            raise ora(14274)
        last = table.parts[every.index(names[-1])]
        kept = [part for part in table.parts if part.name not in names]
        table.parts = [*kept[:at], Part(into, last.high_value, tablespace=last.tablespace), *kept[at:]]
        self._changed(session, command, table)

    def _do_partition_coalesce(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Take the last partition of a hash away.

        Raises:
            BackendError: ORA-14285 for the only one, ORA-14259 for a table that is not partitioned by hash.
        """
        table = self._found("TABLE", command.name)  # type: ignore[attr-defined]
        if table.method != "HASH":
            raise ora(14259)
        if len(table_parts(table)) == 1:
            raise ora(14285)
        table.parts.pop()
        self._changed(session, command, table)

    # -- inside -------------------------------------------------------------------------------------------------
    def _part(self, command: Command) -> tuple[Made, Part]:
        table = self._found("TABLE", command.name)  # type: ignore[attr-defined]
        name = (command.parts["part"] or "").strip('"')
        part = next((part for part in (table_parts(table) if table.bounds else []) if part.name == name), None)
        if part is None:
            raise ora(2149)
        return table, part

    def _keys(self, table: Made, *, local: bool = False) -> list[list[str]]:
        every = [each for each in self.state.indexes() if each.table == table.name]  # type: ignore[attr-defined]
        wanted = (each for each in every if not local or each.shape.locality == "LOCAL")
        return sorted([key.column for key in each.shape.keys] for each in wanted)

    def _changed(self, session: Session, command: Command, table: Made) -> None:
        """Let bounds and local indexes follow the partitions; a global index is kept or becomes unusable."""
        table.bounds = [part.high_value or "" for part in table.parts]
        degree = self._granted(session, command.degree())  # type: ignore[attr-defined]
        parallel.remember(session, self.scenario, "DDL Parallelized", degree, 1)  # type: ignore[attr-defined]
        for index in self.state.indexes():  # type: ignore[attr-defined]
            if index.table == table.name and index.shape.locality == "LOCAL":
                index.shape.parts = [Part(part.name, part.high_value) for part in table.parts]
            elif index.table == table.name and not command.parts["update"]:
                index.status = "UNUSABLE"


def _swap(data: duckdb.DuckDBPyConnection, table: Made, other: Made, inside: str) -> None:
    data.execute(f"CREATE OR REPLACE TEMP TABLE swapped AS SELECT * FROM {spell(table.name)} WHERE {inside}")
    data.execute(f"DELETE FROM {spell(table.name)} WHERE {inside}")
    data.execute(f"INSERT INTO {spell(table.name)} SELECT * FROM {spell(other.name)}")
    data.execute(f"DELETE FROM {spell(other.name)}")
    data.execute(f"INSERT INTO {spell(other.name)} SELECT * FROM swapped")
    data.execute("DROP TABLE swapped")
