"""The thread of a session, whose answers nobody has to wait for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_TICK_SECONDS = 0.2

T = TypeVar("T")
_here = threading.local()


class SilentError(Exception):
    """Nothing came, and nothing will."""


def is_given_up() -> bool:
    """Tell whether this is the thread of a session for whose work nobody waits any more."""
    line: Line | None = getattr(_here, "line", None)
    return line is not None and line.is_given_up


class Line:
    """The thread of a session: it does one thing after the other, and nobody has to wait for its results."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], queue.SimpleQueue[Any]] | None]
        self._work = queue.SimpleQueue()
        self._unwanted: Callable[[Any], object] | None = None
        self.is_given_up = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="session")
        self._thread.start()

    def _run(self) -> None:
        _here.line = self
        while (given := self._work.get()) is not None:
            work, reply = given
            result: object
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
                result = error
            if self._unwanted is not None and not isinstance(result, BaseException):
                self._unwanted(result)
            reply.put(result)

    @property
    def is_here(self) -> bool:
        """Whether it is its own thread that asks."""
        return threading.current_thread() is self._thread

    def ask(self, work: Callable[[], T], is_over: Callable[[], bool]) -> T:
        """Return what the work returns, or raise what it raises.

        Raises:
            SilentError: `is_over` said so before there was a result, or the thread died.
        """
        reply: queue.SimpleQueue[T | BaseException] = queue.SimpleQueue()
        self._work.put((work, reply))
        while True:
            try:
                result = reply.get(timeout=_TICK_SECONDS)
            except queue.Empty:
                died = not self._thread.is_alive() and reply.empty()
                if died or is_over():
                    self.is_given_up = True
                    raise SilentError from None
                continue
            if isinstance(result, BaseException):
                raise result
            return result

    def end(self, unwanted: Callable[[Any], object] | None = None) -> None:
        """End the thread after what it does now; what still comes of that is handed to `unwanted`."""
        self._unwanted = unwanted
        self._work.put(None)
