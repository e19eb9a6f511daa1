"""Passing events on to who writes them, so that no reader who stops holds a run up.

A terminal that is halted by Ctrl-S, a collector of logs that hangs, `ssh` over a network that is gone: who writes
there waits for ever. A run that waited would hold its locks, past the end of its window.
"""

from __future__ import annotations

import io
import sys
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from toolkit.model.protocols import Event, Events

_MOST_WAITING = 10_000
"""Events that wait to be written, of which further ones are left out, and counted."""
_LONGEST_SECONDS = 3.0
"""How long the end of a command waits until all is written."""
_ASKING_SECONDS = 1.0

_PASSING: list[PassedOn] = []
"""Who passes events on now."""


def written() -> None:
    """Wait a moment until what happened so far is written: a question comes after what it is about."""
    for each in tuple(_PASSING):
        each.written(_ASKING_SECONDS)


class PassedOn:
    """Passes events on in a thread of its own, in their order.

    Args:
        to: writes them.
        on_stderr: whether it writes to standard error.
    """

    def __init__(self, to: Events, *, on_stderr: bool = True) -> None:
        self._to, self._on_stderr = to, on_stderr
        self.left_out = 0
        """How many events nobody took, also those that still waited at the end."""
        self._waiting: SimpleQueue[Event | threading.Event | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        thread = threading.Thread(target=self._pass_on, name="events", daemon=True)
        with suppress(RuntimeError):  # this host starts no more threads: the run writes by itself
            thread.start()
            self._thread = thread
            _PASSING.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is None:
            _PASSING[:] = [each for each in _PASSING if each is not self]
            return
        _PASSING.remove(self)
        is_written = self.written(_LONGEST_SECONDS)
        if not is_written:
            self.left_out += self._waiting.qsize()
            if self._on_stderr:  # whoever writes there now would wait, too, and the command would not end
                sys.stderr = io.StringIO()
        self._waiting.put(None)

    def emit(self, event: Event) -> None:
        """Take an event; it is written soon, or left out where nobody takes what is written."""
        if self._is_gone():
            self._to.emit(event)
        elif self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put(event)
        else:
            self.left_out += 1

    def written(self, seconds: float) -> bool:
        """Wait at most so long until all events so far are written; tell whether they are."""
        if self._is_gone():
            return True
        reached = threading.Event()
        self._waiting.put(reached)
        return reached.wait(seconds)

    def _is_gone(self) -> bool:
        """Whether there is no thread, or it died: a host may end one as it begins; what waits is written then."""
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            with suppress(Empty):
                while True:
                    one = self._waiting.get_nowait()
                    if isinstance(one, Event):
                        self._to.emit(one)
        return self._thread is None

    def _pass_on(self) -> None:
        while (one := self._waiting.get()) is not None:
            if isinstance(one, threading.Event):
                one.set()
            else:
                self._to.emit(one)
