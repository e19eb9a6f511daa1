"""What must be known before statistics are gathered; keys are file names, with the schema where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.dialects.oracle.releases import Feature, has
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.values import QualifiedName

CLOCK = "stats_clock"
OPTIMIZER = "stats_optimizer"
RIGHTS = "stats_rights"
RUNNING = "stats_operations"
PARTITION = "stats_partition"

PREFERENCES = (
    "ESTIMATE_PERCENT", "METHOD_OPT", "DEGREE", "GRANULARITY", "CASCADE", "NO_INVALIDATE", "PUBLISH",
    "INCREMENTAL", "STALE_PERCENT", "CONCURRENT", "PREFERENCE_OVERRIDES_PARAMETER",
)  # fmt: skip
"""Preferences that decide what a gathering does."""
_ALWAYS = "stats_preferences"
_LATER = PREFERENCES[-2:]
"""Asked one by one: a release refuses a name that it does not know, here 11.2.0.1 and those before 12.2."""

NEEDED_ON_LIVE = {
    "stats_record": ("DBA_TAB_STATISTICS", "DBA_IND_STATISTICS"),
    "stats_shielded": ("DBA_TABLES", "DBA_TAB_STAT_PREFS"),
    "stats_hindrances": ("DBA_TAB_PENDING_STATS", "DBA_TAB_STAT_PREFS", "DBA_SCHEDULER_WINDOWS"),
    RUNNING: ("DBA_OPTSTAT_OPERATIONS",),
    OPTIMIZER: ("V_$PARAMETER",),
}
"""Views that a measurement on live objects cannot go without, by the read that needs them."""


def _key(name: str) -> str:
    return f"stats_preference:{name}" if name in _LATER else _ALWAYS


def preference(facts: Facts, name: str) -> str | None:
    """Return the value of a preference where no table has its own; None where it was not read."""
    value = next((row.get("preference_value") for row in facts.rows(_key(name)) if row.get("name") == name), None)
    return None if value is None else str(value)


def of_schema(file: str, schema: str | None) -> str:
    """Return the key under which the answer about a schema is kept."""
    return f"{file}:{schema or ''}"


def running_file(release: Release) -> str:
    """Return the file that asks what is running now: the column STATUS came with 12.1."""
    return "stats_operations" if has(release, Feature.STATISTICS_TASKS) else "stats_operations_11"


def reads(
    schemas: Sequence[str], table: QualifiedName | None, release: Release, *, on_live: bool, by_part: bool = False
) -> tuple[Query, ...]:
    """Ask for clock, preferences and locks; on live objects for all that the recipe needs too."""
    owners: Sequence[str | None] = [table.schema] if table is not None else schemas
    names = None if table is None else table.name
    asked = [Query(CLOCK, CLOCK, optional=True), Query(RIGHTS, RIGHTS, optional=True)]
    asked.append(Query(_ALWAYS, _ALWAYS, optional=True))
    asked += [Query(_key(name), "stats_preference", {"preference": name}, optional=True) for name in _LATER]
    files = ["stats_tables", "stats_table_preferences", *(["stats_partitioned"] if by_part else [])]
    if on_live:
        files += ["stats_record", "stats_shielded", "stats_hindrances"]
        asked += [Query(RUNNING, running_file(release), optional=True), Query(OPTIMIZER, OPTIMIZER, optional=True)]
    asked += [
        Query(of_schema(file, owner), file, {"schema": owner, "table": names}, optional=True)
        for owner in owners
        for file in files
    ]
    return tuple(asked)


def of_partition(table: QualifiedName, partition: str) -> Query:
    """Ask for a partition or subpartition of a table."""
    binds = {"schema": table.schema, "table": table.name, "partition": partition}
    return Query(PARTITION, PARTITION, binds)
