"""The operations in Oracle's words, one module each: what is timed, what is asked after, what is left behind."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolkit.dialects import reclaimed, transfers
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Implementations, Kept, Options
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle import redo, session, storage, support
from toolkit.dialects.oracle.backup import findings as backup_findings
from toolkit.dialects.oracle.backup import remarks as backup_remarks
from toolkit.dialects.oracle.backup import work as rman
from toolkit.dialects.oracle.backup.ways import OracleBackups
from toolkit.dialects.oracle.datapump import DatapumpExports
from toolkit.dialects.oracle.directories import DIRECTORIES
from toolkit.dialects.oracle.statistics import OracleStatistics, preferences
from toolkit.dialects.oracle.statistics import remarks as statistics_remarks
from toolkit.dialects.oracle.work import (
    ctas,
    external,
    index_build,
    index_rebuild,
    insert,
    load,
    partition_drop,
    stats_export,
    stats_gather,
    stats_publish,
    table_move,
    table_shrink,
)
from toolkit.dialects.oracle.work.in_session import OracleInSession, of_place
from toolkit.dialects.oracle.work.workload import OracleWorkloads
from toolkit.dialects.programs import RunPrograms
from toolkit.dialects.statistics import StoredStatistics
from toolkit.dialects.transfers import FileParts
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row, Support
from toolkit.units import counted


class _Statistics(OracleStatistics, OracleInSession):
    """DBMS_STATS."""

    def setup(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return preferences.setup(work, facts)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (
            *statistics_remarks.remarks(work, facts),
            *storage.remarks(work, facts),
            *session.remarks(work),
            *of_place(facts),
        )


class _Published(StoredStatistics, OracleInSession):
    """DBMS_STATS: statistics that are pending, or in the history."""

    def stored_reads(self, schema: str | None, table: str | None, options: Options) -> tuple[Query, ...]:
        return stats_publish.stored_reads(schema, table, options)

    def whole(self, options: Options) -> bool:
        return stats_publish.whole(options)

    def stored(self, schema: str | None, options: Options, facts: Facts) -> Mapping[str, str | None]:
        return stats_publish.stored(schema, options, facts)

    def none_stored(self, options: Options) -> str:
        return stats_publish.none_stored(options)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*stats_publish.remarks(work, facts), *session.remarks(work), *of_place(facts))


class _Exported(OracleInSession):
    """DBMS_STATS: statistics copied to a table."""

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*stats_export.remarks(work, facts), *session.remarks(work), *of_place(facts))


class _Insert(OracleInSession):
    """INSERT AS SELECT; also of files of the server, through an external table."""

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        directories = (DIRECTORIES,) if "external_files" in asked else ()
        return (*super().option_files(asked), *directories)

    def make_source(self, source: ObjectRef, work: Work, facts: Facts, mark: str) -> tuple[Call, ...]:
        return external.make(source, work, facts, mark)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        found, files = super().tell(work, kept, deltas, seconds), external.tell(work, kept)
        return replace(
            found, metrics=(*found.metrics, *files.metrics), sentences=(*found.sentences, *files.sentences)
        )

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*external.remarks(work), *super().remarks(work, facts))


class _LoadFiles(OracleInSession):
    """Array INSERT of what is in files."""

    degree_by_sessions = True
    parts = FileParts()
    keeps_notes = True

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        size = transfers.bytes_of_commit(options, load.COMMIT_BYTES)
        return transfers.probes_of(options, size, transfers.sessions_of(options))

    def make_notes(self, notes: ObjectRef, mark: str) -> tuple[Call, ...]:
        return load.make_notes(notes, mark)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return transfers.told(work, kept, seconds)


class _GivesBackSpace(OracleInSession):
    """A change of one table whose bytes before and after are told."""

    def before_and_after(self, works: Sequence[Work], facts: Facts) -> Call | None:
        names = {work.object.name for work in works}
        return table_move.reclaimed(names.pop(), facts) if len(names) == 1 else None

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        found, changed = super().tell(work, kept, deltas, seconds), reclaimed.tell(kept)
        return replace(found, metrics=(*found.metrics, *changed.metrics))


class _Move(_GivesBackSpace):
    """ALTER TABLE MOVE."""

    table_files = (table_move.MOVABLE, table_move.PARTITIONS, table_move.SUBPARTITIONS)

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        return table_move.parts_of(work, facts)

    def left_out(self, work: Work, facts: Facts) -> str | None:
        return table_move.hindrance(work, facts) or table_move.by_parts(work, facts)

    def verification(self, works: Sequence[Work], kept: Kept) -> Call | None:
        names = {work.object.name for work in works}
        return table_move.unusable(names.pop()) if len(names) == 1 else None

    def undone(self, rows: tuple[Row, ...], warnings: tuple[str, ...]) -> str | None:
        left = int(str(rows[0]["unusable_count"] or 0)) if rows else 0
        return f"{counted(left, 'index', 'indexes')} of it, or parts of them, are unusable" if left else None

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*table_move.remarks(work, facts), *super().remarks(work, facts))


class _DropPartitions(_GivesBackSpace):
    """ALTER TABLE DROP PARTITION."""

    table_files = (partition_drop.PARTITIONS, partition_drop.REFERRING, partition_drop.REFERRING_ELSEWHERE)

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        return partition_drop.parts_of(work, facts)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*partition_drop.remarks(work, facts), *super().remarks(work, facts))


class _Shrink(_GivesBackSpace):
    """ALTER TABLE SHRINK SPACE."""

    table_files = (table_shrink.SHRINKABLE, table_shrink.PARTS)

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        return table_shrink.parts_of(work, facts)

    def left_out(self, work: Work, facts: Facts) -> str | None:
        return table_shrink.hindrance(work, facts) or table_shrink.by_parts(work, facts)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*table_shrink.remarks(work, facts), *super().remarks(work, facts))


class _Backup(OracleBackups):
    """RMAN."""

    def support(self, work: Work, facts: Facts) -> Support:
        return rman.judge(work, facts) or support.SUPPORTED

    def perishable(self, work: Work) -> tuple[str, ...]:
        return rman.perishable(work)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return rman.after(work)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return rman.prepare(work, facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return redo.marked(rman.timed(work, facts), work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return rman.evidence(work, facts)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return backup_findings.tell(work, kept, seconds)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return backup_findings.granted(work, kept)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return backup_remarks.remarks(work, facts)


_COLUMNS, _INDEXES = "doctor_object_columns", "doctor_object_indexes"

WORK = Implementations(
    "oracle",
    {
        "ctas": OracleInSession(
            ctas, elsewhere=("CREATE ANY TABLE", "ALTER ANY TABLE", "DROP ANY TABLE"), files=(_COLUMNS,)
        ),
        "insert": _Insert(insert, files=(_COLUMNS, _INDEXES, "doctor_object_archive")),
        "load": _LoadFiles(load, files=(_COLUMNS, _INDEXES, "doctor_object_archive")),
        "index-build": OracleInSession(
            index_build,
            elsewhere=("CREATE ANY INDEX", "ALTER ANY INDEX", "DROP ANY INDEX"),
            files=(_COLUMNS, _INDEXES),
        ),
        "index-rebuild": OracleInSession(index_rebuild, elsewhere=("ALTER ANY INDEX",), files=(_INDEXES,)),
        "stats-gather": _Statistics(stats_gather, elsewhere=("ANALYZE ANY",), files=("doctor_object_statistics",)),
        "stats-export": _Exported(stats_export, elsewhere=("ANALYZE ANY",)),
        "stats-publish": _Published(stats_publish, elsewhere=("ANALYZE ANY",)),
        "table-move": _Move(table_move, elsewhere=("ALTER ANY TABLE", "ALTER ANY INDEX"), files=(_INDEXES,)),
        "table-shrink": _Shrink(table_shrink, elsewhere=("ALTER ANY TABLE",), files=(_INDEXES,)),
        "datapump-export": DatapumpExports(),
        "partition-drop": _DropPartitions(partition_drop, elsewhere=("ALTER ANY TABLE", "DROP ANY TABLE")),
        "backup": _Backup(),
        "command": RunPrograms(),
        "workload": OracleWorkloads(),
    },
)
