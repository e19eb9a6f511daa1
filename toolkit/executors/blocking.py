"""Who holds what a session waits for: asked while it waits, since nobody can tell after a lock timeout."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Connection, DatabaseError
from toolkit.model.values import Row
from toolkit.model.words import Role
from toolkit.rendering import step_of
from toolkit.targets.base import SessionTag, Target

FIRST_SECONDS = 0.4
"""A statement that lasts longer may wait for a lock."""
_AGAIN_SECONDS = 2.0


def claimed_by(run: str, row: Row) -> ToolkitError:
    """Say who has the database's own lock: a run, or a session that does not show itself (an empty name)."""
    where = f"pid {row['pid']}, from {row['host']}" + (f", since {row['since']}" if row["since"] else "")
    return ToolkitError(
        f"run `{run}`, of another store or reached by another address, works on this database ({where})"
        if run
        else "another session holds the lock of this database and does not show itself",
        code="TK-0302",
        hint="wait for it to end; if its process is gone, `dbatk clean` names the session and what ends it; "
        "one results store for all who work on a database says more",
    )


class Blockers:
    """Asks for all sessions of a run, in one of its own; a database that refuses is not asked again."""

    def __init__(self, target: Target, tag: SessionTag) -> None:
        self._target, self._tag = target, tag
        waits = dialect_of(target.engine).lock_waits({})
        self._how, self._busy = waits.blocked_by, waits.busy
        self._lock = threading.Lock()
        self._session: Connection | None = None
        self._asking = False
        self._asked_at = -_AGAIN_SECONDS
        self._found: Mapping[str, tuple[float, str]] = {}
        self._closed = False

    def look(self, since: float) -> None:
        """Ask in a thread, unless somebody does or just did; called again and again while a statement lasts.

        Args:
            since: when that statement may have begun to wait.
        """
        now = time.monotonic()
        with self._lock:
            due = self._asked_at < since or now >= self._asked_at + _AGAIN_SECONDS
            if self._how is None or self._asking or self._closed or not due:
                return
            self._asking, self._asked_at = True, now
        try:
            threading.Thread(target=self._ask, daemon=True, name="blockers").start()
        except RuntimeError:  # this host starts no more threads: the next tick tries again
            self._asking = False

    def _ask(self) -> None:
        try:
            self._found = {**self._found, **self._now()}
        except (ToolkitError, DatabaseError):  # no right to look, no free session, a network that is cut
            self._how = None
        finally:
            with self._lock:
                self._asking = False
            if self._closed or self._how is None:
                self._end()

    def _now(self) -> Mapping[str, tuple[float, str]]:
        """Return who blocks each session that waits now."""
        assert self._how is not None
        if self._session is None:
            self._session = self._target.connect(Role.MONITOR, self._tag, read_only=True)
        step = replace(step_of(dialect_of(self._target.engine), self._how.call), binds={"run": self._tag.run})
        of_session: dict[str, list[Row]] = defaultdict(list)
        for row in self._session.execute(step.text, step.binds).rows:
            of_session[str(row["session_id"])].append(row)
        return {name: (time.monotonic(), self._how.tell(rows)) for name, rows in of_session.items()}

    def name(self, error: DatabaseError, session: str, since: float) -> None:
        """Let an error that says that a lock was not free say who had it, if that was seen since."""
        seen_at, blocker = self._found.get(session, (-1.0, ""))
        if error.code in self._busy and seen_at >= since:
            error.message = f"{error.message}; it waited for {blocker}"

    @property
    def identity(self) -> str | None:
        """Which session it asks in; None while it has none."""
        session = self._session
        return None if session is None else session.identity

    def close(self) -> None:
        """Ask no more."""
        with self._lock:
            self._closed = True
            busy = self._asking
        if not busy:
            self._end()

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(DatabaseError):
                session.close()
