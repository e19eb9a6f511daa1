"""The state of this host for a snapshot: CPU, memory, swap, and each disk."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from datetime import UTC, datetime

import psutil

from toolkit.model.state import BEGUN, ColumnRole, StateColumn, StateSection
from toolkit.model.values import Scalar

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
