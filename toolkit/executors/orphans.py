"""Finds and ends the programs of runs whose dbatk is dead.

A program has the number of its run in its environment, which all that it begins inherits, unless that is begun
with another environment (`env -i`, `sudo`) or as another user, whose environment only root may read. One on the
clock has it in the name of the pipe that it writes to, too. What is below such a program, or in the same session
of the kernel, is found all the same: /proc shows parent and session of all processes to everybody. What left all
that, as a daemon does that also has another environment and writes elsewhere, is not found.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.executors.keeping import RUN_VARIABLE
from toolkit.executors.output import run_written_to

if TYPE_CHECKING:
    from psutil import Process

_ORPHAN_SECONDS, _LOOK_SECONDS = 10.0, 0.1


@dataclass(frozen=True, slots=True)
class OrphansEnded:
    """What became of the programs of a dead run: how many were ended, and the names of those that may not be."""

    ended: int = 0
    left: tuple[str, ...] = ()


def end_orphans(run: str) -> OrphansEnded:
    """End the programs of a run that nobody waits for any more, and wait until they are gone.

    Only for runs whose dbatk is dead: programs of a live one are found as well. psutil sends no signal to a later
    process with the number of one that was found.
    """
    import psutil

    found = _with_their_own([process for process in psutil.process_iter() if _run_of(process) == run])
    for process in found:
        with suppress(psutil.Error):
            process.terminate()
    left = _left_of(found)
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    left = _left_of(left)
    return OrphansEnded(len(found) - len(left), tuple(f"{_name_of(process)} ({process.pid})" for process in left))


def _left_of(ended: Sequence[Process]) -> list[Process]:
    """Wait until processes are gone, or only wait for their parent to take note of it; return the others."""
    import psutil

    until = time.monotonic() + _ORPHAN_SECONDS
    while left := [each for each in ended if each.is_running() and _is_there(each.pid)]:
        if time.monotonic() > until:
            break
        psutil.wait_procs(left, timeout=_LOOK_SECONDS)
    return left


def runs_with_programs() -> frozenset[str]:
    """Return the runs, dead or alive, of which processes are on this host beside this one."""
    import psutil

    return frozenset(run for process in psutil.process_iter() if (run := _run_of(process)) is not None)


def _with_their_own(found: Iterable[Process]) -> list[Process]:
    """Return processes with all that is below them, and in sessions that they lead or whose leader is gone."""
    import psutil

    known = {process.pid: process for process in found}
    for process in tuple(known.values()):
        with suppress(psutil.Error):
            known |= {child.pid: child for child in process.children(recursive=True)}
    sessions = {_session_of(pid) for pid in known} - {None, _session_of(os.getpid())}
    theirs = {number for number in sessions if number in known or not _is_there(number or 0)}
    if theirs:
        known |= {process.pid: process for process in psutil.process_iter() if _session_of(process.pid) in theirs}
    return [process for pid, process in known.items() if pid != os.getpid() and _is_there(pid)]


def _session_of(pid: int) -> int | None:
    with suppress(OSError):
        return os.getsid(pid)
    return None


def _is_there(pid: int) -> bool:
    """Tell whether a process is there and not only waits to be taken note of."""
    import psutil

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _name_of(process: Process) -> str:
    import psutil

    with suppress(psutil.Error):
        return str(process.name())
    return "a process"


def _run_of(process: Process) -> str | None:
    import psutil

    if process.pid == os.getpid():
        return None
    with suppress(psutil.Error, OSError):
        if (run := process.environ().get(RUN_VARIABLE)) is not None:
            return str(run)
    return run_written_to(process.pid)
