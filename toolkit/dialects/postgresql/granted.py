"""How many workers PostgreSQL asks for, by its own arithmetic, and the degree a statement really had.

A degree includes the leader: degree d means d - 1 workers.

Evidence, best first: the database's own count of workers launched (18 and later, queries only, and only when
no query of another session was counted), workers seen in pg_stat_activity while the clock ran, the plan. A plan
alone never proves that workers were launched; a serial plan does prove that none were.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolkit.dialects.answers import Granted
from toolkit.dialects.work import Work
from toolkit.model.records import PLAN_IS_SERIAL
from toolkit.model.values import Row
from toolkit.units import byte_size

WORKER_KILOBYTES = 32 * 1024
"""A process that takes part in an index build wants so much of maintenance_work_mem, the leader included."""
_BLOCK = 8192


def workers_by_size(blocks: int, threshold: int) -> int:
    """Return the workers a scan of `blocks` may ask for.

    One from `min_parallel_table_scan_size` on, one more for every threefold size
    (`compute_parallel_worker` in optimizer/path/allpaths.c).
    """
    if blocks < threshold:
        return 0
    workers, step = 1, max(threshold, 1)
    while blocks >= step * 3:
        workers, step = workers + 1, step * 3
    return workers


def workers_by_memory(kilobytes: int, workers: int) -> int:
    """Return how many of `workers` an index build keeps.

    Source: `plan_create_index_workers` in optimizer/plan/planner.c.
    """
    while workers > 0 and kilobytes // (workers + 1) < WORKER_KILOBYTES:
        workers -= 1
    return workers


def _number(row: Row, column: str) -> int | None:
    value = row.get(column)
    return int(value) if isinstance(value, int | float) else None


def why_fewer(plan: Row, wanted: int, requested: int) -> str:
    """Say why an index build asked for fewer workers than wanted, from the row of `maintenance_plan.sql`.

    The server takes the workers that the size of the table gives, and then fewer where memory is short; an access
    method that builds in one process asks for none whatever both allow.
    """
    blocks, threshold = _number(plan, "table_blocks"), _number(plan, "min_scan_blocks")
    kilobytes = _number(plan, "memory_kilobytes")
    if blocks is None or threshold is None or kilobytes is None:
        return "the table is small, or maintenance_work_mem gives a process less than 32 MB"
    fixed = _number(plan, "table_workers")
    by_size = min(wanted, workers_by_size(blocks, threshold) if fixed is None else fixed)
    by_memory = workers_by_memory(kilobytes, by_size) if fixed is None else by_size
    if requested < by_memory or (by_size == wanted == by_memory):
        return "the access method or an expression of the index does not allow a parallel build"
    if by_memory < by_size:
        need = (by_size + 1) * WORKER_KILOBYTES // 1024
        return (
            f"maintenance_work_mem of {kilobytes // 1024} MB is enough for {_workers(by_memory)}; "
            f"{by_size} need {need} MB (32 MB each, the leader included)"
        )
    if fixed is not None:
        return f"the table's parallel_workers is {fixed}"
    spelled = byte_size(blocks * _BLOCK)
    return f"a table of {spelled} gets at most {_workers(by_size)}, unless its parallel_workers is set"


def _workers(number: int) -> str:
    return f"{number} worker{'' if number == 1 else 's'}"


SERIAL_PLAN = "the planner chose a serial plan"
ROWS_HANDED_OVER = ": each row that a worker hands over has a price (`--setting parallel_tuple_cost=0`: none)"
_BY_SIZE = "; the size of a table sets how many, unless its parallel_workers does"
_LEAST_BLOCKS = 1024
_ROW_COST = 0.01
"""Defaults of min_parallel_table_scan_size, in blocks, and of cpu_tuple_cost."""
_REQUEST = re.compile(r'building index ".*" with request for (?P<workers>\d+) parallel workers?', re.DOTALL)
_SERIALLY = re.compile(r'building index ".*" serially', re.DOTALL)
_SAMPLED = "workers seen in pg_stat_activity"
_COUNTED = "pg_stat_database.parallel_workers_launched"
_ENOUGH_SECONDS = 1.0
"""A statement that was seen at work for so long, and never with a worker, had none."""

Kept = Mapping[str, tuple[Row, ...]]


def _nodes(value: object) -> Iterator[dict[str, object]]:
    """Yield every node of a plan as EXPLAIN (FORMAT JSON) nests them."""
    if isinstance(value, list):
        for part in value:
            yield from _nodes(part)
    elif isinstance(value, dict):
        if "Node Type" in value:
            yield value
        for part in value.values():
            yield from _nodes(part)


def _read(rows: tuple[Row, ...]) -> object:
    """Return what EXPLAIN answered; None when that is nothing to read."""
    try:
        return json.loads(str(next(iter(rows[0].values())))) if rows else None
    except (ValueError, StopIteration):
        return None


def planned_workers(rows: tuple[Row, ...]) -> tuple[int, ...] | None:
    """Return the workers planned at each Gather of a plan; None when there is no plan to read."""
    plan = _read(rows)
    if plan is None:
        return None
    found = (node.get("Workers Planned") for node in _nodes(plan))
    return tuple(number for number in found if isinstance(number, int))


def _launched(kept: Kept, planned: tuple[int, ...]) -> int | None:
    """Return the workers launched, by the database's counters, when they counted our statement alone."""
    before, after = kept.get("degree_before", ()), kept.get("degree", ())
    if not before or not after:
        return None
    asked = _difference(before[0], after[0], "asked")
    launched = _difference(before[0], after[0], "launched")
    if asked is None or launched is None or asked != sum(planned):
        return None
    if launched == asked:
        return max(planned)
    return launched if len(planned) == 1 else None


def _difference(before: Row, after: Row, column: str) -> int | None:
    first, last = before.get(column), after.get(column)
    if not isinstance(first, int | float) or not isinstance(last, int | float):
        return None
    return int(last - first)


def of_query(wanted: int, kept: Kept, peaks: Mapping[str, float]) -> Granted:
    """Tell the degree of a query that wanted so many workers; it is one more, because the leader works too."""
    rows = kept.get("plan", ())
    planned = planned_workers(rows)
    if planned is not None and not any(planned):
        return Granted(1, PLAN_IS_SERIAL, SERIAL_PLAN + (ROWS_HANDED_OVER if _hands_all_over(rows) else ""))
    if planned is not None and (launched := _launched(kept, planned)) is not None:
        found = Granted(launched + 1, _COUNTED, _planned_sentence(max(planned), launched))
    else:
        found = _sampled(max(planned) if planned else None, peaks, "the planner requested")
    by_size = planned is not None and found.degree == max(planned) + 1 <= wanted
    return replace(found, sentence=found.sentence + _BY_SIZE) if by_size else found


def _hands_all_over(rows: tuple[Row, ...]) -> bool:
    """Tell whether a serial plan reads a whole table, large enough for workers, and nothing else."""
    root = next(_nodes(_read(rows)), {})
    cost, count = root.get("Total Cost"), root.get("Plan Rows")
    if not isinstance(cost, int | float) or not isinstance(count, int | float):
        return False
    whole = root["Node Type"] == "Seq Scan" and "Filter" not in root
    return whole and cost - _ROW_COST * count >= _LEAST_BLOCKS


def _planned_sentence(planned: int, launched: int) -> str:
    if launched < planned:
        return f"{launched} of {planned} planned workers were launched; max_parallel_workers was used up"
    return f"the planner requested {_workers(planned)}"


def _sampled(planned: int | None, peaks: Mapping[str, float], asked: str) -> Granted:
    """Tell from the sampled peak; a statement too short to be seen leaves the degree open."""
    seen = int(peaks.get("parallel_workers", 0))
    watched = peaks.get("watched_seconds", 0.0)
    if seen == 0 and planned and watched >= _ENOUGH_SECONDS:
        sentence = (
            f"none of {planned} requested workers was seen in {watched:.1f} s; max_parallel_workers was used up"
        )
        return Granted(1, _SAMPLED, sentence)
    if seen == 0:
        if planned is None:
            return Granted(None, "none", "there is neither a plan nor a sample of its workers")
        return Granted(None, PLAN_IS_SERIAL, f"{asked} {_workers(planned)}, but no sample saw them active")
    workers = seen if planned is None else min(seen, planned)
    if planned is not None and workers < planned:
        return Granted(workers + 1, _SAMPLED, f"{workers} of {planned} requested workers were ever seen active")
    return Granted(workers + 1, _SAMPLED, f"{asked} {_workers(workers)}")


def of_build(work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
    """Tell the degree of an index build; workers + 1, because the leader works too."""
    wanted = work.degree - 1
    requested = requested_workers(notices)
    plan = kept.get("plan", ())
    if requested == 0:
        return Granted(
            1, "notice of the server", f"built serially: {why_fewer(plan[0] if plan else {}, wanted, 0)}"
        )
    found = _sampled(requested, peaks, "the build requested")
    if requested is not None and requested < wanted:
        why = why_fewer(plan[0] if plan else {}, wanted, requested)
        return Granted(found.degree, found.source, f"the build requested {_workers(requested)}: {why}")
    return found


def requested_workers(notices: tuple[str, ...]) -> int | None:
    """Return the most workers that a build of the trial asked for, by the server's DEBUG1 message.

    None when the server did not say. In a trial over many indexes small ones are built serially by rule, so the
    best served one counts.
    """
    requests = [match for match in map(_REQUEST.fullmatch, notices) if match]
    if requests:
        return max(int(match["workers"]) for match in requests)
    return 0 if any(map(_SERIALLY.fullmatch, notices)) else None
