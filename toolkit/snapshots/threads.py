"""Which threads of this process worked: the granted degree of an embedded engine.

Linux tells each thread's CPU time in nanoseconds (`/proc/self/task/*/schedstat`, first field); elsewhere psutil
tells it in clock ticks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

import psutil

from toolkit.model.records import Metric, Sample

_TASKS = Path("/proc/self/task")
_LEAST_SECONDS = 0.02
_SHARE = 0.05


def thread_seconds() -> dict[int, float]:
    """Return the CPU seconds of each thread of this process."""
    if not _TASKS.is_dir():
        return {each.id: each.user_time + each.system_time for each in psutil.Process().threads()}
    found: dict[int, float] = {}
    for task in _TASKS.iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            found[int(task.name)] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return found


def busy_threads(before: Mapping[int, float], after: Mapping[int, float]) -> tuple[int | None, float]:
    """Count the threads that worked, and sum what they used.

    A thread worked when it used at least 5 % of what the busiest one used; below 20 ms in all nothing can be told.

    Returns:
        The count (None when it cannot be told) and CPU seconds.
    """
    used = [seconds - before.get(thread, 0.0) for thread, seconds in after.items()]
    total = sum(used)
    if total < _LEAST_SECONDS:
        return None, total
    return sum(1 for each in used if each >= _SHARE * max(used)), total


class ThreadProvider:
    """`duckstat`: threads that used CPU, and the CPU seconds of this process."""

    name = "duckstat"
    after_evidence = False

    def __init__(self) -> None:
        self._before: dict[int, float] = {}
        self._peaks: dict[str, float] = {}

    def begin(self) -> None:
        self._peaks = {}
        self._before = thread_seconds()

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        del at_seconds
        return ()

    def end(self) -> tuple[Metric, ...]:
        busy, seconds = busy_threads(self._before, thread_seconds())
        if busy is not None:
            self._peaks["busy_threads"] = float(busy)
        self._peaks["cpu_seconds"] = seconds
        return (Metric("db_cpu_seconds", seconds, "s", self.name),)

    def peaks(self) -> Mapping[str, float]:
        return dict(self._peaks)

    def warnings(self) -> tuple[str, ...]:
        return ()
