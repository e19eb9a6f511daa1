"""Signals: the first asks the run to end in order, the second ends the process at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_AT_ONCE = 130


class Stop:
    """Whether somebody asked the run to end."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def request(self) -> None:
        """Ask the run to end: the running statement is cancelled, then conclude and cleanup run."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until somebody asks to stop; return whether somebody did."""
        return self._event.wait(seconds)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take SIGINT, SIGTERM and SIGHUP alike while the block runs (only in the main thread).

        Under `nohup` SIGHUP is ignored already, and stays so: the run is to outlive the terminal.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self._heard) for each in _SIGNALS if not _is_nohup(each)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.requested:
            os._exit(_AT_ONCE)
        self.request()


def _is_nohup(number: signal.Signals) -> bool:
    return number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN
