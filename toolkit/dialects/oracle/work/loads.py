"""What CTAS and INSERT AS SELECT share: the rows they read, compression, statistics, redo, distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolkit.dialects import rows
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.options import advanced_compression, option_is_off
from toolkit.dialects.oracle.releases import Feature, edition_of, has
from toolkit.dialects.oracle.work.base import count_rows
from toolkit.dialects.rows import rows_of
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Row, Support
from toolkit.model.words import Role, SupportState

LONG_TYPES = ("LONG", "LONG RAW")
_VIEWS = ("view", "editioning view")


def select_list(rows: Sequence[Row], chosen: Sequence[str] = ()) -> dict[str, ContextValue]:
    """Return the columns a copy reads: all by `s.*`, unless some were chosen or a LONG must become a LOB.

    ORA-00997 forbids a LONG in a subquery; TO_LOB is made for it (SQLRF, TO_LOB).
    """
    long_columns = tuple(str(row["column_name"]) for row in rows if row.get("data_type") in LONG_TYPES)
    columns = tuple(chosen)
    if not columns and long_columns:
        columns = tuple(str(row["column_name"]) for row in rows)
    return {"columns": columns or None, "long_columns": tuple(name for name in columns if name in long_columns)}


def source_values(work: Work, facts: Facts) -> dict[str, ContextValue]:
    """Return what the templates take of the source: columns, rows, sample."""
    rows = facts.rows("source_columns")
    return {"source": work.source, "query": work.query, **rows_of(work), **select_list(rows, work.columns)}


def count_target(work: Work) -> Call:
    """Count the table that was made or filled, at the degree of the load."""
    return replace(count_rows(work), session=Role.CONTROL)


def count_source(work: Work) -> Call:
    """Count what the load reads, at its degree; a query of the user's has hints of its own."""
    return rows.count_source(work, hint="" if work.source is None else spelling.degree_hint(work, "s"))


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge what both kinds of load take; the first obstacle says it."""
    return next((found for rule in _RULES if (found := rule(work, facts)) is not None), None)


def judge_compression(work: Work, facts: Facts) -> Support | None:
    """Judge how the rows of a table are to be compressed."""
    level = spelling.text_option(work, "compression")
    if level is None or level == "none":
        return None
    if spelling.table_compression(level, facts.release) is None:
        return _no(
            f"tables have no compression `{level}`: none, basic, oltp, advanced, query_low, query_high, "
            "archive_low or archive_high"
        )
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Basic Compression"):
        return _no(f"table compression needs Enterprise Edition; this is {edition.words}")
    if level in ("oltp", "advanced"):
        return advanced_compression(f"compression `{level}`", facts)
    return None


def _statistics(work: Work, facts: Facts) -> Support | None:
    wish = work.option("online_statistics")
    if wish in (True, "yes") and not has(facts.release, Feature.ONLINE_STATISTICS):
        return _no("statistics during a load need release 12.1")
    if wish == "no" and work.query is not None and work.operation == "ctas":
        return _no(
            "the hint that prevents statistics in a CTAS is part of its query, and yours is run unchanged: add "
            "NO_GATHER_OPTIMIZER_STATISTICS to it"
        )
    return None


def _sample(work: Work, facts: Facts) -> Support | None:
    kind = str(facts.value("source", "kind", "") or "").lower()
    if work.option("sample") is not None and kind in _VIEWS:
        return _no("SAMPLE is for tables: a view may have no rowids (ORA-01446); put the sample into a --query")
    return None


_RULES: tuple[Callable[[Work, Facts], Support | None], ...] = (judge_compression, _statistics, _sample)


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
