"""Ends a statement that waits for somebody else's transaction, where the server itself would wait without a limit.

The wait is watched by the control session, which has nothing else to do while the clock runs. A server that begins
to count anew with each transaction it waits for is not believed: it is counted from the first look, too. A
statement that was seen at work has something to lose: unless a limit was asked for, its wait is only told.
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
from toolkit.model.words import Role
from toolkit.rendering import step_of
from toolkit.runner.context import RunContext
from toolkit.runner.monitor import within
from toolkit.units import seconds

WAITED_TOO_LONG = "TK-0212"
_LOOKS = 10
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.2, 5.0
_ANSWER_SECONDS = 3.0
"""How long an answer may take: the thread that asks also looks at the time limit and at who asks to stop."""
_BEGINNING_SECONDS = 10.0
"""A statement that does not wait after so long has begun its work; a wait that began before is its first one."""


class TransactionWaits:
    """Tells whose statement has waited too long; asks the server ten times within the limit, or every 5 s."""

    def __init__(self, context: RunContext, works: Sequence[Work]) -> None:
        work = works[0]
        wait = context.dialect.work.of(work.operation).endless_wait(work, context.facts)
        self._context = context
        self._limit = 0.0 if wait is None else wait.seconds
        self._ends_late = wait is not None and wait.ends_late
        self._step = None if wait is None else step_of(context.dialect, wait.call)
        self._since: dict[str, float] = {}
        self._began: dict[str, float] = {}
        self._at_work: set[str] = set()
        self._told: set[str] = set()
        self._next = 0.0

    def overdue(self, running: Mapping[int, TimedItem]) -> Mapping[int, DatabaseError]:
        """Return, by worker, why its statement is to be ended now; looks only when it is time to."""
        now = time.monotonic()
        if self._step is None or now < self._next:
            return {}
        self._next = now + min(_LONGEST_SECONDS, max(_SHORTEST_SECONDS, self._limit / _LOOKS))
        rows = {str(row.get("statement_id")): row for row in self._ask()}
        self._since = {name: self._since.get(name, now) for name in rows}
        names = {
            number: self._context.dialect.statement_id(item.steps[0].text) for number, item in running.items()
        }
        self._note_work({name for name in names.values() if name}, rows, now)
        found: dict[int, DatabaseError] = {}
        for number, name in names.items():
            row = rows.get(name or "")
            if name is None or row is None or self._waited(name, row, now) < self._limit:
                continue
            if name in self._at_work and not self._ends_late:
                self._tell(name, running[number], row)
            else:
                found[number] = self._error(row)
        return found

    def _note_work(self, running: set[str], rows: Mapping[str, Row], now: float) -> None:
        """Note which statements are past their first wait; one that is no longer run is forgotten."""
        if self._step is None:
            return
        self._began = {name: self._began.get(name, now) for name in running}
        begun = {name for name in running - rows.keys() if now - self._began[name] >= _BEGINNING_SECONDS}
        self._at_work = (self._at_work & running) | begun
        self._told &= running

    def _tell(self, name: str, item: TimedItem, row: Row) -> None:
        """Say once who keeps a statement from ending."""
        if name in self._told:
            return
        self._told.add(name)
        self._context.warn(
            f"`{item.label}` has waited more than {seconds(self._limit)} for the transaction of "
            f"{row.get('blocker')} after its work had begun: it waits on, since its work would be lost "
            "(an explicit --lock-wait cancels it)"
        )

    def _ask(self) -> tuple[Row, ...]:
        """Ask who waits; a server that does not tell, or not in time, is not asked again."""
        assert self._step is not None
        step = replace(self._step, binds={"run": self._context.run})
        try:
            return within(_ANSWER_SECONDS, lambda: self._context.sessions.run(step).rows)
        except (DatabaseError, ToolkitError, TimeoutError) as error:
            if isinstance(error, TimeoutError):
                self._context.sessions.abandon(Role.CONTROL)
                why = "the control session does not respond"
            else:
                why = error.sentence
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
