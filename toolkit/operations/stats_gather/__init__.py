"""Gathering optimizer statistics."""

import re
from dataclasses import replace

from toolkit.design.contradictions import values_of
from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.plan import ConditionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_ON = (
    replace(shared.SCHEMA, help="schemas whose tables are all gathered"),
    replace(shared.TABLE, help="table to gather"),
    Option("server", OptionKind.CHOICE,
           "statistics of the server itself",
           engines=shared.ORACLE, choices=("dictionary", "fixed_objects", "system")),
)  # fmt: skip
_HOW = (
    Option("estimate_percent", OptionKind.NUMBER, "sample size as a percentage of the rows", engines=shared.ORACLE,
           factor=True, low=0.000001, high=100, unit="%", words=("auto", "compute")),
    Option("block_sample", OptionKind.CHOICE, "sample blocks instead of rows", engines=shared.ORACLE,
           factor=True, choices=("yes", "no")),
    Option("method_opt", OptionKind.TEXT, "columns and histograms, as in DBMS_STATS", engines=shared.ORACLE,
           factor=True, level_begins="FOR"),
    shared.PARTITION,
    Option("cascade", OptionKind.CHOICE, "gather index statistics too", engines=shared.ORACLE, factor=True,
           choices=("yes", "no", "auto")),
    Option("granularity", OptionKind.CHOICE, "levels of a partitioned table to gather", engines=shared.ORACLE,
           factor=True,
           choices=("auto", "all", "global", "global_and_partition", "partition", "subpartition")),
    Option("gather", OptionKind.CHOICE, "which objects: all (gather), stale, empty or Oracle's choice; on "
           "postgresql stale are the tables of a schema that autovacuum would analyze",
           engines=shared.NOT_DUCKDB, factor=True, choices=("gather", "stale", "empty", "auto"),
           choices_on={"oracle": ("gather", "stale", "empty", "auto"), "postgresql": ("gather", "stale")}),
    Option("no_invalidate", OptionKind.CHOICE, "do not invalidate dependent cursors", engines=shared.ORACLE,
           factor=True, choices=("yes", "no", "auto")),
    Option("statistics_target", OptionKind.INTEGER, "default_statistics_target of the session",
           engines=shared.POSTGRESQL, factor=True, low=1, high=10000),
    Option("only_tables", OptionKind.NAMES,
           "only tables of the schema with these names; % and _ as in LIKE: ORDERS,ITEM%", engines=shared.ORACLE),
    Option("incremental", OptionKind.CHOICE,
           "gather partitioned tables part by part, with synopses (preference INCREMENTAL, restored afterwards)",
           engines=shared.ORACLE, choices=("yes", "no")),
    Option("concurrent", OptionKind.FLAG,
           "several tables and partitions at once, in jobs of the database (preference CONCURRENT, restored "
           "afterwards)", engines=shared.ORACLE),
    Option("keep_preferences", OptionKind.FLAG, "leave INCREMENTAL and CONCURRENT as they were set for it",
           engines=shared.ORACLE),
    Option("publish", OptionKind.CHOICE,
           "later: leave new statistics pending", engines=shared.ORACLE,
           choices=("now", "later")),
    Option("max_difference", OptionKind.NUMBER,
           "gather pending statistics, and publish only tables that differ from the present ones by at most this "
           "percentage; the others stay pending", engines=shared.ORACLE, low=0, high=1000000, unit="%"),
    Option("force_locked", OptionKind.FLAG, "also replace locked statistics", engines=shared.ORACLE,
           topic=Topic.SAFETY),
)  # fmt: skip
_BUCKETS = re.compile(r'"[^"]*"|\bSIZE\s+([0-9]+)\b', re.IGNORECASE)
_MOST_BUCKETS = 2048
"""From 12.1 on; 254 before (PL/SQL Packages, DBMS_STATS, METHOD_OPT): that is judged when the release is known."""


def _check_histograms(options: Options, levels: Levels) -> None:
    for text in values_of("method_opt", options, levels):
        for found in _BUCKETS.finditer(str(text)):
            if found[1] is not None and not 1 <= int(found[1]) <= _MOST_BUCKETS:
                raise ToolkitError(
                    f"a histogram has 1 to {_MOST_BUCKETS} buckets, not {found[1][:20]}",
                    code="TK-0102",
                    hint="`SIZE 1` gathers no histogram, `SIZE AUTO` lets the database choose",
                )


DECLARATION = OperationDeclaration(
    name="stats-gather",
    command=("stats", "gather"),
    help="Gather statistics on schemas or a table.",
    group="Gather, publish and keep optimizer statistics.",
    options=(
        shared.DEGREE,
        shared.CONCURRENCY,
        *_ON,
        *_HOW,
        shared.ON_LIVE_OBJECTS,
        *shared.SESSION,
        *shared.LOCKS,
        *shared.SERVER_LOG,
    ),
    examples=(
        "dbatk stats gather -t orcl --schema SHOP --degree 8",
        "dbatk stats gather -t orcl --schema SHOP --degree 1,4,16 --repeat 5",
    ),
    planned_by="toolkit.operations.stats_gather.plan",
    required=(("schema", "table", "server"),),
    common=("concurrency", "estimate_percent"),
    object=ObjectKind.TABLE,
    verified_by=VerifiedBy.STATISTICS,
    sizes=SizeReads("schema_tables", "relation"),
    conditions=frozenset({ConditionKind.STALE}),
    excludes=(("publish", "max_difference", "statistics that are compared are published at once"),),
    check=_check_histograms,
    several="objects",
    keeps=False,
    publishes_statistics=True,
    cookbook="gather-statistics.md",
    order=5,
)
