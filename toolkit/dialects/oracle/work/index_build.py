"""CREATE INDEX, on a copy of the table or INVISIBLE on the live one."""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from toolkit.dialects.base import Call, ContextValue, Work
from toolkit.dialects.oracle import objects, spelling
from toolkit.dialects.oracle.names import quote
from toolkit.dialects.oracle.work import indexes
from toolkit.dialects.oracle.work.base import asks_nologging, segment_bytes
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Effect, Mode, Role, SupportState


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: the index does not exist yet."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the build."""
    table = work.object.table
    if table is None:
        raise ToolkitError(f"the index `{work.object.name}` has no table", code="TK-0901")
    values: dict[str, ContextValue] = {
        "index": work.object.name,
        "table": table,
        "unique": bool(work.option("unique")),
        "columns": ", ".join(quote(column) for column in work.columns),
        "parallel": spelling.parallel_clause(work),
        "invisible": work.mode is Mode.MEASUREMENT and bool(work.option("on_live_objects")),
        **indexes.storage(work),
    }
    undo = () if work.object.ours else settle(work, facts)
    call = Call("index_build", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object, undo=undo)
    return (call,)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the index."""
    return (segment_bytes(work.object, facts),)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Take the degree of the build off the index, and log it again."""
    calls = () if spelling.is_serial(work) else (objects.index_attribute(work.object, "NOPARALLEL"),)
    return (*calls, objects.index_attribute(work.object, "LOGGING")) if asks_nologging(work) else calls


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge compression, ONLINE and concurrency."""
    found = indexes.judge(work, facts)
    if found is None and work.concurrency > 1:
        return Support(
            SupportState.UNSUPPORTED,
            "the same columns of one table cannot be indexed twice (ORA-01408); build with one session",
        )
    return found
