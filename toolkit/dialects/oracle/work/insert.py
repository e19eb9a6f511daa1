"""INSERT AS SELECT: hints stand on both sides of the load, and COMMIT is on the clock."""

from __future__ import annotations

from toolkit.dialects.oracle import partitions, spelling, taking
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.work import external, loads
from toolkit.dialects.oracle.work.base import (
    asks_nologging,
    former_logging,
    logged_parts,
    named_part,
    parts_of,
    segment_bytes,
    table_attribute,
)
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Support
from toolkit.model.words import Effect, Mode, Role, SupportState


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Take the target out of redo, when that was asked for; the user's is put back at the end."""
    if not asks_nologging(work):
        return ()
    if work.object.scratch:
        return (table_attribute(work.object, "NOLOGGING"),)
    return tuple(
        table_attribute(
            work.object,
            "NOLOGGING",
            back.restores.part if back.restores else None,
            undo=(back,),
            overwrites=() if back.restores is None else (back.restores,),
        )
        for back in settle(work, facts)
    )


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the load and its COMMIT: nobody may read the table between them (ORA-12838)."""
    path = "NOAPPEND" if work.option("load") == "conventional" else "APPEND"
    level, part = named_part(work, facts) or (None, None)
    values: dict[str, ContextValue] = {
        "table": work.object.name,
        "level": level,
        "part": part,
        "load_hints": spelling.hints(
            path,
            spelling.degree_hint(work, "t"),
            "ENABLE_PARALLEL_DML" if spelling.hints_parallel_dml(work) else "",
            spelling.distribute_hint(work, "t"),
            spelling.statistics_hint(work, facts),
        ),
        "query_hints": spelling.hints(spelling.degree_hint(work, "s"), spelling.rewrite_hint(work)),
        **loads.source_values(work, facts),
        "columns": work.columns or None,
    }
    load = Call("insert", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object)
    return load, Call("commit", session=Role.WORKER, effect=Effect.COMMITS, object=work.object)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the table; the statement itself tells how many rows it inserted."""
    return (segment_bytes(work.object, facts), *external.evidence(work))


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Log the table as before."""
    if not asks_nologging(work):
        return ()
    whole = (None,) if former_logging(work, facts) == "LOGGING" else ()
    switched = logged_parts(work, facts) if parts_of(work, facts) else whole
    return tuple(table_attribute(work.object, "LOGGING", part, instead_of="NOLOGGING") for part in switched)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what rows and entries of indexes take."""
    return taking.of_load(work, facts)


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge compression, statistics, and targets that are never loaded in parallel."""
    return (
        _named_part(work)
        or external.judge(work, facts)
        or loads.judge(work, facts)
        or _long(work, facts)
        or _switches(work, facts)
        or _subpartitions(work, facts)
        or _parallel_load(work, facts)
    )


def _named_part(work: Work) -> Support | None:
    """Refuse to measure a partition: a copy has partitions of the same bounds, with names of their own."""
    if work.object.scratch and work.option("partition") is not None:
        return _no(
            "a measurement loads a copy, whose partitions have other names: measure the whole table, or load one "
            "partition as a job"
        )
    return None


def _subpartitions(work: Work, facts: Facts) -> Support | None:
    """Refuse NOLOGGING where it could not be put back: LOGGING of a subpartition is set with its partition's."""
    composite = any(part.get("composite") == "YES" for part in parts_of(work, facts))
    if composite and asks_nologging(work):
        return _no(
            f"`{work.object.name}` has subpartitions, whose LOGGING cannot be restored one by one; load with "
            "LOGGING, or set it yourself before and after"
        )
    return None


def _long(work: Work, facts: Facts) -> Support | None:
    """A LONG of the source becomes a LOB on its way, so that no column of that type can take it."""
    target = {row["column_name"] for row in facts.rows("columns") if row.get("data_type") in loads.LONG_TYPES}
    found = [name for name in work.columns if name in target]
    if found:
        return _no(
            f"`{found[0]}` is a LONG, which INSERT AS SELECT cannot load (ORA-00997); use --columns without it"
        )
    return None


def _switches(work: Work, facts: Facts) -> Support | None:
    if work.option("parallel_dml") == "hint" and not has(facts.release, Feature.PARALLEL_DML_HINT):
        return _no("the hint ENABLE_PARALLEL_DML needs release 12.1; use ALTER SESSION (--parallel-dml session)")
    bare = work.mode is Mode.MEASUREMENT and work.option("bare")
    made = None if bare else partitions.of_table(facts)[0]
    if work.option("pq_distribute") == "partition" and made is None and not facts.assumed:
        return _no("PQ_DISTRIBUTE partition distributes rows by partition, but the target has none")
    return None


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
