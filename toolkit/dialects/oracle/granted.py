"""The degree a statement really had, told from V$PQ_SESSTAT and from what the monitor saw meanwhile.

Sources: Database Reference, V$PQ_SESSTAT of 11.2 (`Server Threads`, `Allocation Height`), 21c (adds `DOP`,
`Slave Sets`) and 26ai (`Servers`, `Server Sets`). Threads count all sets, so degree = threads / sets.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.base import Granted, Work
from toolkit.dialects.oracle import spelling
from toolkit.model.values import Row
from toolkit.model.words import OperationName

_THREADS = ("SERVERS", "SERVER THREADS")
_SETS = ("SERVER SETS", "SLAVE SETS")
_LOADS = {
    OperationName.CTAS: "DDL PARALLELIZED",
    OperationName.INDEX_BUILD: "DDL PARALLELIZED",
    OperationName.INDEX_REBUILD: "DDL PARALLELIZED",
    OperationName.INSERT: "DML PARALLELIZED",
}
_SAMPLED = "V$PX_SESSION, sampled"
_ASKED = "V$PQ_SESSTAT"


def granted(work: Work, kept: Mapping[str, tuple[Row, ...]], peaks: Mapping[str, float]) -> Granted:
    """Tell the granted degree; the last statement's own evidence outranks samples, which may miss short work."""
    last = _statistics(kept.get("degree", ()), "last_query")
    total = _statistics(kept.get("degree", ()), "session_total")
    seen = int(peaks.get("parallel_degree", 0))
    if work.operation is OperationName.STATS_GATHER:
        return _of_statistics(work, seen)
    threads = _first(last, _THREADS)
    if threads:
        return _of_last_statement(work, last, threads, seen)
    if seen > 1 or peaks.get("parallel_workers", 0) > 0:
        return Granted(max(seen, 1), _SAMPLED)
    if not last:
        return _without_evidence(work)
    return _of_no_servers(work, total)


def _of_no_servers(work: Work, total: Mapping[str, float]) -> Granted:
    if spelling.is_serial(work):
        # the session's totals still count its earlier, parallel statements
        return Granted(1, _ASKED)
    if total.get(_LOADS[work.operation], 0) > 0:
        return Granted(None, _ASKED, "the session had parallel statements, but which one is no longer told")
    return Granted(1, _ASKED, "no parallel server took part")


def _of_last_statement(work: Work, last: Mapping[str, float], threads: float, seen: int) -> Granted:
    load = _LOADS[work.operation]
    if load in last and not last[load]:
        what = "load" if work.operation in (OperationName.CTAS, OperationName.INSERT) else "build"
        return Granted(1, _ASKED, f"the {what} itself was serial; only its query ran in parallel")
    if last.get("DOP"):
        return Granted(int(last["DOP"]), _ASKED)
    sets = _first(last, _SETS)
    if sets:
        return Granted(round(threads / sets), _ASKED)
    if seen:
        return Granted(seen, _SAMPLED)
    return _from_height(last, threads)


def _from_height(last: Mapping[str, float], threads: float) -> Granted:
    # 11.2 does not tell the number of sets; one or two sets of what was asked for is the only safe reading.
    height = last.get("ALLOCATION HEIGHT", 0) * max(last.get("ALLOCATION WIDTH", 1), 1)
    if height and threads in (height, 2 * height):
        return Granted(int(height), _ASKED)
    return Granted(None, _ASKED, f"{int(threads)} servers took part; this release does not tell in how many sets")


def _of_statistics(work: Work, seen: int) -> Granted:
    if seen:
        return Granted(seen, _SAMPLED)
    if spelling.is_serial(work):
        return Granted(1, _SAMPLED)
    return Granted(None, _SAMPLED, "DBMS_STATS runs many statements and none was seen with parallel servers")


def _without_evidence(work: Work) -> Granted:
    if spelling.is_serial(work):
        return Granted(1, "as asked", "a serial statement; V$PQ_SESSTAT could not be read")
    return Granted(None, "none", "V$PQ_SESSTAT could not be read: GRANT SELECT ON SYS.V_$PQ_SESSTAT to the user")


def _statistics(rows: tuple[Row, ...], column: str) -> dict[str, float]:
    # Names are padded with blanks in some releases.
    return {
        str(row.get("statistic", "")).strip().upper(): float(row.get(column) or 0)
        for row in rows
        if row.get("statistic") is not None
    }


def _first(values: Mapping[str, float], names: tuple[str, ...]) -> float:
    return next((values[name] for name in names if values.get(name)), 0.0)
