"""CREATE TABLE AS SELECT.

Its parts come in the documented order: physical attributes, tablespace, logging, compression, partitions, parallel
clause, query (SQLRF, table_properties). A hint on the load itself stands behind CREATE (SQLRF, PQ_DISTRIBUTE).
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from dataclasses import replace

from toolkit.dialects.oracle import objects, partitions, spelling, taking
from toolkit.dialects.oracle.options import option_is_off
from toolkit.dialects.oracle.releases import edition_of
from toolkit.dialects.oracle.work import loads
from toolkit.dialects.oracle.work.base import (
    asks_nologging,
    count_rows,
    segment_bytes,
    table_attribute,
    tablespace,
)
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, SupportState


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: the table does not exist yet."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the statement; DDL commits by itself."""
    compression = spelling.text_option(work, "compression")
    made = partitioning(work, facts)
    values: dict[str, ContextValue] = {
        "table": work.object.name,
        "pctfree": spelling.integer_option(work, "pctfree"),
        "tablespace": tablespace(work),
        "logging": spelling.logging_word(work),
        "compression": spelling.table_compression(compression, facts.release) if compression else None,
        "parallel": spelling.parallel_clause(work),
        "load_hints": spelling.distribute_hint(work, work.object.name.name),
        "query_hints": spelling.hints(
            spelling.statistics_hint(work, facts), spelling.degree_hint(work, "s"), spelling.rewrite_hint(work)
        ),
        **loads.source_values(work, facts),
        **(made.values() if made else partitions.NOT_PARTITIONED),
    }
    call = Call("ctas", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)
    if not work.object.scratch:
        columns = _columns(work, facts)
        how = ("partitioning", made.method if made else "NONE")
        definition = (how, *(("column", column) for column in columns))
        call = replace(
            call, undo=settle(work, facts), definition=definition, like=None if columns else work.source
        )
    return (call,)


def _columns(work: Work, facts: Facts) -> tuple[str, ...]:
    """Return the columns of the new table; none where only the database knows them."""
    if work.columns or work.query is not None or "source_virtual_columns" not in facts.answers:
        return work.columns
    rows = (*facts.rows("source_columns"), *facts.rows("source_virtual_columns"))
    return tuple(str(row["column_name"]) for row in rows)


def partitioning(work: Work, facts: Facts) -> partitions.Partitioning | None:
    """Read how the table is to be partitioned, if it is.

    Raises:
        ToolkitError: as `partitions.parse`.
    """
    text = spelling.text_option(work, "partition_by")
    if text is None:
        return None
    count = work.option("partitions")
    types = [row for row in facts.rows("source_columns") if not work.columns or row["column_name"] in work.columns]
    return partitions.parse(text, facts.release, types, int(str(count)) if count is not None else None)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Count, measure, and mark the table: a comment is separate DDL, outside the timed section."""
    asked = (count_rows(work), segment_bytes(work.object, facts))
    return asked if work.mark is None else (*asked, objects.comment(work.object, work.mark, Role.WORKER))


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Take the degree of the build off the table, where it would make later SQL parallel, and log it again."""
    logged = table_attribute(work.object, "LOGGING", instead_of="NOLOGGING")
    back = (logged,) if asks_nologging(work) else ()
    if spelling.is_serial(work) and not back:
        return ()
    return (table_attribute(work.object, "NOPARALLEL", instead_of=spelling.parallel_clause(work)), *back)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what rows and entries of indexes take."""
    return taking.of_load(work, facts)


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge rows, compression, statistics, redo, partitions."""
    return loads.judge(work, facts) or _partitions(work, facts)


def _partitions(work: Work, facts: Facts) -> Support | None:
    if work.option("pq_distribute") is not None and not spelling.is_plain(work.object.name.name):
        return _no(f"`{work.object.name.name}` cannot appear in a hint, so PQ_DISTRIBUTE cannot refer to it")
    made = partitioning(work, facts)
    if made is None:
        if work.option("pq_distribute") == "partition":
            return _no("PQ_DISTRIBUTE partition distributes rows by partition; also give --partition-by")
        return None
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Partitioning"):
        return _no(f"partitions need Enterprise Edition with the Partitioning option; this is {edition.words}")
    sentence = partitions.judge_release(made, facts.release)
    return _no(sentence) if sentence else None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
