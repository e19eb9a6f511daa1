"""How long statements wait for locks of others: `lock_timeout`, one minute where nothing else is said.

A role or database that sets its own keeps it (`sql/postgresql/session_begin.sql`), unless `--lock-wait` is given.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.answers import LockWaits
from toolkit.dialects.locks import asked_seconds, tries
from toolkit.dialects.work import Call
from toolkit.model.experiment import OptionValue
from toolkit.model.values import Scalar
from toolkit.model.words import Effect, Role

_BUSY = frozenset({"55P03"})


def timeout(options: Mapping[str, OptionValue]) -> dict[str, Scalar]:
    """Return the session's setting that was asked for, in milliseconds; nothing without `--lock-wait`."""
    asked = asked_seconds(options)
    # 0 would mean without end
    return {} if asked is None else {"lock_timeout": max(1, round(1000 * asked))}


def lock_waits(options: Mapping[str, OptionValue]) -> LockWaits:
    """Let the control session wait as the workers do, and try again.

    Sizes of a table and texts of its indexes are read under a lock of it, so queries wait for who has it alone.
    """
    begin = tuple(
        Call("set", {"name": name, "value": value}, session=Role.CONTROL, effect=Effect.CHANGES)
        for name, value in timeout(options).items()
    )
    return LockWaits(begin, _BUSY, tries(options), reads=True)
