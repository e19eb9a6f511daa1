"""DBMS_STATS: gathering, publishing and exporting statistics."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.column_groups import GROUPS, ended_before
from toolkit.dialects.implementations import Implementation, Options
from toolkit.dialects.oracle import session, storage
from toolkit.dialects.oracle.statistics import OracleStatistics, preferences
from toolkit.dialects.oracle.statistics import remarks as statistics_remarks
from toolkit.dialects.oracle.work import stats_export, stats_extend, stats_gather, stats_publish
from toolkit.dialects.oracle.work.in_session import OracleInSession, of_place
from toolkit.dialects.statistics import StoredStatistics
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Query
from toolkit.model.words import OperationName


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

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        return stats_publish.ended_before(work, begun, now)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*stats_publish.remarks(work, facts), *session.remarks(work), *of_place(facts))


class _Exported(OracleInSession):
    """DBMS_STATS: statistics copied to a table."""

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*stats_export.remarks(work, facts), *session.remarks(work), *of_place(facts))


class _Extended(OracleInSession):
    """DBMS_STATS: statistics of column groups and expressions."""

    table_files = (GROUPS,)

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        return ended_before(work, begun, now, stats_extend.matching(work))

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*stats_extend.remarks(work, facts), *super().remarks(work, facts))


WORK: Mapping[OperationName, Implementation] = {
    "stats-extend": _Extended(stats_extend, elsewhere=("ANALYZE ANY",)),
    "stats-gather": _Statistics(stats_gather, elsewhere=("ANALYZE ANY",), files=("doctor_object_statistics",)),
    "stats-export": _Exported(stats_export, elsewhere=("ANALYZE ANY",)),
    "stats-publish": _Published(stats_publish, elsewhere=("ANALYZE ANY",)),
}
