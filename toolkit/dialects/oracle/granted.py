"""The degree a statement really had, from V$PQ_SESSTAT, from samples, and from the session's own counters.

Sources: Database Reference, V$PQ_SESSTAT of 11.2 (`Server Threads`, `Allocation Height`), 21c (adds `DOP`,
`Slave Sets`) and 26ai (`Servers`, `Server Sets`). Threads count all sets, so degree = threads / sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolkit.dialects.answers import Granted
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.findings import group_of, of_kind
from toolkit.dialects.work import Work
from toolkit.model.values import Row

_THREADS = ("SERVERS", "SERVER THREADS")
_SETS = ("SERVER SETS", "SLAVE SETS")
_LOADS = {
    "ctas": "DDL PARALLELIZED",
    "index-build": "DDL PARALLELIZED",
    "index-rebuild": "DDL PARALLELIZED",
    "table-move": "DDL PARALLELIZED",
    "partition-drop": "DDL PARALLELIZED",
    "partition-exchange": "DDL PARALLELIZED",
    "partition-split": "DDL PARALLELIZED",
    "partition-merge": "DDL PARALLELIZED",
    "partition-coalesce": "DDL PARALLELIZED",
    "insert": "DML PARALLELIZED",
}
_WHAT = {"ctas": "load", "insert": "load", "table-move": "move", "partition-drop": "drop"}
_SAMPLED = "V$PX_SESSION, sampled"
_ASKED = "V$PQ_SESSTAT"
_COUNTED = "Parallel operations downgraded"
_EXECUTION = "execution "
_ONE_CALL = frozenset(_LOADS)
"""Operations whose timed statement is one call of SQL, and not many within a package."""


def granted(work: Work, kept: Mapping[str, tuple[Row, ...]], peaks: Mapping[str, float]) -> Granted:
    """Tell the granted degree from all sources, and say where they disagree.

    The last statement's own evidence outranks samples, which may miss short work. A trial is only as good as its
    worst source: a lower sample, a server asked for and not had, a downgrade counted in its own sessions, or a
    second execution of the one statement (ORA-12842) make it a downgrade.
    """
    found = _from_one_source(work, kept, peaks)
    if spelling.is_serial(work):
        return found
    judged = _begun_again(work, _counted(work, _sampled(work, found, peaks), peaks), peaks)
    return _in_group(work, judged, kept)


def _in_group(work: Work, found: Granted, kept: Mapping[str, tuple[Row, ...]]) -> Granted:
    """Name the consumer group beside a downgrade: its directive may be what limits the degree."""
    group = group_of(kept)
    if group is None or found.degree is None or found.degree >= work.degree:
        return found
    sentence = found.sentence or f"degree {found.degree} of {work.degree} was granted"
    return replace(found, sentence=f"{sentence} (consumer group {group})")


def _from_one_source(work: Work, kept: Mapping[str, tuple[Row, ...]], peaks: Mapping[str, float]) -> Granted:
    asked = of_kind(kept, "pq")
    last = _statistics(asked, "value")
    seen = int(peaks.get("parallel_degree", 0))
    if work.operation == "stats-gather":
        return _of_statistics(work, seen)
    if work.operation in ("mview-refresh", "constraint-validate"):
        return _of_own_statements(work, _statistics(asked, "total"), seen)
    threads = _first(last, _THREADS)
    if threads:
        return _of_last_statement(work, last, threads, seen, kept)
    if seen > 1 or peaks.get("parallel_workers", 0) > 0:
        return Granted(max(seen, 1), _SAMPLED)
    if not last:
        return _without_evidence(work, kept)
    return _of_no_servers(work, _statistics(asked, "total"))


def _sampled(work: Work, found: Granted, peaks: Mapping[str, float]) -> Granted:
    """Hold the degree against the samples: less seen, or less granted than asked for."""
    seen, missing = int(peaks.get("parallel_degree", 0)), int(peaks.get("parallel_degree_missing", 0))
    if found.degree is None or found.degree == 1 or not seen:
        return found
    if missing > 0 and work.degree:
        degree = min(found.degree, work.degree - missing)
        return Granted(
            degree, found.source, f"V$PX_SESSION showed {missing} fewer servers in a set than requested", True
        )
    if seen != found.degree and work.concurrency == 1:
        sentence = f"the sources disagree: {found.source} shows degree {found.degree}, {_SAMPLED}, {seen}"
        return Granted(min(seen, found.degree), found.source, sentence, found.downgraded)
    return found


def _counted(work: Work, found: Granted, peaks: Mapping[str, float]) -> Granted:
    """Read the downgrade counters of the run's own sessions."""
    moved = [name for name, value in peaks.items() if _is_downgrade(name) and value > 0]
    if not moved:
        return found
    what = moved[0].removesuffix(" (session)").removeprefix("Parallel operations ")
    sentence = found.sentence or f"the server counted it as `{what}`"
    if found.degree is not None and work.degree and found.degree >= work.degree:
        sentence = f"the sources disagree: {found.source} shows degree {found.degree}, the server counted `{what}`"
    return Granted(found.degree, found.source, sentence, True)


def _is_downgrade(name: str) -> bool:
    return name.startswith(_COUNTED) and name.endswith(" (session)")


def _begun_again(work: Work, found: Granted, peaks: Mapping[str, float]) -> Granted:
    """Look for a parallel statement that was silently restarted: one call, several executions."""
    again = max((count for name, count in peaks.items() if name.startswith(_EXECUTION)), default=0)
    if again <= work.concurrency or work.operation not in _ONE_CALL:
        return found
    sentence = f"the statement was executed {int(again)} times in one call (ORA-12842 restarts it silently)"
    return Granted(found.degree, found.source, sentence, True)


def _of_no_servers(work: Work, total: Mapping[str, float]) -> Granted:
    if spelling.is_serial(work):
        # the session's totals still count its earlier, parallel statements
        return Granted(1, _ASKED)
    load = _LOADS.get(work.operation)
    if load is None:
        return Granted(None, _ASKED, f"what the server counts for `{work.operation}` is not known")
    if total.get(load, 0) > 0:
        return Granted(None, _ASKED, "the session had parallel statements, but which one is no longer known")
    return Granted(1, _ASKED, "no parallel server was used")


def _of_last_statement(
    work: Work, last: Mapping[str, float], threads: float, seen: int, kept: Mapping[str, tuple[Row, ...]]
) -> Granted:
    load = _LOADS.get(work.operation)
    if load is not None and last.get(load) == 0:
        what = _WHAT.get(work.operation, "build")
        why = _switched_off(work, kept)
        return Granted(1, _ASKED, f"the {what} itself was serial; only its query ran in parallel{why}")
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
    return Granted(
        None, _ASKED, f"{int(threads)} servers were used; this release does not report the number of sets"
    )


def _of_statistics(work: Work, seen: int) -> Granted:
    if seen:
        return Granted(seen, _SAMPLED)
    if spelling.is_serial(work):
        return Granted(1, _SAMPLED)
    return Granted(None, _SAMPLED, "DBMS_STATS runs many statements, none of them seen with parallel servers")


def _of_own_statements(work: Work, total: Mapping[str, float], seen: int) -> Granted:
    """Go by the samples: the server runs statements of its own, of which the last one is not the heavy one."""
    if seen or spelling.is_serial(work):
        return Granted(max(seen, 1), _SAMPLED)
    parallel = sum(total.get(f"{what} PARALLELIZED", 0) for what in ("QUERIES", "DML", "DDL"))
    if total and not parallel:
        return Granted(1, _ASKED, "no statement of it used parallel servers")
    return Granted(None, _SAMPLED, "the server runs several statements for it, none seen with parallel servers")


def _switched_off(work: Work, kept: Mapping[str, tuple[Row, ...]]) -> str:
    """Say when the session's own switch explains it."""
    switches = next((str(row["name"]) for row in of_kind(kept, "switches")), "")
    what = "PDML" if work.operation == "insert" else "PDDL"
    return f" ({what}_STATUS of the session is DISABLED)" if f"{what} DISABLED" in switches else ""


def _without_evidence(work: Work, kept: Mapping[str, tuple[Row, ...]]) -> Granted:
    """Go by V$SQL, which counts executions by servers: none is serial, some tell no degree."""
    row = next((each for each in of_kind(kept, "sql") if each["name"] == "parallel server executions"), None)
    if row is not None and float(row["value"] or 0) == 0:
        return Granted(1, "V$SQL", "" if spelling.is_serial(work) else "no parallel server executed the statement")
    if spelling.is_serial(work):
        return Granted(1, "as requested", "a serial statement; V$PQ_SESSTAT could not be read")
    return Granted(None, "none", "V$PQ_SESSTAT could not be read: GRANT SELECT ON SYS.V_$PQ_SESSTAT to the user")


def _statistics(rows: tuple[Row, ...], column: str) -> dict[str, float]:
    # Names are padded with blanks in some releases.
    return {
        str(row["name"]).strip().upper(): float(row.get(column) or 0)
        for row in rows
        if row.get("name") is not None
    }


def _first(values: Mapping[str, float], names: tuple[str, ...]) -> float:
    return next((values[name] for name in names if values.get(name)), 0.0)
