"""What a gathering really did, asked after the clock: objects with their seconds, tables gathered and locked."""

from __future__ import annotations

from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.statistics.arguments import of_schema, owner_of, values
from toolkit.dialects.oracle.statistics.isolation import binds_of, on_live, since
from toolkit.dialects.oracle.statistics.preferences import gathers_apart
from toolkit.dialects.oracle.statistics.server import is_server
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Scalar
from toolkit.model.words import Role

UNPUBLISHED = "unpublished"
"""How the keys begin under which a job keeps what it gathered and did not publish."""


def before(work: Work) -> tuple[Call, ...]:
    """Count the locked tables just before a gathering."""
    if not of_schema(work):
        return ()
    return (_asked("stats_locked", f"counted:{work.object.name}", _of_locked(work, "locked_before")),)


def counts(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask for the seconds of each object and, of a schema, how many tables were gathered and are locked now."""
    calls = (_tasks(work),) if has(facts.release, Feature.STATISTICS_TASKS) and owner_of(work) else ()
    if gathers_apart(work) and work.option("max_difference") is not None:
        asked = {**binds_of(work), "since": since(facts)}
        calls = (*calls, _asked("stats_unpublished", f"{UNPUBLISHED}:{work.object.name}", asked))
    if not of_schema(work):
        return calls
    return (*calls, _gathered(work, facts), _asked("stats_locked", "counted", _of_locked(work, "locked_after")))


def _tasks(work: Work) -> Call:
    binds: dict[str, Scalar] = {
        "operation": "gather_schema_stats" if of_schema(work) else "gather_table_stats",
        "target": str(owner_of(work)) if of_schema(work) else f"{owner_of(work)}.{work.object.name.name}",
    }
    return _asked("stats_tasks", "objects", binds)


def _gathered(work: Work, facts: Facts) -> Call:
    if on_live(work) or work.option("publish") == "later":
        return _asked("stats_pending_count", "counted", binds_of(work))
    return _asked("stats_published_count", "counted", {**binds_of(work), "since": since(facts)})


def _of_locked(work: Work, metric: str) -> dict[str, Scalar]:
    return {**binds_of(work), "metric": metric}


def _asked(file: str, key: str, binds: dict[str, Scalar]) -> Call:
    return Call(file, file=True, session=Role.WORKER, keep_as=key, binds=binds)


def preview(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask DBMS_STATS in reporting mode, which gathers nothing; a query of it can change nothing either.

    Source: PL/SQL Packages 12.1, REPORT_GATHER_SCHEMA_STATS, REPORT_GATHER_TABLE_STATS.
    """
    if not has(facts.release, Feature.STATISTICS_REPORTS) or work.object.scratch or is_server(work):
        return ()
    sent = values(work)
    shown = {name: sent.get(name) for name in ("owner", "table", "degree", "granularity", "gather")}
    return (Call("stats_report", shown, keep_as="report"),)
