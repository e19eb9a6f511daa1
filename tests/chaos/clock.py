"""A clock that tests set while `dbatk` runs, and other parts of its world that they break.

`CHAOS_CLOCK` names a file with the seconds that this clock is ahead of the machine's, which is never set.
Clocks that only go forward (`time.monotonic`) are left alone, as an operating system leaves them.

Two files beside the clock are obeyed by what they say: `threads` (`none`: no thread begins; `stillborn`: it ends
at once), and `rename` (`before` or `after`: this process is killed there when it renames something next).
"""

from __future__ import annotations

import datetime as module
import functools
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import thread
from pathlib import Path

_Real = module.datetime


class _Kind(type):
    """Take every instant for one of ours: extensions make them of the class they know."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Real)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, _Real)


def _shifted(ahead: Callable[[], float], real_time: Callable[[], float]) -> type:
    class Shifted(_Real, metaclass=_Kind):
        @classmethod
        def now(cls, tz: module.tzinfo | None = None) -> module.datetime:  # type: ignore[override]
            return _Real.fromtimestamp(real_time() + ahead(), tz)

    return Shifted


@functools.cache
def set_up() -> None:
    """Break this process, before it imports what knows the machine's clock and its own threads."""
    clock = Path(os.environ["CHAOS_CLOCK"])
    set_clock(clock)
    break_threads(clock.with_name("threads"))
    kill_at_rename(clock.with_name("rename"))


def set_clock(file: Path) -> None:
    """Let this process's clock be ahead of the machine's by what a file says."""
    real_time = time.time

    def ahead() -> float:
        return float(file.read_text() or 0)

    module.datetime = _shifted(ahead, real_time)  # type: ignore[misc]
    time.time = lambda: real_time() + ahead()


class Stillborn(BaseException):
    """Ends a thread that has just begun."""


def break_threads(file: Path) -> None:
    """Let no thread begin, or end at once, while a file says so."""
    begin, tell = threading.Thread.start, threading.excepthook

    def start(self: threading.Thread) -> None:
        how = _text(file)
        if how == "none":
            raise RuntimeError("can't start new thread")
        # the pools of the standard library would wait for theirs without end
        if how == "stillborn" and getattr(self, "_target", None) is not thread._worker:
            self.run = _die  # type: ignore[method-assign]
        begin(self)

    def hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_type is not Stillborn:
            tell(args)

    threading.Thread.start, threading.excepthook = start, hook  # type: ignore[method-assign]


def _die() -> None:
    raise Stillborn


def kill_at_rename(file: Path) -> None:
    """Be killed before or after the next rename, once a file says so."""

    def lethal(real: Callable[..., None]) -> Callable[..., None]:
        def renamed(*names: object, **more: object) -> None:
            when = _text(file)
            if when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            real(*names, **more)
            if when == "after":
                os.kill(os.getpid(), signal.SIGKILL)

        return renamed

    os.rename, os.replace = lethal(os.rename), lethal(os.replace)


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except FileNotFoundError:
        return ""
