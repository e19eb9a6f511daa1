"""Waits for work that may never end (an answer over a network that is gone), but not longer than a while."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

TIMEOUT_SECONDS = 20.0
"""How long a look at counters may take before the run goes on without it."""

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Do work in a thread of its own and return its result.

    What does not end in time goes on in its thread, and with it whatever it holds: its session must be given up.

    Raises:
        TimeoutError: it did not end in time.
        Exception: what the work raised.
    """
    results: list[T] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 (raised again where it was waited for)
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True, name="timeout")
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not results:
        raise TimeoutError
    return results[0]
