"""Statistics exported to a table of the package's own form, which is created where it is absent.

Source: PL/SQL Packages, DBMS_STATS: CREATE_STAT_TABLE, EXPORT_TABLE_STATS, EXPORT_SCHEMA_STATS.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.oracle.names import package_name, parse_name
from toolkit.dialects.oracle.work.base import count_rows
from toolkit.dialects.oracle.work.stats_publish import stat_table
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, StepKind, SupportState

HOLDER = "stat_table"
"""The key of what the catalogue shows under the name of that table."""


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Create the table if it is absent, then export the statistics of the table, or of each schema."""
    made = () if facts.first(HOLDER) else (_call("stats_export_table", stat_table(work), work, Effect.CREATES),)
    return (*made, *(_call("stats_export", values, work, Effect.CHANGES) for values in _each(work)))


def _each(work: Work) -> Iterator[dict[str, ContextValue]]:
    if work.source is not None:
        owner = work.source.schema
        named = {"owner": None if owner is None else package_name(owner), "table": package_name(work.source.name)}
        yield {**named, **stat_table(work)}
        return
    schemas = work.option("schema")
    for text in schemas if isinstance(schemas, tuple | list) else ():
        yield {"owner": package_name(parse_name(str(text)).name), "table": None, **stat_table(work)}


def _call(template: str, values: dict[str, ContextValue], work: Work, effect: Effect) -> Call:
    return Call(
        template, values, kind=StepKind.BLOCK, session=Role.WORKER, effect=effect, object=work.object
    )  # fmt: skip


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Count what the table holds then: rows of all sets."""
    return (count_rows(work),)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Nothing that counts: some rows for each table, column and index."""
    return ()


def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse a name that is in use by something else than a table."""
    kind = facts.value(HOLDER, "kind")
    if kind in (None, "table"):
        return None
    return Support(SupportState.UNSUPPORTED, f"`{work.object.name}` is a {kind}, and takes no statistics")


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say where they go, and what is replaced there."""
    named = work.option("stat_id")
    which = "without a name" if named is None else f"`{named}`"
    if facts.first(HOLDER):
        yield f"the set {which} in {work.object.name} is replaced where it holds the same tables already"
    else:
        yield f"{work.object.name} is created, and stays if an export fails: the next one takes it"
    yield "statistics in force are not changed; `dbatk stats publish --stat-table` imports what is exported here"
