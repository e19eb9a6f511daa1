"""CREATE TABLE AS SELECT.

Its parts come in the documented order: physical attributes, tablespace, logging, compression, parallel clause,
query (SQLRF, table_properties).
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from toolkit.dialects.base import Call, ContextValue, Work
from toolkit.dialects.oracle import objects, spelling
from toolkit.dialects.oracle.work import loads
from toolkit.dialects.oracle.work.base import (
    asks_nologging,
    count_rows,
    segment_bytes,
    table_attribute,
    tablespace,
)
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: the table does not exist yet."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the statement; DDL commits by itself."""
    compression = spelling.text_option(work, "compression")
    values: dict[str, ContextValue] = {
        "table": work.object.name,
        "pctfree": spelling.integer_option(work, "pctfree"),
        "tablespace": tablespace(work),
        "logging": spelling.logging_word(work),
        "compression": spelling.table_compression(compression, facts.release) if compression else None,
        "parallel": spelling.parallel_clause(work),
        "hints": spelling.hints(spelling.statistics_hint(work, facts), spelling.degree_hint(work, "s")),
        "source": work.source,
        "query": work.query,
    }
    undo = () if work.object.ours else settle(work, facts)
    call = Call("ctas", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object, undo=undo)
    return (call,)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Count, measure, and mark the table as ours: a comment is DDL of its own, set off the clock."""
    asked = (count_rows(work), segment_bytes(work.object, facts))
    return asked if work.mark is None else (*asked, objects.comment(work.object, work.mark, Role.WORKER))


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Take the degree of the build off the table, where it would make later SQL parallel, and log it again."""
    back = (table_attribute(work.object, "LOGGING"),) if asks_nologging(work) else ()
    if spelling.is_serial(work) and not back:
        return ()
    return (table_attribute(work.object, "NOPARALLEL"), *back)


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge compression and statistics."""
    return loads.judge(work, facts)
