"""Users at work on PostgreSQL."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolkit.dialects.loops import Loop, looped
from toolkit.dialects.postgresql import space, support
from toolkit.dialects.postgresql.objects import marked
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.dialects.workloads import BuiltIn, BuiltInTable, RunUsers, Tables
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.values import Support
from toolkit.model.words import Effect
from toolkit.model.workload import Draw, Drawn, Transaction, Workload
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
        values: dict[str, ContextValue] = {"table": ref.name, "row_count": rows, "scale": scale}
        make = Call(built.template(table.name), values, effect=Effect.CREATES, object=ref, takes=takes)
        key: dict[str, ContextValue] = {"table": ref.name, "columns": table.key}
        keyed = (Call("primary_key", key, effect=Effect.CHANGES, object=ref),) if table.key else ()
        vacuum = Call("vacuum_analyze", {"table": ref.name}, effect=Effect.CHANGES, object=ref)
        return (*marked(make, mark), *keyed, vacuum)

    def renews(self, built: BuiltIn, tables: Tables, scale: int) -> tuple[Call, ...]:
        """Remove what users added, and vacuum what is small and much updated, as pgbench does before each run."""
        return tuple(call for table in built.tables for call in _renewed(table, tables[table.name], scale))

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Report what making and renewing the tables did, which would else be counted later, as work of the users.

        An idle session reports up to 10 s late (PGSTAT_IDLE_INTERVAL in pgstat.c).
        """
        return (Call("force_stats_flush", file=True),) if major(facts.release) >= 15 else ()

    def settings(self, work: Work) -> tuple[Call, ...]:
        level = work.option("isolation")
        return () if level is None else (Call("isolation", {"level": str(level).replace("_", " ").upper()}),)

    def loop(self, transactions: Sequence[Transaction]) -> Loop:
        blocks = looped(transactions, "postgresql", _type_of)
        make = (Call("loop_clock", {"lowest": -(2**63)}), Call("loop_make", inside=blocks))
        return Loop(make, (Call("loop_call"), Call("loop_told")))


def _type_of(one: Drawn) -> str:
    """Return a type that stands for a parameter as one without a type would: nearly everything takes these."""
    if one.draw is Draw.CHOICE and one.column:
        return f"{one.column}%TYPE"
    if any(isinstance(each, str) for each in one.values):
        return "text"
    numbers = [int(each) for each in one.values] or [one.low, one.high]
    return "integer" if one.draw is not Draw.SEQUENCE and all(-(2**31) <= n < 2**31 for n in numbers) else "bigint"


_SMALL = 30_000
"""Rows for a unit of scale up to which a table is vacuumed before each trial."""


def _renewed(table: BuiltInTable, ref: ObjectRef, scale: int) -> Iterator[Call]:
    if table.emptied:
        yield Call("truncate", {"table": ref.name}, effect=Effect.CHANGES, object=ref)
    if table.grows_by:
        beyond: dict[str, ContextValue] = {
            "table": ref.name, "column": table.grows_by, "last": table.last * scale,
        }  # fmt: skip
        yield Call("delete_beyond", beyond, effect=Effect.CHANGES, object=ref)
    if table.grows_by or (not table.emptied and table.rows <= _SMALL):
        yield Call("vacuum_analyze", {"table": ref.name}, effect=Effect.CHANGES, object=ref)
