"""The five operations in Oracle's words: what is timed, what is asked right after, how an object is left behind.

The parts of CREATE TABLE AS SELECT come in the documented order: physical attributes, tablespace, logging,
compression, parallel clause, query (SQLRF, table_properties). Hints stand on both sides of a load.
"""

from __future__ import annotations

from toolkit.dialects.base import Call, ContextValue, Work
from toolkit.dialects.oracle import objects, spelling, statistics
from toolkit.dialects.oracle.catalog import fact_about, same_schema
from toolkit.dialects.oracle.names import parse_name, quote
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.words import Effect, Mode, OperationName, Role

# No evidence is no failure: the view may not be granted (ORA-00942, ORA-01031).
_NOT_GRANTED = frozenset({"ORA-00942", "ORA-01031"})


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the work that is on the clock."""
    match work.operation:
        case OperationName.CTAS:
            return (_ctas(work, facts),)
        case OperationName.INSERT:
            return _insert(work, facts)
        case OperationName.INDEX_BUILD:
            return (_index_build(work, facts),)
        case OperationName.INDEX_REBUILD:
            return (_index_rebuild(work, facts),)
        case OperationName.STATS_GATHER:
            return (statistics.gather(work),)


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Take the target of an insert out of redo, when that was asked for; put back at the end."""
    if work.operation is OperationName.INSERT and spelling.logging_word(work) == "NOLOGGING":
        return (_table_logging(work.object, "NOLOGGING", undo=_former_logging(work, facts)),)
    return ()


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask for the granted degree first: V$PQ_SESSTAT speaks of the session's last statement only."""
    asked = [Call("pq_sesstat", file=True, session=Role.WORKER, keep_as="degree", tolerates=_NOT_GRANTED)]
    if work.operation in (OperationName.CTAS, OperationName.INSERT):
        asked.append(
            Call(
                "count_rows",
                {"table": work.object.name, "hint": spelling.degree_hint(work, "t")},
                session=Role.WORKER,
                keep_as="rows",
            )
        )
    if work.operation is not OperationName.STATS_GATHER:
        asked.append(_segment_bytes(work.object, facts))
    if work.operation is OperationName.CTAS and work.mark is not None:
        # A comment is DDL of its own: set off the clock, as soon as the evidence is read.
        asked.append(objects.comment(work.object, work.mark, Role.WORKER))
    return tuple(asked)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Leave an object as it should be: the degree of a build would stay on it and make later SQL parallel."""
    nologging = spelling.logging_word(work) == "NOLOGGING"
    match work.operation:
        case OperationName.CTAS:
            back = (_table_logging(work.object, "LOGGING"),) if nologging else ()
            return () if spelling.is_serial(work) and not back else (_table_degree(work.object), *back)
        case OperationName.INSERT:
            former = _former_logging(work, facts)
            return (_table_logging(work.object, former),) if nologging and former == "LOGGING" else ()
        case OperationName.INDEX_BUILD:
            calls = [] if spelling.is_serial(work) else [objects.index_attribute(work.object, "NOPARALLEL")]
            return (*calls, objects.index_attribute(work.object, "LOGGING")) if nologging else tuple(calls)
        case OperationName.INDEX_REBUILD:
            return _index_as_before(work, facts)
        case OperationName.STATS_GATHER:
            return ()


def _ctas(work: Work, facts: Facts) -> Call:
    compression = spelling.text_option(work, "compression")
    values: dict[str, ContextValue] = {
        "table": work.object.name,
        "pctfree": spelling.integer_option(work, "pctfree"),
        "tablespace": _tablespace(work),
        "logging": spelling.logging_word(work),
        "compression": spelling.table_compression(compression, facts.release) if compression else None,
        "parallel": spelling.parallel_clause(work),
        "hints": spelling.hints(spelling.statistics_hint(work, facts), spelling.degree_hint(work, "s")),
        "source": work.source,
        "query": work.query,
    }
    return Call(
        "ctas",
        values,
        session=Role.WORKER,
        effect=Effect.CREATES,
        object=work.object,
        undo=() if work.object.ours else settle(work, facts),
    )


def _insert(work: Work, facts: Facts) -> tuple[Call, ...]:
    path = "NOAPPEND" if work.option("load") == "conventional" else "APPEND"
    values: dict[str, ContextValue] = {
        "table": work.object.name,
        "columns": work.columns or None,
        "load_hints": spelling.hints(path, spelling.degree_hint(work, "t"), spelling.statistics_hint(work, facts)),
        "query_hints": spelling.degree_hint(work, "s"),
        "source": work.source,
        "query": work.query,
    }
    load = Call("insert", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object)
    return load, Call("commit", session=Role.WORKER, effect=Effect.COMMITS, object=work.object)


def _index_build(work: Work, facts: Facts) -> Call:
    table = work.object.table
    if table is None:
        raise ToolkitError(f"the index `{work.object.name}` has no table", code="TK-0901")
    live = work.mode is Mode.MEASUREMENT and bool(work.option("on_live_objects"))
    values: dict[str, ContextValue] = {
        "index": work.object.name,
        "table": table,
        "unique": bool(work.option("unique")),
        "columns": ", ".join(quote(column) for column in work.columns),
        "parallel": spelling.parallel_clause(work),
        "invisible": live,
        **_index_storage(work),
    }
    return Call(
        "index_build",
        values,
        session=Role.WORKER,
        effect=Effect.CREATES,
        object=work.object,
        undo=() if work.object.ours else settle(work, facts),
    )


def _index_rebuild(work: Work, facts: Facts) -> Call:
    values = {"index": work.object.name, "parallel": spelling.parallel_clause(work), **_index_storage(work)}
    return Call(
        "index_rebuild",
        values,
        session=Role.WORKER,
        effect=Effect.CHANGES,
        object=work.object,
        undo=() if work.object.ours else _index_as_before(work, facts),
    )


def _index_storage(work: Work) -> dict[str, ContextValue]:
    compression = spelling.text_option(work, "compression")
    return {
        "pctfree": spelling.integer_option(work, "pctfree"),
        "tablespace": _tablespace(work),
        "compression": spelling.index_compression(compression) if compression else None,
        "logging": spelling.logging_word(work),
        "online": bool(work.option("online")),
    }


def _tablespace(work: Work) -> ContextValue:
    text = spelling.text_option(work, "tablespace")
    return parse_name(text).name if text else None


def _former_logging(work: Work, facts: Facts) -> str:
    known = fact_about(facts, work.object.name, "logging")
    return "NOLOGGING" if str(known or "YES").strip().upper() == "NO" else "LOGGING"


def _index_as_before(work: Work, facts: Facts) -> tuple[Call, ...]:
    degree = str(fact_about(facts, work.object.name, "degree") or "1").strip().upper()
    former = (
        "PARALLEL"
        if degree == "DEFAULT"
        else f"PARALLEL {int(degree)}"
        if degree not in ("0", "1")
        else "NOPARALLEL"
    )
    calls = [objects.index_attribute(work.object, former)]
    if _former_logging(work, facts) != spelling.logging_word(work):
        calls.append(objects.index_attribute(work.object, _former_logging(work, facts)))
    return tuple(calls)


def _table_degree(ref: ObjectRef) -> Call:
    return Call(
        "table_attribute", {"table": ref.name, "attribute": "NOPARALLEL"}, effect=Effect.CHANGES, object=ref
    )


def _table_logging(ref: ObjectRef, word: str, undo: str | None = None) -> Call:
    back = (_table_logging(ref, undo),) if undo else ()
    return Call(
        "table_attribute", {"table": ref.name, "attribute": word}, effect=Effect.CHANGES, object=ref, undo=back
    )


def _segment_bytes(ref: ObjectRef, facts: Facts) -> Call:
    owned = same_schema(facts, ref.name.schema)
    binds: dict[str, str | None] = {"name": ref.name.name}
    if not owned:
        binds["schema"] = ref.name.schema
    return Call(
        "segment_bytes_own" if owned else "segment_bytes",
        file=True,
        session=Role.WORKER,
        keep_as="bytes",
        binds=binds,
        tolerates=_NOT_GRANTED,
    )
