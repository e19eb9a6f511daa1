"""Transaction Guard: the logical id that a session's next COMMIT bears, and what became of those that were sent.

Only a service with COMMIT_OUTCOME has it. The id travels in front of every answer, as a server-side piggyback, and
the next one comes with the answer to a COMMIT. Asking for the outcome of one that is not committed ends it: it can
never be committed afterwards (PL/SQL Packages, DBMS_APP_CONT).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from seerdb.server import service
from seerdb.server.framing import PacketStream

from tests.oracle.standin.breaks import SERVING
from tests.oracle.standin.errors import ora
from tests.oracle.standin.state import Session, State

if TYPE_CHECKING:
    from tests.oracle.standin.scenario import Scenario

_PIGGYBACK, _LTXID = 23, 7
ASKS = "DBMS_APP_CONT.GET_LTXID_OUTCOME"
_BLOCK = re.compile(rf"\s*DECLARE\b.*\b{re.escape(ASKS)}\(HEXTORAW\('([0-9A-Fa-f]+)'\),.*\bEND;\s*", re.DOTALL)
"""An anonymous block to its last semicolon: with a slash, or without that semicolon, it is ORA-06550."""


def present(session: Session) -> bytes:
    """Return the logical id of the transaction that a session has, or would begin."""
    return f"{session.sid:08x}{session.serial:08x}{session.commits:08x}".encode()


def committed(state: State, session: Session) -> None:
    """Note a COMMIT; one whose outcome was asked for meanwhile is refused."""
    own = present(session)
    if own in state.ended_ids:
        raise ora(14913)
    state.committed_ids.add(own)
    session.commits += 1


def outcome(scenario: Scenario, state: State, session: Session, sql: str) -> str:
    """Answer a block that asks for an outcome, by what it leaves in CLIENT_INFO."""
    block = _BLOCK.fullmatch(sql)
    if block is None or not scenario.commit_outcome or "DBMS_APP_CONT" in scenario.denied:
        raise ora(6550)
    if session.in_transaction:
        raise ora(14908)
    asked = bytes.fromhex(block[1])
    if asked in state.committed_ids:
        return "committed"
    if asked not in state.known_ids:
        raise ora(14913)
    state.ended_ids.add(asked)
    return "aborted"


class _Stream(PacketStream):
    """Leads each answer to a statement with the logical id, where the service has one."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.reply_prefix = _prefix


def _prefix() -> bytes:
    tell: Callable[[], bytes | None] | None = getattr(SERVING, "ltxid", None)
    own = None if tell is None else tell()
    return b"" if own is None else bytes((_PIGGYBACK, _LTXID, 1, len(own), len(own))) + own


service.PacketStream = _Stream  # type: ignore[misc]
