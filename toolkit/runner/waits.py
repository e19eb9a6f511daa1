"""Ends a statement that waits for somebody else's transaction, where the server itself would wait without a limit.

The wait is watched by the control session, which has nothing else to do while the clock runs. A server that begins
to count anew with each transaction it waits for is not believed: it is counted from the first look, too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import TimedItem
from toolkit.model.values import Row
from toolkit.rendering import step_of
from toolkit.runner.context import RunContext
from toolkit.runner.monitor import TIMEOUT_SECONDS, within
from toolkit.units import seconds

WAITED_TOO_LONG = "TK-0212"
_LOOKS = 10
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.2, 5.0


class TransactionWaits:
    """Tells whose statement has waited too long; asks the server ten times within the limit, or every 5 s."""

    def __init__(self, context: RunContext, works: Sequence[Work]) -> None:
        work = works[0]
        wait = context.dialect.work.of(work.operation).endless_wait(work, context.facts)
        self._context = context
        self._limit = 0.0 if wait is None else wait.seconds
        self._step = None if wait is None else step_of(context.dialect, wait.call)
        self._since: dict[str, float] = {}
        self._next = 0.0

    def overdue(self, running: Mapping[int, TimedItem]) -> Mapping[int, DatabaseError]:
        """Return, by worker, why its statement is to be ended now; looks only when it is time to."""
        now = time.monotonic()
        if self._step is None or now < self._next:
            return {}
        self._next = now + min(_LONGEST_SECONDS, max(_SHORTEST_SECONDS, self._limit / _LOOKS))
        rows = {str(row.get("statement_id")): row for row in self._ask()}
        self._since = {name: self._since.get(name, now) for name in rows}
        found: dict[int, DatabaseError] = {}
        for number, item in running.items():
            name = self._context.dialect.statement_id(item.steps[0].text) or ""
            row = rows.get(name)
            if row is not None and self._waited(name, row, now) >= self._limit:
                found[number] = self._error(row)
        return found

    def _ask(self) -> tuple[Row, ...]:
        """Ask who waits; a server that does not tell, or not in time, is not asked again."""
        assert self._step is not None
        step = replace(self._step, binds={"run": self._context.run})
        try:
            return within(TIMEOUT_SECONDS, lambda: self._context.sessions.run(step).rows)
        except (DatabaseError, ToolkitError, TimeoutError) as error:
            why = "the control session does not respond" if isinstance(error, TimeoutError) else error.sentence
            self._context.warn(f"waits for the transactions of others are not bounded: {why}")
            self._step = None
            return ()

    def _waited(self, name: str, row: Row, now: float) -> float:
        told = row.get("waited_seconds")
        return max(float(told) if isinstance(told, int | float) else 0.0, now - self._since[name])

    def _error(self, row: Row) -> DatabaseError:
        return DatabaseError(
            f"it waited more than {seconds(self._limit)} for the transaction of {row.get('blocker')} and was "
            "cancelled (--lock-wait)",
            code=WAITED_TOO_LONG,
        )
