"""`osstat`: CPU, disk and memory of this host while a trial runs, and the load of others.

The load of others is all CPU used on the host minus our own process with the programs that it runs, and the
database server's processes. It is shown with every trial; a trial in which others took a large part of the host is
`disturbed` and does not count.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from toolkit.model.records import BUSIEST_THREAD, Metric, Sample
from toolkit.model.state import BEGUN, ColumnRole, StateColumn, StateSection
from toolkit.model.values import Scalar

DISTURBED_ABOVE = 0.5
"""Part of the host's CPU that others may take before a trial no longer counts."""
STANDS_OUT_BY = 0.25
"""By how much it must exceed what others usually take during the run."""
_JUDGED_FROM_SECONDS = 0.3
_LOOKS = 4


@dataclass(frozen=True, slots=True)
class HostState:
    """Cumulated figures of the host at one instant: CPU seconds, bytes, operations."""

    at: float
    user: float
    system: float
    iowait: float
    idle: float
    ours: float
    server: float
    read_bytes: float
    write_bytes: float
    read_count: float
    write_count: float

    @property
    def busy(self) -> float:
        return self.user + self.system


def _tree_seconds(root: int | None) -> float:
    """Sum the CPU seconds of a process and all below it, those that were waited for included."""
    if root is None:
        return 0.0
    total = 0.0
    for pid in (root, *_below(root)):
        with contextlib.suppress(psutil.Error):
            times = psutil.Process(pid).cpu_times()
            total += times.user + times.system
            total += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return total


def _below(root: int) -> list[int]:
    """Return all processes below one; where the kernel does not list them, all of the host are looked through."""
    found, waiting = list[int](), [root]
    try:
        while waiting:
            children = _children(waiting.pop())
            found += children
            waiting += children
    except OSError:
        with contextlib.suppress(psutil.Error):
            return [each.pid for each in psutil.Process(root).children(recursive=True)]
    return found


def _children(parent: int) -> list[int]:
    """Return the processes that a process begot, as soon as two looks agree: one that ends hides others (proc(5)).

    Raises:
        OSError: the kernel has no such list.
    """
    now: list[int] | None = None
    for _ in range(_LOOKS):
        before, now = now, [child for task in _threads(parent) for child in _begotten(task)]
        if before == now:
            break
    return now or []


def _threads(process: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{process}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        if not _TASKS.is_dir():
            raise
        return []  # it has ended


def _begotten(thread: Path) -> list[int]:
    try:
        return [int(pid) for pid in (thread / "children").read_bytes().split()]
    except (FileNotFoundError, ProcessLookupError):
        if thread.exists():
            raise
        return []


def host_state(server: int | None, ours: int | None = None) -> HostState:
    """Read the host now.

    Args:
        server: process id of the database server's first process; None for an embedded engine.
        ours: process id of this process, to look also at what it and its programs used.
    """
    cpu = psutil.cpu_times()
    disk = psutil.disk_io_counters()
    return HostState(
        at=time.monotonic(),
        user=cpu.user + getattr(cpu, "nice", 0.0),
        system=cpu.system + getattr(cpu, "irq", 0.0) + getattr(cpu, "softirq", 0.0),
        iowait=getattr(cpu, "iowait", 0.0),
        idle=cpu.idle,
        ours=_tree_seconds(ours),
        server=_tree_seconds(server),
        read_bytes=float(disk.read_bytes) if disk else 0.0,
        write_bytes=float(disk.write_bytes) if disk else 0.0,
        read_count=float(disk.read_count) if disk else 0.0,
        write_count=float(disk.write_count) if disk else 0.0,
    )


def others_part(before: HostState, after: HostState) -> float | None:
    """Return which part of the host's CPU others used (0 to 1), or None when the interval is too short."""
    elapsed = after.at - before.at
    if elapsed < _JUDGED_FROM_SECONDS:
        return None
    others = (after.busy - before.busy) - (after.ours - before.ours) - (after.server - before.server)
    return min(1.0, max(0.0, others / (elapsed * (psutil.cpu_count() or 1))))


class HostProvider:
    """Samples the host once a second at most.

    Args:
        server: process id of the database server's first process.
        in_process: whether the engine runs in this process, so that our CPU time is the database's.
    """

    name = "osstat"
    after_evidence = False

    def __init__(self, server: int | None = None, *, in_process: bool = False) -> None:
        self._server = server
        self._in_process = in_process
        self._before = self._last = host_state(None)
        self._peaks: dict[str, float] = {}

    def begin(self) -> None:
        self._peaks = {}
        self._before = self._last = host_state(self._server, os.getpid())

    def others_now(self, seconds: float, wait: Callable[[float], object]) -> float:
        """Return which part of the host's CPU others use now, measured over so many seconds."""
        before = host_state(self._server, os.getpid())
        wait(seconds)
        return others_part(before, host_state(self._server, os.getpid())) or 0.0

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        if time.monotonic() - self._last.at < 0.9:
            return ()
        now = host_state(None)
        values = _rates(self._last, now)
        values["host_memory_used_bytes"] = float(psutil.virtual_memory().used)
        self._last = now
        for name, value in values.items():
            self._peaks[name] = max(value, self._peaks.get(name, value))
        return tuple(Sample(at_seconds, name, value) for name, value in values.items())

    def end(self) -> tuple[Metric, ...]:
        after = host_state(self._server, os.getpid())
        others = others_part(self._before, after)
        if others is not None:
            self._peaks["others_part"] = others
        if self._in_process or self._server is not None:
            used = after.ours - self._before.ours if self._in_process else after.server - self._before.server
            self._peaks["cpu_seconds"] = max(0.0, used)
        return self._metrics(after, others)

    def _metrics(self, after: HostState, others: float | None) -> tuple[Metric, ...]:
        before = self._before
        spent = {
            "host_cpu_user_seconds": (after.user - before.user, "s"),
            "host_cpu_system_seconds": (after.system - before.system, "s"),
            "host_cpu_iowait_seconds": (after.iowait - before.iowait, "s"),
            "host_disk_read_bytes": (after.read_bytes - before.read_bytes, "bytes"),
            "host_disk_write_bytes": (after.write_bytes - before.write_bytes, "bytes"),
            "host_disk_reads": (after.read_count - before.read_count, "operations"),
            "host_disk_writes": (after.write_count - before.write_count, "operations"),
            "host_memory_used_bytes": (float(psutil.virtual_memory().used), "bytes"),
        }
        if others is not None:
            spent["host_others_pct"] = (100.0 * others, "%")
        for name, value in self._peaks.items():
            if name.startswith("host_"):
                spent[f"{name}_peak"] = (value, _unit(name))
        return tuple(Metric(name, value, unit, self.name) for name, (value, unit) in spent.items())

    def peaks(self) -> Mapping[str, float]:
        return dict(self._peaks)

    def warnings(self) -> tuple[str, ...]:
        return ()


def _unit(name: str) -> str:
    if name.endswith("_bytes_per_s"):
        return "bytes/s"
    return "bytes" if name.endswith("_bytes") else "%"


def _rates(before: HostState, after: HostState) -> dict[str, float]:
    elapsed = max(after.at - before.at, 1e-9)
    capacity = elapsed * (psutil.cpu_count() or 1)
    return {
        # counted in ticks, so that a busy host would have more of them than there was time
        "host_cpu_pct": min(100.0, 100.0 * max(0.0, after.busy - before.busy) / capacity),
        "host_iowait_pct": min(100.0, 100.0 * max(0.0, after.iowait - before.iowait) / capacity),
        "host_disk_read_bytes_per_s": max(0.0, after.read_bytes - before.read_bytes) / elapsed,
        "host_disk_write_bytes_per_s": max(0.0, after.write_bytes - before.write_bytes) / elapsed,
    }


class HostRates:
    """What a host does now: each reading is of the time since the one before."""

    def __init__(self) -> None:
        self._last, self._network = host_state(None), psutil.net_io_counters()

    def read(self) -> dict[str, float]:
        """Return shares of the CPUs in %, bytes per second of disks and network, and the memory used in bytes."""
        now, network = host_state(None), psutil.net_io_counters()
        values, elapsed = _rates(self._last, now), max(now.at - self._last.at, 1e-9)
        values["host_memory_used_bytes"] = float(psutil.virtual_memory().used)
        if network is not None and self._network is not None:
            for name in ("recv", "sent"):
                moved = getattr(network, f"bytes_{name}") - getattr(self._network, f"bytes_{name}")
                values[f"host_network_{name}_bytes_per_s"] = max(0.0, moved) / elapsed
        self._last, self._network = now, network
        return values


# -- the host as a state ------------------------------------------------------------------------------------------
SINCE = "host_begun"
_DISK = ("read_count", "write_count", "read_bytes", "write_bytes")
_UNITS = {"read_count": "count", "write_count": "count", "read_bytes": "bytes", "write_bytes": "bytes"}
_PLAIN = (
    StateColumn("name", ColumnRole.KEY),
    StateColumn("unit", ColumnRole.WORD),
    StateColumn("total", ColumnRole.COUNTER),
    StateColumn("value", ColumnRole.GAUGE),
)


def host_identity(*, alone: bool) -> dict[str, Scalar]:
    """Return who this host is and since when it runs; `alone`: no database says so."""
    begun = datetime.fromtimestamp(psutil.boot_time(), UTC).isoformat()
    found: dict[str, Scalar] = {SINCE: begun, "cpus": psutil.cpu_count()}
    if alone:
        found |= {BEGUN: begun, "host": socket.gethostname(), "instant_seconds": datetime.now(UTC).timestamp()}
    return found


def host_sections() -> dict[str, StateSection]:
    """Return what this host counts and has."""
    return {
        "host": StateSection(_PLAIN, tuple(_host()), (SINCE,)),
        "disks": StateSection(
            (
                StateColumn("device", ColumnRole.KEY),
                *(StateColumn(name, ColumnRole.COUNTER, _UNITS[name]) for name in _DISK),
            ),
            tuple(_disks()),
            (SINCE,),
        ),
    }


def _host() -> Iterator[tuple[Scalar, ...]]:
    cpu = psutil.cpu_times()
    for name in ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"):
        if hasattr(cpu, name):
            yield (f"host_cpu_{name}_seconds", "s", float(getattr(cpu, name)), None)
    memory = psutil.virtual_memory()
    yield ("host_memory_used_bytes", "bytes", None, float(memory.used))
    yield ("host_memory_available_bytes", "bytes", None, float(memory.available))
    with contextlib.suppress(OSError, RuntimeError):
        swap = psutil.swap_memory()
        yield ("host_swap_used_bytes", "bytes", None, float(swap.used))
        yield ("host_swapped_in_bytes", "bytes", float(swap.sin), None)
        yield ("host_swapped_out_bytes", "bytes", float(swap.sout), None)


def _disks() -> Iterator[tuple[Scalar, ...]]:
    for device, found in sorted((psutil.disk_io_counters(perdisk=True) or {}).items()):
        yield (device, *(float(getattr(found, name)) for name in _DISK))


# -- threads of this process --------------------------------------------------------------------------------------
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

    A thread worked when it used at least 5 % of what the busiest one used; below 20 ms in all nothing is known.

    Returns:
        The count (None when it is not known) and CPU seconds.
    """
    used = [seconds - before.get(thread, 0.0) for thread, seconds in after.items()]
    total = sum(used)
    if total < _LEAST_SECONDS:
        return None, total
    return sum(1 for each in used if each >= _SHARE * max(used)), total


def busiest_share(before: Mapping[int, float], after: Mapping[int, float]) -> float | None:
    """Return which part of the CPU seconds of all threads the busiest one used; None where nothing is known."""
    used = [seconds - before.get(thread, 0.0) for thread, seconds in after.items()]
    return None if sum(used) < _LEAST_SECONDS else max(used) / sum(used)


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
        after = thread_seconds()
        busy, seconds = busy_threads(self._before, after)
        if busy is not None:
            self._peaks["busy_threads"] = float(busy)
        self._peaks["cpu_seconds"] = seconds
        share = busiest_share(self._before, after)
        busiest = () if share is None else (Metric(BUSIEST_THREAD, 100 * share, "%", self.name),)
        return (Metric("db_cpu_seconds", seconds, "s", self.name), *busiest)

    def peaks(self) -> Mapping[str, float]:
        return dict(self._peaks)

    def warnings(self) -> tuple[str, ...]:
        return ()
