"""Processes that end with the one that began them, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_C = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(number: int = signal.SIGKILL, parent: int | None = None) -> None:
    """Let the kernel kill this process when its parent is gone; Linux only.

    The signal comes when the thread ends that began the process, so it is begun from one that lasts. A parent that
    is not named is not process 1: that takes over whoever lost theirs.
    """
    if _C is None:
        return
    expected = os.getppid() if parent is None else parent
    _C.prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != expected or (parent is None and expected == 1):
        os.kill(os.getpid(), signal.SIGKILL)
