"""INSERT AS SELECT: hints stand on both sides of the load, and COMMIT is on the clock."""

from __future__ import annotations

from toolkit.dialects.base import Call, ContextValue, Work
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.work import loads
from toolkit.dialects.oracle.work.base import (
    asks_nologging,
    count_rows,
    former_logging,
    segment_bytes,
    table_attribute,
)
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, SupportState


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Take the target out of redo, when that was asked for; put back at the end."""
    if asks_nologging(work):
        return (table_attribute(work.object, "NOLOGGING", undo=former_logging(work, facts)),)
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the load and its COMMIT: nobody may read the table between them (ORA-12838)."""
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


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Count and measure."""
    return count_rows(work), segment_bytes(work.object, facts)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Log the table as before."""
    former = former_logging(work, facts)
    return (table_attribute(work.object, former),) if asks_nologging(work) and former == "LOGGING" else ()


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge compression, statistics, and targets that are never loaded in parallel."""
    return loads.judge(work, facts) or _parallel_load(work, facts)


def _parallel_load(work: Work, facts: Facts) -> Support | None:
    if spelling.is_serial(work):
        return None
    if fact_about(facts, work.object.name, "cluster_name") is not None:
        return _no(f"`{work.object.name}` is in a cluster: a load into it is always serial")
    if fact_about(facts, work.object.name, "iot_type") is not None:
        return _no(f"`{work.object.name}` is index-organized: a load into it falls back to a serial insert")
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
