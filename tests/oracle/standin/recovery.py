"""What media recovery needs: the redo that is archived, and what it would lack (V$DATAFILE)."""

from __future__ import annotations

import datetime
import re

from tests.oracle.standin import grammar, indexes
from tests.oracle.standin.errors import ora
from tests.oracle.standin.state import Session, State

_UNLOGGED = re.compile(r"\s*(CREATE|ALTER\s+INDEX\s+\S+\s+REBUILD)\b.*\bNOLOGGING\b", re.IGNORECASE | re.DOTALL)
_DIRECT = re.compile(r"\s*INSERT\s*/\*\+[^*]*(?<!NO)APPEND", re.IGNORECASE)
_WRITES = re.compile(
    r"\s*(CREATE\s+.*?TABLE|CREATE\s+.*?INDEX|INSERT|ALTER\s+INDEX\s+\S+\s+REBUILD)\b", re.I | re.S
)


def refuse_when_full(state: State, text: str) -> None:
    """Refuse what changes data while no archived log finds room; a real session waits, and new ones are refused.

    Raises:
        OracleError: ORA-00257.
    """
    if state.archived >= state.scenario.recovery_area and _WRITES.match(text):
        raise ora(257)


def note(state: State, session: Session, text: str) -> None:
    """Note what a statement that succeeded wrote without redo, or how much of it is archived."""
    if _UNLOGGED.match(text) or (_DIRECT.match(text) and _into_nologging(state, session, text)):
        state.unlogged_at = datetime.datetime.now().replace(microsecond=0)
    elif _WRITES.match(text):
        name = grammar.recognise(text, session.user).name
        made = state.objects.get(("TABLE", name)) or state.objects.get(("INDEX", name))
        state.archived += made.bytes if made is not None else 0


def _into_nologging(state: State, session: Session, text: str) -> bool:
    name = grammar.recognise(text, session.user).name
    table = state.objects["TABLE", name]
    return "NO" in {each.logging for each in (indexes.table_parts(table) or [table])}
