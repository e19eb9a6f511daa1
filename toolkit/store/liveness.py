"""Is the holder of a lease still at work?

A heartbeat tells it from afar, a look at the process tells it at once where the process is ours to see.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import psutil

from toolkit.model.records import Lease

HEARTBEAT_SECONDS = 5.0
LEASE_SECONDS = 20.0
_FIRST_PID_NAMESPACE = "pid:[4026531836]"
_BEGIN_TOLERANCE_SECONDS = 2.0

ProcessCheck = Callable[[Lease], bool | None]


def lease_is_live(lease: Lease, now: datetime, is_process_alive: ProcessCheck | None = None) -> bool:
    """Tell whether the holder of a lease is still at work.

    Args:
        lease: what the store says.
        now: an aware instant of the clock that wrote the heartbeat.
        is_process_alive: True or False where the process can be seen, None where it cannot;
            then a heartbeat younger than 20 s decides. `process_alive` if not given.
    """
    alive = (is_process_alive or process_alive)(lease)
    if alive is not None:
        return alive
    return now - lease.heartbeat_at < timedelta(seconds=LEASE_SECONDS)


def process_alive(lease: Lease) -> bool | None:
    """Look for the process of a lease on this host; None when only its heartbeat can tell.

    A process of the same number that began at another time is another one, or ours seen after the clock was set:
    the heartbeat tells these two apart.
    """
    if lease.host != this_host() or lease.boot not in (None, this_boot()):
        return None
    try:
        process = psutil.Process(lease.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        same = abs(process.create_time() - lease.process_began) < _BEGIN_TOLERANCE_SECONDS
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return None
    return True if same else None


@cache
def this_host() -> str:
    """Name this host, and the process name space inside it: two containers may share a host name."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = _FIRST_PID_NAMESPACE
    name = socket.gethostname()
    return name if space == _FIRST_PID_NAMESPACE else f"{name} ({space})"


@cache
def this_boot() -> str:
    """Return what marks this start of this machine; names of hosts may be equal, as clones and containers show.

    Source: https://man7.org/linux/man-pages/man4/random.4.html (`boot_id`).
    """
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"{psutil.boot_time():.0f}"


@cache
def process_began(pid: int) -> float:
    """Return when a process began, in seconds of the host's clock."""
    return float(psutil.Process(pid).create_time())
