"""How many workers PostgreSQL asks for, by its own arithmetic, and the sentence for a build that got fewer.

Our degree counts the leader: degree d is d - 1 workers.
"""

from __future__ import annotations

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


def why_fewer(plan: Row, wanted: int) -> str:
    """Say why an index build asked for fewer workers than wanted, from the row of `maintenance_plan.sql`."""
    blocks, threshold = _number(plan, "table_blocks"), _number(plan, "min_scan_blocks")
    kilobytes = _number(plan, "memory_kilobytes")
    if blocks is None or threshold is None or kilobytes is None:
        return "the table is small, or maintenance_work_mem gives a process less than 32 MB"
    fixed = _number(plan, "table_workers")
    by_size = workers_by_size(blocks, threshold) if fixed is None else fixed
    if by_size < wanted:
        spelled = byte_size(blocks * _BLOCK)
        return (
            f"a table of {spelled} gets at most {by_size} workers" if fixed is None
            else f"the table's parallel_workers is {fixed}"
        )  # fmt: skip
    by_memory = workers_by_memory(kilobytes, wanted)
    if by_memory < wanted:
        need = (wanted + 1) * WORKER_KILOBYTES // 1024
        return (
            f"maintenance_work_mem of {kilobytes // 1024} MB is enough for {by_memory} workers; "
            f"{wanted} need {need} MB (32 MB each, the leader included)"
        )
    return "the access method or an expression of the index does not allow a parallel build"
