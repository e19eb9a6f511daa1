"""Statistics on Oracle: arguments, what they depend on, isolation of live objects, counts and the proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolkit.dialects.oracle.statistics import counts, isolation, proof, reads
from toolkit.dialects.statistics import LiveStatistics, Proof
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row


class OracleStatistics(LiveStatistics):
    """Each answer from the module that knows it."""

    def reads(
        self,
        schemas: Sequence[str],
        table: QualifiedName | None,
        release: Release,
        *,
        partition: str | None,
        on_live: bool,
        by_part: bool,
    ) -> tuple[Query, ...]:
        asked = reads.reads(schemas, table, release, on_live=on_live, by_part=by_part)
        if table is None or partition is None:
            return asked
        return (*asked, reads.of_partition(table, partition))

    def isolate(self, works: Sequence[Work], kept: ObjectRef, mark: str, facts: Facts) -> tuple[Call, ...]:
        return isolation.isolate(works, kept, mark, facts)

    def end_isolation(self, works: Sequence[Work], facts: Facts) -> tuple[Call, ...]:
        return isolation.end_isolation(works, facts)

    def counts(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return counts.counts(work, facts)

    def preview(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return counts.preview(work, facts)

    def refuted(self, work: Work, kept: Mapping[str, tuple[Row, ...]]) -> str | None:
        return proof.refuted(work, kept)

    def proof(self, works: Sequence[Work]) -> tuple[Call, ...]:
        return proof.proof(works)

    def proven(
        self, works: Sequence[Work], facts: Facts, answers: Mapping[str, tuple[Row, ...]], kept: ObjectRef | None
    ) -> Proof:
        return proof.proven(works, facts, answers, kept)
