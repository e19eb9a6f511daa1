"""What the evidence of a trial tells besides the degree: servers and their share of rows, segment, cost, plan.

Sources: Database Reference, V$PQ_TQSTAT, V$SQL, DBA_SEGMENTS; for the plan SQL Tuning Guide and VLDB and
Partitioning Guide: a load step below PX SEND QC is done by the servers, one above PX COORDINATOR by the session
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.work import Work
from toolkit.model.records import FOUND_IN_CACHE, READ_DIRECT, READ_INTO_CACHE, Metric
from toolkit.model.values import Row

EVIDENCE = "degree"
"""Under which key everything that is read right after the clock is kept."""
TRACES = "traces"
"""Under which key the trace files are kept where several objects were worked on: of their degree nothing is."""
SOURCE = "evidence"
_MICRO = 1_000_000


def of_kind(kept: Mapping[str, tuple[Row, ...]], kind: str) -> tuple[Row, ...]:
    """Return the rows of one kind that were read right after the clock."""
    return tuple(row for row in kept.get(EVIDENCE, ()) if row.get("kind") == kind)


def tell(
    work: Work, kept: Mapping[str, tuple[Row, ...]], deltas: Mapping[str, float], seconds: float
) -> TrialFindings:
    """Tell metrics and doubts from what was kept, and rates and shares from the instance's counters."""
    cost = {str(row["name"]): row for row in of_kind(kept, "sql")}
    once = all(_number(row["detail"]) == 1 for row in cost.values())
    cpu = _number(cost["microseconds"]["value"]) / _MICRO if "microseconds" in cost and once else None
    segment = next((row for row in of_kind(kept, "segment") if _number(row["value"])), None)
    plan = tuple(str(row["line"] or "") for row in kept.get("plan", ()))
    metrics = (
        *_of_servers(of_kind(kept, "tq")),
        *(_of_cost(cost) if once else ()),
        *(_of_segment(segment) if segment else ()),
        *_of_plan(plan),
        *_derived(deltas, seconds),
        *_read_how(deltas),
    )
    size = int(_number(segment["value"])) if segment else None
    suspended = tuple(_suspended(deltas))
    sentences = (*_plan_sentences(work, plan), *_of_session(work, kept), *_queued(deltas), *suspended)
    return TrialFindings((*metrics, *_of_group(kept)), sentences, size, cpu, disturbed=bool(suspended))


# -- the session ------------------------------------------------------------------------------------------------
_QUEUED = "event resmgr:pq queued (session)"
_SUSPENDED = "event statement suspended, wait error to be cleared"


def group_of(kept: Mapping[str, tuple[Row, ...]]) -> str | None:
    """Return the consumer group that V$SESSION showed right after the clock; None where no plan gives one."""
    found = next((row.get("detail") for row in of_kind(kept, "switches")), None)
    return None if found is None else str(found)


def _of_group(kept: Mapping[str, tuple[Row, ...]]) -> Iterator[Metric]:
    group = group_of(kept)
    if group is not None:
        yield Metric(f"in consumer group {group}", 1, "yes/no", SOURCE)


def _of_session(work: Work, kept: Mapping[str, tuple[Row, ...]]) -> Iterator[str]:
    """Say where the session was not in the group asked for, and where its trace is."""
    asked = spelling.text_option(work, "consumer_group")
    shown = of_kind(kept, "switches")
    if asked is not None and shown and group_of(kept) != parse_name(asked).name:
        yield (
            f"the session was in consumer group {group_of(kept) or 'none'}, not in {parse_name(asked).name}: the "
            "resource plan, or the lack of one, decided otherwise (V$SESSION.RESOURCE_CONSUMER_GROUP)"
        )
    if work.option("sql_trace"):
        rows = (*of_kind(kept, "trace"), *kept.get(TRACES, ()))
        found = list(dict.fromkeys(str(row["detail"]) for row in rows if row.get("detail")))
        unknown = "in the folder `Diag Trace` of V$DIAG_INFO, which cannot be read; `*_DBATK.trc`"
        files = "trace files" if len(found) > 1 else "trace file"
        yield f"traced, so its time is no measure of an untraced run; {files}: {', '.join(found) or unknown}"


def _queued(deltas: Mapping[str, float]) -> Iterator[str]:
    if deltas.get(_QUEUED, 0) > 0:
        yield f"it waited {deltas[_QUEUED]:.1f} s in the queue of parallel statements, which counts in its time"


def _suspended(deltas: Mapping[str, float]) -> Iterator[str]:
    """Say that a statement without room waited instead of failing; of parallel servers only the instance tells."""
    own, any_session = deltas.get(f"{_SUSPENDED} (session)", 0), deltas.get(_SUSPENDED, 0)
    if own > 0:
        yield (
            f"it found no space and was suspended for {own:.1f} s (RESUMABLE_TIMEOUT), so its time does not "
            "count; the alert log names the tablespace or quota"
        )
    elif any_session > 0:
        yield (
            f"sessions of this instance, its parallel servers perhaps, were suspended for {any_session:.1f} s for "
            "lack of space (RESUMABLE_TIMEOUT), so its time does not count; the alert log names who and where"
        )


# -- servers ----------------------------------------------------------------------------------------------------
def _of_servers(rows: Sequence[Row]) -> Iterator[Metric]:
    """Yield servers, rows of each set, and how unevenly they were dealt.

    A set is what sends to, or takes from, one table queue; ranging servers and the coordinator are no part of it.
    Skew is the most rows of a server over the average of its set: 1 is even, the degree is all on one server.
    """
    sets: dict[str, list[float]] = {}
    servers: set[str] = set()
    for row in rows:
        role = str(row["name"]).strip("\0 ").lower()
        dfo, queue, instance, process = str(row["detail"]).split(" ", 3)
        if role not in ("producer", "consumer") or process.startswith("QC"):
            continue
        servers.add(f"{instance} {process}")
        sets.setdefault(f"dfo {dfo} queue {queue} {role}s", []).append(_number(row["value"]))
    if not servers:
        return
    yield Metric("parallel servers", len(servers), "count", SOURCE)
    skews = [max(dealt) * len(dealt) / sum(dealt) for dealt in sets.values() if sum(dealt) > 0 and len(dealt) > 1]
    if skews:
        yield Metric("row skew of parallel servers", max(skews), "ratio", SOURCE)
    for name, dealt in sorted(sets.items()):
        yield Metric(f"rows of {name}", sum(dealt), "rows", SOURCE)
        if len(dealt) > 1:
            yield Metric(f"most rows of one of the {name}", max(dealt), "rows", SOURCE)


# -- cost and size ----------------------------------------------------------------------------------------------
def _of_cost(cost: Mapping[str, Row]) -> Iterator[Metric]:
    if "parallel server executions" in cost:
        value = _number(cost["parallel server executions"]["value"])
        yield Metric("parallel server executions of the statement", value, "count", SOURCE)
    if "physical bytes" in cost:
        yield Metric("read by the statement", _number(cost["physical bytes"]["value"]), "bytes", SOURCE)
        yield Metric("written by the statement", _number(cost["physical bytes"]["total"]), "bytes", SOURCE)
    if "microseconds" in cost:
        row = cost["microseconds"]
        yield Metric("CPU of the statement", _number(row["value"]) / _MICRO, "seconds", SOURCE)
        yield Metric("time of the statement, all servers", _number(row["total"]) / _MICRO, "seconds", SOURCE)


def _of_segment(row: Row) -> Iterator[Metric]:
    yield Metric("segment bytes", _number(row["value"]), "bytes", SOURCE)
    yield Metric("segment extents", _number(row["total"]), "count", SOURCE)


# -- the instance -----------------------------------------------------------------------------------------------
_RATES = {
    "physical read total bytes": "read by the instance, per second",
    "physical write total bytes": "written by the instance, per second",
    "redo size": "redo of the instance, per second",
}
_BUSY, _IDLE = "host BUSY_TIME", "host IDLE_TIME"


def _derived(deltas: Mapping[str, float], seconds: float) -> Iterator[Metric]:
    """Yield what is made of counters, as an AWR report's load profile makes it; nothing of what was not read."""
    if seconds > 0:
        for name, rate in _RATES.items():
            if name in deltas:
                yield Metric(rate, deltas[name] / seconds, "bytes/s", "vstat")
        if "DB time" in deltas:
            yield Metric("average active sessions", deltas["DB time"] / seconds, "", "vstat")
    if deltas.get("DB time") and "DB CPU" in deltas:
        yield Metric("CPU of DB time", 100 * deltas["DB CPU"] / deltas["DB time"], "%", "vstat")
    spent = deltas.get(_BUSY, 0) + deltas.get(_IDLE, 0)
    if spent and _BUSY in deltas:
        yield Metric("host CPU busy", 100 * deltas[_BUSY] / spent, "%", "vstat")


_DIRECT, _MISSED, _GOT = "physical reads direct", "physical reads cache", "consistent gets from cache"
_SORTED = "physical reads direct temporary tablespace"


def _read_how(deltas: Mapping[str, float]) -> Iterator[Metric]:
    """Yield how the sessions of the run came by the blocks they read, those of temporary segments left out.

    A serial full scan goes through the buffer cache or past it, as the server decides by the size of the segment;
    parallel servers read directly (VLDB and Partitioning Guide), and the counters hold what they counted, too.
    """
    direct, missed, got = (deltas.get(f"{name} (session)") for name in (_DIRECT, _MISSED, _GOT))
    if direct is None or missed is None or got is None:
        return
    past = max(0.0, direct - deltas.get(f"{_SORTED} (session)", 0.0))
    for name, value in ((READ_DIRECT, past), (READ_INTO_CACHE, missed), (FOUND_IN_CACHE, max(0.0, got - missed))):
        yield Metric(name, value, "blocks", "vstat")


# -- plan -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PlanStory:
    """What a plan shows of a load or build.

    Attributes:
        load: the text of its line, None when the plan has none.
        parallel: whether servers do it: the line is below PX SEND QC. None without a load line.
        servers: whether servers do any of the plan.
        method: space management of the load, as printed: `HYBRID TSM/HWMB`.
        statistics: whether a line gathers statistics while loading.
        degree_note: the note about the degree, None without one.
    """

    load: str | None = None
    parallel: bool | None = None
    servers: bool = False
    method: str | None = None
    statistics: bool = False
    degree_note: str | None = None


_LINE = re.compile(r"^\|[-* ]*\d+ +\|(?P<operation>[^|]*)\|")
_LOADS = re.compile(r"^(LOAD AS SELECT|LOAD TABLE CONVENTIONAL|INDEX BUILD|MULTI-TABLE INSERT|DIRECT LOAD INTO)\b")
_NOTE = re.compile(r"[Dd]egree of [Pp]arallelism is (.*)|PDML (?:is )?disabled (.*)")


def read_plan(lines: Sequence[str]) -> PlanStory:
    """Read a plan as DBMS_XPLAN prints it; depth is shown by indentation."""
    above: list[tuple[int, str]] = []
    load: str | None = None
    parallel: bool | None = None
    statistics = servers = False
    for text in _operations(lines):
        depth, name = len(text) - len(text.lstrip()), text.strip()
        above = [each for each in above if each[0] < depth]
        if load is None and _LOADS.match(name):
            load, parallel = name, any(each.startswith("PX SEND QC") for _, each in above)
        servers = servers or name.startswith("PX COORDINATOR")
        statistics = statistics or name.startswith("OPTIMIZER STATISTICS GATHERING")
        above.append((depth, name))
    method = re.search(r"\((.*)\)", load) if load else None
    note = next((line.strip(" -") for line in lines if _NOTE.search(line)), None)
    return PlanStory(load, parallel, servers, method[1] if method else None, statistics, note)


def _operations(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match = _LINE.match(line)
        if match:
            yield match["operation"]


def _of_plan(lines: Sequence[str]) -> Iterator[Metric]:
    story = read_plan(lines)
    if story.parallel is not None:
        yield Metric("plan: load or build below PX SEND QC", float(story.parallel), "yes/no", "plan")
        yield Metric("plan: statistics gathered while loading", float(story.statistics), "yes/no", "plan")


def _plan_sentences(work: Work, lines: Sequence[str]) -> tuple[str, ...]:
    if not lines or work.operation == "stats-gather":
        return ()
    story = read_plan(lines)
    if story.load is None:
        if not any(map(_LINE.match, lines)):
            answer = next((line.strip() for line in lines if line.strip() and not _is_heading(line)), "nothing")
            return (f"the plan of the {work.operation} cannot be shown ({answer[:120]})",)
        return ()
    if story.parallel is False and not spelling.is_serial(work):
        where = "is above PX COORDINATOR" if story.servers else "has no parallel servers below it"
        why = f" ({story.degree_note})" if story.degree_note else ""
        return (f"the decisive part of the plan is serial: `{story.load}` {where}{why}",)
    return ()


def _is_heading(line: str) -> bool:
    return line.startswith(("SQL_ID", "---", "===")) or "cannot be found" in line


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0.0
