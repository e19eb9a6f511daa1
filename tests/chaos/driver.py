"""`dbatk` with a clock that tests set while it runs; it tells the stacks of its threads when asked (SIGUSR1).

`CHAOS_CLOCK` names a file with the seconds that this clock is ahead of the machine's, which is never set.
Clocks that only go forward (`time.monotonic`) are left alone, as an operating system leaves them.
"""

from __future__ import annotations

import datetime as module
import faulthandler
import os
import signal
import time
from collections.abc import Callable
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


def set_clock(file: Path) -> None:
    """Let this process's clock be ahead of the machine's by what a file says."""
    real_time = time.time

    def ahead() -> float:
        return float(file.read_text() or 0)

    module.datetime = _shifted(ahead, real_time)  # type: ignore[misc]
    time.time = lambda: real_time() + ahead()


if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    set_clock(Path(os.environ["CHAOS_CLOCK"]))
    from toolkit.cli.main import run

    run()
