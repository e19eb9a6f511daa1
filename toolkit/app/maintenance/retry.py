"""Insists on storing what became of a night: a store that is full or locked for a while costs time only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from toolkit.errors import ToolkitError
from toolkit.store import CANNOT_BE_WRITTEN

TIMEOUT_SECONDS = 60.0
_LOOK_SECONDS = 0.5

T = TypeVar("T")


def retrying(work: Callable[[], T]) -> T:
    """Do one transaction of the store and return its result, again and again for a while.

    Args:
        work: one transaction, which may be done twice.

    Raises:
        ToolkitError: the last TK-0401 or TK-0404 when the time is over; others at once.
    """
    until = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            return work()
        except ToolkitError as error:
            if error.code not in CANNOT_BE_WRITTEN or time.monotonic() > until:
                raise
        time.sleep(_LOOK_SECONDS)
