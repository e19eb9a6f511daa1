"""Users at work on Oracle."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.design.lexis import without_comments
from toolkit.dialects.loops import Loop, looped
from toolkit.dialects.oracle import archiving, objects, space
from toolkit.dialects.oracle.places import refusal_of
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.dialects.workloads import BuiltIn, BuiltInTable, RunUsers, Tables
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Support
from toolkit.model.words import Effect, StepKind, SupportState
from toolkit.model.workload import Drawn, Transaction, Workload

_KEY_BYTES = 20
"""About what an entry of a key takes in a B-tree."""
_LEVELS = {"read_committed": "READ COMMITTED", "serializable": "SERIALIZABLE"}


class OracleWorkloads(RunUsers):
    """Users by python-oracledb; a transaction needs nothing to open it."""

    begin = ""
    privileges = ("CREATE TABLE",)
    privileges_elsewhere = ("CREATE ANY TABLE", "COMMENT ANY TABLE", "ALTER ANY TABLE", "DROP ANY TABLE")

    def support(self, work: Work, facts: Facts) -> Support:
        if work.option("isolation") == "repeatable_read":
            sentence = "Oracle has no isolation level `repeatable read`"
            return Support(SupportState.UNSUPPORTED, sentence, "use read_committed or serializable")
        return super().support(work, facts)

    def judge(self, workload: Workload, facts: Facts) -> Support | None:
        for one in workload.transactions if workload.loop else ():
            if any(without_comments(text).split()[0].upper() == "CALL" for text in one.statements):
                sentence = f"the transaction `{one.name}` has CALL, which PL/SQL does not know"
                return Support(SupportState.UNSUPPORTED, sentence, "omit `--loop server`")
        refusal = refusal_of(facts)
        return None if refusal is None else Support(SupportState.UNSUPPORTED, refusal)

    def makes(
        self, built: BuiltIn, table: BuiltInTable, tables: Tables, scale: int, mark: str, facts: Facts
    ) -> tuple[Call, ...]:
        ref, rows = tables[table.name], table.rows * scale
        size, keys = float(rows * table.bytes_a_row), float(rows * _KEY_BYTES)
        values: dict[str, ContextValue] = {"table": ref.name, "row_count": rows, "scale": scale}
        make = Call(
            built.template(table.name), values, effect=Effect.CREATES, object=ref,
            redo_bytes=archiving.redo_of_index(size, logged=True),
            takes=tuple(space.takes(size, None, ref.name.schema, facts, unknown="it grows while users work")),
        )  # fmt: skip
        key: dict[str, ContextValue] = {"table": ref.name, "columns": tuple(map(str.upper, table.key))}
        keyed = Call(
            "primary_key", key, effect=Effect.CHANGES, object=ref,
            redo_bytes=archiving.redo_of_index(keys, logged=True),
            takes=tuple(space.takes(keys, None, ref.name.schema, facts)),
        )  # fmt: skip
        of: dict[str, ContextValue] = {"owner": ref.name.schema, "table": ref.name.name}
        gather = Call(
            "workload_statistics", of, kind=StepKind.BLOCK, effect=Effect.CHANGES, object=ref,
            redo_bytes=archiving.DICTIONARY,
        )  # fmt: skip
        return (make, objects.comment(ref, mark), *((keyed,) if table.key else ()), gather)

    def renews(self, built: BuiltIn, tables: Tables, scale: int) -> tuple[Call, ...]:
        calls = tuple(call for table in built.tables for call in _emptied(table, tables[table.name], scale))
        # one for all: equal calls of a trial's preparation run once
        deletes = any(table.grows_by for table in built.tables)
        return (*calls, Call("commit", effect=Effect.COMMITS)) if deletes else calls

    def settings(self, work: Work) -> tuple[Call, ...]:
        level = work.option("isolation")
        return () if level is None else (Call("isolation", {"level": _LEVELS.get(str(level), "SERIALIZABLE")}),)

    def loop(self, transactions: Sequence[Transaction]) -> Loop:
        blocks = looped(transactions, "oracle", _type_of)
        return Loop((), (Call("loop_call", kind=StepKind.BLOCK, inside=blocks),))


def _type_of(one: Drawn) -> str:
    texts = bool(one.column) or any(isinstance(each, str) for each in one.values)
    return "VARCHAR2(4000)" if texts else "NUMBER"


def _emptied(table: BuiltInTable, ref: ObjectRef, scale: int) -> tuple[Call, ...]:
    """Remove what users added; what they changed stays changed."""
    if table.emptied:
        values: dict[str, ContextValue] = {"table": ref.name}
        return (Call("truncate", values, effect=Effect.CHANGES, object=ref, redo_bytes=archiving.DICTIONARY),)
    if not table.grows_by:
        return ()
    beyond: dict[str, ContextValue] = {
        "table": ref.name, "column": table.grows_by.upper(), "last": table.last * scale,
    }  # fmt: skip
    return (Call("delete_beyond", beyond, effect=Effect.CHANGES, object=ref),)
