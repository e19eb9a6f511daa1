"""What media recovery would lack: V$DATAFILE tells when a change without redo was last made."""

from __future__ import annotations

import datetime
import re

from tests.oracle.standin import grammar, indexes
from tests.oracle.standin.state import Session, State

_UNLOGGED = re.compile(r"\s*(CREATE|ALTER\s+INDEX\s+\S+\s+REBUILD)\b.*\bNOLOGGING\b", re.IGNORECASE | re.DOTALL)
_DIRECT = re.compile(r"\s*INSERT\s*/\*\+[^*]*(?<!NO)APPEND", re.IGNORECASE)


def note(state: State, session: Session, text: str) -> None:
    """Note a statement that succeeded and wrote no redo for its blocks."""
    if _UNLOGGED.match(text) or (_DIRECT.match(text) and _into_nologging(state, session, text)):
        state.unlogged_at = datetime.datetime.now().replace(microsecond=0)


def _into_nologging(state: State, session: Session, text: str) -> bool:
    name = grammar.recognise(text, session.user).name
    table = state.objects["TABLE", name]
    return "NO" in {each.logging for each in (indexes.table_parts(table) or [table])}
