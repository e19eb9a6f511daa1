"""The operations in Oracle's words, one module each: what is timed, what is asked after, what is left behind."""

from __future__ import annotations

from toolkit.dialects.base import Call, Work
from toolkit.dialects.oracle.work import ctas, index_build, index_rebuild, insert, stats_gather
from toolkit.dialects.oracle.work.base import NOT_GRANTED, OperationWords
from toolkit.model.facts import Facts
from toolkit.model.words import OperationName, Role

WORDS: dict[OperationName, OperationWords] = {
    OperationName.CTAS: ctas,
    OperationName.INSERT: insert,
    OperationName.INDEX_BUILD: index_build,
    OperationName.INDEX_REBUILD: index_rebuild,
    OperationName.STATS_GATHER: stats_gather,
}


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask for the granted degree first: V$PQ_SESSTAT speaks of the session's last statement only."""
    degree = Call("pq_sesstat", file=True, session=Role.WORKER, keep_as="degree", tolerates=NOT_GRANTED)
    return (degree, *WORDS[work.operation].evidence(work, facts))
