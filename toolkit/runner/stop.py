"""Signals: the first asks the run to end in order, the second ends the process at once."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from toolkit.errors import ToolkitError
from toolkit.executors import Timeouts

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_AT_ONCE = 130
_TOGETHER_SECONDS = 0.5
_CLOSED = "TK-0310"
_HURRIED = frozenset({"TK-0130", _CLOSED})
TAKEN_OVER = "TK-0302"
"""Code of the error of a lease that another process has by now."""


class Stop:
    """Whether somebody asked the run to end."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._heard_at = -math.inf
        self._look: Callable[[], None] = lambda: None
        self._overdue: Callable[[], bool] = lambda: False
        self._fits: Callable[[str], bool] = lambda _: True
        self.held_back: set[str] = set()
        """Labels of items that were not begun, because they would not have ended in time."""
        self.because: ToolkitError | None = None
        """Why, when it was no signal."""
        self.hurried = False
        """Whether the end is waited for: by a user who asked for it, or by a window that has closed."""
        self.timeouts = Timeouts(lambda: self.hurried, lambda: self.requested)
        """Of the sessions that are to end with it: they share what is learned of a database that falls silent."""
        self.disowned = False
        """Whether another process goes on with this very run: this process must undo nothing of it any more."""

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    @property
    def closed(self) -> bool:
        """Whether it is to end because the window is closed in which it may work."""
        return self.because is not None and self.because.code == _CLOSED

    def request(self, because: ToolkitError | None = None, *, disowned: bool = False) -> None:
        """Ask the run to end: the running statement is cancelled, then conclude and cleanup run.

        Args:
            because: why, when it was no signal.
            disowned: another process goes on with the run: nothing more is changed.
        """
        self.hurried = self.hurried or because is None or because.code in _HURRIED
        self.because = self.because or because
        self.disowned = self.disowned or disowned
        self._event.set()

    def look_with(self, look: Callable[[], None], overdue: Callable[[], bool] = lambda: False) -> None:
        """Let `look` find out, at safe points, whether the run must stop.

        Args:
            look: requests the stop where it must.
            overdue: whether the last look is so long ago that this must be known before anything is changed: the
                process was frozen.
        """
        self._look, self._overdue = look, overdue

    def overdue(self) -> bool:
        """Tell whether the last look is too long ago to change anything before the next one."""
        return self._overdue()

    def led_by(self, other: Stop) -> None:
        """End when another is asked to, as soon as a look of that one, where it is overdue, finds that out."""

        def look() -> None:
            if other.overdue():
                other.look()
            if other.because is not None and not self.requested:
                self.request(other.because, disowned=other.because.code == TAKEN_OVER)

        self.look_with(look, other.overdue)

    def begin_only_with(self, fits: Callable[[str], bool]) -> None:
        """Let `fits` say of each item, by its label, whether it would still end in time."""
        self._fits = fits

    def fits(self, label: str) -> bool:
        """Tell whether an item may still be begun; one that may not is remembered."""
        if self._fits(label):
            return True
        self.held_back.add(label)
        return False

    def look(self) -> None:
        """Find out now whether the run must stop."""
        self._look()

    def refuse_if_disowned(self) -> None:
        """Refuse to change what another process works on, which one that was frozen finds out here.

        Raises:
            ToolkitError: TK-0302, why the run was stopped.
        """
        if self.overdue():
            self.look()
        if self.disowned and self.because is not None:
            raise self.because

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
        """Stop in order at the first signal, and at once at a later one.

        `timeout` sends each signal twice, to the process and to its group: what comes together is one.
        """
        del number, frame
        if self.requested and time.monotonic() - self._heard_at >= _TOGETHER_SECONDS:
            os._exit(_AT_ONCE)
        if not self.requested:
            self._heard_at = time.monotonic()
            self.request()


class Silence:
    """Tells when a cancel will never be answered."""

    def __init__(self, may_end: Callable[[], bool], seconds: float) -> None:
        self._may_end = may_end
        self._seconds = seconds
        self._until: float | None = None
        self.since = math.inf

    def cancelled(self) -> None:
        """Begin to wait with the first cancel."""
        if self._until is None:
            self.since = time.monotonic()
            self._until = self.since + self._seconds

    def is_final(self) -> bool:
        """Ask the database when the wait is over; one that answers is given another while."""
        if self._until is None or time.monotonic() < self._until:
            return False
        if not self._may_end():
            return True
        self._until = time.monotonic() + self._seconds
        return False


def _is_nohup(number: signal.Signals) -> bool:
    return number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN
