"""The operations in Oracle's words, one module each: what is timed, what is asked after, what is left behind."""

from __future__ import annotations

from dataclasses import replace

from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.backup import work as backup
from toolkit.dialects.oracle.findings import EVIDENCE
from toolkit.dialects.oracle.work import ctas, index_build, index_rebuild, insert, stats_gather
from toolkit.dialects.oracle.work.base import OperationWords, shared
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.words import OperationName

WORDS: dict[OperationName, OperationWords] = {
    "ctas": ctas,
    "insert": insert,
    "index-build": index_build,
    "index-rebuild": index_rebuild,
    "stats-gather": stats_gather,
    "backup": backup,
}


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask for all that is gone with the session's next statement first, in one statement, then for the rest."""
    asked = WORDS[work.operation].evidence(work, facts)
    if work.operation == "backup":
        return asked
    # A session that is forced to query in parallel would read the dictionary so too, and speak of that.
    forced = work.query is not None and not spelling.is_serial(work)
    dictionary = tuple(call for call in asked if call.keep_as == EVIDENCE)
    also = (
        shared("pq_tqstat"),
        shared("session_switches"),
        shared("statement_cost", statement_id=None),
        *(() if forced else dictionary),
    )
    others = tuple(call for call in asked if call not in dictionary)
    return (replace(shared("pq_sesstat"), also=also), *(dictionary if forced else ()), *others)
