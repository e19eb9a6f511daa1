"""Users at work on DuckDB: threads of this process, each with a cursor.

Transactions that change the same row conflict at once, and are tried again.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.duckdb import space
from toolkit.dialects.duckdb.objects import marked
from toolkit.dialects.work import Call, ContextValue
from toolkit.dialects.workloads import BuiltIn, BuiltInTable, RunUsers, Tables
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.words import Effect


class DuckdbWorkloads(RunUsers):
    """Users by cursors."""

    def makes(
        self, built: BuiltIn, table: BuiltInTable, tables: Tables, scale: int, mark: str, facts: Facts
    ) -> tuple[Call, ...]:
        ref, rows = tables[table.name], table.rows * scale
        takes = space.takes(float(rows * table.bytes_a_row), facts, "it grows while users work")
        values: dict[str, ContextValue] = {"table": ref.name, "row_count": rows, "scale": scale}
        make = Call(built.template(table.name), values, effect=Effect.CREATES, object=ref, takes=takes)
        key: dict[str, ContextValue] = {"table": ref.name, "columns": table.key}
        keyed = (Call("primary_key", key, effect=Effect.CHANGES, object=ref),) if table.key else ()
        return (*marked(make, mark), *keyed)

    def renews(self, built: BuiltIn, tables: Tables, scale: int) -> tuple[Call, ...]:
        calls = (call for table in built.tables for call in _renewed(table, tables[table.name], scale))
        return (*calls, Call("checkpoint", effect=Effect.CHANGES, tolerates=frozenset({"TransactionException"})))


def _renewed(table: BuiltInTable, ref: ObjectRef, scale: int) -> Iterator[Call]:
    """Remove what users added."""
    if table.emptied:
        yield Call("truncate", {"table": ref.name}, effect=Effect.CHANGES, object=ref)
    if table.grows_by:
        beyond: dict[str, ContextValue] = {
            "table": ref.name, "column": table.grows_by, "last": table.last * scale,
        }  # fmt: skip
        yield Call("delete_beyond", beyond, effect=Effect.CHANGES, object=ref)
