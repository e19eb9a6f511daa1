"""How PostgreSQL does each operation."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from types import MappingProxyType

from toolkit.dialects.implementations import Implementations, Kept
from toolkit.dialects.postgresql import support
from toolkit.dialects.postgresql.backup import PostgresqlBackups
from toolkit.dialects.postgresql.restore import PostgresqlRestores
from toolkit.dialects.postgresql.work.base import InSession, change, on_table
from toolkit.dialects.postgresql.work.constraints import ValidateConstraint
from toolkit.dialects.postgresql.work.exchange import ExchangePartition
from toolkit.dialects.postgresql.work.extended import ExtendStatistics
from toolkit.dialects.postgresql.work.files import CopyFiles
from toolkit.dialects.postgresql.work.indexes import CreateIndex, Reindex
from toolkit.dialects.postgresql.work.loads import CreateTableAs, InsertSelect
from toolkit.dialects.postgresql.work.mviews import RefreshView
from toolkit.dialects.postgresql.work.partitions import DropPartitions
from toolkit.dialects.postgresql.work.purge import ChangeInChunks
from toolkit.dialects.postgresql.work.rewrite import Rewrite
from toolkit.dialects.postgresql.work.tables import CreateTable
from toolkit.dialects.postgresql.work.vacuum import Vacuum
from toolkit.dialects.postgresql.work.workload import PostgresqlWorkloads
from toolkit.dialects.programs import RunPrograms
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, SameFacts
from toolkit.model.values import Row, Scalar, Support
from toolkit.model.words import Effect, Mode, ObjectKind, Role

_BEGAN, _STATISTICS = "began", "table_statistics"
_SKIPPED = "skipping"
"""A word of all warnings of ANALYZE about what it leaves out (commands/vacuum.c, commands/analyze.c)."""


def _many(work: Work, facts: Facts) -> bool:
    """Tell whether this is a job on the tables of a schema, whose commits may reach the disk together.

    Of small tables, waiting for the disk is most of the time. A measurement waits for each commit, as a person or
    `vacuumdb` does, and so does who sets synchronous_commit, or may not write the message that flushes the log.
    """
    asked = work.mode is Mode.JOB and not work.object.scratch and work.option("schema") is not None
    return asked and "synchronous_commit" not in work.set_by_run and facts.value("server", "may_flush") == "yes"


def _waits(work: Work, facts: Facts) -> bool:
    """Tell whether a table's commit waits; in one transaction all partitions of a table would stay locked."""
    return not _many(work, facts) or work.object.name.name in _parted(SameFacts(facts), work.object.name.schema)


@functools.lru_cache(maxsize=8)
def _parted(same: SameFacts, schema: str | None) -> frozenset[Scalar]:
    """Return the partitioned tables of a schema, found once for all of its tables."""
    return frozenset(
        row["table_name"] for row in same.facts.rows(f"tables:{schema}") if row.get("parted") == "yes"
    )


class _StatsGather(InSession):
    """ANALYZE by n connections.

    Commits of a job on a schema wait for the disk together ("Asynchronous Commit"): each worker flushes the log
    before its tables are told to have ended, so no crash of the server loses what is recorded as done.
    """

    degree_by_sessions = True
    table_files = (_STATISTICS,)
    table_files_for = MappingProxyType({_STATISTICS: ("gather", "stale")})
    schema_file = "schema_pages"
    serial = (
        "on PostgreSQL, ANALYZE of one table uses one process; several connections can each gather a table "
        "(--schema)"
    )

    def judge(self, work: Work, facts: Facts) -> Support | None:
        if work.object.kind is ObjectKind.STATISTICS and work.object.name.schema is None:
            return support.refused("PostgreSQL has no statement for the statistics of a schema; give its tables")
        if facts.value("target", "kind") == "view":
            return support.refused("a view has no statistics", "gather those of the tables it reads")
        if work.option("gather") not in (None, "gather", "stale"):
            return support.refused("PostgreSQL tells which tables are stale, and nothing else to choose by")
        if work.option("gather") == "stale" and work.object.scratch:
            return support.refused("stale tables are those of a live schema; copies are gathered as they are")
        return None

    def idle(self, work: Work, facts: Facts) -> str | None:
        """Leave out what autovacuum would not analyze either; what is not known is gathered."""
        if work.option("gather") != "stale" or work.object.scratch:
            return None
        rows = facts.rows(f"{_STATISTICS}:{work.object.name.schema}")
        fresh = any(row["table_name"] == work.object.name.name and row["is_stale"] == "no" for row in rows)
        return "its statistics are not stale: too few rows changed since they were gathered" if fresh else None

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(on_table(work, facts))

    def settings(self, work: Work) -> dict[str, Scalar]:
        target = work.option("statistics_target")
        return {} if target is None else {"default_statistics_target": int(str(target))}

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        template = "analyze" if _waits(work, facts) else "analyze_together"
        return (change(template, {"table": work.object.name}, work),)

    def flush(self, work: Work, facts: Facts) -> Call | None:
        flushed = Call("commits_flushed", session=Role.WORKER, effect=Effect.CHANGES, file=True)
        return flushed if _many(work, facts) else None

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return () if work.object.scratch else (Call("clock", file=True, keep_as=_BEGAN),)

    def verification(self, works: Sequence[Work], kept: Kept) -> Call | None:
        names = [work.object.name for work in works]
        objects = json.dumps([[name.schema, name.name] for name in names])
        return Call("analyzed", file=True, binds={"objects": objects, "since": kept[_BEGAN][0]["now"]})

    def undone(self, rows: tuple[Row, ...], warnings: tuple[str, ...]) -> str | None:
        """Tell by the time of the last ANALYZE; where the server does not keep it, by the warning in English."""
        skipped = [warning for warning in warnings if _SKIPPED in warning]
        warned = f"; the server warned: {(skipped or list(warnings))[0]}" if warnings else ""
        asked, done = (
            (int(str(rows[0][column] or 0)) for column in ("asked_count", "done_count")) if rows else (0, 0)
        )
        if done < asked:
            which = (
                "no statistics were gathered" if asked == 1 else f"{asked - done} of {asked} tables were skipped"
            )
            return which + warned
        return f"no statistics were gathered{warned}" if not asked and skipped else None


WORK = Implementations(
    "postgresql",
    {
        "ctas": CreateTableAs(),
        "insert": InsertSelect(),
        "load": CopyFiles(),
        "table-create": CreateTable(),
        "index-build": CreateIndex(),
        "index-rebuild": Reindex(),
        "stats-gather": _StatsGather(),
        "stats-extend": ExtendStatistics(),
        "vacuum": Vacuum(),
        "table-move": Rewrite(),
        "mview-refresh": RefreshView(),
        "constraint-validate": ValidateConstraint(),
        "partition-drop": DropPartitions(),
        "partition-exchange": ExchangePartition(),
        "purge": ChangeInChunks(),
        "backup": PostgresqlBackups(),
        "restore-try": PostgresqlRestores(),
        "command": RunPrograms(),
        "workload": PostgresqlWorkloads(),
    },
    instead={
        "backup-report": "it has no repository of backups; `pgbackrest info` lists those of pgBackRest",
    },
)
