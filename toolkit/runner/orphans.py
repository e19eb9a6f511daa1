"""Ends database sessions, and programs of this host, that an earlier, killed attempt of a run left behind."""

from __future__ import annotations

import time

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, end_orphans
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.model.words import Effect
from toolkit.rendering import step_of
from toolkit.targets.base import Target

_TIMEOUT_SECONDS = 30.0
_LOOK_SECONDS = 0.2


def end_orphaned_sessions(target: Target, dialect: Dialect, run: str) -> int:
    """End sessions of a run that still work in the database, and wait until they are gone.

    Returns:
        How many there were.

    Raises:
        ToolkitError: TK-0308 when they may not be ended or do not go; the hint is the statement to ask for.
    """
    end_orphans(run)
    sessions = Sessions(target, f"{run}-clean")
    try:
        found = _list(sessions, dialect, run)
        for row in found:
            _end(sessions, row)
        begun = time.monotonic()
        left = found
        while left and time.monotonic() - begun < _TIMEOUT_SECONDS:
            left = _list(sessions, dialect, run)
            if left:
                time.sleep(_LOOK_SECONDS)
        if left:
            raise ToolkitError(
                f"{len(left)} session(s) of run {run} are still at work in the database",
                code="TK-0308",
                hint=f"ask for: {left[0]['kill_text']};",
            )
        return len(found)
    finally:
        sessions.close()


def _list(sessions: Sessions, dialect: Dialect, run: str) -> tuple[Row, ...]:
    return sessions.run(step_of(dialect, dialect.sessions_of(run))).rows


def _end(sessions: Sessions, row: Row) -> None:
    text = row["kill_text"]
    if text is None:
        return
    try:
        sessions.run(Step("end-session", str(text), effect=Effect.CHANGES))
    except DatabaseError as error:
        raise ToolkitError(
            f"a session of the earlier attempt may not be ended: {error.sentence}",
            code="TK-0308",
            hint=f"ask for: {text};",
            database_code=error.code,
        ) from None
