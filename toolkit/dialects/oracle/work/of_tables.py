"""Changes of a table where it is: moved, shrunk, its partitions changed, a materialized view refreshed."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolkit.dialects import reclaimed
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Implementation, Kept
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle.work import (
    constraints,
    mview_refresh,
    partition_change,
    partition_drop,
    partition_exchange,
    partition_split,
    table_move,
    table_shrink,
)
from toolkit.dialects.oracle.work.base import INDEXES
from toolkit.dialects.oracle.work.in_session import OracleInSession
from toolkit.dialects.oracle.work.partition_change import PartitionChange
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import OperationName
from toolkit.units import counted


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

    table_files = (table_move.MOVABLE, table_move.PARTITIONS, table_move.SUBPARTITIONS, table_move.LOBS)

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


class _ChangePartitions(_GivesBackSpace):
    """ALTER TABLE EXCHANGE, SPLIT, MERGE or COALESCE PARTITION."""

    def __init__(self, words: PartitionChange, files: tuple[str, ...] = ()) -> None:
        super().__init__(words, elsewhere=("ALTER ANY TABLE",))
        self._change, self.table_files = words, (*partition_change.FILES, *files)

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        return self._change.parts_of(work, facts)

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        return self._change.ended_before(work, begun, now)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*self._change.remarks(work, facts), *super().remarks(work, facts))


class _Shrink(_GivesBackSpace):
    """ALTER TABLE SHRINK SPACE."""

    table_files = (table_shrink.SHRINKABLE, table_shrink.PARTS)

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        return table_shrink.parts_of(work, facts)

    def left_out(self, work: Work, facts: Facts) -> str | None:
        return table_shrink.hindrance(work, facts) or table_shrink.by_parts(work, facts)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*table_shrink.remarks(work, facts), *super().remarks(work, facts))


class _Refresh(OracleInSession):
    """DBMS_MVIEW.REFRESH."""

    table_files, in_transaction = (mview_refresh.VIEWS,), True

    def stored_queries(self, facts: Facts) -> tuple[QualifiedName, ...]:
        return mview_refresh.views_of(facts)

    def left_out(self, work: Work, facts: Facts) -> str | None:
        return mview_refresh.hindrance(work, facts)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        found = super().tell(work, kept, deltas, seconds)
        return replace(found, sentences=(*found.sentences, *mview_refresh.told(work, kept)))

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*mview_refresh.remarks(work, facts), *super().remarks(work, facts))


class _Validate(OracleInSession):
    """ALTER TABLE MODIFY CONSTRAINT ENABLE VALIDATE."""

    table_files = (constraints.CONSTRAINTS,)

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        return constraints.parts_of(work, facts)

    def idle(self, work: Work, facts: Facts) -> str | None:
        return constraints.idle(work, facts)

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        return constraints.ended_before(work, begun, now)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*constraints.remarks(work, facts), *super().remarks(work, facts))


WORK: Mapping[OperationName, Implementation] = {
    "table-move": _Move(table_move, elsewhere=("ALTER ANY TABLE", "ALTER ANY INDEX"), files=(INDEXES,)),
    "table-shrink": _Shrink(table_shrink, elsewhere=("ALTER ANY TABLE",), files=(INDEXES,)),
    "constraint-validate": _Validate(constraints, elsewhere=("ALTER ANY TABLE",)),
    "mview-refresh": _Refresh(mview_refresh, elsewhere=("ALTER ANY MATERIALIZED VIEW",)),
    "partition-exchange": _ChangePartitions(partition_exchange.EXCHANGE, partition_exchange.FILES),
    "partition-split": _ChangePartitions(partition_split.SPLIT),
    "partition-merge": _ChangePartitions(partition_change.MERGE),
    "partition-coalesce": _ChangePartitions(partition_change.COALESCE),
    "partition-drop": _DropPartitions(partition_drop, elsewhere=("ALTER ANY TABLE", "DROP ANY TABLE")),
}
