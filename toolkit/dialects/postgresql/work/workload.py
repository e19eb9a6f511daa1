"""Users at work on PostgreSQL."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolkit.dialects.postgresql import space, support
from toolkit.dialects.postgresql.objects import marked
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.dialects.workloads import BuiltIn, BuiltInTable, RunUsers, Tables
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Support
from toolkit.model.words import Effect
from toolkit.model.workload import Workload
from toolkit.units import counted

_OWN_SESSIONS = 3
"""Those of the run itself: control, monitor and the worker that stands for the users."""
_KEY_BYTES = 22
"""Of a row in a b-tree of one integer column: 16 for the entry, 4 for its pointer, pages filled to 90 %."""
_FILE = "connections"


class PostgresqlWorkloads(RunUsers):
    """Users by psycopg, each with prepared statements."""

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        return (_FILE,)

    def judge(self, workload: Workload, facts: Facts) -> Support | None:
        free = facts.value(_FILE, "free_count")
        if free is not None and workload.users + _OWN_SESSIONS > int(str(free)):
            most = facts.value(_FILE, "most_count")
            return support.refused(
                f"{counted(workload.users, 'user')} and {_OWN_SESSIONS} sessions of dbatk do not fit into the "
                f"{free} connections that are free of max_connections = {most}",
                "raise max_connections, or let fewer users work",
            )
        return support.server(facts)

    def makes(
        self, built: BuiltIn, table: BuiltInTable, tables: Tables, scale: int, mark: str, facts: Facts
    ) -> tuple[Call, ...]:
        ref, rows = tables[table.name], table.rows * scale
        size = rows * (table.bytes_a_row + (_KEY_BYTES if table.key else 0))
        takes = (Takes(float(size), space.new(None, facts), unknown="it grows while users work"),)
        values: dict[str, ContextValue] = {"table": ref.name, "row_count": rows}
        make = Call(f"{built.name}_{table.name}", values, effect=Effect.CREATES, object=ref, takes=takes)
        key: dict[str, ContextValue] = {"table": ref.name, "columns": table.key}
        keyed = (Call("primary_key", key, effect=Effect.CHANGES, object=ref),) if table.key else ()
        vacuum = Call("vacuum_analyze", {"table": ref.name}, effect=Effect.CHANGES, object=ref)
        return (*marked(make, mark), *keyed, vacuum)

    def renews(self, built: BuiltIn, tables: Tables) -> tuple[Call, ...]:
        """Do what pgbench does before each run: vacuum what is small and much updated, empty the history."""
        return tuple(
            Call(
                "truncate" if table.emptied else "vacuum_analyze", {"table": tables[table.name].name},
                effect=Effect.CHANGES, object=tables[table.name],
            )
            for table in built.tables
            if table.emptied or table.rows <= _SMALL
        )  # fmt: skip

    def settings(self, work: Work) -> tuple[Call, ...]:
        level = work.option("isolation")
        return () if level is None else (Call("isolation", {"level": str(level).replace("_", " ").upper()}),)


_SMALL = 1000
"""Rows for a unit of scale up to which a table is vacuumed before each trial."""
